"""`--plain`: a dialogue of lines; what is said, what is asked back, and that nothing is ever
drawn."""

import os
import subprocess
from unittest.mock import patch

import pytest
from builders import make_store
from commandline import PROGRAM, call, copy_store
from platforms import posix_only, python, script
from store_builder import T0
from terminal import Terminal

from hermes_browse.store.api import open_store
from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.tui.cli import plain


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


@pytest.fixture
def store(tmp_path):
    """A root's store with 23 chats, one with much in it."""
    path = tmp_path / "hermes" / "state.db"
    path.parent.mkdir()
    messages = [
        {
            "session_id": f"s{number:02}",
            "content": f"chat number {number}",
            "timestamp": T0 - number * 60,
        }
        for number in range(1, 23)
    ]
    messages += [
        {"session_id": "long", "content": f"remark {number} \x1b[31m", "timestamp": T0 + number}
        for number in range(12)
    ]
    output = "o" * 5000
    messages.append(
        {
            "session_id": "long",
            "role": "tool",
            "tool_name": "terminal",
            "content": output,
            "timestamp": T0,
        }
    )
    ids = [*(f"s{number:02}" for number in range(1, 23)), "long"]
    make_store(
        path,
        sessions=[{"id": each, "started_at": T0 - 9000, "title": each} for each in ids],
        messages=messages,
    )
    return path


def test_the_list_is_said_in_pages(store):
    """Each conversation a sentence with its number; at either end it says so."""
    said, _ = talked(store, "p", "n", "", "n", "l")
    assert said[1].startswith("1. long, 1h ago, cli, 13 messages, open.")
    assert "Chats 1 to 10 of 23." in said
    assert "This is the first page." in said
    assert "Chats 21 to 23 of 23." in said
    assert "That was the last page." in said
    assert sum(line.startswith("23. s22, ") for line in said) == 2
    assert "".join(said).isascii(), "no sign that a screen reader would spell out"


def test_a_conversation_is_read_in_portions(store):
    """The last messages first; back, from the beginning, tool output short until it is asked
    for."""
    said, _ = talked(store, "1", "n", "p", "b", "p", "e", "t", "i")
    text = "\n".join(said)
    assert "Messages 9 to 13 of 13." in text
    assert "That was the last page." in text
    assert "Messages 4 to 8 of 13." in text
    assert "This is the first page." in text
    assert any(line.startswith("ooo") and line.endswith("...") for line in said)
    assert "o" * 5000 in said
    assert "Id: long" in said
    assert "\x1b" not in text


def test_a_search_numbers_its_hits_and_opens_at_them(store):
    """The hit is the first message said; an empty search ends it."""
    said, _ = talked(store, '/"remark 3"', "1", "/", "/nowhere", "/nonsense:", "l")
    assert 'Search for "remark 3": 1 hit.' in said
    opened = said.index("Messages 4 to 8 of 13.")
    assert any("remark 3" in line for line in said[:opened])
    assert said.count("Chats 1 to 10 of 23.") == 2
    assert "No hits." in said


SUMMARY = (
    "[CONTEXT COMPACTION — REFERENCE ONLY] "
    + "The fig tree was planted. "
    + "Much more was said. " * 40
)


@pytest.fixture
def turns(tmp_path):
    """One long conversation: a prompt with many steps, a taken-back prompt, a summary, the kept
    prompt once more."""
    path = tmp_path / "hermes" / "state.db"
    path.parent.mkdir()
    rows = [{"content": "please plant an orchard"}]
    rows += [{"role": "assistant", "content": f"step {number}"} for number in range(6)]
    rows.append(
        {
            "role": "tool",
            "tool_name": "terminal",
            "content": "o" * 900 + " then a quince " + "o" * 900,
        }
    )
    rows.append({"content": "no, a vineyard", "active": 0})
    rows.append(
        {"content": "and water the medlar", "active": 0, "compacted": 1, "timestamp": T0 + 99}
    )
    rows.append({"content": SUMMARY})
    rows.append({"content": "and water the medlar", "timestamp": T0 + 99})
    rows += [{"role": "assistant", "content": f"drop {number}"} for number in range(7)]
    messages = [
        {"session_id": "s", "timestamp": T0 + number, **row} for number, row in enumerate(rows)
    ]
    return make_store(path, sessions=[{"id": "s", "title": "Garden"}], messages=messages)


def opened(path, *lines):
    """What is said from the line of the conversation on."""
    said, _ = talked(path, *lines)
    return said[max(place for place, line in enumerate(said) if line.startswith("Garden, ")) + 1 :]


def texts(said):
    """Without the heads of messages and the prompt for input."""
    return [line for line in said if not line.endswith(":") and line != "> "]


def test_a_conversation_opens_with_its_prompt(turns):
    """The newest messages, and before them what they answer."""
    assert texts(opened(turns, "1")) == [
        "and water the medlar",
        "2 messages in between.",
        *(f"drop {number}" for number in range(2, 7)),
        "Messages 13 to 17 of 17.",
    ]


def test_a_hit_opens_at_itself_with_its_prompt(turns):
    """And what matched is said, where the part it stands in is left out."""
    said = texts(opened(turns, '/"step 4"', "1"))
    between = ["please plant an orchard", "4 messages in between."]
    assert said[:4] == [*between, "The hit: step 4", "step 4"]
    said = texts(opened(turns, "/quince", "1"))
    assert said[:2] == ["please plant an orchard", "6 messages in between."]
    assert said[2].startswith("The hit: ") and "then a quince" in said[2]
    assert said[3].endswith("...")


def test_a_hit_in_a_summary_is_said(turns):
    """It is nobody's prompt: that of the turn before is said; `t` reads all of it."""
    said = opened(turns, '/"fig tree"', "1", "t")
    assert texts(said)[0] == "please plant an orchard"
    place = said.index("[compaction summary left out]")
    assert said[place - 2].startswith("The hit: ") and "fig tree was planted" in said[place - 2]
    assert any(
        line.startswith("[CONTEXT COMPACTION") and line.endswith("said.")
        for line in said[place + 2 :]
    )


def test_a_hit_that_was_taken_back_or_written_again_is_found(turns):
    """The rewound prompt is told as such; a compacted row that was written again stands where that
    is."""
    said = opened(turns, "/vineyard", "1")
    assert texts(said)[:2] == ["please plant an orchard", "7 messages in between."]
    assert said[said.index("no, a vineyard") - 1].endswith("(rewound):")
    for number in ("1", "2"):
        said = opened(turns, "/medlar", number)
        at = said.index("The hit: and water the medlar")
        assert texts(said[at + 1 :])[:2] == ["and water the medlar", "drop 0"]


def test_what_means_nothing_is_answered(store):
    """Never silence."""
    said, _ = talked(store, "x", "99", "v nowhere", "v archived", "h", "1")
    assert sum(line.startswith("Unknown command.") for line in said) == 2
    assert "There is no number 99." in said
    assert "No archived." in said
    assert any(line.startswith("A number opens") for line in said)
    assert "There is no number 1." in said
    assert "".join(said).isascii()


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
    done = python(code)
    assert done.endswith("[]\n")


@posix_only
def test_a_terminal_that_cannot_draw_gets_it_by_itself():
    """TERM=dumb: the reason, the list, and not one escape, to the end."""
    terminal = Terminal(["--demo"], TERM="dumb", NO_COLOR="1")
    terminal.wait_for("Chats 1 to 10 of")
    terminal.wait_for("\n>")
    terminal.leave("q\n")
    assert b"TERM=dumb" in terminal.raw and b"\x1b" not in terminal.raw
