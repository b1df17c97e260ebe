"""Words for what happened since the user looked."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hermes_browse.store.since.since import SinceItem
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

LANE_NAMES: Mapping[str, Callable[[], str]] = {
    "waiting": lambda: _("waits for you"),
    "wrong": lambda: _("went wrong"),
    "new": lambda: _("new"),
    "running": lambda: _("running"),
}


def why(item: SinceItem) -> str:
    """Return why an item is there; what is inferred says so."""
    text = one_line(item.why, 300)
    return text if item.certain else _("{why} (inferred)", why=text)
