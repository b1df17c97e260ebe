"""Find the blocks of rows that Hermes wrote when it compressed a conversation, and the copies in
them.

A store does not record where a block begins and ends. Since 0.18 Hermes writes it as a batch, whose
timestamps are a microsecond apart; rows that it had loaded from the store keep their timestamps.
Hermes 0.17 and older wrote row by row: there the end of a block is inferred from what the rows say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..messages.chat_message import State
from .history_rows import HistoryRow, is_copy, merged_with, written_at_once

_WINDOW = 64
"""Most rows of a generation that compression drops between two that it keeps."""


class RowBlock(NamedTuple):
    """Rows of a session that a compaction wrote, by their indexes."""

    start: int
    end: int
    summary: int | None
    """The row with the summary."""
    is_marked: bool = True
    """Whether the rows before it are marked as compacted, or are in another session."""
    is_known: bool = False
    """Whether the rows leave no doubt about where it ends."""


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
        seen = {(row.timestamp, row.role) for row in above or ()}
        self._is_loaded: list[bool] = []
        """By index, whether a row keeps the time of an earlier one: Hermes loaded that and wrote it
        again."""
        for row in rows:
            key = (row.timestamp, row.role)
            self._is_loaded.append(row.timestamp is not None and key in seen)
            seen.add(key)

    def find(self) -> list[RowBlock]:
        """Return the blocks in order."""
        for at in range(len(self._rows)):
            is_in_block = bool(self._blocks) and at < self._blocks[-1].end
            if not is_in_block and (self._is_written(at) or self._is_repeated(at)):
                self._add(at)
        if (
            self._above is not None
            and self._rows
            and (not self._blocks or self._blocks[0].start > 0)
        ):
            self._blocks.insert(0, self._with_tail(RowBlock(0, 0, None)))
        self._add_live()
        return self._blocks

    def _is_written(self, at: int) -> bool:
        """Return whether only a compaction can have written a row: a new summary, or the first of a
        batch."""
        if at == len(self._rows) or self._is_loaded[at]:
            return False
        if self._is_new_summary(at):
            return True
        return at + 1 < len(self._rows) and written_at_once(self._rows[at], self._rows[at + 1], 1)

    def _is_new_summary(self, at: int) -> bool:
        summary = self._rows[at].summary
        return summary is not None and summary.text not in self._known

    def _is_repeated(self, at: int) -> bool:
        """Return whether a generation is written again from here: there was nothing to summarise
        (0.18)."""
        if not self._is_loaded[at]:
            return False
        sent = self._sent_before(at)
        if not sent or not is_copy(self._rows[at], sent[0]):
            return False
        loaded = range(at, len(self._rows))
        end = next((each for each in loaded if not self._is_loaded[each]), len(self._rows))
        return not self._is_written(end)

    def _add(self, at: int) -> None:
        """Add the block around a row, if a compaction wrote it."""
        rows = self._rows
        low = self._blocks[-1].start if self._blocks else 0
        start, end = self._bounds(at)
        summary = self._summary_of(start, end)
        is_batch = any(each != at and not self._is_loaded[each] for each in range(start, end))
        if not self._blocks and self._above is not None and _are_copies(rows[:start], self._above):
            start = 0
        sent = self._sent_before(start)
        if summary is None and not (sent and is_copy(rows[start], sent[0])):
            return
        is_marked = not any(row.state is State.LIVE for row in rows[low:start])
        if not is_marked and not self._blocks and not _repeat(rows[start : end + _WINDOW], sent):
            start, is_marked = 0, True  # a branch or an import: the rows before it are its head
        is_known = is_batch or (start > 0 and end - start > 1)
        block = RowBlock(start, end, summary, is_marked, is_known)
        self._blocks.append(block if is_batch else self._with_tail(block))

    def _summary_of(self, start: int, end: int) -> int | None:
        """Return the summary in a block: the new one if older ones were carried over with it."""
        places = [at for at in range(start, end) if self._rows[at].summary is not None]
        own = [at for at in places if self._is_new_summary(at) and not self._is_loaded[at]]
        texts = (row.summary.text for row in self._rows[start:end] if row.summary is not None)
        self._known.update(texts)
        return next(iter(own or places), None)

    def _bounds(self, at: int) -> tuple[int, int]:
        """Return the first row of the batch around a row, and the row behind its last one."""
        floor = self._blocks[-1].end if self._blocks else 0
        start, end = at, at + 1
        while start > floor and self._belongs(start - 1, at):
            start -= 1
        while end < len(self._rows) and self._belongs(end, at):
            if self._is_loaded[end] and self._rows[end].timestamp == self._rows[start].timestamp:
                break  # the same rows, written once more (0.18)
            end += 1
        return start, end

    def _belongs(self, at: int, anchor: int) -> bool:
        """Return whether a row was written with another, or keeps the time of its original."""
        return self._is_loaded[at] or written_at_once(
            self._rows[anchor], self._rows[at], at - anchor
        )

    def _sent_before(self, start: int) -> list[HistoryRow]:
        """Return the rows sent before the block that begins at an index."""
        low = self._blocks[-1].start if self._blocks else 0
        return sent_of(self._rows[low:start]) if start > 0 else list(self._above or ())

    def _with_tail(self, block: RowBlock) -> RowBlock:
        """Extend a block that was written row by row by the rows that repeat the last ones sent."""
        rows, end, sent = self._rows, block.end, self._sent_before(block.start)
        left = len(sent) - (end - block.start - (block.summary is not None))
        for length in range(min(left, len(rows) - end), 0, -1):
            if all(map(is_copy, rows[end : end + length], sent[-length:])):
                return block._replace(end=end + length, is_known=block.start > 0)
        return block

    def _add_live(self) -> None:
        """Let a generation begin at the first live row after compacted ones, also where no summary
        is stored."""
        rows, blocks = self._rows, self._blocks
        live = next((at for at, row in enumerate(rows) if row.state is State.LIVE), len(rows))
        if live == len(rows) or not any(row.state is State.COMPACTED for row in rows[:live]):
            return
        last = blocks[-1] if blocks else RowBlock(0, 0, None)
        if last.start < live:
            if last.summary is None or rows[last.summary].state is State.COMPACTED:
                if blocks:
                    blocks[-1] = last._replace(end=min(last.end, live))
                blocks.append(self._with_tail(RowBlock(live, live, None)))
        elif len(blocks) < 2 or blocks[-2].end <= live:
            blocks[-1] = last._replace(start=live)


def _are_copies(rows: Sequence[HistoryRow], others: Sequence[HistoryRow]) -> bool:
    return all(any(is_copy(row, other) for other in others) for row in rows)


def _repeat(rows: Sequence[HistoryRow], sent: Sequence[HistoryRow]) -> bool:
    """Return whether any of these rows is a copy of one that was sent."""
    return any(is_copy(row, other) for row in rows if row.summary is None for other in sent)


def find_originals(
    rows: Sequence[HistoryRow], head: int, sent: Sequence[HistoryRow]
) -> dict[int, int]:
    """Return the originals of the rows of a block: copy → original.

    Args:
        rows: Of the block.
        head: Number of its rows before the summary, which repeat the first rows sent; the others
            repeat the last.
        sent: The rows sent before the compaction.
    """
    originals: dict[int, int] = {}
    first, last = 0, len(sent)
    for row in rows[:head]:
        places = range(first, min(first + _WINDOW, len(sent)))
        place = next((each for each in places if is_copy(row, sent[each])), None)
        if place is not None:
            originals[row.id], first = sent[place].id, place + 1
        elif row.role == "user":  # Hermes inserts the newest user message if none would be left
            originals |= next(
                ({row.id: each.id} for each in reversed(sent) if is_copy(row, each)), {}
            )
    for row in reversed(rows[head:]):
        places = range(last - 1, max(first - 1, last - 1 - _WINDOW), -1)
        place = next((each for each in places if is_copy(row, sent[each])), None)
        if place is not None:
            originals[row.id], last = sent[place].id, place
    return originals


def find_merged(row: HistoryRow, sent: Sequence[HistoryRow], tail: set[int]) -> int | None:
    """Return the row whose text was merged with a summary; None if there is none.

    Args:
        row: The row with the summary.
        sent: The rows sent before the compaction.
        tail: The rows of `sent` that were carried over behind the summary.
    """
    if row.summary is None:
        return None
    said = row.summary.said
    last = next((at for at, each in enumerate(sent) if each.id in tail), len(sent))
    near = sent[max(0, last - _WINDOW) : last]
    return next((each.id for each in reversed(near) if merged_with(row, each, said)), None)
