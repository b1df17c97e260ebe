"""Reconstruct the context of a message: the exact rows that were sent to the model, in order.

The context of an assistant message is the request it answers; that of any other message is the
first request that included it. Verified row by row against requests of Hermes 0.16 to 0.19
(`tests/data/compression`). The store does not record the descriptions of tools, what a plug-in adds
to one request, how an adapter joins messages of one role, or a rotation that Hermes undid
(`tests/store/compression`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..connection.reader import Reader
from ..errors import NotFoundError
from ..messages.chat_message import State
from ..sessions.models import Session
from ..wording import _
from . import HARMLESS, CompactionNote
from .blocks import sent_of
from .compactions import Generation, read_history
from .history_rows import HistoryRow, HistoryRows, RowOrigin

_REVIEW = (
    "Review the conversation above and update the skill library",
    "Review the conversation above and consider saving to memory",
)
"""How a prompt of Hermes' background review begins."""


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
    rows: tuple[SentRow, ...]
    size: int
    """Bytes of the rows: texts as sent, and tool calls; without the system prompt."""
    is_compressed: bool
    """Whether a compaction is before it."""
    notes: tuple[CompactionNote, ...]
    prompt: str | None = None
    """The system prompt as it is stored now; None if not read or not stored."""

    @property
    def is_certain(self) -> bool:
        """Whether exactly these rows were sent, beyond doubt; a resume sends what is live."""
        harmless = HARMLESS | {CompactionNote.COPY, CompactionNote.SUMMARY, CompactionNote.PROMPT}
        is_known = self.at is None or harmless.issuperset(self.notes)
        return is_known and all(row.is_certain for row in self.rows)


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


