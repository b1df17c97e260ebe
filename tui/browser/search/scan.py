"""A search under way: its progress and results so far; Esc stops it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_browse.store.wording import _

if TYPE_CHECKING:
    from .results import SearchResults


TELL_SECONDS = 0.25
"""Between updates of the progress, and before the first."""


class Scan:
    """State of a search under way: written by the thread that searches, read by the screen's,
    which can stop it."""

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

    def words(self, share: float) -> Sequence[str]:
        """Say how far it is."""
        scanning = _("scanning {share:.0%} · Esc stops", share=share)
        state = _("stopping") if self.stopped.is_set() else scanning
        if self.found is None:
            return [state]
        return [_("{count:,} found so far", count=len(self.found.hits)), state]
