"""What the model was given when a message was written: the exact rows, in order.

The model answers a request; what is asked here is the request a message belongs to. Of what the assistant says it is
the one it answers; of anything else the first one it was part of. Proved row by row against what Hermes 0.16 to 0.19
sent (`tests/data/compression`). What no row tells is not in the answer: the descriptions of tools, what a plug-in adds
for one request, how an adapter joins messages of one role, and a rotation that Hermes undid (`tests/compression`).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from ..connection.connect import Reader
from ..errors import NotFoundError
from ..messages.models import State
from ..messages.transcript import read_system_prompt
from ..sessions.session import Session
from ..wording import _
from .compactions import Generation, History, Kind, Note, read_history
from .rows import Row


class Why(StrEnum):
    """Why a row was sent."""

    HEAD = "head"
    """Carried over ahead of the summary."""
    SUMMARY = "summary"
    KEPT = "kept"
    """Carried over behind the summary."""
    SINCE = "since"
    """Written since the last compaction, or since the beginning."""


class Given(NamedTuple):
    """A row the model was given."""

    id: int
    why: Why
    is_certain: bool = True


class Context(NamedTuple):
    """Show what the model was given when a message was written."""

    at: int | None
    """The message that was asked for; None in a conversation without any."""
    of: int | None
    """The row it was written as: where `at` was carried over, the original."""
    session_id: str
    """The session it was sent from."""
    prompt: str | None
    """The system prompt as it is stored now."""
    rows: tuple[Given, ...]
    size: int
    """Bytes of the rows: texts as they were sent, and tool calls; not the system prompt."""
    compaction: int | None
    """Index of the last compaction before it; None before the first."""
    notes: tuple[Note, ...]

    @property
    def is_certain(self) -> bool:
        """Whether the store leaves no doubt that these rows were sent, and no others."""
        harmless = {Note.COPY, Note.SUMMARY, Note.PROMPT, Note.FALLBACK, Note.SHORTENED, Note.SHELLS, Note.REPEATED}
        return set(self.notes) <= harmless and all(row.is_certain for row in self.rows)


class Contexts:
    """All contexts of a conversation; pure data once it is made.

    Args:
        history: Of the conversation.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self._places = {
            row.id: (number, at)
            for number, generation in enumerate(history.generations)
            for at, row in enumerate(generation.rows)
        }
        self._copied = {original: copy for copy, original in history.copies.items()}

    def place_of(self, message_id: int) -> tuple[int, int]:
        """Return the generation of a row, and its index there."""
        return self._places[message_id]

    def __contains__(self, message_id: int) -> bool:
        """Whether a row is part of the conversation."""
        return message_id in self._places

    @property
    def newest(self) -> int | None:
        """The last row that was not taken back."""
        for generation in reversed(self.history.generations):
            for row in reversed(generation.rows):
                if row.state is not State.REWOUND:
                    return row.id
        return None

    def at(self, message_id: int) -> tuple[int, int, tuple[Given, ...], list[Note]]:
        """The request a message belongs to.

        Returns:
            The row it was written as, the generation it was sent with, the rows sent, and notes.
        """
        notes: list[Note] = []
        of, seen = message_id, {message_id}
        while (original := self.history.copies.get(of)) is not None and original not in seen:
            seen.add(original)
            of = original
        if of != message_id:
            notes.append(Note.COPY)
        number, at = self._places[of]
        row = self.history.generations[number].rows[at]
        if row.summary is not None and at < self.history.generations[number].block:
            notes.append(Note.SUMMARY)
            return of, number, self._sent(number, self.history.generations[number].block, row, notes), notes
        if self._is_late(number, at):
            notes.append(Note.STORED_LATE)
            late = self._late(number, at)
            return of, number - 1, (*self._sent(number - 1, None, row, notes), *late), notes
        if row.role == "assistant":
            return of, number, self._sent(number, at, row, notes), notes
        # The first request with it: up to the next answer; a compaction before that carries it into the next one.
        while True:
            rows = self.history.generations[number].rows
            until = next((place for place in range(at + 1, len(rows)) if _answers(rows[place], row)), None)
            copy = self._copied.get(rows[at].id)
            if until is not None and until >= self.history.generations[number].block:
                return of, number, self._sent(number, until, row, notes), notes
            if copy is None or self._places[copy][0] <= number:
                notes.append(Note.UNANSWERED)
                return of, number, self._sent(number, at + 1, row, notes), notes
            number, at = self._places[copy]

    def _is_late(self, number: int, at: int) -> bool:
        """Whether a row in a block was said before the compaction, and not stored until then.

        That is so of an answer without an original, and of what was said before such an answer in the same block.
        """
        generation = self.history.generations[number]
        if generation.compaction is None or number == 0 or at >= generation.block:
            return False
        kept = {each.id: each for each in self.history.compactions[generation.compaction].kept}
        behind = generation.rows[at : generation.block]
        own = kept.get(generation.rows[at].id)
        if own is None or own.original is not None or own.is_head:
            return False
        return any(row.role == "assistant" and row.id in kept and kept[row.id].original is None for row in behind)

    def _late(self, number: int, at: int) -> tuple[Given, ...]:
        """Rows of a block ahead of one stored late that were stored late, too."""
        generation = self.history.generations[number]
        row = generation.rows[at]
        until = at
        if row.role != "assistant":
            until = next(place for place in range(at + 1, generation.block) if _answers(generation.rows[place], row))
        return tuple(
            Given(each.id, Why.SINCE, False)
            for place, each in enumerate(generation.rows[:until])
            if self._is_late(number, place)
        )

    def _sent(self, number: int, until: int | None, of: Row, notes: list[Note]) -> tuple[Given, ...]:
        """The rows of a generation up to one of them, as they were sent; notes grow.

        Args:
            number: Of the generation.
            until: Index of the first row that was not sent; None for the end.
            of: The message in question: where it was taken back, others that were are part of it.
            notes: What is doubtful of it.
        """
        generation = self.history.generations[number]
        rows = generation.rows if until is None else generation.rows[:until]
        with_rewound = of.state is State.REWOUND
        taken_back = [row for row in rows if row.state is State.REWOUND]
        if with_rewound and any(row.role == "assistant" for row in taken_back):
            notes.append(Note.REWOUND)
        compaction = self.history.compactions[generation.compaction] if generation.compaction is not None else None
        why: dict[int, Why] = {}
        unstored: tuple[int, ...] = ()
        if compaction is not None:
            why = {each.id: Why.HEAD if each.is_head else Why.KEPT for each in compaction.kept}
            if compaction.summary is not None:
                why[compaction.summary] = Why.SUMMARY
            unstored = compaction.not_stored_again
            notes += (note for note in compaction.notes if note is not Note.GAP and note not in notes)
        if any(row.id in self.history.gaps for row in rows[1:]):
            notes.append(Note.GAP)
        found = [
            Given(row.id, why.get(row.id, Why.SINCE), row.state is not State.REWOUND)
            for row in rows
            if row.state is not State.REWOUND or with_rewound
        ]
        written = sum(row.id in why for row in rows)
        block = sum(each.id in why for each in found) if written else 0
        again = [Given(each, Why.KEPT, False) for each in unstored]
        return (*found[:block], *again, *found[block:])


