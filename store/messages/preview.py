"""Read a preview of a conversation without a title: the first real text of the user.

Hermes shows the first user row unchanged: often a compaction summary, a rewound question, or
nothing if the message begins with an image. This preview is decoded, skips summaries and hidden
rows, and falls back to any readable text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from ..connection.reader import Reader, Row
from ..connection.schema import Schema
from ..connection.stored_values import as_flag
from ..errors import ValueTooLongError
from ..sessions.models import Conversation
from ..sessions.session import Session
from ..text import as_text, one_line
from .chat_message import State
from .decode import SENTINEL, decode_content, is_hidden, state_of
from .summaries import split_summary, without_injections
from .transcript import count_rows

PREVIEW_LIMIT = 200
"""Maximum code points."""

_HEAD = 4000  # code points read of a row, which may hold megabytes
_OPENING_ROWS = 3
_FIRST_ROWS = 40
"""Rows of a session among which a text is looked for: first in few of them, then in more."""
_TOGETHER = 100  # sessions whose first rows are read in one statement
_PREAMBLES = ("[IMPORTANT", "[SYSTEM")


def _without_preamble(text: str) -> str:
    """Remove the bracketed instruction that Hermes puts before the prompt of a cron job or a
    skill."""
    text = text.lstrip()
    if not text.upper().startswith(_PREAMBLES):
        return text
    depth = 0
    for index, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if depth == 0:
            return text[index + 1 :].strip()
    return text


def _readable(content: object) -> str:
    text, parts = decode_content(content)
    text = text.removeprefix(SENTINEL)  # broken multimodal JSON is better than nothing
    said = split_summary(without_injections(text))[1]
    text = " ".join(part.text for part in parts if part.kind == "text") or said
    return one_line(_without_preamble(text) or text, PREVIEW_LIMIT)


def _columns(schema: Schema) -> str:
    """Return SQL for the columns of a row `m` that `_decode` needs."""
    # SQLite cuts plain text; substr() stops at the NUL of multimodal content, so that is read
    # completely.
    content = (
        "CASE WHEN typeof(m.content) = 'text' AND substr(m.content, 1, 1) <> '' "
        f"THEN substr(m.content, 1, {_HEAD}) ELSE m.content END"
    )
    return (
        f"{content}, {schema.message('role')}, {schema.message('display_kind')}, "
        f"{schema.message('display_metadata')}, {schema.message('_compressed_summary')}, "
        f"{schema.active()}, {schema.compacted()}"
    )


def _decode(row: Row) -> tuple[str, bool] | None:
    """Return the readable text of a row of `_columns`, and whether it was rewound; None without
    such text."""
    value, role, kind, metadata, flagged, active, compacted = row
    if is_hidden(as_text(role) or "", as_text(kind), metadata):
        return None
    if as_flag(flagged) and not all(split_summary(decode_content(value)[0])):
        return None  # only a summary (0.22)
    text = _readable(value)
    return (text, state_of(active, compacted) is State.REWOUND) if text else None


def _rows(reader: Reader, statement: str, session_ids: Sequence[str]) -> list[Row]:
    """Read rows of sessions; none of a session that has one too long to be sent."""
    try:
        return reader.rows_in(statement, session_ids)
    except ValueTooLongError:
        if len(session_ids) == 1:
            return []
    half = len(session_ids) // 2
    return [
        *_rows(reader, statement, session_ids[:half]),
        *_rows(reader, statement, session_ids[half:]),
    ]


def _first_texts(
    reader: Reader, session_ids: Sequence[str], condition: str, among: int
) -> dict[str, tuple[str, bool]]:
    """Return the first readable text of each session and whether it was rewound; one that was not
    comes first.

    Only rows that meet a condition count, of the first `among` rows of each session. Sessions
    without one are left out.
    """
    # The subquery is answered from an index, so that only the first rows are read themselves. A
    # window function would number all rows of a session: eight times slower with 100,000 messages
    # (SQLite 3.40).
    statement = (
        f"SELECT m.session_id, {_columns(reader.schema)} FROM sessions s JOIN messages m ON m.id IN ("
        f"SELECT i.id FROM messages i WHERE i.session_id = s.id ORDER BY i.id LIMIT {among}"
        f") WHERE s.id IN ({{keys}}) AND m.content IS NOT NULL AND {condition} ORDER BY m.id"
    )
    found: dict[str, tuple[str, bool]] = {}
    for start in range(0, len(session_ids), _TOGETHER):
        for session_id, *row in _rows(reader, statement, session_ids[start : start + _TOGETHER]):
            key = as_text(session_id) or ""
            known = found.get(key)
            if known is not None and not known[1]:
                continue
            text = _decode(tuple(row))
            if text is not None and (known is None or not text[1]):
                found[key] = text
    return found


def read_previews(reader: Reader, chains: Mapping[str, Sequence[Session]]) -> dict[str, str]:
    """Return the preview of each chain of segments by its key, empty where no row is readable.

    It is the first real user text on one line, printable; without one that of the assistant,
    without that any text. Nearly every session begins with a text of the user, so most chains need
    only the first statement.
    """
    previews = dict.fromkeys(chains, "")
    columns = reader.schema.message_columns
    if "content" not in columns:
        return previews
    user, assistant = (
        ("m.role = 'user'", "m.role = 'assistant'") if "role" in columns else ("1", "1")
    )
    steps = (
        (user, _OPENING_ROWS),
        (user, _FIRST_ROWS),
        (assistant, _FIRST_ROWS),
        ("1", _FIRST_ROWS),
    )
    for condition, among in steps:
        waiting = {
            key: [segment.id for segment in segments if segment.has_messages]
            for key, segments in chains.items()
            if not previews[key]
        }
        if among == _OPENING_ROWS:
            waiting = {key: ids[:1] for key, ids in waiting.items()}
        texts = _first_texts(
            reader, [each for ids in waiting.values() for each in ids], condition, among
        )
        for key, ids in waiting.items():
            candidates = [texts[each] for each in ids if each in texts]
            if among == _OPENING_ROWS:
                candidates = [each for each in candidates if not each[1]]
            if candidates:
                previews[key] = min(candidates, key=itemgetter(1))[0]
    return previews


def read_preview(reader: Reader, segments: Sequence[Session]) -> str:
    """Return the preview of one conversation; see `read_previews`."""
    return read_previews(reader, {"": segments})[""]


def with_names(reader: Reader, conversations: Sequence[Conversation]) -> list[Conversation]:
    """Add a preview to the conversations without a title; a statement or two per hundred of
    them."""
    previews = read_previews(
        reader, {each.root_id: each.segments for each in conversations if not each.title}
    )
    return [
        each if each.title else each._replace(preview=previews[each.root_id])
        for each in conversations
    ]


def with_details(reader: Reader, conversations: Sequence[Conversation]) -> list[Conversation]:
    """Add preview and row count to the conversations of a page."""
    counts = count_rows(reader, [segment.id for each in conversations for segment in each.segments])
    previews = read_previews(reader, {each.root_id: each.segments for each in conversations})
    return [
        each._replace(
            preview=previews[each.root_id],
            rows=sum(counts.get(segment.id, 0) for segment in each.segments),
        )
        for each in conversations
    ]
