"""Read the details of a conversation, the facts that lists omit and counts of its messages; and the
recap of its end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import (
    IS_EMBEDDED,
    as_count,
    as_int,
    as_mapping,
    as_money,
    bytes_sql,
)
from ..sessions.models import Conversation, Session, known_sum
from ..text import as_text, one_line, printable, text_of
from ..wording import _, ngettext
from .chat_message import SPEAKERS, ChatMessage, Reading, RowInfo, State
from .decode import read_messages_of
from .transcript import read_outline, read_system_prompt

_FACTS = (
    "title_source", "billing_provider", "billing_base_url", "billing_mode", "git_repo_root",
    "profile_name", "user_id", "chat_id", "chat_type", "thread_id", "display_name", "cost_status",
    "cost_source", "last_activity_description", "last_read_at",
)  # fmt: skip
_SEGMENT = ", ".join(
    (*_FACTS, "origin_json", "estimated_cost_usd", "actual_cost_usd", "api_call_count")
)
_ORIGIN = ("platform", "chat_name", "user_name", "chat_topic")
"""Fields of `origin_json` that are in no column (gateway/session.py, 0.19)."""
_USAGE = """
    SELECT model, billing_provider, task, sum(api_call_count),
        sum(max(COALESCE(input_tokens, 0), 0) + max(COALESCE(output_tokens, 0), 0)
            + max(COALESCE(cache_read_tokens, 0), 0) + max(COALESCE(cache_write_tokens, 0), 0)) AS tokens,
        sum(COALESCE(NULLIF(actual_cost_usd, 0), estimated_cost_usd, 0.0)) AS cost
    FROM usage_rows WHERE session_id IN (SELECT value FROM json_each(?)) GROUP BY 1, 2, 3
    ORDER BY cost DESC, tokens DESC, 1
"""


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
    return tuple(
        ModelUse(
            model=text_of(name),
            provider=text_of(route),
            task=text_of(purpose),
            calls=as_count(requests),
            tokens=as_count(sent),
            cost_usd=as_money(cost) or 0.0,
        )
        for name, route, purpose, requests, sent, cost in reader.rows(_USAGE, [json.dumps(ids)])
    )


def _tools(reader: Reader, results: Sequence[RowInfo]) -> tuple[ToolCount, ...]:
    rows = reader.rows(
        f"SELECT COALESCE(m.tool_name, ''), count(*), sum({bytes_sql('m.content')}) "
        "FROM message_rows m WHERE m.id IN (SELECT value FROM json_each(?)) "
        "GROUP BY 1 ORDER BY 2 DESC, 1",
        [json.dumps([row.id for row in results])],
    )
    return tuple(
        ToolCount(text_of(tool), as_int(count), as_int(size)) for tool, count, size in rows
    )


def _live(reader: Reader, session_id: str) -> Iterator[int]:
    """Yield number, bytes and number with images of the rows that the model still sees."""
    sent, text, calls = map(bytes_sql, ("m.api_content", "m.content", "m.tool_calls"))
    size = f"CASE WHEN {IS_EMBEDDED} THEN 0 WHEN m.api_content IS NULL THEN {text} ELSE {sent} END"
    rows = reader.rows(
        f"SELECT count(*), sum({size} + {calls}), sum({IS_EMBEDDED}) FROM message_rows m "
        "WHERE m.session_id = ? AND m.state = 'live' AND m.role <> 'session_meta'",
        [session_id],
    )
    return map(as_count, rows[0])


def read_details(reader: Reader, conversation: Conversation) -> Details:
    """Read the details of a conversation, in statements as short as those that open it."""
    ids = conversation.session_ids
    sql = f"SELECT {_SEGMENT} FROM session_rows WHERE id = ?"
    segments = [row for each in ids for row in reader.rows(sql, [each])]
    stored = [
        as_mapping(row[len(_FACTS)]) | dict(zip(_FACTS, row, strict=False)) for row in segments
    ]
    facts = {
        name: text
        for name in (*_FACTS, *_ORIGIN)
        for values in stored
        if (text := as_text(values.get(name)))
    }
    outline = read_outline(reader, conversation.segments, Reading.EVERYTHING)
    shown = [row for row in outline.rows if row.is_said and row.id not in outline.copies]
    live_rows, live_bytes, live_images = _live(reader, conversation.id)
    prompt = read_system_prompt(reader, conversation.id) or ""
    return Details(
        facts=facts,
        estimated_usd=known_sum(as_money(row[-3]) for row in segments),
        actual_usd=known_sum(as_money(row[-2]) for row in segments),
        api_calls=sum(as_count(row[-1]) for row in segments),
        models=_models(reader, ids),
        roles=Counter(row.role for row in shown),
        states=Counter(row.state for row in outline.rows),
        hidden=sum(row.hidden for row in outline.rows),
        repeated=len(outline.copies),
        tools=_tools(reader, [row for row in shown if row.role == "tool"]),
        live_rows=live_rows,
        live_bytes=live_bytes,
        live_images=live_images,
        prompt_bytes=len(prompt.encode("utf-8", "replace")),
    )


# The recap that Hermes shows on resume: the last exchanges, shortened (0.19 and 0.22,
# `display.resume_*`)

EXCHANGES = 10
"""Maximum user messages, each with the answers to it."""
USER_LIMIT = 300
"""Code points of a user message."""
ASSISTANT_LIMIT = 200
ASSISTANT_LINES = 3
_WINDOW = 400


class RecapLine(NamedTuple):
    """One line of the recap."""

    role: str
    """`user`, `assistant` or `earlier`."""
    text: str
    """Printable."""


def _clip(text: str) -> str:
    whole = printable(text).strip()
    clipped = "\n".join(whole.split("\n")[:ASSISTANT_LINES])[:ASSISTANT_LIMIT]
    return whole if clipped == whole else clipped[: ASSISTANT_LIMIT - 1].rstrip() + "…"


def read_recap(reader: Reader, segments: Sequence[Session]) -> list[RecapLine]:
    """Read the recap of a conversation from its segments, root first: no system text, tool results
    and reasoning."""
    rows = [row for row in read_outline(reader, segments).rows if row.role in SPEAKERS]
    messages = read_messages_of(reader, [row.id for row in rows[-_WINDOW:]])
    said = [each for each in messages if not each.is_summary]
    lines = [RecapLine(each.role, text) for each in said if (text := _said(each))]
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
    calls = ngettext(
        "[{count} tool call: {names}]", "[{count} tool calls: {names}]", count, names=names
    )
    return f"{text} {calls}".lstrip()
