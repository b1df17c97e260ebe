"""Read conversations for an export in windows of messages, each as blocks of printable text.

The consumer of an export may be slow (a pager, a full pipe). Hermes 0.22 does no maintenance while
another process has the store open, so no connection is open while text is passed on; memory is
bounded by the window.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from ..amounts import local_time
from ..call import read_in_portions
from ..errors import NotFoundError
from ..messages.chat_message import (
    ChatMessage,
    Reading,
    RowInfo,
    State,
)
from ..messages.transcript import Outline
from ..sessions.models import Conversation, Session
from ..text import one_line
from ..wording import _
from .rendered import RenderedMessage, rendered

if TYPE_CHECKING:
    from .redact import Redactor  # start time: `show` redacts nothing

T = TypeVar("T")

WINDOW = 200
"""Chat messages per window."""
HIDDEN = "hidden"
"""In `ExportCounts.not_live`, beside the states."""


class Format(StrEnum):
    """The formats of an export."""

    MARKDOWN = "markdown"
    JSONL = "jsonl"
    HTML = "html"


class Seam(NamedTuple):
    """The place where Hermes compressed a conversation."""

    session: str
    """The id of the session in which it continued."""


Event = date | Seam | RenderedMessage
"""The start of a day in local time, a seam, or a message."""


@dataclass
class ExportCounts:
    """Counts of an export, updated while it is written."""

    sessions: int = 0
    messages: int = 0
    not_live: Counter[str] = field(default_factory=Counter)
    """Rewound rows, in JSON lines compacted ones, in documents to read other hidden ones (`HIDDEN`);
    whether exported or not."""


StoredValue = int | float | str | None


class StoredSession(NamedTuple):
    """A row of `sessions` as it is stored."""

    values: dict[str, StoredValue]
    messages: list[tuple[int, State]]
    """Ids and states of its messages, in order."""
    tags: tuple[str, ...] = ()
    """Those of the user."""


class StoredRows(NamedTuple):
    """Rows of `messages` as they are stored."""

    rows: list[dict[str, StoredValue]]


class ExportedStore(Protocol):
    """What an export asks of a store; it is closed while text is passed on."""

    def outline(self, segments: Sequence[Session], reading: Reading) -> Outline: ...
    def messages(self, ids: Sequence[int]) -> list[ChatMessage]: ...
    def stored_session(self, session_id: str) -> StoredSession | None: ...
    def stored_messages(self, ids: Sequence[int]) -> StoredRows: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Export:
    """How conversations are exported."""

    store: ExportedStore
    format: Format
    redactor: Redactor
    """Replaces and counts secrets."""
    now: float
    """Unix seconds, the time of the export."""
    everything: bool = False
    """Include rewound and hidden rows, and in JSON lines all that are not live."""
    part: Collection[int] | None = None
    """Ids of the only messages to include, whatever their state; None for all. Not for JSON
    lines."""
    exporter: str = "hermes-browse"
    """Name and version of the program."""
    counts: ExportCounts = field(default_factory=ExportCounts)
    """What has been written so far: the writers add to it."""


def session_gone(session_id: str) -> NotFoundError:
    """Return the error for a session that was deleted during the export."""
    return NotFoundError(
        _("Session {session} is gone: it was deleted while it was exported.", session=session_id)
    )


def _messages_gone(session_id: str) -> NotFoundError:
    return NotFoundError(
        _(
            "Messages of {session} are gone: they were deleted while they were exported.",
            session=session_id,
        )
    )


def read_all(
    session_id: str, read: Callable[[list[int]], Sequence[T]], ids: list[int]
) -> Sequence[T]:
    """Read rows of a session by id, all of them: a file must not be cut short without a word.

    Raises:
        NotFoundError: One has been deleted meanwhile.
    """
    rows = read(ids)
    if len(rows) < len(ids):
        raise _messages_gone(session_id)
    return rows


@dataclass
class ExportedConversation:
    """A conversation to export."""

    export: Export
    conversation: Conversation
    """With details."""

    @property
    def name(self) -> str:
        """The title, else the first words, else the id; on one line."""
        each = self.conversation
        return one_line(self.export.redactor.text(each.title or each.preview or each.id))

    def facts(self) -> list[tuple[str, str]]:
        """Return facts about the conversation, each with its key and printable text."""
        conversation, clean = self.conversation, self.export.redactor.text
        parts = len(conversation.segments)
        pairs = [
            ("id", conversation.id),
            ("source", conversation.source),
            ("model", clean(conversation.model or "")),
            ("folder", clean(conversation.cwd or "")),
            ("branch", clean(conversation.git_branch or "")),
            ("tags", " ".join(f"#{tag}" for tag in conversation.tags)),
            ("messages", _("{count:,} messages", count=self.message_count)),
            ("segments", _("{count:,} parts", count=parts) if parts > 1 else ""),
        ]
        return [(label, one_line(text)) for label, text in pairs if text]

    @property
    def message_count(self) -> int:
        """How many messages are exported."""
        part = self.export.part
        if part is not None:
            return len(part)
        is_all = self.export.everything  # else the conversation counts them
        return len(self._outline.rows) if is_all else self.conversation.message_count

    @cached_property
    def _outline(self) -> Outline:
        return self.export.store.outline(self.conversation.segments, Reading.EVERYTHING)

    def _exported_rows(self) -> list[RowInfo]:
        """Return the rows that are exported; errors as of `events`."""
        rows, part = self._outline.rows, self.export.part
        if part is not None:
            chosen = [row for row in rows if row.id in part]
            if len(chosen) < len(part):
                raise _messages_gone(self.conversation.id)
            return chosen
        said = [row for row in rows if row.is_said and row.id not in self._outline.copies]
        if len(said) < self.conversation.message_count:
            for segment in self.conversation.segments:
                if self.export.store.stored_session(segment.id) is None:
                    raise session_gone(segment.id)
        return list(rows) if self.export.everything else said

    def events(self) -> Iterator[Event]:
        """Yield the conversation in order, with the date where it changes and the session where that
        changes.

        Raises:
            NotFoundError: Something of it has been deleted meanwhile.
            StoreError: The store cannot be read any more.
        """
        store, counts = self.export.store, self.export.counts
        ids = [row.id for row in self._exported_rows()]
        if self.export.part is None:
            counts.not_live.update(
                State.REWOUND if row.state is State.REWOUND else HIDDEN
                for row in self._outline.rows
                if not (row.is_said or row.id in self._outline.copies)
            )
        counts.sessions += len(self.conversation.segments)
        day: date | None = None
        session = self.conversation.root_id
        read = partial(read_all, self.conversation.id, store.messages)
        for message in chain.from_iterable(read_in_portions(read, ids, WINDOW)):
            counts.messages += 1
            if message.session_id != session:
                session = message.session_id
                yield Seam(one_line(session))
            moment = local_time(message.timestamp)
            if moment is not None and moment.date() != day:
                day = moment.date()
                yield day
            yield rendered(message, redactor=self.export.redactor)
