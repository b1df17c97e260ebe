"""Texts that take longer than a frame to lay out: laid out once, and for the screen on another thread."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..shared.styled import Line, wrap_text

LIGHT = 2_400
"""Code points of Markdown that are laid out at once: some ten milliseconds where it is full of code."""
_KEPT = 100
"""Texts whose lines are kept."""

Make = Callable[..., list[Line]]
"""Makes lines of a text and of what else they depend on: the width first."""
LIGHT_OF: dict[Make, int] = {wrap_text: 60_000}
"""The same for what takes less time than Markdown, by what makes the lines."""
Draw = Callable[..., list[Line]]
"""Takes a `Make`, a text and the rest: `at_once`, or a `Drawing` that may leave it for later."""
Key = tuple[Any, ...]
"""What lines are made by, and of: a `Make`, then its arguments, all of which can be hashed."""


def at_once(make: Make, text: str, *rest: Any) -> list[Line]:
    """The lines of a text, however long it takes."""
    return make(text, *rest)


def draw(keys: Iterable[Key]) -> dict[Key, list[Line]]:
    """The lines of all of these; on any thread."""
    return {key: key[0](*key[1:]) for key in keys}


class Drawing:
    """Lays texts out, and keeps what was dear; one that does not wait notes what it lacks."""

    def __init__(self) -> None:
        self.waits = True
        """Whether to lay out what is dear at once, or else to leave it out and note it."""
        self.wanted: dict[Key, None] = {}
        """What was left out and has not come since."""
        self.has_left_out = False
        """Whether something was left out; for whoever asks to set to false before."""
        self._drawn: OrderedDict[Key, list[Line]] = OrderedDict()

    def __call__(self, make: Make, text: str, *rest: Any) -> list[Line]:
        """The lines of a text; none where they are dear, are not known, and this does not wait.

        Args:
            make: Makes them.
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
        """What is kept."""
        return dict(self._drawn)

    def add(self, drawn: Mapping[Key, list[Line]]) -> None:
        """Keep lines that were laid out elsewhere, and let go of those that have not been asked for longest."""
        for key, lines in drawn.items():
            self._drawn[key] = lines
            self.wanted.pop(key, None)
        while len(self._drawn) > _KEPT:
            self._drawn.popitem(last=False)
