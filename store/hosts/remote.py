"""A store on a host: a `Store` whose calls are carried out there."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from .. import errors
from ..connection.connect import Fingerprint, Store
from ..connection.reader import Reader
from ..errors import BrowseError, QueryInterruptedError, ValueTooLongError
from ..hermes.homes import DEFAULT_PROFILE, Location
from ..text import one_line
from ..wording import _
from . import codec
from .faults import advised, fault, refused
from .link import AnswerLine, Link, Links

_LEASES = itertools.count(1)
_KINDS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, BrowseError)
}
_OF_THE_HOST = {
    *(BrowseError, errors.StoreError, errors.StoreMissingError, errors.StoreEmptyError),
    *(errors.NotAStoreError, errors.StoreUnreadableError),
}
"""Errors that keep a host from being read at all."""
_PLAIN_BYTES = 16_000_000
"""Of an answer without long texts."""
_WINDOWS = 16
"""Most windows of an answer: some 128 million characters."""


class Lease:
    """A leased connection to a store on a host; see `api.OpenStore`."""

    def __init__(self, link: Link) -> None:
        self._link, self._number, self._running = link, next(_LEASES), 0

    def call(self, name: str, args: Sequence[object], named: Mapping[str, object]) -> object:
        """Return the answer of a call; whole texts that are longer than a line come in windows.

        Raises:
            HostError: The host did not answer, or not with what was asked.
            BrowseError: What happened there.
        """
        host, values = self._link.host, codec.bound(name, args, named)
        hello = self._link.open()
        if hello.protocol != codec.PROTOCOL:
            raise fault(host, "host-version", version=hello.version)
        answer = codec.signature(name).answer
        try:
            return self._asked(name, values, answer)
        except ValueTooLongError as error:
            if name not in codec.LONG:
                raise
            return self._decoded(name, self._windows(name, values, error), answer)

    def _windows(self, name: str, values: Mapping[str, object], error: BrowseError) -> bytes:
        """Read the text of an answer window by window; the error, if it has too many."""
        text = ""
        for _number in range(_WINDOWS):
            window = self._asked(name, values, str, {"from": len(text)})
            assert isinstance(window, str)
            text += window
            if len(window) < codec.WINDOW:
                return text.encode()
        raise error

    def _asked(
        self,
        name: str,
        values: Mapping[str, object],
        answer: object,
        more: Mapping[str, object] = MappingProxyType({}),
    ) -> object:
        """Ask once, and return the answer as a value of the type `answer`."""
        types = codec.signature(name)
        question = {"lease": self._number, "ask": name, **more}
        number = self._running = self._link.send(question, codec.encode(codec.sent(name, values)))
        stopped, told = values.get("stopped"), False

        def poll() -> None:
            nonlocal told
            if callable(stopped) and not told and stopped():
                told = True
                self._link.tell({"stop": number})

        for line in self._link.lines(number, poll=poll):
            if line.kind in ("tell", "portion"):
                kind = float if line.kind == "tell" else types.portion
                report = values.get(line.kind)
                if callable(report):
                    report(self._decoded(name, line.value, kind))
            elif line.kind == "answer":
                return self._decoded(name, line.value, answer)
            elif line.kind == "error":
                raise self._error(line)
        raise self._noise(line.text)

    def _decoded(self, name: str, value: bytes | memoryview, kind: object) -> object:
        try:
            if name not in codec.LONG and len(value) > _PLAIN_BYTES:
                raise ValueError(len(value))
            return codec.decode(value, kind)
        except ValueError as error:
            raise self._noise(value) from error

    def _noise(self, said: bytes | memoryview) -> BrowseError:
        text = bytes(said[:80]).decode("utf-8", "replace")
        return fault(self._link.host, "host-noise", said=text)

    def _error(self, line: AnswerLine) -> BrowseError:
        """Return the error of the program there, with its sentence as of here."""
        host = self._link.host
        try:
            said = codec.decode(line.value, codec.Failure)
        except ValueError:
            return self._noise(line.text)
        assert isinstance(said, codec.Failure)
        kind = _KINDS.get(said.kind, BrowseError)
        if kind is QueryInterruptedError:
            return QueryInterruptedError(_("The query was interrupted."))
        text = one_line(f"{said.sentence} {said.remedy}", 800).strip()
        if kind in _OF_THE_HOST:
            return refused(host, text)
        sentence, remedy = advised(host, text)
        return kind(f"{host.name}: {sentence}", remedy=remedy, advice=said.advice)

    def begin(self) -> None:
        """Nothing to do: an interrupt ends with the call."""

    def interrupt(self) -> None:
        """Interrupt the running call, from any thread."""
        self._link.cancel(self._running)

    def close(self) -> None:
        """Close the store there; without a connection it is closed already."""
        self._link.tell({"close": self._number})


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

    def far(self) -> Lease:
        """Return a connection to the store there."""
        return Lease(self.link)

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
        """Refused: no statement is sent to another machine."""
        raise fault(
            self.link.host, "host-refused", said=_("no statement is sent to another machine")
        )


def round_trip(link: Link) -> float:
    """Measure the seconds from a question to its answer on the open connection; errors as of
    `Lease.call`."""
    lease = Lease(link)
    lease.call("state", (), {})  # opens the store
    begun = time.perf_counter()
    lease.call("state", (), {})
    return time.perf_counter() - begun


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


def store_at(location: Location, links: Links) -> Store:
    """Return the store at a location, on this machine or another."""
    if location.host is None:
        return Store(location.path)
    return RemoteStore(links.of(location.host), location.path)
