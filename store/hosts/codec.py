"""The calls of the façade as lines of JSON: typed by their annotations, on both sides.

An argument or an answer that is not of its type is refused. A query travels as its text, and is
read there; a catalog and known sizes do not travel: the other side has its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from ..call import CALLS
from ..cleanup.plan import Plan
from ..cleanup.retention import RetentionRules
from ..cleanup.selection import Selection, parse_line
from ..cleanup.sizes import Sizes
from ..cleanup.space_map import FileSpace, SpaceMap
from ..compression.model_context import Memory, ModelContext
from ..connection.reader import Reader
from ..edit.delete import Deleted
from ..edit.delete_plan import DeletePlan
from ..edit.flags import Change, RowChange
from ..edit.restore import Restored
from ..edit.titles import Renamed
from ..hermes.health import StoreSummary
from ..hermes.resume_command import ResumePlan
from ..insights.facts import Facts
from ..messages.transcript import Outline
from ..run.marks import RunMark
from ..run.run import Run
from ..search.found import Found, Suggestion
from ..search.hit_page import HitPage
from ..search.query import Query, parse
from ..sessions.catalog import Catalog
from ..sessions.list_page import ListPage
from ..sessions.models import Conversation, Lineage
from ..sessions.session import Session
from ..trash.shelf import Bundle

PROTOCOL = 4
"""Changes with the types that travel; both sides must have the same."""
STRINGS = 400_000
"""Most texts in an answer: a line of many short ones takes far more memory than its bytes."""
LONG = {
    *("messages", "raw_message", "system_prompt", "image", "stored_session", "stored_messages"),
    *("file_changes", "run", "prompt_before"),
}
"""Calls whose answers hold whole texts; such an answer may come in windows."""
WINDOW = 8_000_000
"""Characters of an answer in a window: as a JSON text they take at most 32 MB."""
_STAYS = (Catalog, Catalog | None, MutableMapping[str, Sizes] | None)
"""Types of arguments of which each side has its own."""
_TYPES = {
    kind.__name__: kind
    for kind in (
        *(Bundle, Catalog, Change, Deleted, DeletePlan, Facts, FileSpace, Lineage, Memory),
        *(
            ModelContext,
            Plan,
            Query,
            Reader,
            Restored,
            ResumePlan,
            RetentionRules,
            Run,
            RunMark,
            Selection,
            Sizes,
            SpaceMap,
        ),
        *(StoreSummary, Suggestion),
    )
}
"""Those that modules of calls import for their annotations alone."""


class SentSelection(NamedTuple):
    """A `Selection` as it travels."""

    text: str
    marks: frozenset[str]


class SentCatalog(NamedTuple):
    """A `Catalog` as it travels."""

    sessions: list[Session]
    now: float
    exact: bool


class SentRowChange(NamedTuple):
    """A `RowChange` as it travels."""

    session_id: str
    before: dict[str, object]
    after: dict[str, object]


class SentChange(NamedTuple):
    """A `Change` as it travels."""

    sentence: str
    rows: list[SentRowChange]

    def change(self) -> Change:
        """Return it as it is there."""
        rows: list[Any] = [RowChange._make(row) for row in self.rows]
        return Change(self.sentence, tuple(rows))


class SentRenamed(NamedTuple):
    """A `Renamed` as it travels."""

    change: SentChange
    title: str | None
    differs: bool


_SENT: Mapping[object, object] = {
    **{Query: str, Query | str: str, Selection: SentSelection},
    **{Change: SentChange, Renamed: SentRenamed},
}
"""By type: how it travels, if not as itself."""


class Signature(NamedTuple):
    """The types of a call."""

    parameters: Mapping[str, object]
    """Those that travel."""
    queries: frozenset[str]
    """Of these, those that are parsed there."""
    needs: frozenset[str]
    """Of these, those without a default."""
    own: tuple[str, ...]
    """Those of which each side has its own: a catalog, and `known` sizes."""
    stops: bool
    """Whether it takes `stopped`, a function that says whether to end with what is done."""
    reports: Mapping[str, object]
    """Functions that are called with what is done so far, and the type of that."""
    answer: object
    changes: bool
    """Whether it changes the store."""


@cache
def signature(name: str) -> Signature:
    """Return the types of a call; KeyError if there is none."""
    call = CALLS[name]
    function = inspect.unwrap(call.function)
    hints = get_type_hints(function, function.__globals__ | _TYPES)
    _first, *parameters = inspect.signature(function).parameters.values()
    answer = hints["return"]
    sent: dict[str, object] = {}
    reports: dict[str, object] = {}
    own: list[str] = []
    for parameter in parameters:
        kind = hints[parameter.name]
        if kind in _STAYS:
            own.append(parameter.name)
        elif (reported := _reported(kind)) is not None:
            reports[parameter.name] = reported
        elif parameter.name != "stopped":
            sent[parameter.name] = _SENT.get(kind, kind)
    return Signature(
        sent,
        frozenset(each for each in sent if hints[each] in (Query, Query | str)),
        frozenset(each.name for each in parameters if each.default is each.empty) & sent.keys(),
        tuple(own),
        "stopped" in hints,
        reports,
        _SENT.get(answer, answer),
        call.changes,
    )


def _reported(kind: object) -> object:
    """Return the type of what a function is called with; None for what is none, or takes
    nothing."""
    functions = [each for each in (kind, *get_args(kind)) if get_origin(each) is Callable]
    taken = get_args(functions[0])[0] if functions else ()
    return taken[0] if taken else None


def _encode_hook(value: object) -> object:
    if isinstance(value, Catalog):
        sessions = list(value.sessions.values())
        return SentCatalog(sessions, value.now, value.exact)
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
        return Catalog(sent.sessions, sent.now, exact=sent.exact)
    if kind is Facts:
        tables = msgspec.convert(value, dict[str, list[list[str | int | float | None]]])
        return Facts.load(tables, Catalog(()))
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


def _clean(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_clean(key): _clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    return value


def window(answer: bytes, start: int) -> bytes:
    """Return the characters of an encoded answer from `start` on, as a JSON text."""
    return encode(answer.decode()[start : start + WINDOW])


@cache
def _decoder(kind: object) -> msgspec.json.Decoder[object]:
    return msgspec.json.Decoder(kind, dec_hook=_decode_hook)


def decode(line: bytes | msgspec.Raw, kind: object) -> object:
    """Return a value of a type. ValueError if it is none, or more than anyone would send."""
    raw = bytes(line)
    if raw.count(b'"') - raw.count(b'\\"') > 2 * STRINGS:
        raise ValueError(len(raw))
    try:
        value = _decoder(kind).decode(raw)
    except (msgspec.DecodeError, RecursionError, OverflowError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error
    if not all(conversation.segments for conversation in _conversations(value)):
        raise ValueError("a conversation without a session")
    if isinstance(value, Outline) and not _is_sound(value):
        raise ValueError("a message of no session")
    if isinstance(value, SentRenamed):
        return Renamed(value.change.change(), value.title, value.differs)
    return value.change() if isinstance(value, SentChange) else value


def _is_sound(outline: Outline) -> bool:
    return all(0 <= row.segment < len(outline.session_ids) for row in outline.rows)


def _conversations(value: object) -> Iterable[Conversation]:
    if isinstance(value, Conversation):
        return (value,)
    if isinstance(value, ListPage):
        return value.conversations
    if isinstance(value, HitPage):
        return value.conversations.values()
    if isinstance(value, Found):
        return (*value.titles, *value.conversations.values())
    if isinstance(value, Plan):
        selected = [each.conversation for each in value.selected]
        return [*selected, *(each.conversation for each in value.spared)]
    if isinstance(value, tuple) and value and isinstance(value[0], Run):
        return (value[0].conversation, *value[0].subagents)
    if isinstance(value, list) and value and isinstance(value[0], Conversation):
        return value
    if isinstance(value, list) and value and isinstance(value[0], DeletePlan):
        return [plan.conversation for plan in value]
    return ()


def bound(name: str, args: Sequence[object], named: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a call by name."""
    parameters = inspect.signature(CALLS[name].function)
    _first, *arguments = parameters.bind(None, *args, **named).arguments.items()
    return dict(arguments)


def sent(name: str, values: Mapping[str, object]) -> bytes:
    """Return the arguments of a call that travel, as JSON."""
    types = signature(name).parameters
    return encode({each: _sent(value) for each, value in values.items() if each in types})


def _sent(value: object) -> object:
    if isinstance(value, Query):
        return value.text
    if isinstance(value, Selection):
        return SentSelection(value.query.text, value.marks)
    return value


def received(name: str, given: msgspec.Raw, now: float) -> dict[str, object]:
    """Return the arguments of a call.

    Raises:
        ValueError: One is unknown, missing, or not of its type.
    """
    types = signature(name)
    raw: Any = decode(given, dict[str, msgspec.Raw])
    if unknown := raw.keys() - types.parameters.keys():
        raise ValueError(f"{name} has no argument {min(unknown)[:80]}")
    if missing := types.needs - raw.keys():
        raise ValueError(f"{name} needs the argument {min(missing)}")
    values = {each: decode(part, types.parameters[each]) for each, part in raw.items()}
    for each, value in values.items():
        if isinstance(value, SentSelection):
            values[each] = Selection(parse_line(value.text, now), value.marks)
        elif each in types.queries:
            values[each] = parse(str(value), now=now)
    return values
