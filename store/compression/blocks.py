"""Read the rows of a conversation, and find the blocks that Hermes wrote when it compressed it, with
the copies in them.

One compression, and the words for its rows:

    1 hello    2 hi    3 fix it    4 read_file    5 done      *sent* before; they end a *generation*
    6 hello    7 summary of 2 to 4    8 done                  the *block* that it *wrote*
    9 thanks    10 welcome                                    rows *since*; 6 to 10: a generation

*Kept*: 6, the *head*, and 8, the *tail*, copies of 1 and 5. *Replaced*, and so *gone*: 2 to 4.
*Instead* the model had 6 to 8. Without 8, row 5 may have been kept, but *not stored again*.

A store does not record where a block begins and ends. Hermes 0.18 and later write it as a batch:
timestamps a microsecond apart, or those of the original rows. Older releases wrote row by row: the
rows around the summary that repeat what was sent before are taken for its block, which is inferred.

Texts are compared by length and beginning only, so that 5,000 rows take milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from ..connection.reader import Reader, Row
from ..connection.stored_values import as_count, as_int, as_time, bytes_sql
from ..messages.chat_message import STATES, ChatMessage, State
from ..messages.transcript import (
    MOST_DROPPED,
    SLICE,
    are_loaded,
    read_messages_of,
    written_runs,
)
from ..sessions.models import Session
from ..text import text_of

_HEAD = 80
"""Code points of a text that are compared, besides its length."""
_MARK = "[CONTEXT "
"""Text in every summary."""
_CALL_ID = re.compile(r'"id":\s*"([^"\\]+)"')
_IS_SPEECH = "role IN ('user', 'assistant')"
_TEXT = f"CASE WHEN {_IS_SPEECH} THEN trim(content, char(32, 9, 10, 13)) ELSE content END"
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
    "FROM message_rows WHERE session_id = ? AND"
)
"""The rows of a session, up to the condition on ids; what `_history_row` decodes."""
_GAPS = """
    WITH steps(before, after) AS (
        SELECT lag(id) OVER (ORDER BY id), id FROM messages
        WHERE session_id = ? AND role IS NOT 'session_meta'
    ), wide AS (
        SELECT before, after, sum(after - before) OVER (ORDER BY after) AS looked_at
        FROM steps WHERE after - before BETWEEN 2 AND 2000
    ), counted AS (
        SELECT before, after, after - before - 1 - (
            SELECT count(*) FROM messages WHERE id > before AND id < after
        ) AS missing FROM wide WHERE looked_at <= 20000
    )
    SELECT after,
        (SELECT min(m.id) + 1 FROM messages m WHERE m.id >= before AND m.id < after
            AND NOT EXISTS (SELECT 1 FROM messages n WHERE n.id = m.id + 1)),
        (SELECT max(m.id) - 1 FROM messages m WHERE m.id > before AND m.id <= after
            AND NOT EXISTS (SELECT 1 FROM messages n WHERE n.id = m.id - 1)),
        missing
    FROM counted WHERE missing > 0
