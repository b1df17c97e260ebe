"""The browser on a pseudo-terminal, driven by a script through everything that only reads."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from key_scripts import typed
from paths import DATA
from terminal import Terminal

ESCAPE = "\x1b[27u"
"""Unmistakable, where a lone escape byte would make an Alt of the key behind it on a busy
machine."""


@dataclass(frozen=True)
class Step:
    """Something a reader does."""

    name: str
    keys: str
    shown: str
    """What must then be on the screen, however long it takes; of texts with a bar between them,
    one. The keys are never sent a second time: they might close again what the first ones open
    late, on a machine with much to do, or behind a lock of a writer's."""
    gone: str
    """What must be gone from it then: long work, which Escape would stop before it leaves."""
    leaves: bool
    """Whether Escape is sent when it is, once; then it must be gone. Escape stands nowhere else:
    where there is nothing left to leave it leaves the browser."""

    def holds(self, text: str) -> bool:
        """Whether a screen shows what must be shown, and no more what must be gone."""
        return any(each in text for each in self.shown.split("|")) and not (
            self.gone and self.gone in text
        )


STOPPED = "stopped: F5 reads again"
"""What a screen that reads for long says of the first Escape; the second one leaves it."""

TRACEBACK = b"Traceback (most recent call last)"
"""What Python says when it gives up; the first word alone stands in many a conversation."""

LEFT, NO_QUERY = "\x1b[D", "\x05\x15"
"""Back to the list from any pane; and no word in the search box."""


def _read(name: str) -> Iterator[Step]:
    """The steps of a file, a line for each: its name, its keys, what is shown, or shown without what
    is gone, and a sign where Escape leaves it."""
    for line in (DATA / "scripts" / name).read_text(encoding="utf-8").splitlines():
        title, _colon, rest = line.partition(": ")
        rest, sign, _end = rest.partition(" ⎋")
        rest, _word, gone = rest.partition(" without ")
        keys, _arrow, shown = rest.partition(" → ")
        yield Step(title, typed(keys), shown, gone, bool(sign))


READING = tuple(_read("reading.txt"))
"""Everything that only reads. Behind a lock of a writer's a text may take seconds to come, and a key
for one that is not there yet does nothing: so it is waited for."""

HOSTILE = tuple(_read("hostile.txt"))
"""Every screen there is to read."""

FEW = tuple(
    step
    for step in READING
    if step.name in ("move", "top", "search", "out of the box", "rules", "help")
)
"""Enough of it to see that all is well."""

SHORT_FUSE = """
import sys
from hermes_browse.store.connection import reader
reader.TIME_LIMIT = 2.0
from hermes_browse.tui.cli import main
raise SystemExit(main(sys.argv[1:]))
"""
"""The browser with a time limit of two seconds for a statement, so that one that never ends is seen
to be ended."""

ENDINGS = ("q", "TERM", "HUP", "KILL", "lost")
"""How a browser ends: the last is a terminal that goes away under it."""


class Driven(Terminal):
    """A browser on a store that is read, or on a Hermes root, and the moments at which something
    may go wrong."""

    def __init__(self, store: Path, **settings: Any) -> None:
        super().__init__(["--home" if store.is_dir() else "--db", str(store)], **settings)
        self.usual = self.settings
        """Of the terminal, before the browser has come to change them."""

    @property
    def pid(self) -> int:
        """Of the browser."""
        return self.child.pid or 0

    @property
    def settings(self) -> list[object]:
        """Of the terminal now, as termios tells them."""
        import termios  # not on Windows, where this module is imported too

        return list(termios.tcgetattr(self.child.child_fd))

    def opened(self) -> None:
        """Wait until the list is on the screen."""
        self.wait_for(" shown")

    def wait_until(self, holds: Callable[[Driven], bool], seconds: float = 60.0) -> None:
        """Read until something holds."""
        end = time.monotonic() + seconds
        while not holds(self):
            assert time.monotonic() < end, f"never came:\n{self.text}"
            self.read(0.05)

    def walk(self, pace: float = 1.0, steps: Sequence[Step] = READING) -> int:
        """Go through features that read.

        Args:
            pace: Stretches the time each is given.
            steps: Which.

        Returns:
            How many steps were taken; each left the browser running.
        """
        for step in steps:
            self.send(step.keys)
            self.read(0.25 * pace)
            if step.shown:
                self._until(lambda text, step: step.holds(text), step)
            if step.leaves:
                self.send(ESCAPE)
                self._until(lambda text, step: step.shown not in text or STOPPED in text, step)
                if STOPPED in self.text:
                    self.send(ESCAPE)
                    self._until(lambda text, step: step.shown not in text, step)
            assert self.child.isalive(), (
                f"gone after {step.name!r}:\n{self.text}\n{self.raw[-600:]!r}"
            )
        assert TRACEBACK not in self.raw
        return len(steps)

    def _until(self, holds: Callable[[str, Step], bool], step: Step) -> None:
        end, again = time.monotonic() + 60, time.monotonic() + 10
        while not holds(self.text, step):
            if not step.keys.strip("&") and time.monotonic() > again:
                self.send(step.keys)  # what a writer kept us from reading is asked for again
                again = time.monotonic() + 10
            assert self.child.isalive(), f"gone in {step.name!r}:\n{self.text}\n{self.raw[-600:]!r}"
            assert time.monotonic() < end, (
                f"{step.name!r} never came to {step.shown!r}:\n{self.text}"
            )
            self.read(0.05)

    def suspend(self) -> None:
        """Stop it for a moment as a shell does, and let it go on."""
        os.kill(self.pid, signal.SIGSTOP)
        time.sleep(0.3)
        self.read(0.1)
        before = len(self.raw)
        os.kill(self.pid, signal.SIGCONT)
        self.wait_until(
            lambda it: len(it.raw) > before
        )  # keys of before are thrown away with the rest of the line
        self.read(0.3)

    def leave(self, key: str = "\x03") -> None:
        """End it with a key; all was well, and the terminal is as it was before."""
        self.send(key)
        self.wait_until(lambda it: not it.child.isalive())
        assert self.settings == self.usual
        assert self.wait_for_end() == 0
        assert self.is_restored

    def finish(self, how: str) -> None:
        """End it.

        Args:
            how: One of `ENDINGS`.
        """
        if how == "q":
            self.send("\x03")
            self.wait_for_end()
        elif how == "lost":
            self.lose()
        else:
            os.kill(self.pid, getattr(signal, f"SIG{how}"))
            if how == "KILL":
                self.wait_for_death()
            else:
                self.wait_for_end()
