"""The calls of the façade as lines of JSON: typed by their annotations, on both sides.

An argument or an answer that is not of its type is refused. A query travels as its text, and is
read there; a catalog and known sizes do not travel: the other side has its own.
"""

from __future__ import annotations

import inspect
import re
import threading
import time
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_type_hints

import msgspec

from .. import errors
from ..call import CALLS
from ..cleanup.bulk import CleanedUp as CleanedUp
from ..cleanup.bulk import Step as Step
from ..cleanup.selection import Selection, parse_line
from ..cleanup.sizes import FileSpace as FileSpace
from ..cleanup.sizes import Sizes as Sizes
from ..cleanup.sizes import SpaceMap as SpaceMap
from ..compression.model_context import Memory as Memory
from ..compression.model_context import ModelContext as ModelContext
from ..connection.stored_values import write_json
from ..edit.delete import Deleted as Deleted
from ..edit.delete_plan import Expected as Expected
from ..edit.flags import Change as Change
from ..edit.restore import Restored as Restored
from ..errors import BrowseError
from ..insights.facts import Facts
from ..messages.transcript import Outline
from ..search.query import Query, parse
from ..sessions.catalog import Catalog
from ..sessions.models import Conversation, Session
from ..sessions.session_rows import SessionsPortion
from ..text import one_line
from ..trash.shelf import Bundle as Bundle
from ..wording import _
from .host import Host, HostError

