"""Read the details of one conversation: facts that lists omit, and counts of its messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_count, as_mapping, as_money, bytes_sql, embedded_sql
from ..sessions.models import Conversation, known_sum
from ..text import as_text, text_of
from .chat_message import Reading, RowInfo, State
from .transcript import SLICE, read_outline, read_system_prompt

_FACTS = (
    "title_source", "billing_provider", "billing_base_url", "billing_mode", "git_repo_root",
    "profile_name", "user_id",
    "chat_id", "chat_type", "thread_id", "display_name", "cost_status", "cost_source",
    "last_activity_description",
)  # fmt: skip
_USE = (
    "model", "billing_provider", "task", "api_call_count", "input_tokens", "output_tokens",
    "cache_read_tokens", "cache_write_tokens", "estimated_cost_usd", "actual_cost_usd",
)  # fmt: skip
"""Columns of `session_model_usage`."""
_ORIGIN = ("platform", "chat_name", "user_name", "chat_topic")
"""Fields of `origin_json` that are in no column (gateway/session.py, 0.19)."""


class ToolCount(NamedTuple):
    """Results of one tool."""

    name: str
    """Empty if none is stored."""
    results: int
    bytes: int


class ModelUse(NamedTuple):
    """Use of one model for one task (0.19 `session_model_usage`)."""

    model: str
    provider: str
    task: str
    """Empty for the conversation itself; else an auxiliary task such as the title."""
    calls: int
    tokens: int
    cost_usd: float
    """The recorded cost, else the estimate."""


class Details(NamedTuple):
    """Details of a conversation for its card."""

    facts: dict[str, str]
    """The newest value of each column of `_FACTS` and field of `_ORIGIN`, if any."""
    estimated_usd: float | None
    """Sum over the segments that have one."""
    actual_usd: float | None
    api_calls: int
    models: tuple[ModelUse, ...]
    """Most expensive first; empty in older stores."""
    roles: dict[str, int]
    """Messages shown by default, by role."""
    states: dict[State, int]
    """All rows of the segments by state."""
    hidden: int
    """Rows that are not for people: bookkeeping, and messages only for the model."""
    repeated: int
    """Rows that compaction inserted again; shown once."""
    tools: tuple[ToolCount, ...]
    """Of the shown results, most first."""
    live_rows: int
    """Rows of the tip that the model still sees."""
    live_bytes: int
    """Texts and tool calls of these rows, as sent to the model; without embedded images."""
    live_images: int
    """Number of these rows with embedded images."""
    prompt_bytes: int
    """Of the tip's system prompt."""


def _newest_facts(rows: Sequence[dict[str, object]]) -> dict[str, str]:
    facts: dict[str, str] = {}
    for row in rows:
        origin = as_mapping(row["origin_json"])
        values = [(name, row[name]) for name in _FACTS]
        values += [(name, origin.get(name)) for name in _ORIGIN]
        facts |= {name: text for name, value in values if (text := as_text(value))}
    return facts


def _models(reader: Reader, ids: Sequence[str]) -> tuple[ModelUse, ...]:
    if "session_model_usage" not in reader.schema.tables:
        return ()
    existing = reader.columns("session_model_usage")
    columns = ", ".join(f"u.{name}" if name in existing else "NULL" for name in _USE)
    statement = f"SELECT {columns} FROM session_model_usage u WHERE u.session_id IN ({{keys}})"
    uses: dict[tuple[str, str, str], ModelUse] = {}
    for model, provider, task, calls, *tokens, estimated, paid in reader.rows_in(statement, ids):
        key = (text_of(model), text_of(provider), text_of(task))
        use = uses.get(key, ModelUse(*key, 0, 0, 0.0))
        uses[key] = use._replace(
            calls=use.calls + as_count(calls),
            tokens=use.tokens + sum(map(as_count, tokens)),
            cost_usd=use.cost_usd + (as_money(paid) or as_money(estimated) or 0.0),
        )
    return tuple(sorted(uses.values(), key=lambda use: (-use.cost_usd, -use.tokens, use.model)))


def _tools(reader: Reader, rows: Sequence[RowInfo]) -> tuple[ToolCount, ...]:
    name, size = reader.schema.message("tool_name"), bytes_sql(reader.schema.message("content"))
    statement = f"SELECT {name}, {size} FROM messages m WHERE m.id IN ({{keys}})"
    results = [row.id for row in rows if row.role == "tool"]
    tools: dict[str, ToolCount] = {}
    for stored_name, count in reader.rows_in(statement, results):
        tool = text_of(stored_name)
        known = tools.get(tool, ToolCount(tool, 0, 0))
        tools[tool] = ToolCount(tool, known.results + 1, known.bytes + as_count(count))
    return tuple(sorted(tools.values(), key=lambda each: (-each.results, each.name)))


def _live(reader: Reader, session_id: str) -> tuple[int, int, int]:
    """Return rows, bytes and rows with images that the model still sees of a session."""
    schema = reader.schema
    content, sent = schema.message("content"), schema.message("api_content")
    images = embedded_sql(content)
    text = f"CASE WHEN {sent} IS NOT NULL THEN {bytes_sql(sent)} ELSE {bytes_sql(content)} END"
    statement = (
        f"SELECT m.id, {images}, {text} + 0, {bytes_sql(schema.message('tool_calls'))} FROM "
        "messages m "
        f"WHERE m.session_id = ? AND {schema.active()} = 1 "
        f"AND {schema.message('role')} IS NOT 'session_meta' AND"
    )
    slices = reader.slices(statement, "m.id", SLICE, [session_id])
    live = [row for rows in slices for row in rows]
    total = sum(
        as_count(calls) + (0 if image else as_count(size)) for _, image, size, calls in live
    )
    return len(live), total, sum(bool(row[1]) for row in live)


def read_details(reader: Reader, conversation: Conversation) -> Details:
    """Read the details of a conversation, in statements as short as those that open it."""
    ids = [segment.id for segment in conversation.segments]
    names = (*_FACTS, "origin_json", "estimated_cost_usd", "actual_cost_usd", "api_call_count")
    columns = ", ".join(map(reader.schema.session, names))
    stored = reader.rows_in(f"SELECT s.id, {columns} FROM sessions s WHERE s.id IN ({{keys}})", ids)
    by_id = {as_text(row[0]): dict(zip(names, row[1:], strict=True)) for row in stored}
    rows = [by_id[each] for each in ids if each in by_id]
    everything = read_outline(reader, conversation.segments, Reading.EVERYTHING)
    kept = [row for row in everything.rows if row.state is not State.REWOUND and not row.hidden]
    shown = [row for row in kept if row.id not in everything.copies]
    live_rows, live_bytes, live_images = _live(reader, conversation.id)
    return Details(
        facts=_newest_facts(rows),
        estimated_usd=known_sum(as_money(row["estimated_cost_usd"]) for row in rows),
        actual_usd=known_sum(as_money(row["actual_cost_usd"]) for row in rows),
        api_calls=sum(as_count(row["api_call_count"]) for row in rows),
        models=_models(reader, ids),
        roles=Counter(row.role for row in shown),
        states=Counter(row.state for row in everything.rows),
        hidden=sum(row.hidden for row in everything.rows),
        repeated=len(everything.copies),
        tools=_tools(reader, shown),
        live_rows=live_rows,
        live_bytes=live_bytes,
        live_images=live_images,
        prompt_bytes=len(
            (read_system_prompt(reader, conversation.id) or "").encode("utf-8", "replace")
        ),
    )
