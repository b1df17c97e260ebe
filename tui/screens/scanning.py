"""A scan under way: its progress and results so far, shown while it runs; Esc stops it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message_pump import MessagePump

from hermes_browse.store.wording import _

if TYPE_CHECKING:
    from ..search.results import SearchResults

_TELL = 0.25
"""Seconds between updates of the progress, and before the first."""


class Scan:
    """State of a search under way: written by the worker's thread, read by the screen's, which can
    stop it."""

    def __init__(self) -> None:
        self.share: float | None = None
        """Share of the rows scanned, from 0 to 1; None while only an index is used."""
        self.stopped = threading.Event()
        self.is_told = False
        """Whether its progress has been shown."""
        self.found: SearchResults | None = None
        """Results so far; None if there are none."""
        self.shown: SearchResults | None = None
        """The value of `found` that is on screen."""

    def tell(self, share: float) -> None:
        """Set the share of rows scanned."""
        self.share = share

    def take(self, found: SearchResults) -> None:
        """Set the results so far."""
        self.found = found


def follow(
    scan: Scan, pump: MessagePump, is_current: Callable[[], bool], say: Callable[[str, bool], None]
) -> None:
    """Report the progress of a scan by a timer until it is answered.

    Args:
        scan: The scan; nothing is reported while only an index is used.
        pump: Runs the timer.
        is_current: Returns False once the scan is answered or replaced.
        say: Called with the text, and whether it is the first.
    """

    def tell() -> None:
        if not is_current():
            return
        if scan.share is not None:
            first, scan.is_told = not scan.is_told, True
            found = (
                [_("{count:,} found so far").format(count=len(scan.found.hits))]
                if scan.found is not None
                else []
            )
            state = _("scanning {share:.0%} · Esc stops").format(share=scan.share)
            say(" · ".join([*found, _("stopping") if scan.stopped.is_set() else state]), first)
        pump.set_timer(_TELL, tell)

    pump.set_timer(_TELL, tell)
