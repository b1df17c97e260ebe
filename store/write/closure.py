"""What a delete of a conversation takes, and what it leaves without a parent.

Hermes deletes one session with its marked subagents and sets the parent of every other child to NULL (0.17 to 0.22).
A conversation is more: all its segments, and what a race left beside them. Beyond Hermes we never take a branch, or a
segment of a conversation that stays, because of a marker it has inherited.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ..sessions.conversations import Forest
from ..sessions.models import Chain, Relation
from ..sessions.session import Session

_SURE_SOURCES = ("subagent", "tool")
"""Sources of sessions that nobody typed into and that hang on a parent (0.19)."""
_STANDS_ALONE = (Relation.BRANCHED, Relation.RESET)
_below: WeakKeyDictionary[Forest, dict[str, list[str]]] = WeakKeyDictionary()
"""Roots of what hangs on a session by marker or parent, for each forest: a clean-up asks thousands of times."""


class Closure(NamedTuple):
    """The sessions of a delete."""

    asked: tuple[Chain, ...]
    """The conversations that are meant."""
    along: tuple[Chain, ...]
    """What goes with them: subagents, nested ones too, and stale siblings."""
    sessions: tuple[str, ...]
    """Ids of all segments of both."""
    orphaned: tuple[Session, ...]
    """Sessions that stay and lose their parent."""
    above: tuple[str, ...]
    """Roots of the families they are in: Hermes keys a turn lease by that (0.20)."""

    def without_gone(self, present: Container[str]) -> Closure:
        """The same where something that goes along has gone before, as in a clean-up of many conversations.

        Args:
            present: Ids of sessions that are in the store.
        """
        along = tuple(c for c in self.along if any(segment.id in present for segment in c.segments))
        sessions = tuple(segment.id for chain in (*self.asked, *along) for segment in chain.segments)
        return self._replace(along=along, sessions=sessions)


def _top(forest: Forest, chain: Chain) -> str:
    seen = {chain.root.id}
    while (above := forest.parent_chain(chain)) is not None and above.root.id not in seen:
        seen.add(above.root.id)
        chain = above
    return chain.root.id


def _goes_along(chain: Chain, taken: frozenset[str] | set[str]) -> bool:
    """Whether a conversation goes with its parent."""
    root = chain.root
    if chain.relation in _STANDS_ALONE:
        return False
    if chain.relation is Relation.CONTINUED:  # lost a race: reachable from nowhere but its sibling's conversation
        return root.parent_id in taken
    marked = root.delegate_from is not None and (root.delegate_from in taken or root.parent_id in taken)
    # A child without a marker that started while its parent was live may be a person's chat: it stays.
    sure = chain.relation is Relation.DELEGATED and root.source in _SURE_SOURCES and root.parent_id in taken
    return marked or sure


def _hanging(forest: Forest) -> dict[str, list[str]]:
    known = _below.get(forest)
    if known is None:
        known = {}
        for chain in forest.chains():
            # Of other segments a marker says nothing: a continuation inherits it with the settings.
            for parent in {chain.root.delegate_from, chain.root.parent_id} - {None}:
                known.setdefault(str(parent), []).append(chain.root.id)
        _below[forest] = known
    return known


def close_over(forest: Forest, session_ids: Iterable[str]) -> Closure:
    """What a delete of the conversations of some sessions takes; any segment stands for its conversation.

    Args:
        forest: All sessions of the store: a subagent is found by its marker wherever its parent link leads.
        session_ids: Of sessions in it.

    Raises:
        KeyError: One is not in it.
    """
    hanging = _hanging(forest)
    asked = {chain.root.id: chain for chain in (forest.chain_of(each) for each in session_ids)}
    found, stack = dict(asked), list(asked.values())
    taken = {segment.id for chain in asked.values() for segment in chain.segments}
    while stack:
        for segment in stack.pop().segments:
            for root in hanging.get(segment.id, ()):
                below = forest.chain_of(root)
                if root not in found and _goes_along(below, taken):
                    found[root] = below
                    taken.update(each.id for each in below.segments)
                    stack.append(below)
    sessions = tuple(segment.id for chain in found.values() for segment in chain.segments)
    orphaned = [child for each in sessions for child in forest.children_of(each) if child.id not in taken]
    return Closure(
        asked=tuple(asked.values()),
        along=tuple(chain for root, chain in found.items() if root not in asked),
        sessions=sessions,
        orphaned=tuple(orphaned),
        above=tuple(sorted({_top(forest, chain) for chain in found.values()})),
    )
