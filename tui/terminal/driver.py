"""Textual's driver, for a terminal that may disappear and for a screen that has been painted
already."""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import termios
from typing import IO, Any

from textual.drivers.linux_driver import LinuxDriver

from .handover import Handover, hang_up
from .textual_private import XTermParser

_ENTER_ALTERNATE_SCREEN = "\x1b[?1049h"
_READ_BYTES = 4096
_TICK_SECONDS = 0.1
"""How long to wait for keys before looking whether the browser ends, and for more after Escape."""


class _TerminalFile:
    """The file Textual's writer thread writes to; a write that fails hangs up.

    The thread would end at an error. Its queue holds 30 texts and blocks whoever adds another one
    (Textual 8), so a browser whose window was closed would hang, and only SIGKILL would end it.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._is_gone = False

    def _failed(self) -> None:
        if not self._is_gone:
            self._is_gone = True
            hang_up()

    def write(self, text: str) -> int:
        try:
            return self._file.write(text)
        except OSError:
            self._failed()
            return len(text)

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError:
            self._failed()

    def fileno(self) -> int:
        return self._file.fileno()


class BrowserDriver(LinuxDriver):
    """Ends the browser when its terminal is gone, continues properly after any stop, and does not
    send the sequence that would clear a painted screen."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self._file is not None:
            self._file: Any = _TerminalFile(self._file)
        self._handover: Handover = self._app.handover  # type: ignore[attr-defined]  # of a BrowseApp
        self._typed = b""
        """Keys that were typed before Textual was loaded."""
        # The kernel may deliver a signal to any thread. Python runs the handler on the main thread,
        # but does not wake it from its sleep; asyncio is woken by every signal as soon as it
        # handles one of them. A handler that runs in the middle of a write would wait for ever for
        # the lock of the queue that the write holds: these run between two events.
        self._loop.add_signal_handler(signal.SIGTSTP, self._sigtstp_application)
        self._loop.add_signal_handler(signal.SIGCONT, self._sigcont_application)

    def start_application_mode(self) -> None:
        """Take the terminal, and the keys that have not been handled."""
        keys = self._handover.keys
        if keys is not None:
            keys.stop()
            self._typed = keys.typed
        super().start_application_mode()  # type: ignore[no-untyped-call]  # untyped in Textual

    def write(self, data: str) -> None:
        handover = self._handover
        if handover.is_painted and _ENTER_ALTERNATE_SCREEN in data:
            # Later ones follow the use of the terminal by another program.
            handover.is_painted = False
            data = data.replace(_ENTER_ALTERNATE_SCREEN, "")
        super().write(data)

    def toggle_mouse(self) -> bool:
        """Leave the mouse to the terminal, or take it back; return whether the browser has it
        now."""
        if self._mouse:
            self._disable_mouse_support()
        self._mouse = not self._mouse  # `resume_application_mode` reads this too
        self._enable_mouse_support()
        return self._mouse

    def suspend_application_mode(self) -> None:
        """Restore the terminal's settings from before the painting; Textual 8 would restore those
        it found.

        It found them without canonical mode and echo, so that after a SIGTSTP the shell could not
        use Enter.
        """
        super().suspend_application_mode()
        with contextlib.suppress(OSError, termios.error):  # the terminal may be gone
            self._handover.restore_settings()

    def _sigtstp_application(self, *args: Any) -> None:
        """Stop with no handle on a store, as one would stop Hermes' own prune."""
        with self._app.released():  # type: ignore[attr-defined]  # the app is a BrowseApp
            super()._sigtstp_application(*args)

    def _sigcont_application(self, *args: Any) -> None:
        """Continue after a stop.

        Before SIGTSTP stops it, Textual gives the terminal back. SIGSTOP gives no notice, and
        Textual 8 would take the terminal a second time, with a second thread that reads keys: the
        first one would wait for a key that the second has read, and the end of the browser would
        wait for the first.
        """
        if self._must_signal_resume or not self._auto_restart:
            super()._sigcont_application(*args)
        elif self._writer_thread is not None:
            # The settings of before stay away meanwhile: with them Ctrl+C is a signal.
            attributes = self.attrs_before
            self.attrs_before = None
            super().suspend_application_mode()
            self._must_signal_resume = (
                True  # so that the resume signal is published as after SIGTSTP
            )
            self.resume_application_mode()
            self.attrs_before = attributes
            self._app.call_later(self._app.refresh, layout=True)

    def drop_input(self) -> None:
        """Forget what was typed for the program that had the terminal."""
        with contextlib.suppress(termios.error):  # the terminal may be gone
            termios.tcflush(self.fileno, termios.TCIFLUSH)

    def run_input_thread(self) -> None:
        """Process the keys typed early, then new ones, until the browser or its terminal ends.

        Textual 8 takes the end of its input for no input, and reads it again and again: without a
        SIGHUP, which only the leader of a session gets, a closed window would leave a browser that
        uses a whole core.
        """
        parser = XTermParser(self._debug)
        # A byte that is no UTF-8 would be the end of Textual's own thread.
        decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        data = self._typed
        self._typed = b""
        is_last = False
        while not is_last:
            text = decode(data)
            events = [*parser.feed(text)] if text else []  # an empty text would close the parser
            for event in (*events, *parser.tick()):
                self.process_message(event)
            # Input under way when the browser ends, as of the mouse, must not reach the shell.
            is_last = self.exit_event.is_set()
            data = b""
            if select.select([self.fileno], [], [], _TICK_SECONDS)[0]:
                with contextlib.suppress(OSError):  # EIO: the terminal is gone, as at an end
                    data = os.read(self.fileno, _READ_BYTES)
                if not data:
                    hang_up()
                    return
