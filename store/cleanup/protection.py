"""Decide which conversations a clean-up must spare whatever the rules say: pinned, live, leased or
recent ones.

Stricter than Hermes: its prune (0.22) spares only pinned rows, and checks leases only in automatic
runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ..sessions.conversations import Forest
from ..sessions.models import FAR_PAST, Conversation, Status
from ..sessions.relations import LIVE_SECONDS, STALE_AFTER, is_ended, is_stale
from ..wording import _, pgettext


class Standing(StrEnum):
    """Whether Hermes has closed a conversation."""

    ENDED = "ended"
    OPEN = "open"
    """No end is recorded: it is in use, or its process died. Hermes records nothing to tell these
    apart."""
    STALE = "stale-open"
    """Open and stale, see `relations.is_stale`: a clean-up includes these only on request."""


def standing(conversation: Conversation, now: float, stale_after: float = STALE_AFTER) -> Standing:
    """Tell whether a conversation is ended, open or stale, from its rows and `Status.LIVE`; leases
    are ignored.

    `now` is in Unix seconds; `stale_after` are the seconds without activity after which an open one
    is stale.
    """
    if is_ended(conversation.segments):
        return Standing.ENDED
    return Standing.STALE if is_stale(conversation, now, stale_after) else Standing.OPEN


def last_use(conversation: Conversation) -> tuple[float, str]:
    """Sort key: the longest idle first, those without a known time before all others."""
    return (
        FAR_PAST if conversation.last_active is None else conversation.last_active
    ), conversation.id


class SpareReason(NamedTuple):
    """The reason why a conversation is spared."""

    code: str
    """`pinned`, `live`, `leased`, `recent`, `open`, `hidden`, `subagent` or `changed`."""
    words: str


_COUNTS: dict[str, Callable[[], str]] = {
    "pinned": lambda: pgettext("spared", "{count:,} pinned"),
    "live": lambda: pgettext("spared", "{count:,} live"),
    "leased": lambda: pgettext("spared", "{count:,} leased"),
    "recent": lambda: pgettext("spared", "{count:,} recent"),
    "open": lambda: pgettext("spared", "{count:,} open"),
    "hidden": lambda: pgettext("spared", "{count:,} hidden"),
    "subagent": lambda: pgettext("spared", "{count:,} subagent"),
}


def count_reasons(reasons: Iterable[SpareReason]) -> str:
    """Return the number of each kind of reason, the most frequent first: `2 pinned, 1 live`."""
    counts = Counter(each.code for each in reasons).most_common()
    texts = {
        code: _COUNTS[code]() if code in _COUNTS else f"{{count:,}} {code}"
        for code, _count in counts
    }
    return pgettext("list", ", ").join(texts[code].format(count=count) for code, count in counts)


@dataclass(frozen=True, slots=True)
class Protection:
    """Tells which conversations are protected at one moment; reads nothing itself."""

    _forest: Forest
    _busy: frozenset[str]
    """Ids with a live turn lease or compression lock, just read: they come and go within a turn."""
    _now: float

    def why(self, chain: Conversation, status: Status | None = None) -> SpareReason | None:
        """Return why a conversation is protected; None if it is not."""
        if any(segment.pinned for segment in chain.segments):
            return SpareReason("pinned", _("pinned"))
        if any(segment.busy or segment.id in self._busy for segment in chain.segments):
            return SpareReason("leased", _("a turn or a compression is running in it"))
        if self._busy and (root := self._forest.top_chain(chain).root.id) in self._busy:
            # Hermes keys a turn lease by the topmost session over all parent links, branches and
            # subagents included.
            leased = _("a turn is running in its family (the lease names {root})")
            return SpareReason("leased", leased.format(root=root))
        newest = max(
            (s.last_active for s in chain.segments if s.last_active is not None), default=None
        )
        if newest is not None and newest > self._now + LIVE_SECONDS:
            return SpareReason("recent", _("its last activity lies in the future: clocks disagree"))
        if newest is not None and newest > self._now - LIVE_SECONDS:
            ago = max(0, round(self._now - newest))
            return SpareReason(
                "recent", _("in use, last write {count} seconds ago").format(count=ago)
            )
        if status is Status.LIVE:
            return SpareReason("live", _("live"))
        return None
