"""The browser in a real terminal: start, early keys, resize, quit, signals, and the hand-over to
Hermes."""

import ctypes
import hashlib
import os
import re
import signal
import stat
from pathlib import Path

import pytest
from effort import slow_but
from paths import HERMES
from platforms import posix_only
from terminal import Terminal

pytestmark = posix_only


def test_start_resize_quit_and_a_terminal_as_before(hermes_home):
    """The first screen comes, follows the size, and q leaves the terminal as it was."""
    store = hermes_home / "state.db"
    before = hashlib.sha256(store.read_bytes()).hexdigest()
    terminal = Terminal(["--home", str(hermes_home)])
    terminal.wait_for("started 119 days ago")
    terminal.wait_for("shown")
    terminal.resize(80, 24)
    terminal.read(0.5)
    terminal.wait_for("Chats")
    terminal.resize(200, 60)
    terminal.wait_for("search:")
    terminal.leave()
    assert hashlib.sha256(store.read_bytes()).hexdigest() == before
    assert {path.name for path in hermes_home.iterdir()} <= {
        "state.db",
        "state.db-wal",
        "state.db-shm",
    }


@pytest.mark.slow
def test_keys_typed_before_the_screen_is_up_arrive(hermes_home):
    """What is typed while Python still starts is not lost; the q in it is a letter."""
    terminal = Terminal(["--home", str(hermes_home)])
    terminal.send("/walrus q", "walrus q")
    terminal.send("\x7f\x7f", "kept walrus answer")
    terminal.leave("\x03")


@pytest.mark.slow
def test_keys_that_come_in_one_go_are_taken_in_order(hermes_home):
    """Letters, a line taken back, other letters, two of them corrected: what stands there is what
    was meant."""
    terminal = Terminal(["--home", str(hermes_home)])
    terminal.wait_for("shown")
    terminal.send("/wrong\x15zebxx\x7f\x7fraq", "zebraq")
    assert (
        "wrong" not in terminal.text
        and "zebraqx" not in terminal.text
        and "xzebraq" not in terminal.text
    )
    terminal.leave("\x03")


@pytest.mark.slow
def test_the_terminals_cursor_is_where_the_next_letter_goes(hermes_home):
    """There an input method shows what it puts together; it is two cells further with each wide
    character."""
    terminal = Terminal(["--home", str(hermes_home)])
    terminal.wait_for("Chats")
    terminal.send("/")

    def cells_behind_q():
        cursor = terminal.screen.cursor
        start = next(
            (x for x in range(20) if terminal.screen.buffer[cursor.y][x].data == "q"), -100
        )
        return cursor.x - start

    for typed, cells in (("qz", 2), ("部", 4), ("\x1b[D", 2), ("\x1b[D", 1)):
        terminal.send(typed, "qz" if typed == "qz" else "qz部")
        terminal.read_until(
            lambda cells=cells: cells_behind_q() == cells, f"the cursor is not behind {typed!r}"
        )
    terminal.leave("\x03")


def test_a_store_that_cannot_be_read_is_a_sentence(tmp_path):
    """No screen is taken, no traceback shown, and the exit code says which kind it was."""
    wrong = tmp_path / "state.db"
    wrong.write_bytes(os.urandom(4096))
    terminal = Terminal(["--db", str(wrong)])
    assert terminal.wait_for_end() == 3
    said = re.sub(r"\s+", " ", terminal.raw.decode())
    assert "not a session store" in said and "Traceback" not in said
    assert b"\x1b[?1049h" not in terminal.raw


@pytest.mark.slow
def test_the_demo_opens_for_someone_without_hermes(tmp_path):
    """`--or-demo`, as `make run` uses it, falls back to the sample and says so."""
    terminal = Terminal(["--home", str(tmp_path / "nothing"), "--or-demo"], columns=200)
    terminal.wait_for("Fix auth bug #3")
    terminal.wait_for("this is a sample")
    terminal.wait_for("search:")
    terminal.leave()


@pytest.mark.skipif(not HERMES.exists(), reason="hermes-agent is not installed beside this Python")
def test_r_reaches_the_real_hermes_and_comes_back(hermes_home):
    """A resume started from the screen ends in Hermes' own prompt, or in what Hermes itself has to
    say; meanwhile the browser holds nothing of the store, and then it is there as it was."""
    path = f"{HERMES.parent}{os.pathsep}{os.environ['PATH']}"
    terminal = Terminal(["--home", str(hermes_home)], PATH=path)
    terminal.wait_for("started 119 days ago")
    terminal.wait_for("46 of 56 shown")
    terminal.send("j\r", "find here")  # it reads
    terminal.send("R", "hermes setup")
    assert terminal.is_restored
    held = [link for fd in Path(f"/proc/{terminal.child.pid}/fd").iterdir() if (link := _link(fd))]
    assert held and not [link for link in held if link.startswith(str(hermes_home / "state.db"))]
    terminal.send("n\r", "Enter goes back")  # it could not start
    terminal.send("\r", "back from Hermes")
    terminal.wait_for("session started 10 days ago")
    assert "find here" in terminal.text, "the transcript has the keys, as before"
    terminal.leave()


