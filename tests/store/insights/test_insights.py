"""Insights equal what plain SQL says of the same store, over every period and by every thing there
is."""

import json
import time

import pytest
from builders import DAY, big_store, demo_store, hostile_store, tool_call
from effort import slow_but
from pruning import NOW, aged, opened, said
from trashing import rows as sql

from hermes_browse.store.errors import QueryInterruptedError
from hermes_browse.store.insights.facts import Facts, read_facts
from hermes_browse.store.insights.sums import (
    PERIODS,
    UNITS,
    WITH_BYTES,
    all_buckets,
    make_report,
    read_report,
    split_report,
)

FIXTURES = ("state-v11", "state-v14", "state-v22", "state-v31")
GROUPINGS = (*UNITS, "hour", "model", "source", "project", "conversation")
TOKENS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


def facts_of(path, *, of_tools=False):
    """What there is to add up in a store, or its calls and answers."""
    with opened(path) as (reader, catalog):
        return read_facts(reader, catalog, of_tools=of_tools)


def rows(facts, by):
    """The groups of a report by their keys."""
    return {each.key: each for each in make_report(facts, by, "all", NOW).rows}


@pytest.fixture(params=slow_but(["demo", *FIXTURES], ["demo", "big", *FIXTURES]))
def store(request, tmp_path, fixture_store):
    """Stores of released versions of Hermes, the sample store, and a large one."""
    path = tmp_path / "made.db"
    if request.param == "demo":
        demo_store(path, now=NOW)
    elif request.param == "big":
        big_store(path, 600, 4000)
    else:
        return fixture_store(str(request.param))
    return path


@pytest.mark.parametrize("period", PERIODS)
def test_the_whole_of_a_period(store, period):
    """Sessions, messages, tokens and both costs, to the last of them; the clock of the tests is in
    UTC."""
    total = make_report(facts_of(store), "source", period, NOW).total
    days = {"7d": 6, "30d": 29, "90d": 89, "1y": 364}
    since = (NOW // DAY - days[period]) * DAY if period in days else -1e18
    sums = ", ".join(f"COALESCE(sum({each}), 0)" for each in TOKENS)
    wanted = sql(store, f"SELECT count(*), {sums} FROM sessions WHERE started_at >= ?", since)[0]
    assert (total.sessions, *total.tokens) == wanted
    messages = "SELECT count(*) FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.timestamp >= ?"
    assert total.messages == sql(store, messages, since)[0][0]
    money = (
        "SELECT COALESCE(sum(actual_cost_usd), 0), "
        "COALESCE(sum(CASE WHEN actual_cost_usd IS NULL THEN estimated_cost_usd END), 0), "
        "COALESCE(sum(actual_cost_usd IS NULL AND estimated_cost_usd IS NULL AND "
        "input_tokens + output_tokens + cache_read_tokens + cache_write_tokens > 0), 0) "
        "FROM sessions WHERE started_at >= ?"
    )
    actual, estimated, unknown = sql(store, money, since)[0]
    assert total.actual_usd == pytest.approx(actual) and total.estimated_usd == pytest.approx(
        estimated
    )
    assert total.unknown == unknown


@pytest.mark.parametrize("by", GROUPINGS)
def test_groups_add_up_to_the_whole(store, by):
    """Nothing is lost and nothing is counted twice; by model a session may stand in several
    groups."""
    facts = facts_of(store)
    found = make_report(facts, by, "all", NOW)
    assert found.rows and sum(each.messages for each in found.rows) == found.total.messages
    for place in range(5):
        assert sum(each.tokens[place] for each in found.rows) == found.total.tokens[place]
    assert sum(each.cost_usd for each in found.rows) == pytest.approx(found.total.cost_usd)
    assert set().union(*(each.conversations for each in found.rows)) == found.total.conversations
    parts = split_report(facts, "month", by, "all", NOW)
    for each in found.rows:
        assert sum(part.messages for part in parts[each.key].values()) == each.messages
    if by != "model":
        assert sum(each.sessions for each in found.rows) == found.total.sessions


@pytest.mark.slow
@pytest.mark.parametrize(
    "by, key",
    [
        ("day", "strftime('%Y-%m-%d', {at}, 'unixepoch')"),
        ("week", "date({at}, 'unixepoch', 'weekday 0', '-6 days')"),
        ("month", "strftime('%Y-%m', {at}, 'unixepoch')"),
        (
            "hour",
            "((strftime('%w', {at}, 'unixepoch') + 6) % 7) || strftime('-%H', {at}, 'unixepoch')",
        ),
        ("source", "s.source"),
        ("project", "COALESCE({root}, s.cwd, 'unknown')"),
    ],
)
def test_groups_as_sql_makes_them(store, by, key):
    """Messages by when they came, sessions and tokens by when the session began; the root of the
    repository before the directory."""
    found = rows(facts_of(store), by)
    columns = {str(row[1]) for row in sql(store, "PRAGMA table_info(sessions)")}
    key = key.replace("{root}", "s.git_repo_root" if "git_repo_root" in columns else "NULL")
    key = key if "cwd" in columns else key.replace("s.cwd", "NULL")
    statement = (
        f"SELECT {key}, count(*) FROM messages m JOIN sessions s ON s.id = m.session_id GROUP BY 1"
    )
    assert {name: each.messages for name, each in found.items() if each.messages} == dict(
        sql(store, statement.replace("{at}", "m.timestamp"))
    )
    begun = f"SELECT {key}, count(*), sum(s.input_tokens) FROM sessions s GROUP BY 1".replace(
        "{at}", "s.started_at"
    )
    assert sorted(
        (name, each.sessions, each.tokens.input) for name, each in found.items() if each.sessions
    ) == sorted(sql(store, begun))


def test_the_rows_per_model_are_used(made):
    """Another model's share goes to that model, what is left to the session's own; no session
    counts twice."""
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
        ]
    }
    session = aged("a", 5, model="big", input_tokens=100, output_tokens=8, estimated_cost_usd=1.0)
    facts = facts_of(made("22", [session], [said("a", 5)], tables=tables))
    found = rows(facts, "model")
    assert (found["small"].tokens.input, found["big"].tokens.input) == (40, 60)
    assert (found["small"].estimated_usd, found["small"].actual_usd) == (
        pytest.approx(0.1),
        pytest.approx(0.3),
    )
    assert found["big"].estimated_usd == pytest.approx(0.6) and found["big"].messages == 1
    assert make_report(facts, "model", "all", NOW).total.sessions == 1


