"""The browser on a pseudo-terminal, driven by a script through everything that only reads."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from terminal import Terminal

ESCAPE = "\x1b[27u"
"""Unmistakable, where a lone escape byte would make an Alt of the key behind it on a busy machine."""

READING = (
    ("move", "jjjj\x1b[6~kG", 0.15),
    ("top", "g", 0.1),
    ("into the transcript", "\x1b[D\t", 0.2, "find here"),
    ("turns", "JJK}{", 0.2),
    ("ends", "Gg", 0.2),
    ("tools", "ttt", 0.2),
    ("reasoning", "rr", 0.1),
    ("what was said, what is live, all", "vvv", 0.3),
    ("days and segments", "][)(", 0.2),
    ("find", "\\", 0.1, "↵ done"),
    ("a word", "the\r", 0.2),
    ("leave the find", ESCAPE, 0.15),
    ("raw", "&", 0.2, "as it is stored"),
    ("leave", ESCAPE, 0.15),
    ("back", "\x1b[D", 0.1),
    ("lineage", "l", 0.2),
    ("in the tree", "jjk", 0.2),
    ("leave the tree", ESCAPE, 0.15),
    ("views", "234", 0.3),
    ("chats", "1", 0.15),
    ("orders", "ssss", 0.3),
    ("reverse", "SS", 0.2),
    ("search", "/ferry", 0.4, "hits in"),
    ("first hit", "\x1b[B\r", 0.3),
    ("hits", "nnN", 0.3),
    ("order of hits", "ooo", 0.3),
    ("filters", "/\x05\x15role:assistant is:live", 0.4),
    ("empty the box, leave it", "\x05\x15" + ESCAPE, 0.3),
    ("details", "i", 0.2, "last active"),
    ("leave", ESCAPE, 0.15),
    ("recap", "p", 0.2),
    ("leave", "p", 0.1),
    ("what Hermes deletes", "W", 0.4, "b bundle"),
    ("leave", ESCAPE, 0.15),
    ("rules", "P", 0.5, "v reclaim"),
    ("leave", ESCAPE, 0.2),
    ("trash", "X", 0.2, "c check"),
    ("leave", ESCAPE, 0.15),
    ("marks", "  ", 0.1),
    ("zoom", "zz", 0.2),
    ("again", "\x1b[15~", 0.3),
    ("help", "?", 0.2, "Everywhere"),
    ("leave", ESCAPE, 0.15),
    ("wheel", "\x1b[<65;20;12M" * 5 + "\x1b[<64;90;12M" * 5, 0.2),
    ("copy the id", "y", 0.1),
)
"""Name, keys, the seconds that what comes of them is read for, and what must then be on the screen."""

ENDINGS = ("q", "TERM", "HUP", "KILL", "lost")
"""How a browser ends: the last is a terminal that goes away under it."""


class Driven(Terminal):
    """A browser on a store that is read, and the moments at which something may go wrong."""

    def __init__(self, store: Path, *, columns: int = 120, rows: int = 36, **env: str) -> None:
        super().__init__(["--db", str(store)], columns=columns, rows=rows, **env)

    @property
    def pid(self) -> int:
        """Of the browser."""
        return int(self.child.pid)

    def opened(self) -> None:
        """Wait until the list is on the screen."""
        self.wait_for(" shown")

    def wait_until(self, holds: Callable[[Driven], bool], seconds: float = 60.0) -> None:
        """Read until something holds."""
        end = time.monotonic() + seconds
        while not holds(self):
            assert time.monotonic() < end, f"never came:\n{self.text}"
            self.read(0.05)

    def walk(self, pace: float = 1.0) -> int:
        """Go through every feature that reads.

        Args:
            pace: Stretches the time each is given.

        Returns:
            How many steps were taken; each left the browser running.
        """
        for name, keys, seconds, *shown in READING:
            self.send(keys)
            self.read(seconds * pace)
            for text in shown:
                self._insist(text, keys)
            assert self.child.isalive(), f"gone after {name!r}:\n{self.text}\n{self.raw[-600:]!r}"
        assert b"Traceback" not in self.raw
        return len(READING)

    def _insist(self, text: str, keys: str) -> None:
        """Wait for a text, and press again what may have come before there was anything to show."""
        for _ in range(4):
            end = time.monotonic() + 3
            while time.monotonic() < end:
                if text in self.text:
                    return
                assert self.child.isalive(), f"gone after {keys!r}:\n{self.text}\n{self.raw[-600:]!r}"
                self.read(0.05)
            self.send(keys)
        self.wait_for(text)

    def suspend(self) -> None:
        """Stop it for a moment as a shell does, and let it go on."""
        os.kill(self.pid, signal.SIGSTOP)
        time.sleep(0.3)
        os.kill(self.pid, signal.SIGCONT)
        self.read(0.3)

    def finish(self, how: str) -> None:
        """End it.

        Args:
            how: One of `ENDINGS`.
        """
        if how == "q":
            self.send(ESCAPE * 3 + "\x03")
            self.wait_for_end()
        elif how == "lost":
            self.lose()
        else:
            os.kill(self.pid, getattr(signal, f"SIG{how}"))
            if how == "KILL":
                self.wait_for_death()
            else:
                self.wait_for_end()


def handles(pid: int, store: Path) -> list[str]:
    """Files a process has open that are the store or stand beside it, as Hermes' scan for holders looks for them."""
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            name = os.readlink(entry)
        except OSError:  # closed meanwhile
            continue
        if name.startswith(str(store.resolve())):
            found.append(name)
    return found
