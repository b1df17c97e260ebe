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
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from ..connection.reader import Reader
from ..sessions.models import Session
from . import HARMLESS, CompactionNote
from .blocks import RowBlock, find_blocks, find_copies, find_merged, sent_of
from .history_rows import (
    WHITE,
    HistoryRow,
    HistoryRows,
    IdGap,
    read_id_gaps,
    read_rows,
)

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


class Carried(NamedTuple):
    """A row that a compaction wrote again."""

    id: int
    original: int | None
    """Id of the original; None if it was not stored before, or if Hermes inserted it."""
    is_head: bool
    """Whether it is before the summary."""
    is_changed: bool
    """Whether it is shorter than the original."""


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
    bytes_before: int
    bytes_after: int
    """Of the summary and of the rows that were carried over; if aborted, of what a resume sends."""
    notes: tuple[CompactionNote, ...]
    replaced: tuple[int, ...] = ()
    """Rows of `before` that the summary replaces."""
    summary: int | None = None
    merged: int | None = None
    """Row whose text was merged with the summary."""
    kept: tuple[Carried, ...] = ()
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
    def instead(self) -> tuple[int, ...]:
        """Rows that the model had from then on: the summary among what was carried over."""
        if self.is_still_there:
            return self.before
        written = {self.summary, *(row.id for row in self.kept)}
        return (*sorted(each for each in written if each is not None), *self.not_stored_again)

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
    aborted: Compaction | None = None
    """A compaction after which nothing was written."""
    gaps: Mapping[int, IdGap] = MappingProxyType({})
    """Row → ids missing in the store before it."""

    @property
    def compactions(self) -> tuple[Compaction, ...]:
        """All compactions, oldest first."""
        every = [*(generation.compaction for generation in self.generations), self.aborted]
        return tuple(each for each in every if each is not None)

    @property
    def copies(self) -> dict[int, int]:
        """Copy → original, which may itself be a copy."""
        return {
            row.id: row.original
            for compaction in self.compactions
            for row in compaction.kept
            if row.original is not None
        }

    @property
    def rows(self) -> list[HistoryRow]:
        """The rows of all generations."""
        return [row for generation in self.generations for row in generation.rows]


def _ids(rows: Iterable[HistoryRow]) -> tuple[int, ...]:
    return tuple(row.id for row in rows)


def _size(rows: Iterable[HistoryRow]) -> int:
    return sum(row.size for row in rows)


def read_history(reader: Reader, segments: Sequence[Session]) -> CompactionHistory:
    """Find the compactions of a conversation from its sessions, root first, and the ids that are
    missing between its rows."""
    return find_history(reader, segments, read_id_gaps(reader, segments))


def find_history(
    reader: Reader, segments: Sequence[Session], gaps: Mapping[int, IdGap] = MappingProxyType({})
) -> CompactionHistory:
    """Find the compactions of a conversation as `read_history` does, with its `gaps`."""
    generations: list[Generation] = []
    previous = Generation(-1, ())
    for segment, rows in enumerate(read_rows(reader, segments)):
        if not rows:
            continue
        blocks = find_blocks(rows, sent_of(previous.rows))
        ends = [*(block.start for block in blocks[1:]), len(rows)]
        for block, end in zip(blocks, ends, strict=True):
            generation = Generation(
                segment, tuple(rows[block.start : end]), block.end - block.start
            )
            if segment > 0 or block.end > 0:
                compaction = _compaction(reader, segments, previous, generation, block, gaps)
                generation = generation._replace(compaction=compaction)
            generations.append(generation)
            previous = generation
    aborted = None
    if generations and segments[previous.segment].end_reason == "compression":
        aborted = _aborted(previous, segments)
    return CompactionHistory(tuple(generations), aborted, gaps)


