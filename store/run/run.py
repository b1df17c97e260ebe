"""Read how a conversation went: turns, tool calls, parts and subagents on one axis of time.

Hermes stores tokens and cost per session, and since 0.18 per session and model; per message it
stores none, or a number of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..changes.changes import find_tree
from ..changes.tool_uses import ToolUse, read_tool_uses
from ..compression.compactions import read_history
from ..connection.reader import Reader, Row
from ..connection.stored_values import as_count, as_int, as_time
from ..messages.transcript import SLICE
from ..sessions.models import Conversation
from ..text import text_of


class RunRow(NamedTuple):
    """A message without its text."""

    id: int
    session_id: str
    role: str
    at: float | None
    tokens: int | None
    """None if none are stored."""


Turn = list[RunRow]
"""A prompt and what follows it, up to the next one."""


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
    turns: tuple[Turn, ...]
    tools: tuple[ToolUse, ...]
    stretches: tuple[Stretch, ...]
    compressions: tuple[float, ...]
    """When it was compressed."""


def read_run(reader: Reader, session_id: str, now: float = 0.0) -> Run:
    """Read how the conversation of a session went.

    Raises:
        NotFoundError: There is no such session.
    """
    _forest, (conversation, *subagents) = find_tree(reader, session_id, now)
    history = read_history(reader, conversation.segments)
    left_out = {*history.copies, *(done.summary for done in history.compactions)}
    rows = [row for row in _read_rows(reader, conversation) if row.id not in left_out]
    return Run(
        conversation,
        tuple(subagents),
        tuple(_turns(rows)),
        tuple(read_tool_uses(reader, [conversation])),
        tuple(_stretches(reader, conversation, rows)),
        tuple(done.at for done in history.compactions if done.at is not None),
    )


def _read_rows(reader: Reader, conversation: Conversation) -> Iterator[RunRow]:
    columns = ", ".join(map(reader.schema.message, ("role", "timestamp", "token_count")))
    statement = f"SELECT m.id, {columns} FROM messages m WHERE m.session_id = ? AND"
    for segment in conversation.segments:
        for rows in reader.slices(statement, "m.id", SLICE, [segment.id]):
            for message_id, role, time, tokens in rows:
                count = None if tokens is None else as_count(tokens)
                yield RunRow(as_int(message_id), segment.id, text_of(role), as_time(time), count)


def _turns(rows: Sequence[RunRow]) -> list[Turn]:
    """Return the turns; what precedes the first prompt is one too."""
    turns: list[Turn] = []
    for row in rows:
        if row.role == "session_meta":
            continue
        if row.role == "user" or not turns:
            turns.append([])
        turns[-1].append(row)
    return turns


def _stretches(
    reader: Reader, conversation: Conversation, rows: Sequence[RunRow]
) -> Iterator[Stretch]:
    schema = reader.schema
    names = map(schema.session, ("system_prompt_hash", "system_prompt", "tool_names"))
    identities = "SELECT COALESCE({}, {}), {} FROM sessions s WHERE s.id = ?".format(*names)
    for segment in conversation.segments:
        own = [row for row in rows if row.session_id == segment.id]
        ((prompt, tools),) = reader.rows(identities, [segment.id])
        tokens = segment.tokens
        usages: list[Row] = _usages(reader, segment.id)
        if len({usage[0] for usage in usages}) < 2:
            counts = (tokens.input, tokens.cache_read, tokens.cache_write)
            usages = [(segment.model, None, *counts, segment.cost_usd)]
        for model, since, *tokens_of_model, cost in usages:
            begin = as_time(since) or 0.0
            after = (row.id for row in own if (row.at or 0.0) >= begin)
            sent, cached = sum(map(as_count, tokens_of_model)), as_count(tokens_of_model[1])
            yield Stretch(
                segment.id,
                next(after, own[0].id if own else None),
                text_of(model),
                text_of(prompt),
                text_of(tools),
                cost if isinstance(cost, float) else None,
                cached / sent if sent else None,
            )


def _usages(reader: Reader, session_id: str) -> list[Row]:
    """Return what a session used of each of its models, in time."""
    if "session_model_usage" not in reader.schema.tables:
        return []
    return reader.rows(
        "SELECT model, first_seen, input_tokens, cache_read_tokens, cache_write_tokens, "
        "estimated_cost_usd FROM session_model_usage WHERE session_id = ? "
        "ORDER BY first_seen, rowid",
        [session_id],
    )
