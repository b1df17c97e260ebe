"""Reconstruct the context of a message: the exact rows that were sent to the model, in order.

The context of an assistant message is the request it answers; that of any other message is the
first request that included it. Verified row by row against requests of Hermes 0.16 to 0.19
(`tests/data/compression`). The store does not record the descriptions of tools, what a plug-in adds
to one request, how an adapter joins messages of one role, or a rotation that Hermes undid
(`tests/compression`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from ..connection.reader import Reader
from ..errors import NotFoundError
from ..messages.chat_message import State
from ..messages.transcript import read_system_prompt
from ..sessions.session import Session
from ..wording import _
from .blocks import sent_of
from .compactions import (
    HARMLESS,
    Compaction,
    CompactionHistory,
    CompactionNote,
    Generation,
    read_history,
)
from .history_rows import HistoryRow, HistoryRows


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
    rows: tuple[SentRow, ...] = ()
    size: int = 0
    """Bytes of the rows: texts as sent, and tool calls; without the system prompt."""
    compaction: int | None = None
    """Index of the last compaction before it; None before the first."""
    notes: tuple[CompactionNote, ...] = ()
    prompt: str | None = None
    """The system prompt as it is stored now; None if not read or not stored."""

    @property
    def is_certain(self) -> bool:
        """Whether exactly these rows were sent, beyond doubt."""
        harmless = HARMLESS | {CompactionNote.COPY, CompactionNote.SUMMARY, CompactionNote.PROMPT}
        return harmless.issuperset(self.notes) and all(row.is_certain for row in self.rows)


class Contexts:
    """All contexts of a conversation, given by its sessions, root first; does not access the
    store."""

    def __init__(self, history: CompactionHistory, segments: Sequence[Session]) -> None:
        self.history, self._segments = history, segments
        self._places = {
            row.id: (generation, place)
            for generation in history.generations
            for place, row in enumerate(generation.rows)
        }
        rows = (row for generation in history.generations for row in generation.rows)
        self._sizes = {row.id: row.size for row in rows}
        self._copies = {original: copy for copy, original in history.copies.items()}

    def __contains__(self, message_id: int) -> bool:
        """Return whether a row is part of the conversation."""
        return message_id in self._places

    def at(self, message_id: int) -> ModelContext:
        """Return the context of a message of the conversation."""
        of = message_id
        while of in self.history.copies:
            of = self.history.copies[of]
        generation, place = self._places[of]
        row = generation.rows[place]
        notes = [CompactionNote.COPY] if of != message_id else []
        if row.summary is not None and place < generation.block:
            notes.append(CompactionNote.SUMMARY)
            place = generation.block
        elif row.role != "assistant":
            generation, place, is_answered = self._first_answer(row)
            notes += [] if is_answered else [CompactionNote.UNANSWERED]
        elif self._origins(generation).get(of) is RowOrigin.KEPT:
            notes.append(CompactionNote.EDGE)  # it was first stored by the compaction
        return self._context(row, generation, place, notes)._replace(at=message_id)

    def _first_answer(self, row: HistoryRow) -> tuple[Generation, int, bool]:
        """Find the end of the first request with a row: the next answer, which may be in a later
        generation that has a copy of the row; and whether there is one."""
        generation, place = self._places[row.id]
        while True:
            later = range(place + 1, len(generation.rows))
            answers = (at for at in later if _may_answer(generation.rows[at], row))
            answer = next(answers, -1)
            if answer > place and answer >= generation.block:
                return generation, answer, True
            copy = self._copies.get(generation.rows[place].id)
            if copy is None:
                return generation, place + 1, False
            generation, place = self._places[copy]

    def after_resume(self) -> ModelContext:
        """Return what Hermes loads for a resume: all rows of the last generation that were not
        rewound; none if the newest session has no others (0.16 to 0.19)."""
        tip = len(self._segments) - 1
        for generation in reversed(self.history.generations):
            rows = sent_of(generation.rows)
            if rows and generation.segment == tip:
                context = self._context(rows[-1], generation, len(generation.rows), [])
                # What was not stored again is not loaded.
                loaded = [row for row in context.rows if row.is_certain]
                notes = dict.fromkeys(context.notes)
                notes.pop(CompactionNote.NOT_STORED_AGAIN, None)
                size = sum(row.size for row in rows)
                return context._replace(of=None, rows=tuple(loaded), size=size, notes=tuple(notes))
        return ModelContext(None, None, self._segments[-1].id)

    def _compaction_before(self, generation: Generation) -> Compaction | None:
        """Return the compaction after which a generation was written."""
        at = generation.compaction
        return self.history.compactions[at] if at is not None else None

    def _origins(self, generation: Generation) -> dict[int, RowOrigin]:
        """Return why the rows that a compaction wrote were sent in a generation, by id."""
        compaction = self._compaction_before(generation)
        if compaction is None:
            return {}
        origins = {
            row.id: RowOrigin.HEAD if row.is_head else RowOrigin.KEPT for row in compaction.kept
        }
        if compaction.summary is not None:
            origins[compaction.summary] = RowOrigin.SUMMARY
        return origins

    def _context(
        self, of: HistoryRow, generation: Generation, until: int, notes: Sequence[CompactionNote]
    ) -> ModelContext:
        """Return the context with the rows of a generation up to index `until`.

        If the requested message was rewound, other rewound rows are included.
        """
        compaction = self._compaction_before(generation)
        stored = generation.rows[:until]
        rows = stored if of.state is State.REWOUND else sent_of(stored)
        why = self._origins(generation)
        sent = [
            SentRow(row.id, why.get(row.id, RowOrigin.SINCE), row.state is not State.REWOUND)
            for row in rows
        ]
        carried = sum(row.id in why for row in rows)
        late = compaction.not_stored_again if compaction else ()
        sent[carried:carried] = [SentRow(row, RowOrigin.KEPT, is_certain=False) for row in late]
        return ModelContext(
            at=None,
            of=of.id,
            session_id=self._segments[generation.segment].id,
            rows=tuple(sent),
            size=sum(self._sizes[row.id] for row in sent),
            compaction=generation.compaction,
            notes=tuple(dict.fromkeys([*notes, *self._notes(generation, rows, stored)])),
        )

    def _notes(
        self, generation: Generation, rows: HistoryRows, stored: HistoryRows
    ) -> Iterator[CompactionNote]:
        """Yield what is unknown of a context that has some of the stored rows of a generation."""
        compaction = self._compaction_before(generation)
        if compaction is not None:
            yield from (note for note in compaction.notes if note is not CompactionNote.GAP)
        if any(row.role == "assistant" and row.state is State.REWOUND for row in rows):
            yield CompactionNote.REWOUND
        if any(row.repeats_time for row in generation.rows[generation.block :]):
            yield CompactionNote.EDGE
        if any(row.id in self.history.gaps for row in stored[1:]):
            yield CompactionNote.GAP
        own = [part for part in self.history.generations if part.segment == generation.segment]
        if own[-1] is not generation:
            yield CompactionNote.PROMPT


def _may_answer(row: HistoryRow, asked: HistoryRow) -> bool:
    """Return whether a row may answer an earlier one; a rewound answer counts only for a rewound
    row."""
    is_there = row.state is not State.REWOUND or asked.state is State.REWOUND
    return row.role == "assistant" and is_there


def context_of(
    reader: Reader, contexts: Contexts, message_id: int | None, *, prompt: bool = True
) -> ModelContext:
    """Return the context of a message, or for None what a resume would send now.

    Only the system prompt is read, if requested.

    Raises:
        NotFoundError: The message is not in this conversation.
    """
    if message_id is None:
        context = contexts.after_resume()
    elif message_id in contexts:
        context = contexts.at(message_id)
    else:
        raise NotFoundError(_("There is no message {id} in this conversation.", id=message_id))
    if not prompt:
        return context
    return context._replace(prompt=read_system_prompt(reader, context.session_id))


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


def memory_of(history: CompactionHistory, context: ModelContext) -> Memory:
    """Find out which earlier messages a context lacks."""
    sent = {row.id for row in context.rows}
    generations, compactions = history.generations, history.compactions
    numbers = [
        at for at, part in enumerate(generations) if any(row.id in sent for row in part.rows)
    ]
    until = max(numbers, default=len(generations) if context.at is None else 0)
    earlier = [row for generation in generations[:until] for row in generation.rows]
    whole: dict[int | None, int | None] = {
        row.id: row.original for each in compactions for row in each.kept if not row.is_changed
    }
    whole |= {each.summary: each.merged for each in compactions}
    known: set[int] = set()
    for row in sent:
        at: int | None = row
        while at is not None:
            known.add(at)
            at = whole.get(at)
    # A row that says the same is known without a link to it, too: after Hermes joined two messages
    # there is none.
    every = [row for generation in generations for row in generation.rows]
    texts = {row.fingerprint for row in every if row.id in sent}
    known |= {row.id for row in earlier if row.fingerprint in texts}
    summaries = {compaction.summary for compaction in compactions}
    not_counted = known | history.copies.keys() | summaries
    forgotten = [row.id for row in sent_of(earlier) if row.id not in not_counted]
    told = len(sent - summaries)
    return Memory(frozenset(known), tuple(forgotten), len(forgotten) + told, told < len(sent))


def read_memory(reader: Reader, segments: Sequence[Session]) -> Memory:
    """Find out what the model will not have when Hermes resumes a conversation."""
    history = read_history(reader, segments)
    return memory_of(history, Contexts(history, segments).after_resume())