def test_auxiliary_calls_are_in_every_sum(made):
    """As in `hermes insights` (0.19); the counters of a session are without them."""
    usage = [
        {"session_id": "a", "model": model, "task": task, "input_tokens": 10, "estimated_cost_usd": 1.0}
        for model, task in (("big", ""), ("small", "title"))
    ]  # fmt: skip
    session = aged("a", 5, model="big", input_tokens=10, estimated_cost_usd=1.0)
    tables = {"session_model_usage": usage}
    facts = facts_of(made("22", [session], tables=tables))
    for by in ("day", "source", "model"):
        total = make_report(facts, by, "all", NOW).total
        assert (total.tokens.input, total.cost_usd, total.sessions) == (20, 2.0, 1)


def test_what_is_unknown_is_said(made):
    """No price is not a price of nothing; what a subscription includes is neither."""
    used = {"input_tokens": 10, "estimated_cost_usd": None}
    sessions = [
        aged("free", 1, **used | {"estimated_cost_usd": 0.0, "cost_status": "included"}),
        aged("nobody knows", 1, **used),
        aged("asked in vain", 1, **used | {"estimated_cost_usd": 0.0, "cost_status": "unknown"}),
        aged("silent", 1, estimated_cost_usd=None),
        aged("paid", 1, **used | {"estimated_cost_usd": 9.0, "actual_cost_usd": 2.0}),
        aged("guessed", 1, **used | {"estimated_cost_usd": 0.5}),
    ]
    total = make_report(facts_of(made("22", sessions)), "source", "7d", NOW).total
    assert (total.unknown, total.included, total.actual_usd, total.estimated_usd) == (
        2,
        1,
        2.0,
        0.5,
    )


@pytest.mark.parametrize(
    "zone, begin, offsets, days, hours",
    [
        pytest.param(
            "Asia/Kolkata", 1_767_292_200.0, (-1, 0), {"01": 1, "02": 1}, {"3-23": 1, "4-00": 1},
            id="half an hour off, east of Greenwich: that is 00:00 of 2026-01-02, a Friday",
        ),
        pytest.param(
            "America/New_York", 1_772_946_000.0, (-1, 0, 7200, 23 * 3600 - 1, 23 * 3600),
            {"07": 1, "08": 3, "09": 1}, {"5-23": 1, "6-00": 1, "6-03": 1, "6-23": 1, "0-00": 1},
            id="2026-03-08 has 23 hours there, and none from two to three",
        ),
    ],
)  # fmt: skip
def test_days_and_hours_are_local(made, monkeypatch, zone, begin, offsets, days, hours):
    """Also in a period, which ends with the day of the clock."""
    messages = [{"session_id": "a", "content": "x", "timestamp": begin + each} for each in offsets]
    sessions = [{"id": "a", "started_at": begin}]
    facts = facts_of(made("22", sessions, messages))
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        found = [
            {key: each.messages for key, each in rows(facts, by).items()} for by in ("day", "hour")
        ]
        week = make_report(facts, "day", "7d", begin + 6 * DAY + 12 * 3600).total
    time.tzset()
    assert {key[-2:]: count for key, count in found[0].items()} == days and found[1] == hours
    assert week.messages == len(offsets) - 1, "seven days, with today"


