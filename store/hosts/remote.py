"""A store on a host: a `Store` whose statements are answered there, read-only, each fetched
whole."""

from __future__ import annotations

import base64
import itertools
import re
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from ..connection.connect import Fingerprint, Store
from ..connection.reader import DATA_VERSION, Reader, Row, translate
from ..connection.stored_values import Json
from ..errors import QueryInterruptedError, ValueTooLongError
from ..hermes.homes import DEFAULT_PROFILE, Location
from ..text import one_line
from .faults import fault, refused
from .link import Link, Links

_CHANNELS = itertools.count(1)
_FRESH_SECONDS = 0.5
"""How long the version in an answer counts as the current one; less than the file is looked at for
changes."""
_SETTING = re.compile(r"PRAGMA \w+ ?= ?\w+$")


def encode_value(value: object) -> object:
    """Return a value of SQLite as JSON has it: bytes as an object with their Base64."""
    return {"b64": base64.b64encode(value).decode("ascii")} if isinstance(value, bytes) else value


def decode_value(value: object) -> object:
    """Return the value that `encode_value` was given; ValueError if it is none."""
    if isinstance(value, dict) and isinstance(text := value.get("b64"), str):
        return base64.b64decode(text, validate=True)
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError(value)


class _FetchedRows(list[Row]):
    """The rows of a statement, as a cursor has them."""

    def fetchall(self) -> list[Row]:
        return self

    def fetchone(self) -> Row | None:
        return self[0] if self else None


def _sqlite_error(said: str, code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(one_line(said, 400))
    error.sqlite_errorcode = code
    return error


class RemoteConnection:
    """What `Reader` needs of a connection of sqlite3, answered by a host."""

    def __init__(self, link: Link) -> None:
        self._link, self._running, self._channel = link, 0, next(_CHANNELS)
        self._version, self._answered = "", float("-inf")

    def execute(
        self, sql: str, parameters: Sequence[object] | dict[str, object] = ()
    ) -> _FetchedRows:
        """Run a statement there.

        Raises:
            sqlite3.Error: What SQLite said there, with its `sqlite_errorcode`.
            HostError: The host did not answer.
        """
        if sql == DATA_VERSION and time.monotonic() - self._answered < _FRESH_SECONDS:
            return _FetchedRows([(self._version,)])  # each answer has it: it need not be asked for
        if isinstance(parameters, dict):
            values: object = {name: encode_value(value) for name, value in parameters.items()}
        else:
            values = [encode_value(value) for value in parameters]
        question: Json = {"channel": self._channel, "sql": sql, "values": values}
        if _SETTING.match(sql):
            self._link.tell(
                question
            )  # the next statement comes after it, so nobody waits for its answer
            return _FetchedRows()
        self._running = self._link.send(question)
        try:
            answer = self._link.answer_of(self._running)
        except QueryInterruptedError as interrupted:
            raise _sqlite_error(str(interrupted), sqlite3.SQLITE_INTERRUPT) from interrupted
        if isinstance(said := answer.get("refused"), str):
            error = refused(self._link.host, said)
            if answer.get("code") == sqlite3.SQLITE_TOOBIG:
                raise ValueTooLongError(error.sentence) from error
            raise error
        if isinstance(said := answer.get("error"), str):
            code = answer.get("code")
            raise _sqlite_error(said, code if isinstance(code, int) else sqlite3.SQLITE_ERROR)
        self._version, self._answered = str(answer.get("version")), time.monotonic()
        if sql == DATA_VERSION:
            return _FetchedRows([(self._version,)])
        rows = answer.get("rows")
        try:
            if not isinstance(rows, list) or not all(
                isinstance(row, list) and len(row) == len(rows[0]) for row in rows
            ):
                raise ValueError(rows)
            return _FetchedRows(tuple(map(decode_value, row)) for row in rows)
        except (ValueError, TypeError):
            raise fault(self._link.host, "host-noise", said=str(answer)[:80]) from None

    def interrupt(self) -> None:
        """Interrupt the running statement, from any thread."""
        self._link.cancel(self._running)

    def close(self) -> None:
        """Close the store there; without a connection it is closed already."""
        self._link.tell({"close": self._channel})


class RemoteStore(Store):
    """The store of a host, through its open connection.

    Args:
        path: A name for the screen, such as `vps:/home/me/.hermes/state.db`; no file of this
            machine.
    """

    def __init__(self, link: Link, path: Path) -> None:
        super().__init__(path)
        self.link = link

    @property
    def is_elsewhere(self) -> bool:
        """True: its own hermes-browse writes to it."""
        return True

    def fingerprint(self) -> Fingerprint:
        """Return what the host said last; it says so when the store changes. Nothing while it is
        away."""
        if self.link.error is None:
            return self.link.fingerprint
        self.link.try_again()
        return ()

    def sizes(self) -> tuple[int, int]:
        """Return the bytes of the database and its log, as of the last change; zeros before the
        first answer."""
        mark = self.link.fingerprint
        return (mark[3], mark[7]) if len(mark) == 8 else (0, 0)

    def check(self) -> None:
        """Connect. HostError if the host cannot be reached."""
        self.link.open()

    def open(self) -> Reader:
        """Return a reader whose statements run there; StoreError if the host is away or cannot read
        its store."""
        self.check()
        connection: sqlite3.Connection = RemoteConnection(self.link)  # type: ignore[assignment]  # what Reader uses of it
        mark = self.link.fingerprint
        shared = self._shared_of((mark[0], mark[1]) if mark else (0, 0))
        try:
            return Reader(connection, self.path, self._schema(connection, shared), shared=shared)
        except sqlite3.Error as error:
            raise translate(error, self.path) from error
        except (
            TypeError,
            ValueError,
            IndexError,
        ) as error:  # rows that no SQLite has for these statements
            raise fault(self.link.host, "host-noise", said=str(error)) from error


def locate_there(link: Link) -> Location:
    """Return the location of the store on a host, as it says itself. HostError if it cannot be
    reached."""
    host, hello = link.host, link.open()
    label = (
        f"{host.name} · {hello.profile}"
        if hello.profile not in ("", DEFAULT_PROFILE)
        else host.name
    )
    return Location(
        Path(f"{host.name}:{hello.path}"), profile=hello.profile or None, label=label, host=host
    )


def open_store(location: Location, links: Links) -> Store:
    """Return the store at a location, on this machine or another."""
    if location.host is None:
        return Store(location.path)
    return RemoteStore(links.of(location.host), location.path)
