"""A forest of all sessions of a large store, packed, with what has changed since in front of it.

What is asked for is made when it is asked for and not kept: a `Chain` of one moment is not the `Chain` of the next,
though both say the same. Conversations are told apart by the ids of their roots.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from itertools import accumulate, compress
from itertools import chain as chained
from typing import Generic, TypeVar, overload

from .chain import FAR_PAST, Chain
from .forest import Forest
from .links import Links, link
from .models import Session, Sort, View
from .ordering import Asked, in_order, sort_key, title_key
from .session import unpack_numbers
from .table import Packed, SessionTable, pack

_MOST_LOOSE = 4000
"""With more sessions than this in front, all are packed anew."""

_Value = TypeVar("_Value")


class Layers:
    """A table, and in front of it the families that have changed since it was read.

    Args:
        table: All sessions of some moment.
        links: How they hang together.
        covered: Places of those that are no more, or stand in front.
        front: Whole families: no link leads from one of them to what is not covered.
    """

    def __init__(self, table: SessionTable, links: Links, covered: frozenset[int], front: Forest) -> None:
        self.table, self.links, self.covered, self.front = table, links, covered, front
        standing, stands = links.standing, links.stands
        self._numbers = Counter(standing)
        self._numbers.subtract(Counter(standing[place] for place in covered))
        self.counts = Counter(front.counts())
        for number, count in self._numbers.items():
            stand = stands[number]
            if stand is not None:
                self.counts[View.ALL] += count
                if stand.view is not None:
                    self.counts[stand.view] += count

    def place(self, session_id: str) -> int:
        """Where a session stands in the table; -1 when it does not, or is covered."""
        place = self.table.place(session_id)
        return -1 if place in self.covered else place

    def open_places(self) -> Iterable[int]:
        """All places that are not covered."""
        every = range(len(self.table))
        return [place for place in every if place not in self.covered] if self.covered else every


class _Each(Mapping[str, _Value], Generic[_Value]):
    """A mapping that is looked through without looking anything up."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers

    def pairs(self) -> Iterator[tuple[str, _Value]]:
        """All keys and values."""
        raise NotImplementedError

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        return (key for key, _value in self.pairs())

    def values(self) -> ValuesView[_Value]:
        """As of any mapping."""
        return _Values(self)

    def items(self) -> ItemsView[str, _Value]:
        """As of any mapping."""
        return _Items(self)


class _Values(ValuesView[_Value], Generic[_Value]):
    def __init__(self, each: _Each[_Value]) -> None:
        super().__init__(each)
        self._each = each

    def __iter__(self) -> Iterator[_Value]:
        return (value for _key, value in self._each.pairs())


class _Items(ItemsView[str, _Value], Generic[_Value]):
    def __init__(self, each: _Each[_Value]) -> None:
        super().__init__(each)
        self._each = each

    def __iter__(self) -> Iterator[tuple[str, _Value]]:
        return self._each.pairs()


class _Sessions(_Each[Session]):
    """Sessions by id, in the order in which they were read."""

    def __getitem__(self, session_id: str) -> Session:
        found = self._layers.front.sessions.get(session_id)
        if found is not None:
            return found
        place = self._layers.place(session_id)
        if place < 0:
            raise KeyError(session_id)
        return self._layers.table.at(place)

    def __len__(self) -> int:
        layers = self._layers
        return len(layers.table) - len(layers.covered) + len(layers.front.sessions)

    def __contains__(self, session_id: object) -> bool:
        there = session_id in self._layers.front.sessions
        return there or (isinstance(session_id, str) and self._layers.place(session_id) >= 0)

    def pairs(self) -> Iterator[tuple[str, Session]]:
        table, covered = self._layers.table, self._layers.covered
        front = dict(self._layers.front.sessions)
        for place, session in enumerate(table.each()):
            if place not in covered:
                yield session.id, session
            elif session.id in front:  # in the place it has always had
                yield session.id, front.pop(session.id)
        yield from front.items()


