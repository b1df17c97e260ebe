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

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from ..connection.reader import Reader
from ..messages.copies import read_identities
from ..sessions.session import Session
from ..wording import N_
from .compressed_blocks import BlockFinder, RowBlock, find_merged, find_originals, sent_of
from .history_rows import HistoryRow, IdGap, read_id_gaps, read_rows

_FALLBACK = "Summary generation was unavailable"


class CompactionKind(StrEnum):
    """Way in which a conversation was compressed."""

    ROTATION = "rotation"
    IN_PLACE = "in_place"


class CompactionNote(StrEnum):
    """Something unknown or unusual about a compaction or a context; `NOTES` has the sentences."""

    ABORTED = "aborted"
    EMPTY_SESSIONS = "empty_shells"
    NO_SUMMARY = "no_summary"
    NO_ORIGINALS = "no_originals"
    NOT_MARKED = "not_marked"
    FALLBACK = "fallback_summary"
    NOT_STORED_AGAIN = "not_stored_again"
    EDGE = "edge_inferred"
    GAP = "id_gap"
    UNANSWERED = "unanswered"
    COPY = "copy"
    SUMMARY = "at_summary"
    REWOUND = "rewound"
    PROMPT = "prompt_overwritten"


NOTES: Mapping[CompactionNote, str] = {
    CompactionNote.ABORTED: N_(
        "Hermes ended the session to compress it, and nothing was written after that."
    ),
    CompactionNote.EMPTY_SESSIONS: N_("Empty sessions stand between the two."),
    CompactionNote.NO_SUMMARY: N_(
        "No summary is stored: what stood before is in no message that follows."
    ),
    CompactionNote.NO_ORIGINALS: N_(
        "The messages that the summary stands for are not in this conversation."
    ),
    CompactionNote.NOT_MARKED: N_(
        "The messages that were replaced still count as live: a resume sends them and the summary."
    ),
    CompactionNote.FALLBACK: N_(
        "No model wrote the summary: Hermes put it together after the call had failed."
    ),
    CompactionNote.NOT_STORED_AGAIN: N_(
        "The newest messages were not stored again: the model still had them (`/compress here`), "
        "but a resume does not."
    ),
    CompactionNote.EDGE: N_("Which messages were carried over is inferred from what they say."),
    CompactionNote.GAP: N_(
        "Ids are missing among these messages: rows of this or of another session are gone from "
        "the store."
    ),
    CompactionNote.UNANSWERED: N_(
        "No answer is stored after this message: nothing shows that the model was given it."
    ),
    CompactionNote.COPY: N_(
        "This row repeats an earlier one; the context is that of the original."
    ),
    CompactionNote.SUMMARY: N_(
        "This is a summary; the context is what the model was given from then on."
    ),
    CompactionNote.REWOUND: N_(
        "Messages were taken back more than once: which of them were there is inferred."
    ),
    CompactionNote.PROMPT: N_(
        "Compression in place may have changed the system prompt; only the newest one is stored."
    ),
}
"""A sentence for each note, passed to `_` when shown."""


HARMLESS = frozenset((CompactionNote.FALLBACK, CompactionNote.EMPTY_SESSIONS))
"""Notes about what is unusual, but known."""


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
    kind: CompactionKind
    session_id: str
    """Session whose rows were replaced."""
    into_session_id: str | None
    """Session that continues: the same one if in place, None if there is none."""
    before: tuple[int, ...]
    """Rows last sent to the model before it: the generation, older summaries included."""
    replaced: tuple[int, ...]
    """Rows of `before` that the summary replaces."""
    summary: int | None
    merged: int | None
    """Row whose text was merged with the summary."""
    kept: tuple[Carried, ...]
    not_stored_again: tuple[int, ...]
    """Newest rows of `before` that the model kept, but that were not written again."""
    since: tuple[int, ...]
    """Rows after the block, up to the next compaction."""
    bytes_before: int
    bytes_after: int
    """Of the summary and of the rows that were carried over; if aborted, of what a resume sends."""
    empty_sessions: tuple[str, ...]
    """Empty sessions between the two."""
    gap: IdGap | None
    """Ids missing in its block."""
    notes: tuple[CompactionNote, ...]

    @property
    def is_known(self) -> bool:
        """Whether the rows leave no doubt about it."""
        return HARMLESS.issuperset(self.notes)

    @property
    def is_broken(self) -> bool:
        """Whether no summary stands for the rows before it, or it was aborted."""
        return bool(self.before) and not {
            CompactionNote.ABORTED,
            CompactionNote.NO_SUMMARY,
        }.isdisjoint(self.notes)

    @property
    def gone(self) -> tuple[int, ...]:
        """Rows that the model had before the compaction and not after it.

        For an aborted compaction these are all rows if an empty session follows, else none.

        If empty sessions follow an aborted one, Hermes resumes the last of them and starts fresh
        (0.16 to 0.19).
        """
        if CompactionNote.ABORTED in self.notes:
            return self.before if self.empty_sessions else ()
        return self.replaced


