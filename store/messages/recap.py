"""Build the recap that Hermes shows on resume: the last exchanges, shortened (0.19 and 0.22,
`display.resume_*`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..connection.reader import Reader
from ..sessions.session import Session
from ..text import one_line, printable
from ..wording import _, ngettext
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
    rows = [row for row in read_outline(reader, segments).rows if row.role in ("user", "assistant")]
    lines: list[RecapLine] = []
    for message in read_messages(reader, rows[-_WINDOW:]):
        if message.is_summary or message.is_hidden:
            continue
        if message.role == "user":
            text = one_line(message.said, USER_LIMIT)
            if text:
                lines.append(RecapLine("user", text))
        elif message.role == "assistant":
            text = _clip(message.text)
            if message.tool_calls:
                names = list(dict.fromkeys(printable(call.name) for call in message.tool_calls))
                count = len(message.tool_calls)
                calls = ngettext(
                    "[{count} tool call: {names}]", "[{count} tool calls: {names}]", count
                )
                text = f"{text} {calls.format(count=count, names=', '.join(names))}".lstrip()
            if text:
                lines.append(RecapLine("assistant", text))
    starts = [index for index, line in enumerate(lines) if line.role == "user"]
    cut = starts[-EXCHANGES] if len(starts) > EXCHANGES else 0
    earlier = max(len(rows) - _WINDOW, 0) + cut
    head = (
        [RecapLine("earlier", _("… {count} earlier messages …").format(count=earlier))]
        if earlier
        else []
    )
    return head + lines[cut:]
