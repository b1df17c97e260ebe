"""Find the blocks of rows that Hermes wrote when it compressed a conversation, and the copies in them.

A store does not record where a block begins and ends. It is inferred from three facts: rows written as a batch have
timestamps a microsecond apart; rows that Hermes loaded from the store keep their timestamps; copies equal their
originals.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from ..messages.chat_message import State
from .history_rows import HistoryRow, is_copy, merged_with, written_at_once

_MAX_BEFORE = 400
"""Most rows before a summary that may belong to its block; by default Hermes keeps three."""
_WINDOW = 64
"""Most rows of a generation that compression drops between two that it keeps."""


class Cut(NamedTuple):
    """The beginning of a block in a session."""

    start: int
    summary: int | None
    """Index of the row with the summary."""
    is_marked: bool
    """Whether the rows before it are marked as compacted, or are in another session."""


class Carried(NamedTuple):
    """A row that a compaction wrote again."""

    id: int
    original: int | None
    """Id of the original; None if it was not stored before, or if Hermes inserted it."""
    is_head: bool
    """Whether it is before the summary."""
    is_changed: bool
    """Whether it is shorter than the original."""


def sent_of(rows: Sequence[HistoryRow]) -> list[HistoryRow]:
    """Return the rows of a generation that were sent when it ended: all that were not rewound."""
    return [row for row in rows if row.state is not State.REWOUND]


Known = dict[str, set[float | None]]
"""Times of the rows that hold a summary, by its text."""


def find_cuts(rows: Sequence[HistoryRow], known: Known, above: Sequence[HistoryRow] | None) -> list[Cut]:
    """Return the beginnings of the blocks in a session.

    Args:
        rows: Of the session, in order of id.
        known: The summaries of earlier sessions, because a repeated one may have been carried over; grows.
        above: The rows last sent in the previous session of the conversation; None for the root.
    """
    cuts: list[Cut] = []
    first_from, first_sent = -1, None
    for at, row in enumerate(rows):
        low = cuts[-1].start if cuts else 0
        if low != first_from:
            first_from = low
            first_sent = next((each for each in islice(rows, low, None) if each.state is not State.REWOUND), None)
        if first_sent is not None and at > low and is_copy(row, first_sent) and _is_written_again(rows, low, at):
            cuts.append(Cut(at, None, not any(each.state is State.LIVE for each in rows[low:at])))
            continue
        if row.summary is None or _is_carried_summary(rows, at, known):
            continue
        known.setdefault(row.summary.text, set()).add(row.timestamp)
        newest_summary = cuts[-1].summary if cuts else None
        if newest_summary is not None and written_at_once(rows[newest_summary], row, at - newest_summary):
            continue  # an older summary, carried over after the new one of the same block
        floor = low if not cuts or cuts[-1].summary is None else cuts[-1].summary + 1
        start = _block_start(rows, low, max(floor, at - _MAX_BEFORE), at, above if not cuts else None)
        is_marked = start == 0 or not any(each.state is State.LIVE for each in rows[low:start])
        if not is_marked and not _repeats(rows[start : at + _WINDOW], rows[low:start]):
            start, is_marked = low, True  # a branch or an import: the rows before it are the head of the block
        if (
            cuts and start <= cuts[-1].start
        ):  # two summaries in one block: the newer one follows the rows it carried over
            start, is_marked = cuts[-1].start, cuts.pop().is_marked
        cuts.append(Cut(start, at, is_marked))
    if above is not None and (not cuts or cuts[0].start > 0):
        cuts.insert(0, Cut(0, None, True))
    live = next((at for at, row in enumerate(rows) if row.state is State.LIVE), len(rows))
    if live < len(rows) and any(row.state is State.COMPACTED for row in rows[:live]):
        last = cuts[-1] if cuts else Cut(0, None, True)
        is_replaced = last.summary is None or rows[last.summary].state is State.COMPACTED
        if last.start < live and is_replaced:
            cuts.append(Cut(live, None, True))
        elif live < last.start:  # live rows were written by the last compaction, or after it
            before = cuts[-2] if len(cuts) > 1 else Cut(0, None, True)
            above_it = before.start if before.summary is None else before.summary
            if above_it < live:
                cuts[-1] = last._replace(start=live)
    return _in_order(cuts)


def _in_order(cuts: Sequence[Cut]) -> list[Cut]:
    """Sort the cuts, and make each begin after the summary of the previous one, also in a damaged store."""
    ordered: list[Cut] = []
    for cut in sorted(cuts, key=lambda each: each.start):
        before = ordered[-1] if ordered else None
        if before is not None and before.summary is not None and cut.start <= before.summary:
            if cut.summary is None or cut.summary <= before.summary:
                continue
            cut = cut._replace(start=before.summary + 1)
        elif before is not None and cut.start == before.start:
            ordered.pop()
        ordered.append(cut)
    return ordered


def _is_carried_summary(rows: Sequence[HistoryRow], at: int, known: Known) -> bool:
    """Return whether a summary was carried over next to a new one, not written again in a block of its own.

    Hermes 0.18 does the latter if there was nothing to summarise: it writes the same rows again.
    """
    row = rows[at]
    times = known.get(row.summary.text) if row.summary is not None else None
    if times is None:
        return False
    new_summaries = [
        each
        for each, other in enumerate(rows[: at + _WINDOW])
        if other.summary is not None and each > at - _WINDOW and other.summary.text not in known
    ]
    if row.timestamp in times or any(
        written_at_once(rows[min(at, b)], rows[max(at, b)], abs(at - b)) for b in new_summaries
    ):
        return True
    is_alone = not any(
        written_at_once(rows[min(at, b)], rows[max(at, b)], 1) for b in (at - 1, at + 1) if 0 <= b < len(rows)
    )
    return is_alone and bool(new_summaries)


def _is_written_again(rows: Sequence[HistoryRow], low: int, at: int) -> bool:
    """Return whether the rows from `at` repeat the whole generation from `low`: there was nothing to summarise.

    Hermes 0.18 does so in place, also several times in a row, if a conversation is too short to be compressed; 0.19
    does it after rows that stay live, with rows it had loaded from the store.
    """
    sent = sent_of(rows[low:at])
    if (
        any(row.state is State.LIVE for row in sent)
        or len(rows) - at < len(sent)
        or not all(map(is_copy, rows[at:], sent))
    ):
        return False
    again = rows[at : at + len(sent)]
    if any(row.timestamp is not None and row.timestamp == old.timestamp for row, old in zip(again, sent, strict=True)):
        return True
    return len(sent) > 1 and all(written_at_once(again[0], row, place) for place, row in enumerate(again))


def _block_start(rows: Sequence[HistoryRow], low: int, floor: int, at: int, above: Sequence[HistoryRow] | None) -> int:
    """Return where the block of the summary at `at` begins: not before `floor`, in the generation from `low`."""
    if above is not None and at <= _MAX_BEFORE and all(_is_copy_of_any(row, above) for row in rows[:at]):
        return 0
    stamp = rows[at].timestamp or 0.0
    near = (start for start in range(floor, at) if stamp - (rows[start].timestamp or 0.0) < 0.01)
    start = next((start for start in near if written_at_once(rows[start], rows[at], at - start)), at)
    sent = sent_of(rows[low:at])
    if start == at and sent:
        # The head is copied unchanged: find the longest run before the summary that repeats the first rows.
        for place in range(max(floor, (low + at + 1) // 2), at):
            if is_copy(rows[place], sent[0]) and all(map(is_copy, rows[place:at], sent)):
                start = place
                break
    # Rows that Hermes loaded from the store keep their times.
    while start - 1 > max(floor, low) and _is_loaded_copy(rows[start - 1], rows[low : start - 1]):
        start -= 1
    return start


def _is_loaded_copy(row: HistoryRow, before: Sequence[HistoryRow]) -> bool:
    """Return whether a row is a copy of an earlier one with the same time."""
    return row.timestamp is not None and any(
        row.timestamp == other.timestamp and is_copy(row, other) for other in before
    )


def _is_copy_of_any(row: HistoryRow, others: Sequence[HistoryRow]) -> bool:
    return any(is_copy(row, other) for other in others)


def _repeats(rows: Sequence[HistoryRow], before: Sequence[HistoryRow]) -> bool:
    """Return whether any of these rows is a copy of one before them."""
    return any(_is_copy_of_any(row, before[-_MAX_BEFORE:]) for row in rows if row.summary is None)


def end_of_block(rows: Sequence[HistoryRow], summary: int | None, sent: Sequence[HistoryRow]) -> tuple[int, bool]:
    """Return the length of the block at the beginning of a generation, and whether it is certain.

    Args:
        rows: The generation.
        summary: Index of the summary; None if there is none.
        sent: The rows sent before the compaction.
    """
    if summary is None and sent and len(rows) >= len(sent) and all(map(is_copy, rows, sent)):
        return len(sent), True
    first = summary if summary is not None else 0
    end = first + 1 if summary is not None else 0
    is_known = any(
        written_at_once(rows[at], rows[first], first - at) for at in range(max(0, first - _MAX_BEFORE), first)
    )
    sent_times = {row.timestamp for row in sent}
    for at in range(first + 1, len(rows)):
        at_once = written_at_once(rows[first], rows[at], at - first)
        if not at_once and not (rows[at].timestamp in sent_times and _is_copy_of_any(rows[at], sent)):
            break
        end, is_known = at + 1, True
    if is_known:
        return end, True
    # Each row was written by itself (0.17 and older): rows that repeat the last sent ones belong to the block.
    best, reaches_end = end, False
    for place in range(len(sent)):
        length = 0
        while (
            end + length < len(rows)
            and place + length < len(sent)
            and is_copy(rows[end + length], sent[place + length])
        ):
            length += 1
        if length and (place + length == len(sent) or end + length > best):
            best = end + length
            if place + length == len(sent):
                reaches_end = True
                break
    return best, reaches_end


def carried(
    rows: Sequence[HistoryRow], summary: int | None, end: int, sent: Sequence[HistoryRow]
) -> tuple[tuple[Carried, ...], int | None]:
    """Return the rows that were carried over, and the id of the original that was merged with the summary.

    Args:
        rows: The generation; it begins with the block.
        summary: Index of the summary; None if there is none.
        end: Length of the block.
        sent: The rows sent before the compaction.
    """
    first = summary if summary is not None else 0
    originals: dict[int, HistoryRow] = {}
    place = 0
    for at in range(first):
        match = next(
            (each for each in range(place, min(place + _WINDOW, len(sent))) if is_copy(rows[at], sent[each])), None
        )
        if match is not None:
            originals[at], place = sent[match], match + 1
        elif rows[at].role == "user":  # Hermes inserts the newest user message if none would be left
            anchor = next((each for each in reversed(sent) if is_copy(rows[at], each)), None)
            if anchor is not None:
                originals[at] = anchor
    matched = {row.id for row in originals.values()}
    last = len(sent) - 1
    for at in range(end - 1, first if summary is not None else -1, -1):
        low = max(-1, last - _WINDOW)
        match = next(
            (each for each in range(last, low, -1) if sent[each].id not in matched and is_copy(rows[at], sent[each])),
            None,
        )
        if match is not None:
            originals[at], last = sent[match], match - 1
    merged = None
    if summary is not None and (message := rows[summary].summary) is not None:
        text = message.said
        low = max(-1, last - _WINDOW)
        merged = next(
            (sent[each].id for each in range(last, low, -1) if merged_with(rows[summary], sent[each], text)), None
        )
    kept = tuple(
        Carried(rows[at].id, originals[at].id if at in originals else None, at < first, False)
        for at in range(end)
        if at != summary
    )
    return kept, merged
