"""Read a preview of a conversation without a title: the first real text of the user.

Hermes shows the first user row unchanged: often a compaction summary, a rewound question, or
nothing if the message begins with an image. This preview is decoded, skips summaries and hidden
rows, and falls back to any readable text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from ..connection.reader import Reader, Row, chunks
from ..connection.schema import Schema
from ..connection.stored_values import as_flag
from ..sessions.models import Conversation
from ..sessions.session import Session
from ..text import as_text, one_line, text_of
from .chat_message import State
from .decode import SENTINEL, decode_content, is_hidden, state_of
from .summaries import split_summary, without_injections
from .transcript import count_rows

PREVIEW_LIMIT = 200
"""Maximum code points."""

_HEAD = 4000  # code points read of a row, which may hold megabytes
_OPENING_ROWS, _FIRST_ROWS = 3, 40
"""Rows of a session among which a text is looked for: first in few of them, then in more."""
_TOGETHER = 100  # sessions whose first rows are read in one statement
_SPEAKERS = ("user", "assistant")
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


class _Candidate(NamedTuple):
    """A readable text; the least one of a conversation is its preview."""

    rank: tuple[int, bool]
    """That of the user comes first, then that of the assistant; what was rewound comes last."""
    text: str


_BEST = (0, False)
_NONE = _Candidate((len(_SPEAKERS), True), "")


def _decode(row: Row) -> _Candidate | None:
    """Return the candidate in a row of `_columns`; None without a readable text."""
    value, stored_role, kind, metadata, flagged, active, compacted = row
    role = text_of(stored_role)
    is_only_summary = as_flag(flagged) and not all(split_summary(decode_content(value)[0]))
    if is_only_summary or is_hidden(role, as_text(kind), metadata):
        return None
    text = _readable(value)
    speaker = _SPEAKERS.index(role) if role in _SPEAKERS else len(_SPEAKERS)
    is_rewound = state_of(active, compacted) is State.REWOUND
    return _Candidate((speaker, is_rewound), text) if text else None


def _candidates(reader: Reader, session_ids: Sequence[str], among: int) -> dict[str, _Candidate]:
    """Return the best candidate of each session among its first rows; sessions without one are left
    out."""
    # The subquery is answered from an index, so that only the first rows are read themselves. A
    # window function would number all rows of a session: eight times slower with 100,000 messages
    # (SQLite 3.40).
    statement = (
        f"SELECT m.session_id, {_columns(reader.schema)} FROM sessions s JOIN messages m ON m.id "
        "IN ("
        f"SELECT i.id FROM messages i WHERE i.session_id = s.id ORDER BY i.id LIMIT {among}"
        ") WHERE s.id IN ({keys}) AND m.content IS NOT NULL ORDER BY m.id"
    )
    best: dict[str, _Candidate] = {}
    for ids in chunks(session_ids, _TOGETHER):
        for session_id, *row in reader.rows_in(statement, ids):
            key = text_of(session_id)
            candidate = _decode(tuple(row))
            if candidate is not None and (key not in best or candidate.rank < best[key].rank):
                best[key] = candidate
    return best


def read_previews(reader: Reader, chains: Mapping[str, Sequence[Session]]) -> dict[str, str]:
    """Return the preview of each chain of segments by its key, empty where no row is readable.

    It is the first real user text on one line, printable; without one that of the assistant,
    without that any text. Nearly every session begins with a text of the user, so most chains need
    only the first statement.
    """
    previews = dict.fromkeys(chains, "")
    if "content" not in reader.schema.message_columns:
        return previews
    for among in (_OPENING_ROWS, _FIRST_ROWS):
        ids = {
            key: _with_messages(segments) for key, segments in chains.items() if not previews[key]
        }
        if among == _OPENING_ROWS:
            ids = {key: segments[:1] for key, segments in ids.items()}
        found = _candidates(reader, list(chain.from_iterable(ids.values())), among)
        for key, segments in ids.items():
            texts = [found[each] for each in segments if each in found]
            best = min(texts, key=attrgetter("rank"), default=_NONE)
            if among == _FIRST_ROWS or best.rank == _BEST:
                previews[key] = best.text
    return previews


def _with_messages(segments: Sequence[Session]) -> list[str]:
    return [segment.id for segment in segments if segment.has_messages]


def read_preview(reader: Reader, segments: Sequence[Session]) -> str:
    """Return the preview of one conversation; see `read_previews`."""
    return read_previews(reader, {"": segments})[""]


def with_names(reader: Reader, conversations: Sequence[Conversation]) -> list[Conversation]:
    """Add a preview to the conversations without a title; a statement or two per hundred of
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
