"""Find the compactions of a conversation: the replaced rows, the summary, and the rows that were carried over.

Hermes compresses in two ways (agent/conversation_compression.py, 0.16 to 0.19). By rotation it ends the session and
writes a new one; in place (since 0.18) it marks all live rows as compacted and writes new ones after them. Either way
it writes a *block*: copies of the first messages, the summary, and copies of the last messages. If roles would not
alternate, it merges the summary with one of the copies. The rows from one block to the next are a *generation*: the
model is always sent one generation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from ..connection.reader import Reader
from ..messages.copies import read_identities
from ..sessions.session import Session
from ..wording import N_
from .compressed_blocks import Carried, Cut, Known, carried, end_of_block, find_cuts, sent_of
from .history_rows import HistoryRow, read_rows, written_at_once
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
    REPEATED = "repeated"
    EDGE = "edge_inferred"
    ORDER = "order_unknown"
    GAP = "id_gap"
    SHORTENED = "shortened"
    UNANSWERED = "unanswered"
    STORED_LATE = "stored_late"
    COPY = "copy"
    SUMMARY = "at_summary"
    REWOUND = "rewound"
    PROMPT = "prompt_overwritten"


NOTES: Mapping[CompactionNote, str] = {
    CompactionNote.ABORTED: N_("Hermes ended the session to compress it, and nothing was written after that."),
    CompactionNote.SHELLS: N_("Empty sessions stand between the two."),
    CompactionNote.NO_SUMMARY: N_("No summary is stored: what stood before is in no message that follows."),
    CompactionNote.NO_ORIGINALS: N_("The messages that the summary stands for are not in this conversation."),
    CompactionNote.NOT_MARKED: N_(
        "The messages that were replaced still count as live: a resume sends them and the summary."
    ),
    CompactionNote.FALLBACK: N_("No model wrote the summary: Hermes put it together after the call had failed."),
    CompactionNote.NOT_STORED_AGAIN: N_(
        "The newest messages were not stored again: the model still had them (`/compress here`), but a resume does not."
    ),
    CompactionNote.REPEATED: N_("There was nothing to summarise: the same messages were written again."),
    CompactionNote.EDGE: N_("Which messages were carried over is inferred from what they say."),
    CompactionNote.ORDER: N_("Hermes 0.17 may have sent these messages in the order of their times, after a resume."),
    CompactionNote.GAP: N_(
        "Ids are missing among these messages: rows of this or of another session are gone from the store."
    ),
    CompactionNote.SHORTENED: N_("Some messages were carried over shortened: old results of tools, arguments, images."),
    CompactionNote.UNANSWERED: N_("No answer is stored after this message: nothing shows that the model was given it."),
    CompactionNote.STORED_LATE: N_("This message was stored only after the compaction that followed it."),
    CompactionNote.COPY: N_("This row repeats an earlier one; the context is that of the original."),
    CompactionNote.SUMMARY: N_("This is a summary; the context is what the model was given from then on."),
    CompactionNote.REWOUND: N_("Messages were taken back more than once: which of them were there is inferred."),
    CompactionNote.PROMPT: N_(
        "Compression in place may have changed the system prompt; only the newest one is stored."
    ),
}
"""A sentence for each note, passed to `_` when shown."""


HARMLESS = frozenset(
    (CompactionNote.FALLBACK, CompactionNote.SHORTENED, CompactionNote.SHELLS, CompactionNote.REPEATED)
)
"""Notes about what is unusual, but known."""


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
        return bool(self.before) and not {CompactionNote.ABORTED, CompactionNote.NO_SUMMARY}.isdisjoint(self.notes)

    @property
    def gone(self) -> tuple[int, ...]:
        """Rows that the model had before the compaction and not after it.

        For an aborted compaction these are all rows if an empty session follows, else none.

        If empty sessions follow an aborted one, Hermes resumes the last of them and starts fresh (0.16 to 0.19).
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


def read_history(reader: Reader, segments: Sequence[Session]) -> CompactionHistory:
    """Find the compactions of a conversation from its sessions, root first."""
    rows = read_rows(reader, segments)
    steps = [(one.id, other.id) for each in rows for one, other in pairwise(each) if other.id > one.id + 1]
    builder = _HistoryBuilder(segments, read_id_gaps(reader, steps))
    for index, each in enumerate(rows):
        builder.add_segment(index, each)
    builder.end()
    return builder.verified(reader)


