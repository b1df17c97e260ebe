"""A cache of laid out texts: those that take longer than a frame are laid out once, on another
thread."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..shared.styled import Line, wrap_text

LIGHT = 2_400
"""Code points of Markdown that are laid out at once; ten milliseconds if all of it is code."""
CALL_LIMIT = 100
"""Tool calls of a message that are laid out, a tenth of a millisecond each; the pager shows all."""
_MAX_TEXTS = 3 * CALL_LIMIT
"""More than one message has: its own, and the arguments and the result of each call.

With fewer, a message could never be shown, as its last texts would take the place of its first
ones.
"""

Make = Callable[..., list[Line]]
"""A function that lays out a text; its arguments are the text, the width, and others."""
LIGHT_OF: dict[Make, int] = {wrap_text: 60_000}
"""The same limit for functions that are faster than Markdown's."""
Draw = Callable[..., list[Line]]
"""Calls a `Make` with its arguments: `at_once`, or a `LayoutCache`, which may defer it."""
Key = tuple[Any, ...]
"""A `Make` and its arguments, all hashable."""


def at_once(make: Make, text: str, *rest: Any) -> list[Line]:
    """Lay out a text, however long it takes."""
    return make(text, *rest)


def draw(keys: Iterable[Key]) -> dict[Key, list[Line]]:
    """Lay out several texts; on any thread."""
    return {key: key[0](*key[1:]) for key in keys}


class LayoutCache:
    """Lays out texts and caches the lines of long ones, or defers them and notes them in
    `deferred`."""

    def __init__(self) -> None:
        self.waits = True
        """Lay out long texts at once instead of deferring them."""
        self.deferred: dict[Key, None] = {}
        """Texts that were deferred and have not been laid out since."""
        self.has_deferred = False
        """Whether a text was deferred since the caller set this to False."""
        self._drawn: OrderedDict[Key, list[Line]] = OrderedDict()

    def __call__(self, make: Make, text: str, *rest: Any) -> list[Line]:
        """Lay out a text by `make`, with the rest of its arguments; no lines if it is deferred."""
        if len(text) <= LIGHT_OF.get(make, LIGHT):
            return make(text, *rest)
        key = (make, text, *rest)
        if key not in self._drawn:
            if not self.waits:
                self.deferred[key] = None
                self.has_deferred = True
                return []
            self.add({key: make(text, *rest)})
        self._drawn.move_to_end(key)
        return list(self._drawn[key])

    @property
    def drawn(self) -> dict[Key, list[Line]]:
        """All cached lines."""
        return dict(self._drawn)

    def add(self, drawn: Mapping[Key, list[Line]]) -> None:
        """Add lines that were laid out elsewhere; the least recently used ones are dropped."""
        for key, lines in drawn.items():
            self._drawn[key] = lines
            self.deferred.pop(key, None)
        while len(self._drawn) > _MAX_TEXTS:
            self._drawn.popitem(last=False)
