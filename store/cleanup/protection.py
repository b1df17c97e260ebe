"""Decide which conversations a clean-up must spare whatever the rules say: pinned, live, leased or recent ones.

Stricter than Hermes: its prune (0.22) spares only pinned rows, and checks leases only in automatic runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ..edit.delete_plan import affected_by_delete
from ..sessions.conversations import Forest
from ..sessions.models import FAR_PAST, Conversation, Status
from ..sessions.relations import LIVE_SECONDS, STALE_AFTER, is_ended, is_stale
from ..sessions.session import Session
from ..wording import _, pgettext


class Standing(StrEnum):
    """Whether Hermes has closed a conversation."""

    ENDED = "ended"
    OPEN = "open"
    """No end is recorded: it is in use, or its process died. Hermes records nothing to tell these apart."""
    STALE = "stale-open"
    """Open and stale, see `relations.is_stale`: a clean-up includes these only on request."""


def standing(conversation: Conversation, now: float, stale_after: float = STALE_AFTER) -> Standing:
    """Tell whether a conversation is ended, open or stale, from its rows and `Status.LIVE`; leases are ignored.

    `now` is in Unix seconds; `stale_after` are the seconds without activity after which an open one is stale.
    """
    if is_ended(conversation.segments):
        return Standing.ENDED
    return Standing.STALE if is_stale(conversation, now, stale_after) else Standing.OPEN


def last_use(conversation: Conversation) -> tuple[float, str]:
    """Sort key: the longest idle first, those without a known time before all others."""
    return (FAR_PAST if conversation.last_active is None else conversation.last_active), conversation.id


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
    texts = {code: _COUNTS[code]() if code in _COUNTS else f"{{count:,}} {code}" for code, _count in counts}
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
            # Hermes keys a turn lease by the topmost session over all parent links, branches and subagents included.
            leased = _("a turn is running in its family (the lease names {root})")
            return SpareReason("leased", leased.format(root=root))
        newest = max((s.last_active for s in chain.segments if s.last_active is not None), default=None)
        if newest is not None and newest > self._now + LIVE_SECONDS:
            return SpareReason("recent", _("its last activity lies in the future: clocks disagree"))
        if newest is not None and newest > self._now - LIVE_SECONDS:
            ago = max(0, round(self._now - newest))
            return SpareReason("recent", _("in use, last write {count} seconds ago").format(count=ago))
        if status is Status.LIVE:
            return SpareReason("live", _("live"))
        return None


class Families:
    """Finds what a delete removes with a conversation, by the rules of the delete itself, one family at a time.

    A family is everything connected by parent links or markers. Scanning a large store for each of thousands of
    conversations would take minutes.
    """

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._links: dict[str, set[str]] = {}
        for session in forest.sessions.values():
            if session.parent_id is None and session.delegate_from is None:
                continue
            own = forest.root_of(session.id) or session.id
            for parent in (session.parent_id, session.delegate_from):
                root = forest.root_of(parent) if parent is not None else None
                if root is not None and root != own:
                    self._links.setdefault(own, set()).add(root)
                    self._links.setdefault(root, set()).add(own)
        self._families: dict[str, Forest] = {}

    def dependents(self, chain: Conversation) -> list[Conversation]:
        """List the conversations that a delete removes with one: subagents, nested ones too, and stale siblings."""
        root = chain.root.id
        if root not in self._links:
            return []
        affected = affected_by_delete(self._family(root), [root])
        return [self._forest.chain_of(dependent.root.id) for dependent in affected.dependent]

    def sessions(self, chain: Conversation) -> tuple[Session, ...]:
        """Return all sessions that a delete of a conversation removes: its segments, then those of its subagents."""
        return (*chain.segments, *(segment for each in self.dependents(chain) for segment in each.segments))

    def _family(self, root: str) -> Forest:
        if root not in self._families:
            members, stack = {root}, [root]
            while stack:
                unseen = self._links.get(stack.pop(), set()) - members
                members |= unseen
                stack.extend(unseen)
            # All parents and children of its members are in it, so each link means the same as in the whole store.
            chains = [self._forest.chain_of(member) for member in sorted(members)]
            family = Forest((each for chain in chains for each in chain.segments), self._forest.now)
            self._families.update(dict.fromkeys(members, family))
        return self._families[root]
