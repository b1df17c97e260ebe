"""Read a preview of a conversation without a title: the first real text of the user.

Hermes shows the first user row unchanged: often a compaction summary, a rewound question, or nothing if the message
begins with an image. This preview is decoded, skips summaries and hidden rows, and falls back to any readable text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..connection.reader import Reader, Row
from ..connection.schema import Schema
from ..connection.stored_values import as_flag
from ..sessions.models import Conversation
from ..sessions.session import Session
from ..text import as_text, one_line
from .chat_message import State
from .decode import SENTINEL, decode_content, is_hidden, split_summary, state_of, without_injections
from .transcript import count_rows

PREVIEW_LIMIT = 200
"""Maximum code points."""

_HEAD = 4000  # code points read of a row, which may hold megabytes
_FIRST_ROWS = 8
_OPENING_ROWS = 3
_TOGETHER = 100  # conversations whose first rows are read in one statement
_PREAMBLES = ("[IMPORTANT", "[SYSTEM")


def _without_preamble(text: str) -> str:
    """Remove the bracketed instruction that Hermes puts before the prompt of a cron job or a skill."""
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
    # SQLite cuts plain text; substr() stops at the NUL of multimodal content, so that is read completely.
    content = (
        f"CASE WHEN typeof(m.content) = 'text' AND substr(m.content, 1, 1) <> '' THEN substr(m.content, 1, {_HEAD}) "
        "ELSE m.content END"
    )
    return (
        f"{content}, {schema.message('role')}, {schema.message('display_kind')}, "
        f"{schema.message('display_metadata')}, {schema.message('_compressed_summary')}, "
        f"{schema.active()}, {schema.compacted()}"
    )


def _decode(row: Row) -> tuple[str, bool] | None:
    """Return the readable text of a row of `_columns`, and whether it was rewound; None without such text."""
    value, role, kind, metadata, flagged, active, compacted = row
    if is_hidden(as_text(role) or "", as_text(kind), metadata):
        return None
    if as_flag(flagged) and not all(split_summary(decode_content(value)[0])):
        return None  # only a summary (0.22)
    text = _readable(value)
    return (text, state_of(active, compacted) is State.REWOUND) if text else None


def _first_text(
    reader: Reader, session: Session, condition: str, limit: int, among: int | None
) -> tuple[str, bool] | None:
    """Return the first readable text of rows that meet a condition, and whether it was rewound.

    A text that was not rewound comes first. At most `limit` rows are read, of the first `among` rows of the session.
    """
    # Older stores have no index by session and id. The subquery gets the first ids from the index by session alone;
    # otherwise SQLite would read thousands of rows for the first few, for each line of the list.
    first = "SELECT i.id FROM messages i WHERE i.session_id = ?"
    if among is not None:
        first += f" ORDER BY i.id LIMIT {among}"
    rows = reader.rows(
        f"SELECT {_columns(reader.schema)} "
        f"FROM messages m WHERE m.id IN ({first}) AND m.content IS NOT NULL AND {condition} ORDER BY m.id LIMIT ?",
        [session.id, limit],
    )
    rewound: tuple[str, bool] | None = None
    for row in rows:
        text = _decode(row)
        if text is not None and not text[1]:
            return text
        rewound = rewound or text
    return rewound


def read_preview(reader: Reader, segments: Sequence[Session]) -> str:
    """Return the first real user text of a conversation on one line, printable; not empty if there is any text."""
    if "content" not in reader.schema.message_columns:
        return ""
    roles = "role" in reader.schema.message_columns
    for condition in ("m.role = 'user'", "m.role = 'assistant'", "1") if roles else ("1",):
        for limit, among in ((_FIRST_ROWS, 5 * _FIRST_ROWS), (10 * _FIRST_ROWS, None)):
            rewound_text = ""
            for session in segments:
                if session.has_messages and (found := _first_text(reader, session, condition, limit, among)):
                    text, is_rewound = found
                    if not is_rewound:
                        return text
                    rewound_text = rewound_text or text
            if rewound_text:
                return rewound_text
    return ""


def _opening_words(reader: Reader, chains: Mapping[str, Sequence[Session]]) -> dict[str, str]:
    """Return previews by key, from the first rows of all chains, read together in a few statements.

    Nearly every session begins with a text of the user, or with a note of Hermes before it. Others are left out:
    `read_preview` searches further.
    """
    if not {"content", "role"} <= reader.schema.message_columns:
        return {}
    waiting = {}
    for key, segments in chains.items():
        first = next((segment.id for segment in segments if segment.has_messages), None)
        if first is not None:
            waiting[first] = key
    previews: dict[str, str] = {}
    seen: list[object] = []
    for _ in range(_OPENING_ROWS):
        if not waiting:
            break
        marks = ",".join("?" * len(seen))
        rows = reader.rows_in(
            f"SELECT m.id, m.session_id, m.content IS NOT NULL AND m.role = 'user', {_columns(reader.schema)} "
            f"FROM messages m WHERE m.id IN (SELECT min(i.id) FROM messages i WHERE i.id NOT IN ({marks}) "
            "AND i.session_id IN ({keys}) GROUP BY i.session_id)",
            list(waiting),
            seen,
        )
        for message_id, session_id, is_user, *row in rows:
            seen.append(message_id)
            text = _decode(tuple(row)) if is_user else None
            if text is not None and not text[1] and session_id in waiting:
                previews[waiting.pop(str(session_id))] = text[0]
    return previews


def read_previews(reader: Reader, chains: Mapping[str, Sequence[Session]]) -> dict[str, str]:
    """Return the preview of each chain of segments by its key, empty where no row is readable.

    A statement or two per hundred chains; `read_preview` reads those that do not begin with a text of the user.
    """
    previews: dict[str, str] = {}
    keys = list(chains)
    for start in range(0, len(keys), _TOGETHER):
        previews |= _opening_words(reader, {key: chains[key] for key in keys[start : start + _TOGETHER]})
    return {key: previews.get(key) or read_preview(reader, chains[key]) for key in keys}


def with_names(reader: Reader, conversations: Sequence[Conversation]) -> list[Conversation]:
    """Add a preview to the conversations without a title; a statement or two per hundred of them."""
    previews = read_previews(reader, {each.root_id: each.segments for each in conversations if not each.title})
    return [each if each.title else each._replace(preview=previews[each.root_id]) for each in conversations]


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
