"""Textual's driver, for a terminal that may disappear and for a screen that has been painted already."""

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
from .prepaint import Handover

_ENTER_ALTERNATE_SCREEN = "\x1b[?1049h"


class _TerminalFile:
    """The file Textual's writer thread writes to; ignores errors, and calls back at the first one.

    The thread would end at an error. Its queue holds 30 texts and blocks whoever adds another one (Textual 8), so a
    browser whose window was closed would hang, and only SIGKILL would end it.
    """

    def __init__(self, file: IO[str], on_gone: Callable[[], None]) -> None:
        self._file, self._on_gone, self._is_gone = file, on_gone, False

    def _failed(self) -> None:
        if not self._is_gone:
            self._is_gone = True
            self._on_gone()

    def write(self, text: str) -> int:
        """Write, or do nothing."""
        try:
            return self._file.write(text)
        except OSError:
            self._failed()
            return len(text)

    def flush(self) -> None:
        """Flush, or do nothing."""
        try:
            self._file.flush()
        except OSError:
            self._failed()

    def fileno(self) -> int:
        """The descriptor of the terminal."""
        return self._file.fileno()


class BrowserDriver(LinuxDriver):
    """Ends the browser when its terminal is gone, and continues properly after any stop."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self._file is not None:
            self._file: Any = _TerminalFile(self._file, self._end)
        # The kernel may deliver a signal to any thread. Python runs the handler on the main thread, but does not wake
        # it from its sleep; asyncio is woken by every signal as soon as it handles one of them.
        self._loop.add_signal_handler(signal.SIGCONT, self._sigcont_application)

    def toggle_mouse(self) -> bool:
        """Leave the mouse to the terminal, or take it back; return whether the browser has it now."""
        if self._mouse:
            self._disable_mouse_support()
        self._mouse = not self._mouse  # `resume_application_mode` reads this too
        self._enable_mouse_support()
        return self._mouse

    def suspend_application_mode(self) -> None:
        """Restore the terminal's settings from before the painting; Textual 8 would restore those it found.

        It found them without canonical mode and echo, so that after a SIGTSTP the shell could not use Enter.
        """
        super().suspend_application_mode()
        with contextlib.suppress(OSError, termios.error):  # the terminal may be gone
            self._handover.restore_settings()

    def _sigcont_application(self, *args: Any) -> None:
        """Continue after a stop.

        Before SIGTSTP stops it, Textual gives the terminal back. SIGSTOP gives no notice, and Textual 8 would take the
        terminal a second time, with a second thread that reads keys: the first one would wait for a key that the second
        has read, and the end of the browser would wait for the first.
        """
        if self._must_signal_resume or not self._auto_restart:
            super()._sigcont_application(*args)
        elif self._writer_thread is not None:
            # Our own `suspend_application_mode` would restore settings with which Ctrl+c is a signal.
            super().suspend_application_mode()
            self._must_signal_resume = True  # so that the resume signal is published as after SIGTSTP
            self.resume_application_mode()
            self._app.call_later(self._app.refresh, layout=True)

    @property
    def _handover(self) -> Handover:
        handover: Handover = self._app.handover  # type: ignore[attr-defined]  # the app is a BrowseApp
        return handover

    def _end(self) -> None:
        """End the browser; called on the writer thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._app.exit)


class PaintedScreenDriver(BrowserDriver):
    """Does not send the sequence that would clear the painted screen."""

    _is_painted = True
    _typed = b""

    def start_application_mode(self) -> None:
        """Take the terminal, and the keys that have not been handled."""
        keys = self._handover.keys
        if keys is not None:
            keys.stop()
            self._typed = keys.typed
        super().start_application_mode()  # type: ignore[no-untyped-call]  # untyped in Textual

    def run_input_thread(self) -> None:
        """Process the keys that were typed early, then new ones."""
        typed, self._typed = self._typed.decode(errors="replace"), b""
        if typed:
            parser = XTermParser(self._debug)
            events = [*parser.feed(typed)]
            if typed.endswith("\x1b"):  # the Escape key, unless more follows within this time
                time.sleep(constants.ESCAPE_DELAY)
                events += parser.tick()
            for event in events:
                self.process_message(event)
        super().run_input_thread()

    def write(self, data: str) -> None:
        """Write to the terminal."""
        if self._is_painted and _ENTER_ALTERNATE_SCREEN in data:
            self._is_painted = False  # later ones follow the use of the terminal by another program
            data = data.replace(_ENTER_ALTERNATE_SCREEN, "")
        super().write(data)
