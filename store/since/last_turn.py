"""The end of a conversation: its newest row, and its last turn where that has to be looked at."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..changes.tool_uses import json_at_start
from ..connection.reader import Reader
from ..connection.stored_values import as_int, as_time
from ..messages.chat_message import ToolCall
from ..messages.decode import decode_content, decode_tool_calls
from ..text import as_text, text_of

_MOST = 60
"""Rows of a turn that are looked at, the newest."""
_BEGIN = 8_000
"""Code points of a text that are read."""


class TurnRow(NamedTuple):
    """A row of a turn."""

    id: int
    role: str
    text: str
    calls: tuple[ToolCall, ...]
    call_id: str
    """Of the call that it is the result of."""
    at: float | None
    finish_reason: str

    @property
    def is_answer(self) -> bool:
        """Whether it is what the assistant said to the user."""
        return self.role == "assistant" and not self.calls

    @property
    def wants_approval(self) -> str | None:
        """The command that waits for the user's approval; None for any other row (0.19)."""
        said = json_at_start(self.text) if self.role == "tool" else {}
        is_asked = said.get("status") in ("pending_approval", "approval_required")
        return text_of(said.get("command")) if is_asked else None

    @property
    def is_failure(self) -> bool:
        """Whether it is the result of a tool that failed, as the tool itself says."""
        if self.role != "tool" or self.wants_approval is not None:
            return False
        said = json_at_start(self.text)
        has_failed = said.get("success") is False or said.get("exit_code") not in (None, 0)
        return has_failed or bool(said.get("error"))


class Turn(NamedTuple):
    """The last turn of a session."""

    rows: tuple[TurnRow, ...]
    """From the prompt on; without one, the newest rows."""

    @property
    def pending(self) -> tuple[ToolCall, ...]:
        """The calls that have no result."""
        answered = {row.call_id for row in self.rows if row.role == "tool"}
        calls = [call for row in self.rows for call in row.calls]
        return tuple(call for call in calls if call.id not in answered)

    @property
    def results(self) -> tuple[TurnRow, ...]:
        """The results of its tools."""
        return tuple(row for row in self.rows if row.role == "tool")

    @property
    def answers(self) -> tuple[TurnRow, ...]:
        """What the assistant said, without calls."""
        return tuple(row for row in self.rows if row.is_answer)


def read_turn(reader: Reader, session_id: str) -> Turn:
    """Read the last turn of a session, without rows that were taken back or compressed."""
    schema = reader.schema
    names = ("role", "content", "tool_calls", "tool_call_id", "timestamp", "finish_reason")
    role, content, *others = map(schema.message, names)
    columns = ", ".join((role, f"substr({content}, 1, {_BEGIN})", *others))
    newest = (
        f"SELECT m.id FROM messages m WHERE m.session_id = ? AND {schema.active()} = 1 "
        f"ORDER BY +m.id DESC LIMIT {_MOST}"
    )
    statement = (
        f"SELECT m.id, {columns} FROM messages m WHERE m.id IN ({newest}) ORDER BY m.id DESC"
    )
    rows: list[TurnRow] = []
    for id, stored_role, text, calls, call_id, time, reason in reader.rows(statement, [session_id]):
        row = TurnRow(
            as_int(id),
            text_of(stored_role),
            decode_content(text)[0],
            decode_tool_calls(calls),
            text_of(call_id),
            as_time(time),
            text_of(reason),
        )
        rows.append(row)
        if row.role == "user":
            break
    return Turn(tuple(reversed(rows)))


class LastRow(NamedTuple):
    """The newest row of a session."""

    id: int
    role: str
    has_calls: bool
    is_active: bool
    at: float | None
    text: str
    """The end of it."""
    follows_tool: bool
    """Whether the row before it is the result of a tool."""

    @property
    def is_answer(self) -> bool:
        """Whether it is what the assistant said to the user, and was not taken back."""
        return self.role == "assistant" and self.is_active and not self.has_calls


_END = 600
"""Code points at the end of a text that are read."""


def read_last_rows(reader: Reader, session_ids: Sequence[str]) -> Mapping[str, LastRow]:
    """Read the newest rows of sessions, by session id."""
    schema = reader.schema
    role, calls, content, time = map(schema.message, ("role", "tool_calls", "content", "timestamp"))
    newest = "SELECT max(n.id) FROM messages n WHERE n.session_id = s.id"
    before = "SELECT max(+p.id) FROM messages p WHERE p.session_id = s.id AND p.id < m.id"
    statement = (
        f"SELECT s.id, m.id, {role}, COALESCE({calls}, '') NOT IN ('', '[]'), "
        f"{schema.active()}, {time}, substr({content}, -{_END}), "
        f"(SELECT b.role = 'tool' FROM messages b WHERE b.id = ({before})) "
        f"FROM sessions s CROSS JOIN messages m ON m.id = ({newest}) WHERE s.id IN ({{keys}})"
    )
    return {
        text_of(session): LastRow(
            as_int(id),
            text_of(stored_role),
            bool(has_calls),
            active == 1,
            as_time(at),
            text_of(text),
            bool(follows_tool),
        )
        for session, id, stored_role, has_calls, active, at, text, follows_tool in reader.rows_in(
            statement, session_ids
        )
    }


def argument(call: ToolCall, name: str) -> str:
    """Return a text among the arguments of a call; empty if there is none."""
    try:
        given = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return ""
    return as_text(given.get(name)) or "" if isinstance(given, dict) else ""
