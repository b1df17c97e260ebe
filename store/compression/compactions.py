"""Find the compactions of a conversation: the replaced rows, the summary, and the rows that were
carried over.

Hermes compresses in two ways (agent/conversation_compression.py, 0.16 to 0.19). By rotation it ends
the session and writes a new one; in place (since 0.18) it marks all live rows as compacted and
writes new ones after them. Either way it writes a *block*: copies of the first messages, the
summary, and copies of the last messages. If roles would not alternate, it merges the summary with
one of the copies. The rows from one block to the next are a *generation*: the model is always sent
one generation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..sessions.models import Session
from . import HARMLESS, CompactionNote
from .blocks import RowBlock, find_blocks, find_merged, pair_copies, sent_of
from .history_rows import WHITE, HistoryRow, HistoryRows, RowOrigin, read_rows

_EQUAL = f"""
    SELECT copy.id FROM json_each(?) AS pair
    JOIN message_rows AS copy ON copy.id = json_extract(pair.value, '$[0]')
    JOIN message_rows AS original ON original.id = json_extract(pair.value, '$[1]')
    WHERE trim(copy.content, {WHITE}) IS trim(original.content, {WHITE})
        AND trim(copy.tool_calls, {WHITE}) IS trim(original.tool_calls, {WHITE})
        AND copy.role = original.role AND copy.tool_call_id IS original.tool_call_id
        AND copy.tool_name IS original.tool_name
