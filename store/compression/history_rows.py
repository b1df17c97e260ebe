"""Read the rows of a conversation as its compressions need them: without texts, but with what tells
whether two rows are equal.

Texts are compared by length and beginning only, so that 5,000 rows take milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain, groupby
from typing import NamedTuple

from ..connection.reader import Reader, Row
from ..connection.stored_values import as_count, as_int, as_time, bytes_sql
from ..messages.chat_message import STATES, State
from ..messages.decode import SLICE, read_messages_of
from ..sessions.models import Session
from ..text import text_of

_HEAD = 80
"""Code points of a text that are compared, besides its length."""
_MARK = "[CONTEXT "
"""Text in every summary."""
_CALL_ID = re.compile(r'"id":\s*"([^"\\]+)"')
_IS_SPEECH = "role IN ('user', 'assistant')"
WHITE = "char(32, 9, 10, 13)"
_TEXT = f"CASE WHEN {_IS_SPEECH} THEN trim(content, {WHITE}) ELSE content END"
"""Rows that Hermes loaded and wrote again have lost leading and trailing white space."""
_STATEMENT = (
    "SELECT id, role, timestamp, state, hidden, display_order, "
    f"COALESCE(NULLIF({bytes_sql('api_content')}, 0), {bytes_sql('content')}) "
    f"+ {bytes_sql('tool_calls')}, "
    "typeof(content) = 'text' AND content < char(1) AND content <> '', "
    f"token_count, tool_call_id, substr(tool_calls, 1, 200), {bytes_sql(_TEXT)}, "
    f"CASE WHEN tool_call_id IS NULL THEN substr({_TEXT}, 1, {_HEAD}) END, "
    f"{bytes_sql('tool_calls')}, {_IS_SPEECH} "
    f"AND (COALESCE(_compressed_summary, 0) = 1 OR instr(content, '{_MARK}')) "
    "FROM message_rows WHERE session_id = ? AND role IS NOT 'session_meta' AND"
)
"""The rows of a session, up to the condition on ids; what `_history_row` decodes."""


class RowOrigin(StrEnum):
    """Reason why a row was sent."""

    HEAD = "head"
    """Carried over, before the summary."""
    SUMMARY = "summary"
    KEPT = "kept"
    """Carried over, after the summary."""
    SINCE = "since"
    """Written since the last compaction, or since the beginning."""


class HistoryRow(NamedTuple):
    """One row of `messages`, without its text."""

    id: int
    role: str
    timestamp: float | None
    state: State
    is_hidden: bool
    """From people: said by Hermes to the model (0.20 to 0.22)."""
    size: int
    """Bytes sent to the model: `api_content` or else the text, and tool calls. Images count in
    full."""
    fingerprint: tuple[object, ...]
    """Equal for rows with equal content."""
    copied: tuple[object, ...]
    """Equal for a row and its copies: the fingerprint, unless compression may shorten it; then its
    call, or that it is a picture."""
    call: str
    """Id of its first tool call, or of the call it is the result of; else empty."""
    order: object
    """`display_order` (0.22): equal for all rows of the same message."""
    tokens: int
    """0 if none are stored."""
    summary_text: str
    """The whole text, if it holds a compaction summary, alone or merged with other text."""
    is_loaded: bool
    """Whether one of an earlier turn has its time and role: Hermes loaded that one and wrote it
    again."""
    why: RowOrigin = RowOrigin.SINCE
    """Told of the rows of a block when its compaction is found, as is what follows."""
    original: int | None = None
    """Id of the row that it repeats; None if that was not stored before, or if Hermes inserted
    it."""
    is_changed: bool = False
    """Whether it is shorter than the original."""


HistoryRows = Sequence[HistoryRow]


def read_rows(reader: Reader, segments: Sequence[Session]) -> list[list[HistoryRow]]:
    """Read the rows of each segment of a conversation, root first, in order of id, without
    `session_meta` rows."""
    slices = (reader.slices(_STATEMENT, "id", SLICE, [session.id]) for session in segments)
    stored = [list(chain.from_iterable(each)) for each in slices]
    marked = [as_int(row[0]) for rows in stored for row in rows if row[-1]]
    summaries = {each.id: each.text for each in read_messages_of(reader, marked) if each.summary}
    loaded = _are_loaded(chain.from_iterable(stored))
    return [[_history_row(row, summaries, next(loaded)) for row in rows] for rows in stored]


def _are_loaded(rows: Iterable[Row]) -> Iterator[bool]:
    """Yield for each row of a conversation whether it `is_loaded`; neighbours with one time are a
    turn: a gateway gives all its rows the same."""
    turns: dict[object, int] = {}
    for turn, (time, some) in enumerate(groupby(rows, lambda row: as_time(row[2]))):
        for _id, role, *_rest in some:
            yield time is not None and turns.setdefault((time, role), turn) != turn


def _history_row(row: Row, summaries: Mapping[int, str], is_loaded: bool) -> HistoryRow:
    """Decode a row of `_STATEMENT`."""
    (
        message_id, stored_role, time, state, hidden, order, size, picture, tokens, answers, calls,
        *compared, _is_marked,
    ) = row  # fmt: skip
    role, key = text_of(stored_role), as_int(message_id)
    match = _CALL_ID.search(text_of(calls)) if role == "assistant" else None
    call = match[1] if match else text_of(answers)
    fingerprint = (role, *compared, call)
    may_shrink = key not in summaries and (call or picture)
    return HistoryRow(
        id=key,
        role=role,
        timestamp=as_time(time),
        state=STATES[state],
        is_hidden=bool(hidden),
        size=as_count(size),
        fingerprint=fingerprint,
        copied=(role, call) if may_shrink else fingerprint,
        call=call,
        order=order,
        tokens=as_count(tokens),
        summary_text=summaries.get(key, ""),
        is_loaded=is_loaded,
    )
