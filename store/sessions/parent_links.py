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

_CYCLE = N_("its parents form a cycle")


class ParentLinks:
    """The links between some sessions, given by id: immutable data."""

    def __init__(self, sessions: Mapping[str, Session]) -> None:
        self._sessions = sessions
        self._children: dict[str, list[Session]] = {}
        for session in sessions.values():
            if session.parent_id is not None and session.parent_id != session.id:
                self._children.setdefault(session.parent_id, []).append(session)
        self._continuations = dict(self._find_continuations())
        """The best continuation of each compressed session, by the id of that session."""
        self._cycle_roots: frozenset[str] = frozenset()
        self._cycle_roots = frozenset(self._find_cycle_roots())
        """One root for each cycle of parents (a damaged file), which no list would reach
        otherwise."""

    def _find_continuations(self) -> Iterator[tuple[str, Session]]:
        for parent_id, children in self._children.items():
            parent = self._sessions.get(parent_id)
            if parent is None or parent.end_reason != "compression":
                continue
            candidates = [each for each in children if edge(each, parent) is Relation.CONTINUED]
            if candidates:
                yield parent_id, max(candidates, key=continuation_rank)

    def _find_cycle_roots(self) -> Iterator[str]:
        visited: set[str] = set()
        for children in self._children.values():
            for child in children:
                cycle = self._cycle_above(child, visited)
                roots = [each for each in cycle if self.previous(each) is None]
                if cycle and len(roots) != 1:  # exactly one: a conversation that is its own child
                    yield min(roots or cycle, key=start_key).id

    def _cycle_above(self, session: Session, visited: set[str]) -> list[Session]:
        """Return the cycle of parents that a session leads to; empty without one, or if visited
        before."""
        path: list[Session] = []
        current: Session | None = session
        while current is not None and current.id not in visited:
            visited.add(current.id)
            path.append(current)
            current = self.parent(current)
        ids = [each.id for each in path] if current is not None else []
        return path[ids.index(current.id) :] if current is not None and current.id in ids else []

    def parent(self, session: Session) -> Session | None:
        """Return the parent of a session; None if it does not exist or is the session itself."""
        parent_id = session.parent_id
        if parent_id is None or parent_id == session.id:
            return None
        return self._sessions.get(parent_id)

    def children_of(self, session_id: str) -> Sequence[Session]:
        """Return the sessions with this parent id, whether or not the parent exists."""
        return self._children.get(session_id, ())

    def previous(self, session: Session) -> Session | None:
        """Return the segment that a session continues; None for the root of a conversation."""
        if session.parent_id is None or session.id in self._cycle_roots:
            return None
        after = self._continuations.get(session.parent_id)
        return self.parent(session) if after is not None and after.id == session.id else None

    def segments(self, root: Session) -> tuple[Session, ...]:
        """Return the segments of the conversation with this root, root first."""
        following = self._continuations.get(root.id)
        if following is None:
            return (root,)
        segments = [root]
        while following is not None and following.id not in self._cycle_roots:
            segments.append(following)
            following = self._continuations.get(following.id)
        return tuple(segments)

    def relation(self, root: Session) -> tuple[Relation, str]:
        """Return the relation of a conversation to its parent, and what is peculiar about it, in
        words."""
        if root.parent_id is None and root.delegate_from is None:
            return Relation.ROOT, ""  # the usual case
        if root.id in self._cycle_roots:
            return Relation.ORPHAN, _(_CYCLE)
        parent = self.parent(root)
        relation = edge(root, parent)
        if relation is Relation.CONTINUED and parent is not None:
            return self._stale_sibling(root, parent)
        if relation is Relation.ORPHAN:
            is_own = root.parent_id == root.id
            return relation, _("its parent is itself") if is_own else _("its parent is gone")
        if relation is Relation.UNKNOWN:
            return relation, _("listed nowhere in Hermes")
        if relation is Relation.ROOT and root.delegate_from is not None:
            guessed = root.delegate_from == ORPHANED
            note = _("possibly a subagent") if guessed else _("a subagent whose parent is gone")
            return relation, note
        return relation, ""

    def _stale_sibling(self, root: Session, parent: Session) -> tuple[Relation, str]:
        """Return the relation of a child that could continue a compressed session, but lost to
        another."""
        winner = self._continuations[parent.id]
        early = parent.ended_at is not None and start_key(root)[0] < parent.ended_at
        if early and root.ended_at is not None and winner.end_reason == "compression":
            return Relation.DELEGATED, ""  # an unmarked subagent of a session compressed later
        return Relation.CONTINUED, _("a stale sibling of {session}").format(session=winner.id)