@pytest.mark.parametrize(
    ("unit", "keys"),
    [
        ("day", ["2025-12-30", "2025-12-31", "2026-01-01", "2026-01-02"]),
        ("week", ["2025-12-22", "2025-12-29", "2026-01-05"]),
        ("month", ["2025-11", "2025-12", "2026-01", "2026-02"]),
    ],
)
def test_buckets_without_a_gap(unit, keys):
    """Over the end of a year."""
    assert all_buckets(keys[0], keys[-1], unit) == keys
    assert all_buckets("unknown", keys[-1], unit) == []


@pytest.mark.parametrize("by", GROUPINGS)
def test_hostile_rows(tmp_path, by):
    """Times that are none, counters that are texts, messages of nobody: everything is somewhere."""
    path = hostile_store(tmp_path / "state.db")
    facts = facts_of(path)
    found = make_report(facts, by, "all", NOW)
    assert (
        found.total.messages + facts.without_session
        == sql(path, "SELECT count(*) FROM messages")[0][0]
    )
    assert (
        facts.without_session >= 1
        and sum(each.messages for each in found.rows) == found.total.messages
    )
    if by in UNITS:
        assert any(each.key == "unknown" and each.messages for each in found.rows)
    travelled = Facts.load(facts.dump(), facts.catalog)
    assert travelled.without_session == facts.without_session


@pytest.mark.slow
@pytest.mark.parametrize("by", WITH_BYTES)
def test_with_bytes_messages_of_nobody_count(tmp_path, by):
    """Over all time everything that takes room is added up; of `big_store` every row has bytes."""
    path = hostile_store(tmp_path / "hostile.db")
    with opened(path) as (reader, _catalog):
        total = read_report(reader, by, "all", 0.0).total
    assert total.messages == sql(path, "SELECT count(*) FROM messages")[0][0]
    with opened(big_store(tmp_path / "big.db", 200, 2000)) as (reader, _catalog):
        found = read_report(reader, by, "all", 0.0)
    assert found.total.bytes == sum(each.bytes for each in found.rows) or by == "tool"
    assert all(each.bytes for each in found.rows if each.messages)


@pytest.mark.slow
def test_it_can_be_stopped_and_tells_how_far_it_is(tmp_path):
    """Between two statements, which are short: none covers more than a slice."""
    path = big_store(tmp_path / "state.db", 1000, 3000)
    told = []
    with opened(path) as (reader, catalog):
        read_facts(reader, catalog, tell=told.append)
        assert told[-1] == 1.0 and told == sorted(told) and len(told) >= 5
        told.clear()
        read_facts(reader, catalog, of_tools=True, tell=told.append)
        assert told[-1] == 1.0 and len(told) >= 7
        reader.interrupt()
        for of_tools in (False, True):
            with pytest.raises(QueryInterruptedError):
                read_facts(reader, catalog, of_tools=of_tools)


def test_tools(made):
    """Calls, answers, failures; a nameless answer has the name of its call, in its own session."""
    failed = json.dumps({"output": "", "exit_code": 2})
    messages = [
        said(
            "a",
            1,
            role="assistant",
            tool_calls=[tool_call("read"), {**tool_call("run"), "id": "c1"}, tool_call("run")],
        ),
        said("a", 1, '{"content": "fine"}', role="tool", tool_name="read"),
        said("a", 1, failed, role="tool", tool_call_id="c1"),
        said("b", 40, "Error: no such file", role="tool", tool_name="read"),
        said("b", 40, failed, role="tool", tool_call_id="c1"),
    ]
    path = made("22", [aged("a", 1), aged("b", 40)], messages)
    facts = facts_of(path, of_tools=True)
    found = rows(facts, "tool")
    assert {key: (each.calls, each.messages, each.failed) for key, each in found.items()} == {
        "read": (1, 2, 1),
        "run": (2, 1, 1),
        "unknown": (0, 1, 1),
    }
    assert found["read"].failure_rate == 0.5 and found["read"].conversations == {"a", "b"}
    week = make_report(facts, "tool", "7d", NOW)
    assert (week.total.calls, week.total.messages, week.total.failed, week.total.sessions) == (
        3,
        2,
        1,
        1,
    )
    course = split_report(facts, "month", "tool", "all", NOW)["read"]
    assert [(course[key].calls, course[key].messages) for key in sorted(course)] == [(0, 1), (1, 1)]
