"""`--plain`: a dialogue of lines; what is said, what is asked back, and that nothing is ever
drawn."""

import os
import subprocess
from unittest.mock import patch

import homes
import pytest
from commandline import PROGRAM, call, copy_store
from platforms import posix_only, python, script
from store_builder import T0
from terminal import Terminal

from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.errors import StoreBusyError
from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.tui.cli import plain


@pytest.fixture
def store(tmp_path):
    """A root's store with 23 chats."""
    (tmp_path / "hermes").mkdir()
    homes.chats(tmp_path / "hermes")
    return tmp_path / "hermes" / "state.db"


def talked(path, *lines):
    """What is said when these lines are typed, and what comes of it."""
    said = []
    typed = iter(lines)

    def ask(prompt):
        said.append(prompt)
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    with (
        open_store(locate_file(path)) as store,
        patch("builtins.input", ask),
        patch.object(plain, "print_text", said.append),
        patch("time.time", lambda: T0 + 3600),
    ):
        plan = plain.Dialogue(store).run()
    return said, plan


def test_a_search_that_fails_keeps_the_list(store):
    """Its numbers open what they opened before."""
    with patch.object(OpenStore, "hit_page", side_effect=StoreBusyError("busy")):
        said, _plan = talked(store, "/medlar", "1")
    assert "busy" in said and "There is no number 1." not in said
    assert any("messages, open." in line for line in said[said.index("busy") :])


def test_resuming_asks_where_something_speaks_against_it(store, tmp_path, monkeypatch):
    """Only `yes` is yes; the command is said either way."""
    programs = tmp_path / "programs"
    script(programs / "hermes")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    said, plan = talked(store, "1", "c", "q")
    assert plan is None
    assert any("--resume=long" in line for line in said)
    said, plan = talked(store, "2", "r", "no", "q")
    asked = [line for line in said if line.startswith("Type yes")]
    if asked:
        assert plan is None
        assert "Nothing was run." in said
    said, plan = talked(store, "2", "r", "yes")
    assert plan.argv == ("hermes", "-p", "default", "--resume=s01")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_it_works_in_a_pipe_without_a_terminal_and_draws_nothing(tmp_path, encoding):
    """On every fixture: no escape and no control character, whatever is stored."""
    for name in ("state-v11", "state-v31"):
        root = tmp_path / name / encoding
        copy_store(name, root)
        lines = ["n", *map(str, range(1, 9)), "i", "l", "/auth", "1", "v all", "n", "n", "h", "q"]
        done = subprocess.run(
            [*PROGRAM, "--home", str(root), "--plain"],
            input="\n".join(lines) + "\n",
            env={**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            encoding=encoding,
            check=True,
        )
        assert not [letter for letter in done.stdout if ord(letter) < 32 and letter not in "\n\t"]


def test_it_needs_no_screen_and_no_command(store):
    """Textual is not imported; with a command it is a usage error."""
    assert call("--plain --demo list").code == 2
    code = (
        "import sys; sys.stdin = open('/dev/null')\n"
        "from hermes_browse.tui.cli import main\n"
        f"main(['--home', {str(store.parent)!r}, '--plain'])\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('textual', 'rich')])"
    )
    assert python(code).endswith("[]\n")


@pytest.mark.slow
@posix_only
def test_a_terminal_that_cannot_draw_gets_it_by_itself():
    """TERM=dumb: the reason, the list, and not one escape, to the end."""
    terminal = Terminal(["--demo"], TERM="dumb", NO_COLOR="1")
    terminal.wait_for("Chats 1 to 10 of")
    terminal.wait_for("\n>")
    terminal.leave("q\n")
    assert b"TERM=dumb" in terminal.raw and b"\x1b" not in terminal.raw
