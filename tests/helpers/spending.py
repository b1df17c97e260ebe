"""A store of chats that cost something, for sums over time."""

from __future__ import annotations

from pathlib import Path

from builders import DAY, make_store, tool_call

NOW = 1_780_000_000.0
"""As in `browsing.py`: 2026-05-28 20:26:40 UTC."""


def session(id: str, days: float, **columns: object) -> dict[str, object]:
    """A session begun so many days before `NOW`."""
    return {
        "id": id,
        "started_at": NOW - days * DAY,
        "title": f"Chat {id}",
        "source": "cli",
    } | columns


def message(id: str, days: float, **columns: object) -> dict[str, object]:
    """A message of so many days before `NOW`."""
    return {"session_id": id, "content": "hello", "timestamp": NOW - days * DAY} | columns


def spent_store(path: Path) -> Path:
    """Three chats in two weeks, of two models, with a tool that fails, and an old one."""
    sessions = [
        session(
            "a",
            0.1,
            model="m/one",
            input_tokens=1000,
            cache_read_tokens=500,
            estimated_cost_usd=0.5,
            cwd="/src",
        ),
        session("b", 2, model="m/two", input_tokens=3000, output_tokens=40, source="telegram"),
        session(
            "c",
            2,
            model="m/one",
            input_tokens=10,
            estimated_cost_usd=9.0,
            actual_cost_usd=2.0,
            cwd="/src",
        ),
        session("old", 200, model="m/one", input_tokens=7),
    ]
    failed = '{"exit_code": 1}'
    messages = [
        message("a", 0.1, role="assistant", tool_calls=[tool_call("terminal")]),
        message("a", 0.1, role="tool", tool_name="terminal", content=failed),
        *(message("b", 2) for _ in range(5)),
        message("c", 2),
        message("old", 200),
    ]
    return make_store(path, "31", sessions, messages)
