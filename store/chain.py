"""The segments of one conversation, kept so that 100,000 conversations take little room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .models import Relation, Session

FAR_PAST = float("-inf")
"""Stands for a time that is not known."""


class Chain:
    """A compression chain: the segments of one conversation, and how its root hangs on a parent."""

    __slots__ = ("is_alone", "last_active", "note", "relation", "rest", "root")

    def __init__(
        self,
        root: Session,
        relation: Relation,
        note: str = "",
        rest: tuple[Session, ...] = (),
        *,
        is_alone: bool = False,
    ) -> None:
        self.root = root
        """The first segment."""
        self.rest = rest
        """The segments after it: most conversations have none, and share nothing."""
        self.relation = relation
        self.note = note
        self.is_alone = is_alone
        """Known to have one segment on which nothing hangs, so that nothing need be looked for."""
        active = root.last_active
        self.last_active = FAR_PAST if active is None else active
        """Newest activity of any segment; the far past when none is known."""
        for segment in rest:
            if segment.last_active is not None and segment.last_active > self.last_active:
                self.last_active = segment.last_active

    def __eq__(self, other: object) -> bool:
        """Whether it says the same: a chain is made anew each time it is asked for."""
        if not isinstance(other, Chain):
            return NotImplemented
        return (self.segments, self.relation, self.note) == (other.segments, other.relation, other.note)

    def __hash__(self) -> int:
        return hash(self.root.id)

    @property
    def segments(self) -> tuple[Session, ...]:
        """Root first; never empty."""
        return (self.root, *self.rest)

    @property
    def tip(self) -> Session:
        """The last segment."""
        return self.rest[-1] if self.rest else self.root

    @property
    def title(self) -> str | None:
        """The tip's title, else the newest one of an earlier segment (0.22 falls back to the root's)."""
        for segment in reversed(self.rest):
            if segment.title:
                return segment.title
        return self.root.title or None


class Chains(Mapping[str, Chain]):
    """The chain of each session, by id.

    Most sessions are a chain by themselves, so only those that are not its root are kept beside the roots.

    Args:
        roots: The chains by the id of their first segment.
    """

    def __init__(self, roots: dict[str, Chain]) -> None:
        self._roots = roots
        self.later: dict[str, Chain] = {}
        """By the ids of all other segments."""

    def __getitem__(self, session_id: str) -> Chain:
        found = self._roots.get(session_id)
        return found if found is not None else self.later[session_id]

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._roots or session_id in self.later

    def __iter__(self) -> Iterator[str]:
        yield from self._roots
        yield from self.later

    def __len__(self) -> int:
        return len(self._roots) + len(self.later)
