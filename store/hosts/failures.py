"""Errors of the program on a host, raised here as what they are there."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from .. import errors
from ..errors import BrowseError
from ..text import one_line
from ..wording import _
from .faults import advised, fault, refused
from .host import Host


class Failure(NamedTuple):
    """An error of the program there, as it travels."""

    kind: str
    """The name of its class."""
    sentence: str
    remedy: str


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


def raised_there(host: Host, line: bytes) -> BrowseError:
    """Return the error of the program there, with its sentence as of here."""
    try:
        said = msgspec.json.decode(line, type=Failure)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return fault(host, "host-noise", said=line[:80].decode("utf-8", "replace"))
    kind = _KINDS.get(said.kind, BrowseError)
    if kind is errors.QueryInterruptedError:
        return kind(_("The query was interrupted."))
    text = one_line(f"{said.sentence} {said.remedy}", 800).strip()
    if kind in _OF_THE_HOST:
        return refused(host, text)
    sentence, remedy = advised(host, text)
    return kind(f"{host.name}: {sentence}", remedy=remedy)
