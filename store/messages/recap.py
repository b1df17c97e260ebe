"""The recap Hermes shows on resume: the last exchanges, short (0.19 and 0.22, `display.resume_*`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..connection.connect import Reader
from ..sessions.session import Session
from ..text import one_line, printable
from ..wording import _, ngettext
from .decode import split_summary
from .models import ChatMessage
from .transcript import read_messages, read_skeleton

EXCHANGES = 10
"""The most user messages with what followed."""
USER_LIMIT = 300
"""Code points of a user message."""
ASSISTANT_LIMIT = 200
ASSISTANT_LINES = 3
_WINDOW = 400


@dataclass(frozen=True, slots=True)
class RecapLine:
    """One line of the recap."""

    role: str
    """`user`, `assistant` or `earlier`."""
    text: str
    """Printable."""


def _clip(text: str) -> str:
    lines = printable(text).strip().splitlines()
    clipped = "\n".join(lines[:ASSISTANT_LINES])
    if len(clipped) > ASSISTANT_LIMIT:
        return clipped[: ASSISTANT_LIMIT - 1].rstrip() + "…"
    return clipped + "…" if len(lines) > ASSISTANT_LINES else clipped


def recap_lines(messages: Sequence[ChatMessage], earlier: int = 0) -> list[RecapLine]:
    """The recap of chat messages in reading order; no system text, tool results or reasoning.

    Args:
        messages: The newest ones of a conversation.
        earlier: How many visible ones came before.
    """
    lines: list[RecapLine] = []
    for message in messages:
        if message.is_summary or message.is_hidden:
            continue
        if message.role == "user":
            said = one_line(split_summary(message.text)[1], USER_LIMIT)
            if said:
                lines.append(RecapLine("user", said))
        elif message.role == "assistant":
            said = _clip(message.text)
            if message.tool_calls:
                names = list(dict.fromkeys(printable(call.name) for call in message.tool_calls))
                count = len(message.tool_calls)
                called = ngettext("[{count} tool call: {names}]", "[{count} tool calls: {names}]", count)
                called = called.format(count=count, names=", ".join(names))
                said = f"{said} {called}" if said else called
            if said:
                lines.append(RecapLine("assistant", said))
    starts = [index for index, line in enumerate(lines) if line.role == "user"]
    cut = starts[-EXCHANGES] if len(starts) > EXCHANGES else 0
    earlier += cut
    head = [RecapLine("earlier", _("… {count} earlier messages …").format(count=earlier))] if earlier else []
    return head + lines[cut:]


def read_recap(reader: Reader, segments: Sequence[Session]) -> list[RecapLine]:
    """The recap of a conversation.

    Args:
        reader: An open reader.
        segments: Its sessions, root first.
    """
    bones = [bone for bone in read_skeleton(reader, segments).bones if bone.role in ("user", "assistant")]
    return recap_lines(read_messages(reader, bones[-_WINDOW:]), max(len(bones) - _WINDOW, 0))