class _Children(_Each[Sequence[Session]]):
    """Sessions by the id of their parent; a parent is covered with all its children."""

    def __getitem__(self, parent_id: str) -> Sequence[Session]:
        layers = self._layers
        found = layers.front.children.get(parent_id)
        if found is not None:
            return found
        place = layers.table.place(parent_id)
        places = layers.links.children.all(place) if place >= 0 else layers.links.lost.get(parent_id, ())
        if not places or places[0] in layers.covered:
            raise KeyError(parent_id)
        return [layers.table.at(each) for each in places]

    def __len__(self) -> int:
        return sum(1 for _pair in self.pairs())

    def pairs(self) -> Iterator[tuple[str, Sequence[Session]]]:
        layers = self._layers
        yield from layers.front.children.items()
        at = layers.table.at
        for place in layers.links.children.each_key():
            places = layers.links.children.all(place)
            if places[0] not in layers.covered:
                yield layers.table.id_at(place), [at(each) for each in places]
        for parent_id, places in layers.links.lost.items():
            if places[0] not in layers.covered:
                yield parent_id, [at(each) for each in places]


class _Chains(_Each[Chain]):
    """Chains by the id of their root."""

    def __getitem__(self, root_id: str) -> Chain:
        layers = self._layers
        found = layers.front.chains.get(root_id)
        if found is not None:
            return found
        place = layers.place(root_id)
        if place < 0 or not layers.links.standing[place]:
            raise KeyError(root_id)
        return layers.links.chain(layers.table, place)

    def __len__(self) -> int:
        return self._layers.counts[View.ALL]

    def __contains__(self, root_id: object) -> bool:
        if not isinstance(root_id, str):
            return False
        place = self._layers.place(root_id)
        return (place >= 0 and self._layers.links.standing[place] > 0) or root_id in self._layers.front.chains

    def pairs(self) -> Iterator[tuple[str, Chain]]:
        layers = self._layers
        table, links = layers.table, layers.links
        for place, session in enumerate(table.each()):
            if links.standing[place] and place not in layers.covered:
                yield session.id, links.chain(table, place, session)
        yield from layers.front.chains.items()


class _ChainOf(_Each[Chain]):
    """The chain of each session, by id."""

    def __getitem__(self, session_id: str) -> Chain:
        layers = self._layers
        found = layers.front.chain_of.get(session_id)
        if found is not None:
            return found
        place = layers.place(session_id)
        if place < 0:
            raise KeyError(session_id)
        return layers.links.chain(layers.table, layers.links.root(place))

    def __len__(self) -> int:
        layers = self._layers
        return len(layers.table) - len(layers.covered) + len(layers.front.chain_of)

    def __contains__(self, session_id: object) -> bool:
        there = session_id in self._layers.front.chain_of
        return there or (isinstance(session_id, str) and self._layers.place(session_id) >= 0)

    def pairs(self) -> Iterator[tuple[str, Chain]]:
        layers = self._layers
        table, links = layers.table, layers.links
        for place, session in enumerate(table.each()):
            if place not in layers.covered:
                root = links.root(place)
                yield session.id, links.chain(table, root, session if root == place else None)
        yield from layers.front.chain_of.items()


