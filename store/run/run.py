"""Read how a conversation went: turns, tool calls, parts and subagents on one axis of time.

Hermes stores tokens and cost per session, and since 0.18 per session and model; per message it
stores none, or a number of tokens.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from ..changes.changes import find_tree
from ..changes.tool_uses import ToolUse, read_tool_uses
from ..compression.compactions import read_history
from ..connection.reader import Reader, Row
from ..connection.stored_values import as_count, as_int, as_time
from ..messages.transcript import SLICE
from ..sessions.models import Conversation
from ..sessions.session import Session
from ..text import text_of

_USAGES = (
    "SELECT model, first_seen, estimated_cost_usd, input_tokens, cache_read_tokens, "
    "cache_write_tokens FROM session_model_usage WHERE session_id = ? ORDER BY first_seen, rowid"
)
"""What a session used of each of its models, in time."""


class RunRow(NamedTuple):
    """A message without its text."""

    id: int
    session_id: str
    role: str
    at: float | None
    tokens: int
    """0 if none are stored."""
    turn: int
    """Index of its turn: a prompt and what follows it, up to the next one."""


class Stretch(NamedTuple):
    """A part of a conversation that was answered by one model."""

    session_id: str
    first_message_id: int | None
    model: str
    prompt: str
    """What identifies the system prompt; empty if none is stored."""
    tools: str
    """What identifies the set of tools (0.22); else empty."""
    cost_usd: float | None
    cache_share: float | None
    """Tokens of requests that came from the cache, of all that were sent; None if none are
    stored."""


class Run(NamedTuple):
    """A conversation in time. Times are Unix seconds, money is USD."""

    conversation: Conversation
    subagents: tuple[Conversation, ...]
    """Also those that a subagent delegated; the cost of each is without those below it."""
    rows: tuple[RunRow, ...]
    tools: tuple[ToolUse, ...]
    stretches: tuple[Stretch, ...]
    compressions: tuple[float, ...]
    """When it was compressed."""

    @property
    def turns(self) -> list[RunRow]:
        """The first row of each turn."""
        return [next(rows) for _turn, rows in groupby(self.rows, lambda row: row.turn)]


def read_run(reader: Reader, session_id: str, now: float = 0.0) -> Run:
    """Read how the conversation of a session went.

    Raises:
        NotFoundError: There is no such session.
    """
    _catalog, (conversation, *subagents) = find_tree(reader, session_id, now)
    segments = conversation.segments
    history = read_history(reader, segments)
    left_out = {*history.copies, *(done.summary for done in history.compactions)}
    rows = list(_read_rows(reader, segments, left_out))
    return Run(
        conversation,
        tuple(subagents),
        tuple(row for row in rows if row.role != "session_meta"),
        tuple(read_tool_uses(reader, [conversation])),
        tuple(_stretches(reader, segments, rows)),
        tuple(done.at for done in history.compactions if done.at is not None),
    )


def _read_rows(
    reader: Reader, segments: Sequence[Session], left_out: Container[int | None]
) -> Iterator[RunRow]:
    columns = ", ".join(map(reader.schema.message, ("role", "timestamp", "token_count")))
    statement = f"SELECT m.id, {columns} FROM messages m WHERE m.session_id = ? AND"
    turn = -1
    for segment in segments:
        for rows in reader.slices(statement, "m.id", SLICE, [segment.id]):
            for message_id, stored, time, tokens in rows:
                id, role = as_int(message_id), text_of(stored)
                if id in left_out:
                    continue
                # What precedes the first prompt is a turn too.
                turn += role == "user" or (turn < 0 and role != "session_meta")
                yield RunRow(id, segment.id, role, as_time(time), as_count(tokens), turn)


def _stretches(
    reader: Reader, segments: Sequence[Session], rows: Sequence[RunRow]
) -> Iterator[Stretch]:
    schema = reader.schema
    names = map(schema.session, ("system_prompt_hash", "system_prompt", "tool_names"))
    identities = "SELECT COALESCE({}, {}), {} FROM sessions s WHERE s.id = ?".format(*names)
    for segment in segments:
        own = [row for row in rows if row.session_id == segment.id]
        ((prompt, tools),) = reader.rows(identities, [segment.id])
        usages: list[Row] = []
        if "session_model_usage" in schema.tables:
            usages = reader.rows(_USAGES, [segment.id])
        if len({usage[0] for usage in usages}) < 2:
            tokens = segment.tokens
            counts = (tokens.input, tokens.cache_read, tokens.cache_write)
            usages = [(segment.model, None, segment.cost_usd, *counts)]
        for model, since, cost, *counted in usages:
            begin = as_time(since) or 0.0
            after = (row.id for row in own if (row.at or 0.0) >= begin)
            sent, cached = sum(map(as_count, counted)), as_count(counted[1])
            yield Stretch(
                segment.id,
                next(after, own[0].id if own else None),
                text_of(model),
                text_of(prompt),
                text_of(tools),
                cost if isinstance(cost, float) else None,
                cached / sent if sent else None,
            )
