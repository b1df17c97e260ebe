"""Programs on a pseudo-terminal, with the moment of each byte they write."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import pyte

COLUMNS, ROWS = 120, 36
_DROPPED = ("COLUMNS", "LINES", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "NO_COLOR")


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a measured program: a home of its own, bytecode cached, a capable
    terminal.

    Without cached bytecode an interpreter compiles Textual at each start, which takes three times
    as long.

    Args:
        home: Stands for the home of the user.
        more: Further variables.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _DROPPED and not name.startswith(("XDG_", "HERMES", "TEXTUAL"))
    }
    return (
        kept
        | {"HOME": str(home), "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        | more
    )


class Program:
    """A program that runs; its output is kept with times, and looked at through an emulator
    afterwards."""

    def __init__(self, arguments: Sequence[str], env: Mapping[str, str]) -> None:
        """
        Args:
            arguments: The path of the program first.
            env: All of its environment.
        """
        self.chunks: list[tuple[float, bytes]] = []
        """Seconds since exec, and what came."""
        self.began = time.perf_counter()
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
                os.execve(arguments[0], list(arguments), dict(env))
            finally:
                os._exit(127)

    def now(self) -> float:
        """Seconds since exec."""
        return time.perf_counter() - self.began

    def read(self, seconds: float) -> bytes:
        """What comes next, or nothing when it does not come in time or the program has ended."""
        if not select.select([self._terminal], [], [], max(seconds, 0.0))[0]:
            return b""
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # the other side is closed
            data = b""
        if data:
            self.chunks.append((self.now(), data))
        return data

    def read_until(self, seen: Callable[[bytes], bool], seconds: float = 30.0) -> bool:
        """Read until what has come altogether satisfies a test.

        Returns:
            Whether it did before the time was over.
        """
        end = self.now() + seconds
        while self.now() < end:
            if self.read(0.1) and seen(b"".join(data for _, data in self.chunks)):
                return True
        return False

    def read_until_quiet(self, quiet: float = 0.5, most: float = 10.0) -> None:
        """Read until nothing has come for a while."""
        end = self.now() + most
        while self.now() < end and self.read(quiet):
            pass

    def send(self, keys: bytes) -> None:
        """Type."""
        os.write(self._terminal, keys)

    def when(self, test: Callable[[pyte.Screen], bool], since: float = 0.0) -> float | None:
        """The first moment at which the screen satisfied a test, in seconds since exec; None if it
        never did."""
        screen = pyte.Screen(COLUMNS, ROWS)
        stream = pyte.ByteStream(screen)
        for moment, data in self.chunks:
            stream.feed(data)
            if moment >= since and test(screen):
                return moment
        return None

    def changes(self, moments: Sequence[float], lines: slice) -> list[float | None]:
        """Milliseconds from each of these moments until some lines of the screen were others than
        at it; None if they stayed until the next moment.

        Args:
            moments: In seconds since exec, in order.
            lines: Which lines.
        """
        screen = pyte.Screen(COLUMNS, ROWS)
        stream = pyte.ByteStream(screen)
        found: list[float | None] = []
        chunks = iter([*self.chunks, (float("inf"), b"")])
        moment, data = next(chunks)
        for since, until in zip(moments, [*moments[1:], float("inf")], strict=True):
            while moment < since:
                stream.feed(data)
                moment, data = next(chunks)
            before, changed = screen.display[lines], None
            while moment < until:
                stream.feed(data)
                if changed is None and screen.display[lines] != before:
                    changed = (moment - since) * 1000
                moment, data = next(chunks)
            found.append(changed)
        return found

    def memory(self) -> float:
        """Resident memory in MiB."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise ValueError("no VmRSS in /proc/PID/status")

    def processor_seconds(self) -> float:
        """Seconds of processor used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        """Have it end, by force if need be."""
        os.kill(self.pid, signal.SIGTERM)
        end = self.now() + 3
        while self.now() < end:
            self.read(0.02)
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                break
        else:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._terminal)
