"""A chat message as an export, `show` and a copy have it: its blocks as printable text, its speaker,
its marks, its day."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from ..amounts import WEEKDAYS
from ..connection.stored_values import json_as_text, read_exactly
from ..messages.chat_message import CALL, RESULT, SUMMARY, Block, ChatMessage, State
from ..text import one_line, printable
from ..wording import N_, _

if TYPE_CHECKING:
    from .redact import Redactor  # start time: `show` redacts nothing

_NAMES = N_({"user": "You", "assistant": "Assistant", "system": "System"})
_STATES = N_({State.COMPACTED: "compacted", State.REWOUND: "rewound"})


class RenderedMessage(NamedTuple):
    """A chat message with its blocks, in the same order in all formats."""

    message: ChatMessage
    tool: str
    """The tool of a result, else empty."""
    blocks: tuple[Block, ...]
    """Printable; a result has its tool, and its body may be empty."""


def rendered(
    message: ChatMessage,
    result_of: Callable[[str], ChatMessage | None] = lambda call_id: None,
    *,
    redactor: Redactor | None = None,
) -> RenderedMessage:
    """Return a chat message with its blocks.

    Args:
        message: The message.
        result_of: The result of a call by its id, to stand after the call; None if it is unknown.
        redactor: Replaces and counts secrets.
    """
    blocks = list(message.blocks)
    for call in message.tool_calls:
        blocks.append(Block(CALL, call.arguments, call.name))
        if (result := result_of(call.id)) is not None:
            blocks.append(Block(RESULT, result.text, call.name))
    tool = message.tool_name or "tool" if message.role == "tool" else ""
    shown = [
        _clean(block, block.tool or tool, redactor)
        for block in blocks
        if block.kind.exported is not None
    ]
    # What a summary replaced was before the message that it was merged into, so also before its
    # reasoning.
    shown.sort(key=lambda block: block.kind is not SUMMARY)
    tool = one_line(redactor.text(tool) if redactor is not None else tool)
    kept = (block for block in shown if block.body or block.kind in (RESULT, CALL))
    return RenderedMessage(message, tool, tuple(kept))


def _clean(block: Block, tool: str, redactor: Redactor | None) -> Block:
    body, is_data = block.body, block.kind in (CALL, RESULT)
    if redactor is not None:
        body = redactor.json_text(body) if is_data else redactor.text(body)
        tool = redactor.text(tool)
    body = printable(body)
    return Block(
        block.kind, readable_result(body) if block.kind is RESULT else body, one_line(tool)
    )


def indented_json(arguments: str) -> str | None:
    """Return the arguments of a call as indented, printable JSON; None if they are not JSON, or that
    would change them."""
    try:
        return printable(json.dumps(read_exactly(arguments), ensure_ascii=False, indent=2))
    except ValueError:
        return None


def readable_result(result: str) -> str:
    """Return the printable result of a tool with line ends unescaped, if it is a JSON object that
    keeps its text so; others unchanged."""
    try:
        loaded = read_exactly(result) if result.startswith("{") else None
    except ValueError:
        return result
    return (printable(json_as_text(loaded)) if isinstance(loaded, dict) else "") or result


def speaker(rendered: RenderedMessage) -> str:
    """Return the name of the speaker on one line: user, assistant, a tool, or the role as
    stored."""
    if rendered.tool:
        return one_line(_("Tool {name}", name=rendered.tool))
    role = rendered.message.role
    return _(_NAMES[role]) if role in _NAMES else one_line(role)


def marks(message: ChatMessage) -> str:
    """Return what a message is marked with: its state, and whether it is hidden; empty for one that
    is live and seen."""
    words = [_(_STATES[message.state])] if message.state in _STATES else []
    if message.is_hidden:
        words.append(_("hidden"))
    return _(", ").join(words)


def day_name(day: date) -> str:
    """Return `Thursday, 2026-01-01` in the current language, independent of the locale."""
    return _("{weekday}, {date}", weekday=_(WEEKDAYS[day.weekday()]), date=day.isoformat())
