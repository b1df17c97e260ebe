"""Sort long lists without keeping the interpreter from other threads.

One `sorted` of 100,000 keys holds Python's lock for a tenth of a second, and the screen with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import merge
from typing import Any, TypeVar

_T = TypeVar("_T")
_PIECE = 5000
"""Items sorted in one go: a few milliseconds."""


def sort_in_pieces(
    items: Sequence[_T], key: Callable[[_T], Any], *, reverse: bool = False
) -> list[_T]:
    """Return the items as `sorted` does, equal ones in their order; other threads run in
    between."""
    starts = range(0, len(items), _PIECE)
    pieces = [sorted(items[at : at + _PIECE], key=key, reverse=reverse) for at in starts]
    return list(merge(*pieces, key=key, reverse=reverse))
