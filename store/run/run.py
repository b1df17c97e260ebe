"""Read how a conversation went: turns, tool calls, parts and subagents on one axis of time.

Hermes stores tokens and cost per session, and since 0.18 per session and model; per message it
stores none, or a number of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..changes.changes import find_tree
from ..changes.tool_uses import ToolUse, read_tool_uses
from ..compression.compactions import Compaction, read_history
from ..connection.reader import Reader, Row
from ..connection.stored_values import as_count, as_int, as_time
from ..messages.transcript import SLICE
from ..sessions.models import Conversation
from ..sessions.session import Session
from ..text import as_text


class RunRow(NamedTuple):
    """A message without its text."""

    id: int
    session_id: str
    role: str
    at: float | None
    tokens: int | None


class Turn(NamedTuple):
    """A prompt and what follows it, up to the next one."""

    rows: tuple[RunRow, ...]

    @property
    def message_id(self) -> int:
        """The prompt."""
        return self.rows[0].id

    @property
    def tokens(self) -> int | None:
        """Sum over its messages; None if none is stored."""
        known = [row.tokens for row in self.rows if row.tokens is not None]
        return sum(known) if known else None


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


class Subagent(NamedTuple):
    """A delegated conversation, also one that a subagent delegated."""

    session_id: str
    from_at: float | None
    to_at: float | None
    cost_usd: float | None
    """Its own, without those below it."""


class Run(NamedTuple):
    """A conversation in time. Times are Unix seconds, money is USD."""

    conversation_id: str
    from_at: float | None
    to_at: float | None
    cost_usd: float | None
    """Its own."""
    tree_cost_usd: float | None
    """With all its subagents; see `Conversation.tree_cost_usd`."""
    turns: tuple[Turn, ...]
    tools: tuple[ToolUse, ...]
    stretches: tuple[Stretch, ...]
    subagents: tuple[Subagent, ...]
    compressions: tuple[float, ...]
    """When it was compressed."""


def read_run(reader: Reader, session_id: str, now: float = 0.0) -> Run:
    """Read how the conversation of a session went.

    Raises:
        NotFoundError: There is no such session.
    """
    conversation, *below = find_tree(reader, session_id, now)
    history = read_history(reader, conversation.segments)
    compactions, copies = history.compactions, history.copies
    left_out = {*copies, *(done.summary for done in compactions)}
    ids = [segment.id for segment in conversation.segments]
    rows = [row for row in _read_rows(reader, ids) if row.id not in left_out]
    return Run(
        conversation.id,
        conversation.root.started_at,
        conversation.last_active,
        conversation.cost_usd,
        conversation.tree_cost_usd,
        tuple(_turns(rows)),
        tuple(read_tool_uses(reader, ids, copies)),
        tuple(_stretches(reader, conversation, rows)),
        tuple(map(_subagent, below)),
        tuple(_times(compactions)),
    )


def _times(compactions: Sequence[Compaction]) -> Iterator[float]:
    return (done.at for done in compactions if done.at is not None)


def _subagent(conversation: Conversation) -> Subagent:
    root, tip = conversation.root, conversation.tip
    return Subagent(
        conversation.id,
        root.started_at,
        tip.ended_at or conversation.last_active,
        conversation.cost_usd,
    )


def _read_rows(reader: Reader, session_ids: Sequence[str]) -> Iterator[RunRow]:
    columns = ", ".join(map(reader.schema.message, ("role", "timestamp", "token_count")))
    statement = f"SELECT m.id, {columns} FROM messages m WHERE m.session_id = ? AND"
    for session_id in session_ids:
        for rows in reader.slices(statement, "m.id", SLICE, [session_id]):
            yield from (_run_row(session_id, row) for row in rows)


def _run_row(session_id: str, row: Row) -> RunRow:
    message_id, role, time, tokens = row
    return RunRow(
        as_int(message_id),
        session_id,
        as_text(role) or "unknown",
        as_time(time),
        None if tokens is None else as_count(tokens),
    )


def _turns(rows: Sequence[RunRow]) -> Iterator[Turn]:
    """Yield the turns; what precedes the first prompt is one too."""
    turn: list[RunRow] = []
    for row in rows:
        if row.role == "session_meta":
            continue
        if row.role == "user" and turn:
            yield Turn(tuple(turn))
            turn = []
        turn.append(row)
    if turn:
        yield Turn(tuple(turn))


class _Usage(NamedTuple):
    """Tokens and cost of a session with one model."""

    model: str
    since: float | None
    sent: int
    cached: int
    cost_usd: float | None


def _stretches(
    reader: Reader, conversation: Conversation, rows: Sequence[RunRow]
) -> Iterator[Stretch]:
    for segment in conversation.segments:
        own = [row for row in rows if row.session_id == segment.id]
        prompt, tools = _identities(reader, segment.id)
        for usage in _usages(reader, segment):
            after = (row.id for row in own if (row.at or 0.0) >= (usage.since or 0.0))
            yield Stretch(
                segment.id,
                next(after, own[0].id if own else None),
                usage.model,
                prompt,
                tools,
                usage.cost_usd,
                usage.cached / usage.sent if usage.sent else None,
            )


def _identities(reader: Reader, session_id: str) -> tuple[str, str]:
    """Read what identifies the system prompt and the tools of a session."""
    schema = reader.schema
    own = schema.session("system_prompt")
    prompt = f"COALESCE({schema.session('system_prompt_hash')}, {own})"
    sql = f"SELECT {prompt}, {schema.session('tool_names')} FROM sessions s WHERE s.id = ?"
    found = reader.rows(sql, [session_id])
    return (as_text(found[0][0]) or "", as_text(found[0][1]) or "") if found else ("", "")


def _usages(reader: Reader, segment: Session) -> list[_Usage]:
    """Return what a segment used of each of its models, in time; of one, what the segment says."""
    rows: list[Row] = []
    if "session_model_usage" in reader.schema.tables:
        rows = reader.rows(
            "SELECT model, first_seen, input_tokens, cache_read_tokens, cache_write_tokens, "
            "estimated_cost_usd FROM session_model_usage WHERE session_id = ? "
            "ORDER BY first_seen, rowid",
            [segment.id],
        )
    if len({row[0] for row in rows}) > 1:
        return [_usage(row) for row in rows]
    tokens = segment.tokens
    sent = tokens.input + tokens.cache_read + tokens.cache_write
    return [_Usage(segment.model or "", None, sent, tokens.cache_read, segment.cost_usd)]


def _usage(row: Row) -> _Usage:
    model, since, *counts = row
    sent, read, written = (as_count(count) for count in counts[:3])
    cost = counts[3] if isinstance(counts[3], float) else None
    return _Usage(as_text(model) or "", as_time(since), sent + read + written, read, cost)
