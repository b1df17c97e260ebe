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
from ..messages.transcript import are_of_a_batch
from .history_rows import HistoryRow, HistoryRows, is_copy, is_merged

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
    """Find the blocks in one session, in order; the first one begins with it, and may be empty.

    `above` are the rows last sent in the previous session of the conversation; None for the root.
    """
    blocks: list[RowBlock] = []
    previous, done = RowBlock(0, 0), 0
    edge = 1 + max((at for at, row in enumerate(rows) if row.state is State.COMPACTED), default=-1)
    first_live = next((at for at, row in enumerate(rows) if row.state is State.LIVE), -1)
    for at in range(len(rows)):
        if at < done:
            continue
        # Compression in place marks all live rows, then writes: what is live behind them begins
        # with its block, unless that was taken back.
        is_edge = at == first_live >= edge > previous.start
        # A row that Hermes loaded belongs to the block before it, unless it is in there already.
        is_next = at == previous.end > 0 and rows[at].repeats_time
        if is_edge or is_next or _is_written(rows, at):
            first = at if is_edge else max(previous.end, edge if at >= edge else 0)
            start, done = _extent(rows, at, first, edge if at < edge else len(rows))
            block = _block_of(rows, start, done, previous, above, is_edge)
            if block is not None:
                blocks.append(block)
                previous, done = block, max(block.end, done)
    if not blocks or blocks[0].start > 0:
        blocks.insert(0, RowBlock(0, _end_of_copies(rows, 0, above or ())))
    return blocks


def _is_written(rows: HistoryRows, at: int) -> bool:
    """Return whether a row is a summary, or the first of a batch."""
    if rows[at].repeats_time:
        return False
    new = (later for later in range(at + 1, len(rows)) if not rows[later].repeats_time)
    following = next(new, at)
    return rows[at].summary is not None or _is_together(rows, at, following)


def _is_together(rows: HistoryRows, at: int, later: int) -> bool:
    """Return whether a row was written at once with a later one."""
    return are_of_a_batch(rows[at].timestamp, rows[later].timestamp, later - at)


def _extent(rows: HistoryRows, at: int, first: int, until: int) -> tuple[int, int]:
    """Return the start and the end of the rows around one that were written with it, or have the
    time of their originals; a block has each original once."""
    start = at
    while start > first and rows[start - 1].repeats_time:
        start -= 1
    originals: set[tuple[float | None, str]] = set()
    batch = -1
    for end in range(start, until):
        row = rows[end]
        original = row.timestamp, row.role
        if row.repeats_time:
            if original in originals:
                return start, end
            originals.add(original)
        elif batch < 0 and _is_written(rows, end):
            batch = end
        elif batch < 0 or not _is_together(rows, batch, end):
            return start, end
    return start, until


def _block_of(
    rows: HistoryRows,
    start: int,
    end: int,
    previous: RowBlock,
    above: HistoryRows | None,
    is_edge: bool,
) -> RowBlock | None:
    """Return the block that has these rows; None if no compaction wrote them.

    `is_edge` tells that compacted rows end right before it.
    """
    summaries = [row for row in rows[start:end] if row.summary is not None]
    # Older summaries may be carried over with the new one.
    summary = min(summaries, key=lambda row: row.repeats_time, default=None)
    is_batch = sum(not row.repeats_time for row in rows[start:end]) > 1
    is_first = previous.end == 0
    if is_first and not is_edge and above and all(_repeats(row, above) for row in rows[:start]):
        start = 0  # the head was written before the batch
    before = rows[previous.start : start]
    sent = sent_of(before) if start > 0 else above or ()
    is_known = is_edge or ((is_batch or start > 0) and end - start > 1)
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
