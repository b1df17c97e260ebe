"""Everything worth knowing of one conversation: what lists leave out, and counts of its messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..cleanup.sizes import bytes_sql
from ..connection.connect import Reader
from ..connection.values import as_count, as_mapping, as_money
from ..sessions.models import Conversation
from ..text import as_text
from .models import Reading, State
from .transcript import Bone, read_skeleton, read_system_prompt

_FACTS = (
    "title_source",
    "billing_provider",
    "billing_base_url",
    "billing_mode",
    "git_repo_root",
    "profile_name",
    "user_id",
    "chat_id",
    "chat_type",
    "thread_id",
    "display_name",
    "cost_status",
    "cost_source",
    "last_activity_description",
)
_ORIGIN = ("platform", "chat_name", "user_name", "chat_topic")
"""Fields of `origin_json` that no column repeats (gateway/session.py, 0.19)."""
_SLICE = 5000


class ToolCount(NamedTuple):
    """Results of one tool."""

    name: str
    """Empty where none is stored."""
    results: int
    bytes: int


class ModelUse(NamedTuple):
    """What one model was used for (0.19 `session_model_usage`)."""

    model: str
    provider: str
    task: str
    """Empty for the conversation itself; else what it did beside it, e.g. a title."""
    calls: int
    tokens: int
    cost_usd: float
    """The recorded cost where there is one, else the estimate."""


class Details(NamedTuple):
    """What the card of a conversation shows beside the conversation itself."""

    facts: dict[str, str]
    """The newest value of each column of `_FACTS`, and of the gateway's own names; only those that have one."""
    estimated_usd: float | None
    """Sum over the segments that have one."""
    actual_usd: float | None
    api_calls: int
    models: tuple[ModelUse, ...]
    """Most dear first; empty in older stores."""
    roles: dict[str, int]
    """Messages as they are shown by default, by role."""
    states: dict[State, int]
    """All rows of the segments by state."""
    hidden: int
    """Rows no one reads: bookkeeping and what is for the model alone."""
    repeated: int
    """Rows that compaction put in again; shown once."""
    tools: tuple[ToolCount, ...]
    """Of the results that are shown, most first."""
    live_rows: int
    """What the model still sees of the tip."""
    live_bytes: int
    """Texts and tool calls of these rows, as sent where that differs; without embedded images."""
    live_images: int
    """Rows among them with images embedded."""
    prompt_bytes: int
    """Of the tip's system prompt."""


def _newest(rows: Sequence[dict[str, object]]) -> dict[str, str]:
    """The newest value of each field, tip first."""
    found: dict[str, str] = {}
    for row in reversed(rows):
        for name in _FACTS:
            text = as_text(row.get(name))
            if text and name not in found:
                found[name] = text
        origin = as_mapping(row.get("origin_json"))
        for name in _ORIGIN:
            value = as_text(origin.get(name))
            if value and name not in found:
                found[name] = value
    return found


def _sum(values: Sequence[object]) -> float | None:
    known = [amount for amount in map(as_money, values) if amount is not None]
    return sum(known) if known else None


def _models(reader: Reader, ids: Sequence[str]) -> tuple[ModelUse, ...]:
    if "session_model_usage" not in reader.schema.tables:
        return ()
    have = {str(row[1]) for row in reader.rows('PRAGMA table_info("session_model_usage")')}
    counts = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    wanted = ("session_id", "model", "billing_provider", "task", "api_call_count", *counts)
    money = ("estimated_cost_usd", "actual_cost_usd")
    columns = ", ".join(f"u.{name}" if name in have else "NULL" for name in (*wanted, *money))
    sums: dict[tuple[str, str, str], list[float]] = {}
    for row in reader.rows_in(f"SELECT {columns} FROM session_model_usage u WHERE u.session_id IN ({{keys}})", ids):
        model, provider, task = (as_text(value) or "" for value in row[1:4])
        entry = sums.setdefault((model, provider, task), [0, 0, 0.0])
        entry[0] += as_count(row[4])
        entry[1] += sum(map(as_count, row[5:9]))
        entry[2] += as_money(row[10]) or as_money(row[9]) or 0.0
    uses = [ModelUse(*key, int(calls), int(tokens), cost) for key, (calls, tokens, cost) in sums.items()]
    return tuple(sorted(uses, key=lambda use: (-use.cost_usd, -use.tokens, use.model)))


