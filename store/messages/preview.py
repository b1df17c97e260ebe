"""What a conversation without a title is called: the first real thing a person said in it.

Hermes takes the first user row as it stands: often a compaction summary, a rewound question, or
nothing at all when the message begins with an image. Ours is decoded, skips summaries and hidden
rows, and falls back to anything readable before it is empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..connection.connect import Reader, Row
from ..connection.schema import Schema
from ..connection.values import as_flag
from ..sessions.models import Conversation
from ..sessions.session import Session
from ..text import as_text, one_line
from .decode import decode_content, is_hidden, split_summary, state_of, without_injections
from .models import State
from .transcript import count_rows

PREVIEW_LIMIT = 200
"""Code points kept of a preview."""

_HEAD = 4000  # a preview never needs more, and a row may hold megabytes
_FIRST_ROWS = 8
_OPENING_ROWS = 3
_TOGETHER = 100  # conversations whose first rows are asked for in one statement
_PREAMBLES = ("[IMPORTANT", "[SYSTEM")


def _without_preamble(text: str) -> str:
    """Text without the bracketed instruction Hermes puts before the prompt of a cron job or a skill."""
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
    if text.startswith("\x00json:"):
        text = text[6:]  # cut multimodal JSON: still better than nothing
    said = split_summary(without_injections(text))[1]
    spoken = " ".join(part.text for part in parts if part.kind == "text") if parts else said
    spoken = spoken or said
    line = one_line(_without_preamble(spoken) or spoken, PREVIEW_LIMIT)
    return line


def _columns(schema: Schema) -> str:
    """What `_spoken` looks at of a row `m`."""
    # Plain text is cut by SQLite; the NUL of multimodal content ends what substr() sees, so those
    # rows are fetched whole, but only when they are of a size one reads.
    content = (
        f"CASE WHEN typeof(m.content) = 'text' AND substr(m.content, 1, 1) <> '' THEN substr(m.content, 1, {_HEAD}) "
        "ELSE m.content END"
    )
    return (
        f"{content}, {schema.message('role')}, {schema.message('display_kind')}, "
        f"{schema.message('display_metadata')}, {schema.message('_compressed_summary')}, "
        f"{schema.active()}, {schema.compacted()}"
    )


def _spoken(row: Row) -> tuple[str, bool] | None:
    """The readable text of a row of `_columns`, and whether it was taken back; None where there is nothing to read."""
    value, role, kind, metadata, flagged, active, compacted = row
    if is_hidden(as_text(role) or "", as_text(kind), metadata):
        return None
    if as_flag(flagged) and not all(split_summary(decode_content(value)[0])):
        return None  # a summary and nothing else (0.22)
    text = _readable(value)
    return (text, state_of(active, compacted) is State.REWOUND) if text else None


def _candidates(
    reader: Reader, session: Session, condition: str, limit: int, among: int | None
) -> list[tuple[str, bool]]:
    """Readable texts of the first rows that meet a condition, each with whether it was taken back, to the first not."""
    # Older stores have no index by session and id: the first ids are found without a look at the rows (an index
    # by session holds them), for to look at thousands of rows for the first few is what a page of the list costs.
    first = "SELECT i.id FROM messages i WHERE i.session_id = ?"
    if among is not None:
        first += f" ORDER BY i.id LIMIT {among}"
    rows = reader.rows(
        f"SELECT {_columns(reader.schema)} "
        f"FROM messages m WHERE m.id IN ({first}) AND m.content IS NOT NULL AND {condition} ORDER BY m.id LIMIT ?",
        [session.id, limit],
    )
    found: list[tuple[str, bool]] = []
    for row in rows:
        spoken = _spoken(row)
        if spoken is not None:
            found.append(spoken)
            if not spoken[1]:
                break  # it is the one; to read the others is half the work
    return found


def _pick(candidates: Sequence[tuple[str, bool]]) -> str:
    kept = [text for text, rewound in candidates if not rewound]
    return kept[0] if kept else candidates[0][0] if candidates else ""


def read_preview(reader: Reader, segments: Sequence[Session]) -> str:
    """First real user text on one line, printable; never empty when any text exists.

    Args:
        reader: An open reader.
        segments: The sessions of the conversation, root first.
    """
    if "content" not in reader.schema.message_columns:
        return ""
    roles = "role" in reader.schema.message_columns
    for condition in ("m.role = 'user'", "m.role = 'assistant'", "1") if roles else ("1",):
        for limit, among in ((_FIRST_ROWS, 5 * _FIRST_ROWS), (10 * _FIRST_ROWS, None)):
            rewound_only = ""
            for session in segments:
                if not session.has_messages:
                    continue
                candidates = _candidates(reader, session, condition, limit, among)
                kept = [text for text, rewound in candidates if not rewound]
                if kept:
                    return kept[0]
                rewound_only = rewound_only or _pick(candidates)
            if rewound_only:
                return rewound_only
    return ""


def _opening_words(reader: Reader, chains: Mapping[str, Sequence[Session]]) -> dict[str, str]:
    """Previews by key of those chains that begin with one, each row of all of them in one statement.

    Nearly every session begins with what a person said, or with a note of Hermes and then that. The others are
    left out: `read_preview` looks further.
    """
    if not {"content", "role"} <= reader.schema.message_columns:
        return {}
    waiting = {}
    for key, segments in chains.items():
        first = next((segment.id for segment in segments if segment.has_messages), None)
        if first is not None:
            waiting[first] = key
    found: dict[str, str] = {}
    seen: list[object] = []
    for _ in range(_OPENING_ROWS):
        if not waiting:
            break
        passed = ",".join("?" * len(seen))
        rows = reader.rows_in(
            f"SELECT m.id, m.session_id, m.content IS NOT NULL AND m.role = 'user', {_columns(reader.schema)} "
            f"FROM messages m WHERE m.id IN (SELECT min(i.id) FROM messages i WHERE i.id NOT IN ({passed}) "
            "AND i.session_id IN ({keys}) GROUP BY i.session_id)",
            list(waiting),
            seen,
        )
        for number, session_id, is_user, *row in rows:
            seen.append(number)
            spoken = _spoken(tuple(row)) if is_user else None
            if spoken is not None and not spoken[1] and session_id in waiting:
                found[waiting.pop(str(session_id))] = spoken[0]
    return found


def first_words(reader: Reader, chains: Mapping[str, Sequence[Session]]) -> dict[str, str]:
    """What `read_preview` reads of many chains, at a cost of a statement or two for a hundred of them.

    Args:
        reader: An open reader.
        chains: Their segments, root first, by any key.

    Returns:
        A text for each key, empty where nothing can be read.
    """
    words: dict[str, str] = {}
    keys = list(chains)
    for start in range(0, len(keys), _TOGETHER):
        words |= _opening_words(reader, {key: chains[key] for key in keys[start : start + _TOGETHER]})
    return {key: words.get(key) or read_preview(reader, chains[key]) for key in keys}


def with_names(reader: Reader, conversations: Sequence[Conversation]) -> list[Conversation]:
    """The conversations with what they are called: a preview where there is no title, and nothing counted.

    Args:
        reader: An open reader.
        conversations: A page of them; those without a title cost a statement or two for a hundred of them.
    """
    words = first_words(reader, {each.root_id: each.segments for each in conversations if not each.title})
    return [each if each.title else each._replace(preview=words[each.root_id]) for each in conversations]


def with_details(reader: Reader, conversations: Sequence[Conversation]) -> list[Conversation]:
    """The conversations with preview and row count, for the rows about to be shown.

    Args:
        reader: An open reader.
        conversations: A page of them; each costs a few index seeks.
    """
    counts = count_rows(reader, [segment.id for each in conversations for segment in each.segments])
    return [
        each.with_details(
            preview=read_preview(reader, each.segments),
            rows=sum(counts.get(segment.id, 0) for segment in each.segments),
        )
        for each in conversations
    ]
