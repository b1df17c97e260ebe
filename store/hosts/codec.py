"""The calls of the façade as lines of JSON: typed by their annotations, on both sides.

An argument or an answer that is not of its type is refused. A query travels as its text, and is
read there; a catalog and known sizes do not travel: the other side has its own.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, get_type_hints

import msgspec

from .. import api
from ..cleanup.plan import Plan, Planned
from ..cleanup.retention import RetentionRules
from ..cleanup.selection import Selection, parse_line
from ..cleanup.sizes import Sizes
from ..cleanup.space_map import FileSpace, SpaceMap
from ..compression.compactions import Compaction, CompactionHistory
from ..compression.losses import Losses
from ..compression.model_context import Memory, ModelContext
from ..connection.reader import Reader
from ..export.source import StoredRows, StoredSession
from ..hermes.health import StoreSummary
from ..hermes.index_health import SearchHealth
from ..hermes.resume_command import Caution, ResumePlan
from ..insights.facts import Facts
from ..legacy.transcript_files import Count
from ..messages.details import Details
from ..messages.recap import RecapLine
from ..messages.transcript import Outline
from ..search.coverage import Coverage
from ..search.engine import Total
from ..search.filters import Vocabulary
from ..search.found import Found, Suggestion
from ..search.query import Query, parse
from ..sessions.catalog import Catalog, StoreChanges, StoreState
from ..sessions.conversations import Forest
from ..sessions.models import Conversation, Lineage
from ..sessions.session import Session
from ..sessions.session_rows import SessionsPortion

PROTOCOL = 3
"""Changes with the types that travel; both sides must have the same."""
_TYPES = {
    each.__name__: each
    for each in (
        *(
            Plan,
            Planned,
            RetentionRules,
            Selection,
            Sizes,
            FileSpace,
            SpaceMap,
            Compaction,
            CompactionHistory,
        ),
        *(Losses, Memory, ModelContext, Reader, StoredRows, StoredSession, StoreSummary),
        *(SearchHealth, Caution, ResumePlan, Facts, Count, Details, RecapLine, Outline),
        *(Coverage, Total, Vocabulary, Found, Query, Suggestion, Catalog, SessionsPortion),
        *(StoreChanges, StoreState, Lineage, Path),
    )
}
_STAYS = {Catalog, Catalog | None, MutableMapping[str, Sizes] | None}
"""Types of arguments of which each side has its own."""
CALLBACKS = ("stopped", "tell", "portion")
"""Arguments that are functions: whether to stop, and what to call with what is done so far."""
STRINGS = 400_000
"""Most texts in an answer: a line of many short ones takes far more memory than its bytes."""

LONG = {
    "messages",
    "raw_message",
    "system_prompt",
    "image",
    "stored_session",
    "stored_messages",
}
"""Calls whose answers hold whole texts; such an answer may come in windows."""
WINDOW = 8_000_000
"""Characters of an answer in a window: as a JSON text they take at most 32 MB."""


class _Arguments(msgspec.Struct):
    """The arguments on a line of a caller."""

    given: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict, name="with")


class Failure(NamedTuple):
    """An error of the other side."""

    kind: str
    sentence: str
    remedy: str


class SentSelection(NamedTuple):
    """A `Selection` as it travels."""

    text: str
    marks: frozenset[str]


class SentCatalog(NamedTuple):
    """A `Catalog` as it travels."""

    sessions: list[Session]
    now: float
    exact: bool


class Signature(NamedTuple):
    """The types of a call."""

    parameters: Mapping[str, object]
    """Those that travel."""
    queries: frozenset[str]
    """Of these, those that are parsed there."""
    needs: frozenset[str]
    """Of these, those without a default."""
    own: Mapping[str, object]
    """Those of which each side has its own."""
    callbacks: tuple[str, ...]
    answer: object
    portion: object
    """What the argument `portion` is called with; None for a call without one."""


def _travels(kind: object) -> object:
    if kind == Query or kind == Query | str:
        return str
    return SentSelection if kind is Selection else kind


@cache
def signature(name: str) -> Signature:
    """Return the types of a call; KeyError if there is none."""
    method = api.CALLS[name]
    names = {**vars(api), **_TYPES}
    hints = get_type_hints(method, names)
    parameters = inspect.signature(method).parameters
    answer = hints.pop("return")
    sent = {
        each: _travels(kind)
        for each, kind in hints.items()
        if kind not in _STAYS and each not in CALLBACKS
    }
    needs = {each for each in sent if parameters[each].default is inspect.Parameter.empty}
    own = {each: kind for each, kind in hints.items() if kind in _STAYS}
    callbacks = tuple(each for each in hints if each in CALLBACKS)
    queries = frozenset(each for each, kind in hints.items() if kind in (Query, Query | str))
    return Signature(
        sent,
        queries,
        frozenset(needs),
        own,
        callbacks,
        answer,
        Found if "portion" in parameters else None,
    )


def _encode_hook(value: object) -> object:
    if isinstance(value, Catalog):
        sessions = list(value.forest.sessions.values())
        return SentCatalog(sessions, value.forest.now, value.exact)
    if isinstance(value, Facts):
        return value.dump()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value).__name__)


def _decode_hook(kind: type, value: object) -> object:
    if kind is Catalog:
        sent = msgspec.convert(value, SentCatalog)
        return Catalog(Forest(sent.sessions, sent.now), exact=sent.exact)
    if kind is Facts:
        tables = msgspec.convert(value, dict[str, list[list[str | int | float | None]]])
        return Facts.load(tables, Catalog(Forest(())))
    if kind is Path:
        return Path(str(value))
    if kind is object:  # a value as it is stored
        return value
    raise NotImplementedError(kind.__name__)


_encoder = msgspec.json.Encoder(enc_hook=_encode_hook)


def encode(value: object) -> bytes:
    """Return a value as JSON on one line; a lone surrogate in a text becomes `?`."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(_clean(msgspec.to_builtins(value, enc_hook=_encode_hook)))