def _tools(reader: Reader, bones: Sequence[Bone]) -> tuple[ToolCount, ...]:
    schema = reader.schema
    ids = [bone.id for bone in bones if bone.role == "tool"]
    size = bytes_sql(schema.message("content"))
    sums: dict[str, list[int]] = {}
    for name, count in reader.rows_in(
        f"SELECT {schema.message('tool_name')}, {size} FROM messages m WHERE m.id IN ({{keys}})", ids
    ):
        entry = sums.setdefault(as_text(name) or "", [0, 0])
        entry[0] += 1
        entry[1] += as_count(count)
    counts = [ToolCount(name, results, total) for name, (results, total) in sums.items()]
    return tuple(sorted(counts, key=lambda each: (-each.results, each.name)))


def _live(reader: Reader, session_id: str) -> tuple[int, int, int]:
    """Rows, bytes and rows with images of what the model still sees of a session; in slices by id."""
    schema = reader.schema
    content, sent = schema.message("content"), schema.message("api_content")
    # Hermes marks multimodal content with a NUL, which ends what SQLite's text functions see.
    images = f"(instr(CAST({content} AS BLOB), CAST(';base64,' AS BLOB)) > 0)"  # not shown
    multimodal = f"typeof({content}) = 'text' AND {content} <> '' AND substr({content}, 1, 1) = '' AND {images}"
    text = f"CASE WHEN {sent} IS NOT NULL THEN {bytes_sql(sent)} ELSE {bytes_sql(content)} END"  # not shown
    statement = (
        f"SELECT m.id, {multimodal}, {text} + 0, {bytes_sql(schema.message('tool_calls'))} FROM messages m "
        f"WHERE m.session_id = ? AND m.id > ? AND {schema.active()} = 1 "
        f"AND {schema.message('role')} IS NOT 'session_meta' ORDER BY m.id LIMIT {_SLICE}"
    )
    count, total, pictures, last = 0, 0, 0, -(2**63)
    while True:
        rows = reader.rows(statement, [session_id, last])
        for message_id, image, size, calls in rows:
            last = int(str(message_id))
            count += 1
            pictures += bool(image)
            total += as_count(calls) + (0 if image else as_count(size))
        if len(rows) < _SLICE:
            return count, total, pictures


def _prompt_bytes(reader: Reader, session_id: str) -> int:

    return len((read_system_prompt(reader, session_id) or "").encode("utf-8", "replace"))


def read_details(reader: Reader, conversation: Conversation) -> Details:
    """Read the details of a conversation; statements as long as those that open it.

    Args:
        reader: An open reader.
        conversation: Whose.
    """
    schema = reader.schema
    ids = [segment.id for segment in conversation.segments]
    names = (*_FACTS, "origin_json", "estimated_cost_usd", "actual_cost_usd", "api_call_count")
    columns = ", ".join(schema.session(name) for name in names)
    read = reader.rows_in(f"SELECT s.id, {columns} FROM sessions s WHERE s.id IN ({{keys}})", ids)
    by_id = {as_text(row[0]): dict(zip(names, row[1:], strict=True)) for row in read}
    rows = [by_id[each] for each in ids if each in by_id]
    everything = read_skeleton(reader, conversation.segments, Reading.EVERYTHING)
    said = read_skeleton(reader, conversation.segments, Reading.SAID)
    roles: dict[str, int] = {}
    for bone in said.bones:
        roles[bone.role] = roles.get(bone.role, 0) + 1
    states: dict[State, int] = {}
    for bone in everything.bones:
        states[bone.state] = states.get(bone.state, 0) + 1
    live_rows, live_bytes, live_images = _live(reader, conversation.id)
    return Details(
        facts=_newest(rows),
        estimated_usd=_sum([row["estimated_cost_usd"] for row in rows]),
        actual_usd=_sum([row["actual_cost_usd"] for row in rows]),
        api_calls=sum(as_count(row["api_call_count"]) for row in rows),
        models=_models(reader, ids),
        roles=roles,
        states=states,
        hidden=sum(bone.hidden for bone in everything.bones),
        repeated=len(said.folded),
        tools=_tools(reader, said.bones),
        live_rows=live_rows,
        live_bytes=live_bytes,
        live_images=live_images,
        prompt_bytes=_prompt_bytes(reader, conversation.id),
    )
