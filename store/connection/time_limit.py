"""A fuse for statements: one that takes longer than any honest store can need is interrupted.

A damaged or malicious file can hold b-trees that never end: pages whose children are all the same page. SQLite walks
such a tree for longer than anybody waits, and a count of its rows is one instruction, inside which no progress handler
is called (https://sqlite.org/c3ref/progress_handler.html); an interrupt is heeded.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import Protocol

SECONDS = 60.0
"""A statement may take so long."""
_LOOK = 0.5


class Fused(Protocol):
    """What has statements in flight."""

    began: float
    """When the one in flight began, by the monotonic clock; 0 when there is none."""

    def blow(self, began: float) -> None:
        """Interrupt the one that began then, unless it has ended meanwhile."""


_watched: weakref.WeakSet[Fused] = weakref.WeakSet()
_lock = threading.Lock()
_watchman: list[threading.Thread] = []


def watch(fused: Fused) -> None:
    """Look at this one from now on, for as long as there is anyone else who knows of it."""
    with _lock:
        _watched.add(fused)
        if not _watchman or not _watchman[0].is_alive():  # not alive in the child of a fork either
            _watchman[:] = [threading.Thread(target=_look, name="fuse", daemon=True)]
            _watchman[0].start()


def forget(fused: Fused) -> None:
    """Look at this one no more."""
    with _lock:
        _watched.discard(fused)


def _look() -> None:
    while True:
        time.sleep(_LOOK)
        with _lock:
            if not _watched:
                _watchman.clear()
                return
            flights = [(each, each.began) for each in _watched]  # each looked up once: it may end at any moment
        for each, began in flights:
            if began and time.monotonic() - began > SECONDS:
                each.blow(began)
