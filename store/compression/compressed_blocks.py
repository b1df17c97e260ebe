"""Find the blocks of rows that Hermes wrote when it compressed a conversation, and the copies in
them.

A store does not record where a block begins and ends. Hermes 0.18 and later write it as a batch:
timestamps a microsecond apart, or those of the original rows. A block that was written row by row
(0.17 and older) ends with the rows that repeat the last ones sent, which is inferred.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from ..messages.chat_message import State
from .history_rows import HistoryRow, is_copy, is_merged

_BATCH_SECONDS = 2e-6
"""Most seconds between two neighbours in a batch: a microsecond, and the precision of a double."""
_WINDOW = 64
"""Most rows of a generation that compression drops between two that it keeps."""


class RowBlock(NamedTuple):
    """Rows of a session that a compaction wrote, by their indexes."""

    start: int
    end: int
    summary: int | None
    is_marked: bool = True
    """Whether the rows before it are marked as compacted, or are in another session."""
    is_known: bool = False
    """Whether the rows leave no doubt about where it ends."""

    def from_start(self) -> RowBlock:
        """Return it with indexes that count from its first row."""
        summary = self.summary - self.start if self.summary is not None else None
        return self._replace(start=0, end=self.end - self.start, summary=summary)


def sent_of(rows: Sequence[HistoryRow]) -> list[HistoryRow]:
    """Return the rows of a generation that were sent when it ended: all that were not rewound."""
    return [row for row in rows if row.state is not State.REWOUND]


class BlockFinder:
    """Finds the blocks in one session.

    Args:
        rows: Of the session, in order of id.
        above: The rows last sent in the previous session of the conversation; None for the root.
        known: Texts of the summaries in earlier sessions; grows.
    """

    def __init__(
        self, rows: Sequence[HistoryRow], above: Sequence[HistoryRow] | None, known: set[str]
    ) -> None:
        self._rows, self._above, self._known = rows, above, known
        self._blocks: list[RowBlock] = []

    def find(self) -> list[RowBlock]:
        """Return the blocks in order."""
        first_live = self._first_live_after_compacted()
        for at, row in enumerate(self._rows):
            is_after_blocks = not self._blocks or at >= self._blocks[-1].end
            if is_after_blocks and (at == first_live or self._is_written(at)):
                self._add(at)
            if row.summary is not None:
                self._known.add(row.summary.text)
        is_rotation = self._above is not None and bool(self._rows)
        if is_rotation and (not self._blocks or self._blocks[0].start > 0):
            self._blocks.insert(0, self._with_tail(RowBlock(0, 0, None), self._above or ()))
        return self._blocks

    def _first_live_after_compacted(self) -> int:
        """Return the first live row if compacted ones are before it, else -1."""
        states = [row.state for row in self._rows]
        first = states.index(State.LIVE) if State.LIVE in states else 0
        return first if State.COMPACTED in states[:first] else -1

    def _is_written(self, at: int) -> bool:
        """Return whether only a compaction can have written a row: a new summary, or the first of a
        batch."""
        if self._rows[at].repeats_time:
            return False
        is_first = at + 1 < len(self._rows) and not self._rows[at + 1].repeats_time
        return self._is_new_summary(at) or (is_first and self._is_together(at + 1, at))

    def _is_new_summary(self, at: int) -> bool:
        summary = self._rows[at].summary
        is_new = summary is not None and summary.text not in self._known
        return is_new and not self._rows[at].repeats_time

    def _add(self, at: int) -> None:
        """Add the block around a row."""
        rows = self._rows
        start, end = self._batch_around(self._anchor(at))
        written = [each for each in range(start, end) if not rows[each].repeats_time]
        is_batch = len(written) > 1
        summary = self._summary_in(start, end)
        is_known = (is_batch or start > 0) and end - start > 1
        if not self._blocks and self._above is not None and _are_copies(rows[:start], self._above):
            start = 0  # the head was written before the batch
        before = rows[self._blocks[-1].start if self._blocks else 0 : start]
        sent = sent_of(before) if start > 0 else self._above or ()
        block = RowBlock(start, end, summary, is_known=is_known)
        if summary is None and not is_batch:
            block = block._replace(end=start)
        if not is_batch:
            block = self._with_tail(block, sent)
        is_marked = all(row.state is not State.LIVE for row in before)
        if not is_marked and not self._blocks and not self._repeats(block, sent):
            block, is_marked = block._replace(start=0), True  # a branch or an import begins with it
        self._blocks.append(block._replace(is_marked=is_marked))

    def _anchor(self, at: int) -> int:
        """Return the first row of a block that was not loaded, if a row begins with loaded ones."""
        loaded = takewhile(lambda row: row.repeats_time, self._rows[at:])
        anchor = at + sum(1 for _row in loaded)
        return anchor if anchor < len(self._rows) and self._is_written(anchor) else at

    def _summary_in(self, start: int, end: int) -> int | None:
        """Return the summary in a block: the new one if older ones were carried over with it."""
        summaries = [each for each in range(start, end) if self._rows[each].summary is not None]
        new = [each for each in summaries if self._is_new_summary(each)]
        return next(iter(new or summaries), None)

    def _batch_around(self, at: int) -> tuple[int, int]:
        """Return the first row of the batch that holds a row, and the row behind its last one."""
        start, end = at, at + 1
        floor = self._blocks[-1].end if self._blocks else 0
        while start > floor and self._is_together(start - 1, at):
            start -= 1
        while end < len(self._rows) and self._is_together(end, at):
            end += 1
        return start, end

    def _is_together(self, at: int, other: int) -> bool:
        """Return whether a row was written with another, or has the time of its original."""
        if self._rows[at].repeats_time:
            return True
        one, two = self._rows[at].timestamp, self._rows[other].timestamp
        return (
            one is not None
            and two is not None
            and abs(one - two) < _BATCH_SECONDS * abs(at - other)
        )

    def _with_tail(self, block: RowBlock, sent: Sequence[HistoryRow]) -> RowBlock:
        """Extend a block that was written row by row by the rows that repeat the last ones sent."""
        rows, end = self._rows, block.end
        for length in range(min(len(sent), len(rows) - end), 0, -1):
            if all(map(is_copy, rows[end : end + length], sent[-length:])):
                is_known = block.is_known or block.start > 0
                return block._replace(end=end + length, is_known=is_known)
        return block

    def _repeats(self, block: RowBlock, sent: Sequence[HistoryRow]) -> bool:
        """Return whether a row of a block is a copy of one that was sent."""
        rows = self._rows[block.start : block.end + _WINDOW]
        return any(_are_copies([row], sent) for row in rows if row.summary is None)


def _are_copies(rows: Sequence[HistoryRow], others: Sequence[HistoryRow]) -> bool:
    return all(any(is_copy(row, other) for other in others) for row in rows)


def find_originals(
    head: Sequence[HistoryRow], tail: Sequence[HistoryRow], sent: Sequence[HistoryRow]
) -> dict[int, int]:
    """Return the originals of the rows of a block: copy → original.

    Args:
        head: Rows before the summary, which repeat the first rows sent.
        tail: Rows after the summary, which repeat the last ones.
        sent: The rows sent before the compaction.
    """
    originals: dict[int, int] = {}
    first, last = 0, len(sent)
    for row in head:
        places = range(first, min(first + _WINDOW, len(sent)))
        place = next((each for each in places if is_copy(row, sent[each])), None)
        if place is not None:
            originals[row.id], first = sent[place].id, place + 1
    for row in reversed(tail):
        places = range(last - 1, max(first, last - _WINDOW) - 1, -1)
        place = next((each for each in places if is_copy(row, sent[each])), None)
        if place is not None:
            originals[row.id], last = sent[place].id, place
    return originals


def find_merged(row: HistoryRow, sent: Sequence[HistoryRow], tail: set[int]) -> int | None:
    """Return the row whose text was merged with a summary; None if there is none.

    `tail` are the ids of the rows of `sent` that were carried over behind the summary.
    """
    last = next((at for at, each in enumerate(sent) if each.id in tail), len(sent))
    near = sent[max(0, last - _WINDOW) : last]
    return next((each.id for each in reversed(near) if is_merged(row, each)), None)
