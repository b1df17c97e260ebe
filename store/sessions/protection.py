"""Which conversations nothing may delete: pinned ones, and those in use.

Stricter than Hermes: its prune (0.22) spares only pinned rows, and checks leases only in automatic
runs.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from ..wording import _
from .catalog import Catalog
from .models import Conversation, Status
from .relations import LIVE_SECONDS


class SpareReason(NamedTuple):
    """Why a conversation stays."""

    code: str
    """`pinned`, `live`, `leased` or `recent`; in a clean-up also `open`, `hidden`, `subagent` or
    `changed`."""
    words: str


def why_protected(
    catalog: Catalog, conversation: Conversation, busy: Set[str], now: float
) -> SpareReason | None:
    """Return why a conversation is protected; None if it is not.

    Args:
        catalog: Has its family.
        conversation: One of it.
        busy: From `read_busy`, just read: leases and locks come and go within a turn.
        now: Unix seconds.
    """
    segments = conversation.segments
    if any(segment.pinned for segment in segments):
        return SpareReason("pinned", _("pinned"))
    if any(segment.busy or segment.id in busy for segment in segments):
        return SpareReason("leased", _("a turn or a compression is running in it"))
    # Hermes keys a turn lease by the topmost session over all parent links (0.20), branches and
    # subagents included.
    root = catalog.top_chain(conversation).root.id if busy else ""
    if root in busy:
        return SpareReason(
            "leased", _("a turn is running in its family (the lease names {root})", root=root)
        )
    times = [segment.last_active for segment in segments if segment.last_active is not None]
    age = now - max(times) if times else LIVE_SECONDS
    if age < -LIVE_SECONDS:
        return SpareReason("recent", _("its last activity lies in the future: clocks disagree"))
    if age < LIVE_SECONDS:
        used = _("in use, last write {count} seconds ago", count=max(0, round(age)))
        return SpareReason("recent", used)
    if conversation.status is Status.LIVE:
        return SpareReason("live", _("live"))
    return None
