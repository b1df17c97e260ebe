"""Conversations in an order, by the numbers of their roots."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import overload

from .chain import FAR_PAST
from .layers import Layers
from .models import Sort
from .ordering import Asked, title_key
from .session import unpack_numbers


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


class Falling:
    """What stands first in a list that is newest first, then by the id of the tip, backwards."""

    def __init__(self, active: float, tip: Callable[[], str]) -> None:
        self._active, self._tip = active, tip

    def __lt__(self, other: Falling) -> bool:
        if self._active != other._active:
            return self._active > other._active
        return self._tip() > other._tip()


class Keys:
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
