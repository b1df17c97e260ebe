"""The links between the sessions of a store: parents, children, and which session continues which.

The rules are those of Hermes (see `relations`), with two differences: a marker that a continuation
inherited is ignored, and a damaged file (cycles, missing parents, two children of one compression)
loses nothing: every session is in exactly one conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..wording import N_, _
from .models import Relation, start_key
from .relations import ORPHANED, continuation_rank, edge
from .session import Session

_NOTES = {
    Relation.ROOT: N_("a subagent whose parent is gone"),  # it has a marker of a subagent
    Relation.ORPHAN: N_("its parent is gone"),
    Relation.UNKNOWN: N_("listed nowhere in Hermes"),
}


class ParentLinks:
    """The links between some sessions, given by id: immutable data."""

    def __init__(self, sessions: Mapping[str, Session]) -> None:
        self.sessions = sessions
        """By id."""
        self._children: dict[str, list[Session]] = {}
        for session in sessions.values():
            if session.parent_id is not None and session.parent_id != session.id:
                self._children.setdefault(session.parent_id, []).append(session)
        self._continuations = dict(self._find_continuations())
        """The best continuation of each compressed session, by the id of that session."""
        self.cycle_roots: frozenset[str] = frozenset()
        self.cycle_roots = frozenset(self._find_cycle_roots())
        """One root for each cycle of parents (a damaged file), which no list would reach
        otherwise."""

    def _find_continuations(self) -> Iterator[tuple[str, Session]]:
        for parent_id, children in self._children.items():
            parent = self.sessions.get(parent_id)
            candidates = [child for child in children if edge(child, parent) is Relation.CONTINUED]
            if candidates:
                yield parent_id, max(candidates, key=continuation_rank)

    def _find_cycle_roots(self) -> Iterator[str]:
        visited: set[str] = set()
        for first in [child for children in self._children.values() for child in children]:
            path: list[str] = []
            current: Session | None = first
            while current is not None and current.id not in visited:
                visited.add(current.id)
                path.append(current.id)
                current = self.parent(current)
            if current is not None and current.id in path:
                cycle = [self.sessions[key] for key in path[path.index(current.id) :]]
                roots = [session for session in cycle if self.previous(session) is None]
                yield min(roots or cycle, key=start_key).id

    def parent(self, session: Session) -> Session | None:
        """Return the parent of a session; None if it does not exist or is the session itself."""
        parent_id = session.parent_id
        if parent_id is None or parent_id == session.id:
            return None
        return self.sessions.get(parent_id)

    def children_of(self, session_id: str) -> Sequence[Session]:
        """Return the sessions with this parent id, whether or not the parent exists."""
        return self._children.get(session_id, ())

    def previous(self, session: Session) -> Session | None:
        """Return the segment that a session continues; None for the root of a conversation."""
        if session.parent_id is None or session.id in self.cycle_roots:
            return None
        after = self._continuations.get(session.parent_id)
        return self.parent(session) if after is not None and after.id == session.id else None

    def segments(self, root: Session) -> tuple[Session, ...]:
        """Return the segments of the conversation with this root, root first."""
        segments = [root]
        following = self._continuations.get(root.id)
        while following is not None and following.id not in self.cycle_roots:
            segments.append(following)
            following = self._continuations.get(following.id)
        return tuple(segments)

    def relation(self, root: Session) -> tuple[Relation, str]:
        """Return the relation of a conversation, given by its root, to its parent, and what is
        peculiar about it, in words."""
        if root.parent_id is None and root.delegate_from is None:
            return Relation.ROOT, ""  # the usual case
        parent = self.parent(root)
        relation = edge(root, parent)
        note = ""
        if root.id in self.cycle_roots:
            relation, note = Relation.ORPHAN, _("its parents form a cycle")
        elif root.parent_id == root.id:
            note = _("its parent is itself")
        elif relation is Relation.CONTINUED and parent is not None:
            relation, note = self._stale_sibling(root, parent)
        elif relation is Relation.ROOT and root.delegate_from == ORPHANED:
            note = _("possibly a subagent")
        elif relation in _NOTES:
            note = _(_NOTES[relation])
        return relation, note

    def _stale_sibling(self, root: Session, parent: Session) -> tuple[Relation, str]:
        """Return the relation of a child that could continue a compressed session, but lost to
        another."""
        winner = self._continuations[parent.id]
        early = parent.ended_at is not None and start_key(root)[0] < parent.ended_at
        if early and root.ended_at is not None and winner.end_reason == "compression":
            return Relation.DELEGATED, ""  # an unmarked subagent of a session compressed later
        return Relation.CONTINUED, _("a stale sibling of {session}", session=winner.id)
