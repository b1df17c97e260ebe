"""Chat messages as data: free of SQL and of Textual.

Times are Unix seconds (float) or None; sizes are bytes. Text is as stored (see `text.as_text`):
callers must pass it through `printable` before showing it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from .block_kinds import CALL, KINDS, Block, split_summary, without_injections

SPEAKERS = ("user", "assistant")
"""Roles whose texts may hold a compaction summary; that of a tool only looks like one, if at
all."""


class State(StrEnum):
    """State of a chat message: seen by the model, replaced by a summary, or taken back."""

    LIVE = "live"
    COMPACTED = "compacted"
    REWOUND = "rewound"


class Reading(StrEnum):
    """Which messages a transcript shows."""

    SAID = "said"
    """Live and compacted messages."""
    LIVE = "live"
    """Messages that the model still sees."""
    EVERYTHING = "everything"
    """Rewound and hidden rows too."""


class ToolCall(NamedTuple):
    """One tool call of an assistant message."""

    id: str
    name: str
    arguments: str
    """As stored: a JSON text, possibly cut short."""


class ContentPart(NamedTuple):
    """One part of a multimodal message."""

    kind: str
    """`text`, `image` or the stored type."""
    text: str = ""
    """The text of a text part; else a placeholder."""
    mime: str = ""
    url: str = ""
    """A remote address; empty for embedded data."""
    size: int = 0
    """Bytes of embedded data."""


class StoredMessage(NamedTuple):
    """The decoded columns of one row of `messages`."""

    id: int
    session_id: str
    role: str
    text: str
    """Multimodal parts are joined; empty for a bare tool call."""
    timestamp: float | None = None
    parts: tuple[ContentPart, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    reasoning: str | None = None
    finish_reason: str | None = None
    state: State = State.LIVE
    is_flagged: bool = False
    """Hermes says that it is a compaction summary (0.22)."""
    is_hidden: bool = False
    """`display_kind='hidden'`, `model_only` or bookkeeping: shown only in `Reading.EVERYTHING`."""
    display_kind: str | None = None
    api_content: str | None = None
    """The text sent to the model, if it differs from `text`."""
    effect: str | None = None
    """Outcome marker of a tool row (0.19 and later)."""


class ChatMessage(StoredMessage):
    """One row of `messages`, decoded; its text is split once, when it is first asked for."""

    @cached_property
    def _split(self) -> tuple[str, str]:
        if self.role not in SPEAKERS:
            return "", self.text
        summary, said = split_summary(without_injections(self.text))
        return (said, "") if self.is_flagged and not summary else (summary, said)

    @property
    def summary(self) -> str:
        """The compaction summary in the text; empty if there is none."""
        return self._split[0]

    @property
    def said(self) -> str:
        """The text without a summary and without injected context."""
        return self._split[1]

    @property
    def is_summary(self) -> bool:
        """Whether it is a compaction summary and nothing else: shown as a collapsed divider."""
        is_one = bool(self.summary) or (self.is_flagged and self.role in SPEAKERS)
        return is_one and not self.said

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks before the calls, in display order; the body of a result may be empty."""
        bodies = ((kind, kind.body(self)) for kind in KINDS)
        return tuple(Block(kind, body) for kind, body in bodies if body is not None)


def blocks_of(message: ChatMessage) -> Iterator[Block]:
    """Yield all blocks of a message in display order; of its calls there may be very many."""
    yield from message.blocks
    for call in message.tool_calls:
        yield Block(CALL, call.arguments, call.name)


class RowInfo(NamedTuple):
    """One row of `messages` without its texts, in the outline of a conversation."""

    id: int
    segment: int
    """Index of its session in the conversation."""
    role: str
    timestamp: float | None
    state: State
    hidden: bool
    order: object = None
    """`display_order` (0.22): equal in all rows of one message."""


class Hit(NamedTuple):
    """A chat message that matched."""

    message_id: int
    session_id: str
    role: str
    timestamp: float | None
    snippet: str
    match: tuple[tuple[int, int], ...]
    """Half-open ranges in `snippet`, in code points."""
    state: State = State.LIVE
