"""What stands against cleaning up a conversation, whatever the rules say: it is open, pinned, live, leased or recent.

Stricter than Hermes: its prune (0.22) spares pinned rows only, and checks leases in its automatic runs alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ..edit.delete_plan import affected_by_delete
from ..edit.guards import family_root
from ..sessions.conversations import Forest
from ..sessions.models import Chain, Conversation, Status
from ..sessions.relations import LIVE_SECONDS
from ..sessions.session import Session
from ..wording import _

STALE_AFTER = 7 * 86_400.0
"""Seconds without activity after which an open conversation counts as stale, unless a rule says otherwise."""


class Standing(StrEnum):
    """Whether Hermes closed a conversation: what matters most to a clean-up."""

    ENDED = "ended"
    OPEN = "open"
    """No end is recorded: it is in use, or its process died. Hermes records nothing that tells these apart."""
    STALE = "stale-open"
    """Open, idle for long, and no lease names it: a clean-up includes these only on request."""


def standing(conversation: Conversation, now: float, stale_after: float = STALE_AFTER) -> Standing:
    """Tell how a conversation stands, from its own rows and `Status.LIVE`; leases are not looked at here.

    Args:
        conversation: Any.
        now: Unix seconds.
        stale_after: Seconds without activity after which an open one is stale.
    """
    tip = conversation.tip
    if tip.ended_at is not None or tip.end_reason is not None:
        return Standing.ENDED
    idle = idle_seconds(conversation, now)
    if conversation.status is Status.LIVE or idle is None or idle < stale_after:
        return Standing.OPEN
    return Standing.STALE


def idle_seconds(conversation: Conversation, now: float) -> float | None:
    """Seconds since the last activity of any segment; None if the store has no time for it."""
    newest = conversation.last_active
    if newest is None:
        newest = conversation.root.started_at
    return None if newest is None else now - newest


class Why(NamedTuple):
    """Why a conversation stays."""

    code: str
    """`pinned`, `live`, `leased`, `recent`, `open`, `hidden`, `unmarked` or `subagent`."""
    words: str


@dataclass(frozen=True, slots=True)
class Protection:
    """Tells which conversations are protected at one moment; reads nothing itself."""

    _forest: Forest
    _busy: frozenset[str]
    """Ids that a live turn lease or compression lock names, read anew: they come and go within a turn."""
    _now: float

    def why(self, chain: Chain, status: Status | None = None) -> Why | None:
        """Say why a conversation is protected; None if it is not.

        Args:
            chain: One of the forest.
            status: Its status, if it is known already.
        """
        if any(segment.pinned for segment in chain.segments):
            return Why("pinned", _("pinned"))
        if any(segment.busy or segment.id in self._busy for segment in chain.segments):
            return Why("leased", _("a turn or a compression is running in it"))
        if self._busy and (top := family_root(self._forest, chain)) in self._busy:
            # Hermes keys a turn lease by the root it reaches over every parent link, branches and subagents included.
            leased = _("a turn is running in its family (the lease names {root})")
            return Why("leased", leased.format(root=top))
        newest = max((s.last_active for s in chain.segments if s.last_active is not None), default=None)
        if newest is not None and newest > self._now + LIVE_SECONDS:
            return Why("recent", _("its last activity lies in the future: clocks disagree"))
        if newest is not None and newest > self._now - LIVE_SECONDS:
            ago = max(0, round(self._now - newest))
            return Why("recent", _("written to {count} seconds ago").format(count=ago))
        if status is Status.LIVE:
            return Why("live", _("live"))
        return None


class Families:
    """Finds what a delete takes along with a conversation, by the rules of the delete itself, one family at a time.

    A family is all that is connected by parent links or markers. Looking through a whole large store for each of
    thousands of conversations would take minutes.

    Args:
        forest: All sessions.
    """

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._linked: dict[str, set[str]] = {}
        for session in forest.sessions.values():
            if session.parent_id is None and session.delegate_from is None:
                continue
            own = forest.root_of(session.id) or session.id
            for other in (session.parent_id, session.delegate_from):
                root = forest.root_of(other) if other is not None else None
                if root is not None and root != own:
                    self._linked.setdefault(own, set()).add(root)
                    self._linked.setdefault(root, set()).add(own)
        self._small: dict[str, Forest] = {}

    def along(self, chain: Chain) -> list[Chain]:
        """List the conversations of its subagents, nested ones too, and what else a delete takes along."""
        root = chain.root.id
        if root not in self._linked:
            return []
        affected = affected_by_delete(self._family(root), [root])
        return [self._forest.chain_of(below.root.id) for below in affected.along]

    def sessions(self, chain: Chain) -> tuple[Session, ...]:
        """All sessions that go with a conversation: its segments, then those of its subagents."""
        return (*chain.segments, *(segment for each in self.along(chain) for segment in each.segments))

    def _family(self, root: str) -> Forest:
        known = self._small.get(root)
        if known is not None:
            return known
        members, stack = {root}, [root]
        while stack:
            for other in self._linked.get(stack.pop(), ()):
                if other not in members:
                    members.add(other)
                    stack.append(other)
        # A family holds all parents and children of its members, so each link means the same as in the whole store.
        family = Forest(segment for member in sorted(members) for segment in self._forest.chain_of(member).segments)
        self._small.update(dict.fromkeys(members, family))
        return family


def reparented(forest: Forest, deleted: Mapping[str, object]) -> list[Session]:
    """List the sessions that stay and lose their parent: branches, resets and children without a marker.

    Args:
        forest: All sessions.
        deleted: Ids of the sessions that go.
    """
    return [child for each in deleted for child in forest.children_of(each) if child.id not in deleted]
