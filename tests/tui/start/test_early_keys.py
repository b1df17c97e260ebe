"""Keys typed while Textual is being loaded: those that move the cursor are answered then, the
others afterwards."""

import os
import signal
import threading

import pytest
from platforms import posix_only
from terminal import Terminal
from user_config import write_config

pytestmark = posix_only

CONDITIONS = {"COLORTERM": "truecolor", "TERM": "xterm-256color"}
SLOW = """
import os, sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "textual":
            while not os.path.exists(os.environ["GO_ON"]):
                time.sleep(0.01)
sys.meta_path.insert(0, Slow())
from hermes_browse.tui.cli import main
raise SystemExit(main(sys.argv[1:]))
"""
"""The browser, which loads Textual only when a file is there."""


def cursor_row(terminal):
    """The row of the list that the cursor is on, from 0; -1 without one."""
    return next(
        (row - 4 for row, line in enumerate(terminal.screen.display) if line.startswith("▌")), -1
    )


def wait_for_row(terminal, row):
    """Wait until the cursor is on a row of the list."""
    terminal.read_until(lambda: cursor_row(terminal) == row, "the cursor is not there")


@pytest.fixture
def slow(hermes_home, tmp_path):
    """A browser that has painted its first rows and loads Textual once a file is there."""
    signal = tmp_path / "go on"
    terminal = Terminal(["--home", str(hermes_home)], code=SLOW, GO_ON=str(signal), **CONDITIONS)
    wait_for_row(terminal, 0)
    terminal.read(0.1)
    yield terminal, signal
    if terminal.child.isalive():
        terminal.child.close(force=True)


def look(terminal):
    """The first rows of the list as they are painted, without the counters that are read later."""
    return [
        [
            (cell.data, cell.fg, cell.bg, cell.bold)
            for cell in (terminal.screen.buffer[y][x] for x in range(30))
        ]
        for y in range(4, 11)
    ]


@pytest.mark.slow
def test_the_cursor_moves_before_textual_is_there(slow):
    """Down, down, up, by arrows and letters; then Textual takes over the frame as it stands, and
    goes on from there."""
    terminal, signal = slow
    untouched = look(terminal)
    for keys, row in (
        ("\x1b[B", 1),
        ("j", 2),
        ("k", 1),
        ("\x1bOB", 2),
        ("\x1b[A\x1b[A\x1b[A", 0),
        ("\x1b[Bjj", 3),
    ):
        terminal.send(keys)
        wait_for_row(terminal, row)
        assert terminal.text.count("▌") == 1
    assert "search:" not in terminal.text, "this was not painted ahead"
    before = look(terminal)
    assert before != untouched
    signal.touch()
    terminal.wait_for("search:")
    terminal.wait_for("shown")
    terminal.read_until(lambda: look(terminal) == before, "taking over changes nothing")
    assert cursor_row(terminal) == 3
    terminal.send("k")
    wait_for_row(terminal, 2)
    terminal.leave()


@pytest.mark.slow
def test_other_keys_wait_and_stay_in_order(slow):
    """What stands behind the first other key is not a move any more: here it is typed into the
    search box, and shown there."""
    terminal, signal = slow
    terminal.send("jj")
    wait_for_row(terminal, 2)
    terminal.send("/walr", "  walr")
    terminal.send("jk\x7f\x7fus ä")
    terminal.read(0.2)
    assert cursor_row(terminal) == 2
    assert "  walrjk" in terminal.text and "search:" not in terminal.text
    signal.touch()
    terminal.wait_for("walrus ä")
    terminal.send("\x7f\x7f", "kept walrus answer")
    terminal.leave("\x03")


@pytest.mark.slow
def test_an_escape_by_itself_is_one(slow):
    """Escape in the list says what leaves the browser, also when it was typed before there was
    one."""
    terminal, signal = slow
    terminal.send("j\x1b")
    terminal.read(0.3)
    assert cursor_row(terminal) == 1
    assert "press q to quit" not in terminal.text
    signal.touch()
    terminal.wait_for("press q to quit")
    assert cursor_row(terminal) == 1
    terminal.leave()


@pytest.mark.slow
def test_with_other_keys_none_is_answered_ahead(hermes_home, tmp_path):
    """They mean what the keymap says, which is not read before Textual is there."""
    write_config('[keys]\nlist-down = "n"\n')
    signal = tmp_path / "go on"
    terminal = Terminal(["--home", str(hermes_home)], code=SLOW, GO_ON=str(signal), **CONDITIONS)
    wait_for_row(terminal, 0)
    terminal.send("n")
    terminal.read(0.3)
    assert cursor_row(terminal) == 0
    signal.touch()
    wait_for_row(terminal, 1)
    terminal.read(0.5)
    terminal.leave()


