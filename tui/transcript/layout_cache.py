"""A cache of laid out texts: what takes longer than a frame is laid out once, for the screen on another thread."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..shared.styled import Line, wrap_text

LIGHT = 2_400
"""Code points of Markdown that are laid out at once; they take some ten milliseconds where all of it is code."""
_KEPT = 100
"""How many texts have their lines kept."""

Make = Callable[..., list[Line]]
"""A function that lays out a text; what else the lines depend on comes after the text, the width first."""
LIGHT_OF: dict[Make, int] = {wrap_text: 60_000}
"""The same limit for functions that are quicker than the one for Markdown."""
Draw = Callable[..., list[Line]]
"""Calls a `Make` with a text and the rest: `at_once`, or a `LayoutCache`, which may leave it for later."""
Key = tuple[Any, ...]
"""A `Make` and its arguments, all of which can be hashed."""


def at_once(make: Make, text: str, *rest: Any) -> list[Line]:
    """The lines of a text, however long it takes."""
    return make(text, *rest)


def draw(keys: Iterable[Key]) -> dict[Key, list[Line]]:
    """Lay out all of these; on any thread."""
    return {key: key[0](*key[1:]) for key in keys}


class LayoutCache:
    """Lays out texts and keeps the lines of long ones; where it may not wait, it leaves these out and notes them."""

    def __init__(self) -> None:
        self.waits = True
        """Whether long texts are laid out at once rather than left out and noted."""
        self.wanted: dict[Key, None] = {}
        """Texts that were left out and have not been laid out since."""
        self.has_left_out = False
        """Whether a text was left out since the caller last set this to False."""
        self._drawn: OrderedDict[Key, list[Line]] = OrderedDict()

    def __call__(self, make: Make, text: str, *rest: Any) -> list[Line]:
        """The lines of a text; none when it is long, is not in the cache, and this may not wait.

        Args:
            make: Lays it out.
            text: Of any length.
            rest: What else `make` is given.
        """
        if len(text) <= LIGHT_OF.get(make, LIGHT):
            return make(text, *rest)
        key = (make, text, *rest)
        if key not in self._drawn:
            if not self.waits:
                self.wanted[key] = None
                self.has_left_out = True
                return []
            self.add({key: make(text, *rest)})
        self._drawn.move_to_end(key)
        return list(self._drawn[key])

    @property
    def drawn(self) -> dict[Key, list[Line]]:
        """All that is kept."""
        return dict(self._drawn)

    def add(self, drawn: Mapping[Key, list[Line]]) -> None:
        """Keep lines that were laid out elsewhere, and drop those that were asked for least recently."""
        for key, lines in drawn.items():
            self._drawn[key] = lines
            self.wanted.pop(key, None)
        while len(self._drawn) > _KEPT:
            self._drawn.popitem(last=False)
