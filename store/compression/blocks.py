"""Find the blocks of rows that Hermes wrote when it compressed a conversation, and the copies in
them.

One compression, and the words for its rows:

    1 hello    2 hi    3 fix it    4 read_file    5 done      *sent* before; they end a *generation*
    6 hello    7 summary of 2 to 4    8 done                  the *block* that it *wrote*
    9 thanks    10 welcome                                    rows *since*; 6 to 10: a generation

*Kept*: 6, the *head*, and 8, the *tail*, copies of 1 and 5. *Replaced*, and so *gone*: 2 to 4.
*Instead* the model had 6 to 8. Without 8, row 5 may have been kept, but *not stored again*.

A store does not record where a block begins and ends. Hermes 0.18 and later write it as a batch:
timestamps a microsecond apart, or those of the original rows. Older releases wrote row by row: the
rows around the summary that repeat what was sent before are taken for its block, which is inferred.
"""

from __future__ import annotations

from itertools import takewhile
from typing import NamedTuple

from ..messages.chat_message import State
from .history_rows import HistoryRow, HistoryRows, is_copy, is_merged

_BATCH_SECONDS = 2e-6
"""Most seconds between two neighbours in a batch: a microsecond, and the precision of a double."""
_WINDOW = 64
"""Most rows that compression drops between two that it keeps."""


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
    """Find the blocks in one session, in order.

    `above` are the rows last sent in the previous session of the conversation; None for the root.
    """
    blocks: list[RowBlock] = []
    previous = RowBlock(0, 0)
    first_live = _first_live_after_compacted(rows)
    for at in range(len(rows)):
        if at >= previous.end and (at == first_live or _is_written(rows, at)):
            previous = _block_at(rows, at, previous, above)
            blocks.append(previous)
    if above is not None and (not blocks or blocks[0].start > 0):
        blocks.insert(0, RowBlock(0, _end_of_copies(rows, 0, above)))
    return blocks


def _first_live_after_compacted(rows: HistoryRows) -> int:
    """Return the first live row, but loaded ones, if compacted ones are before it; else -1."""
    states = [row.state for row in rows]
    first = states.index(State.LIVE) if State.LIVE in states else 0
    if State.COMPACTED not in states[:first]:
        return -1
    new = (at for at in range(first, len(rows)) if not rows[at].repeats_time)
    return next(new, first)


def _is_written(rows: HistoryRows, at: int) -> bool:
    """Return whether only a compaction can have written a row: a summary, or the first of a
    batch."""
    if rows[at].repeats_time:
        return False
    is_followed = at + 1 < len(rows) and not rows[at + 1].repeats_time
    return rows[at].summary is not None or (is_followed and _is_together(rows, at + 1, at))


def _is_together(rows: HistoryRows, at: int, other: int) -> bool:
    """Return whether a row was written with another, or has the time of its original."""
    one, two = rows[at].timestamp, rows[other].timestamp
    if rows[at].repeats_time or one is None or two is None:
        return rows[at].repeats_time
    return abs(one - two) < _BATCH_SECONDS * abs(at - other)


def _block_at(
    rows: HistoryRows,
    at: int,
    previous: RowBlock,
    above: HistoryRows | None,
) -> RowBlock:
    """Return the block around a row that a compaction wrote, or that follows compacted ones."""
    start, end = at, at + 1
    while start > previous.end and _is_together(rows, start - 1, at):
        start -= 1
    while end < len(rows) and _is_together(rows, end, at):
        end += 1
    summaries = [row for row in rows[start:end] if row.summary is not None]
    # Older summaries may be carried over with the new one.
    summary = min(summaries, key=lambda row: row.repeats_time, default=None)
    is_batch = sum(not row.repeats_time for row in rows[start:end]) > 1
    is_first = previous.end == 0
    if is_first and above is not None and all(_repeats(row, above) for row in rows[:start]):
        start = 0  # the head was written before the batch
    before = rows[previous.start : start]
    sent = sent_of(before) if start > 0 else above or ()
    if not is_batch:
        end = _end_of_copies(rows, start if summary is None else end, sent)
    is_marked = all(row.state is not State.LIVE for row in before)
    has_copies = any(_repeats(row, sent) for row in rows[start:end] if row.summary is None)
    if is_first and not (is_marked or has_copies):
        start, is_marked = 0, True  # a branch or an import begins with it
    is_known = (is_batch or start > 0) and end - start > 1
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
        near = range(first, min(first + _WINDOW, len(sent)))
        place = next((place for place in near if is_copy(copy, sent[place])), None)
        if place is not None:
            originals[copy.id], first = sent[place].id, place + 1
    return first


def find_merged(summary: HistoryRow, sent: HistoryRows, tail: set[int]) -> int | None:
    """Return the row whose text was merged with a summary; None if there is none.

    `tail` are the ids of the rows of `sent` that were carried over behind the summary.
    """
    before_tail = list(takewhile(lambda row: row.id not in tail, sent))
    near = reversed(before_tail[-_WINDOW:])
    return next((row.id for row in near if is_merged(summary, row)), None)
