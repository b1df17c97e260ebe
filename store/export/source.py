"""Conversations as an export has them, and a chat message as `show` and a copy have it too: its
blocks as printable text, its speaker, its marks, its day.

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
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from ..amounts import WEEKDAYS, local_time
from ..call import read_in_portions
from ..connection.stored_values import json_as_text, read_exactly, write_json
from ..errors import NotFoundError
from ..messages.chat_message import (
    CALL,
    RESULT,
    SUMMARY,
    Block,
    ChatMessage,
    Reading,
    State,
    blocks_of,
)
from ..messages.transcript import Outline
from ..sessions.models import Conversation, Session
from ..text import one_line, printable
from ..wording import N_, _

if TYPE_CHECKING:
    from .redact import Redactor  # start time: `show` redacts nothing

T = TypeVar("T")

WINDOW = 200
"""Chat messages per window."""
HIDDEN = "hidden"
"""In `ExportCounts.not_live`, beside the states."""
_NAMES = N_({"user": "You", "assistant": "Assistant", "system": "System"})
_STATES = N_({State.COMPACTED: "compacted", State.REWOUND: "rewound"})


class Format(StrEnum):
    """The formats of an export."""

    MARKDOWN = "markdown"
    JSONL = "jsonl"
    HTML = "html"


class RenderedMessage(NamedTuple):
    """A chat message with its blocks, in the same order in all formats."""

    message: ChatMessage
    speaker: str
    """The user, the assistant, a tool, or the role as stored; on one line."""
    blocks: tuple[Block, ...]
    """Printable; a result has its tool, and its body may be empty."""


Event = date | str | RenderedMessage
"""The start of a day in local time, a message, or where Hermes compressed the conversation: the id
of the session in which it continued, on one line."""


@dataclass
class ExportCounts:
    """Counts of an export, updated while it is written."""

    sessions: int = 0
    messages: int = 0
    not_live: Counter[str] = field(default_factory=Counter)
    """Rewound rows, in JSON lines compacted ones, in documents to read other hidden ones (`HIDDEN`);
    whether exported or not."""


StoredValue = int | float | str | None


StoredRow = dict[str, StoredValue]
"""A row by column."""


class StoredSession(NamedTuple):
    """A row of `sessions` as it is stored."""

    values: StoredRow
    messages: list[tuple[int, State]]
    """Ids and states of its messages, in order."""
    tags: tuple[str, ...] = ()
    """Those of the user."""


class StoredRows(NamedTuple):
    """Rows of `messages` as they are stored."""

    rows: list[StoredRow]


class ExportedStore(Protocol):
    """What an export asks of a store; it is closed while text is passed on."""

    def outline(self, segments: Sequence[Session], reading: Reading) -> Outline: ...
    def messages(self, ids: Sequence[int]) -> list[ChatMessage]: ...
    def stored_session(self, session_id: str) -> StoredSession: ...
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


def messages_gone(session_id: str) -> NotFoundError:
    """Return the error for a session whose messages, or some of them, were deleted during the
    export."""
    return NotFoundError(
        _(
            "Messages of {session} are gone: they were deleted while they were exported.",
            session=session_id,
        )
    )


def read_all(
    session_id: str, read: Callable[[list[int]], Sequence[T]], ids: Sequence[int]
) -> Iterator[T]:
    """Yield rows of a session by id, all of them: a file must not be cut short without a word.

    Raises:
        NotFoundError: One has been deleted meanwhile.
    """

    def read_some(some: list[int]) -> Sequence[T]:
        rows = read(some)
        if len(rows) < len(some):
            raise messages_gone(session_id)
        return rows

    return read_in_portions(read_some, ids, WINDOW)


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
            ("messages", _("{count:,} messages", count=len(self.ids))),
            ("segments", _("{count:,} parts", count=parts) if parts > 1 else ""),
        ]
        return [(label, one_line(text)) for label, text in pairs if text]

    @cached_property
    def ids(self) -> list[int]:
        """The ids of the messages that are exported; finding them counts those that are not live.

        Raises:
            NotFoundError: Something of it has been deleted meanwhile.
        """
        segments, part = self.conversation.segments, self.export.part
        _ids, rows, _gaps, copies = self.export.store.outline(segments, Reading.EVERYTHING)
        if part is not None:
            chosen = [row.id for row in rows if row.id in part]
            if len(chosen) < len(part):
                raise messages_gone(self.conversation.id)
            return chosen
        said = [row.id for row in rows if row.is_said and row.id not in copies]
        there = {row.segment for row in rows}
        if any(each.has_messages and at not in there for at, each in enumerate(segments)):
            raise messages_gone(self.conversation.id)
        self.export.counts.not_live.update(
            State.REWOUND if row.state is State.REWOUND else HIDDEN
            for row in rows
            if not (row.is_said or row.id in copies)
        )
        return [row.id for row in rows] if self.export.everything else said

    def events(self) -> Iterator[Event]:
        """Yield the conversation in order, with the date where it changes and the session where that
        changes.

        Raises:
            NotFoundError: Something of it has been deleted meanwhile.
            StoreError: The store cannot be read any more.
        """
        counts, store = self.export.counts, self.export.store
        counts.sessions += len(self.conversation.segments)
        day: date | None = None
        session = self.conversation.root_id
        for message in read_all(self.conversation.id, store.messages, self.ids):
            counts.messages += 1
            if message.session_id != session:
                session = message.session_id
                yield one_line(session)
            moment = local_time(message.timestamp)
            if moment is not None and moment.date() != day:
                day = moment.date()
                yield day
            yield rendered(message, redactor=self.export.redactor)


# A chat message


def rendered(
    message: ChatMessage,
    result_of: Callable[[str], ChatMessage | None] = lambda call_id: None,
    *,
    redactor: Redactor | None = None,
) -> RenderedMessage:
    """Return a chat message with its blocks.

    Args:
        message: The message.
        result_of: As of `blocks_of`.
        redactor: Replaces and counts secrets.
    """
    tool = message.tool_name or "tool" if message.role == "tool" else ""
    clean: Callable[[str], str] = redactor.text if redactor is not None else str
    clean_data: Callable[[str], str] = redactor.json_text if redactor is not None else str
    blocks = [each for each in blocks_of(message, result_of) if each.kind.exported is not None]
    shown: list[Block] = []
    for kind, text, own_tool in blocks:
        body = printable(clean_data(text) if kind in (RESULT, CALL) else clean(text))
        if kind is RESULT:
            body = readable_result(body)
        shown.append(Block(kind, body, one_line(clean(own_tool or tool))))
    # What a summary replaced was before the message that it was merged into, so also before its
    # reasoning.
    shown.sort(key=lambda block: block.kind is not SUMMARY)
    speaker = _(_NAMES.get(message.role, "")) or message.role
    if tool:
        speaker = _("Tool {name}", name=clean(tool))
    return RenderedMessage(message, one_line(speaker), tuple(shown))


def indented_json(arguments: str) -> str | None:
    """Return the arguments of a call as indented, printable JSON; None if they are not JSON, or that
    would change them, or there are none."""
    loaded = read_exactly(arguments)
    return None if loaded is None else printable(write_json(loaded, indent=2))


def readable_result(result: str) -> str:
    """Return the printable result of a tool with line ends unescaped, if it is a JSON object that
    keeps its text so; others unchanged."""
    loaded = read_exactly(result) if result.startswith("{") else None
    return (printable(json_as_text(loaded)) if isinstance(loaded, dict) else "") or result


def marks(message: ChatMessage) -> str:
    """Return what a message is marked with: its state, and whether it is hidden; empty for one that
    is live and seen."""
    words = _(_STATES.get(message.state, "")), _("hidden") if message.is_hidden else ""
    return _(", ").join(filter(None, words))


def day_name(day: date) -> str:
    """Return `Thursday, 2026-01-01` in the current language, independent of the locale."""
    return _("{weekday}, {date}", weekday=_(WEEKDAYS[day.weekday()]), date=day.isoformat())
