"""What a packed forest is made of, as mappings whose values are made when they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from typing import Generic, TypeVar

from .chain import Chain
from .forest import Forest
from .links import Links
from .models import Session, View
from .table import SessionTable

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


class SessionsById(_Each[Session]):
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


class ChildrenById(_Each[Sequence[Session]]):
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


class ChainsByRoot(_Each[Chain]):
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


class ChainOf(_Each[Chain]):
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