def _answers(row: Row, asked: Row) -> bool:
    """Whether a row answers an earlier one that is still there, or was there when both were taken back."""
    return row.role == "assistant" and (row.state is not State.REWOUND or asked.state is State.REWOUND)


def read_context(
    reader: Reader, segments: Sequence[Session], message_id: int | None = None, *, prompt: bool = True
) -> Context:
    """What the model was given when a message was written.

    Args:
        reader: An open reader.
        segments: The sessions of the conversation, root first.
        message_id: `messages.id`; None for the newest one.
        prompt: Whether to read the system prompt.

    Raises:
        NotFoundError: The message is not in this conversation.
    """
    contexts = Contexts(read_history(reader, segments))
    return context_of(reader, segments, contexts, message_id, prompt=prompt)


def context_of(
    reader: Reader, segments: Sequence[Session], contexts: Contexts, message_id: int | None, *, prompt: bool = True
) -> Context:
    """The same of contexts that have been read; only the system prompt is looked up."""
    asked = contexts.newest if message_id is None else message_id
    if asked is None:
        own = read_system_prompt(reader, segments[-1].id) if prompt else None
        return Context(None, None, segments[-1].id, own, (), 0, None, ())
    if asked not in contexts:
        raise NotFoundError(_("There is no message {id} in this conversation.").format(id=asked))
    of, number, rows, notes = contexts.at(asked)
    history = contexts.history
    generation = history.generations[number]
    if _was_compressed_later(history, number):
        notes.append(Note.PROMPT)
    sizes = {row.id: row.size for each in history.generations for row in each.rows}
    session_id = segments[generation.segment].id
    return Context(
        at=asked,
        of=of,
        session_id=session_id,
        prompt=read_system_prompt(reader, session_id) if prompt else None,
        rows=rows,
        size=sum(sizes[row.id] for row in rows),
        compaction=generation.compaction,
        notes=tuple(dict.fromkeys(notes)),
    )