"""
"""The missing ids of a session. A step of more than 2,000 means hours of other sessions; to look at
20,000 ids takes tenths of a second if nothing is cached."""


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
    """Equal for rows with equal content; a copy that compression shortened has another one."""
    call: str
    """Id of its first tool call, or of the call it is the result of; else empty."""
    order: object
    """`display_order` (0.22): equal for all rows of the same message."""
    is_multimodal: bool
    tokens: int
    """0 if none are stored."""
    summary: ChatMessage | None = None
    """The message, if it holds a compaction summary, alone or merged with other text; else None."""
    repeats_time: bool = False
    """Whether an earlier row has its time: Hermes loaded that one and wrote it again."""

    @property
    def summary_text(self) -> str | None:
        """The whole text of a message with a summary; None for any other."""
        return self.summary.text if self.summary is not None else None


HistoryRows = Sequence[HistoryRow]


class IdGap(NamedTuple):
    """Ids between two neighbouring rows of a session that no row of the store has.

    They belonged to deleted rows (AUTOINCREMENT never reuses an id,
    https://sqlite.org/autoinc.html) of this session or of another: all share the ids.
    """

    first: int
    last: int
    number: int
    """Missing ids from `first` to `last`."""


def read_rows(reader: Reader, segments: Sequence[Session]) -> list[list[HistoryRow]]:
    """Read the rows of each segment of a conversation, root first, in order of id, without
    `session_meta` rows."""
    stored = [
        [row for rows in reader.slices(_STATEMENT, "id", SLICE, [session.id]) for row in rows]
        for session in segments
    ]
    marked = [as_int(row[0]) for rows in stored for row in rows if row[-1]]
    summaries = {each.id: each for each in read_messages_of(reader, marked) if each.summary}
    kept = [[row for row in rows if row[1] != "session_meta"] for rows in stored]
    loaded = are_loaded((as_time(row[2]), text_of(row[1])) for rows in kept for row in rows)
    return [[_history_row(row, summaries, next(loaded)) for row in rows] for rows in kept]


def _history_row(row: Row, summaries: Mapping[int, ChatMessage], repeats_time: bool) -> HistoryRow:
    """Decode a row of `_STATEMENT`."""
    message_id, stored_role, time, state, hidden, order, size, picture, tokens, *content = row
    answers, calls, *compared, _is_marked = content
    role, key = text_of(stored_role), as_int(message_id)
    match = _CALL_ID.search(text_of(calls)) if role == "assistant" else None
    call = match[1] if match else text_of(answers)
    return HistoryRow(
        id=key,
        role=role,
        timestamp=as_time(time),
        state=STATES[state],
        is_hidden=bool(hidden),
        size=as_count(size),
        fingerprint=(role, *compared, call),
        call=call,
        order=order,
        is_multimodal=bool(picture),
        tokens=as_count(tokens),
        summary=summaries.get(key),
        repeats_time=repeats_time,
    )


def read_id_gaps(reader: Reader, segments: Iterable[tuple[str, HistoryRows]]) -> dict[int, IdGap]:
    """Find missing ids between neighbouring rows, given by session: id of the row behind a gap →
    the gap.

    Very long steps are not checked.
    """
    return {
        as_int(after): IdGap(as_int(first), as_int(last), as_int(missing))
        for session_id, rows in segments
        if rows and rows[-1].id - rows[0].id >= len(rows)
        for after, first, last, missing in reader.rows(_GAPS, [session_id])
    }


def is_copy(row: HistoryRow, original: HistoryRow) -> bool:
    """Return whether a row may be a copy of an earlier one: equal, or shortened by compression."""
    if row.role != original.role:
        return False
    has_same_order = row.order is not None and row.order == original.order
    if has_same_order or row.fingerprint == original.fingerprint:
        return True
    if row.call or original.call:
        return row.call == original.call and row.summary is None and original.summary is None
    return row.is_multimodal and original.is_multimodal


def is_merged(row: HistoryRow, original: HistoryRow) -> bool:
    """Return whether a row with a summary also holds the text of an earlier row."""
    said = row.summary.said if row.summary is not None else ""
    if row.role != original.role or not (said or row.call):
        return False
    if row.call or original.call:
        return row.call == original.call
    head = original.fingerprint[2]
    return isinstance(head, str) and bool(head.strip()) and said.startswith(head.strip())


class RowBlock(NamedTuple):
    """Rows of a session that a compaction wrote, by their indexes."""

    start: int
    end: int
    summary: HistoryRow | None = None
    is_marked: bool = True
    """Whether the rows before it are marked as compacted, or are in another session."""
    is_known: bool = False
    """Whether the rows leave no doubt about where it ends."""


def sent_of(rows: HistoryRows) -> list[HistoryRow]:
    """Return the rows of a generation that were sent when it ended: all that were not rewound."""
    return [row for row in rows if row.state is not State.REWOUND]


def find_blocks(rows: HistoryRows, above: HistoryRows | None) -> list[RowBlock]:
    """Find the blocks in one session, in order; the first one begins with it, and may be empty.

    `above` are the rows last sent in the previous session of the conversation; None for the root.
    """
    blocks: list[RowBlock] = []
    previous = RowBlock(0, 0)
    edge = 1 + max((at for at, row in enumerate(rows) if row.state is State.COMPACTED), default=-1)
    first_live = next((at for at, row in enumerate(rows) if row.state is State.LIVE), -1)
    summaries = {at for at, row in enumerate(rows) if row.summary is not None}
    stamps = [(row.timestamp, row.role) for row in rows]
    loaded = [row.repeats_time for row in rows]
    for start, end, count in written_runs(stamps, loaded, {edge}, summaries):
        # Compression in place marks all live rows, then writes: what is live behind them begins
        # with its block, unless that was taken back.
        is_edge = start == edge == first_live > previous.start
        # A row that Hermes loaded belongs to the block before it, unless it is in there already.
        is_next = start == previous.end > 0
        if start < previous.end or not (is_edge or is_next or count):
            continue
        block = _block_of(rows, start, end, previous, above, count, is_edge=is_edge)
        if block is not None and (block.start > previous.start or not blocks):
            blocks.append(block)
            previous = block
    if not blocks or blocks[0].start > 0:
        blocks.insert(0, RowBlock(0, _end_of_copies(rows, 0, above or ())))
    return blocks


def _block_of(
    rows: HistoryRows,
    start: int,
    end: int,
    previous: RowBlock,
    above: HistoryRows | None,
    count: int,
    *,
    is_edge: bool,
) -> RowBlock | None:
    """Return the block that has these rows; None if no compaction wrote them.

    `count` is how many of them were not loaded, `is_edge` tells that compacted rows end right before
    them.
    """
    summaries = [row for row in rows[start:end] if row.summary is not None]
    # Older summaries may be carried over with the new one.
    summary = min(summaries, key=lambda row: row.repeats_time, default=None)
    is_first = previous.end == 0
    if is_first and above and all(_repeats(row, above) for row in rows[:start]):
        start = 0  # the head was written before the batch
    before = rows[previous.start : start]
    sent = sent_of(before) if start > 0 else above or ()
    is_known = is_edge or ((count > 1 or start > 0) and end - start > 1)
    if not is_known:
        end = _end_of_copies(rows, start if summary is None else end, sent)
    states = {row.state for row in before}
    is_marked = State.LIVE not in states
    if summary is None and State.COMPACTED not in states and (start > 0 or above is None):
        return None  # an edit writes all messages once more
    has_copies = any(_repeats(row, sent) for row in rows[start:end] if row.summary is None)
    if not (has_copies or (is_marked and is_known)):
        if not is_first:
            return None
        start, is_marked = 0, True  # a branch or an import begins with it, and with any later ones
    return RowBlock(start, end, summary, is_marked, is_known)


def _end_of_copies(rows: HistoryRows, start: int, sent: HistoryRows) -> int:
    """Return the end of the rows that repeat rows that were sent, from a place on."""
    return start + sum(1 for _row in takewhile(lambda row: _repeats(row, sent), rows[start:]))


def _repeats(row: HistoryRow, sent: HistoryRows) -> bool:
    return any(is_copy(row, other) for other in sent)


def find_originals(head: HistoryRows, tail: HistoryRows, sent: HistoryRows) -> dict[int, int]:
    """Return the originals of the rows of a block: copy → original.

    Args:
        head: Rows before the summary, which repeat the first rows sent.
        tail: Rows after the summary, which repeat the last ones.
        sent: The rows sent before the compaction.
    """
    originals: dict[int, int] = {}
    first = _match(originals, head, sent)
    _match(originals, tail[::-1], sent[: first - 1 : -1] if first else sent[::-1])
    return originals


def _match(originals: dict[int, int], copies: HistoryRows, sent: HistoryRows) -> int:
    """Find the originals of copies in the same order; return the place behind the last one."""
    first = 0
    for copy in copies:
        near = range(first, min(first + MOST_DROPPED, len(sent)))
        place = next((place for place in near if is_copy(copy, sent[place])), None)
        if place is not None:
            originals[copy.id], first = sent[place].id, place + 1
    return first


def find_merged(summary: HistoryRow, sent: HistoryRows, tail: set[int]) -> int | None:
    """Return the row whose text was merged with a summary; None if there is none.

    `tail` are the ids of the rows of `sent` that were carried over behind the summary.
    """
    before_tail = list(takewhile(lambda row: row.id not in tail, sent))
    near = reversed(before_tail[-MOST_DROPPED:])
    return next((row.id for row in near if is_merged(summary, row)), None)