"""
"""The copies that are equal to their originals, white space around them aside."""
_FALLBACK = "Summary generation was unavailable"
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


class IdGap(NamedTuple):
    """Ids between two neighbouring rows of a session that no row of the store has.

    They belonged to deleted rows (AUTOINCREMENT never reuses an id,
    https://sqlite.org/autoinc.html) of this session or of another: all share the ids.
    """

    first: int
    last: int
    number: int
    """Missing ids from `first` to `last`."""


class Compaction(NamedTuple):
    """One compression of a conversation. Ids are those of `messages`, in order."""

    at: float | None
    """Unix seconds when its first row was written; if aborted, when the session ended."""
    session_id: str
    """Session whose rows were replaced."""
    into_session_id: str | None
    """Session that continues: the same one if in place, None if there is none."""
    before: tuple[int, ...]
    """Rows last sent to the model before it: the generation, older summaries included."""
    instead: tuple[int, ...]
    """Rows that the model had from then on: the summary among what was carried over; if aborted,
    what a resume sends."""
    bytes_before: int
    bytes_after: int
    """Of the rows in `instead`."""
    notes: tuple[CompactionNote, ...]
    replaced: tuple[int, ...] = ()
    """Rows of `before` that the summary replaces."""
    summary: int | None = None
    merged: int | None = None
    """Row whose text was merged with the summary."""
    kept: tuple[int, ...] = ()
    """Rows that it wrote again, before the summary and after it."""
    originals: tuple[int | None, ...] = ()
    """Those that they repeat (`HistoryRow.original`)."""
    shortened: tuple[int, ...] = ()
    """Rows of `kept` that are shorter than their originals."""
    not_stored_again: tuple[int, ...] = ()
    """Newest rows of `before` that the model kept, but that were not written again."""
    since: tuple[int, ...] = ()
    """Rows after the block, up to the next compaction."""
    empty_sessions: tuple[str, ...] = ()
    """Empty sessions between the two."""
    gap: IdGap | None = None
    """Ids missing in its block."""

    @property
    def is_in_place(self) -> bool:
        """Whether the same session continues it: neither another one, nor none."""
        return self.into_session_id == self.session_id

    @property
    def is_known(self) -> bool:
        """Whether the rows leave no doubt about it."""
        return HARMLESS.issuperset(self.notes)

    @property
    def is_aborted(self) -> bool:
        """Whether Hermes ended the session to compress it, and wrote nothing after that."""
        return CompactionNote.ABORTED in self.notes

    @property
    def is_broken(self) -> bool:
        """Whether no summary stands for the rows before it, or it was aborted."""
        is_without = self.is_aborted or CompactionNote.NO_SUMMARY in self.notes
        return is_without and bool(self.before)

    @property
    def is_still_there(self) -> bool:
        """Whether a resume sends all messages from before it: it was aborted, and no session
        follows."""
        return self.is_aborted and not self.empty_sessions

    @property
    def gone(self) -> tuple[int, ...]:
        """Rows that the model had before the compaction and not after it.

        If empty sessions follow an aborted one, Hermes resumes the last of them and starts fresh
        (0.16 to 0.19).
        """
        return self.before if self.is_aborted and self.empty_sessions else self.replaced


class Generation(NamedTuple):
    """Rows of one session that were sent together."""

    segment: int
    rows: tuple[HistoryRow, ...]
    block_length: int = 0
    """Number of its first rows that a compaction wrote."""
    compaction: Compaction | None = None
    """That compaction; None at the beginning of a conversation."""


class CompactionHistory(NamedTuple):
    """All generations of a conversation, oldest first."""

    generations: tuple[Generation, ...] = ()
    compactions: tuple[Compaction, ...] = ()
    """Oldest first; after the last one perhaps nothing was written."""
    gaps: Mapping[int, IdGap] = {}
    """Row → ids missing in the store before it."""

    @property
    def copies(self) -> dict[int, int]:
        """Copy → original, which may itself be a copy."""
        return {row.id: row.original for row in self.rows if row.original is not None}

    @property
    def rows(self) -> list[HistoryRow]:
        """The rows of all generations."""
        return [row for generation in self.generations for row in generation.rows]


def _ids(rows: Iterable[HistoryRow]) -> tuple[int, ...]:
    return tuple(row.id for row in rows)


def _size(rows: Iterable[HistoryRow]) -> int:
    return sum(row.size for row in rows)


def read_history(
    reader: Reader, segments: Sequence[Session], *, with_gaps: bool = True
) -> CompactionHistory:
    """Find the compactions of a conversation from its sessions, root first, and the ids that are
    missing between its rows."""
    searched = segments if with_gaps else ()
    found = (row for session in searched for row in reader.rows(_GAPS, [session.id]))
    gaps = {as_int(after): IdGap(*map(as_int, gap)) for after, *gap in found}
    generations: list[Generation] = []
    previous = Generation(-1, ())
    for segment, rows in enumerate(read_rows(reader, segments)):
        blocks = find_blocks(rows, sent_of(previous.rows)) if rows else []
        ends = [*(block.start for block in blocks[1:]), len(rows)]
        for block, end in zip(blocks, ends, strict=False):
            length = block.end - block.start
            generation = Generation(segment, tuple(rows[block.start : end]), length)
            if segment > 0 or block.end > 0:
                generation = _compressed(reader, segments, previous, generation, block, gaps)
            generations.append(generation)
            previous = generation
    compactions = [each.compaction for each in generations if each.compaction is not None]
    if generations and segments[previous.segment].end_reason == "compression":
        compactions.append(_aborted(previous, segments))
    return CompactionHistory(tuple(generations), tuple(compactions), gaps)


def _compressed(
    reader: Reader,
    segments: Sequence[Session],
    previous: Generation,
    generation: Generation,
    block: RowBlock,
    gaps: Mapping[int, IdGap],
) -> Generation:
    """Return a generation with the compaction that it begins with, and what its rows repeat."""
    sent, summary, length = sent_of(previous.rows), block.summary, generation.block_length
    written = list(_with_origins(reader, generation.rows[:length], summary, sent))
    since = generation.rows[length:]
    kept = [row for row in written if row.why is not RowOrigin.SUMMARY]
    tail = {row.original for row in kept if row.why is RowOrigin.KEPT} - {None}
    text = "" if summary is None else summary.summary_text
    merged = None if summary is None else find_merged(summary, sent, tail)
    repeated = {merged, *(row.original for row in kept)}
    repeated |= {row.id for row in sent if text and row.summary_text == text}
    # Rows behind the last repeated one were kept, but not stored again; without a tail all may be
    # replaced.
    stored = len(sent)
    if merged is not None or tail:
        stored = max((at for at, row in enumerate(sent, 1) if row.id in repeated), default=0)
    unstored = sent[stored:]
    instead = [*written, *unstored]
    replaced = [row for row in sent[:stored] if row.id not in repeated]
    before = previous if sent else generation
    between = segments[previous.segment + 1 : generation.segment]
    empty_sessions = tuple(session.id for session in between)
    gap = next((gaps[row.id] for row in (*written, *since[:1]) if row.id in gaps), None)
    notes = {
        CompactionNote.EMPTY_SESSIONS: empty_sessions,
        CompactionNote.NO_SUMMARY: summary is None and (replaced or not sent),
        CompactionNote.FALLBACK: _FALLBACK in text,
        CompactionNote.NO_ORIGINALS: not sent,
        CompactionNote.NOT_MARKED: not block.is_marked,
        CompactionNote.NOT_STORED_AGAIN: unstored,
        CompactionNote.EDGE: sent and not block.is_known,
        CompactionNote.GAP: gap,
    }
    compaction = Compaction(
        at=(summary or generation.rows[0]).timestamp,
        session_id=segments[before.segment].id,
        into_session_id=segments[generation.segment].id,
        before=_ids(sent),
        instead=_ids(instead),
        replaced=_ids(replaced),
        summary=summary and summary.id,
        merged=merged,
        kept=_ids(kept),
        originals=tuple(row.original for row in kept),
        shortened=_ids(row for row in kept if row.is_changed),
        not_stored_again=_ids(unstored),
        since=_ids(since),
        bytes_before=_size(sent),
        bytes_after=_size(instead),
        empty_sessions=empty_sessions,
        gap=gap,
        notes=tuple(filter(notes.get, notes)),
    )
    return generation._replace(rows=(*written, *since), compaction=compaction)


def _with_origins(
    reader: Reader, written: HistoryRows, summary: HistoryRow | None, sent: HistoryRows
) -> Iterator[HistoryRow]:
    """Yield the rows of a block with what they repeat of the rows that were sent before."""
    middle = -1 if summary is None else summary.id
    head = [row for row in written if row.id < middle]
    tail = [row for row in written if row.id > middle]
    # The head repeats the first rows that were sent, the tail the last ones.
    originals = dict(pair_copies(head, sent))
    left = [row for row in sent if row.id > max(originals.values(), default=-1)]
    originals |= pair_copies(tail[::-1], left[::-1])
    equal = reader.rows(_EQUAL, [json.dumps([*originals.items()])])
    unchanged = {as_int(copy) for (copy,) in equal}
    for row in written:
        original = originals.get(row.id)
        is_changed = original is not None and row.id not in unchanged
        # Compression reduces old tool results to a line, cuts arguments, and replaces images by a
        # word (0.16 to 0.19). Of another row only the beginning was equal.
        if is_changed and row.copied == row.fingerprint:
            original, is_changed = None, False
        why = RowOrigin.HEAD if row.id < middle else RowOrigin.KEPT
        if row is summary:
            why = RowOrigin.SUMMARY
        yield row._replace(why=why, original=original, is_changed=is_changed)


def _aborted(last: Generation, segments: Sequence[Session]) -> Compaction:
    """Describe a compaction after which nothing was written: the session ended."""
    sent = sent_of(last.rows)
    empty_sessions = tuple(session.id for session in segments[last.segment + 1 :])
    left = [] if empty_sessions else sent
    return Compaction(
        at=segments[last.segment].ended_at,
        session_id=segments[last.segment].id,
        into_session_id=segments[-1].id if empty_sessions else None,
        before=_ids(sent),
        instead=_ids(left),
        bytes_before=_size(sent),
        bytes_after=_size(left),
        empty_sessions=empty_sessions,
        notes=(CompactionNote.ABORTED,),
    )


def is_compressed(reader: Reader, segments: Sequence[Session]) -> bool:
    """Return whether a conversation shows a compression without reading its texts; misses those of
    a branch's past."""
    sql = "SELECT 1 FROM message_rows WHERE session_id = ? AND state = 'compacted' LIMIT 1"
    tip = segments[-1]
    is_rotated = len(segments) > 1 or tip.end_reason == "compression"
    return is_rotated or bool(reader.rows(sql, [tip.id]))