class Contexts:
    """All contexts of a conversation, given by its sessions, root first; accesses the store only
    when it is made."""

    def __init__(self, reader: Reader, segments: Sequence[Session]) -> None:
        self.history, self._segments = read_history(reader, segments), segments
        self._rows = {row.id: row for row in self.history.rows}
        self._places = {
            row.id: (number, index)
            for number, generation in enumerate(self.history.generations)
            for index, row in enumerate(generation.rows)
        }
        """The generation of each row, and its place in there."""
        self._copies = {original: copy for copy, original in self.history.copies.items()}

    def at(self, message_id: int | None) -> ModelContext:
        """Return the context of a message, or for None what a resume would send now.

        Raises:
            NotFoundError: The message is not in this conversation.
        """
        generations = self.history.generations
        if message_id is None:
            # Hermes loads the live rows of the newest session (0.16 to 0.22), wherever its
            # compactions seem to be.
            tip = len(self._segments) - 1
            own = [part for part in generations if part.segment == tip] or [Generation(tip, ())]
            live = [row for part in own for row in part.rows if row.state is State.LIVE]
            return self._context(own[-1], live, own[-1].rows, _reviews(live))
        row = self._rows.get(message_id)
        if row is None:
            raise NotFoundError(_("There is no message {id} in this conversation.", id=message_id))
        while row.original is not None:
            row = self._rows[row.original]
        number, index = self._places[row.id]
        notes = [CompactionNote.COPY] if row.id != message_id else []
        if row.summary_text and row.why is not RowOrigin.SINCE:
            notes.append(CompactionNote.SUMMARY)
            index = generations[number].block_length
        elif row.role != "assistant":
            number, index, is_answered = self._first_answer(row)
            notes += [] if is_answered else [CompactionNote.UNANSWERED]
        elif row.why is RowOrigin.KEPT:
            notes.append(CompactionNote.EDGE)  # it was first stored by the compaction
        generation = generations[number]
        stored = generation.rows[:index]
        # If the requested message was rewound, other rewound rows are included.
        rows = stored if row.state is State.REWOUND else sent_of(stored)
        notes += [CompactionNote.RETRIED] if _is_retried(rows) else []
        compaction = generation.compaction
        unstored = compaction.not_stored_again if compaction is not None else ()
        doubtful = {row.id for row in rows if row.state is State.REWOUND}
        return self._context(generation, rows, stored, doubtful, notes, unstored)._replace(
            at=message_id, of=row.id
        )

    def _first_answer(self, row: HistoryRow) -> tuple[int, int, bool]:
        """Find the end of the first request with a row: the next answer, which may be in a later
        generation that has a copy of the row; and whether there is one."""
        # An answer that was taken back counts only for a row that was.
        states = (State.LIVE, State.COMPACTED, row.state)
        copy: int | None = row.id
        while copy is not None:
            number, index = self._places[copy]
            generation = self.history.generations[number]
            answers = (
                at
                for at, later in enumerate(generation.rows)
                if at > index and later.role == "assistant" and later.state in states
            )
            answer = next(answers, -1)
            if answer >= generation.block_length:
                return number, answer, True
            copy = self._copies.get(copy)
        return number, index + 1, False

    def _context(
        self,
        generation: Generation,
        rows: HistoryRows,
        stored: HistoryRows,
        doubtful: Container[int],
        known_notes: Iterable[CompactionNote] = (),
        unstored: Sequence[int] = (),
    ) -> ModelContext:
        """Return the context with some rows of a generation.

        Args:
            generation: The newest one that is sent.
            rows: What is sent of it.
            stored: Its rows up to where it is sent.
            doubtful: Ids of rows that may not have been sent.
            known_notes: Notes that come first.
            unstored: Rows that were carried over but not stored again.
        """
        compaction = generation.compaction
        notes = list(known_notes)
        if compaction is not None:
            # A gap is told of the rows that were sent.
            left_out = {CompactionNote.GAP: True, CompactionNote.NOT_STORED_AGAIN: not unstored}
            notes += [note for note in compaction.notes if not left_out.get(note)]
        since = generation.rows[generation.block_length :]
        own = [each for each in self.history.generations if each.segment == generation.segment]
        rewound = (row for row in rows if row.state is State.REWOUND)
        found = {
            CompactionNote.REWOUND: any(row.role == "assistant" for row in rewound),
            CompactionNote.EDGE: any(row.is_loaded for row in since),
            CompactionNote.GAP: any(row.id in self.history.gaps for row in stored[1:]),
            CompactionNote.PROMPT: generation in own[:-1],
        }
        notes += filter(found.get, found)
        sent = [SentRow(row.id, row.why, row.id not in doubtful) for row in rows]
        carried = sum(row.why is not RowOrigin.SINCE for row in sent)
        sent[carried:carried] = [SentRow(each, RowOrigin.KEPT, False) for each in unstored]
        return ModelContext(
            at=None,
            of=None,
            session_id=self._segments[generation.segment].id,
            rows=tuple(sent),
            size=sum(self._rows[row.id].size for row in sent),
            is_compressed=compaction is not None,
            notes=tuple(dict.fromkeys(notes)),
        )

    def memory(self, context: ModelContext) -> Memory:
        """Find out which earlier messages a context lacks."""
        sent = {row.id for row in context.rows}
        number = 0 if context.at is not None else len(self.history.generations)
        until = max((self._places[each][0] for each in sent), default=number)
        earlier = [row for part in self.history.generations[:until] for row in part.rows]
        # A row that says the same is known without a link to it, too: after Hermes joined two
        # messages there is none.
        known = sent | self._alike(sent, earlier)
        for each in reversed(self.history.compactions):  # what is merged may be such a summary
            if each.merged is not None and each.summary in known:
                known |= {each.merged} | self._alike([each.merged], earlier)
        forgotten = [
            row.id
            for row in sent_of(earlier)
            if row.id not in known and row.original is None and row.why is not RowOrigin.SUMMARY
        ]
        kept = sum(self._rows[each].why is not RowOrigin.SUMMARY for each in sent)
        return Memory(frozenset(known), tuple(forgotten), len(forgotten) + kept, kept < len(sent))

    def _alike(self, ids: Iterable[int], rows: HistoryRows) -> set[int]:
        """Return those of some rows that say the same as others."""
        texts = {self._rows[each].fingerprint for each in ids}
        return {row.id for row in rows if row.fingerprint in texts}


def _reviews(rows: HistoryRows) -> set[int]:
    """Return the ids of the rows that old releases stored of a background review and newer ones do
    not load (0.19): what is asked, and the answer behind it."""
    said = (row for row in rows if row.role in ("user", "system"))
    asked = {row.id for row in said if str(row.fingerprint[2]).lstrip().startswith(_REVIEW)}
    pairs = pairwise(rows)
    return asked.union(row.id for one, row in pairs if one.id in asked and row.role == "assistant")


def _is_retried(rows: HistoryRows) -> bool:
    """Return whether the user says the same twice in a row; `/retry` of the command line takes the
    first one and its answer from its memory, and leaves them live in the store (0.19)."""
    asked = [row.fingerprint for row in rows if row.role == "user"]
    return any(one == other for one, other in pairwise(asked))
