"""Memory that is free goes back to the system while the browser rests.

The allocator of glibc keeps what a thread has let go of for what that thread may want next: with a dozen threads, each
of which now and then needs much for a moment, that is more than all that is in use. `malloc_trim` gives pages back.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache


@cache
def _trim() -> Callable[[int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)  # other libraries than glibc have none


def give_back() -> None:
    """Give back what is free; takes a few milliseconds, without Python's lock."""
    trim = _trim()
    if trim is not None:
        trim(0)
