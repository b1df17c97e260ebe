"""A clean-up on a host: one call, with its progress, and what is known of it when the connection is
lost."""

import time

import pytest
from asking import remote
from pruning import chosen
from trashing import add_message, execute, run, session_ids

from hermes_browse.store.api import open_store
from hermes_browse.store.errors import StoreRefusedError, WriteInDoubtError
from hermes_browse.store.hosts.connection import AskedQuestion
from hermes_browse.store.hosts.remote import HostConnection

MANY = 12


@pytest.fixture
def path(hermes_home):
    """The store there, with further conversations that nothing protects."""
    found = hermes_home / "state.db"
    long_ago = time.time() - 90 * 86_400
    session = (
        "INSERT INTO sessions (id, source, started_at, ended_at, end_reason) "
        "VALUES (?, 'cli', ?, ?, 'user_exit')"
    )
    for number in range(MANY):
        execute(found, session, f"old{number}", long_ago, long_ago + 1)
        add_message(found, f"old{number}", "hello", long_ago)
    return found


@pytest.fixture
def store(one, path):
    """That store, as this machine sees it."""
    with open_store(remote(one)) as opened:
        yield opened


def planned(store):
    """The plan of all these conversations."""
    now = time.time()
    catalog = store.catalog(now)
    marks = [f"old{number}" for number in range(MANY)]
    return store.plan(catalog, chosen("", *marks), now)


def left(path):
    """The conversations that are still there."""
    return {each for each in session_ids(path) if each.startswith("old")}


def test_one_call_with_reports(store, path, monkeypatch):
    """One bundle there, which restores it; what has changed meanwhile stays."""
    asked = []
    lines = AskedQuestion.lines
    monkeypatch.setattr(
        AskedQuestion, "lines", lambda *args, **named: asked.append(1) or lines(*args, **named)
    )
    plan = planned(store)
    assert len(plan.selected) == MANY
    run(path, "UPDATE sessions SET ended_at = NULL WHERE id = 'old3'")
    steps = []
    asked.clear()
    outcome = store.delete_planned(plan, tell=steps.append)
    assert len(asked) == 1
    assert outcome.error is None and len(outcome.spared) == 1 and left(path) == {"old3"}
    assert outcome.spared[-1][1] == "changed after the plan was made"
    assert steps[-1].done == steps[-1].total == MANY
    deleted = outcome.deleted
    assert store.restore(deleted.bundle.name).verified and len(left(path)) == MANY


def test_it_stops_between_two_portions(store, path):
    """What was not begun is as it was."""
    plan = planned(store)
    outcome = store.delete_planned(plan, stopped=lambda: True)
    assert outcome.left + len(outcome.done) == MANY and outcome.error is None
    assert len(left(path)) == outcome.left


def test_a_store_that_is_not_written_to(store, path):
    """Why is said as of that machine, and once."""
    plan = planned(store)
    run(path, "CREATE TRIGGER odd AFTER UPDATE ON sessions BEGIN SELECT 1; END")
    outcome = store.delete_planned(plan)
    with pytest.raises(StoreRefusedError, match=r"^vps: .*odd"):
        store.delete(["old1"])
    assert isinstance(outcome.error, StoreRefusedError) and len(left(path)) == MANY
    said = str(outcome.error)
    assert said.startswith("vps: ") and said.count("Nothing was changed") == 1


@pytest.mark.slow
def test_the_connection_is_lost_behind_it(store, server, path):
    """The store there shows that all are gone, and the bundle that has them."""
    plan = planned(store)
    server.cut_at = b'"answer": [['
    outcome = store.delete_planned(plan)
    assert outcome.error is None and len(outcome.done) == MANY and not left(path)
    deleted = outcome.deleted
    assert store.restore(deleted.bundle.name).verified


@pytest.mark.slow
def test_the_connection_is_lost_in_the_middle_of_it(store, server, path, monkeypatch):
    """What is gone counts as done and can be restored; of the others nobody knows."""
    ask = HostConnection.ask

    def half(connection, name, values):
        if name == "clean_up":
            ask(connection, name, values | {"expected": values["expected"][:5]})
            server.cut()
            return ask(connection, "state", {})
        return ask(connection, name, values)

    plan = planned(store)
    monkeypatch.setattr(HostConnection, "ask", half)
    outcome = store.delete_planned(plan)
    assert len(outcome.done) == 5 and len(left(path)) == outcome.doubtful == MANY - 5
    assert isinstance(outcome.error, WriteInDoubtError) and "nobody knows" in str(outcome.error)
    deleted = outcome.deleted
    assert store.restore(deleted.bundle.name).verified and len(left(path)) == MANY