def _compaction(
    reader: Reader,
    segments: Sequence[Session],
    previous: Generation,
    generation: Generation,
    block: RowBlock,
    gaps: Mapping[int, IdGap],
) -> Compaction:
    """Describe a compaction between two generations by their rows."""
    rows, sent, summary = generation.rows, sent_of(previous.rows), block.summary
    written = rows[: generation.block_length]
    kept = tuple(_carried(reader, written, summary, sent))
    tail = {row.original for row in kept if not row.is_head and row.original is not None}
    repeated = {row.original for row in kept}
    merged = None
    if summary is not None:
        merged = find_merged(summary, sent, tail)
        repeated |= {row.id for row in sent if row.summary_text == summary.summary_text} | {merged}
    # Rows behind the last repeated one were kept, but not stored again; without a tail all may be
    # replaced.
    stored = len(sent)
    if merged is not None or tail:
        stored = max((at for at, row in enumerate(sent, 1) if row.id in repeated), default=0)
    replaced = tuple(row.id for row in sent[:stored] if row.id not in repeated)
    before = previous.segment if sent else generation.segment
    between = segments[previous.segment + 1 : generation.segment]
    empty_sessions = tuple(session.id for session in between)
    gap = next(
        (gaps[row.id] for row in rows[: generation.block_length + 1] if row.id in gaps), None
    )
    notes = {
        CompactionNote.EMPTY_SESSIONS: bool(empty_sessions),
        CompactionNote.NO_SUMMARY: summary is None and (bool(replaced) or not sent),
        CompactionNote.FALLBACK: summary is not None and _FALLBACK in summary.summary_text,
        CompactionNote.NO_ORIGINALS: not sent,
        CompactionNote.NOT_MARKED: not block.is_marked,
        CompactionNote.NOT_STORED_AGAIN: stored < len(sent),
        CompactionNote.EDGE: bool(sent) and not block.is_known,
        CompactionNote.GAP: gap is not None,
    }
    return Compaction(
        at=(summary or rows[0]).timestamp,
        session_id=segments[before].id,
        into_session_id=segments[generation.segment].id,
        before=_ids(sent),
        replaced=replaced,
        summary=summary.id if summary is not None else None,
        merged=merged,
        kept=kept,
        not_stored_again=_ids(sent[stored:]),
        since=_ids(rows[generation.block_length :]),
        bytes_before=_size(sent),
        bytes_after=_size([*written, *sent[stored:]]),
        empty_sessions=empty_sessions,
        gap=gap,
        notes=tuple(note for note, is_true in notes.items() if is_true),
    )


def _carried(
    reader: Reader,
    written: HistoryRows,
    summary: HistoryRow | None,
    sent: HistoryRows,
) -> Iterator[Carried]:
    """Yield the rows of a block but its summary."""
    at = 0 if summary is None else written.index(summary)
    head, tail = written[:at], [row for row in written[at:] if row is not summary]
    originals = find_copies(head, tail, sent)
    equal = reader.rows(_EQUAL, [json.dumps([*originals.items()])])
    unchanged = set(map(itemgetter(0), equal))
    for row in (*head, *tail):
        is_changed = row.id in originals and row.id not in unchanged
        # Compression reduces old tool results to a line, cuts arguments, and replaces images by a
        # word (0.16 to 0.19). Of another row only the beginning was equal.
        if is_changed and row.copied == row.fingerprint:
            yield Carried(row.id, None, row in head, False)
        else:
            yield Carried(row.id, originals.get(row.id), row in head, is_changed)


def _aborted(last: Generation, segments: Sequence[Session]) -> Compaction:
    """Describe a compaction after which nothing was written: the session ended."""
    sent = sent_of(last.rows)
    empty_sessions = tuple(session.id for session in segments[last.segment + 1 :])
    return Compaction(
        at=segments[last.segment].ended_at,
        session_id=segments[last.segment].id,
        into_session_id=segments[-1].id if empty_sessions else None,
        before=_ids(sent),
        bytes_before=_size(sent),
        bytes_after=0 if empty_sessions else _size(sent),
        empty_sessions=empty_sessions,
        notes=(CompactionNote.ABORTED,),
    )


def is_compressed(reader: Reader, segments: Sequence[Session]) -> bool:
    """Return whether a conversation shows a compression without reading its texts; misses those of
    a branch's past."""
    if len(segments) > 1 or segments[-1].end_reason == "compression":
        return True
    return bool(
        reader.rows(
            "SELECT 1 FROM message_rows WHERE session_id = ? AND state = 'compacted' LIMIT 1",
            [segments[-1].id],
        )
    )
