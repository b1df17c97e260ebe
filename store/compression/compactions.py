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

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise, zip_longest
from typing import NamedTuple

from ..connection.reader import Reader
from ..messages.copies import read_identities
from ..sessions.session import Session
from ..wording import N_
from .compressed_blocks import BlockFinder, RowBlock, find_merged, find_originals, sent_of
from .history_rows import HistoryRow, read_rows
from .id_gaps import IdGap, read_id_gaps

_FALLBACK = "Summary generation was unavailable"


class CompactionKind(StrEnum):
    """Way in which a conversation was compressed."""

    ROTATION = "rotation"
    IN_PLACE = "in_place"


class CompactionNote(StrEnum):
    """Something unknown or unusual about a compaction or a context; `NOTES` has the sentences."""

    ABORTED = "aborted"
    SHELLS = "empty_shells"
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
    CompactionNote.SHELLS: N_("Empty sessions stand between the two."),
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
        "The newest messages were not stored again: the model still had them (`/compress here`), but a resume does not."
    ),
    CompactionNote.EDGE: N_("Which messages were carried over is inferred from what they say."),
    CompactionNote.GAP: N_(
        "Ids are missing among these messages: rows of this or of another session are gone from the store."
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


HARMLESS = frozenset((CompactionNote.FALLBACK, CompactionNote.SHELLS))
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
    shells: tuple[str, ...]
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
            return self.before if self.shells else ()
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
    sent: list[HistoryRow]
    """The rows sent before the compaction that wrote the block."""
    shells: tuple[str, ...]
    """Empty sessions before it."""

    @property
    def head(self) -> int:
        """Number of rows before the summary."""
        return self.block.summary or 0 if self.block is not None else 0

    def originals(self) -> dict[int, int]:
        """Return the rows of the block that may repeat a row sent before: copy → original."""
        if self.block is None:
            return {}
        places = [at for at in range(self.block.end) if at != self.block.summary]
        return find_originals([self.rows[at] for at in places], self.head, self.sent)


class _Found(NamedTuple):
    """What is known of a conversation before its compactions are."""

    segments: Sequence[Session]
    copies: Mapping[int, int]
    """Copy → original."""
    changed: set[int]
    """Copies whose texts differ from those of their originals."""
    gaps: Mapping[int, IdGap]


def read_history(reader: Reader, segments: Sequence[Session]) -> CompactionHistory:
    """Find the compactions of a conversation from its sessions, root first."""
    rows = read_rows(reader, segments)
    steps = [
        (one.id, other.id)
        for each in rows
        for one, other in pairwise(each)
        if other.id > one.id + 1
    ]
    gaps = read_id_gaps(reader, steps)
    parts, shells = _split(rows, segments)
    candidates = {copy: original for part in parts for copy, original in part.originals().items()}
    changed = _differing(reader, candidates)
    may_be_shortened = {
        row.id for part in parts for row in part.rows if row.call or row.is_multimodal
    }
    copies = {
        copy: original
        for copy, original in candidates.items()
        if copy not in changed or copy in may_be_shortened
    }
    found = _Found(segments, copies, changed, gaps)
    generations: list[Generation] = []
    compactions: list[Compaction] = []
    for part, following in zip_longest(parts, parts[1:]):
        index, end = None, 0
        if part.block is not None:
            index, end = len(compactions), part.block.end
            is_rewritten = following is not None and _is_rewritten(part.rows, following.rows)
            before = generations[-1].segment if part.sent else part.segment
            compactions.append(
                _compaction(part, part.block, before, found, is_rewritten=is_rewritten)
            )
        generations.append(Generation(part.segment, tuple(part.rows), end, index))
    if generations and segments[generations[-1].segment].end_reason == "compression":
        compactions.append(_aborted(generations[-1], segments, shells))
    return CompactionHistory(tuple(generations), tuple(compactions), copies, gaps)


def _split(
    segment_rows: Sequence[list[HistoryRow]], segments: Sequence[Session]
) -> tuple[list[_Part], tuple[str, ...]]:
    """Split the rows of a conversation into generations; also return the empty sessions after the
    last one."""
    parts: list[_Part] = []
    shells: tuple[str, ...] = ()
    known: set[str] = set()
    for index, rows in enumerate(segment_rows):
        if not rows:
            shells += (segments[index].id,)
            continue
        above = sent_of(parts[-1].rows) if parts else []
        blocks = BlockFinder(rows, above if index > 0 else None, known).find()
        first = blocks[0].start if blocks else len(rows)
        if first > 0:
            parts.append(_Part(index, rows[:first], None, [], ()))
        for number, block in enumerate(blocks):
            start = block.start
            end = blocks[number + 1].start if number + 1 < len(blocks) else len(rows)
            sent = sent_of(parts[-1].rows) if parts and (start > 0 or index > 0) else []
            summary = block.summary - start if block.summary is not None else None
            moved = block._replace(start=0, end=block.end - start, summary=summary)
            parts.append(_Part(index, rows[start:end], moved, sent, shells))
            shells = ()
    return parts, shells


def _differing(reader: Reader, copies: Mapping[int, int]) -> set[int]:
    """Return the copies whose whole texts differ from those of their originals."""
    texts = {
        key: [value.strip() if isinstance(value, str) else value for value in row]
        for key, row in read_identities(reader, [*copies, *copies.values()]).items()
    }
    return {copy for copy, original in copies.items() if texts.get(copy) != texts.get(original)}


def _compaction(
    part: _Part, block: RowBlock, before: int, found: _Found, *, is_rewritten: bool
) -> Compaction:
    """Describe the compaction that wrote the block of a generation.

    Args:
        part: The generation.
        block: Its block.
        before: Index of the session whose rows the compaction replaced.
        found: About the conversation.
        is_rewritten: Whether rows of the generation were joined when they were sent.
    """
    rows, sent, copies = part.rows, part.sent, found.copies
    kept = tuple(
        Carried(
            row.id, copies.get(row.id), at < part.head, row.id in copies and row.id in found.changed
        )
        for at, row in enumerate(rows[: block.end])
        if at != block.summary
    )
    summary = rows[block.summary] if block.summary is not None else None
    tail = {each.original for each in kept if not each.is_head and each.original is not None}
    merged = find_merged(summary, sent, tail) if summary is not None else None
    again = {merged, *(each.original for each in kept), *_same_summary(summary, sent)}
    # Without a tail all may be replaced; rows behind the last original were kept, but not stored
    # again.
    last = max((at for at, row in enumerate(sent, 1) if row.id in again), default=0)
    stored = last if merged is not None or tail else len(sent)
    gap = next((found.gaps[row.id] for row in rows[: block.end + 1] if row.id in found.gaps), None)
    replaced = tuple(row.id for row in sent[:stored] if row.id not in again)
    unstored = tuple(row.id for row in sent[stored:])
    notes = {
        CompactionNote.SHELLS: bool(part.shells),
        CompactionNote.NO_SUMMARY: summary is None and (bool(replaced) or not sent),
        CompactionNote.FALLBACK: summary is not None and _is_fallback(summary),
        CompactionNote.NO_ORIGINALS: not sent,
        CompactionNote.NOT_MARKED: not block.is_marked,
        CompactionNote.NOT_STORED_AGAIN: bool(unstored),
        CompactionNote.EDGE: (bool(sent) and not block.is_known) or is_rewritten,
        CompactionNote.GAP: gap is not None,
    }
    is_rotation = bool(sent) and before != part.segment
    return Compaction(
        at=(summary or rows[0]).timestamp,
        kind=CompactionKind.ROTATION if is_rotation else CompactionKind.IN_PLACE,
        session_id=found.segments[before].id,
        into_session_id=found.segments[part.segment].id,
        before=tuple(row.id for row in sent),
        replaced=replaced,
        summary=summary.id if summary is not None else None,
        merged=merged,
        kept=kept,
        not_stored_again=unstored,
        since=tuple(row.id for row in rows[block.end :]),
        bytes_before=sum(row.size for row in sent),
        bytes_after=sum(row.size for row in [*rows[: block.end], *sent[stored:]]),
        shells=part.shells,
        gap=gap,
        notes=tuple(note for note, is_true in notes.items() if is_true),
    )


def _same_summary(summary: HistoryRow | None, sent: Sequence[HistoryRow]) -> set[int]:
    """Return the rows that were sent with the same summary."""
    if summary is None or summary.summary is None:
        return set()
    text = summary.summary.text
    return {row.id for row in sent if row.summary is not None and row.summary.text == text}


def _is_fallback(row: HistoryRow) -> bool:
    return row.summary is not None and _FALLBACK in row.summary.text


def _is_rewritten(rows: Sequence[HistoryRow], following: Sequence[HistoryRow]) -> bool:
    """Return whether a row was written again with its time, but another text.

    Hermes 0.18 joined two messages of one role when it loaded a conversation, and so sent them as
    one.
    """
    texts = {
        (row.timestamp, row.role): row.fingerprint
        for row in rows
        if not row.call and row.summary is None
    }
    again = [
        row
        for row in following
        if row.timestamp is not None and not row.call and row.summary is None
    ]
    return any(
        texts.get((row.timestamp, row.role), row.fingerprint) != row.fingerprint for row in again
    )


def _aborted(last: Generation, segments: Sequence[Session], shells: tuple[str, ...]) -> Compaction:
    """Describe a compaction after which nothing was written: the session ended."""
    sent = sent_of(last.rows)
    size = sum(row.size for row in sent)
    return Compaction(
        at=segments[last.segment].ended_at,
        kind=CompactionKind.ROTATION,
        session_id=segments[last.segment].id,
        into_session_id=segments[-1].id if shells else None,
        before=tuple(row.id for row in sent),
        replaced=(),
        summary=None,
        merged=None,
        kept=(),
        not_stored_again=(),
        since=(),
        bytes_before=size,
        bytes_after=0 if shells else size,
        shells=shells,
        gap=None,
        notes=(CompactionNote.ABORTED,),
    )


def is_compressed(reader: Reader, segments: Sequence[Session]) -> bool:
    """Return whether a conversation shows a compression without reading its texts; misses those of
    a branch's past."""
    if len(segments) > 1 or segments[-1].end_reason == "compression":
        return True
    statement = f"SELECT 1 FROM messages m WHERE m.session_id = ? AND {reader.schema.compacted()} = 1 LIMIT 1"
    return reader.value(statement, [segments[-1].id]) is not None
