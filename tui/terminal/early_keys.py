"""Move the cursor in the rows that are painted ahead, while Textual is imported.

A thread reads the keys pressed meanwhile and handles those that move the cursor by a row, within
the rows on screen. From the first other key on it keeps everything, and the driver passes it to
Textual.
"""

from __future__ import annotations

import os
import re
import select
import threading
from collections.abc import Callable

from .hang_up import hang_up

_MOVES = {b"\x1b[B": 1, b"\x1bOB": 1, b"j": 1, b"\x1b[A": -1, b"\x1bOA": -1, b"k": -1}
_MOVE = re.compile(b"|".join(re.escape(keys) for keys in _MOVES))
_CUT = re.compile(rb"\x1b(?:\[[0-9;?<]*|O)?\Z|[\xc0-\xff][\x80-\xbf]{0,2}\Z")
"""Matches input that ends in the middle of a key."""
_READ_BYTES = 4096
_KEY_SECONDS = 0.05
"""How long to wait for the rest of a key."""


class EarlyKeys:
    """Handles the keys that move the cursor, and keeps all others.

    Args:
        terminal: Descriptor to read from; not in canonical mode, without echo.
        rows: The number of rows that can have the cursor.
        paint: Takes the row the cursor was on and the row it is on.
        may_move: Returns False when the painted rows are out of date, as after a resize.
    """

    def __init__(
        self,
        terminal: int,
        rows: int,
        paint: Callable[[int, int], None],
        may_move: Callable[[], bool],
    ) -> None:
        self.cursor = 0
        """The row it is on, from 0."""
        self.typed = b""
        """Keys that have not been handled."""
        self._terminal, self._rows, self._paint, self._may_move = terminal, rows, paint, may_move
        self._stop_read, self._stop_write = os.pipe()
        self._thread = threading.Thread(target=self._run, name="early-keys", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Read no more keys; safe to call again."""
        if self._stop_write < 0:
            return
        descriptor, self._stop_write = self._stop_write, -1
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
        before = self.cursor
        while (move := _MOVE.match(self.typed)) is not None and self._may_move():
            target = max(self.cursor + _MOVES[move[0]], 0)
            if target >= self._rows:
                break  # the rows below are not painted
            self.cursor, self.typed = target, self.typed[move.end() :]
        if self.cursor != before:
            self._paint(before, self.cursor)
