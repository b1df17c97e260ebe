"""Find the blocks that Hermes wrote when it compressed a conversation, and the copies in them.

One compression, and the words for its rows:

    1 hello    2 hi    3 fix it    4 read_file    5 done      *sent* before; they end a *generation*
    6 hello    7 summary of 2 to 4    8 done                  the *block* that it *wrote*
    9 thanks    10 welcome                                    rows *since*; 6 to 10: a generation

*Kept*: 6, the *head*, and 8, the *tail*, copies of 1 and 5. *Replaced*, and so *gone*: 2 to 4.
*Instead* the model had 6 to 8. Without 8, row 5 may have been kept, but *not stored again*.

A store does not record where a block begins and ends. Hermes 0.18 and later write it at once: the
rows are a microsecond apart, or have the times of the rows that they repeat. Older releases wrote
row by row: the rows around the summary that repeat what was sent before are taken for its block,
which is inferred.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from itertools import pairwise, takewhile
from math import nan
from typing import NamedTuple

from ..messages.chat_message import State, split_summary
from .history_rows import HistoryRow, HistoryRows

_BATCH_SECONDS = 2e-6
"""Most seconds between two neighbours written at once: a microsecond, and the precision of a
double."""
_MOST_DROPPED = 64
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


def find_blocks(rows: HistoryRows, above: HistoryRows) -> list[RowBlock]:
    """Find the blocks in one session, in order; the first one begins with it, and may be empty.

    `above` are the rows last sent in the previous session of the conversation.
    """
    blocks: list[RowBlock] = []
    previous = RowBlock(0, 0)
    edge = 1 + max((at for at, row in enumerate(rows) if row.state is State.COMPACTED), default=-1)
    first_live = next((at for at, row in enumerate(rows) if row.state is State.LIVE), -1)
    batches = _batches(rows)
    starts = {edge, *batches, *(at for at, row in enumerate(rows) if row.is_loaded)}
    end = 0
    for at in sorted(starts):
        if at < max(end, previous.end):
            continue
        end = _end_of_run(rows, at, edge if at < edge else len(rows), batches)
        # Compression in place marks all live rows, then writes: what is live behind them begins
        # with its block, unless that was taken back.
        is_edge = at == edge == first_live > previous.start
        block = _block_of(rows, at, end, previous, above, is_edge=is_edge)
        if block is not None:
            blocks.append(block)
            previous = block
    if not blocks or blocks[0].start > 0:
        blocks.insert(0, RowBlock(0, _end_of_copies(rows, 0, above)))
    return blocks


def _batches(rows: HistoryRows) -> dict[int, int]:
    """Return the places of the rows that a compaction may have written, each with the first one of
    its batch; a summary may be one alone.

    Hermes 0.18 and later let the times in a batch be a microsecond apart; equal ones are those of
    one turn.
    """
    new = [at for at, row in enumerate(rows) if not row.is_loaded]
    batches = {at: at for at in new if rows[at].summary_text}
    for at, later in pairwise(new):
        begun, time = rows[at].timestamp or nan, rows[later].timestamp or nan
        if 0 < time - begun < _BATCH_SECONDS * (later - at):
            batches[later] = batches.setdefault(at, at)
    return batches


def _end_of_run(rows: HistoryRows, start: int, limit: int, batches: Mapping[int, int]) -> int:
    """Return the end of the rows from a place on that one compaction may have written, up to a
    limit: those of one batch, and rows that Hermes loaded, each once."""
    stamps: set[object] = set()
    batch: int | None = None
    for at in range(start, limit):
        row = rows[at]
        if row.is_loaded:
            stamp = row.timestamp, row.role
            if stamp in stamps:
                return at
            stamps.add(stamp)
        else:
            own = batches.get(at)
            if own is None or batch not in (None, own):
                return at
            batch = own
    return limit


def _block_of(
    rows: HistoryRows,
    start: int,
    end: int,
    previous: RowBlock,
    above: HistoryRows,
    *,
    is_edge: bool,
) -> RowBlock | None:
    """Return the block that has these rows; None if no compaction wrote them.

    `is_edge` tells that compacted rows end right before them.
    """
    count = sum(not row.is_loaded for row in rows[start:end])
    # Rows that Hermes loaded belong to the block before them, unless they are in there already.
    is_next = start == previous.end and 0 < start < end
    if not (is_edge or is_next or count):
        return None
    summaries = [row for row in rows[start:end] if row.summary_text]
    # Older summaries may be carried over with the new one.
    summary = min(summaries, key=lambda row: row.is_loaded, default=None)
    is_first = previous.end == 0
    if is_first and above and _end_of_copies(rows, 0, above) >= start:
        start = 0  # the head was written before the batch
    before = rows[previous.start : start]
    sent = sent_of(before) if start > 0 else above
    is_known = is_edge or ((count > 1 or start > 0) and end - start > 1)
    if not is_known:
        end = _end_of_copies(rows, start if summary is None else end, sent)
    states = {row.state for row in before}
    is_marked = State.LIVE not in states
    if summary is None and State.COMPACTED not in states:
        return None  # an edit writes all messages once more
    again = {row.copied for row in rows[start:end] if not row.summary_text}
    has_copies = any(row.copied in again for row in sent)
    if not (has_copies or (is_marked and is_known)):
        if not is_first:
            return None
        start, is_marked = 0, True  # a branch or an import begins with it, and with any later ones
    return RowBlock(start, end, summary, is_marked, is_known)


def _end_of_copies(rows: HistoryRows, start: int, sent: HistoryRows) -> int:
    """Return the end of the rows that repeat rows that were sent, from a place on."""
    there = {row.copied for row in sent}
    places = range(start, len(rows))
    return next((at for at in places if rows[at].copied not in there), len(rows))


def pair_copies(copies: HistoryRows, sent: HistoryRows) -> Iterator[tuple[int, int]]:
    """Yield the ids of copies with those of their originals, which stand in the same order."""
    place = 0
    for copy in copies:
        near = [row.copied for row in sent[place : place + _MOST_DROPPED]]
        if copy.copied in near:
            place += near.index(copy.copied) + 1
            yield copy.id, sent[place - 1].id


def find_merged(summary: HistoryRow, sent: HistoryRows, tail: Container[int | None]) -> int | None:
    """Return the row whose text was merged with a summary; None if there is none.

    `tail` are the ids of the rows of `sent` that were carried over behind the summary.
    """
    said = split_summary(summary.summary_text)[1]
    before_tail = list(takewhile(lambda row: row.id not in tail, sent))
    for row in reversed(before_tail[-_MOST_DROPPED:]):
        if (row.role, row.call) == (summary.role, summary.call):
            head = str(row.fingerprint[2] or "").strip()
            if row.call or (head and said.startswith(head)):
                return row.id
    return None
