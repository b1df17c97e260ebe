"""What can be asked of a store, as methods of `OpenStore`: carried out here, or where the store is.

A call is a function whose first argument is the connection, the store or its façade. For example,
`outline = read(later.transcript.read_outline)` in `OpenStore` makes `store.outline(segments)`:

    here:       import messages/transcript.py (`later.py`); read_outline(store.reader, segments)
    elsewhere:  send `outline` and the segments (`hosts/codec.py`); the other machine calls
                `outline` of its own `OpenStore` (`hosts/serving.py`), and sends the answer back
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, cast, overload

from .connection.connect import RemoteCalls, Store
from .connection.reader import Reader, chunks
from .errors import QueryInterruptedError, ValueTooLongError
from .hermes.homes import Location
from .wording import _

P = ParamSpec("P")
T = TypeVar("T")

CALLS: dict[str, Call[..., Any]] = {}
"""By name."""


class Call(Generic[P, T]):
    """A method of `OpenStore` that the machine of the store carries out.

    Args:
        function: What does it.
        leading: The attributes of the store that are its first arguments; none for a method.
        is_write: Whether it changes the store.
    """

    def __init__(self, function: Callable[..., T], *leading: str, is_write: bool = False) -> None:
        self.function, self.is_write = function, is_write
        self._leading = leading
        self.leading_count = len(leading) or 1
        """How many of its arguments never travel: the first ones."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        CALLS[name] = self

    @overload
    def __get__(self, store: None, owner: type) -> Self: ...
    @overload
    def __get__(self, store: StoreConnection, owner: type) -> Callable[P, T]: ...
    def __get__(self, store: StoreConnection | None, owner: type) -> Self | Callable[P, T]:
        return self if store is None else partial(self, store)

    def __call__(self, store: StoreConnection, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if store.remote is None:
            first = [getattr(store, name) for name in self._leading] or [store]
            return self.function(*first, *args, **kwargs)
        store.check()
        function = getattr(self.function, "__wrapped__", self.function)
        names = function.__code__.co_varnames[self.leading_count :]
        values = dict(zip(names, args, strict=False)) | kwargs
        return cast("T", store.remote.call(self._name, values))


def read(function: Callable[Concatenate[Reader, P], T]) -> Call[P, T]:
    """Make a call of a function that reads through a connection."""
    return Call(function, "reader")


def read_at(function: Callable[Concatenate[Reader, Location, P], T]) -> Call[P, T]:
    """Make a call of a function that reads through a connection, and needs to know where the store
    is."""
    return Call(function, "reader", "location")


def write(function: Callable[Concatenate[Store, P], T]) -> Call[P, T]:
    """Make a call of a function that changes a store."""
    return Call(function, "source", is_write=True)


def read_method(method: Callable[Concatenate[Any, P], T]) -> Call[P, T]:
    """Make a call of a method that reads."""
    return Call(method)


def write_method(method: Callable[Concatenate[Any, P], T]) -> Call[P, T]:
    """Make a call of a method that changes the store."""
    return Call(method, is_write=True)


def read_in_portions(
    read: Callable[[list[int]], Sequence[T]], ids: Sequence[int], most: int
) -> Iterator[T]:
    """Yield rows by id, read at most so many at a time; fewer where an answer of another machine is
    too large."""
    for some in chunks(ids, most):
        try:
            rows = read(list(some))
        except ValueTooLongError:
            if len(some) == 1:
                raise
            yield from read_in_portions(read, some, (len(some) + 1) // 2)
        else:
            yield from rows


_NOT_OPEN = RemoteCalls()
"""Stands for a connection that is not open: nothing is to be done to it."""


class StoreConnection:
    """A connection to one store, opened by the first call that reads.

    One thread calls; any thread may `interrupt`. Reads raise StoreError if the store cannot be
    read, and QueryInterruptedError after `interrupt`.
    """

    def __init__(self, store: Store, location: Location | None = None) -> None:
        self.source = store
        """The store itself, which holds no handle."""
        self.location = location or Location(store.path)
        self.remote: RemoteCalls | None = store.remote_calls()
        """Carries out the calls, if the store is elsewhere."""
        self._reader: Reader | None = None
        self._is_interrupted = False

    @property
    def reader(self) -> Reader:
        """The read connection."""
        if self._reader is None:
            self._reader = self.source.open()
        self.check()  # after opening: an interrupt that found no connection yet is noticed here
        return self._reader

    @property
    def is_open(self) -> bool:
        """Whether it has the file open."""
        return self._connection is not _NOT_OPEN

    @property
    def _connection(self) -> RemoteCalls | Reader:
        return self.remote or self._reader or _NOT_OPEN

    def begin(self) -> None:
        """Start another piece of work: clear an interrupt or a time-out, and close a file that was
        replaced, or the old one would be read on."""
        self._is_interrupted = False
        known = self._reader
        if known is not None and known.of_file.key != self.source.fingerprint()[:2]:
            self.close()
        self._connection.begin()

    def check(self) -> None:
        """Raise QueryInterruptedError if `interrupt` was called; for work between two calls."""
        if self._is_interrupted:
            raise QueryInterruptedError(_("The query was interrupted."))

    def interrupt(self) -> None:
        """Stop the running call and those to come until `begin`, from any thread."""
        self._is_interrupted = True
        self._connection.interrupt()

    def close(self) -> None:
        """Close the file; another call opens it again."""
        connection, self._reader = self._connection, None
        connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()
