"""Output on a terminal: fits its width, keeps ids whole, wraps at words, lights what matched."""

import re
import time

import pytest
from platforms import posix_only
from store_builder import StoreBuilder
from terminal import Terminal

pytestmark = posix_only
LONG = "a rather long title that says 日本語 more than fits into any line of a list, and then some more of it"
SAID = " ".join(f"word{number}" for number in range(60)) + " heron " + " ".join(["more"] * 60)
UUID = "c2b7a5f0-58a1-4d0c-9d7e-0f2f9f1c7a11"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A root with long titles, long messages and ids of several kinds."""
    builder = StoreBuilder(tmp_path / "state.db")
    for place, name in enumerate(
        ["20260101_090000_aaa001", UUID, "cron_c23b31a0179b_20261115_063000"]
    ):
        builder.session(name, title=f"{place} {LONG}", source="api_server", estimated_cost_usd=12.5)
        builder.message(name, "user", SAID, timestamp=time.time() - 90 * 86400)
        builder.message(name, "assistant", "short", timestamp=time.time() - 80 * 86400)
    builder.session(
        "20260101_093000_aaa002", parent_session_id="20260101_090000_aaa001", title="child"
    )
    builder.message("20260101_093000_aaa002", "user", "tab\there")
    builder.write()
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))


def painted(columns, *arguments, **env):
    """What a terminal of a width shows: its lines, and the bytes as text.

    A line that ran over the edge is found by the emulator's own account: it would have one line
    more than was written.
    """
    terminal = Terminal(arguments, columns=columns, rows=200, **env)
    assert terminal.wait_for_end() == 0, terminal.raw
    lines = [line.rstrip() for line in terminal.screen.display]
    while lines and not lines[-1]:
        lines.pop()
    text = terminal.raw.decode()
    # The summary on standard error may be longer than a narrow terminal; everything else must not
    # be.
    assert len(lines) <= text.count("\n") + (columns < 100), "a line ran over the edge"
    return lines, text


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_list(home, columns):
    """One line for each conversation, its id whole; the title takes what is left."""
    lines, _ = painted(columns, "list", "--view", "all")
    assert lines[0].startswith("last active" if columns > 60 else "title") and lines[0].endswith(
        " id"
    )
    for name in ("20260101_090000_aaa001", UUID, "cron_c23b31a0179b_20261115_063000"):
        row = next(line for line in lines if name in line)
        assert row.endswith(name) and (LONG[-6:] in row) == (columns == 200)
    assert ("cost" in lines[0]) == (columns > 100)
    assert len(lines) == 6


@pytest.mark.parametrize("columns", [60, 100])
def test_search(home, columns):
    """The conversation above, the text in a column of its own, what matched lit and never cut
    away."""
    lines, text = painted(columns, "search", "heron", "--context", "1")
    body = [line for line in lines if line]
    assert sum(UUID in line for line in body) == 1
    hits = [line for line in body if re.match(r"  \d{4}-\d\d-\d\d \d\d:\d\d  user  ", line)]
    assert len(hits) == 3
    edge = body.index(hits[0])
    inside = re.search(r"user +", hits[0])
    assert inside
    assert (
        body[edge + 1].startswith(" " * inside.end()) and not body[edge + 1][inside.end()].isspace()
    )
    assert "\x1b[1;7mheron\x1b[0m" in text
    assert any(line.strip().startswith("assistant") and "short" in line for line in body)


def test_show(home):
    """Names stand out, bodies are indented and wrapped between words."""
    lines, text = painted(80, "show", UUID)
    assert lines[0].startswith("1 a rather long title")
    assert re.search(r"\x1b\[1;33m\S+ \S+ you", text) and re.search(
        r"\x1b\[1;32m\S+ \S+ assistant", text
    )
    body = [line for line in lines if "word" in line]
    assert len(body) > 3 and all(line.startswith("  word") for line in body)
    assert all(word in SAID.split() for line in body for word in line.split())


def test_lineage(home):
    """A child is indented under what it came from, however long the lines."""
    lines, _ = painted(80, "lineage", "20260101_090000_aaa001")
    assert lines[0].startswith("20260101_090000_aaa001")
    assert any(line.startswith("└ ") and "20260101_093000_aaa002" in line for line in lines)
    narrow, _ = painted(50, "lineage", "20260101_090000_aaa001")
    starts = [
        next(at for at, line in enumerate(narrow) if line.startswith(each))
        for each in ("└ ", "Careful")
    ]
    wrapped = narrow[starts[0] + 1 : starts[1]]
    assert wrapped and all(line.startswith("  ") for line in wrapped)


@pytest.mark.slow
@pytest.mark.parametrize(
    "variable, sequence", [({"NO_COLOR": "1"}, r"\x1b\[[0-9;]*3[0-7]"), ({"TERM": "dumb"}, "\x1b")]
)
def test_without_colour(home, variable, sequence):
    """NO_COLOR leaves no colour, TERM=dumb nothing but text."""
    for command in (["list"], ["search", "heron"], ["show", UUID]):
        _, text = painted(100, *command, **variable)
        assert not re.search(sequence, text)