def _link(descriptor):
    try:
        return os.readlink(descriptor)
    except FileNotFoundError:  # closed meanwhile
        return ""


_BROKEN = """
import sys
from hermes_browse.tui.browser.list.listing import Listing
def fail(self):
    secret = "what was said in a chat"
    raise ZeroDivisionError(secret)
Listing.reverse_order = fail
from hermes_browse.tui.cli import main
raise SystemExit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_fault_of_ours_is_a_sentence_and_a_log(hermes_home):
    """No traceback and no value of a variable reaches the screen; the log says where it
    happened."""
    terminal = Terminal(["--home", str(hermes_home)], code=_BROKEN)
    terminal.wait_for("search:")
    terminal.send("S")
    assert terminal.wait_for_end() == 1
    assert terminal.is_restored
    said = terminal.raw.decode("utf-8", "replace").rpartition("\x1b[?1049l")[2]
    assert "something unexpected went wrong (ZeroDivisionError)" in said.replace("\r\n", "")
    assert "Traceback" not in said and "what was said" not in said
    log = next(Path(os.environ["HOME"]).rglob("hermes-browse.log"))
    written = log.read_text()
    assert "ZeroDivisionError" in written and "what was said" not in written
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", slow_but([signal.SIGINT], [signal.SIGTERM, signal.SIGINT]), ids=str
)
def test_told_to_end_between_the_rows_and_textual(hermes_home, number):
    """The moment in which Textual is to leave the screen and has not taken it yet."""
    code = (
        "import os, sys\nfrom hermes_browse.tui.app import BrowseApp\nrun = BrowseApp.run\n"
        f"BrowseApp.run = lambda self, **given: (os.kill(os.getpid(), {int(number)}), run(self, **given))[1]\n"
        "from hermes_browse.tui.cli import main\nsys.exit(main(sys.argv[1:]))\n"
    )
    terminal = Terminal(["--home", str(hermes_home)], code=code, COLORTERM="truecolor")
    assert terminal.wait_for_end() == (130 if number == signal.SIGINT else 0)
    assert terminal.is_restored


@pytest.mark.slow
@pytest.mark.parametrize("moment", slow_but([0.1], [0.0, 0.1, 0.5]))
def test_its_terminal_goes_away(hermes_home, moment):
    """A window that is closed takes the browser with it; nothing stays behind waiting for a
    terminal that is gone."""
    terminal = Terminal(["--home", str(hermes_home)])
    terminal.wait_for("shown")
    terminal.read(moment)
    terminal.send("jjj\t")
    terminal.lose()


@pytest.mark.slow
def test_stopped_without_notice_it_goes_on(hermes_home):
    """SIGSTOP and SIGCONT: drawn again, every key taken once, and left like any other."""
    terminal = _started(hermes_home)
    for number in range(3):
        os.kill(terminal.child.pid, signal.SIGSTOP)
        terminal.screen.reset()  # another program had the terminal
        os.kill(terminal.child.pid, signal.SIGCONT)
        taken = number + 2
        # What is typed before that is thrown away.
        terminal.read_until(
            lambda taken=taken: terminal.raw.count(b"\x1b[?1049h") >= taken,
            "it was not taken again",
        )
        terminal.wait_for("search:")
        terminal.send(f"/qzx{number}", f" qzx{number}\n")  # not a letter more or less
        terminal.wait_for("Nothing contains this")
        terminal.send("\x1b[27u\x1b[27u", "search:")
    threads = {path.name for path in Path(f"/proc/{terminal.child.pid}/task").iterdir()}
    terminal.leave("\x03")
    assert len(threads) < 12


def _state(pid):
    """`T` for a process that stands still."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _started(hermes_home, *before):
    terminal = Terminal(["--home", str(hermes_home)], before=before)
    # The rows painted ahead have a search box too; Textual asks for pasted text when it has the
    # screen.
    terminal.read_until(lambda: b"\x1b[?2004h" in terminal.raw, "Textual never had the screen")
    terminal.wait_for("search:")
    return terminal


