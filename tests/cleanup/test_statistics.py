"""Sums equal what SQL says of the same store."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

import pytest
from builders import big_store, hostile_store, make_store, tool_call
from pruning import Fixture, aged, opened, said

from hermes_browse.store.insights.sums import Group, Report, read_statistics

TOKENS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


def statistics_of(path: Path, by: str) -> Report:
    """The sums of a store."""
    with opened(path) as (reader, catalog):
        return read_statistics(reader, catalog, by)


def sql(path: Path, statement: str) -> list[tuple[object, ...]]:
    """The answer of plain SQL."""
    connection = sqlite3.connect(path)
    found = connection.execute(statement).fetchall()
    connection.close()
    return found


def numbers(group: Group) -> tuple[float, ...]:
    """What must add up: all but the counts of conversations and sessions."""
    return (group.messages, *group.tokens, pytest.approx(group.cost_usd), group.bytes)


@pytest.mark.parametrize("name", ["state-v11", "state-v14", "state-v22", "state-v31"])
def test_totals(fixture_store: Fixture, name: str) -> None:
    """Of everything, archived and subagents included."""
    path = fixture_store(name)
    total = statistics_of(path, "source").total
    sums = ", ".join(f"sum({each})" for each in TOKENS)
    wanted = sql(
        path,
        f"SELECT count(*), {sums}, sum(COALESCE(actual_cost_usd, estimated_cost_usd)) FROM sessions",
    )[0]
    assert (total.sessions, *total.tokens) == wanted[:6]
    assert total.cost_usd == pytest.approx(wanted[6] or 0)
    assert total.messages == sql(path, "SELECT count(*) FROM messages")[0][0]
    assert len(total.conversations) < total.sessions


@pytest.mark.parametrize("by", ["source", "day", "model"])
def test_groups_add_up_to_the_total(tmp_path: Path, by: str) -> None:
    """Nothing is lost and nothing is counted twice."""
    found = statistics_of(big_store(tmp_path / "state.db", 1000, 3000), by)
    for place, wanted in enumerate(numbers(found.total)):
        assert (
            sum(numbers(row)[place] if place != 6 else row.cost_usd for row in found.rows) == wanted
        )
    if by != "model":
        assert sum(row.sessions for row in found.rows) == 1000
        assert sum(len(row.conversations) for row in found.rows) == len(found.total.conversations)
    assert len(found.rows) > 1


def test_by_source_and_day_as_sql_groups(tmp_path: Path) -> None:
    """Messages of a source by join, messages of a day by their own time."""
    path = big_store(tmp_path / "state.db", 200, 2000)
    joined = sql(
        path,
        "SELECT s.source, count(*) FROM messages m JOIN sessions s ON s.id = m.session_id GROUP BY 1",
    )
    assert {row.key: row.messages for row in statistics_of(path, "source").rows} == dict(joined)
    days = sql(
        path,
        "SELECT strftime('%Y-%m-%d', timestamp, 'unixepoch'), count(*) FROM messages GROUP BY 1 ORDER BY 1",
    )
    assert [
        (row.key, row.messages) for row in statistics_of(path, "day").rows if row.messages
    ] == days


def test_days_are_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a zone that is half an hour off."""
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        late = 1_767_292_200.0  # 2026-01-01 18:30 UTC is 2026-01-02 00:00 there
        messages = [{"session_id": "a", "content": "x", "timestamp": late - 1}]
        messages.append({"session_id": "a", "content": "y", "timestamp": late})
        path = make_store(
            tmp_path / "state.db", "22", [{"id": "a", "started_at": late - 1}], messages
        )
        found = statistics_of(path, "day").rows
    finally:
        monkeypatch.delenv("TZ")
        os.environ["TZ"] = "UTC"
        time.tzset()
    assert [(row.key, row.messages, row.sessions) for row in found] == [
        ("2026-01-01", 1, 1),
        ("2026-01-02", 1, 0),
    ]


def test_usage_by_model_is_that_of_the_models(tmp_path: Path) -> None:
    """Hermes keeps it per model since 0.19; what is left of the session goes to the model it
    names."""
    usage = {
        "session_id": "a",
        "model": "small",
        "input_tokens": 30,
        "output_tokens": 4,
        "estimated_cost_usd": 0.1,
    }
    tables = {
        "session_model_usage": [
            usage,
            {**usage, "task": "title", "input_tokens": 10, "actual_cost_usd": 0.3},
            {**usage, "session_id": "b", "model": "other", "input_tokens": 7},
        ]
    }
    session = aged("a", 5, model="big", input_tokens=100, output_tokens=8, estimated_cost_usd=1.0)
    exact = aged("b", 5, model="big", input_tokens=7, output_tokens=4, estimated_cost_usd=0.1)
    path = make_store(
        tmp_path / "state.db", "22", [session, exact], [said("a", 5), said("b", 5)], tables=tables
    )
    found = {row.key: row for row in statistics_of(path, "model").rows}
    assert (found["small"].tokens.input, found["small"].tokens.output, found["small"].sessions) == (
        40,
        8,
        1,
    )
    assert found["small"].cost_usd == pytest.approx(0.4) and found["big"].cost_usd == pytest.approx(
        0.6
    )
    assert (found["big"].tokens.input, found["big"].tokens.output, found["big"].sessions) == (
        60,
        0,
        1,
    )
    assert found["big"].messages == 2 and found["other"].tokens.input == 7


def test_by_tool(tmp_path: Path) -> None:
    """Calls as they were asked for, results as they came back."""
    messages = [
        {
            "session_id": "a",
            "role": "assistant",
            "tool_calls": [tool_call("read"), tool_call("read"), tool_call("run")],
        },
        {"session_id": "a", "role": "tool", "content": "four", "tool_name": "read"},
        {"session_id": "b", "role": "tool", "content": "sevenny", "tool_name": "read"},
        {"session_id": "b", "role": "tool", "content": "x"},
        {"session_id": "b", "role": "assistant", "tool_calls": "[broken"},
    ]
    path = make_store(tmp_path / "state.db", "22", [aged("a", 5), aged("b", 5)], messages)
    found = {row.key: row for row in statistics_of(path, "tool").rows}
    read = found["read"]
    assert (read.calls, read.messages, read.bytes, read.sessions, len(read.conversations)) == (
        2,
        2,
        11,
        2,
        2,
    )
    assert (found["run"].calls, found["run"].messages) == (1, 0)
    assert (found["unknown"].calls, found["unknown"].messages) == (0, 1)


@pytest.mark.parametrize("by", ["model", "source", "day", "tool"])
def test_hostile_rows_count_too(tmp_path: Path, by: str) -> None:
    """Messages without a session, times that are none, broken calls."""
    path = hostile_store(tmp_path / "state.db")
    found = statistics_of(path, by)
    assert found.total.messages == sql(path, "SELECT count(*) FROM messages")[0][0]
    if by != "tool":
        assert sum(row.messages for row in found.rows) == found.total.messages
