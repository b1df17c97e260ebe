"""A forest of all sessions of a large store, packed, with what has changed since in front of it.

What is asked for is made when it is asked for and not kept: a `Chain` of one moment is not the `Chain` of the next,
though both say the same. Conversations are told apart by the ids of their roots.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain as chained
from itertools import compress

from .chain import Chain
from .forest import Forest
from .layers import ChainOf, ChainsByRoot, ChildrenById, Layers, SessionsById
from .links import link
from .models import Session, Sort, View
from .ordering import Asked, in_order, sort_key
from .roots import Falling, Keys, Roots
from .table import Packed, pack

_MOST_LOOSE = 4000
"""With more sessions than this in front, all are packed anew."""


class PackedForest(Forest):
    """A forest whose sessions are packed. What it says is what a forest of the same sessions says.

    Args:
        layers: What it is made of.
    """

    def __init__(self, layers: Layers) -> None:
        self._layers = layers

    @property
    def sessions(self) -> Mapping[str, Session]:
        return SessionsById(self._layers)

    @property
    def children(self) -> Mapping[str, Sequence[Session]]:
        return ChildrenById(self._layers)

    @property
    def chains(self) -> Mapping[str, Chain]:
        return ChainsByRoot(self._layers)

    @property
    def chain_of(self) -> Mapping[str, Chain]:
        return ChainOf(self._layers)

    def updated(self, fresh: Iterable[Session], gone: Collection[str] = ()) -> Forest:
        layers, fresh = self._layers, list(fresh)
        asked = [*gone]
        for session in fresh:
            before = self.sessions.get(session.id)
            parents = (session.parent_id, before.parent_id if before is not None else None)
            asked += [session.id, *(parent for parent in parents if parent is not None)]
        family = self._family(asked)
        table = layers.table
        places = {place for each in (*family, *gone) if (place := layers.place(each)) >= 0}
        others = [table.at(place) for place in sorted(places)]
        known = {each.id for each in fresh}.union(gone)
        moved = [each for each in others if each.id not in known]
        front = layers.front.updated([*moved, *fresh], gone)
        updated = PackedForest(Layers(table, layers.links, layers.covered | places, front))
        return packed(updated.sessions.values()) if len(front.sessions) > _MOST_LOOSE else updated

    def _family(self, ids: Iterable[str]) -> set[str]:
        """Ids of all that hang together with these."""
        sessions, children = self.sessions, self.children
        found: set[str] = set()
        waiting = list(ids)
        while waiting:
            each = waiting.pop()
            if each in found:
                continue
            found.add(each)
            waiting.extend(child.id for child in children.get(each, ()))
            session = sessions.get(each)
            if session is not None and session.parent_id is not None:
                waiting.append(session.parent_id)
        return found

    def in_view(self, view: View) -> Iterable[Chain]:
        if view is View.ALL:
            return self.chains.values()
        return chained(self._chains_of(view), self._layers.front.in_view(view))

    def _chains_of(self, view: View) -> Iterator[Chain]:
        layers = self._layers
        table, links, wanted = layers.table, layers.links, self._stands(view)
        for place, session in enumerate(table.each()):
            if wanted[links.standing[place]] and place not in layers.covered:
                yield links.chain(table, place, session)

    def sessions_in(self, view: View, sources: Collection[str] = ()) -> Iterable[str]:
        layers = self._layers
        wanted = bytearray(len(layers.table))
        for root in self._places(view, sources):
            for place in layers.links.segments(root):
                wanted[place] = 1
        return chained(compress(layers.table, wanted), layers.front.sessions_in(view, sources))

    def is_in(self, session_id: str, view: View) -> bool:
        layers = self._layers
        place = layers.place(session_id)
        if place < 0:
            return layers.front.is_in(session_id, view)
        stand = layers.links.stands[layers.links.standing[layers.links.root(place)]]
        return stand is not None and stand.view is view

    def _stands(self, view: View) -> list[bool]:
        """For each of the stands, whether a view shows it."""
        return [stand is not None and (view is View.ALL or stand.view is view) for stand in self._layers.links.stands]

    def counts(self) -> dict[View, int]:
        return {view: self._layers.counts[view] for view in View}

    def order(self, view: View, asked: Asked) -> Roots:
        layers = self._layers
        front = in_order(layers.front.in_view(view), Asked(sources=asked.sources))
        numbers = self._merge(self._places(view, asked.sources), front)
        if asked.sort is not Sort.ACTIVITY:
            keys = Keys(layers, asked).keys()
            key = sort_key(asked)
            keys.extend(key(chain) for chain in front)
            numbers = array("I", sorted(numbers, key=keys.__getitem__, reverse=asked.falls))
        elif asked.reverse:
            numbers = numbers[::-1]
        return Roots(layers, numbers, [chain.root.id for chain in front])

    def _places(self, view: View, sources: Collection[str]) -> array[int]:
        """Places of the roots a view shows, newest first."""
        layers, wanted = self._layers, self._stands(view)
        links, covered, marked = layers.links, layers.covered, layers.table.marked
        standing, places = links.standing, links.by_activity
        if view is not View.ALL:
            places = array("I", [place for place in places if wanted[standing[place]]])
        if sources:
            own = [mark.source in sources for mark in layers.table.marks]
            places = array("I", [place for place in places if own[marked[place]]])
        return array("I", [place for place in places if place not in covered]) if covered else places

    def _merge(self, places: array[int], front: Sequence[Chain]) -> array[int]:
        """Places of the table with the numbers of what stands in front of it, both newest first."""
        if not front:
            return places
        layers = self._layers
        table, links = layers.table, layers.links

        def key(place: int) -> Falling:
            return Falling(links.active[place], lambda: table.id_at(links.segments(place)[-1]))

        merged, done = array("I"), 0
        for number, chain in enumerate(front, len(table)):
            tip = chain.tip.id
            at = bisect_left(places, Falling(chain.last_active, lambda tip=tip: tip), done, key=key)  # type: ignore[misc]  # the tip of now
            merged.extend(places[done:at])
            merged.append(number)
            done = at
        merged.extend(places[done:])
        return merged

    def names(self) -> tuple[Sequence[str], Iterable[str]]:
        order = self.order(View.ALL, Asked())
        return order, order.names()

    def root_of(self, session_id: str) -> str | None:
        layers = self._layers
        place = layers.place(session_id)
        if place < 0:
            return layers.front.root_of(session_id)
        root = layers.links.root(place)
        return session_id if root == place else layers.table.id_at(root)

    def last_active(self, root_id: str) -> float:
        front = self._layers.front
        return (
            front.last_active(root_id)
            if root_id in front.chains
            else self._layers.links.active[self._layers.table.place(root_id)]
        )

    def newest(self, count: int) -> Iterable[Chain]:
        return [self.chains[root] for root in self.order(View.ALL, Asked())[:count]]

    def changed_since(self, earlier: Forest) -> set[str] | None:
        if not isinstance(earlier, PackedForest) or earlier._layers.table is not self._layers.table:
            return None
        now, before = self._layers, earlier._layers
        found = now.front.changed_since(before.front)
        places = now.covered ^ before.covered
        roots = (now.table.id_at(place) for place in places if now.links.standing[place])
        return (found or set()).union(roots)


def packed(sessions: Iterable[Session] | Packed) -> PackedForest:
    """A forest of sessions, packed.

    Args:
        sessions: As they come, or packed already.
    """
    table, ties = sessions if isinstance(sessions, Packed) else pack(sessions)
    return PackedForest(Layers(table, link(table, ties), frozenset(), Forest(())))