class Roots(Sequence[str]):
    """Root ids in an order, in four bytes for each; made when they are asked for.

    Args:
        layers: Where they are.
        numbers: Places in the table; beyond its end, in `front`.
        front: Root ids of what stands in front of the table.
    """

    def __init__(self, layers: Layers, numbers: array[int], front: Sequence[str]) -> None:
        self._layers, self._numbers, self._front = layers, numbers, front

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self._id(number) for number in self._numbers[at]]
        return self._id(self._numbers[at])

    def _id(self, number: int) -> str:
        beyond = number - len(self._layers.table)
        return self._front[beyond] if beyond >= 0 else self._layers.table.id_at(number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(str.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """Where a root id is.

        Raises:
            ValueError: Nowhere.
        """
        number = self._layers.place(value) if isinstance(value, str) else -1
        if number < 0:
            number = self._front.index(str(value)) + len(self._layers.table)
        return self._numbers.index(number, start, len(self) if stop is None else stop)

    def __contains__(self, value: object) -> bool:
        try:
            self.index(value)
        except ValueError:
            return False
        return True

    def names(self) -> Iterator[str]:
        """Of each, the titles and ids of all segments as one text."""
        table, links, front = self._layers.table, self._layers.links, self._layers.front.chains
        texts, ends = [""], array("Q", [0])  # the names of all sessions as one text: 100,000 texts take thrice the room
        for columns in table.pieces():
            named = [f"{title or ''} {own}" for own, title in zip(columns.ids, columns.titles, strict=True)]
            ends.extend(accumulate(map(len, named), initial=ends.pop()))
            texts.append("".join(named))
        text = "".join(texts)
        for number in self._numbers:
            if number < len(table):
                places = links.segments(number)
                yield " ".join(text[ends[place] : ends[place + 1]] for place in places)
            else:
                chain = front[self._front[number - len(table)]]
                yield " ".join(f"{segment.title or ''} {segment.id}" for segment in chain.segments)

    def from_source(self, source: str) -> list[int]:
        """Where the conversations are that began at a source."""
        table, front = self._layers.table, self._layers.front.chains
        marked, beyond = table.marked, len(table)
        marks = {number for number, mark in enumerate(table.marks) if mark.source == source}
        return [
            at
            for at, number in enumerate(self._numbers)
            if (
                marked[number] in marks
                if number < beyond
                else front[self._front[number - beyond]].root.source == source
            )
        ]


class PackedForest(Forest):
    """A forest whose sessions are packed. What it says is what a forest of the same sessions says.

    Args:
        layers: What it is made of.
    """

    def __init__(self, layers: Layers) -> None:
        self._layers = layers

    @property
    def sessions(self) -> Mapping[str, Session]:
        return _Sessions(self._layers)

    @property
    def children(self) -> Mapping[str, Sequence[Session]]:
        return _Children(self._layers)

    @property
    def chains(self) -> Mapping[str, Chain]:
        return _Chains(self._layers)

    @property
    def chain_of(self) -> Mapping[str, Chain]:
        return _ChainOf(self._layers)

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
            keys = _Keys(layers, asked).keys()
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

        def key(place: int) -> _Falling:
            return _Falling(links.active[place], lambda: table.id_at(links.segments(place)[-1]))

        merged, done = array("I"), 0
        for number, chain in enumerate(front, len(table)):
            tip = chain.tip.id
            at = bisect_left(places, _Falling(chain.last_active, lambda tip=tip: tip), done, key=key)  # type: ignore[misc]  # the tip of now
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


class _Falling:
    """What stands first in a list that is newest first, then by the id of the tip, backwards."""

    def __init__(self, active: float, tip: Callable[[], str]) -> None:
        self._active, self._tip = active, tip

    def __lt__(self, other: _Falling) -> bool:
        if self._active != other._active:
            return self._active > other._active
        return self._tip() > other._tip()


class _Keys:
    """What an order other than by activity goes by, for each place of the table; see `sort_key`."""

    def __init__(self, layers: Layers, asked: Asked) -> None:
        self._table, self._links, self._sort, self._sizes = layers.table, layers.links, asked.sort, asked.sizes

    def keys(self) -> list[float | str]:
        """By place; only those of roots mean something."""
        if self._sort is Sort.STARTED:
            every = (each for columns in self._table.pieces() for each in columns.started)
            return [FAR_PAST if each is None else each for each in every]
        if self._sort is Sort.TITLE:
            return self._titles()
        return self._sums()

    def _titles(self) -> list[float | str]:
        titles = [title_key(title) for columns in self._table.pieces() for title in columns.titles]
        found: list[float | str] = [*titles]
        for root in self._links.following.each_key():
            if self._links.standing[root]:
                own = [titles[place] for place in self._links.segments(root)]
                found[root] = next((title for title in reversed(own) if title != "1"), "1")
        return found

    def _sums(self) -> list[float | str]:
        own: list[float] = []
        for columns in self._table.pieces():
            if self._sort is Sort.SIZE:
                own.extend(self._sizes.get(each, 0) for each in columns.ids)
                continue
            rows = unpack_numbers(columns.numbers)
            if self._sort is Sort.MESSAGES:
                own.extend([row[0] for row in rows])
            elif self._sort is Sort.TOKENS:
                own.extend([row[2] + row[3] + row[4] + row[5] for row in rows])
            else:
                own.extend([row[7] if row[7] == row[7] else FAR_PAST for row in rows])
        found: list[float | str] = [*own]
        for root in self._links.following.each_key():
            if self._links.standing[root]:
                known = [each for place in self._links.segments(root) if (each := own[place]) != FAR_PAST]
                found[root] = sum(known) if known else FAR_PAST
        return found


def packed(sessions: Iterable[Session] | Packed) -> PackedForest:
    """A forest of sessions, packed.

    Args:
        sessions: As they come, or packed already.
    """
    table, ties = sessions if isinstance(sessions, Packed) else pack(sessions)
    return PackedForest(Layers(table, link(table, ties), frozenset(), Forest(())))
