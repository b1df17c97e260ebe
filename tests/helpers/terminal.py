"""A real pseudo-terminal with the browser in it, seen through a terminal emulator."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import pexpect
import pyte
from rich.cells import cell_len

from hermes_browse.tui.settings.start import LastState, memory_path, write_memory

PATIENCE = 120.0
"""Seconds after which a test gives up waiting: only a fault takes that long, also on a busy
machine."""


class Terminal:
    """A program on a pty; its output is fed to a VT emulator.

    Args:
        arguments: Of the browser.
        code: Run instead of it, with the same arguments.
        before: A command that runs it, like strace.
        is_first: Nothing is remembered of an earlier run, unless a test has written it.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        columns: int = 120,
        rows: int = 36,
        code: str = "",
        before: Sequence[str] = (),
        is_first: bool = False,
        **env: str,
    ) -> None:
        self._prepare(columns, rows)
        if not is_first and not memory_path().exists():
            write_memory(memory_path(), LastState())
        program = (
            [sys.executable, "-c", code] if code else [sys.executable, "-m", "hermes_browse.tui"]
        )
        command = [*before, *program, *arguments]
        # Without an encoding it reads bytes; the stubs know the other kind only.
        self.child: Any = pexpect.spawn(
            command[0],
            command[1:],
            dimensions=(rows, columns),
            env={**os.environ, **env},
            timeout=PATIENCE,
        )
        self.child.delaybeforesend = None  # for programs that ask for passwords

    def _prepare(self, columns: int, rows: int) -> None:
        """Have an empty screen."""
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        """Everything the program wrote."""

    def read(self, seconds: float = 0.1) -> None:
        """Take in what the program writes for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self._take(left):
            pass

    def _take(self, seconds: float) -> bool:
        """Take in the next portion, waiting so long for it at most.

        Returns:
            False when there will be no more: the program and all that it started have closed the
                terminal.
        """
        try:
            data = self.child.read_nonblocking(65536, timeout=seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self._stream.feed(data)
        return True

    def painted_ahead(self) -> pyte.Screen:
        """Return the screen as it was when Textual took over, which turns the mouse on before it
        paints.

        Read from all that was written, so it does not matter how much of it was read at that
        moment.
        """
        ahead, mouse, _rest = self.raw.partition(b"\x1b[?1000h")
        assert mouse, "Textual never had the screen"
        screen = pyte.Screen(self.screen.columns, self.screen.lines)
        pyte.ByteStream(screen).feed(ahead)
        return screen

    @property
    def text(self) -> str:
        """What is on the screen, also in the middle of a frame, when half of a wide character may
        be written over."""
        lines = []
        for y in range(self.screen.lines):
            row = self.screen.buffer[y]
            cells = [row[x].data for x in range(self.screen.columns)]
            for x, cell in enumerate(cells):
                # The cell behind a wide character is empty; an empty one elsewhere is half of what
                # is written over.
                if not cell and cell_len(cells[x - 1]) < 2:
                    cells[x] = " "
            lines.append("".join(cells).rstrip())
        return "\n".join(lines)

    def resume(self, told: str) -> None:
        """Find the conversation on walruses and resume it, until a text is on the screen."""
        self.send("/walrus", "kept walrus answer")
        self.send("\x1b[B\r")
        self.read(1.0)
        self.send("R", told)

    def wait_for(self, text: str, seconds: float = PATIENCE) -> None:
        """Read until a text is on the screen."""
        self.read_until(lambda: text in self.text, f"never saw {text!r}", seconds)

    def read_until(
        self, holds: Callable[[], bool], otherwise: str, seconds: float = PATIENCE
    ) -> None:
        """Read until a condition holds.

        Args:
            holds: The condition, asked again after each portion the program writes, and at least
                ten times a second.
            otherwise: What the failure says.
            seconds: Only a fault takes so long.
        """
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"{otherwise}:\n{self.text}"
            if not self._take(0.1):
                assert holds(), f"{otherwise}, and the program has ended:\n{self.text}"

    def send(self, keys: str, text: str = "") -> None:
        """Type, and read until a text is on the screen."""
        self.child.send(keys)
        if text:
            self.wait_for(text)

    def resize(self, columns: int, rows: int) -> None:
        """Another size, told by SIGWINCH."""
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def leave(self, key: str = "q") -> None:
        """End the program with a key; it says that all was well, and the terminal is as it was."""
        self.send(key)
        assert self.wait_for_end() == 0
        assert self.is_restored

    def wait_for_end(self, seconds: float = PATIENCE) -> int:
        """Read until the program has ended, and then all that is still in the terminal.

        Returns:
            Its exit code.
        """
        end = time.monotonic() + seconds
        while self.child.isalive():
            assert time.monotonic() < end, f"never ended:\n{self.text}"
            if not self._take(0.1):
                self.child.wait()
        # What it wrote last may come in several portions; with the last writer gone the kernel
        # tells the end.
        while self._take(1.0):
            assert time.monotonic() < end, f"somebody keeps the terminal open:\n{self.text}"
        self.child.close()
        code = self.child.exitstatus
        return code if code is not None else -(self.child.signalstatus or 0)

    def lose(self, seconds: float = PATIENCE) -> None:
        """Take the terminal away, as a window that is closed does, and wait until the program is
        gone."""
        # Not os.close: the pexpect object would close the number again, and by then it is someone
        # else's.
        self.child.ptyproc.fileobj.close()
        self.child.ptyproc.closed = self.child.closed = True
        self.wait_for_death(seconds)

    def wait_for_death(self, seconds: float = PATIENCE) -> None:
        """Wait until there is no such process, without reading what it writes."""
        end = time.monotonic() + seconds
        while not os.waitpid(self.child.pid, os.WNOHANG)[0]:
            if time.monotonic() > end:
                os.kill(self.child.pid, signal.SIGKILL)
                raise AssertionError("the program stays")
            time.sleep(0.02)
        self.child.terminated = self.child.ptyproc.terminated = True

    @property
    def is_restored(self) -> bool:
        """Whether the program has left the alternate screen and turned off mouse, paste and
        keyboard modes."""
        last = {name: (self.raw.rfind(on), self.raw.rfind(off)) for name, on, off in _MODES}
        return all(off > on for on, off in last.values() if on >= 0)


_MODES = (
    ("screen", b"\x1b[?1049h", b"\x1b[?1049l"),
    ("mouse", b"\x1b[?1000h", b"\x1b[?1000l"),
    ("paste", b"\x1b[?2004h", b"\x1b[?2004l"),
    ("cursor", b"\x1b[?25l", b"\x1b[?25h"),
)
