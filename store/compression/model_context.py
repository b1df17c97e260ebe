"""Reconstruct the context of a message: the exact rows that were sent to the model, in order.

The context of an assistant message is the request it answers; that of any other message is the
first request that included it. Verified row by row against requests of Hermes 0.16 to 0.19
(`tests/data/compression`). The store does not record the descriptions of tools, what a plug-in adds
to one request, how an adapter joins messages of one role, or a rotation that Hermes undid
(`tests/compression`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
    Compaction,
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


class ModelRequest(NamedTuple):
    """The rows of one request to the model."""

    of: int
    """The message whose context it is: the requested one, or its original if it is a copy."""
    generation: int
    """Index in the history."""
    rows: tuple[SentRow, ...]
    notes: list[CompactionNote]


class Contexts:
    """All contexts of a conversation; does not access the store."""

    def __init__(self, history: CompactionHistory) -> None:
        self.history = history
        self._places = {
            row.id: (number, at)
            for number, generation in enumerate(history.generations)
            for at, row in enumerate(generation.rows)
        }
        self._copies = {original: copy for copy, original in history.copies.items()}
        tails = (each for one in history.compactions for each in one.kept if not each.is_head)
        self._stored_late = {each.id for each in tails if each.original is None}
        """Rows that were first stored by a compaction, behind its summary."""

    def __contains__(self, message_id: int) -> bool:
        """Return whether a row is part of the conversation."""
        return message_id in self._places

    @property
    def newest(self) -> int | None:
        """Id of the last row that was not rewound."""
        rows = (row for each in reversed(self.history.generations) for row in reversed(each.rows))
        return next((row.id for row in rows if row.state is not State.REWOUND), None)

    def generation_of(self, message_id: int) -> Generation:
        """Return the generation of a row."""
        return self.history.generations[self._places[message_id][0]]

    def at(self, message_id: int) -> ModelRequest:
        """Find the request that a message belongs to."""
        of = message_id
        visited: set[int] = set()
        while of in self.history.copies and of not in visited:
            visited.add(of)
            of = self.history.copies[of]
        notes = [CompactionNote.COPY] if of != message_id else []
        number, at = self._places[of]
        generation = self.history.generations[number]
        row = generation.rows[at]
        if row.summary is not None and at < generation.block:
            notes.append(CompactionNote.SUMMARY)
            return self._request(row, number, generation.block, notes)
        if row.role == "assistant":
            if of in self._stored_late:
                notes.append(CompactionNote.EDGE)
            return self._request(row, number, at, notes)
        return self._first_answered(row, notes)

    def _first_answered(self, row: HistoryRow, notes: list[CompactionNote]) -> ModelRequest:
        """Find the first request with a row: it ends at the next answer, which may be in a later
        generation that has a copy of the row."""
        number, at = self._places[row.id]
        while True:
            generation = self.history.generations[number]
            later = range(at + 1, len(generation.rows))
            until = next((each for each in later if _may_answer(generation.rows[each], row)), -1)
            if until >= generation.block and until > at:
                return self._request(row, number, until, notes)
            copy = self._copies.get(generation.rows[at].id)
            if copy is None or self._places[copy][0] <= number:
                notes.append(CompactionNote.UNANSWERED)
                return self._request(row, number, at + 1, notes)
            number, at = self._places[copy]

    def after_resume(self, newest: int) -> ModelRequest:
        """Find what Hermes loads for a resume: all rows of the last generation that were not
        rewound; `newest` is the last of them."""
        number, at = self._places[newest]
        generation = self.history.generations[number]
        request = self._request(generation.rows[at], number, len(generation.rows), [])
        own = {row.id for row in generation.rows}  # what was not stored again is not loaded
        return request._replace(
            rows=tuple(row for row in request.rows if row.id in own),
            notes=[each for each in request.notes if each is not CompactionNote.NOT_STORED_AGAIN],
        )

    def _request(
        self, of: HistoryRow, number: int, until: int, notes: list[CompactionNote]
    ) -> ModelRequest:
        """Return the request with the rows of a generation up to index `until`.

        If the requested message was rewound, other rewound rows are included.
        """
        generation = self.history.generations[number]
        with_rewound = of.state is State.REWOUND
        stored = generation.rows[:until]
        rows = [row for row in stored if with_rewound or row.state is not State.REWOUND]
        why: dict[int, RowOrigin] = {}
        late: list[SentRow] = []
        if generation.compaction is not None:
            compaction = self.history.compactions[generation.compaction]
            why = _origins(compaction)
            unstored = compaction.not_stored_again
            late = [SentRow(each, RowOrigin.KEPT, is_certain=False) for each in unstored]
            notes += [each for each in compaction.notes if each is not CompactionNote.GAP]
        answers = [row for row in rows if row.role == "assistant"]
        if any(row.state is State.REWOUND for row in answers):
            notes.append(CompactionNote.REWOUND)
        if any(row.repeats_time for row in generation.rows[generation.block :]):
            notes.append(CompactionNote.EDGE)
        if any(row.id in self.history.gaps for row in stored[1:]):
            notes.append(CompactionNote.GAP)
        given = [
            SentRow(row.id, why.get(row.id, RowOrigin.SINCE), row.state is not State.REWOUND)
            for row in rows
        ]
        carried = [row for row in given if row.id in why]
        sent = (*carried, *late, *given[len(carried) :])
        return ModelRequest(of.id, number, sent, list(dict.fromkeys(notes)))


def _origins(compaction: Compaction) -> dict[int, RowOrigin]:
    """Return why the rows that a compaction wrote were sent, by id."""
    origins = {
        each.id: RowOrigin.HEAD if each.is_head else RowOrigin.KEPT for each in compaction.kept
    }
    if compaction.summary is not None:
        origins[compaction.summary] = RowOrigin.SUMMARY
    return origins


def _may_answer(row: HistoryRow, asked: HistoryRow) -> bool:
    """Return whether a row may answer an earlier one; a rewound answer counts only for a rewound
    row."""
    is_there = row.state is not State.REWOUND or asked.state is State.REWOUND
    return row.role == "assistant" and is_there


def _starts_fresh(contexts: Contexts, segments: Sequence[Session]) -> bool:
    """Return whether a resume sends no earlier message: the newest session has no rows (0.16 to
    0.19)."""
    newest = contexts.newest
    return newest is None or contexts.generation_of(newest).segment < len(segments) - 1


def context_of(
    reader: Reader,
    segments: Sequence[Session],
    contexts: Contexts,
    message_id: int | None,
    *,
    prompt: bool = True,
) -> ModelContext:
    """Return the context of a message, or for None what a resume would send now.

    Only the system prompt is read, if requested. `segments` are the sessions of the conversation,
    root first.

    Raises:
        NotFoundError: The message is not in this conversation.
    """
    if message_id is not None and message_id not in contexts:
        raise NotFoundError(
            _("There is no message {id} in this conversation.").format(id=message_id)
        )
    newest = contexts.newest
    if message_id is not None:
        request = contexts.at(message_id)
    elif newest is None or _starts_fresh(contexts, segments):
        system_prompt = read_system_prompt(reader, segments[-1].id) if prompt else None
        return ModelContext(None, None, segments[-1].id, system_prompt, (), 0, None, ())
    else:
        request = contexts.after_resume(newest)
    history = contexts.history
    generation = history.generations[request.generation]
    later = [
        each
        for each in history.generations[request.generation + 1 :]
        if each.segment == generation.segment and each.compaction is not None
    ]
    notes = request.notes
    if any(_is_in_place(history.compactions[each.compaction or 0]) for each in later):
        notes = [*notes, CompactionNote.PROMPT]
    sizes = {row.id: row.size for each in history.generations for row in each.rows}
    session_id = segments[generation.segment].id
    return ModelContext(
        at=message_id,
        of=request.of if message_id is not None else None,
        session_id=session_id,
        prompt=read_system_prompt(reader, session_id) if prompt else None,
        rows=request.rows,
        size=sum(sizes[row.id] for row in request.rows),
        compaction=generation.compaction,
        notes=tuple(notes),
    )


def _is_in_place(compaction: Compaction) -> bool:
    return compaction.kind is CompactionKind.IN_PLACE


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
    """Find out which earlier messages a context lacks, from its rows.

    `until` is the number of generations that are earlier; None for those before the last one with
    a given row.
    """
    sent = {each.id for each in given}
    numbered = list(enumerate(history.generations))
    with_sent = [number for number, each in numbered if any(row.id in sent for row in each.rows)]
    if until is None:
        until = max(with_sent, default=0)
    summaries = {one.summary for one in history.compactions}
    known = _repeated_in(history, sent)
    # A block that was not found, as after Hermes joined two messages, leaves rows that say the same
    # without a link.
    every = [row for generation in history.generations for row in generation.rows]
    said = {row.fingerprint for row in every if row.id in sent}
    earlier = [row for generation in history.generations[:until] for row in generation.rows]
    known |= {row.id for row in earlier if row.fingerprint in said}
    not_counted = known | history.copies.keys() | summaries
    forgotten = tuple(
        row.id for row in earlier if row.id not in not_counted and row.state is not State.REWOUND
    )
    told = len(sent - summaries)
    return Memory(frozenset(known), forgotten, len(forgotten) + told, told < len(sent))


def _repeated_in(history: CompactionHistory, sent: Collection[int]) -> set[int]:
    """Return the rows that were sent, and those whose whole text was sent in a copy or merged with
    a summary."""
    shortened = {each.id for one in history.compactions for each in one.kept if each.is_changed}
    originals = {
        copy: original for copy, original in history.copies.items() if copy not in shortened
    }
    originals |= {
        one.summary: one.merged
        for one in history.compactions
        if one.summary is not None and one.merged is not None
    }
    known: set[int] = set()
    for each in sent:
        at: int | None = each
        while at is not None and at not in known:
            known.add(at)
            at = originals.get(at)
    return known


def read_memory(reader: Reader, segments: Sequence[Session]) -> Memory:
    """Find out what the model will not have when Hermes resumes a conversation."""
    contexts = Contexts(read_history(reader, segments))
    newest = contexts.newest
    if newest is None:
        return Memory(frozenset(), (), 0, has_summary=False)
    if _starts_fresh(contexts, segments):
        return memory_of(contexts.history, (), len(contexts.history.generations))
    return memory_of(contexts.history, contexts.after_resume(newest).rows)
