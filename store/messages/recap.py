"""Build the recap that Hermes shows on resume: the last exchanges, shortened (0.19 and 0.22,
`display.resume_*`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..connection.reader import Reader
from ..sessions.session import Session
from ..text import one_line, printable
from ..wording import _, ngettext
from .chat_message import SPEAKERS, ChatMessage
from .transcript import read_messages, read_outline

EXCHANGES = 10
"""Maximum user messages, each with the answers to it."""
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


def read_recap(reader: Reader, segments: Sequence[Session]) -> list[RecapLine]:
    """Read the recap of a conversation from its segments, root first: no system text, tool results
    and reasoning."""
    rows = [row for row in read_outline(reader, segments).rows if row.role in SPEAKERS]
    said = read_messages(reader, rows[-_WINDOW:])
    texts = [
        (each.role, _said(each)) for each in said if not each.is_summary and not each.is_hidden
    ]
    lines = [RecapLine(role, text) for role, text in texts if text]
    starts = [index for index, line in enumerate(lines) if line.role == "user"]
    cut = starts[-EXCHANGES] if len(starts) > EXCHANGES else 0
    earlier = max(len(rows) - _WINDOW, 0) + cut
    if not earlier:
        return lines
    head = _("… {count} earlier messages …", count=earlier)
    return [RecapLine("earlier", head), *lines[cut:]]


def _said(message: ChatMessage) -> str:
    if message.role == "user":
        return one_line(message.said, USER_LIMIT)
    text, count = _clip(message.text), len(message.tool_calls)
    if not count:
        return text
    names = ", ".join(dict.fromkeys(printable(call.name) for call in message.tool_calls))
    calls = ngettext("[{count} tool call: {names}]", "[{count} tool calls: {names}]", count)
    return f"{text} {calls.format(count=count, names=names)}".lstrip()
