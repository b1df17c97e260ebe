"""The model of a transcript: entries, which are chat messages and the rules between them, and
messages read so far."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, KeysView, Sequence
from enum import StrEnum
from typing import NamedTuple

from hermes_browse.store.messages.chat_message import SAID, SEAM, ChatMessage, RowInfo, State
from hermes_browse.store.messages.transcript import END, Outline
from hermes_browse.store.sessions.models import (
    Conversation,
    ConversationKind,
    Relation,
    Session,
    Status,
)
from hermes_browse.store.wording import _

from ...text import formats, sentences

GAP_SECONDS = 3600.0
"""A pause of this length between messages of one day is shown."""
TEXT_LIMIT = 60_000
"""Code points shown of a folded text."""
CALL_LIMIT = 100
"""Tool calls of a message that are laid out, a tenth of a millisecond each; the pager shows all."""
_LIGHT = 2_400
"""Code points that are laid out within a frame; ten milliseconds if all of it is code."""


class EntryKind(StrEnum):
    """The kinds of rules between messages."""

    DAY = "day"
    GAP = "gap"
    SEAM = "seam"
    LEFT_OUT = "left out"
    NEW = "new"


class Tools(StrEnum):
    """How much of tool calls is shown."""

    OFF = "off"
    SHORT = "short"
    FULL = "full"


class Look(NamedTuple):
    """How much of messages is shown."""

    tools: Tools = Tools.SHORT
    reasoning: bool = False


class ShownMessage(NamedTuple):
    """A message and all that its layout depends on."""

    message: ChatMessage
    number: int
    """Its place in the conversation, from 1."""
    results: tuple[ChatMessage | None, ...]
    """Of its calls, as far as they are laid out."""
    repeats: int | None
    """The place of the message that it repeats."""
    width: int
    """Cells."""
    look: Look
    is_open: bool

    @property
    def inner(self) -> int:
        """Cells for the blocks below the head."""
        return max(self.width - 2, 10)

    @property
    def has_full_tools(self) -> bool:
        """Whether arguments and results are shown."""
        return self.is_open or self.look.tools is Tools.FULL

    @property
    def is_heavy(self) -> bool:
        """Whether laying it out may take longer than a frame."""
        message = self.message
        texts = [message.text]
        if self.is_open or self.look.reasoning:
            texts.append(message.reasoning or "")
        if self.has_full_tools:
            texts += [call.arguments for call in message.tool_calls[:CALL_LIMIT]]
            texts += [result.text for result in self.results if result is not None]
        return sum(map(len, texts)) > _LIGHT


class Entry(NamedTuple):
    kind: str
    """An `EntryKind`; of a message its role."""
    text: str = ""
    """Of a rule."""
    row: RowInfo | None = None
    """Of a message."""
    number: int = 0
    """Of a message its place among all, from 1; of a seam the index of the segment below it."""


def _seam(conversation: Conversation, segment: int) -> str:
    before, after = conversation.segments[segment - 1 : segment + 1]
    moment = before.ended_at if before.ended_at is not None else after.started_at
    return _(
        SEAM.label,
        time=formats.clock(moment).strip(),
        number=segment + 1,
        count=len(conversation.segments),
    )


def _left_out(rewound: int, compacted: int) -> Entry:
    messages = sentences.counts_line({"rewound": rewound, "compacted": compacted})
    # The key first: a narrow pane cuts the end.
    return Entry(EntryKind.LEFT_OUT, _("v: more · {messages} left out", messages=messages))


def make_entries(conversation: Conversation, outline: Outline) -> Iterator[Entry]:
    """Yield the entries of a conversation: messages; between them days, pauses, seams, notes on
    missing rows, and where the new ones begin."""
    segment, day, last = 0, "", None
    new = conversation.first_new
    for number, row in enumerate(outline.rows, 1):
        if row.segment != segment:
            segment = row.segment
            yield Entry(EntryKind.SEAM, _seam(conversation, segment), number=segment)
        moment, key = row.timestamp, formats.day_key(row.timestamp)
        if moment is not None and key not in ("", day):
            day = key
            yield Entry(EntryKind.DAY, formats.day(moment))
        elif moment is not None and last is not None and moment - last >= GAP_SECONDS:
            pause = formats.duration(moment - last)
            yield Entry(EntryKind.GAP, _("{duration} later", duration=pause))
        last = moment if moment is not None else last
        if row.id in outline.gaps:
            yield _left_out(*outline.gaps[row.id])
        if new is not None and row.id >= new:
            new = None
            yield Entry(EntryKind.NEW, _("new from here"))
        yield Entry(row.role, row=row, number=number)
    if END in outline.gaps:
        yield _left_out(*outline.gaps[END])


class TranscriptModel:
    """The entries of a conversation, and the messages read so far."""

    def __init__(
        self, conversation: Conversation, outline: Outline, first: Sequence[ChatMessage] = ()
    ) -> None:
        """Begin with messages that are no rows of `messages`."""
        rows = [RowInfo(each.id, 0, each.role, None, State.LIVE, False) for each in first]
        self.conversation = conversation
        self.outline = outline._replace(rows=(*rows, *outline.rows))
        self.entries = list(make_entries(conversation, self.outline))
        self.messages: dict[int | None, ChatMessage] = {}
        """Those read so far, by id."""
        self._results: dict[str, ChatMessage] = {}
        self._callers: dict[str, int] = {}
        """Ids of the messages with the calls."""
        places = ((entry.row, index) for index, entry in enumerate(self.entries))
        self._entry_of = {row.id: index for row, index in places if row is not None}
        self.add(first)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def ids(self) -> KeysView[int]:
        return self._entry_of.keys()

    def row(self, index: int | None) -> RowInfo | None:
        """Return the row of an entry; None for rules."""
        return self.entries[index].row if index is not None else None

    def id_of(self, index: int | None) -> int | None:
        row = self.row(index)
        return row.id if row is not None else None

    def message(self, index: int | None) -> ChatMessage | None:
        """Return the message of an entry; None for rules and messages that have not been read."""
        return self.messages.get(self.id_of(index))

    def shown(
        self, index: int | None, width: int, look: Look, opened: Container[int | None] = ()
    ) -> ShownMessage | None:
        """Return the message of an entry as a page shows it, given the ids of unfolded messages;
        None if it has not been read."""
        message = self.message(index)
        if message is None:
            return None
        results = tuple(self.result(call.id) for call in message.tool_calls[:CALL_LIMIT])
        number, original = self.number_of(message.id), self.outline.copies.get(message.id)
        repeats = None if original is None else self.number_of(original)
        return ShownMessage(message, number, results, repeats, width, look, message.id in opened)

    def result(self, call_id: str) -> ChatMessage | None:
        """Return the result of a tool call; None if there is none or it has not been read."""
        return self._results.get(call_id)

    def caller_of(self, message: ChatMessage) -> int | None:
        """Return the id of the message with the call that a tool result is shown with: it has no
        lines of its own then; None if it stands alone."""
        return self._callers.get(message.tool_call_id or "") if message.role == "tool" else None

    def add(self, messages: Iterable[ChatMessage]) -> None:
        for message in messages:
            self.messages[message.id] = message
            if message.role == "tool" and message.tool_call_id:
                self._results[message.tool_call_id] = message
            for call in message.tool_calls:
                if call.id:
                    self._callers[call.id] = message.id

    def missing(self, first: int, last: int) -> list[int]:
        """Return the ids of the rows of a range of entries, and of a few around it for pairing, that have not
        been read."""
        rows = map(self.row, range(max(first - 4, 0), min(last + 12, len(self.entries))))
        return [row.id for row in rows if row is not None and row.id not in self.messages]

    def entry_of(self, message_id: int | None) -> int | None:
        """Return the entry of a message, or of the one that repeats it; None if this reading leaves
        out both."""
        if message_id is None:
            return None
        copy = self._entry_of.get(self.outline.copies.get(message_id, message_id))
        return self._entry_of.get(message_id, copy)

    def number_of(self, message_id: int) -> int:
        """Return the place of a message among those of this reading, from 1."""
        return self.entries[self._entry_of[message_id]].number

    def next_shown(self, message_id: int) -> int | None:
        """Return the id of the first message after another that this reading shows, else of the
        last; None if empty."""
        later = (each for each in self.ids if each > message_id)
        return min(later, default=max(self.ids, default=None))

    def shown_at(self, message_id: int) -> int | None:
        """Return the entry that shows a message: for a tool result that of its call, if the call
        has been read."""
        message = self.message(self.entry_of(message_id))
        caller = self.caller_of(message) if message is not None else None
        return self.entry_of(message_id if caller is None else caller)

    def is_foldable(self, index: int) -> bool:
        """Whether an entry can be unfolded and folded; False if it has not been read."""
        message = self.message(index)
        return message is not None and (
            message.id in self.outline.copies
            or len(message.text) > TEXT_LIMIT
            or bool(message.tool_calls)
            or any(block.kind is not SAID for block in message.blocks)
        )

    def entry_of_segment(self, session_id: str | None) -> int | None:
        """Return the first entry of a segment; None if it has none."""
        if session_id not in self.outline.session_ids or not self.entries:
            return None
        segment = self.outline.session_ids.index(session_id)
        entries = (
            index
            for index, entry in enumerate(self.entries)
            if entry.kind is EntryKind.SEAM and entry.number >= segment
        )
        return next(entries, None) if segment else 0

    def step(self, index: int, by: int, kind: str = "") -> int | None:
        """Return the next (1) or previous (-1) entry of a kind; None if there is none.

        Args:
            kind: Of a rule, or a role, without summaries; empty for all messages but tool results.
        """
        places = range(index + by, len(self.entries) if by > 0 else -1, by)
        return next((each for each in places if self._is_of(each, kind)), None)

    def _is_of(self, index: int, kind: str) -> bool:
        entry, message = self.entries[index], self.message(index)
        if not kind:
            return entry.row is not None and entry.kind != "tool"
        return entry.kind == kind and not (message is not None and message.is_summary)


NOTHING = TranscriptModel(
    Conversation(
        (Session("", ""),), Relation.ROOT, ConversationKind.CHAT, Status.EMPTY, None, None
    ),
    Outline(("",), ()),
)
"""What an empty page shows."""
