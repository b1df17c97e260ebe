"""Reconstruct the context of a message: the exact rows that were sent to the model, in order.

The context of an assistant message is the request it answers; that of any other message is the
first request that included it. Verified row by row against requests of Hermes 0.16 to 0.19
(`tests/data/compression`). The store does not record the descriptions of tools, what a plug-in adds
to one request, how an adapter joins messages of one role, or a rotation that Hermes undid
(`tests/compression`).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from ..connection.reader import Reader
from ..errors import NotFoundError
from ..messages.chat_message import State
from ..messages.transcript import read_system_prompt
from ..sessions.session import Session
from ..wording import _
from .compactions import (
    HARMLESS,
    CompactionHistory,
    CompactionKind,
    CompactionNote,
    Generation,
    read_history,
)
from .history_rows import HistoryRow


class RowOrigin(StrEnum):
    """Reason why a row was sent."""

    HEAD = "head"
    """Carried over, before the summary."""
    SUMMARY = "summary"
    KEPT = "kept"
    """Carried over, after the summary."""
    SINCE = "since"
    """Written since the last compaction, or since the beginning."""


class SentRow(NamedTuple):
    """A row that was sent to the model."""

    id: int
    why: RowOrigin
    is_certain: bool = True


class ModelContext(NamedTuple):
    """The rows that were sent to the model when a message was written, or that a resume would
    send."""

    at: int | None
    """The requested message; None for what a resume would send now."""
    of: int | None
    """`at`, or its original if it is a copy."""
    session_id: str
    """The session that sent it."""
    prompt: str | None
    """The system prompt as it is stored now; None if not read or not stored."""
    rows: tuple[SentRow, ...]
    size: int
    """Bytes of the rows: texts as sent, and tool calls; without the system prompt."""
    compaction: int | None
    """Index of the last compaction before it; None before the first."""
    notes: tuple[CompactionNote, ...]

    @property
    def is_certain(self) -> bool:
        """Whether exactly these rows were sent, beyond doubt."""
        harmless = HARMLESS | {CompactionNote.COPY, CompactionNote.SUMMARY, CompactionNote.PROMPT}
        return harmless.issuperset(self.notes) and all(row.is_certain for row in self.rows)


class Contexts:
    """All contexts of a conversation; does not access the store."""

    def __init__(self, history: CompactionHistory) -> None:
        self.history = history
        self._places = {
            row.id: (number, at)
            for number, generation in enumerate(history.generations)
            for at, row in enumerate(generation.rows)
        }
        self._copied = {original: copy for copy, original in history.copies.items()}
        self._stored_late = {
            each.id
            for one in history.compactions
            for each in one.kept
            if each.original is None and not each.is_head
        }
        """Rows that were first stored by a compaction, behind its summary."""

    def generation_of(self, message_id: int) -> Generation:
        """Return the generation of a row."""
        return self.history.generations[self._places[message_id][0]]

    def __contains__(self, message_id: int) -> bool:
        """Return whether a row is part of the conversation."""
        return message_id in self._places

    @property
    def newest(self) -> int | None:
        """Id of the last row that was not rewound."""
        for generation in reversed(self.history.generations):
            for row in reversed(generation.rows):
                if row.state is not State.REWOUND:
                    return row.id
        return None

    def at(self, message_id: int) -> tuple[int, int, tuple[SentRow, ...], list[CompactionNote]]:
        """Find the request that a message belongs to.

        Returns:
            Id of the message or its original, index of the generation, the rows sent, and notes.
        """
        notes: list[CompactionNote] = []
        of, visited = message_id, {message_id}
        while (original := self.history.copies.get(of)) is not None and original not in visited:
            visited.add(original)
            of = original
        if of != message_id:
            notes.append(CompactionNote.COPY)
        number, at = self._places[of]
        row = self.history.generations[number].rows[at]
        if row.summary is not None and at < self.history.generations[number].block:
            notes.append(CompactionNote.SUMMARY)
            return (
                of,
                number,
                self._sent(number, self.history.generations[number].block, row, notes),
                notes,
            )
        if row.role == "assistant" and of in self._stored_late:
            notes.append(CompactionNote.EDGE)
        if row.role == "assistant":
            return of, number, self._sent(number, at, row, notes), notes
        # The first request with it ends at the next answer, which may be in a later generation that
        # has a copy of it.
        while True:
            rows = self.history.generations[number].rows
            until = next(
                (place for place in range(at + 1, len(rows)) if _may_answer(rows[place], row)), None
            )
            copy = self._copied.get(rows[at].id)
            if until is not None and until >= self.history.generations[number].block:
                return of, number, self._sent(number, until, row, notes), notes
            if copy is None or self._places[copy][0] <= number:
                notes.append(CompactionNote.UNANSWERED)
                return of, number, self._sent(number, at + 1, row, notes), notes
            number, at = self._places[copy]

    def after_resume(self, newest: int) -> tuple[int, tuple[SentRow, ...], list[CompactionNote]]:
        """Find what Hermes loads for a resume: all rows of the last generation that were not
        rewound.

        Args:
            newest: The last row that was not rewound.

        Returns:
            Index of the generation, the rows, and notes.
        """
        number, at = self._places[newest]
        generation = self.history.generations[number]
        notes: list[CompactionNote] = []
        rows = self._sent(number, None, generation.rows[at], notes)
        if generation.compaction is not None:
            unstored = self.history.compactions[generation.compaction].not_stored_again
            rows = tuple(row for row in rows if row.id not in unstored)
        return number, rows, [note for note in notes if note is not CompactionNote.NOT_STORED_AGAIN]

    def _sent(
        self, number: int, until: int | None, of: HistoryRow, notes: list[CompactionNote]
    ) -> tuple[SentRow, ...]:
        """Return the rows of a generation that were sent, up to index `until` or to its end, and
        add to the notes.

        If the requested message was rewound, other rewound rows are included.
        """
        generation = self.history.generations[number]
        rows = generation.rows if until is None else generation.rows[:until]
        with_rewound = of.state is State.REWOUND
        rewound = [row for row in rows if row.state is State.REWOUND]
        if with_rewound and any(row.role == "assistant" for row in rewound):
            notes.append(CompactionNote.REWOUND)
        compaction = (
            self.history.compactions[generation.compaction]
            if generation.compaction is not None
            else None
        )
        why: dict[int, RowOrigin] = {}
        unstored: tuple[int, ...] = ()
        if compaction is not None:
            why = {
                each.id: RowOrigin.HEAD if each.is_head else RowOrigin.KEPT
                for each in compaction.kept
            }
            if compaction.summary is not None:
                why[compaction.summary] = RowOrigin.SUMMARY
            unstored = compaction.not_stored_again
            notes += (
                note
                for note in compaction.notes
                if note is not CompactionNote.GAP and note not in notes
            )
        if any(row.id in self.history.gaps for row in rows[1:]):
            notes.append(CompactionNote.GAP)
        given = [
            SentRow(row.id, why.get(row.id, RowOrigin.SINCE), row.state is not State.REWOUND)
            for row in rows
            if row.state is not State.REWOUND or with_rewound
        ]
        block = sum(each.id in why for each in given)
        return (
            *given[:block],
            *(SentRow(each, RowOrigin.KEPT, False) for each in unstored),
            *given[block:],
        )


def _may_answer(row: HistoryRow, asked: HistoryRow) -> bool:
    """Return whether a row may answer an earlier one; a rewound answer counts only for a rewound
    row."""
    return row.role == "assistant" and (
        row.state is not State.REWOUND or asked.state is State.REWOUND
    )


def context_of(
    reader: Reader,
    segments: Sequence[Session],
    contexts: Contexts,
    message_id: int | None,
    *,
    prompt: bool = True,
) -> ModelContext:
    """Return the context of a message, or what a resume would send; only the system prompt is read,
    if requested.

    If the newest session has no rows, Hermes starts fresh there, without any earlier message (0.16
    to 0.19).

    Args:
        reader: An open reader.
        segments: The sessions of the conversation, root first.
        contexts: Of the conversation.
        message_id: `messages.id`; None for what a resume would send now.
        prompt: Whether to read the system prompt.

    Raises:
        NotFoundError: The message is not in this conversation.
    """
    of: int | None = None
    if message_id is None:
        newest = contexts.newest
        if newest is None or contexts.generation_of(newest).segment < len(segments) - 1:
            system_prompt = read_system_prompt(reader, segments[-1].id) if prompt else None
            return ModelContext(None, None, segments[-1].id, system_prompt, (), 0, None, ())
        number, rows, notes = contexts.after_resume(newest)
    elif message_id in contexts:
        of, number, rows, notes = contexts.at(message_id)
    else:
        raise NotFoundError(
            _("There is no message {id} in this conversation.").format(id=message_id)
        )
    history = contexts.history
    generation = history.generations[number]
    if _was_compressed_later(history, number):
        notes.append(CompactionNote.PROMPT)
    sizes = {row.id: row.size for each in history.generations for row in each.rows}
    session_id = segments[generation.segment].id
    return ModelContext(
        at=message_id,
        of=of,
        session_id=session_id,
        prompt=read_system_prompt(reader, session_id) if prompt else None,
        rows=rows,
        size=sum(sizes[row.id] for row in rows),
        compaction=generation.compaction,
        notes=tuple(dict.fromkeys(notes)),
    )


def _was_compressed_later(history: CompactionHistory, number: int) -> bool:
    """Return whether the session of a generation was compressed in place after it."""
    return any(
        each.compaction is not None
        and history.compactions[each.compaction].kind is CompactionKind.IN_PLACE
        for each in history.generations[number + 1 :]
        if each.segment == history.generations[number].segment
    )


class Memory(NamedTuple):
    """What the model still had of a conversation in a context."""

    known: frozenset[int]
    """Rows that were sent, and those whose text was sent in a row that repeats them."""
    forgotten: tuple[int, ...]
    """Earlier rows that were not sent in any form but a summary; summaries and what was taken back
    are not counted."""
    said: int
    """Number of forgotten rows, plus the sent rows that are not summaries."""
    has_summary: bool
    """Whether a summary was sent."""


def memory_of(
    history: CompactionHistory, given: Sequence[SentRow], until: int | None = None
) -> Memory:
    """Find out which earlier messages a context lacks.

    Args:
        history: Of the conversation.
        given: The rows of a context of it.
        until: Number of generations that are earlier; None for those before the last one with a
            given row.
    """
    originals = dict(history.copies)
    shortened = {each.id for one in history.compactions for each in one.kept if each.is_changed}
    merged = {one.summary: one.merged for one in history.compactions if one.summary is not None}
    known: set[int] = set()
    for each in given:
        at: int | None = each.id
        while at is not None and at not in known:
            known.add(at)
            at = merged.get(at) if at in merged else None if at in shortened else originals.get(at)
    sent = {each.id for each in given}
    # A block that was not found, as after Hermes joined two messages, leaves rows that say the same
    # without a link.
    marks = {
        row.fingerprint
        for generation in history.generations
        for row in generation.rows
        if row.id in sent
    }
    if until is None:
        until = max(
            (
                number
                for number, each in enumerate(history.generations)
                if any(row.id in sent for row in each.rows)
            ),
            default=0,
        )
    summaries = {one.summary for one in history.compactions}
    forgotten: list[int] = []
    for generation in history.generations[:until]:
        for row in generation.rows:
            if row.fingerprint in marks:
                known.add(row.id)
            elif not (
                row.id in known
                or row.id in originals
                or row.id in summaries
                or row.state is State.REWOUND
            ):
                forgotten.append(row.id)
    told = sum(row.id not in summaries for row in given)
    return Memory(frozenset(known), tuple(forgotten), len(forgotten) + told, told < len(given))


def read_memory(reader: Reader, segments: Sequence[Session]) -> Memory:
    """Find out what the model will not have when Hermes resumes a conversation.

    If the newest session has no rows, Hermes starts fresh there, without any earlier message (0.16
    to 0.19).
    """
    contexts = Contexts(read_history(reader, segments))
    newest = contexts.newest
    if newest is None:
        return Memory(frozenset(), (), 0, False)
    generation = contexts.generation_of(newest)
    if generation.segment < len(segments) - 1:
        return memory_of(contexts.history, (), len(contexts.history.generations))
    given = [
        SentRow(row.id, RowOrigin.SINCE)
        for row in generation.rows
        if row.state is not State.REWOUND
    ]
    return memory_of(contexts.history, given)
