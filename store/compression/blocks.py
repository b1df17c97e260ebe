"""Where Hermes wrote a block of rows when it compressed a conversation, and which rows of it repeat earlier ones.

Nothing in a store says where a block begins and ends. Three things show it: rows written at once have times a
microsecond apart; rows that had been loaded from the store keep their times; and copies say what their originals say.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from ..messages.blocks import texts_of
from ..messages.models import State
from .rows import Row, is_copy, merged_with, written_at_once

_MOST_BACK = 400
"""Rows before a summary that may have been written with it; Hermes protects three unless told otherwise."""
_WINDOW = 64
"""Rows of a generation that compression may have dropped between two that it kept."""


class Cut(NamedTuple):
    """Where a block begins in a session."""

    start: int
    summary: int | None
    """Index of the row with the summary."""
    is_marked: bool
    """Whether what stands before is marked as compacted, or in another session."""


class Carried(NamedTuple):
    """A row that a compaction wrote again."""

    id: int
    original: int | None
    """The row it repeats; None for one that was not stored before, or that Hermes put in."""
    is_head: bool
    """Whether it stands before the summary."""
    is_changed: bool
    """Whether it says less than the original."""


def sent_of(rows: Sequence[Row]) -> list[Row]:
    """Those of a generation that were sent when it ended: the ones that were not taken back."""
    return [row for row in rows if row.state is not State.REWOUND]


Known = dict[str, set[float | None]]
"""Summaries by their texts, with the times of the rows they stand in."""


def find_cuts(rows: Sequence[Row], known: Known, above: Sequence[Row] | None) -> list[Cut]:
    """Where blocks begin in a session.

    Args:
        rows: Of the session, in order of id.
        known: The summaries of earlier sessions: one that comes again may have been carried over. Grows.
        above: What was sent in the end of the session before, which this one continues; None for the root.
    """
    cuts: list[Cut] = []
    first, begun = -1, None
    for at, row in enumerate(rows):
        low = cuts[-1].start if cuts else 0
        if low != first:
            first = low
            begun = next((each for each in islice(rows, low, None) if each.state is not State.REWOUND), None)
        if begun is not None and at > low and is_copy(row, begun) and _is_written_again(rows, low, at):
            cuts.append(Cut(at, None, not any(each.state is State.LIVE for each in rows[low:at])))
            continue
        if row.summary is None or _is_carried_summary(rows, at, known):
            continue
        known.setdefault(row.summary.text, set()).add(row.timestamp)
        newest = cuts[-1].summary if cuts else None
        if newest is not None and written_at_once(rows[newest], row, at - newest):
            continue  # an older one, carried over behind the new one of the same block
        floor = low if not cuts or cuts[-1].summary is None else cuts[-1].summary + 1
        start = _start(rows, low, max(floor, at - _MOST_BACK), at, above if not cuts else None)
        is_marked = start == 0 or not any(each.state is State.LIVE for each in rows[low:start])
        if not is_marked and not _repeats(rows[start : at + _WINDOW], rows[low:start]):
            start, is_marked = low, True  # a branch or an import: the rows above are the head that was copied with it
        if cuts and start <= cuts[-1].start:  # two in one block: the newer one stands behind what it carried over
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
        elif live < last.start:  # whatever is live was written by the last compaction, or after it
            before = cuts[-2] if len(cuts) > 1 else Cut(0, None, True)
            above_it = before.start if before.summary is None else before.summary
            if above_it < live:
                cuts[-1] = last._replace(start=live)
    return _in_order(cuts)


def _in_order(cuts: Sequence[Cut]) -> list[Cut]:
    """The cuts so that each begins behind the summary of the one before: what is damaged may say otherwise."""
    found: list[Cut] = []
    for cut in sorted(cuts, key=lambda each: each.start):
        before = found[-1] if found else None
        if before is not None and before.summary is not None and cut.start <= before.summary:
            if cut.summary is None or cut.summary <= before.summary:
                continue
            cut = cut._replace(start=before.summary + 1)
        elif before is not None and cut.start == before.start:
            found.pop()
        found.append(cut)
    return found


def _is_carried_summary(rows: Sequence[Row], at: int, known: Known) -> bool:
    """Whether a summary was carried over beside a new one; else the same was written again, in a block of its own.

    Hermes 0.18 does that where there was nothing to summarise: it writes the same rows once more.
    """
    row = rows[at]
    moments = known.get(row.summary.text) if row.summary is not None else None
    if moments is None:
        return False
    others = [
        each
        for each, other in enumerate(rows[: at + _WINDOW])
        if other.summary is not None and each > at - _WINDOW and other.summary.text not in known
    ]
    if row.timestamp in moments or any(
        written_at_once(rows[min(at, b)], rows[max(at, b)], abs(at - b)) for b in others
    ):
        return True
    alone = not any(
        written_at_once(rows[min(at, b)], rows[max(at, b)], 1) for b in (at - 1, at + 1) if 0 <= b < len(rows)
    )
    return alone and bool(others)


def _is_written_again(rows: Sequence[Row], low: int, at: int) -> bool:
    """Whether the rows from one on are the generation above it, whole, written again: there was nothing to summarise.

    Hermes 0.18 does so in place, also several times in a row, when a conversation is too short to be compressed; 0.19
    does it below rows that stay live, with those it had loaded from the store.
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


