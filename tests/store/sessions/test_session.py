"""A session in memory: every field of its row, equal texts held once; the job that a run of cron is
of."""

import json

import pytest
from builders import T0, big_store, make_store

from hermes_browse.store.connection import reader as module
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.catalog import catalog_of, read_catalog
from hermes_browse.store.sessions.models import Session, Tokens
from hermes_browse.store.sessions.relations import job_of, name_in_title
from hermes_browse.store.sessions.session_rows import resolve_last
from hermes_browse.store.since.cron_runs import read_job_names

STORED = {
    "id": "a",
    "source": "cli",
    "parent_session_id": "b",
    "title": "Ferry",
    "model": "opus",
    "cwd": "/home",
    "git_branch": "main",
    "end_reason": "done",
    "session_key": "key",
    "started_at": T0,
    "ended_at": T0 + 9,
    "archived": 1,
    "pinned": 1,
    "hidden": 1,
    "message_count": 1,
    "tool_call_count": 2,
    "input_tokens": 3,
    "output_tokens": 4,
    "cache_read_tokens": 5,
    "cache_write_tokens": 2**63 - 1,
    "reasoning_tokens": 7,
    "estimated_cost_usd": 0.5,
    "actual_cost_usd": 0.25,
    "last_activity_at": T0 + 7,
    "model_config": {"_branched_from": "b", "_delegate_from": "c", "_reset_from": "d"},
}


def read(path, *sessions):
    """The sessions of a store with these rows."""
    messages = [{"session_id": "a", "content": "hi", "timestamp": T0 + 3}]
    with Store(make_store(path, "31", sessions, messages)).reader() as reader:
        return dict(read_catalog(reader, T0).sessions)


def test_every_column_comes_out_as_it_went_in(tmp_path):
    """In its own field; the newest of message and recorded activity counts, and the actual cost."""
    bare = {"id": "bare", "started_at": T0}
    found = read(tmp_path / "state.db", STORED, bare, {"id": "free", "estimated_cost_usd": 0.0})
    values = [value for name, value in STORED.items() if "cost" not in name][:-2]
    markers = ("b", "c", "d")
    assert found["a"] == Session(*values, 0.25, T0 + 7, *markers, busy=False, has_messages=True)
    assert found["a"].tokens == Tokens(3, 4, 5, 2**63 - 1, 7)
    assert (found["bare"].last_active, found["bare"].has_messages) == (T0, False)
    assert (found["bare"].cost_usd, found["free"].cost_usd) == (None, 0.0)


@pytest.mark.slow
def test_what_sessions_have_in_common_is_held_once(tmp_path):
    with Store(big_store(tmp_path / "state.db", 3_000, 6_000)).reader() as reader:
        known = read_catalog(reader, T0)
        sessions = known.sessions
        again = catalog_of(read_catalog(reader, T0).sessions.values(), T0, known).sessions
    for name in ("source", "model", "end_reason", "session_key"):
        texts = [getattr(each, name) for each in sessions.values()]
        assert len(set(map(id, texts))) == len(set(texts))
    assert all(again[each.id] is each for each in sessions.values()), (
        "what has not changed is used again"
    )


def test_numbers_larger_than_any_counter_are_the_largest(tmp_path):
    """A salvaged row may hold a number with a fraction where SQLite counts to 2**63. Of an absurd
    cost no sum could be made, so it is none."""
    row = {"id": "a", "input_tokens": 1e300, "message_count": -5, "estimated_cost_usd": 1e300}
    found = read(tmp_path / "state.db", row)["a"]
    assert (found.input_tokens, found.message_count, found.cost_usd) == (2**63 - 1, 0, None)


def test_all_sessions_are_read_in_short_statements(tmp_path, monkeypatch):
    """A read holds a lock that a writer waits for in DELETE mode, so none is long."""
    counts = []
    monkeypatch.setattr(module, "observe", lambda sql, seconds, rows: counts.append(rows))
    with Store(big_store(tmp_path / "state.db", 1_200, 2_400)).reader() as reader:
        assert len(read_catalog(reader, T0).sessions) == 1_200
    assert max(counts) == 250


def test_a_time_that_is_none_hides_no_later_one(made):
    """SQLite sorts texts, milliseconds and infinity behind all times; an ISO text is one (other
    tools write it)."""
    bad = {"text": "unknown", "ms": T0 * 1000, "inf": float("inf"), "old": "2025-01-02T03:04:05"}
    sessions = [{"id": name, "started_at": T0} for name in (*bad, "iso", "recorded")]
    messages = [
        {"session_id": name, "timestamp": time} for name in bad for time in (T0 + 5, bad[name])
    ]
    messages.append({"session_id": "iso", "timestamp": "2026-06-07T08:09:10"})
    sessions[-1]["last_activity_at"] = T0 + 9
    path = made("31", sessions, messages)
    with Store(path).reader() as reader:
        found = read_catalog(reader, T0).sessions
        assert {found[name].last_active for name in bad} == {T0 + 5}
        assert found["iso"].last_active == 1_780_819_750.0
        assert resolve_last(reader) == "recorded"


def test_the_last_of_a_source_is_of_no_other_one(made):
    """`hermes --tui -c` goes on with one of `cli` where there is none of `tui` (0.19): whoever names
    a source means it."""
    path = made("31", [{"id": "a", "source": "cli"}], [])
    with Store(path).reader() as reader:
        assert (resolve_last(reader, "cli"), resolve_last(reader, "tui")) == ("a", None)


RUNS = [
    "cron_daily_20241206_175337",
    "cron_daily_20241206_175337_67384",
    "cron_daily_20241206_175337_297",
]


def test_the_job_of_a_run():
    jobs = {
        **{(run, "cron"): "daily" for run in RUNS},
        (RUNS[0], "cli"): None,
        ("cron_a_b_20241206_175337_x", "cron"): "a_b",
        ("cron_daily_20241206", "cron"): None,
        ("20241206_175337_abc", "cron"): None,
    }
    assert {run: job_of(Session(*run)) for run in jobs} == jobs


def test_the_name_of_a_job(tmp_path):
    """From the title Hermes gives to a run, whatever is behind it; from its file, if that can be
    read."""
    assert name_in_title("Morning · paper · Nov 22 07:00 #12") == "Morning · paper"
    assert [name_in_title(each) for each in (None, "", "cron aa11", "Notes · of May")] == [""] * 4
    path = tmp_path / "cron" / "jobs.json"
    path.parent.mkdir()
    assert read_job_names(tmp_path) == {}
    jobs = [
        {"id": "a", "name": "A\tjob"},
        {"id": 7, "name": "x"},
        {"id": "b", "name": " "},
        {"id": "c"},
        None,
    ]
    read = (json.dumps({"jobs": jobs}), "\ufeff" + json.dumps(jobs))
    for text in (*read, "{", '{"jobs": 3}', "[" * 100_000):
        path.write_text(text, encoding="utf-8")
        assert read_job_names(tmp_path) == ({"a": "A\tjob", "7": "x"} if text in read else {})