class Generation(NamedTuple):
    """Rows of one session that were sent together."""

    segment: int
    rows: tuple[HistoryRow, ...]
    block: int
    """Number of its first rows that a compaction wrote."""
    compaction: int | None
    """Index of that compaction; None at the beginning of a conversation."""


class CompactionHistory(NamedTuple):
    """All generations of a conversation, oldest first, and the compactions between them."""

    generations: tuple[Generation, ...]
    compactions: tuple[Compaction, ...]
    copies: Mapping[int, int]
    """Copy → original, which may itself be a copy."""
    gaps: Mapping[int, IdGap]
    """Row → ids missing in the store before it."""


class _Part(NamedTuple):
    """A generation before its compaction is known."""

    segment: int
    rows: list[HistoryRow]
    block: RowBlock | None
    """With indexes in `rows`; None at the beginning of a conversation."""
    previous: _Part | None
    """The generation that was compressed."""
    empty_sessions: tuple[str, ...]
    """Empty sessions before it."""

    @property
    def sent(self) -> list[HistoryRow]:
        """The rows sent before the compaction that wrote the block."""
        return sent_of(self.previous.rows) if self.previous is not None else []

    @property
    def head(self) -> list[HistoryRow]:
        """The rows of the block before the summary."""
        return self.rows[: self.block.summary or 0] if self.block is not None else []

    @property
    def tail(self) -> list[HistoryRow]:
        """The rows of the block after the summary."""
        if self.block is None:
            return []
        start = 0 if self.block.summary is None else self.block.summary + 1
        return self.rows[start : self.block.end]


class _Copies(NamedTuple):
    """The rows of a conversation that repeat others."""

    originals: Mapping[int, int]
    """Copy → original."""
    changed: set[int]
    """Copies whose texts differ from those of their originals."""


def read_history(reader: Reader, segments: Sequence[Session]) -> CompactionHistory:
    """Find the compactions of a conversation from its sessions, root first."""
    rows = read_rows(reader, segments)
    gaps = read_id_gaps(reader, rows)
    parts = list(_split(rows, segments))
    copies = _find_copies(reader, parts)
    generations: list[Generation] = []
    compactions: list[Compaction] = []
    for part in parts:
        if part.block is None:
            generations.append(Generation(part.segment, tuple(part.rows), 0, None))
            continue
        generation = Generation(part.segment, tuple(part.rows), part.block.end, len(compactions))
        generations.append(generation)
        compactions.append(_compaction(part, part.block, segments, copies, gaps))
    if generations and segments[generations[-1].segment].end_reason == "compression":
        compactions.append(_aborted(generations[-1], segments))
    return CompactionHistory(tuple(generations), tuple(compactions), copies.originals, gaps)


def _split(
    rows_by_segment: Sequence[list[HistoryRow]], segments: Sequence[Session]
) -> Iterator[_Part]:
    """Yield the generations of a conversation."""
    last: _Part | None = None
    empty_sessions: tuple[str, ...] = ()
    summaries: set[str] = set()
    for segment, rows in enumerate(rows_by_segment):
        if not rows:
            empty_sessions += (segments[segment].id,)
            continue
        above = None if segment == 0 else sent_of(last.rows) if last is not None else []
        blocks = BlockFinder(rows, above, summaries).find()
        ends = [*(block.start for block in blocks), len(rows)]
        if ends[0] > 0:
            last = _Part(segment, rows[: ends[0]], None, None, ())
            yield last
        for block, end in zip(blocks, ends[1:], strict=True):
            follows = block.start > 0 or segment > 0
            own = rows[block.start : end]
            last = _Part(
                segment, own, block.from_start(), last if follows else None, empty_sessions
            )
            empty_sessions = ()
            yield last


def _find_copies(reader: Reader, parts: Sequence[_Part]) -> _Copies:
    """Find the rows that compactions wrote again; equal beginnings are compared in full."""
    candidates: dict[int, int] = {}
    for part in parts:
        candidates |= find_originals(part.head, part.tail, part.sent)
    identities = read_identities(reader, [*candidates, *candidates.values()])
    texts = {
        key: [value.strip() if isinstance(value, str) else value for value in values]
        for key, values in identities.items()
    }
    changed = {copy for copy, old in candidates.items() if texts.get(copy) != texts.get(old)}
    rows = {row.id: row for part in parts for row in part.rows}
    originals = {
        copy: old
        for copy, old in candidates.items()
        if copy not in changed or rows[copy].may_be_shortened
    }
    return _Copies(originals, changed & originals.keys())


