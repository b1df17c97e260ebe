"""Output on a real terminal: its width is kept, names stand out, and what matched is lit."""

import re

import homes
import pytest
from platforms import posix_only
from terminal import Terminal

pytestmark = posix_only


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    homes.wide(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))


def painted(columns, line, **env):
    """What a terminal of a width gets, as text.

    A line that ran over the edge is found by the emulator's own account: it would have one line
    more than was written.
    """
    terminal = Terminal(line.split(), columns=columns, rows=200, **env)
    assert terminal.wait_for_end() == 0, terminal.raw
    lines = "\n".join(terminal.screen.display).rstrip().split("\n")
    text = terminal.raw.decode()
    assert len(lines) <= text.count("\n"), "a line ran over the edge"
    return text


@pytest.mark.slow
@pytest.mark.parametrize(
    "line, style",
    [
        ("list --view all", r"\x1b\[2mlast active"),
        ("search heron --context 1", r"\x1b\[1;7mheron\x1b\[0m"),
        ("show c2b7a5f0", r"\x1b\[1;33m\S+ \S+ you[^$]*\x1b\[1;32m\S+ \S+ assistant"),
    ],
)
def test_styles(line, style):
    """NO_COLOR leaves no colour, TERM=dumb nothing but text."""
    assert re.search(style, painted(100, line))
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", painted(100, line, NO_COLOR="1"))
    assert "\x1b" not in painted(100, line, TERM="dumb")


@pytest.mark.slow
def test_a_width_that_is_none():
    """COLUMNS=0 means that of the terminal, as in other programs."""
    for line in ("list --view all", "show c2b7a5f0"):
        assert painted(100, line, COLUMNS="0") == painted(100, line)


@pytest.mark.slow
def test_a_width_without_room_for_text():
    """A terminal of two columns gets one letter a line."""
    text = painted(100, "search heron", COLUMNS="2")
    assert "heron" in re.sub(r"\x1b\[[0-9;]*m|\s", "", text)
