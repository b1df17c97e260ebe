"""A scan under way: how far it is and what it has found, told while it goes on, and stopped with Esc."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from textual.message_pump import MessagePump

from hermes_browse.store.wording import _

if TYPE_CHECKING:
    from ..search_model import Found

_TELL = 0.25
"""Seconds between two sentences about how far a scan is, and before the first."""


class Scan:
    """A search under way: how far it is, and whether it is to stop. Told by one thread, read by another."""

    def __init__(self) -> None:
        self.share: float | None = None
        """Of the rows looked at, from 0 to 1; None while only an index is asked."""
        self.stopped = threading.Event()
        self.is_told = False
        """Whether the person has been told that this is a scan."""
        self.found: Found | None = None
        """What it has found so far; None before it has found anything."""
        self.shown: Found | None = None
        """What of that is on the screen."""

    def tell(self, share: float) -> None:
        """Take how far the scan is."""
        self.share = share

    def take(self, found: Found) -> None:
        """Take what it has found so far."""
        self.found = found


class _Teller(Protocol):
    def __call__(self, text: str, *, first: bool) -> None: ...


def follow(scan: Scan, pump: MessagePump, is_current: Callable[[], bool], say: _Teller) -> None:
    """Tell how far a scan is, once it has gone on for a moment, until it is answered.

    Args:
        scan: Which; while only an index is asked nothing is said of it.
        pump: Runs the timer.
        is_current: Whether it is still waited for.
        say: Takes the sentence, and whether it is the first.
    """

    def tell() -> None:
        if not is_current():
            return
        if scan.share is not None:
            first, scan.is_told = not scan.is_told, True
            found = [_("{count:,} found so far").format(count=len(scan.found.hits))] if scan.found is not None else []
            state = _("scanning {share:.0%} · Esc stops").format(share=scan.share)
            say(" · ".join([*found, _("stopping") if scan.stopped.is_set() else state]), first=first)
        pump.set_timer(_TELL, tell)

    pump.set_timer(_TELL, tell)
