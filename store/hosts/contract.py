"""Decode what `list --json` and `search --json` of a host printed, which is as hostile as a store.

A host may have an older or a newer version: a missing key has its default value, unknown keys are
ignored, and an unknown word of an enumeration counts as its default. A value of a wrong type or
beyond all bounds is no answer of hermes-browse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from ..connection.stored_values import Json
from ..messages.chat_message import Hit, State
from ..sessions.models import Conversation, ConversationKind, Relation, Status
from ..sessions.session import Session, Tokens
from ..text import as_text, one_line
from .faults import fault
from .link import Link, Reply
from .running import document_of

T = TypeVar("T")
ROWS = 200
"""The most conversations, or hits, that a host is asked for."""
_ANSWER = 8_000_000
"""Code points of an answer; 200 rows with long titles, snippets and paths are a tenth of that."""
_ID = 500
_TEXT = 400
"""Code points kept of a text that is shown on one line."""
_SNIPPET = 2_000
_SEGMENTS = 2_000
_COUNT = 2**63 - 1
_NOTES = 5


class Listed(NamedTuple):
    """The answer to `list`."""

    conversations: tuple[Conversation, ...]
    """With previews and counted messages."""
    total: int
    """Conversations of the store, in whichever view."""
    sessions: int
    bytes: int


class Searched(NamedTuple):
    """The answer to `search`."""

    hits: tuple[tuple[str, Hit], ...]
    """Each with the id of its conversation."""
    more: bool
    """There are more than were asked for."""
    notes: tuple[str, ...]
    """What was not searched; each printable and on one line."""


def read_list(link: Link, reply: Reply) -> Listed:
    """Decode the answer to `list --json`.

    Raises:
        BrowseError: The command failed, with its own sentence.
        HostError: It is no such answer.
    """

    def decode(document: Json) -> Listed:
        conversations = tuple(map(_conversation, _objects(document.get("conversations"))))
        store = document.get("store")
        facts = store if isinstance(store, dict) else {}
        total = _count(document.get("total")) or len(conversations)
        return Listed(
            conversations, total, _count(facts.get("sessions")) or total, _count(facts.get("bytes"))
        )

    return _decoded(link, reply, decode)


def read_search(link: Link, reply: Reply) -> Searched:
    """Decode the answer to `search --json`; errors as of `read_list`."""

    def decode(document: Json) -> Searched:
        hits = tuple(
            (_id(each, "conversation_id"), _hit(each)) for each in _objects(document.get("hits"))
        )
        total, notes = document.get("total"), document.get("notes")
        said = [each for each in notes if isinstance(each, str)] if isinstance(notes, list) else []
        more = _flag(document.get("more")) or (
            _count(total) > len(hits) if total is not None else False
        )
        return Searched(hits, more, tuple(one_line(each, 200) for each in said[:_NOTES]))

    return _decoded(link, reply, decode)


def _decoded(link: Link, reply: Reply, decode: Callable[[Json], T]) -> T:
    try:
        if len(reply.out) > _ANSWER:
            raise ValueError(len(reply.out))
        return decode(document_of(link.host, reply))
    except ValueError:
        raise fault(link.host, "host-noise", said=reply.out[:80]) from None


# Values: each returns what was meant, or raises ValueError


def _objects(value: object) -> list[Json]:
    if (
        not isinstance(value, list)
        or len(value) > ROWS
        or not all(isinstance(each, dict) for each in value)
    ):
        raise ValueError(value)
    return value


def _id(document: Json, key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= _ID:
        raise ValueError(value)
    return as_text(value) or ""


def _text(value: object, limit: int = _TEXT) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(value)
    return as_text(value[:limit])


def _real(value: object) -> float | None:
    if value is None:
        return None
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not abs(value) < 1e300
        or math.isnan(value)
    ):
        raise ValueError(value)
    return float(value)


def _count(value: object) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _COUNT:
        raise ValueError(value)
    return value


def _flag(value: object) -> bool:
    if value is not None and not isinstance(value, bool):
        raise ValueError(value)
    return bool(value)


def _word(kinds: type[T], value: object, plain: T) -> T:
    """Return a member of an enumeration; `plain` for a word that a newer version has added."""
    text = _text(value)
    return next((each for each in kinds if each == text), plain)  # type: ignore[attr-defined]


def _conversation(document: Json) -> Conversation:
    ids = document.get("segments", [document.get("root_id") or document.get("id")])
    if not isinstance(ids, list) or not 0 < len(ids) <= _SEGMENTS:
        raise ValueError(ids)
    names = [_id({"id": each}, "id") for each in ids]
    tip = _id(document, "id")
    if names[-1] != tip or names[0] != (document.get("root_id") or names[0]):
        raise ValueError(names)
    tokens = document.get("tokens")
    if tokens is not None and not isinstance(tokens, dict):
        raise ValueError(tokens)
    counts = Tokens(*(_count((tokens or {}).get(name)) for name in Tokens._fields))
    rows, status = (
        document.get("message_count"),
        _word(Status, document.get("status"), Status.ENDED),
    )
    title, last_active = _text(document.get("title")), _real(document.get("last_active"))
    source, started_at = _text(document.get("source"), 80) or "", _real(document.get("started_at"))
    archived, hidden = _flag(document.get("archived")), _flag(document.get("hidden"))
    # Sums stand in the last segment, as nobody asks for the others' parts.
    last = Session(
        tip,
        source,
        names[-2] if len(names) > 1 else None,
        title=title,
        model=_text(document.get("model")),
        cwd=_text(document.get("cwd"), 1_000),
        git_branch=_text(document.get("git_branch")),
        started_at=started_at if len(names) == 1 else None,
        ended_at=_real(document.get("ended_at")),
        end_reason=_text(document.get("end_reason")),
        last_active=last_active,
        archived=archived,
        hidden=hidden,
        pinned=_flag(document.get("pinned")),
        message_count=_count(rows),
        tool_call_count=_count(document.get("tool_call_count")),
        input_tokens=counts.input,
        output_tokens=counts.output,
        cache_read_tokens=counts.cache_read,
        cache_write_tokens=counts.cache_write,
        reasoning_tokens=counts.reasoning,
        cost_usd=_real(document.get("cost_usd")),
        has_messages=status is not Status.EMPTY,
    )
    before = [
        Session(
            each,
            source,
            parent,
            started_at=None if parent else started_at,
            archived=archived,
            hidden=hidden,
        )
        for each, parent in zip(names[:-1], [None, *names], strict=False)
    ]
    size = document.get("bytes")
    return Conversation(
        (*before, last),
        _word(Relation, document.get("relation"), Relation.ROOT),
        _word(ConversationKind, document.get("kind"), ConversationKind.CHAT),
        status,
        title,
        last_active,
        _count(document.get("branches")),
        _count(document.get("subagents")),
        _text(document.get("preview")) or "",
        None if rows is None else _count(rows),
        None if size is None else _count(size),
        _text(document.get("note")) or "",
        # Versions before 0.2 have no such key.
        _real(document.get("tree_cost_usd", document.get("cost_usd"))),
    )


def _hit(document: Json) -> Hit:
    message_id, match = document.get("message_id"), document.get("match", [])
    if isinstance(message_id, bool) or not isinstance(message_id, int) or abs(message_id) > _COUNT:
        raise ValueError(message_id)
    if not isinstance(match, list):
        raise ValueError(match)
    return Hit(
        message_id,
        _id(document, "session_id"),
        _text(document.get("role"), 80) or "",
        _real(document.get("timestamp")),
        snippet := _text(document.get("snippet"), _SNIPPET) or "",
        tuple(_ranges(match, len(snippet))),
        _word(State, document.get("state"), State.LIVE),
    )


def _ranges(match: list[object], length: int) -> list[tuple[int, int]]:
    """Return ranges of a snippet, which rise and do not overlap; those beyond where it was cut are
    left out."""
    ranges: list[tuple[int, int]] = []
    position = 0
    for each in match:
        if not isinstance(each, list) or len(each) != 2:
            raise ValueError(each)
        start, end = map(_count, each)
        if start < position or end < start:
            raise ValueError(each)
        if end > length:
            break
        ranges.append((start, end))
        position = end
    return ranges
