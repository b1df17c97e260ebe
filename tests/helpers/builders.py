"""Stores for tests: tiny ones in any shape, a hostile one, a large one.

    make_store(tmp_path / "state.db", "31", sessions=[{"id": "a"}], messages=[{"session_id": "a",
    "content": "hi"}])

Columns a shape lacks are left out, so one list of rows serves all shapes; a column no shape has
raises.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from store_builder import T0, StoreBuilder, tool_call

from hermes_browse.store.demo import build_store as demo_store

__all__ = [
    "DAY",
    "SAMPLED",
    "T0",
    "StoreBuilder",
    "big_store",
    "demo_store",
    "hostile_store",
    "make_store",
    "tool_call",
]
SAMPLED = 1_795_025_200.0
"""When the tests of the sample store have it made: 2026-11-18 17:26 UTC."""

DAY = 86_400.0
"""Seconds."""


def make_store(
    path: Path,
    shape: str = "22",
    sessions: Sequence[Mapping[str, object]] = (),
    messages: Sequence[Mapping[str, object]] = (),
    journal: str = "wal",
    *,
    without: Iterable[str] = (),
    fts: bool = True,
    tables: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
) -> Path:
    """Write a store of a shape from rows as dicts.

    Args:
        path: A path that is free.
        shape: One of `shapes.NAMES`.
        sessions: Columns of `sessions`; only `id` is needed.
        messages: Columns of `messages`; only `session_id` is needed.
        journal: `wal` or `delete`.
        without: Things to leave out, see `Shape.without`.
        fts: False leaves out all of full-text search.
        tables: Rows of other tables.

    Returns:
        The path.
    """
    builder = StoreBuilder(path, shape, journal=journal, without=without, fts=fts)
    for session in sessions:
        builder.session(**session)  # type: ignore[arg-type]  # columns of any kind
    for message in messages:
        builder.message(**message)  # type: ignore[arg-type]
    for table, rows in (tables or {}).items():
        for row in rows:
            builder.row(table, **row)
    return builder.write()


HOSTILE_IDS = (
    "-rf",
    "--help",
    "",
    "../../etc/passwd",
    "a b\nc",
    "x'; DROP TABLE sessions;--",
    "%",
    "日本",
    "a" * 300,
)
"""Ids that are flags, paths, patterns or nothing at all."""

_HOSTILE_TEXT = (
    "\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u202c \x9b2J [bold]x[/] \r\n\x00nul \u2066isolate"
)


def hostile_store(path: Path, without: Sequence[str] = ("messages_fts_delete",)) -> Path:
    """A store of schema 22 no Hermes wrote: everything a salvaged or malicious file may hold.

    `schema_version` is empty; the list of the real 0.19 fails on it.

    Args:
        path: A path that is free.
        without: Triggers that are missing.
    """
    builder = StoreBuilder(path, "22", without=list(without))
    builder.version = None
    configs = (
        '{"_branched_from": ',
        '["list"]',
        '"text"',
        "null",
        "{}{}",
        '{"_delegate_from": ["x"]}',
        "[" * 5000,
    )
    for number, config in enumerate(configs):
        builder.session(f"config-{number}", model_config=config)
        builder.message(f"config-{number}", content=f"config {number}")
    builder.session("self", parent_session_id="self", end_reason="compression")
    for one, other in (("ring-a", "ring-c"), ("ring-b", "ring-a"), ("ring-c", "ring-b")):
        builder.session(one, parent_session_id=other, end_reason="compression", ended_at=T0)
        builder.message(one, content=f"in the ring, {one}")
    times: tuple[object, ...] = (
        "yesterday",
        "2026-01-01T09:00:00",
        9e18,
        1e308,
        -9e18,
        -1.0,
        0,
        b"\x00\xff",
    )
    for number, moment in enumerate(times):
        builder.session(f"time-{number}", started_at=moment, ended_at=moment, end_reason=moment)
        builder.message(f"time-{number}", content="when", timestamp=moment)
    builder.session(
        "control",
        title=_HOSTILE_TEXT,
        source="\x1b[2J",
        model="m\x07",
        cwd="/tmp/\x1b[31m",
        git_branch="\n",
    )
    builder.message("control", content=_HOSTILE_TEXT)
    builder.message("control", "tool", _HOSTILE_TEXT, tool_name="\x1b]0;x\x07", tool_call_id="\x00")
    builder.message(
        "control", "assistant", None, tool_calls='[{"id": "call_z", "function": {"name": '
    )
    builder.message("control", "assistant", "", tool_calls=[tool_call("x" * 5000, '{"cut": "sho')])
    builder.message("control", "\x1b[1mrole", '\x00json:[{"type": "text", ')
    builder.session(
        "counts",
        message_count="many",
        tool_call_count=-5,
        input_tokens=b"\x01",
        estimated_cost_usd="free",
    )
    builder.message("counts", content=b"\xff\xfe\x00blob")
    builder.message("counts", content=42)
    builder.message("counts", content=b"broken \xc3( text \xed\xa0\x80")
    broken = builder.message("counts", content=b"invalid \xff\xfe text")
    for session_id in HOSTILE_IDS:
        builder.session(session_id)
        builder.message(session_id, content=f"said in {session_id!r}")
    builder.row("sessions", source="cli", started_at=T0)  # SQLite lets a TEXT PRIMARY KEY be NULL
    builder.message("no such session", content="dangling")
    builder.write()
    connection = sqlite3.connect(path)
    with connection:  # bound bytes are blobs: only a cast makes them invalid text
        connection.execute(
            "UPDATE messages SET content = CAST(content AS TEXT) WHERE id = ?", [broken]
        )
        connection.execute(
            "UPDATE sessions SET title = CAST(x'fffe41' AS TEXT) WHERE id = 'counts'"
        )
    connection.close()
    return path


_WORDS = (
    "anchor", "harbour", "quay", "tide", "lantern", "ferry", "rope", "gangway", "sailing", "ticket", "refund",
    "parser", "index", "query", "token", "session", "deploy", "rollback", "branch", "merge", "review",
    "fixture", "cache", "latency", "timeout", "retry", "schema", "column", "trigger", "commit", "island", "fog",
    "storm", "bread",
)  # fmt: skip


def _sessions(generator: random.Random, count: int) -> Iterator[dict[str, object]]:
    """Sessions a minute or so apart: a tenth compressed into the next one, some delegated, a
    quarter cron."""
    last: dict[str, object] = {}
    for number in range(count):
        started = T0 + number * 90.0
        row: dict[str, object] = {
            "id": f"s{number:06}",
            "started_at": started,
            "ended_at": started + 80 if number % 7 else None,
            "end_reason": "cli_close" if number % 7 else None,
            "model": generator.choice(("anthropic/claude-sonnet-4.6", "openai/gpt-5.4", "local")),
            "title": f"{generator.choice(_WORDS)} {generator.choice(_WORDS)} {number}"
            if number % 3
            else None,
            "input_tokens": generator.randrange(50_000),
            "output_tokens": generator.randrange(5_000),
            "estimated_cost_usd": generator.random(),
        }
        kind = number % 20
        if kind in (1, 2) and last:
            row |= {"parent_session_id": last["id"]}
            last |= {"end_reason": "compression", "ended_at": started}
        elif kind in (5, 6) and last:
            config = json.dumps({"_delegate_from": last["id"]})
            row |= {"source": "subagent", "parent_session_id": last["id"], "model_config": config}
        elif kind >= 15:
            row |= {
                "id": f"cron_{number % 4:012x}_{number:06}",
                "source": "cron",
                "end_reason": "cron_complete",
            }
        elif kind >= 12:
            row |= {"source": "telegram", "session_key": f"agent:main:telegram:dm:{number % 50}"}
        if last:
            yield last
        last = row
    if last:
        yield last


def big_store(
    path: Path, sessions: int = 3000, messages: int = 30_000, *, shape: str = "22", seed: int = 7
) -> Path:
    """A store of many rows, quick to make, the same for the same arguments. Its search indexes are
    filled in bulk.

    Every message holds a few words of `_WORDS`; `needle` is in five of them, `rare` in one of a
    thousand.

    Args:
        path: A path that is free.
        sessions: How many.
        messages: How many, spread over the sessions in order of time.
        shape: One of `shapes.NAMES`.
        seed: For the words.
    """
    generator = random.Random(seed)
    builder = StoreBuilder(path, shape)
    ids = [builder.session(**each) for each in _sessions(generator, sessions)]  # type: ignore[arg-type]
    needles = {messages * part // 24 * 4 for part in range(1, 6)}
    for number in range(messages):
        at = number * sessions // messages
        text = " ".join(generator.choices(_WORDS, k=generator.randrange(6, 40)))
        text += " needle" if number in needles else " rare" if number % 1000 == 999 else ""
        stamp = T0 + at * 90.0 + number % max(1, messages // sessions)
        columns: dict[str, object] = {"role": "user", "content": text}
        match number % 4:
            case 1:
                calls = [tool_call("terminal", {"command": text[:40]}, id=f"call_{number}")]
                columns = {"role": "assistant", "content": "", "tool_calls": calls}
            case 2:
                call = f"call_{number - 1}"
                columns |= {"role": "tool", "tool_name": "terminal", "tool_call_id": call}
            case 3:
                columns |= {"role": "assistant", "finish_reason": "stop"}
        builder.message(ids[at], timestamp=stamp, **columns)  # type: ignore[arg-type]
    return builder.write()
