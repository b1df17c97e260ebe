"""The terminal without Textual: its settings, signals, and the keys typed from the first painted
rows until Textual has it, and what is done when it is gone.

A thread reads these keys and handles those that move the cursor by a row, within the rows on screen.
From the first other key on it keeps everything, and the driver passes it to Textual. It shows the
letters of a query that is typed.

Of a terminal that is gone the kernel tells only the leader of a session, by SIGHUP. Others, as a
program started by `su -c`, read an end of input or EIO.
"""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

if sys.platform != "win32":
    import termios

ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
"""Signals that end the browser. Python would raise SIGINT anywhere, also where nobody gives the
terminal back."""


class Handover:
    """The state of the terminal from the first rows until Textual has it."""

    def __init__(self) -> None:
        self.is_painted = False
        """The alternate screen is up, and Textual has not entered it."""
        self.is_done = False
        """Textual leaves the alternate screen; leaving it twice would move the cursor over later
        output."""
        self.restore_settings: Callable[[], None] = lambda: None
        """Restores the settings from before the painting; Textual would restore those it found."""
        self.signal = 0
        """The signal received, 0 for none. It is kept because an exception raised by the handler
        can be lost where Python ignores exceptions, and Textual ends in its own way.
        """
        self.is_critical = False
        """A thread is being started or the terminal restored: a signal does not interrupt that."""
        self.keys: EarlyKeys | None = None
        """Handles keys until Textual reads them."""

    @property
    def exit_code(self) -> int:
        """That of a browser which was ended by the signal: 130 after Ctrl+C."""
        return 130 if self.signal == signal.SIGINT else 0

    def _on_signal(self, number: int, stack: FrameType | None) -> None:
        """End at once, or leave that to Textual or to the end of the critical section."""
        self.signal = number
        if not self.is_done and not self.is_critical:
            raise SystemExit(128 + number)

    @contextmanager
    def taken(self, paint: Callable[[], EarlyKeys | None] | None) -> Iterator[Handover]:
        """Paint the first rows and handle keys, and restore the terminal at the end of the block,
        however it ends.

        Args:
            paint: Paints, and returns what handles keys; None if nothing can be painted ahead: the
                terminal is left alone then.
        """
        if paint is None:
            yield self
            return
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        silent = termios.tcgetattr(terminal)
        silent[0] &= ~termios.ICRNL  # Enter must arrive as CR
        silent[3] &= ~(termios.ICANON | termios.ECHO)
        restore = partial(termios.tcsetattr, terminal, termios.TCSANOW, before)
        handlers = {number: signal.signal(number, self._on_signal) for number in ENDING}
        keys: EarlyKeys | None = None
        try:
            # TCSANOW keeps typed keys in the buffer.
            termios.tcsetattr(terminal, termios.TCSANOW, silent)
            new = paint()
            self.is_painted = True
            if new is not None:
                self.is_critical = True
                new.start()
                keys = self.keys = new
                self.is_critical = False
                if self.signal:
                    raise SystemExit(128 + self.signal)
            self.restore_settings = restore
            yield self
        finally:
            self.is_critical = True
            if keys is not None:
                keys.stop()
            for number, handler in handlers.items():
                signal.signal(number, handler)
            with suppress(OSError, termios.error):  # the terminal may be gone
                if not self.is_done:
                    os.write(sys.stderr.fileno(), b"\x1b[?1049l\x1b[?25h")
                restore()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Leave the terminal, which Textual has given back, to another program."""
        # Ctrl+c is for that program. It would inherit SIG_IGN, but it does not inherit a handler.
        handlers: dict[int, Any] = {signal.SIGINT: lambda number, frame: None}
        if sys.platform != "win32":
            handlers[signal.SIGTSTP] = signal.SIG_DFL  # Ctrl+z stops both; no event is handled
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def call_at_end(end: Callable[[int], object], loop: AbstractEventLoop) -> None:
    """Call `end` with the number of each signal that ends the browser, on the thread of its event
    loop. A closed loop has removed its own handlers, so these are those of `signal`, which only the
    main thread can set."""

    def handle(before: object, number: int, frame: FrameType | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(end, number)
        elif callable(before):
            before(number, frame)

    if threading.current_thread() is threading.main_thread():
        for number in ENDING:
            signal.signal(number, partial(handle, signal.getsignal(number)))


_MOVES = {b"\x1b[B": 1, b"\x1bOB": 1, b"j": 1, b"\x1b[A": -1, b"\x1bOA": -1, b"k": -1}
_MOVE = re.compile(b"|".join(re.escape(keys) for keys in _MOVES))
_CUT = re.compile(rb"\x1b(?:\[[0-9;?<]*|O)?\Z|[\xc0-\xff][\x80-\xbf]{0,2}\Z")
"""Matches input that ends in the middle of a key."""
_QUERY = re.compile(rb"/([^\x00-\x1f\x7f]+)")
"""Matches the key of the search box, and letters behind it."""
_READ_BYTES = 4096
_KEY_SECONDS = 0.05
"""How long to wait for the rest of a key."""


class FirstRows(Protocol):
    """What is painted before Textual is there."""

    movable: int
    """The number of rows that can have the cursor."""

    def is_current(self) -> bool:
        """Return False when what is painted is out of date, as after a resize."""

    def move(self, before: int, after: int) -> None:
        """Move the cursor from one row to another."""

    def show_query(self, query: str) -> None:
        """Show what is typed in the search box."""


class EarlyKeys:
    """Handles the keys that move the cursor, and keeps all others.

    Args:
        terminal: Descriptor to read from; not in canonical mode, without echo.
        painted: Is changed by the thread that reads.
    """

    def __init__(self, terminal: int, painted: FirstRows) -> None:
        self.cursor = 0
        """The row it is on, from 0."""
        self.typed = b""
        """Keys that have not been handled."""
        self._terminal = terminal
        self._painted = painted
        self._stop_read, self._stop_write = os.pipe()
        self._thread = threading.Thread(target=self._run, name="early-keys", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Read no more keys; safe to call again."""
        if self._stop_write < 0:
            return
        descriptor = self._stop_write
        self._stop_write = -1
        os.close(descriptor)
        self._thread.join()
        os.close(self._stop_read)

    def _run(self) -> None:
        try:
            while self._stop_write >= 0:
                ready = select.select([self._terminal, self._stop_read], [], [])[0]
                if self._terminal not in ready:
                    break
                self._read()
            if _CUT.search(self.typed) and select.select([self._terminal], [], [], _KEY_SECONDS)[0]:
                self._read()
        except OSError:  # the terminal is gone
            hang_up()

    def _read(self) -> None:
        data = os.read(self._terminal, _READ_BYTES)
        if not data:
            raise OSError("the terminal is gone")
        self.typed += data
        if not self._painted.is_current():
            return
        before = self.cursor
        while move := _MOVE.match(self.typed):
            target = max(self.cursor + _MOVES[move[0]], 0)
            if target >= self._painted.movable:
                break  # the rows below are not painted
            self.cursor = target
            self.typed = self.typed[move.end() :]
        if self.cursor != before:
            self._painted.move(before, self.cursor)
        if query := _QUERY.match(self.typed):
            self._painted.show_query(query[1].decode(errors="ignore"))


def hang_up() -> None:
    """Send SIGHUP to this process, from any thread: it ends as if its window had been closed."""
    os.kill(os.getpid(), signal.SIGHUP)


def is_job() -> bool:
    """Whether the shell that started this program goes on with it after a stop: such a shell gives it
    a process group of its own in the session of both."""
    if sys.platform == "win32":
        return False
    parent = os.getppid()
    try:
        return os.getsid(parent) == os.getsid(0) and os.getpgid(parent) != os.getpgrp()
    except OSError:  # it has ended, or is hidden
        return False


def watch_terminal() -> None:
    """Hang up when standard input, a terminal, is gone, whatever the main thread does.

    Nothing is read: this is for those who do not read all the time.
    """
    if sys.platform == "win32" or not sys.stdin.isatty():
        return
    terminal = select.poll()
    terminal.register(sys.stdin.fileno(), select.POLLHUP)

    def wait() -> None:
        for _descriptor, happened in terminal.poll():
            if happened & select.POLLHUP:
                hang_up()

    threading.Thread(target=wait, name="terminal", daemon=True).start()
