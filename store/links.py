"""How the sessions of a table hang together, worked out once and kept in some twenty bytes for each.

The rules are those of `Forest`: families of sessions that hang together are given to it some at a time. What has
neither a parent nor a child, which most sessions have not, is a conversation by itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

from .chain import Chain
from .forest import Forest
from .models import Relation, Session, View
from .pairs import LOW, Pairs, pair
from .relations import plain_view
from .table import SessionTable, Ties

_FAMILIES = 500
"""Sessions that are given to a forest at once: few objects at a time, and few forests."""


class Stand(NamedTuple):
    """How a conversation hangs on another, and where it is listed: few differ."""

    relation: Relation
    note: str
    view: View | None
    """The narrow view; None for what only the view of all shows."""
    is_alone: bool
    """One segment, and nothing hangs on it."""


class Links(NamedTuple):
    """How the sessions of a table hang together; places are those of the table."""

    stands: list[Stand | None]
    """All that differ; the first one is None, for what is no root."""
    standing: array[int]
    """By place: which of the stands."""
    notes: dict[int, str]
    """By place, where a note says something of this conversation alone."""
    children: Pairs
    """Places of children by the place of their parent."""
    lost: dict[str, list[int]]
    """Places of children by the id of a parent that is not there."""
    following: Pairs
    """The place of the next segment by that of a segment."""
    roots: Pairs
    """The place of the root by that of a later segment."""
    active: array[float]
    """By the place of a root: newest activity of its conversation."""
    by_activity: array[int]
    """Places of roots, newest activity first, then by the id of the tip, backwards."""

    def root(self, place: int) -> int:
        """The place of the root of a session's conversation."""
        found = self.roots.first(place)
        return place if found is None else found

    def segments(self, place: int) -> list[int]:
        """The places of the segments of a root's conversation."""
        found = [place]
        stand = self.stands[self.standing[place]]
        if stand is not None and stand.is_alone:
            return found
        current = self.following.first(place)
        while current is not None:
            found.append(current)
            current = self.following.first(current)
        return found

    def chain(self, table: SessionTable, place: int, root: Session | None = None) -> Chain:
        """The chain of the root at a place, made anew.

        Args:
            table: Of these links.
            place: Of a root.
            root: The session there, if it is at hand.
        """
        stand = self.stands[self.standing[place]]
        if stand is None:
            raise KeyError(place)
        if stand.is_alone:
            return Chain(root or table.at(place), stand.relation, stand.note, is_alone=True)
        rest = tuple(table.at(each) for each in self.segments(place)[1:])
        return Chain(root or table.at(place), stand.relation, self.notes.get(place, stand.note), rest)


class _Linking:
    def __init__(self, table: SessionTable, ties: Ties) -> None:
        self._table = table
        self._stands: dict[Stand | None, int] = {None: 0}
        self._standing = array("H", bytes(2 * len(table)))
        self._notes: dict[int, str] = {}
        self._hanging, self._children, self._lost, self._active = ties
        self._following, self._roots = array("Q"), array("Q")

    def links(self) -> Links:
        children = Pairs(self._children)
        plain = bytearray(b"\1") * len(self._table)
        for hanging in (self._hanging, children.each_key()):
            for place in hanging:
                plain[place] = 0
        stands = [self._stand(Stand(Relation.ROOT, "", plain_view(mark), True)) for mark in self._table.marks]
        for place, (mark, is_plain) in enumerate(zip(self._table.marked, plain, strict=True)):
            if is_plain:
                self._standing[place] = stands[mark]
        for family in self._families(plain):
            self._take(family)
        following = Pairs(self._following)
        return Links(
            stands=list(self._stands),
            standing=self._standing,
            notes=self._notes,
            children=children,
            lost=self._lost,
            following=following,
            roots=Pairs(self._roots),
            active=self._active,
            by_activity=self._by_activity(following),
        )

    def _families(self, plain: bytearray) -> Iterator[list[int]]:
        """Places of sessions that hang together, several families at a time."""
        above = array("I", range(len(plain)))  # of each the first of its family, or one that is nearer to it

        def first_of(place: int) -> int:
            while above[place] != place:
                above[place] = place = above[above[place]]
            return place

        for each in self._children:
            parent, child = first_of(each >> 32), first_of(each & LOW)
            above[max(parent, child)] = min(parent, child)
        # A family is a list through these two: a list of lists takes ten times the room.
        after, last = array("I", bytes(4 * len(plain))), array("I", range(len(plain)))
        for place, is_plain in enumerate(plain):
            first = first_of(place)
            if not is_plain and first != place:
                after[last[first]] = last[first] = place
        found: list[int] = []
        for place, is_plain in enumerate(plain):
            if is_plain or above[place] != place:
                continue
            found.append(place)
            while after[found[-1]]:  # 0 is never what follows: it would stand first
                found.append(after[found[-1]])
            if len(found) >= _FAMILIES:
                yield sorted(found)
                found = []
        yield sorted(found)

    def _take(self, family: list[int]) -> None:
        """Work out the conversations of whole families."""
        sessions = self._table.some(family)
        places = {session.id: place for session, place in zip(sessions, family, strict=True)}
        forest = Forest(sessions)
        for root_id, chain in forest.chains.items():
            root = current = places[root_id]
            is_own = chain.relation is Relation.CONTINUED  # of a stale sibling, which names the other
            if is_own:
                self._notes[root] = chain.note
            is_alone = not (is_own or chain.rest or root_id in forest.children)
            stand = Stand(chain.relation, "" if is_own else chain.note, forest.view_of(chain), is_alone)
            self._standing[root] = self._stand(stand)
            self._active[root] = chain.last_active
            for segment in chain.rest:
                place = places[segment.id]
                self._following.append(pair(current, place))
                self._roots.append(pair(place, root))
                current = place

    def _stand(self, stand: Stand) -> int:
        return self._stands.setdefault(stand, len(self._stands))

    def _by_activity(self, following: Pairs) -> array[int]:
        def tip(place: int) -> str:
            while (after := following.first(place)) is not None:
                place = after
            return self._table.id_at(place)

        active = self._active
        roots = [place for place, stand in enumerate(self._standing) if stand]
        roots.sort(key=active.__getitem__, reverse=True)
        done = 0
        for at in [at for at in range(1, len(roots)) if active[roots[at]] == active[roots[at - 1]]]:
            if at < done:
                continue
            done = at + 1
            while done < len(roots) and active[roots[done]] == active[roots[at]]:
                done += 1
            roots[at - 1 : done] = sorted(roots[at - 1 : done], key=tip, reverse=True)
        return array("I", roots)


def link(table: SessionTable, ties: Ties) -> Links:
    """How the sessions of a table hang together.

    Args:
        table: All sessions.
        ties: What was seen when it was made; they become part of the links.
    """
    return _Linking(table, ties).links()
