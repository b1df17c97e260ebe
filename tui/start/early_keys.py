"""Moves the cursor in the rows that are painted ahead, while Textual is being loaded.

Loading takes several times as long as the first rows. A thread takes what is typed meanwhile: as long as these are keys
that move the cursor by a row, within the rows on screen, it moves it. From the first other key on everything is
kept, and the driver passes it on as if it had come later.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import threading
from collections.abc import Callable

_MOVES = {b"\x1b[B": 1, b"\x1bOB": 1, b"j": 1, b"\x1b[A": -1, b"\x1bOA": -1, b"k": -1}
_MOVE = re.compile(b"|".join(re.escape(keys) for keys in _MOVES))
_CUT = re.compile(rb"\x1b(?:\[[0-9;?<]*|O)?\Z|[\xc0-\xff][\x80-\xbf]{0,2}\Z")
"""Matches a text that ends in the middle of a key, the rest of which is still to come."""
_MOST = 4096
_REST = 0.05
"""Seconds that the rest of a key is waited for."""


class EarlyKeys:
    """Answers the keys that move the cursor, and keeps all others.

    Args:
        terminal: Descriptor that keys are read from; it waits for no line end and repeats no letter.
        rows: How many rows the cursor may be on.
        paint: Takes the row it was on and the row it is on.
        may_move: False when something is not as it was, like the size of the terminal.
    """

    def __init__(
        self, terminal: int, rows: int, paint: Callable[[int, int], None], may_move: Callable[[], bool]
    ) -> None:
        self.cursor = 0
        """The row it is on, from 0."""
        self.typed = b""
        """Keys that have not been answered."""
        self._terminal, self._rows, self._paint, self._may_move = terminal, rows, paint, may_move
        self._told, self._tell = os.pipe()
        self._thread = threading.Thread(target=self._run, name="early-keys", daemon=True)

    def start(self) -> None:
        """Begin to answer keys."""
        self._thread.start()

    def stop(self) -> None:
        """Read no more keys; does nothing when that is so already."""
        if self._tell < 0:
            return
        tell, self._tell = self._tell, -1
        os.close(tell)
        self._thread.join()
        os.close(self._told)

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # a terminal that is gone: who has the screen is told by a signal
            while self._tell >= 0:
                ready = select.select([self._terminal, self._told], [], [])[0]
                if self._terminal not in ready:
                    break
                self._read()
            if _CUT.search(self.typed) and select.select([self._terminal], [], [], _REST)[0]:
                self._read()

    def _read(self) -> None:
        data = os.read(self._terminal, _MOST)
        if not data:
            raise OSError("the terminal is gone")  # not shown
        self.typed += data
        before = self.cursor
        while (move := _MOVE.match(self.typed)) is not None and self._may_move():
            wanted = self.cursor + _MOVES[move[0]]
            if not 0 <= wanted < self._rows:
                if wanted >= 0:
                    break  # the rows below are not painted
                wanted = 0
            self.cursor, self.typed = wanted, self.typed[move.end() :]
        if self.cursor != before:
            self._paint(before, self.cursor)
