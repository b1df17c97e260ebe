"""What the inspector shows of the compactions of a conversation: transcripts of both sides,
sentences, Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from hermes_browse.store.api import OpenStore
from hermes_browse.store.compression.compactions import (
    NOTES,
    Compaction,
    CompactionHistory,
    CompactionKind,
    CompactionNote,
)
from hermes_browse.store.compression.history_rows import HistoryRow
from hermes_browse.store.compression.losses import LOST_KINDS, Losses, Lost, LostKind
from hermes_browse.store.messages.chat_message import ChatMessage, RowInfo, State
from hermes_browse.store.messages.transcript import Outline
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import fenced, one_line
from hermes_browse.store.wording import N_, _, ngettext

from .. import formats
from ..transcript.cards import BYTES_PER_TOKEN
from ..transcript.copying import document
from ..transcript.entries import TranscriptModel

WINDOW = 40
"""Messages that are read before and after the first place of a part."""
WAYS: Mapping[CompactionKind, str] = {
    CompactionKind.ROTATION: N_("new session"),
    CompactionKind.IN_PLACE: N_("in place"),
}


class PartModel(TranscriptModel):
    """A part of a conversation, without states: that its messages were compacted is what the whole
    part says."""

    def add(self, messages: Sequence[ChatMessage]) -> None:
        super().add([each._replace(state=State.LIVE) for each in messages])


class Inspection:
    """The compactions of a conversation with all its segments; made on a reading thread."""

    def __init__(self, conversation: Conversation, history: CompactionHistory) -> None:
        self.conversation, self.history = conversation, history

    @property
    def compactions(self) -> Sequence[Compaction]:
        """Oldest first."""
        return self.history.compactions

    def first(self, wanted: int | None, message_id: int | None) -> int:
        """Return the compaction to begin with: the wanted one, else that of a message, else the
        newest; -1 for none."""
        numbers = range(len(self.compactions))
        if wanted is not None and wanted in numbers:
            return wanted
        return next(
            (each for each in numbers if message_id in self.compactions[each].gone),
            len(numbers) - 1,
        )

    @cached_property
    def _rows(self) -> Mapping[int, HistoryRow]:
        return {row.id: row for each in self.history.generations for row in each.rows}

    def _model(self, ids: Sequence[int]) -> TranscriptModel:
        written = [self._rows[each] for each in ids if each in self._rows]
        # One segment for all, as seams have no place in a part.
        rows = tuple(
            RowInfo(row.id, 0, row.role, row.timestamp, State.LIVE, False) for row in written
        )
        return PartModel(self.conversation, Outline((self.conversation.root_id,), rows))

    def replaced(self, number: int) -> TranscriptModel:
        """Return a transcript of what the model no longer had; no message has been read."""
        return self._model(self.compactions[number].gone)

    def instead(self, number: int) -> TranscriptModel:
        """Return a transcript of what the model had from then on: the summary among what was
        carried over."""
        compaction = self.compactions[number]
        if _is_still_there(compaction):
            return self._model(compaction.before)
        generation = next(
            (each for each in self.history.generations if each.compaction == number), None
        )
        written = (
            [row.id for row in generation.rows[: generation.block]]
            if generation is not None
            else []
        )
        return self._model([*written, *compaction.not_stored_again])


Sides = tuple[TranscriptModel, TranscriptModel]
"""What a compaction replaced, and what the model had instead, with the messages that are on screen
first."""


def read_sides(store: OpenStore, inspection: Inspection, number: int) -> Sides:
    """Read both sides of a compaction; on a reading thread."""
    replaced, instead = inspection.replaced(number), inspection.instead(number)
    summary = inspection.compactions[number].summary
    middle = instead.entry_of(summary) or 0
    for model, at in (replaced, 0), (instead, middle):
        model.add(store.messages(model.missing(at - WINDOW, at + WINDOW)))
    return replaced, instead


def tokens(count: int) -> int:
    """Estimate the tokens of so many bytes, as Hermes does."""
    return count // BYTES_PER_TOKEN


def notes(compaction: Compaction) -> Iterator[str]:
    """Yield what is not known of a compaction or is out of the ordinary, in sentences."""
    left_out = (
        {CompactionNote.GAP, CompactionNote.EDGE}
        if compaction.is_broken and not compaction.kept
        else {CompactionNote.GAP}
    )
    yield from (_(NOTES[note]) for note in compaction.notes if note not in left_out)
    if compaction.gap is not None:
        words = _("The ids {first} to {last} are in no row of the store.")
        yield words.format(first=compaction.gap.first, last=compaction.gap.last)


def remedy(inspection: Inspection, compaction: Compaction) -> str:
    """Return a sentence about what helps where the model went on without the messages; empty where
    it did not."""
    if _is_still_there(compaction):
        words = ngettext(
            "R resumes with this message.",
            "R resumes with all {count:,} messages.",
            len(compaction.before),
        )
        return words.format(count=len(compaction.before))
    if CompactionNote.NO_ORIGINALS in compaction.notes:
        return _("They may be in another conversation: search for words of the summary.")
    if not compaction.is_broken:
        return ""
    words = _(
        "Hermes resumes …{id} without these messages: c copies them to paste, e saves them in a file."
    )
    return words.format(id=one_line(inspection.conversation.id[-6:]))


def _is_still_there(compaction: Compaction) -> bool:
    """Return whether a resume sends all messages from before it: it was aborted, and no session
    follows."""
    return CompactionNote.ABORTED in compaction.notes and not compaction.empty_sessions


def title_of_replaced(compaction: Compaction) -> str:
    """Return the title of the left pane."""
    if not compaction.gone:
        return (
            _("Replaced: nothing that is stored")
            if CompactionNote.NO_ORIGINALS in compaction.notes
            else _("Replaced: nothing")
        )
    if compaction.is_broken:
        words = ngettext(
            "Left behind: 1 message", "Left behind: {count:,} messages", len(compaction.gone)
        )
    else:
        words = ngettext(
            "Replaced: 1 message", "Replaced: {count:,} messages", len(compaction.gone)
        )
    return words.format(count=len(compaction.gone))


def nothing_compressed(history: CompactionHistory) -> str:
    """Return a sentence about a conversation without compactions; it tells which ids are gone."""
    gap = max(history.gaps.values(), key=lambda each: each.number, default=None)
    if gap is None:
        return _("Hermes has not compressed this conversation.")
    words = _(
        "No compression is stored here, but the ids {first} to {last} are in no row: messages of this or of another "
        "conversation were deleted."
    )
    return words.format(first=gap.first, last=gap.last)


def title_of_instead(compaction: Compaction) -> str:
    """Return the title of the right pane."""
    kept = len(compaction.kept) + len(compaction.not_stored_again)
    if _is_still_there(compaction):
        words = ngettext(
            "Still there: 1 message", "Still there: {count:,} messages", len(compaction.before)
        )
        return words.format(count=len(compaction.before))
    if compaction.summary is None and not kept:
        return _("Instead: nothing")
    words = ngettext("1 carried over", "{count:,} carried over", kept).format(count=kept)
    first = _("no summary") if compaction.summary is None else _("the summary")
    return _("Instead: {parts}").format(parts=f"{first} · {words}" if kept else first)


def describe_lost(lost: Lost, number: int, count: int) -> str:
    """Return a sentence about a lost term, for the status line."""
    words = ngettext(
        "lost {number:,} of {count:,} · {kind}: {term} · said once, in message {id}",
        "lost {number:,} of {count:,} · {kind}: {term} · said {times:,} times, last in message {id}",
        lost.times,
    )
    return words.format(
        number=number,
        count=count,
        kind=_(LOST_KINDS[lost.kind]),
        term=one_line(lost.term, 120),
        times=lost.times,
        id=lost.last_message_id,
    )


def replaced_markdown(inspection: Inspection, number: int, messages: Sequence[ChatMessage]) -> str:
    """Return the messages that a summary replaced as Markdown, to be pasted into a conversation."""
    model = inspection.replaced(number)
    model.add(messages)
    parts = [
        _("Messages from before the compression of {time}:").format(time=_time(inspection, number))
    ]
    parts += [document(each, model).text.rstrip() for each in messages if not model.is_paired(each)]
    return "\n\n".join(parts) + "\n"


def lost_markdown(inspection: Inspection, number: int, losses: Losses) -> str:
    """Return what a compaction lost as Markdown, to be pasted into a conversation."""
    words = _("Details from before the compression of {time} that its summary does not mention:")
    lines = [words.format(time=_time(inspection, number))]
    for kind, label in LOST_KINDS.items():
        terms = [each for each in losses.terms if each.kind is kind]
        if not terms:
            continue
        lines += ["", f"## {_(label)}", ""]
        for each in terms:
            if kind is LostKind.DECISION:
                lines.append(f"- {one_line(each.term)}")
            elif "`" in each.term or "\n" in each.term:
                lines += [fenced(each.term), ""]
            else:
                lines.append(f"- `{each.term}`")
    return "\n".join(lines).rstrip() + "\n"


def _time(inspection: Inspection, number: int) -> str:
    return formats.timestamp(inspection.compactions[number].at)
