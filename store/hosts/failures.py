"""Errors of the program on a host, raised here as what they are there."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

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
    """The name of its class, or of one of `errors.py` that it is derived from."""
    sentence: str
    remedy: str
    advice: errors.Advice = errors.Advice.NONE
    exit_code: Literal[1, 2, 3, 4, 5, 130] = 1


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


def failure_of(error: BrowseError) -> Failure:
    """Return an error as it travels."""
    kind = next(kind for kind in type(error).__mro__ if kind in _KINDS.values())
    code: Any = error.exit_code
    return Failure(kind.__name__, error.sentence, error.remedy, error.advice, code)


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
        error: BrowseError = refused(host, text)
    else:
        sentence, remedy = advised(host, text)
        error = kind(f"{host.name}: {sentence}", remedy=remedy, advice=said.advice)
    error.exit_code = said.exit_code
    return error
