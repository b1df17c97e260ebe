"""The documents: their links lead somewhere, their examples run."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import demo_store
from paths import ROOT

from hermes_browse.tui.settings.keys.screen_commands import CARDS, SCREENS

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN = [ROOT / "docs" / "scripting.md", ROOT / "docs" / "searching.md"]
MAY_BE_SILENT = ("prune_in_days", ">what-it-has.md", "select(.gap)", "no_summary", ">invoices.tsv")
"""Examples that have nothing to say of the sample store."""


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    links = re.findall(r"\]\(([^)#]+)", document.read_text(encoding="utf-8"))
    assert [
        link for link in links if "://" not in link and not (document.parent / link).exists()
    ] == []


def test_the_prefixes_of_keys_are_named():
    """Of each screen and card, in the document on configuration."""
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert [place for place in (*SCREENS, *CARDS) if f"`{place}-`" not in text] == []


def examples():
    """The blocks of shell in documents whose examples only read, or write files of their own."""
    return [
        block
        for path in RUN
        for block in re.findall(r"```sh\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("example", examples())
@pytest.mark.skipif(not shutil.which("jq") or not shutil.which("bash"), reason="needs bash and jq")
def test_examples_run(example, tmp_path):
    """As they stand, on the sample store as a user's own."""
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    demo_store(home / "state.db", now=time.time())
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "HERMES_HOME": str(home), "HOME": str(tmp_path), "PATH": paths}
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-ec", example],
        cwd=here,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    if "--output" in example:
        assert len(list(here.glob("*.md"))) > 10
    elif not any(each in example for each in MAY_BE_SILENT):
        assert ended.stdout.strip() not in ("", "null")