def is_compressed(reader: Reader, segments: Sequence[Session]) -> bool:
    """Return whether a conversation shows a compression without reading its texts; misses those of a branch's past."""
    if len(segments) > 1 or segments[-1].end_reason == "compression":
        return True
    statement = f"SELECT 1 FROM messages m WHERE m.session_id = ? AND {reader.schema.compacted()} = 1 LIMIT 1"
    return reader.value(statement, [segments[-1].id]) is not None


class _HistoryBuilder:
    """Collects the generations and compactions of a history, segment by segment."""

    def __init__(self, segments: Sequence[Session], gaps: Mapping[int, IdGap]) -> None:
        self.segments = segments
        self.gaps = gaps
        self.generations: list[Generation] = []
        self.compactions: list[Compaction] = []
        self.shells: list[str] = []
        self.summaries: Known = {}

    def add_segment(self, index: int, rows: list[HistoryRow]) -> None:
        """Add the generations of the next session."""
        if not rows:
            self.shells.append(self.segments[index].id)
            return
        above = sent_of(self.generations[-1].rows) if self.generations else []
        cuts = find_cuts(rows, self.summaries, above if index > 0 else None)
        ends = [cut.start for cut in cuts[1:]] + [len(rows)]
        if not cuts or cuts[0].start > 0:
            first = cuts[0].start if cuts else len(rows)
            self.generations.append(Generation(index, tuple(rows[:first]), 0, None))
        for cut, end in zip(cuts, ends, strict=False):
            self._add(index, cut, rows[cut.start : end])

    def end(self) -> None:
        """Add the last compaction if it was aborted: the session ended, and nothing follows."""
        last = self.generations[-1] if self.generations else None
        ended = self.segments[last.segment] if last is not None else None
        if last is None or ended is None or ended.end_reason != "compression":
            return
        before = tuple(row.id for row in sent_of(last.rows))
        size = sum(row.size for row in sent_of(last.rows))
        into = self.segments[-1].id if self.shells else None
        self.compactions.append(
            Compaction(
                at=ended.ended_at, kind=CompactionKind.ROTATION, session_id=ended.id, into_session_id=into,
                before=before, replaced=(), summary=None, merged=None, kept=(), not_stored_again=(), since=(),
                bytes_before=size, bytes_after=0 if self.shells else size, shells=tuple(self.shells), gap=None,
                notes=(CompactionNote.ABORTED,),
            )
        )  # fmt: skip

    def _add(self, index: int, cut: Cut, rows: list[HistoryRow]) -> None:
        """Add the generation that begins with a block, and the compaction that wrote it."""
        session = self.segments[index]
        previous = self.generations[-1] if self.generations else None
        is_rotation = cut.start == 0 and index > 0
        sent = sent_of(previous.rows) if previous is not None and (cut.start > 0 or is_rotation) else []
        at = cut.summary - cut.start if cut.summary is not None else None
        end, is_edge_known = end_of_block(rows, at, sent)
        kept, merged = carried(rows, at, end, sent)
        summary = rows[at] if at is not None else None
        repeated_summaries = {
            row.id
            for row in sent
            if row.summary and summary and summary.summary and row.summary.text == summary.summary.text
        }
        originals = {each.original for each in kept} | {merged} | repeated_summaries
        kept_places = [place for place, row in enumerate(sent) if row.id in originals]
        has_tail = merged is not None or any(not each.is_head and each.original is not None for each in kept)
        stored = kept_places[-1] + 1 if kept_places and has_tail else len(sent)
        unstored = sent[stored:]
        notes: list[CompactionNote] = []
        if self.shells:
            notes.append(CompactionNote.SHELLS)
        is_again = bool(sent) and all(row.id in originals for row in sent)
        if is_again:
            notes.append(CompactionNote.REPEATED)
        elif summary is None:
            notes.append(CompactionNote.NO_SUMMARY)
        elif summary.summary is not None and _FALLBACK in summary.summary.text:
            notes.append(CompactionNote.FALLBACK)
        if not sent:
            notes.append(CompactionNote.NO_ORIGINALS)
        if not cut.is_marked:
            notes.append(CompactionNote.NOT_MARKED)
        if unstored:
            notes.append(CompactionNote.NOT_STORED_AGAIN)
        if (not is_edge_known and sent) or _repeats_itself(rows, end):
            notes.append(CompactionNote.EDGE)
        if is_rotation and _may_be_reordered(rows[: end + 1]):
            notes.append(CompactionNote.ORDER)
        gap = next((self.gaps[row.id] for row in rows[: end + 1] if row.id in self.gaps), None)
        if gap is not None:
            notes.append(CompactionNote.GAP)
        self.compactions.append(
            Compaction(
                at=next((row.timestamp for row in (summary, rows[0]) if row is not None), None),
                kind=CompactionKind.ROTATION if is_rotation else CompactionKind.IN_PLACE,
                session_id=self.segments[previous.segment].id if previous is not None and sent else session.id,
                into_session_id=session.id,
                before=tuple(row.id for row in sent),
                replaced=tuple(row.id for row in sent[:stored] if row.id not in originals),
                summary=summary.id if summary is not None else None,
                merged=merged,
                kept=kept,
                not_stored_again=tuple(row.id for row in unstored),
                since=tuple(row.id for row in rows[end:]),
                bytes_before=sum(row.size for row in sent),
                bytes_after=sum(row.size for row in rows[:end]) + sum(row.size for row in unstored),
                shells=tuple(self.shells),
                gap=gap,
                notes=tuple(notes),
            )
        )
        self.shells.clear()
        self.generations.append(Generation(index, tuple(rows), end, len(self.compactions) - 1))

    def verified(self, reader: Reader) -> CompactionHistory:
        """Return the history, after comparing the whole texts of copies and originals."""
        pairs = {each.id: each.original for one in self.compactions for each in one.kept if each.original is not None}
        texts = {
            key: tuple(value.strip() if isinstance(value, str) else value for value in row)
            for key, row in read_identities(reader, [*pairs, *pairs.values()]).items()
        }
        shortens = {row.id for each in self.generations for row in each.rows if row.call or row.is_multimodal}
        differs = {copy for copy, original in pairs.items() if texts.get(copy) != texts.get(original)}
        checked: list[Compaction] = []
        for one in self.compactions:
            kept = tuple(
                each._replace(original=None)
                if each.id in differs and each.id not in shortens
                else each._replace(is_changed=each.id in differs)
                for each in one.kept
            )
            lost = {each.original for each in one.kept} - {each.original for each in kept}
            given_up = lost | set(one.replaced)
            notes = (*one.notes, CompactionNote.SHORTENED) if any(each.is_changed for each in kept) else one.notes
            replaced = tuple(each for each in one.before if each in given_up)
            checked.append(one._replace(kept=kept, notes=notes, replaced=replaced))
        copies = {each.id: each.original for one in checked for each in one.kept if each.original is not None}
        return CompactionHistory(tuple(self.generations), tuple(checked), copies, self.gaps)


def _may_be_reordered(rows: Sequence[HistoryRow]) -> bool:
    """Return whether rows of a continuation differ in their order by id and by time, and were not written as a batch.

    Hermes 0.17 loaded a conversation by time, although copies that keep their old times follow the summary; 0.16, 0.18
    and 0.19 load by id, and 0.19 writes batches. Rows do not say which release wrote them.
    """
    neighbours = list(pairwise(rows))
    is_late = any((one.timestamp or 0.0) > (other.timestamp or 0.0) for one, other in neighbours)
    return is_late and not any(written_at_once(one, other, 1) for one, other in neighbours)


def _repeats_itself(rows: Sequence[HistoryRow], end: int) -> bool:
    """Return whether a row after the block equals one in it, time included: then the end of the block was not found.

    Hermes 0.18 joins two messages of one role when it loads a conversation, and may write them again like that.
    """
    seen = {(row.timestamp, row.fingerprint) for row in rows[:end] if row.timestamp is not None}
    return any((row.timestamp, row.fingerprint) in seen for row in rows[end:])
