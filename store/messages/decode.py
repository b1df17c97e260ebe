"""Decode rows of `messages`: multimodal content, tool calls, images; and the first words of a
conversation, as its preview."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from operator import itemgetter

from ..connection.reader import Reader, Row
from ..connection.stored_values import (
    Json,
    as_flag,
    as_int,
    as_time,
    read_json,
    write_json,
)
from ..sessions.models import Conversation, Session
from ..text import as_text, one_line, text_of
from .chat_message import (
    STATES,
    ChatMessage,
    ContentPart,
    State,
    ToolCall,
    split_summary,
    without_injections,
)

SENTINEL = "\x00json:"
"""Prefix of multimodal content (Hermes 0.13 and later); SQL text functions stop at the NUL."""

DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(;base64)?,")
"""The start of an embedded file (RFC 2397): type, and whether it is base64."""

SLICE = 5000
"""Rows that one statement reads."""

REASONING_KEYS = ("summary", "thinking", "content", "text")

COLUMNS = (
    "m.id, m.session_id, m.role, m.content, m.tool_call_id, m.tool_calls, m.tool_name, m.timestamp, "
    "m.finish_reason, m.reasoning, m.reasoning_content, m.reasoning_details, m.display_kind, "
    "m.api_content, m.effect_disposition, m._compressed_summary, m.state, m.hidden"
)
"""The columns of `message_rows m` that `to_message` decodes."""


def _image(url: str) -> ContentPart:
    match = DATA_URL.match(url[:200])
    if match is None:
        return ContentPart("image", f"[image {url}]" if url else "[image]", url=url)
    mime, size = match[1] or "image", len(url) - match.end()
    if match[2]:
        size = size * 3 // 4 - url[-2:].count("=")
    return ContentPart("image", f"[image {mime.rpartition('/')[2]}]", mime=mime, size=max(size, 0))


def _part(item: object) -> ContentPart:
    part: Json = item if isinstance(item, dict) else {"text": item}
    if isinstance(text := part.get("text"), str):
        return ContentPart("text", text_of(text))
    if (address := image_url(part)) is not None:
        return _image(address)
    kind = text_of(part.get("type"), "unknown")
    return ContentPart(kind, f"[{kind}]")


def image_url(item: object) -> str | None:
    """Return the URL of an image part of multimodal content, a `data:` URL if embedded.

    Empty if no URL is stored; None if the part is not an image.
    """
    if (
        not isinstance(item, dict)
        or isinstance(item.get("text"), str)
        or "image" not in text_of(item.get("type"))
    ):
        return None
    url: object = item.get("image_url", item.get("url"))
    if isinstance(url, dict):
        url = url.get("url")
    if isinstance(url, str):
        return text_of(url)
    source = item.get("source")
    if isinstance(source, dict) and isinstance(source.get("data"), str):
        return f"data:{source.get('media_type', 'image')};base64,{source['data']}"
    return ""


def stored_parts(text: str) -> list[object] | None:
    """Return the parts of multimodal content as stored; None for plain text and for broken JSON."""
    loaded = read_json(text.removeprefix(SENTINEL)) if text.startswith(SENTINEL) else None
    return loaded if loaded is None or isinstance(loaded, list) else [loaded]


def decode_content(value: object) -> tuple[str, tuple[ContentPart, ...]]:
    """Decode a stored content: text, NULL, multimodal JSON behind `SENTINEL`, or damaged data.

    Returns:
        The text (parts joined by line ends) and the parts, empty for plain text. Broken JSON is
        returned unchanged, sentinel included, as in Hermes.
    """
    text = text_of(value)
    items = stored_parts(text)
    if items is None:
        return text, ()
    parts = tuple(map(_part, items))
    return "\n".join(part.text for part in parts if part.text), parts


def decode_tool_calls(value: object) -> tuple[ToolCall, ...]:
    """Decode the tool calls of an assistant row; empty if they are invalid, as in Hermes.

    Args:
        value: A JSON list of `{"id", "function": {"name", "arguments"}}`, in older rows `{"name",
            "arguments"}`. The arguments are a JSON text and may be cut short.
    """
    return tuple(map(_call, _objects(value)))


def _objects(value: object) -> list[Json]:
    """Return the objects in a stored JSON list; none if it is invalid."""
    loaded = read_json(text_of(value)) if value else []  # none in most rows
    items = loaded if isinstance(loaded, list) else [loaded]
    return [item for item in items if isinstance(item, dict)]


def _call(item: Json) -> ToolCall:
    function = item.get("function")
    source = function if isinstance(function, dict) else item
    arguments = source.get("arguments", "")
    if not isinstance(arguments, str):
        arguments = write_json(arguments)
    call_id = as_text(item.get("id")) or text_of(item.get("call_id"))
    return ToolCall(call_id, text_of(source.get("name"), "tool"), text_of(arguments))


def reasoning_of_details(value: object) -> str | None:
    """Return the texts in `reasoning_details`, a JSON list of objects; None if there are none.

    Each object has one under the first of these keys (agent/agent_runtime_helpers.py, 0.18); others
    are encrypted. Hermes mostly stores the texts as `reasoning`, too.
    """
    keyed = (next(filter(None, map(item.get, REASONING_KEYS)), None) for item in _objects(value))
    said = dict.fromkeys(text_of(each) for each in keyed if isinstance(each, str))
    return "\n\n".join(said) or None


def to_message(row: Row) -> ChatMessage:
    """Decode one row of `COLUMNS`."""
    (
        message_id, session_id, role, content, call_id, calls, tool_name, timestamp, finish,
        reasoning, reasoning_content, details, display_kind, api_content, effect, flagged, state,
        hidden,
    ) = row  # fmt: skip
    text, parts = decode_content(content)
    sent = decode_content(api_content)[0] if api_content is not None else text
    return ChatMessage(
        id=as_int(message_id),
        session_id=text_of(session_id),
        role=text_of(role),
        text=text,
        timestamp=as_time(timestamp),
        parts=parts,
        tool_calls=decode_tool_calls(calls),
        tool_call_id=as_text(call_id),
        tool_name=as_text(tool_name),
        reasoning=as_text(reasoning) or as_text(reasoning_content) or reasoning_of_details(details),
        finish_reason=as_text(finish),
        state=STATES[state],
        is_flagged=as_flag(flagged),
        is_hidden=bool(hidden),
        display_kind=as_text(display_kind),
        api_content=sent if sent != text else None,
        effect=as_text(effect),
    )


def read_messages_of(reader: Reader, ids: Sequence[int]) -> list[ChatMessage]:
    """Read chat messages by id, in the order of the ids; rows that do not exist are left out."""
    statement = f"SELECT {COLUMNS} FROM message_rows m WHERE m.id IN ({{keys}})"
    messages = {each.id: each for each in map(to_message, reader.rows_in(statement, ids))}
    return [messages[id] for id in ids if id in messages]


# Embedded images: their type is told by their first bytes, not by their claims

IMAGE_HEAD = 16
"""Bytes that `suffix_of` needs."""
_IMAGE_STARTS = {
    rb"\x89PNG\r\n\x1a\n": ".png",
    rb"\xff\xd8\xff": ".jpg",
    rb"GIF8[79]a": ".gif",
    rb"BM": ".bmp",
    rb"II\*\x00|MM\x00\*": ".tiff",
    rb"RIFF....WEBP": ".webp",
    rb"....ftypavif": ".avif",
    rb"....ftyp(heic|mif1)": ".heic",
}
"""Suffixes by patterns of the first bytes."""


def suffix_of(head: bytes) -> str:
    """Return the suffix for an image with these first bytes; empty if unknown, and for SVG, which
    may have scripts."""
    kinds = _IMAGE_STARTS.items()
    return next((suffix for start, suffix in kinds if re.match(start, head, re.DOTALL)), "")


def read_image(reader: Reader, message_id: int, number: int) -> bytes | None:
    """Read the bytes of an image embedded in a chat message as a `data:` URL in base64 (RFC 2397);
    `number` counts its image parts from 0.

    None if the row or the image is missing, not embedded, or invalid.
    """
    content = reader.value("SELECT content FROM message_rows WHERE id = ?", [message_id])
    parts = stored_parts(text_of(content)) or []
    urls = [url for url in map(image_url, parts) if url is not None]
    url = urls[number] if 0 <= number < len(urls) else ""
    match = DATA_URL.match(url[:200])
    if match is None or not match[2]:
        return None
    try:
        return base64.b64decode(url[match.end() :])
    except ValueError:
        return None


# The preview of a conversation without a title: the first real text of the user. Hermes shows the
# first user row unchanged: often a compaction summary, a rewound question, or nothing if the message
# begins with an image. This preview is decoded, skips summaries and hidden rows, and falls back to
# any readable text.

PREVIEW_LIMIT = 200
"""Maximum code points."""

_HEAD = 4000  # code points read of a row, which may hold megabytes
_OPENING, _FIRST_ROWS = 3, 40
"""Rows of a session among which a text is looked for: first in few of them, then in more."""
_PREAMBLE = re.compile(
    r"\s*\[(?:IMPORTANT|SYSTEM)(?:[^][]|\[(?:[^][]|\[[^][]*\])*\])*\]", re.IGNORECASE
)
"""The bracketed instruction that Hermes puts before the prompt of a cron job or a skill; it may have
brackets in brackets."""


_BEST, _WORST = 0, 9
"""Ranks of a text: the least one of a conversation is its preview."""


def _candidate(row: Row) -> tuple[int, str]:
    """Return rank and text of a row of `_FIRST`, `_WORST` without a readable text: one of the user
    comes first, then one of the assistant; of the same role what was rewound comes last."""
    _session_id, value, role, flagged, state = row
    text, parts = decode_content(value)
    # Broken multimodal JSON is better than nothing.
    summary, said = split_summary(without_injections(text.removeprefix(SENTINEL)))
    is_summary = as_flag(flagged) and not (summary and said)
    typed = " ".join(part.text for part in parts if part.kind == "text") or said
    shown = one_line(_PREAMBLE.sub("", typed, count=1).strip() or typed, PREVIEW_LIMIT)
    if is_summary or not shown:
        return _WORST, ""
    rank = {"user": 0, "assistant": 2}.get(str(role), 4)
    return rank + (state == State.REWOUND), shown


# SQLite cuts plain text; substr() stops at the NUL of multimodal content, so that is read completely.
# The subquery is answered from an index, so that only the first rows are read themselves. A window
# function would number all rows of a session: eight times slower with 100,000 messages (SQLite 3.40).
_FIRST = (
    "SELECT m.session_id, "
    "CASE WHEN typeof(m.content) = 'text' AND substr(m.content, 1, 1) <> '' "
    f"THEN substr(m.content, 1, {_HEAD}) ELSE m.content END, "
    "m.role, m._compressed_summary, m.state "
    "FROM sessions s JOIN message_rows m ON m.id IN ("
    "SELECT i.id FROM messages i WHERE i.session_id = s.id ORDER BY i.id LIMIT ?"
    ") WHERE s.id IN ({keys}) AND m.content IS NOT NULL AND NOT m.hidden ORDER BY m.id"
)
"""The readable rows among so many first ones of sessions."""


def read_previews(reader: Reader, chains: Mapping[str, Sequence[Session]]) -> dict[str, str]:
    """Return the preview of each chain of segments by its key, empty where no row is readable.

    It is the first real user text on one line, printable; without one that of the assistant,
    without that any text.
    """
    best = dict.fromkeys(chains, (_WORST, ""))
    # Nearly every session begins with a text of the user: most chains need only the first of two
    # statements.
    for most, among in ((1, _OPENING), (None, _FIRST_ROWS)):
        key_of: dict[str, str] = {}
        for key in [key for key, (rank, _text) in best.items() if rank != _BEST]:
            ids = [each.id for each in chains[key] if each.has_messages]
            key_of |= dict.fromkeys(ids[:most], key)
        for row in reader.rows_in(_FIRST, list(key_of), [among]):
            key = key_of[text_of(row[0])]
            best[key] = min(best[key], _candidate(row), key=itemgetter(0))
    return {key: text for key, (_rank, text) in best.items()}


def with_names(reader: Reader, conversations: Sequence[Conversation]) -> list[Conversation]:
    """Add a preview to the conversations without a title; a statement or two for all of
    them."""
    untitled = {each.root_id: each.segments for each in conversations if not each.title}
    previews = read_previews(reader, untitled)
    return [
        each._replace(preview=previews.get(each.root_id, each.preview)) for each in conversations
    ]