def _compaction(
    part: _Part,
    block: RowBlock,
    segments: Sequence[Session],
    copies: _Copies,
    gaps: Mapping[int, IdGap],
) -> Compaction:
    """Describe the compaction that wrote the block of a generation."""
    rows, sent, originals = part.rows, part.sent, copies.originals
    written = rows[: block.end]
    summary = rows[block.summary] if block.summary is not None else None
    kept = (
        *(_carried(row, copies, is_head=True) for row in part.head),
        *(_carried(row, copies, is_head=False) for row in part.tail),
    )
    tail = {originals[row.id] for row in part.tail if row.id in originals}
    merged = find_merged(summary, sent, tail) if summary is not None else None
    repeated = {merged, *(each.original for each in kept), *_same_summary(summary, sent)}
    # Rows behind the last repeated one were kept, but not stored again; without a tail all may be
    # replaced.
    stored = len(sent)
    if merged is not None or tail:
        stored = max((at for at, row in enumerate(sent, 1) if row.id in repeated), default=0)
    replaced = tuple(row.id for row in sent[:stored] if row.id not in repeated)
    gap = next((gaps[row.id] for row in rows[: block.end + 1] if row.id in gaps), None)
    notes = {
        CompactionNote.EMPTY_SESSIONS: bool(part.empty_sessions),
        CompactionNote.NO_SUMMARY: summary is None and (bool(replaced) or not sent),
        CompactionNote.FALLBACK: summary is not None and _FALLBACK in (summary.summary_text or ""),
        CompactionNote.NO_ORIGINALS: not sent,
        CompactionNote.NOT_MARKED: not block.is_marked,
        CompactionNote.NOT_STORED_AGAIN: stored < len(sent),
        CompactionNote.EDGE: bool(sent) and not block.is_known,
        CompactionNote.GAP: gap is not None,
    }
    before = part.previous.segment if part.previous is not None and sent else part.segment
    is_rotation = before != part.segment
    return Compaction(
        at=(summary or rows[0]).timestamp,
        kind=CompactionKind.ROTATION if is_rotation else CompactionKind.IN_PLACE,
        session_id=segments[before].id,
        into_session_id=segments[part.segment].id,
        before=tuple(row.id for row in sent),
        replaced=replaced,
        summary=summary.id if summary is not None else None,
        merged=merged,
        kept=kept,
        not_stored_again=tuple(row.id for row in sent[stored:]),
        since=tuple(row.id for row in rows[block.end :]),
        bytes_before=sum(row.size for row in sent),
        bytes_after=sum(row.size for row in [*written, *sent[stored:]]),
        empty_sessions=part.empty_sessions,
        gap=gap,
        notes=tuple(note for note, is_true in notes.items() if is_true),
    )


def _carried(row: HistoryRow, copies: _Copies, *, is_head: bool) -> Carried:
    return Carried(row.id, copies.originals.get(row.id), is_head, row.id in copies.changed)


def _same_summary(summary: HistoryRow | None, sent: Sequence[HistoryRow]) -> set[int]:
    """Return the rows that were sent with the same summary."""
    if summary is None or summary.summary is None:
        return set()
    return {row.id for row in sent if row.summary_text == summary.summary_text}


def _aborted(last: Generation, segments: Sequence[Session]) -> Compaction:
    """Describe a compaction after which nothing was written: the session ended."""
    sent = sent_of(last.rows)
    size = sum(row.size for row in sent)
    empty_sessions = tuple(each.id for each in segments[last.segment + 1 :])
    return Compaction(
        at=segments[last.segment].ended_at,
        kind=CompactionKind.ROTATION,
        session_id=segments[last.segment].id,
        into_session_id=segments[-1].id if empty_sessions else None,
        before=tuple(row.id for row in sent),
        replaced=(),
        summary=None,
        merged=None,
        kept=(),
        not_stored_again=(),
        since=(),
        bytes_before=size,
        bytes_after=0 if empty_sessions else size,
        empty_sessions=empty_sessions,
        gap=None,
        notes=(CompactionNote.ABORTED,),
    )


def is_compressed(reader: Reader, segments: Sequence[Session]) -> bool:
    """Return whether a conversation shows a compression without reading its texts; misses those of
    a branch's past."""
    if len(segments) > 1 or segments[-1].end_reason == "compression":
        return True
    compacted = reader.schema.compacted()
    statement = f"SELECT 1 FROM messages m WHERE m.session_id = ? AND {compacted} = 1 LIMIT 1"
    return reader.value(statement, [segments[-1].id]) is not None
