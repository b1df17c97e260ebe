"""Read the details of one conversation: facts that lists omit, and counts of its messages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..connection.reader import Reader, Row
from ..connection.stored_values import (
    as_count,
    as_int,
    as_mapping,
    as_money,
    bytes_sql,
    embedded_sql,
)
from ..sessions.models import Conversation, known_sum
from ..text import as_text, text_of
from .chat_message import Reading, RowInfo, State
from .transcript import is_read, read_outline, read_system_prompt

_FACTS = (
    "title_source", "billing_provider", "billing_base_url", "billing_mode", "git_repo_root",
    "profile_name", "user_id", "chat_id", "chat_type", "thread_id", "display_name", "cost_status",
    "cost_source", "last_activity_description", "last_read_at",
)  # fmt: skip
_COSTS = ("estimated_cost_usd", "actual_cost_usd")
_ORIGIN = ("platform", "chat_name", "user_name", "chat_topic")
"""Fields of `origin_json` that are in no column (gateway/session.py, 0.19)."""
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


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


def _models(reader: Reader, ids: Sequence[str]) -> tuple[ModelUse, ...]:
    existing = reader.columns("session_model_usage")
    if not existing:
        return ()
    names = ("model", "billing_provider", "task", "api_call_count", *_TOKENS, *_COSTS)
    columns = [f"u.{name}" if name in existing else "NULL" for name in names]
    model, provider, task, calls, *tokens, estimated, actual = columns
    total = " + ".join(f"max(COALESCE({column}, 0), 0)" for column in tokens)
    rows = reader.rows(
        f"SELECT {model}, {provider}, {task}, sum({calls}), sum({total}) AS tokens, "
        f"sum(COALESCE(NULLIF({actual}, 0), {estimated}, 0.0)) AS cost FROM session_model_usage u "
        "WHERE u.session_id IN (SELECT value FROM json_each(?)) GROUP BY 1, 2, 3 "
        "ORDER BY cost DESC, tokens DESC, 1",
        [json.dumps(ids)],
    )
    return tuple(
        ModelUse(
            text_of(model),
            text_of(provider),
            text_of(task),
            as_count(calls),
            as_count(tokens),
            as_money(cost) or 0.0,
        )
        for model, provider, task, calls, tokens, cost in rows
    )


def _tools(reader: Reader, results: Sequence[RowInfo]) -> tuple[ToolCount, ...]:
    name, content = map(reader.schema.message, ("tool_name", "content"))
    rows = reader.rows(
        f"SELECT COALESCE({name}, ''), count(*), sum({bytes_sql(content)}) FROM messages m "
        "WHERE m.id IN (SELECT value FROM json_each(?)) GROUP BY 1 ORDER BY 2 DESC, 1",
        [json.dumps([row.id for row in results])],
    )
    return tuple(
        ToolCount(text_of(tool), as_int(count), as_int(size)) for tool, count, size in rows
    )


def _live(reader: Reader, rows: Sequence[RowInfo]) -> Row:
    """Return number, bytes and number with images of the rows that the model still sees."""
    content, sent, calls = map(reader.schema.message, ("content", "api_content", "tool_calls"))
    image = embedded_sql(content)
    text = f"CASE WHEN {sent} IS NOT NULL THEN {bytes_sql(sent)} ELSE {bytes_sql(content)} END"
    return reader.rows(
        f"SELECT count(*), sum(CASE WHEN {image} THEN 0 ELSE {text} END + {bytes_sql(calls)}), "
        f"sum({image}) FROM messages m WHERE m.id IN (SELECT value FROM json_each(?))",
        [json.dumps([row.id for row in rows])],
    )[0]


def read_details(reader: Reader, conversation: Conversation) -> Details:
    """Read the details of a conversation, in statements as short as those that open it."""
    ids = [segment.id for segment in conversation.segments]
    columns = ", ".join(
        map(reader.schema.session, (*_FACTS, "origin_json", *_COSTS, "api_call_count"))
    )
    stored = reader.rows_in(f"SELECT s.id, {columns} FROM sessions s WHERE s.id IN ({{keys}})", ids)
    by_id = {text_of(row[0]): row[1:] for row in stored}
    segments = [by_id[key] for key in ids if key in by_id]
    facts: dict[str, str] = {}
    for *values, origin, _estimated, _actual, _calls in segments:
        fields = as_mapping(origin)
        values += [fields.get(name) for name in _ORIGIN]
        named = zip((*_FACTS, *_ORIGIN), values, strict=True)
        facts |= {name: text for name, value in named if (text := as_text(value))}

    rows = read_outline(reader, conversation.segments, Reading.EVERYTHING)
    kept = [row for row in rows.rows if row.state is not State.REWOUND and not row.hidden]
    shown = [row for row in kept if row.id not in rows.copies]
    tip = len(ids) - 1
    live = [row for row in rows.rows if is_read(row, Reading.LIVE, is_tip=row.segment == tip)]
    live_rows, live_bytes, live_images = map(as_count, _live(reader, live))
    prompt = read_system_prompt(reader, conversation.id) or ""
    return Details(
        facts=facts,
        estimated_usd=known_sum(as_money(row[-3]) for row in segments),
        actual_usd=known_sum(as_money(row[-2]) for row in segments),
        api_calls=sum(as_count(row[-1]) for row in segments),
        models=_models(reader, ids),
        roles=Counter(row.role for row in shown),
        states=Counter(row.state for row in rows.rows),
        hidden=sum(row.hidden for row in rows.rows),
        repeated=len(rows.copies),
        tools=_tools(reader, [row for row in shown if row.role == "tool"]),
        live_rows=live_rows,
        live_bytes=live_bytes,
        live_images=live_images,
        prompt_bytes=len(prompt.encode("utf-8", "replace")),
    )