def _start(rows: Sequence[Row], low: int, floor: int, at: int, above: Sequence[Row] | None) -> int:
    """Where the block of the summary at `at` begins: not before `floor`, in a generation that begins at `low`."""
    if above is not None and at <= _MOST_BACK and all(_is_any(row, above) for row in rows[:at]):
        return 0
    stamp = rows[at].timestamp or 0.0
    near = (start for start in range(floor, at) if stamp - (rows[start].timestamp or 0.0) < 0.01)
    start = next((start for start in near if written_at_once(rows[start], rows[at], at - start)), at)
    begun = sent_of(rows[low:at])
    if start == at and begun:
        # The head is written again as it was: the longest run before the summary that repeats how it all began.
        for place in range(max(floor, (low + at + 1) // 2), at):
            if is_copy(rows[place], begun[0]) and all(map(is_copy, rows[place:at], begun)):
                start = place
                break
    # What had been loaded from the store keeps its times.
    while start - 1 > max(floor, low) and _is_loaded(rows[start - 1], rows[low : start - 1]):
        start -= 1
    return start


def _is_loaded(row: Row, before: Sequence[Row]) -> bool:
    """Whether a row is one before it to the time, written again."""
    return row.timestamp is not None and any(
        row.timestamp == other.timestamp and is_copy(row, other) for other in before
    )


def _is_any(row: Row, others: Sequence[Row]) -> bool:
    return any(is_copy(row, other) for other in others)


def _repeats(rows: Sequence[Row], before: Sequence[Row]) -> bool:
    """Whether any of these rows repeats one before them."""
    return any(_is_any(row, before[-_MOST_BACK:]) for row in rows if row.summary is None)


def end_of_block(rows: Sequence[Row], summary: int | None, sent: Sequence[Row]) -> tuple[int, bool]:
    """How many rows of a generation its compaction wrote, and whether that is certain.

    Args:
        rows: The generation; it begins with the block.
        summary: Index of the summary; None where there is none.
        sent: What was sent before.
    """
    if summary is None and sent and len(rows) >= len(sent) and all(map(is_copy, rows, sent)):
        return len(sent), True
    first = summary if summary is not None else 0
    end = first + 1 if summary is not None else 0
    is_known = any(
        written_at_once(rows[at], rows[first], first - at) for at in range(max(0, first - _MOST_BACK), first)
    )
    moments = {row.timestamp for row in sent}
    for at in range(first + 1, len(rows)):
        at_once = written_at_once(rows[first], rows[at], at - first)
        if not at_once and not (rows[at].timestamp in moments and _is_any(rows[at], sent)):
            break
        end, is_known = at + 1, True
    if is_known:
        return end, True
    # Each row was written by itself (0.17 and older): what repeats the end of what was sent belongs to the block.
    best, reaches = end, False
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
                reaches = True
                break
    return best, reaches


def carried(
    rows: Sequence[Row], summary: int | None, end: int, sent: Sequence[Row]
) -> tuple[tuple[Carried, ...], int | None]:
    """The rows that were carried over, with their originals, and the original that is merged with the summary.

    Args:
        rows: The generation; it begins with the block.
        summary: Index of the summary.
        end: Length of the block.
        sent: What was sent before.
    """
    first = summary if summary is not None else 0
    found: dict[int, Row] = {}
    place = 0
    for at in range(first):
        match = next(
            (each for each in range(place, min(place + _WINDOW, len(sent))) if is_copy(rows[at], sent[each])), None
        )
        if match is not None:
            found[at], place = sent[match], match + 1
        elif rows[at].role == "user":  # Hermes puts the newest request of the user in front where none would be left
            anchor = next((each for each in reversed(sent) if is_copy(rows[at], each)), None)
            if anchor is not None:
                found[at] = anchor
    taken = {row.id for row in found.values()}
    last = len(sent) - 1
    for at in range(end - 1, first if summary is not None else -1, -1):
        low = max(-1, last - _WINDOW)
        match = next(
            (each for each in range(last, low, -1) if sent[each].id not in taken and is_copy(rows[at], sent[each])),
            None,
        )
        if match is not None:
            found[at], last = sent[match], match - 1
    merged = None
    if summary is not None and (message := rows[summary].summary) is not None:
        said = texts_of(message).said
        low = max(-1, last - _WINDOW)
        merged = next(
            (sent[each].id for each in range(last, low, -1) if merged_with(rows[summary], sent[each], said)), None
        )
    kept = tuple(
        Carried(rows[at].id, found[at].id if at in found else None, at < first, False)
        for at in range(end)
        if at != summary
    )
    return kept, merged