def window(answer: bytes, start: int) -> bytes:
    """Return the characters of an encoded answer from `start` on, as a JSON text."""
    return encode(answer.decode()[start : start + WINDOW])


def _clean(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_clean(key): _clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    return value


@cache
def _decoder(kind: object) -> msgspec.json.Decoder[object]:
    return msgspec.json.Decoder(kind, dec_hook=_decode_hook)


def decode(line: bytes | memoryview | msgspec.Raw, kind: object) -> object:
    """Return a value of a type. ValueError if it is none, or more than anyone would send."""
    raw = bytes(line)
    if raw.count(b'"') - raw.count(b'\\"') > 2 * STRINGS:
        raise ValueError(len(raw))
    try:
        value = _decoder(kind).decode(raw)
    except (msgspec.DecodeError, RecursionError, OverflowError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error
    for conversation in _conversations(value):
        if not conversation.segments:
            raise ValueError("a conversation without a session")
    if isinstance(value, Outline) and any(
        not 0 <= row.segment < len(value.session_ids) for row in value.rows
    ):
        raise ValueError("a message of no session")
    return value


def _conversations(value: object) -> Iterable[Conversation]:
    if isinstance(value, Conversation):
        yield value
    elif isinstance(value, Found):
        yield from (*value.titles, *value.conversations.values())
    elif isinstance(value, Plan):
        yield from (each.conversation for each in value.selected)
        yield from (each.conversation for each in value.spared)
    elif isinstance(value, list) and value and isinstance(value[0], Conversation):
        yield from value


def question(line: bytes) -> object:
    """Return a line of a caller; the arguments of a call of the façade are not read yet, and None
    if they are no object."""
    try:
        asked = json.loads(line)
    except RecursionError as error:
        raise ValueError(str(error)) from error
    if isinstance(asked, dict) and "ask" in asked:
        try:
            asked["with"] = msgspec.json.decode(line, type=_Arguments).given
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            asked["with"] = None
    return asked


def bound(name: str, args: Sequence[object], named: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a call by name."""
    arguments = inspect.signature(api.CALLS[name]).bind(None, *args, **named).arguments
    del arguments["self"]
    return arguments


def sent(name: str, values: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a call that travel, as they travel."""
    types = signature(name).parameters
    return {each: _sent(value) for each, value in values.items() if each in types}


def _sent(value: object) -> object:
    if isinstance(value, Query):
        return value.text
    if isinstance(value, Selection):
        return SentSelection(value.query.text, value.marks)
    return value


def received(name: str, given: Mapping[str, msgspec.Raw], now: float) -> dict[str, object]:
    """Return the arguments of a call.

    Raises:
        ValueError: One is unknown, missing, or not of its type.
    """
    types = signature(name)
    if unknown := given.keys() - types.parameters.keys():
        raise ValueError(f"{name} has no argument {min(unknown)[:80]}")
    if missing := types.needs - given.keys():
        raise ValueError(f"{name} needs the argument {min(missing)}")
    values = {each: decode(raw, types.parameters[each]) for each, raw in given.items()}
    for each, value in values.items():
        if isinstance(value, SentSelection):
            values[each] = Selection(parse_line(value.text, now), value.marks)
        elif each in types.queries:
            values[each] = parse(str(value), now=now)
    return values