@pytest.mark.slow
@pytest.mark.parametrize("number", [15, 1])
def test_told_to_end_meanwhile(slow, number):
    """TERM and HUP end it before there is a Textual; the terminal is as it was."""
    terminal, _signal = slow
    terminal.send("j")
    wait_for_row(terminal, 1)
    os.kill(terminal.child.pid, number)
    assert terminal.wait_for_end() == 128 + number
    assert terminal.is_restored


class _Painted:
    """First rows that note where the cursor was moved, and queries."""

    def __init__(self, rows):
        from hermes_browse.tui.terminal.handover import EarlyKeys

        self.read, self.write = os.pipe()
        self.movable = rows
        self.moves = []
        self.queries = []
        self.has_size = True
        self.keys = EarlyKeys(self.read, self)

    def is_current(self):
        return self.has_size

    def move(self, before, after):
        self.moves.append((before, after))

    def show_query(self, query):
        self.queries.append(query)

    def send(self, data):
        os.write(self.write, data)

    def close(self):
        self.keys.stop()
        self.keys.stop()
        os.close(self.read)
        os.close(self.write)


@pytest.mark.parametrize(
    "data, rows, cursor, kept, queries",
    [
        (b"jj", -9, 0, b"jj", []),
        (b"jjk\x1b[B", 9, 2, b"", []),
        (b"kk", 9, 0, b"", []),
        (b"jjj", 2, 1, b"jj", []),
        (b"jGk", 9, 1, b"Gk", []),
        (b"j\x1b[", 9, 1, b"\x1b[", []),
        (b"\xc3\xa4j", 9, 0, b"\xc3\xa4j", []),
        (b"j", 0, 0, b"j", []),
        (b"/ab", 9, 0, b"/ab", ["ab"]),
        (b"j/ab", 9, 1, b"/ab", ["ab"]),
        (b"/ab\xc3\xa4", 9, 0, b"/ab\xc3\xa4", ["abä"]),
        (b"/ab\x7fc", 9, 0, b"/ab\x7fc", ["ab"]),
        (b"/", 9, 0, b"/", []),
        (b"x/ab", 9, 0, b"x/ab", []),
        (b"/ab", -9, 0, b"/ab", []),
    ],
)
def test_what_is_taken_and_what_is_kept(data, rows, cursor, kept, queries):
    """One painting for keys that come together; below the last row a key is kept, above the first
    one it is nothing. After a resize all are kept: the rows would be painted at other places. The
    letters of a query are shown and kept, until another key."""
    painted = _Painted(abs(rows))
    painted.has_size = rows >= 0
    painted.send(data)
    painted.keys.start()
    painted.keys.stop()
    assert (painted.keys.cursor, painted.keys.typed) == (cursor, kept)
    assert painted.moves == ([(0, cursor)] if cursor else [])
    assert painted.queries == queries
    painted.close()


def test_the_rest_of_a_key_is_waited_for():
    """The second half of a letter or of a sequence belongs to the first."""
    for first, second in ((b"x\xc3", b"\xa4"), (b"x\x1b[1;", b"5B")):
        painted = _Painted(9)
        painted.send(first)
        painted.keys.start()
        late = threading.Timer(0.01, painted.send, [second])
        late.start()
        painted.keys.stop()
        late.join()
        assert painted.keys.typed == first + second
        painted.close()


def test_a_terminal_that_is_gone_ends_it():
    """No failure, no turning in circles: the program gets the signal that a closed window sends."""
    told = []
    before = signal.signal(signal.SIGHUP, lambda number, frame: told.append(number))
    try:
        painted = _Painted(9)
        painted.keys.start()
        os.close(painted.write)
        painted.keys._thread.join(120)
        assert not painted.keys._thread.is_alive()
    finally:
        signal.signal(signal.SIGHUP, before)
    assert told == [signal.SIGHUP]
    painted.keys.stop()
    os.close(painted.read)


_TOLD_MEANWHILE = """
import os, signal, sys
from hermes_browse.tui.terminal.handover import EarlyKeys
start = EarlyKeys.start
def told(self):
    os.kill(os.getpid(), signal.SIGTERM)
    start(self)
EarlyKeys.start = told
from hermes_browse.tui.cli import main
raise SystemExit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_told_to_end_while_its_thread_starts(hermes_home):
    """The thread has not begun then, and cannot be waited for."""
    terminal = Terminal(["--home", str(hermes_home)], code=_TOLD_MEANWHILE)
    assert terminal.wait_for_end() == 128 + signal.SIGTERM
    assert b"\x1b[?1049h" in terminal.raw and terminal.is_restored
