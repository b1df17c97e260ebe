"""Textual's driver for a terminal that may go away, and for a screen that has been taken already."""

from __future__ import annotations

import contextlib
import signal
import termios
import time
from collections.abc import Callable
from typing import IO, Any

from textual import constants
from textual.drivers.linux_driver import LinuxDriver

from ..textual_private import XTermParser

_TAKE = "\x1b[?1049h"


class _Losable:
    """What Textual's thread writes to: a terminal that is gone takes everything, and is told of once.

    The thread would end at the first error. The queue in front of it holds 30 texts, and who puts the next one in waits
    for ever (Textual 8): a browser whose window was closed would stay, out of reach of any signal but KILL.
    """

    def __init__(self, file: IO[str], gone: Callable[[], None]) -> None:
        self._file, self._gone, self._is_gone = file, gone, False

    def _lose(self) -> None:
        if not self._is_gone:
            self._is_gone = True
            self._gone()

    def write(self, text: str) -> int:
        """Write, or do nothing."""
        try:
            return self._file.write(text)
        except OSError:
            self._lose()
            return len(text)

    def flush(self) -> None:
        """Flush, or do nothing."""
        try:
            self._file.flush()
        except OSError:
            self._lose()

    def fileno(self) -> int:
        """The descriptor of the terminal."""
        return self._file.fileno()


class BrowserDriver(LinuxDriver):
    """Ends the browser when its terminal is gone, and goes on properly after any stop."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        if self._file is not None:
            self._file: Any = _Losable(self._file, self._end)
        # The kernel may give a signal to any thread, and Python runs its handler on the main one, which then sleeps on:
        # a stop that SIGCONT overtakes wakes nobody. asyncio has itself woken by any signal once it handles one.
        self._loop.add_signal_handler(signal.SIGCONT, self._sigcont_application)

    def toggle_mouse(self) -> bool:
        """Leave the mouse to the terminal, or take it back; Textual 8 asks for it once, at the start.

        Returns:
            Whether the mouse is the browser's now.
        """
        if self._mouse:
            self._disable_mouse_support()
        self._mouse = not self._mouse  # also what holds after the terminal was lent
        self._enable_mouse_support()
        return self._mouse

    def suspend_application_mode(self) -> None:
        """Give the terminal back with the settings it had before anything was painted ahead.

        Textual 8 puts back those it found: where the first rows were painted ahead, keys were silent by then, and
        after a SIGTSTP Enter would have been no Enter to whoever came next.
        """
        super().suspend_application_mode()
        put_back = getattr(self._app, "put_terminal_back", None)
        if put_back is not None:
            with contextlib.suppress(OSError, termios.error):  # a terminal that is gone needs nothing put back
                put_back()

    def _sigcont_application(self, *given: Any) -> None:
        """Go on after a stop.

        Before SIGTSTP stops it, Textual gives the terminal back. SIGSTOP gives no notice: Textual 8 would take the
        terminal a second time, with two threads that read keys. One would wait for a key the other has taken, and
        leaving would wait for it.
        """
        if self._must_signal_resume or not self._auto_restart:
            super()._sigcont_application(*given)
        elif self._writer_thread is not None:
            self._take_again()

    def _take_again(self) -> None:
        """Take the terminal although nobody gave it back; who had it meanwhile left it as they like it."""
        super().suspend_application_mode()  # not with the settings of before: a Ctrl+c of this moment would be a signal
        self._must_signal_resume = True  # whoever listens is told, as after any stop
        self.resume_application_mode()
        self._app.call_later(self._app.refresh, layout=True)

    def _end(self) -> None:
        """From the thread that writes."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._app.exit)


class TakenScreenDriver(BrowserDriver):
    """Leaves out the one sequence that would clear what has been painted."""

    _is_taken = True
    _typed = b""

    def start_application_mode(self) -> None:
        """Take the terminal; what answered its keys meanwhile ends first, and says what is left to be answered."""
        keys = getattr(self._app, "early_keys", None)
        if keys is not None:
            keys.stop()
            self._typed = keys.typed
        super().start_application_mode()  # type: ignore[no-untyped-call]  # as Textual has it

    def run_input_thread(self) -> None:
        """Pass on the keys that have been typed already, then those that come."""
        typed, self._typed = self._typed.decode(errors="replace"), b""
        if typed:
            parser = XTermParser(self._debug)
            events = [*parser.feed(typed)]
            if typed.endswith("\x1b"):  # alone, unless more of it comes within this time
                time.sleep(constants.ESCAPE_DELAY)
                events += parser.tick()
            for event in events:
                self.process_message(event)
        super().run_input_thread()

    def write(self, data: str) -> None:
        """Write to the terminal."""
        if self._is_taken and _TAKE in data:
            self._is_taken = False  # when it comes again the screen was given to another program meanwhile
            data = data.replace(_TAKE, "")
        super().write(data)
