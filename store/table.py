"""All sessions of a store, packed: some sixty bytes for each, where an object takes five hundred.

Sessions stand in pieces of a hundred and twenty-five, each written by `marshal` and compressed: what is said again and
again (a folder, a model, zeros) takes no room twice. A `Session` is made when it is asked for and is not kept; the
pieces looked at last are kept open, because what is asked for next mostly stands near.
"""

from __future__ import annotations

import marshal
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count, islice, pairwise
from typing import Any, NamedTuple, cast

from .chain import FAR_PAST
from .columns import Columns, Mark, Marking, columns_of, make_session
from .pairs import pair
from .session import NUMBERS_SIZE, Session

_TOGETHER = 125
"""Sessions in a piece: fewer compress worse, more take longer to open for one of them."""
_NEAR = 2000
"""Sessions among which a parent is looked for before it is looked for among all: most stand near their children."""
_OPEN = 8
"""Pieces kept open."""
_LEVEL = 1
"""Of zlib: more takes twice the time for a twentieth less."""
_SHELVES = 16
"""The index is sorted in as many parts, so that sorting takes little room for itself."""
_SHELF = 60
_HASHED = 0xFFFF_FFFF_0000_0000
"""The bits of an entry of the index that are the id's; the others say where the session stands."""
_PLACE = 0xFFFF_FFFF

hash_text = hash
"""What ids are found by; a name of its own because ids that collide cannot be made to order."""

_Piece = tuple[Any, ...]
"""The columns of a piece but the marks; None for a column that says nothing."""


class _Shelf:
    """Pieces one after another: 800 of them by themselves would stand between what is made and let go meanwhile."""

    def __init__(self) -> None:
        self._packed = bytearray()
        self._ends = array("Q", [0])

    def __len__(self) -> int:
        return len(self._ends) - 1

    def add(self, piece: _Piece) -> None:
        """Add one."""
        self._packed += zlib.compress(marshal.dumps(piece), _LEVEL)
        self._ends.append(len(self._packed))

    def open(self, at: int) -> _Piece:
        """The piece at an index."""
        with memoryview(self._packed) as packed:
            return cast(_Piece, marshal.loads(zlib.decompress(packed[self._ends[at] : self._ends[at + 1]])))


class Ties(NamedTuple):
    """What of the sessions of a table says how they hang together; places are those of the table."""

    hanging: array[int]
    """Places of sessions with a parent, or marked as if they had one."""
    children: array[int]
    """Of `pair`: the place of a parent with that of a child."""
    lost: dict[str, list[int]]
    """Places of children by the id of a parent that is not there."""
    active: array[float]
    """Last activity by place."""


class Packed(NamedTuple):
    """Sessions that have been packed."""

    table: SessionTable
    ties: Ties


