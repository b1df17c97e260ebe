"""Sums equal what SQL says of the same store."""

import sqlite3

import pytest
from builders import big_store, hostile_store
from pruning import opened

from hermes_browse.store.insights.sums import read_report

TOKENS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


def statistics_of(path, by):
    """The sums of a store."""
    with opened(path) as (reader, _catalog):
        return read_report(reader, by, "all", 0.0)


def sql(path, statement):
    """The answer of plain SQL."""
    connection = sqlite3.connect(path)
    found = connection.execute(statement).fetchall()
    connection.close()
    return found


def numbers(group):
    """What must add up: all but the counts of conversations and sessions."""
    return (group.messages, *group.tokens, pytest.approx(group.cost_usd), group.bytes)


@pytest.mark.parametrize("name", ["state-v11", "state-v14", "state-v22", "state-v31"])
def test_totals(fixture_store, name):
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
def test_groups_add_up_to_the_total(tmp_path, by):
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


def test_by_source_and_day_as_sql_groups(tmp_path):
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


@pytest.mark.parametrize("by", ["model", "source", "day", "tool"])
def test_hostile_rows_count_too(tmp_path, by):
    """Messages without a session, times that are none, broken calls."""
    path = hostile_store(tmp_path / "state.db")
    found = statistics_of(path, by)
    assert found.total.messages == sql(path, "SELECT count(*) FROM messages")[0][0]
    if by != "tool":
        assert sum(row.messages for row in found.rows) == found.total.messages