T = TypeVar("T")
Arguments = Mapping[str, Any]
"""Of a call, by name; or types by name."""
PROTOCOL = 15
"""Changes with the types that travel; both sides must have the same."""
STRINGS = 400_000
"""Most texts in an answer: a line of many short ones takes far more memory than its bytes."""
ITEMS = 2_000_000
"""Most values in an answer, likewise; a hundred thousand sessions for insights have 1.6 million."""
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""A text; also one without an end, behind which nothing is looked at twice."""
_STAYS = ("catalog", "known", "stopped")
"""Arguments of which each side has its own: the sessions, known sizes, and a function that says
whether to end with what is done."""
REPORTS = ("tell", "portion")
"""Arguments that are functions, called with what is done so far; it travels by their names."""
_SENT_AS: Mapping[object, object] = {
    Query: str,
    Query | str: str,
    Selection: tuple[str, frozenset[str]],
}
"""Types of arguments that do not travel as themselves: their text, which the other side parses; a
selection has marked ids as well."""


class Signature(NamedTuple):
    """The types of a call."""

    parameters: Arguments
    """Those that travel."""
    not_sent: tuple[str, ...]
    """Those of `_STAYS`."""
    reports: Arguments
    """Those of `REPORTS`, and the type of what is done so far."""
    answer: object
    is_write: bool
    """Whether it changes the store."""


@cache
def signature(name: str) -> Signature:
    """Return the types of a call; KeyError if there is none."""
    call = CALLS[name]
    function = inspect.unwrap(call.function)
    # A module of calls may import types for its annotations alone; this one has them all.
    types = get_type_hints(function, globals() | function.__globals__)
    names = [*inspect.signature(function).parameters][call.leading_count :]
    return Signature(
        {name: types[name] for name in names if name not in (*_STAYS, *REPORTS)},
        tuple(each for each in _STAYS if each in types),
        {each: get_args(types[each])[0][0] for each in REPORTS if each in types},
        types["return"],
        call.is_write,
    )


def _encode_hook(value: object) -> object:
    if isinstance(value, BrowseError):
        kind = next(kind for kind in type(value).__mro__ if kind in _KINDS.values())
        code: Any = value.exit_code
        return Failure(kind.__name__, value.sentence, value.remedy, value.advice, code)
    if isinstance(value, Catalog):
        return [*value.sessions.values()], value.now, value.exact
    if isinstance(value, Facts):
        return value.dump()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value).__name__)


_learning = threading.Lock()
"""Held while msgspec looks at a type, for the first time perhaps: another thread that meets the same
class meanwhile crashes the process (0.22)."""


def _convert(value: object, kind: type[T]) -> T:
    with _learning:
        return msgspec.convert(value, kind)


def _decode_hook(kind: type, value: object) -> object:
    if kind is Catalog:
        sessions, now, exact = _convert(value, tuple[list[Session], float, bool])
        return Catalog(sessions, now, exact=exact)
    if kind is Facts:
        tables = _convert(value, dict[str, list[list[str | int | float | None]]])
        return Facts.load(tables, Catalog(()))
    if kind is BrowseError:
        failure = _convert(value, Failure)
        error = _KINDS.get(failure.kind, BrowseError)(
            failure.sentence, remedy=failure.remedy, advice=failure.advice
        )
        error.is_unchanged = False  # its sentence says so already
        error.exit_code = failure.exit_code
        return error
    if kind is Path:
        return Path(str(value))
    if kind is object:  # a value as it is stored
        return value
    raise NotImplementedError(kind.__name__)


def encode(value: object) -> bytes:
    """Return a value as JSON on one line; a lone surrogate in a text becomes `?`."""
    try:
        return msgspec.json.encode(value, enc_hook=_encode_hook)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=_encode_hook)
        return write_json(plain).encode("utf-8", "replace")


@cache
def _decoder(kind: object) -> msgspec.json.Decoder[object]:
    with _learning:
        return msgspec.json.Decoder(kind, dec_hook=_decode_hook)


def is_too_much(raw: bytes) -> bool:
    """Whether JSON has more values or texts than anyone would send."""
    has_many_texts = raw.count(b'"') - raw.count(b'\\"') > 2 * STRINGS
    return has_many_texts or (
        _count_items(raw) > ITEMS and _count_items(_TEXT.sub(b"", raw)) > ITEMS
    )


def _count_items(raw: bytes) -> int:
    return sum(map(raw.count, (b",", b"[", b"{")))


def decode(line: bytes | msgspec.Raw, kind: object) -> Any:
    """Return a value of a type. ValueError if it is none, or more than anyone would send."""
    raw = bytes(line)
    if is_too_much(raw):
        raise ValueError(len(raw))
    try:
        value = _decoder(kind).decode(raw)
        if _is_sound(value):
            return value
    except (msgspec.DecodeError, RecursionError, OverflowError) as error:
        raise ValueError(str(error)) from error
    raise ValueError("a conversation without a session, a message of none, or an empty portion")


def _is_sound(value: object) -> bool:
    """Whether every conversation in an answer has a session, every message is of one, and a
    portion that is not the last has some."""
    if isinstance(value, Session | str):
        return True
    if isinstance(value, Conversation):
        return bool(value.segments)
    if isinstance(value, SessionsPortion):
        return bool(value.sessions) or value.last is None
    if isinstance(value, Outline):
        return all(0 <= row.segment < len(value.session_ids) for row in value.rows)
    parts = value.values() if isinstance(value, dict) else value
    return not isinstance(parts, Iterable) or all(map(_is_sound, parts))


def sent(name: str, values: Arguments) -> bytes:
    """Return the arguments of a call that travel, as JSON."""
    parameters = signature(name).parameters
    return encode({each: _sent(value) for each, value in values.items() if each in parameters})


def _sent(value: object) -> object:
    if isinstance(value, Selection):
        return value.query.text, value.marks
    return value.text if isinstance(value, Query) else value


def received(name: str, raw: msgspec.Raw) -> dict[str, object]:
    """Return the arguments of a call.

    Raises:
        ValueError: One is unknown, or not of its type.
    """
    types = signature(name).parameters
    given = decode(raw, dict[str, msgspec.Raw])
    unknown = given.keys() - types.keys()
    if unknown:
        raise ValueError(f"unknown field `{min(unknown)}`")
    return {each: _received(types[each], value) for each, value in given.items()}


def _received(kind: object, raw: msgspec.Raw) -> object:
    value = decode(raw, _SENT_AS.get(kind, kind))
    if kind is Selection:
        line, marks = value
        return Selection(parse_line(line, time.time()), marks)
    return parse(value, now=time.time()) if _SENT_AS.get(kind) is str else value


class Failure(NamedTuple):
    """An error of the program there, as it travels."""

    kind: str
    """The name of its class, or of one of `errors.py` that it is derived from."""
    sentence: str
    remedy: str
    advice: errors.Advice
    exit_code: Literal[1, 2, 3, 4, 5, 130]


_KINDS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, BrowseError)
}
_NO_STORE = (errors.StoreMissingError, errors.StoreEmptyError, errors.NotAStoreError)
_OF_THE_HOST = {*_NO_STORE, BrowseError, errors.StoreError, errors.StoreUnreadableError}
"""Errors that keep a host from being read at all."""


def error_there(host: Host, error: BrowseError) -> BrowseError:
    """Return an error of the program there with its sentence as of here, which says by itself what
    was changed."""
    kind = type(error)
    sentence = host.advice(one_line(error.sentence, 800))
    remedy = host.advice(one_line(error.remedy, 800))
    if kind in _NO_STORE:
        remedy = _(
            'If its store is elsewhere there, name the root as `home` of this host: home = "/path".'
        )
    here: BrowseError = HostError(host, "host-refused", said=sentence, remedy=remedy)
    if kind not in _OF_THE_HOST:
        here = kind(f"{host.name}: {sentence}", remedy=remedy, advice=error.advice)
    here.is_unchanged, here.exit_code = False, error.exit_code
    return here


# What the program there says without being asked


class Hello(msgspec.Struct, frozen=True):
    """What the program on a host says first."""

    version: str = ""
    path: str = ""
    """The store there."""
    profile: str = ""
    """Its profile in Hermes; empty for none."""
    protocol: int = 0
    """As of `PROTOCOL`."""
    rights: tuple[str, ...] = ()
    """What may be asked for: `read`, and `change` where the machine allows changes."""


class Unasked(msgspec.Struct):
    """A line that belongs to no question."""

    hello: Hello | None = None
    fingerprint: tuple[int, int, int, int, int, int, int, int] | None = None
