"""The kinds of blocks in a chat message, defined once for everything that draws a transcript.

The screen, finding, `--plain`, `show`, Markdown and HTML draw the blocks from `blocks_of` by their
kind. A new kind needs only an entry in `KINDS`: the screen shows it folded under its label, finding
searches it, and the other outputs use the texts of the entry. Only a kind with a look of its own
needs more (`tui/transcript/block_layout.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..wording import N_
from .summaries import injected_context


class BlockKind(NamedTuple):
    """A kind of block. Texts are translated where they are shown."""

    name: str
    body: Callable[[Any], str | None] = lambda message: None
    """Returns the body of a `ChatMessage`; None if the message has no such block."""
    label: str = ""
    """On the screen: the line of a folded block, with `{size}`, empty if never folded; or the text
    of a rule."""
    shown: str | None = None
    """In `show` and `--plain`: replaces the body; empty to print it, None to omit the block."""
    exported: str | None = None
    """In Markdown and HTML: the title of a folded block, empty if it has none, None to omit the
    block."""
    is_markdown: bool = False


REASONING = BlockKind(
    "reasoning",
    lambda message: message.reasoning or None,
    label=N_("reasoning · {size}"),
    exported=N_("Reasoning"),
    is_markdown=True,
)
SUMMARY = BlockKind(
    "summary",
    lambda message: message.summary or None,
    label=N_("compaction summary · {size}"),
    shown=N_("[compaction summary left out]"),
    exported=N_("Compaction summary"),
    is_markdown=True,
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
    is_markdown=True,
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
"""The rule at a compression; other rules are only on the screen (`tui/transcript/entries.py`)."""


class Block(NamedTuple):
    """One part of a chat message."""

    kind: BlockKind
    body: str
    """As stored, not printable; of a call its arguments."""
    tool: str = ""
    """Of a call: the tool, as stored."""
