"""Chat messages as data, and the kinds of blocks that they are made of.

Times are Unix seconds (float) or None; sizes are bytes. Text is as stored (see `text.as_text`):
callers must pass it through `printable` before showing it.

The screen, finding, `--plain`, `show`, Markdown and HTML draw the blocks from `blocks_of` by their
kind. A new kind needs only an entry in `KINDS`: the screen shows it folded under its label, finding
searches it, and the other outputs use the texts of the entry. Only a kind with a look of its own
needs more (`tui/browser/transcript/block_layout.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from ..wording import N_

SPEAKERS = ("user", "assistant")
"""Roles whose texts may hold a compaction summary; that of a tool only looks like one, if at
all."""


class State(StrEnum):
    """State of a chat message: seen by the model, replaced by a summary, or taken back."""

    LIVE = "live"
    COMPACTED = "compacted"
    REWOUND = "rewound"


STATES: Mapping[object, State] = {each.value: each for each in State}
"""By the `state` of `message_rows`."""


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


_STARTS = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
"""Prefixes of a compaction summary (agent/context_compressor.py, 0.19)."""
_END = re.compile(r"^--- END OF CONTEXT SUMMARY.*$", re.MULTILINE)
_PRIOR_CONTEXT = "[PRIOR CONTEXT — for reference only; not a new message]"
"""Stands above what was said where a summary was merged behind it (0.18 and 0.19)."""
_BELOW = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"
_MEMORY = re.compile(r"<memory-context>.*?</memory-context>\s*", re.DOTALL)


def split_summary(text: str) -> tuple[str, str]:
    """Split a text into a compaction summary and the rest; either may be empty.

    Hermes merges a summary into another message if roles must alternate: before it, closed by an
    end marker, or behind it, after a delimiter (agent/context_compressor.py, 0.19).
    """
    before, _delimiter, after = text.partition(_BELOW)
    if after.lstrip().startswith(_STARTS):
        return after.strip(), before.strip().removeprefix(_PRIOR_CONTEXT).strip()
    if not text.lstrip().startswith(_STARTS):
        return "", text
    end = _END.search(text)
    if end is None:
        return text, ""
    return text[: end.start()].rstrip(), text[end.end() :].strip()


def without_injections(text: str) -> str:
    """Remove the memory that Hermes injected into a user or assistant text (`sanitize_context`,
    0.19)."""
    return _MEMORY.sub("", text) if "<memory-context>" in text else text


def injected_context(text: str, sent: str | None) -> str:
    """Return what Hermes added to a message for the model: recalled memory, a plug-in's context.

    Args:
        text: Of the message, as stored.
        sent: What the model was sent (0.19); None if equal.

    Returns:
        Only the addition if the sent text contains the message, else all of it; empty if nothing
        was added.
    """
    if sent is None:
        return "\n".join(match[0].strip() for match in _MEMORY.finditer(text))
    typed = without_injections(text).strip()
    if not typed:
        return sent.strip()
    before, _typed, after = sent.rpartition(typed)  # if it is not in there, all is behind it
    return "\n\n".join(filter(None, (before.strip(), after.strip())))


class BlockKind(NamedTuple):
    """A kind of block. Texts are translated where they are shown."""

    name: str
    body: Callable[[ChatMessage], str | None] = lambda message: None
    """Returns the body of a `ChatMessage`; None if the message has no such block."""
    label: str = ""
    """On the screen: the line of a folded block, with `{size}`, empty if never folded; or the text
    of a rule."""
    shown: str | None = None
    """In `show` and `--plain`: replaces the body; empty to print it, None to omit the block."""
    exported: str | None = None
    """In Markdown and HTML: the title of a folded block, empty if it has none, None to omit the
    block. The body of one that is not omitted is Markdown on the screen, too."""


REASONING = BlockKind(
    "reasoning",
    lambda message: message.reasoning or None,
    label=N_("reasoning · {size}"),
    exported=N_("Reasoning"),
)
SUMMARY = BlockKind(
    "summary",
    lambda message: message.summary or None,
    label=N_("compaction summary · {size}"),
    shown=N_("[compaction summary left out]"),
    exported=N_("Compaction summary"),
)
CONTEXT = BlockKind(
    "context",
    lambda message: injected_context(message.text, message.api_content) or None,
    label=N_("context added by Hermes · {size}"),
)
SAID = BlockKind(
    "said",
    lambda message: (message.said or None) if message.role != "tool" else None,
    shown="",
    exported="",
)
RESULT = BlockKind(
    "result",
    lambda message: message.text if message.role == "tool" else None,
    shown="",
    exported="",
)
CALL = BlockKind(
    "call",
    shown="→ {tool} {arguments}",
    exported="",
)

KINDS = (REASONING, SUMMARY, CONTEXT, SAID, RESULT)
"""Blocks with a body, in display order; calls come last."""

SEAM = BlockKind(
    "seam",
    label=N_("compressed {time} · part {number} of {count}"),
    shown=N_("continued in {id}"),
)
"""The rule at a compression; other rules are only on the screen (`tui/browser/transcript/entries.py`)."""


class Block(NamedTuple):
    """One part of a chat message."""

    kind: BlockKind
    body: str
    """As stored, not printable; of a call its arguments."""
    tool: str = ""
    """Of a call and its result: the tool, as stored."""


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
        return bool(self.summary) and not self.said

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks before the calls, in display order; the body of a result may be empty."""
        bodies = ((kind, kind.body(self)) for kind in KINDS)
        return tuple(Block(kind, body) for kind, body in bodies if body is not None)


def blocks_of(
    message: ChatMessage, result_of: Callable[[str], ChatMessage | None] = lambda call_id: None
) -> Iterator[Block]:
    """Yield all blocks of a message in display order; of its calls there may be very many.

    `result_of` returns the result of a call by its id, to stand after the call; None if it is
    unknown.
    """
    yield from message.blocks
    for call in message.tool_calls:
        yield Block(CALL, call.arguments, call.name)
        if (result := result_of(call.id)) is not None:
            yield Block(RESULT, result.text, call.name)


class RowInfo(NamedTuple):
    """One row of `messages` without its texts, in the outline of a conversation."""

    id: int
    segment: int
    """Index of its session in the conversation."""
    role: str
    timestamp: float | None
    state: State
    hidden: bool

    @property
    def is_said(self) -> bool:
        """Whether `Reading.SAID` shows it, unless it repeats another."""
        return not self.hidden and self.state is not State.REWOUND


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
    is_summary: bool = False
    """Whether the snippet is of a compaction summary, which nobody said."""

    @property
    def speaker(self) -> str:
        """The role, or `summary`."""
        return "summary" if self.is_summary else self.role


class HitOrder(StrEnum):
    """Which hits come first."""

    NEWEST = "newest"
    RELEVANCE = "relevance"
    OLDEST = "oldest"