class SessionTable(Mapping[str, Session]):
    """Sessions by id, in the order in which they were added. What it holds does not change.

    Made by `Packer`; a place is where a session stands, from 0.
    """

    def __init__(
        self, pieces: _Shelf, starts: array[int], marks: list[Mark], marked: array[int], index: list[array[int]]
    ) -> None:
        self._pieces, self._starts, self._index = pieces, starts, index
        self.marks = marks
        """All that differ."""
        self.marked = marked
        """By place: which of the marks."""
        self._open = lru_cache(maxsize=_OPEN)(pieces.open)  # not of self: a ring is freed late

    def __len__(self) -> int:
        return len(self.marked)

    def __iter__(self) -> Iterator[str]:
        for at in range(len(self._pieces)):
            yield from cast("list[str]", self._pieces.open(at)[0])

    def __contains__(self, session_id: object) -> bool:
        return isinstance(session_id, str) and self.place(session_id) >= 0

    def __getitem__(self, session_id: str) -> Session:
        place = self.place(session_id)
        if place < 0:
            raise KeyError(session_id)
        return self.at(place)

    def place(self, session_id: str) -> int:
        """Where a session stands; -1 when it is not here."""
        hashed = hash_text(session_id) & _HASHED
        shelf = self._index[hashed >> _SHELF]
        for at in range(bisect_left(shelf, hashed), len(shelf)):
            entry = shelf[at]
            if entry & _HASHED != hashed:
                break
            if self.id_at(entry & _PLACE) == session_id:
                return entry & _PLACE
        return -1

    def _find(self, place: int) -> tuple[int, int]:
        piece = bisect_right(self._starts, place) - 1
        return piece, place - self._starts[piece]

    def id_at(self, place: int) -> str:
        """The id of the session at a place."""
        piece, at = self._find(place)
        return cast("list[str]", self._open(piece)[0])[at]

    def at(self, place: int) -> Session:
        """The session at a place."""
        piece, at = self._find(place)
        *texts, numbers = self._open(piece)
        row = [column[at] if column is not None else None for column in cast("list[list[str] | None]", texts)]
        own = cast(bytes, numbers)[at * NUMBERS_SIZE : at * NUMBERS_SIZE + NUMBERS_SIZE]
        return make_session(row, self.marks[self.marked[place]], own)

    def some(self, places: Sequence[int]) -> list[Session]:
        """The sessions at some places, which are in order."""
        found: list[Session] = []
        rows: list[tuple[Any, ...]] = []
        numbers, start, size = b"", 0, NUMBERS_SIZE
        for place in places:
            if not start <= place < start + len(rows):
                at = bisect_right(self._starts, place) - 1
                start = self._starts[at]
                *texts, numbers = self._pieces.open(at)
                nothing = [None] * (len(numbers) // size)
                rows = list(zip(*(nothing if column is None else column for column in texts), strict=True))
            at = place - start
            found.append(make_session(rows[at], self.marks[self.marked[place]], numbers[at * size : at * size + size]))
        return found

    def pieces(self) -> Iterator[Columns]:
        """All sessions in order, some at a time."""
        for at, start in enumerate(self._starts):
            *texts, numbers = cast("tuple[list[str] | None, ...]", self._pieces.open(at))
            count = len(cast(bytes, numbers)) // NUMBERS_SIZE
            nothing = [None] * count
            marks = [self.marks[mark] for mark in self.marked[start : start + count]]
            yield Columns._make((*(nothing if column is None else column for column in texts), marks, numbers))

    def each(self) -> Iterator[Session]:
        """All sessions in order, made one after another."""
        for columns in self.pieces():
            yield from columns.sessions()


class Packer:
    """Makes a table of sessions as they come, so that they never stand in memory all at once."""

    def __init__(self) -> None:
        self._pieces = _Shelf()
        self._starts = array("I")
        self._marks: dict[Marking, int] = {}
        self._marked = array("I")
        self._index = [array("Q") for _shelf in range(_SHELVES)]
        self._hanging, self._children, self._active = array("I"), array("Q"), array("d")
        self._near: dict[str, int] = {}
        self._far: list[tuple[int, str]] = []

    def add(self, columns: Columns) -> None:
        """Add sessions."""
        known, shelves, first = self._marks, self._index, len(self._marked)
        for place, session_id in enumerate(columns.ids, first):
            hashed = hash_text(session_id) & _HASHED
            shelves[hashed >> _SHELF].append(hashed | place)
        self._tie(first, columns)
        self._marked.extend([known.setdefault(mark, len(known)) for mark in columns.marks])
        *texts, _marks, numbers = columns
        said = [column if any(each is not None for each in column) else None for column in texts]
        for start in range(0, len(columns.ids), _TOGETHER):
            end = start + _TOGETHER
            piece = [column if column is None else list(column[start:end]) for column in said]
            self._pieces.add((*piece, numbers[start * NUMBERS_SIZE : end * NUMBERS_SIZE]))
            self._starts.append(first + start)

    def _tie(self, first: int, columns: Columns) -> None:
        near = self._near
        if len(near) > _NEAR:
            near.clear()
        near.update(zip(columns.ids, count(first), strict=False))
        self._active.extend([FAR_PAST if each is None else each for each in columns.active])
        for place, (session_id, parent_id, delegated) in enumerate(
            zip(columns.ids, columns.parents, columns.delegated, strict=True), first
        ):
            if parent_id is None:
                if delegated is not None:
                    self._hanging.append(place)
                continue
            self._hanging.append(place)
            parent = near.get(parent_id)
            if parent is None:
                self._far.append((place, parent_id))
            elif parent_id != session_id:
                self._children.append(pair(parent, place))

    def packed(self) -> Packed:
        """The table of all that was added; of two with one id the later one, in the place of the first."""
        for at, shelf in enumerate(self._index):
            self._index[at] = array("Q", sorted(shelf))
        made = SessionTable(self._pieces, self._starts, list(map(Mark._make, self._marks)), self._marked, self._index)
        again = self._twice(made)
        if not again:
            return Packed(made, self._ties(made))
        instead = {first: places[-1] for first, *places in again}
        gone = {place for _first, *places in again for place in places}
        return pack(made.at(instead.get(place, place)) for place in range(len(made)) if place not in gone)

    def _ties(self, made: SessionTable) -> Ties:
        lost: dict[str, list[int]] = {}
        for place, parent_id in self._far:
            parent = made.place(parent_id)
            if parent >= 0:
                self._children.append(pair(parent, place))
            else:
                lost.setdefault(parent_id, []).append(place)
        return Ties(self._hanging, self._children, lost, self._active)

    def _twice(self, made: SessionTable) -> list[list[int]]:
        """Places with the same id: blobs and texts that are read as one (a damaged file)."""
        alike: dict[int, list[int]] = {}
        for shelf in self._index:
            for before, entry in [two for two in pairwise(shelf) if two[0] ^ two[1] <= _PLACE]:
                alike.setdefault(entry & _HASHED, [before & _PLACE]).append(entry & _PLACE)
        found: list[list[int]] = []
        for among in alike.values():
            places: dict[str, list[int]] = {}
            for place in among:
                places.setdefault(made.id_at(place), []).append(place)
            found += [each for each in places.values() if len(each) > 1]
        return found


def pack(sessions: Iterable[Session]) -> Packed:
    """Sessions that are objects, packed."""
    packer, rest = Packer(), iter(sessions)
    while some := list(islice(rest, _TOGETHER * 8)):
        packer.add(columns_of(some))
    return packer.packed()
