"""Read a preview of a conversation without a title: the first real text of the user.

Hermes shows the first user row unchanged: often a compaction summary, a rewound question, or
nothing if the message begins with an image. This preview is decoded, skips summaries and hidden
rows, and falls back to any readable text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter

from ..connection.reader import Reader, Row
from ..connection.stored_values import as_flag
from ..sessions.models import Conversation, Session
from ..text import one_line, text_of
from .chat_message import SPEAKERS, State, split_summary, without_injections
from .decode import SENTINEL, decode_content

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


_Candidate = tuple[tuple[int, bool], str]
"""Rank and text of a readable row; the least one of a conversation is its preview. A text of the
user comes first, then one of the assistant; what was rewound comes last."""
_BEST = (0, False)
_NONE: _Candidate = ((len(SPEAKERS) + 1, True), "")


def _candidate(row: Row) -> _Candidate:
    """Return the candidate in a row of `_FIRST`; `_NONE` without a readable text."""
    _session_id, value, role, flagged, state = row
    text, parts = decode_content(value)
    # Broken multimodal JSON is better than nothing.
    summary, said = split_summary(without_injections(text.removeprefix(SENTINEL)))
    if as_flag(flagged) and not (summary and said):
        return _NONE
    typed = " ".join(part.text for part in parts if part.kind == "text") or said
    shown = one_line(_PREAMBLE.sub("", typed, count=1).strip() or typed, PREVIEW_LIMIT)
    if not shown:
        return _NONE
    speaker = SPEAKERS.index(str(role)) if role in SPEAKERS else len(SPEAKERS)
    return (speaker, state == State.REWOUND), shown


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
    best = dict.fromkeys(chains, _NONE)
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
