"""Why a conversation stays out of every bulk set, whatever the rules say.

Stricter than Hermes: its prune (0.22) spares pinned rows only, and checks leases in its automatic runs alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..connect import Reader
from ..sessions.conversations import Forest
from ..sessions.models import Chain, Status
from ..sessions.relations import LIVE_SECONDS
from ..sessions.rows import read_busy
from ..sessions.session import Session
from ..wording import _
from ..write.closure import close_over


class Why(NamedTuple):
    """A reason."""

    code: str
    """`pinned`, `live`, `leased`, `recent`, `open`, `hidden`, `unmarked` or `subagent`."""
    words: str


class Protection:
    """Which conversations are protected at one moment; pure once it is read.

    Args:
        forest: All sessions.
        busy: Ids that a live turn lease or compression lock names.
        now: Unix seconds.
    """

    def __init__(self, forest: Forest, busy: frozenset[str], now: float) -> None:
        self._forest = forest
        self._busy = busy
        self._now = now

    def why(self, chain: Chain, status: Status | None = None) -> Why | None:
        """Why a conversation is protected; None when it is not.

        Args:
            chain: One of the forest.
            status: Where it is known already.
        """
        if any(segment.pinned for segment in chain.segments):
            return Why("pinned", _("pinned"))
        if any(segment.busy or segment.id in self._busy for segment in chain.segments):
            return Why("leased", _("a turn or a compression is running in it"))
        if self._busy and (top := self._top(chain)) in self._busy:
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

    def _top(self, chain: Chain) -> str:
        seen = {chain.root.id}
        while (above := self._forest.parent_chain(chain)) is not None and above.root.id not in seen:
            seen.add(above.root.id)
            chain = above
        return chain.root.id


def read_protection(reader: Reader, forest: Forest, now: float) -> Protection:
    """What is protected now; reads leases and locks anew, for they come and go within a turn.

    Args:
        reader: An open reader.
        forest: All sessions.
        now: Unix seconds.
    """
    return Protection(forest, read_busy(reader, now), now)


class Families:
    """What goes along with a conversation that is deleted: asked of the delete itself, family by family.

    A family is what hangs together by parent links or markers; looking through all of a large store for each of
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
        """The conversations of its subagents, nested ones too, and what else a delete takes with it."""
        root = chain.root.id
        if root not in self._linked:
            return []
        closure = close_over(self._family(root), [root])
        return [self._forest.chain_of(below.root.id) for below in closure.along]

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
        # All parents and all children of each are among them, so that every link means what it means in the whole.
        family = Forest(segment for member in sorted(members) for segment in self._forest.chain_of(member).segments)
        self._small.update(dict.fromkeys(members, family))
        return family


def reparented(forest: Forest, deleted: Mapping[str, object] | frozenset[str]) -> list[Session]:
    """Sessions that lose their parent and stay: branches, resets and children without a marker.

    Args:
        forest: All sessions.
        deleted: Ids that go.
    """
    children: Iterable[Session] = (child for each in deleted for child in forest.children_of(each))
    return [child for child in children if child.id not in deleted]
