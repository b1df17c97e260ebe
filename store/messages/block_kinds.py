"""The kinds of blocks in a chat message, defined once for everything that draws a transcript.

The screen, finding, `--plain`, `show`, Markdown and HTML draw the blocks from `blocks_of` by their kind. A new kind
needs only an entry in `KINDS`: the screen shows it folded under its label, finding searches it, and the other outputs
use the texts of the entry. Only a kind with a look of its own needs more (`tui/transcript/block_layout.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..wording import N_
from .chat_message import ChatMessage
from .decode import injected_context, split_summary, without_injections


class Texts(NamedTuple):
    """The text of a message, with a compaction summary split off."""

    summary: str
    said: str


def texts_of(message: ChatMessage) -> Texts:
    """Split the text of a user or model; that of a tool only looks like a summary, if at all."""
    if message.role not in ("user", "assistant"):
        return Texts("", message.text)
    summary, said = split_summary(without_injections(message.text))
    if message.is_summary and not summary:  # flagged by Hermes (0.22), without the usual start
        summary, said = said, ""
    return Texts(summary, said)


class BlockKind(NamedTuple):
    """A kind of block. Texts are translated where they are shown."""

    name: str
    body: Callable[[ChatMessage, Texts], str | None] = lambda message, texts: None
    """Returns the body; None if the message has no such block."""
    label: str = ""
    """On the screen: the line of a folded block, with `{size}`, empty if never folded; or the text of a rule."""
    spoken: str | None = None
    """In `--plain`: replaces a long body, with its length `{count}` and its start `{text}`; empty to print the body
    always, None to omit the block.
    """
    spoken_limit: int = 0
    """Maximum length of a body that `--plain` prints all the same."""
    shown: str | None = None
    """The same for `show`."""
    exported: str | None = None
    """In Markdown and HTML: the title of a folded block, empty if it has none, None to omit the block."""
    is_markdown: bool = False


REASONING = BlockKind(
    "reasoning",
    lambda message, texts: message.reasoning or None,
    label=N_("reasoning · {size}"),
    exported=N_("Reasoning"),
    is_markdown=True,
)
SUMMARY = BlockKind(
    "summary",
    lambda message, texts: texts.summary or None,
    label=N_("compaction summary · {size}"),
    spoken=N_("A compaction summary of {count:,} letters stands here and is left out, t reads it."),
    shown=N_("[compaction summary left out]"),
    exported=N_("Compaction summary"),
    is_markdown=True,
)
CONTEXT = BlockKind(
    "context",
    lambda message, texts: injected_context(message.text, message.api_content) or None,
    label=N_("context added by Hermes · {size}"),
)
SAID = BlockKind(
    "said",
    lambda message, texts: (texts.said or None) if message.role != "tool" else None,
    spoken="",
    shown="",
    exported="",
    is_markdown=True,
)
RESULT = BlockKind(
    "result",
    lambda message, texts: texts.said if message.role == "tool" else None,
    spoken=N_("{text} ... {count:,} letters in all, t reads them."),
    spoken_limit=200,
    shown="",
    exported="",
)
CALL = BlockKind(
    "call", spoken=N_("Calls {tool} with {arguments}"), spoken_limit=200, shown="→ {tool} {arguments}", exported=""
)

KINDS = (REASONING, SUMMARY, CONTEXT, SAID, RESULT)
"""Blocks with a body, in display order; calls come last."""

SEAM = BlockKind("seam", label=N_("compressed {time} · segment {number} of {count}"), shown=N_("continued in {id}"))
"""The rule at a compression; other rules are only on the screen (`tui/transcript/entries.py`)."""


class Block(NamedTuple):
    """One part of a chat message."""

    kind: BlockKind
    body: str
    """As stored, not printable; of a call its arguments."""
    tool: str = ""
    """Of a call: the tool, as stored."""


def bodies_of(message: ChatMessage) -> Iterator[Block]:
    """Yield the blocks before the calls of a message, in display order; a result may be empty."""
    texts = texts_of(message)
    for kind in KINDS:
        body = kind.body(message, texts)
        if body is not None:
            yield Block(kind, body)


def blocks_of(message: ChatMessage) -> Iterator[Block]:
    """Yield all blocks of a message in display order; of its calls there may be very many."""
    yield from bodies_of(message)
    for call in message.tool_calls:
        yield Block(CALL, call.arguments, call.name)
