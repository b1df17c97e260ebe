"""One row of `sessions`, stored compactly: a list may hold 100,000 of them.

Times are Unix seconds (float) or None; money is USD. Text is as stored (see `text.as_text`), not yet printable.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from struct import Struct
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeVar, dataclass_transform


class Tokens(NamedTuple):
    """Token counts as Hermes counted them; cache reads are not part of `input`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """Input, output and both cache counts; reasoning is part of the output."""
        return sum(self[:4])


_T = TypeVar("_T")
Shared = Annotated[_T, "shared"]
"""A field with the same value in many sessions."""
Linked = Annotated[_T, "links"]
"""A field that few sessions set."""
Real = Annotated[float | None, "reals"]
Count = Annotated[int, "counts"]

_REAL = Struct("=d")
_SMALL, _MIDDLE, _LARGE = (Struct(f"=4d7{count}") for count in "HIQ")
"""Four reals (NaN for None) and seven counters; the width of the counters depends on the largest one."""
_FORMATS = {whole.size: (whole, Struct(whole.format[0] + whole.format[-1])) for whole in (_SMALL, _MIDDLE, _LARGE)}
"""Format of all numbers and format of one counter, by the size in bytes of all numbers."""


def _real(at: int) -> property:
    unpack, offset = _REAL.unpack_from, at * _REAL.size

    def read(self: "_Compact") -> float | None:
        (value,) = unpack(self.numbers, offset)
        return value if value == value else None

    return property(read)


def _count(at: int) -> property:
    first = 4 * _REAL.size

    def read(self: "_Compact") -> int:
        numbers = self.numbers
        one = _FORMATS[len(numbers)][1]
        value: int = one.unpack_from(numbers, first + at * one.size)[0]
        return value

    return property(read)


def _shared(at: int) -> property:
    return property(lambda self: self.shared[at])


def _link(at: int) -> property:
    return property(lambda self: self.links[at])


_READERS = {"shared": _shared, "links": _link, "reals": _real, "counts": _count}


@dataclass_transform(frozen_default=True)
class _Compact:
    """An immutable record of about 200 bytes; with one object per field, 100,000 records take 70 MB.

    The annotations of a subclass are its fields. They determine the storage of each: a slot of its own, a tuple shared
    by records with equal values, or packed bytes for numbers.
    """

    __slots__ = ("id", "links", "numbers", "parent_id", "shared", "title")

    kept: ClassVar[dict[str, list[str]]]
    """Names of the fields by storage, in order."""
    _defaults: ClassVar[dict[str, Any]]

    id: str
    parent_id: str | None
    title: str | None
    shared: tuple[Any, ...]
    links: tuple[Any, ...]
    numbers: bytes

    def __init_subclass__(cls) -> None:
        cls.kept = {place: [] for place in ("", *_READERS)}
        cls._defaults = {}
        for name, hint in cls.__annotations__.items():
            place = getattr(hint, "__metadata__", ("",))[0]
            if name in cls.__dict__:
                cls._defaults[name] = getattr(cls, name)
                delattr(cls, name)  # a class attribute would conflict with the slot
            if place:
                setattr(cls, name, _READERS[place](len(cls.kept[place])))
            cls.kept[place].append(name)

    def __init__(self, *values: Any, **named: Any) -> None:
        given = dict(zip(type(self).__annotations__, values, strict=False)) | named
        unknown = given.keys() - type(self).__annotations__.keys()
        if unknown:
            raise TypeError(f"there is no field {min(unknown)}")
        columns = {name: [value] for name, value in (self._defaults | given).items()}
        self._set(next(_storage(self.kept, columns, {})))

    def _set(self, values: tuple[Any, ...]) -> None:
        self.id, self.parent_id, self.title, self.shared, self.links, self.numbers = values

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[Any]], alike: dict[Any, Any]) -> Iterator[Self]:
        """Build many records from the values of each field, all of one length; `alike` caches shared ones and grows."""
        new = cls.__new__
        for row in _storage(cls.kept, columns, alike):
            record = new(cls)
            record._set(row)
            yield record

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).__annotations__}

    def _replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return type(self)(**(self._fields() | changes))

    def __repr__(self) -> str:
        """All fields by name."""
        fields = (f"{name}={value!r}" for name, value in self._fields().items())
        return f"{type(self).__name__}({', '.join(fields)})"

    def __eq__(self, other: object) -> bool:
        """Whether all fields are the same."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(getattr(self, slot) == getattr(other, slot) for slot in _Compact.__slots__)

    def __hash__(self) -> int:
        return hash(self.id)


def _pack(*numbers: Any) -> bytes:
    largest = max(numbers[4:])
    return (_SMALL if largest < 2**16 else _MIDDLE if largest < 2**32 else _LARGE).pack(*numbers)


def _storage(
    kept: Mapping[str, Sequence[str]], columns: Mapping[str, Sequence[Any]], alike: dict[Any, Any]
) -> Iterator[tuple[Any, ...]]:
    """Yield the values for `_Compact._set` of each record of some columns."""
    shared_tuples = []
    for place in ("shared", "links"):
        tuples = zip(*(columns[name] for name in kept[place]), strict=True)
        shared_tuples.append([alike.setdefault(each, each) for each in tuples])
    reals = ([nan if each is None else each for each in columns[name]] for name in kept["reals"])
    numbers = map(_pack, *reals, *(columns[name] for name in kept["counts"]))
    return zip(*(columns[name] for name in kept[""]), *shared_tuples, numbers, strict=True)


class Session(_Compact):
    """One row of `sessions`, without its large columns; columns that a store lacks are None or 0."""

    __slots__ = ()

    id: str
    source: Shared[str]
    parent_id: str | None = None
    title: str | None = None
    model: Shared[str | None] = None
    cwd: Shared[str | None] = None
    """The working directory."""
    git_branch: Shared[str | None] = None
    started_at: Real = None
    ended_at: Real = None
    end_reason: Shared[str | None] = None
    last_active: Real = None
    """Time of the newest message or recorded activity, else the start."""
    branched_from: Linked[str | None] = None
    """The `_branched_from` marker of `model_config` (0.16 and later)."""
    delegate_from: Linked[str | None] = None
    """The `_delegate_from` marker (0.17 and later), `__orphaned__` where a migration guessed."""
    reset_from: Linked[str | None] = None
    """The `_reset_from` marker (0.20 and later)."""
    session_key: Linked[str | None] = None
    """Key of a chat that came through a gateway."""
    archived: Shared[bool] = False
    pinned: Shared[bool] = False
    """Protected from pruning (0.20 and later)."""
    hidden: Shared[bool] = False
    """Hidden by Hermes (0.20 and later)."""
    message_count: Count = 0
    """The stored counter: a hint, not a count of rows."""
    tool_call_count: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_tokens: Count = 0
    cache_write_tokens: Count = 0
    reasoning_tokens: Count = 0
    cost_usd: Real = None
    """Actual cost, else the estimate of Hermes."""
    busy: Shared[bool] = False
    """Whether a live turn lease or compression lock names it."""
    has_messages: Shared[bool] = True
    """Whether it has any row in `messages`."""

    @property
    def tokens(self) -> Tokens:
        """The five counts as one value."""
        return Tokens._make(_FORMATS[len(self.numbers)][0].unpack(self.numbers)[_TOKENS_AT:])


_TOKENS_AT = len(Session.kept["reals"]) + Session.kept["counts"].index("input_tokens")
"""Index of the first token count among the numbers of a session."""
