"""`man`: every command and option is in the page, and a real formatter has nothing to complain of."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess

import pytest
from commandline import call

from hermes_browse.tui.cli.completions import places
from hermes_browse.tui.cli.man import manual
from hermes_browse.tui.cli.registry import make_parser


def test_everything_the_arguments_know_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    """By the same tables the completions are made from."""
    ended = call(capsys, "man")
    assert ended.code == 0 and ended.out.startswith('.TH HERMES\\-BROWSE 1 "" "hermes\\-browse ')
    page = ended.out.replace("\\-", "-")
    for place in places(make_parser()):
        if place.path:
            assert f'.SS "{place.path.strip("/").replace("/", " ")}"' in page
        for name, _ in place.words:
            if name.startswith("-"):
                assert f"\\fB{name}\\fR" in page, (place.path, name)
    assert "interrupted" in page and "config.toml" in page.replace("\\:", "")


def test_no_help_is_taken_for_an_instruction() -> None:
    """Signs that mean something to roff are themselves."""
    parser = argparse.ArgumentParser(prog="x", description=".so /etc/passwd", epilog="exit codes: 0")
    parser.add_argument("--odd", metavar="A\\B", help="'quoted' -x \\fB 5%%")
    page = manual(parser, "1")
    assert "\n\\&.so /etc/passwd" in page
    assert "\\fIA\\eB\\fR\n\\(aqquoted\\(aq \\-x \\efB 5%" in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_it_can_be_formatted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a warning, though a home may have a path that is wider than a page; nothing is lost on the way."""
    monkeypatch.setenv("XDG_STATE_HOME", "/home" + 12 * "/a-long-folder")
    page = call(capsys, "man").out
    formatted = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-P-c"], input=page, capture_output=True, text=True, check=True
    )
    assert formatted.stderr == ""
    shown = re.sub(r".\x08|\x1b\[[0-9;]*m", "", formatted.stdout)
    assert "--print-command" in shown and "completions" in shown and "\\" not in shown