def _was_compressed_later(history: History, number: int) -> bool:
    """Whether the session of a generation was compressed in place after it."""
    later: Sequence[Generation] = history.generations[number + 1 :]
    return any(
        each.compaction is not None and history.compactions[each.compaction].kind is Kind.IN_PLACE
        for each in later
        if each.segment == history.generations[number].segment
    )


class Memory(NamedTuple):
    """What the model still had of a conversation in a context."""

    known: frozenset[int]
    """Rows that were sent, and those whose text was sent in a row that repeats them."""
    forgotten: tuple[int, ...]
    """Earlier rows that were not sent in any form but a summary; summaries and what was taken back are not counted."""
    said: int
    """Those, and what was said that was sent."""
    has_summary: bool
    """Whether a summary was sent."""


def memory_of(history: History, given: Sequence[Given]) -> Memory:
    """Find out which earlier messages a context lacks.

    Args:
        history: Of the conversation.
        given: The rows of a context of it.
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
    # A block that was not found, as after Hermes joined two messages, leaves rows that say the same without a link.
    marks = {row.mark for generation in history.generations for row in generation.rows if row.id in sent}
    last = max(
        (number for number, each in enumerate(history.generations) if any(row.id in sent for row in each.rows)),
        default=-1,
    )
    summaries = {one.summary for one in history.compactions}
    forgotten: list[int] = []
    for generation in history.generations[: max(last, 0)]:
        for row in generation.rows:
            if row.mark in marks:
                known.add(row.id)
            elif not (row.id in known or row.id in originals or row.id in summaries or row.state is State.REWOUND):
                forgotten.append(row.id)
    told = sum(row.id not in summaries for row in given)
    return Memory(frozenset(known), tuple(forgotten), len(forgotten) + told, told < len(given))


def read_memory(reader: Reader, segments: Sequence[Session]) -> Memory:
    """Find out what the model will not have when Hermes resumes a conversation.

    Args:
        reader: An open reader.
        segments: Its sessions, root first.
    """
    contexts = Contexts(read_history(reader, segments))
    newest = contexts.newest
    if newest is None:
        return Memory(frozenset(), (), 0, False)
    number, _at = contexts.place_of(newest)
    generation = contexts.history.generations[number]
    given = [Given(row.id, Why.SINCE) for row in generation.rows if row.state is not State.REWOUND]
    return memory_of(contexts.history, given)
