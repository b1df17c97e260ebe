"""Read a preview of a conversation without a title, the first real text of the user, and the recap
of its end.

Hermes shows the first user row unchanged: often a compaction summary, a rewound question, or
nothing if the message begins with an image. This preview is decoded, skips summaries and hidden
rows, and falls back to any readable text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from ..connection.reader import Reader, Row
from ..connection.stored_values import as_flag
from ..sessions.models import Conversation, Session
from ..text import one_line, printable, text_of
from ..wording import _, ngettext
from .chat_message import SPEAKERS, ChatMessage, State, split_summary, without_injections
from .decode import SENTINEL, decode_content
from .transcript import count_rows, read_messages, read_outline

PREVIEW_LIMIT = 200
"""Maximum code points."""

_HEAD = 4000  # code points read of a row, which may hold megabytes
_OPENING, _FIRST_ROWS = 3, 40
"""Rows of a session among which a text is looked for: first in few of them, then in more."""
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


_Candidate = tuple[tuple[int, bool], str]
"""Rank and text of a readable row; the least one of a conversation is its preview. A text of the
user comes first, then one of the assistant; what was rewound comes last."""
_BEST = (0, False)
_NONE: _Candidate = ((len(SPEAKERS) + 1, True), "")


def _decode(row: Row) -> _Candidate:
    """Return the candidate in a row of `_candidates`; `_NONE` without a readable text."""
    value, role, flagged, state = row
    is_only_summary = as_flag(flagged) and not all(split_summary(decode_content(value)[0]))
    text = "" if is_only_summary else _readable(value)
    if not text:
        return _NONE
    speaker = SPEAKERS.index(str(role)) if role in SPEAKERS else len(SPEAKERS)
    return (speaker, state == State.REWOUND), text


def _candidates(reader: Reader, session_ids: Iterable[str], among: int) -> dict[str, _Candidate]:
    """Return the best candidate of each session among its first rows; sessions without rows are
    left out."""
    # SQLite cuts plain text; substr() stops at the NUL of multimodal content, so that is read
    # completely.
    content = (
        "CASE WHEN typeof(m.content) = 'text' AND substr(m.content, 1, 1) <> '' "
        f"THEN substr(m.content, 1, {_HEAD}) ELSE m.content END"
    )
    # The subquery is answered from an index, so that only the first rows are read themselves. A
    # window function would number all rows of a session: eight times slower with 100,000 messages
    # (SQLite 3.40).
    statement = (
        f"SELECT m.session_id, {content}, m.role, m._compressed_summary, m.state "
        "FROM sessions s JOIN message_rows m ON m.id IN ("
        f"SELECT i.id FROM messages i WHERE i.session_id = s.id ORDER BY i.id LIMIT {among}"
        ") WHERE s.id IN ({keys}) AND m.content IS NOT NULL AND NOT m.hidden ORDER BY m.id"
    )
    best: dict[str, _Candidate] = {}
    for session_id, *row in reader.rows_in(statement, list(session_ids)):
        key, candidate = text_of(session_id), _decode(tuple(row))
        best[key] = min(best.get(key, _NONE), candidate, key=itemgetter(0))
    return best


def read_previews(reader: Reader, chains: Mapping[str, Sequence[Session]]) -> dict[str, str]:
    """Return the preview of each chain of segments by its key, empty where no row is readable.

    It is the first real user text on one line, printable; without one that of the assistant,
    without that any text.
    """
    previews = dict.fromkeys(chains, _NONE)
    waiting = {key: [each.id for each in chains[key] if each.has_messages] for key in chains}
    # Nearly every session begins with a text of the user: most chains need only the first of two
    # statements.
    for most, among in ((1, _OPENING), (None, _FIRST_ROWS)):
        asked = {key: ids[:most] for key, ids in waiting.items()}
        found = _candidates(reader, chain.from_iterable(asked.values()), among)
        for key, ids in asked.items():
            texts = (found.get(each, _NONE) for each in ids)
            previews[key] = min(texts, key=itemgetter(0), default=_NONE)
        waiting = {key: ids for key, ids in waiting.items() if previews[key][0] != _BEST}
    return {key: text for key, (_rank, text) in previews.items()}


def read_preview(reader: Reader, segments: Sequence[Session]) -> str:
    """Return the preview of one conversation; see `read_previews`."""
    return read_previews(reader, {"": segments})[""]


def with_names(reader: Reader, conversations: Sequence[Conversation]) -> list[Conversation]:
    """Add a preview to the conversations without a title; a statement or two for all of
    them."""
    untitled = {each.root_id: each.segments for each in conversations if not each.title}
    previews = read_previews(reader, untitled)
    return [
        each._replace(preview=previews.get(each.root_id, each.preview)) for each in conversations
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


# The recap that Hermes shows on resume: the last exchanges, shortened (0.19 and 0.22,
# `display.resume_*`)

EXCHANGES = 10
"""Maximum user messages, each with the answers to it."""
USER_LIMIT = 300
"""Code points of a user message."""
ASSISTANT_LIMIT = 200
ASSISTANT_LINES = 3
_WINDOW = 400


class RecapLine(NamedTuple):
    """One line of the recap."""

    role: str
    """`user`, `assistant` or `earlier`."""
    text: str
    """Printable."""


def _clip(text: str) -> str:
    lines = printable(text).strip().splitlines()
    clipped = "\n".join(lines[:ASSISTANT_LINES])
    if len(clipped) > ASSISTANT_LIMIT:
        return clipped[: ASSISTANT_LIMIT - 1].rstrip() + "…"
    return clipped + "…" if len(lines) > ASSISTANT_LINES else clipped


def read_recap(reader: Reader, segments: Sequence[Session]) -> list[RecapLine]:
    """Read the recap of a conversation from its segments, root first: no system text, tool results
    and reasoning."""
    rows = [row for row in read_outline(reader, segments).rows if row.role in SPEAKERS]
    said = read_messages(reader, rows[-_WINDOW:])
    texts = [
        (each.role, _said(each)) for each in said if not each.is_summary and not each.is_hidden
    ]
    lines = [RecapLine(role, text) for role, text in texts if text]
    starts = [index for index, line in enumerate(lines) if line.role == "user"]
    cut = starts[-EXCHANGES] if len(starts) > EXCHANGES else 0
    earlier = max(len(rows) - _WINDOW, 0) + cut
    if not earlier:
        return lines
    head = _("… {count} earlier messages …", count=earlier)
    return [RecapLine("earlier", head), *lines[cut:]]


def _said(message: ChatMessage) -> str:
    if message.role == "user":
        return one_line(message.said, USER_LIMIT)
    text, count = _clip(message.text), len(message.tool_calls)
    if not count:
        return text
    names = ", ".join(dict.fromkeys(printable(call.name) for call in message.tool_calls))
    calls = ngettext("[{count} tool call: {names}]", "[{count} tool calls: {names}]", count)
    return f"{text} {calls.format(count=count, names=names)}".lstrip()