@pytest.mark.slow
def test_ctrl_z_gives_the_terminal_back_until_fg(hermes_home):
    """Without a handle on the store meanwhile, which would stop Hermes' own prune."""
    terminal = _started(hermes_home, "sh", "-mc", '"$@"; echo stopped; read line; fg', "sh")
    shell = terminal.child.pid
    browser = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0]
    terminal.send("j")
    terminal.read(0.2)  # the store is read, and would be open for a second
    terminal.send("\x1a", "stopped")
    assert _state(browser) == "T"
    assert terminal.is_restored
    opened = [os.readlink(each) for each in Path(f"/proc/{browser}/fd").iterdir()]
    assert not [each for each in opened if "state.db" in each]
    terminal.send("\r")
    terminal.read_until(lambda: terminal.raw.count(b"\x1b[?1049h") == 2, "it did not go on")
    terminal.wait_for("search:")
    terminal.leave("q")


_STOPPED_IN_A_WRITE = """
import os, queue, signal, sys
from hermes_browse.tui.cli import main

put, stops = queue.Queue._put, [signal.SIGTSTP]

def put_and_stop(self, item):
    put(self, item)
    if isinstance(item, str) and "qzx" in item and stops:
        os.kill(os.getpid(), stops.pop())

queue.Queue._put = put_and_stop
raise SystemExit(main(sys.argv[1:]))
"""
"""The browser gets a SIGTSTP while it holds the lock of the queue that it writes to."""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_told_to_stop_in_the_middle_of_a_write_it_stops(hermes_home):
    terminal = Terminal(["--home", str(hermes_home)], code=_STOPPED_IN_A_WRITE)
    terminal.read_until(lambda: b"\x1b[?2004h" in terminal.raw, "Textual never had the screen")
    terminal.send("/qzx")
    terminal.read_until(lambda: _state(terminal.child.pid) == "T", "it did not stop")
    terminal.read(0.1)
    assert terminal.is_restored
    os.kill(terminal.child.pid, signal.SIGCONT)
    # Until then Ctrl+C is a signal.
    terminal.read_until(lambda: terminal.raw.count(b"\x1b[?2004h") == 2, "it did not go on")
    terminal.leave("\x03")


@pytest.mark.slow
def test_ctrl_z_does_nothing_where_no_shell_would_go_on(hermes_home):
    """In a window of its own the browser would stand still for ever."""
    terminal = _started(hermes_home)
    terminal.send("\x1a", "no shell to go back to")
    terminal.leave("q")


@pytest.mark.slow
def test_a_signal_that_another_thread_gets_wakes_the_browser(hermes_home):
    """The kernel does so with a SIGCONT that overtakes its SIGSTOP; Python runs the handler on the
    main thread."""
    terminal = _started(hermes_home)
    terminal.wait_for("ended in")
    terminal.read(1.0)  # at rest, nothing else wakes it
    pid = terminal.child.pid
    other = max(int(path.name) for path in Path(f"/proc/{pid}/task").iterdir())
    assert ctypes.CDLL(None).tgkill(pid, other, signal.SIGCONT) == 0
    terminal.read_until(lambda: terminal.raw.count(b"\x1b[?1049h") == 2, "nobody was woken")
    terminal.leave("\x03")


@pytest.mark.parametrize(
    "number", slow_but((), [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]), ids=str
)
def test_stopped_at_any_moment_nothing_stays(tmp_path, monkeypatch, number):
    """Neither a mode of the terminal nor a file in the temporary folder, from the first one on that
    is made there."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for moment in (0.0, 0.03, 0.1, 0.3, 1.0):
        terminal = Terminal(["--demo"], COLORTERM="truecolor")
        terminal.read_until(
            lambda: any(tmp_path.glob("hermes-browse-*")), "no sample store is made"
        )
        terminal.read(moment)
        os.kill(terminal.child.pid, number)
        terminal.wait_for_end()
        assert terminal.is_restored and list(tmp_path.glob("hermes-browse-*")) == []


@pytest.mark.slow
def test_the_very_first_start_begins_with_a_hint(hermes_home):
    """Three lines, which the first key takes away for good, and does what it does."""
    terminal = Terminal(["--home", str(hermes_home)], is_first=True)
    terminal.wait_for("The first key takes this hint away")
    assert "Looking changes nothing" in terminal.text and "Enter read " in terminal.text
    terminal.send("?", "To begin with")
    terminal.send("\x1b")
    terminal.read_until(lambda: "To begin with" not in terminal.text, "the help stays")
    assert "The first key" not in terminal.text
    terminal.leave()
    again = Terminal(["--home", str(hermes_home)], is_first=True)
    again.wait_for("answered yesterday")
    assert "The first key" not in again.text
    again.leave()
