"""The kinds of blocks in a chat message, defined once for everything that draws a transcript.

What of a text is a summary, or context added by Hermes, is told here too.

The screen, finding, `--plain`, `show`, Markdown and HTML draw the blocks from `blocks_of` by their
kind. A new kind needs only an entry in `KINDS`: the screen shows it folded under its label, finding
searches it, and the other outputs use the texts of the entry. Only a kind with a look of its own
needs more (`tui/transcript/block_layout.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..wording import N_

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
    before, delimiter, after = text.partition(_BELOW)
    if delimiter and after.lstrip().startswith(_STARTS):
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
    before, separator, after = sent.rpartition(typed)
    if not separator:
        return sent.strip()
    return "\n\n".join(part for part in (before.strip(), after.strip()) if part)


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
