"""What can be taken out of a chat message: its text, its code blocks, the output of its tools."""

from __future__ import annotations

from typing import NamedTuple

from hermes_browse.store.messages import without_injections
from hermes_browse.store.models import ChatMessage
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from . import formats
from .transcript.markdown import parse
from .transcript.model import TranscriptModel
from .transcript.tool_text import as_shown, what_it_said


class Piece(NamedTuple):
    """A text and what to call it."""

    name: str
    """In a few printable words: "code block (python, 12 lines)"."""
    text: str
    suffix: str = ".txt"
    """Of a file that holds it; tells an editor what it is."""


def said(message: ChatMessage) -> Piece:
    """The text of a message as it was said, without injected memory; a bare call is its name and arguments.

    Args:
        message: Of any role.
    """
    text = without_injections(message.text) if message.role in ("user", "assistant") else message.text
    if not text.strip():
        text = "\n".join(f"{call.name} {call.arguments}" for call in message.tool_calls)
    name = _("tool output {id}, {size}") if message.role == "tool" else _("message {id}, {size}")
    size = formats.size(len(text.encode("utf-8", "replace")))
    return Piece(name.format(id=message.id, size=size), text, ".md")


def code_blocks(message: ChatMessage) -> list[Piece]:
    """The code blocks of a message's Markdown, in order; nested ones too.

    Args:
        message: Its text is parsed whole, which for hundreds of kilobytes takes longer than a frame.
    """
    found: list[Piece] = []
    for token in parse(without_injections(message.text)):
        if token.type in ("fence", "code_block") and token.content.strip():
            language = one_line(token.info.split()[0], 20) if token.info.split() else ""
            count = token.content.rstrip("\n").count("\n") + 1
            facts = [language, formats.counted(count, "line")]
            name = _("code block ({facts})").format(facts=_(", ").join(fact for fact in facts if fact))
            found.append(Piece(name, token.content.rstrip("\n")))
    return found


def outputs(message: ChatMessage, model: TranscriptModel) -> list[Piece]:
    """What the tools a message called gave back, in the order of the calls; a tool's own message is its output.

    Args:
        message: Of any role.
        model: Where results are found, as far as they have been read.
    """
    results = [model.result(call.id) if call.id else None for call in message.tool_calls]
    rows = [message] if message.role == "tool" else [result for result in results if result is not None]
    names = {call.id: call.name for call in message.tool_calls}
    found: list[Piece] = []
    for row in rows:
        name = one_line(names.get(row.tool_call_id or "", row.tool_name or "tool"), 40)
        text = what_it_said(row.text)
        size = formats.size(len(text.encode("utf-8", "replace")))
        found.append(Piece(_("output of {name}, {size}").format(name=name, size=size), text))
    return found


def document(message: ChatMessage, model: TranscriptModel) -> Piece:
    """Everything of a message as one Markdown text: what was said, the reasoning, calls with their whole results.

    Args:
        message: Of any role.
        model: Where results are found, as far as they have been read.
    """
    if message.role == "tool":
        return Piece(_("tool output {id}").format(id=message.id), what_it_said(message.text))
    parts = [
        f"# message {message.id} · {message.role} · {formats.day_key(message.timestamp)} "
        f"{formats.clock(message.timestamp).strip()}".rstrip()
    ]
    if message.reasoning:
        parts.append(f"## reasoning\n\n{message.reasoning}")
    text = without_injections(message.text) if message.role in ("user", "assistant") else message.text
    if text.strip():
        parts.append(text)
    for call in message.tool_calls:
        parts.append(f"## {call.name}\n\n{as_shown(call.arguments)}")
        result = model.result(call.id) if call.id else None
        if result is not None:
            parts.append(f"### result\n\n{as_shown(result.text)}")
    return Piece(_("message {id}").format(id=message.id), "\n\n".join(parts) + "\n", ".md")
