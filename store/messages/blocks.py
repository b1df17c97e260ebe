"""What a chat message consists of: each kind of block is described here, once, for all that draw a transcript.

The screen, finding, `--plain` and `show` draw what `blocks_of` gives by its kind. A new kind is an entry of `KINDS` and
nothing else: the screen then shows it folded under its label, finding looks through it, and the linear outputs say what
the entry says. Only a kind that looks unlike all others needs more (`tui/transcript/blocks.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..wording import N_
from .decode import injected_context, split_summary, without_injections
from .models import ChatMessage


class Texts(NamedTuple):
    """The text of a message, parted."""

    summary: str
    said: str


def texts_of(message: ChatMessage) -> Texts:
    """A text parted into the summary in it and what was said.

    Only what people and models say holds summaries: the output of a tool may begin like one.
    """
    if message.role not in ("user", "assistant"):
        return Texts("", message.text)
    summary, said = split_summary(without_injections(message.text))
    if message.is_summary and not summary:  # flagged as one by Hermes (0.22), without the usual opening
        summary, said = said, ""
    return Texts(summary, said)


class Kind(NamedTuple):
    """What there is to say about a kind of block. Texts are passed to `_` where they are shown."""

    name: str
    body: Callable[[ChatMessage, Texts], str | None] = lambda message, texts: None
    """Takes it out of a message; None where the message has none."""
    label: str = ""
    """On the screen: the line it is folded to, with `{size}`; empty for what is always open. Of a rule: its words."""
    spoken: str | None = None
    """In `--plain`, in place of a long body, with `{count}` letters and their beginning as `{text}`; empty where the
    body is always read out; None where nothing is said of it.
    """
    spoken_limit: int = 0
    """Letters of a body that are read out all the same."""
    shown: str | None = None
    """The same for `show`."""
    heading: str = ""
    """Above its body in a document."""
    is_markdown: bool = False
    """Whether its body is Markdown."""


REASONING = Kind(
    "reasoning",
    lambda message, texts: message.reasoning or None,
    label=N_("reasoning · {size}"),
    heading=N_("Reasoning"),
    is_markdown=True,
)
SUMMARY = Kind(
    "summary",
    lambda message, texts: texts.summary or None,
    label=N_("compaction summary · {size}"),
    spoken=N_("A compaction summary of {count:,} letters stands here and is left out, t reads it."),
    shown=N_("[compaction summary left out]"),
    heading=N_("Compaction summary"),
    is_markdown=True,
)
CONTEXT = Kind(
    "context",
    lambda message, texts: injected_context(message.text, message.api_content) or None,
    label=N_("context Hermes put to it · {size}"),
)
SAID = Kind(
    "said",
    lambda message, texts: (texts.said or None) if message.role != "tool" else None,
    spoken="",
    shown="",
    is_markdown=True,
)
RESULT = Kind(
    "result",
    lambda message, texts: texts.said if message.role == "tool" else None,
    spoken=N_("{text} ... {count:,} letters in all, t reads them."),
    spoken_limit=200,
    shown="",
)
CALL = Kind("call", spoken=N_("Calls {tool} with {arguments}"), spoken_limit=200, shown="→ {tool} {arguments}")

KINDS = (REASONING, SUMMARY, CONTEXT, SAID, RESULT)
"""Blocks with a body, in the order in which they are shown; calls come last."""

SEAM = Kind("seam", label=N_("compressed {time} · segment {number} of {count}"), shown=N_("continued in {id}"))
"""The rule where Hermes compressed; other rules are only on the screen (`tui/transcript/model.py`)."""


class Block(NamedTuple):
    """One part of a chat message."""

    kind: Kind
    body: str
    """As stored: may hold anything. Of a call its arguments."""
    tool: str = ""
    """Of a call: the tool, as stored."""


def blocks_of(message: ChatMessage) -> Iterator[Block]:
    """What a message consists of, in the order in which it is shown; a body may be empty where a tool gave nothing."""
    texts = texts_of(message)
    for kind in KINDS:
        body = kind.body(message, texts)
        if body is not None:
            yield Block(kind, body)
    for call in message.tool_calls:
        yield Block(CALL, call.arguments, call.name)
