"""Chat messages as data: frozen, free of SQL and of Textual.

Times are Unix seconds (float) or None; sizes are bytes. Text is as stored (see `text.as_text`): callers must pass it
through `printable` before showing it.
"""

from enum import StrEnum
from typing import NamedTuple


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


class ChatMessage(NamedTuple):
    """One row of `messages`, decoded."""

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
    is_summary: bool = False
    """A compaction summary: shown as a collapsed divider."""
    is_hidden: bool = False
    """`display_kind='hidden'`, `model_only` or bookkeeping: shown only in `Reading.EVERYTHING`."""
    display_kind: str | None = None
    api_content: str | None = None
    """The text sent to the model, if it differs from `text`."""
    effect: str | None = None
    """Outcome marker of a tool row (0.19 and later)."""


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
