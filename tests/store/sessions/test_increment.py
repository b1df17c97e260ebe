"""What is read after a change is what reading everything would give."""

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from builders import big_store, make_store
from effort import examples, slow_but
from hypothesis import given, settings
from hypothesis import strategies as st
from statements import noted_statements
from store_builder import T0
from trashing import run

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.catalog import Catalog, rank
from hermes_browse.store.sessions.models import Session, Sort, View

NOW = T0 + 900.0
IDS = [f"s{number}" for number in range(8)]


def read(path, known=None):
    """The catalog of a store read anew, and the state before it."""
    with open_store(Store(path)) as store:
        state = store.state()
        return store.catalog(NOW, known), state


def increment(path, before, touched=()):
    with open_store(Store(path)) as store:
        return store.increment(*before, NOW, touched)


def picture(catalog):
    """Everything a list shows of a catalog."""
    return {
        "conversations": {chain.root_id: chain for chain in catalog.conversations()},
        "roots": {each: catalog.root_of(each) for each in ("nobody", *catalog.sessions)},
        "views": {
            (view, sort, reverse): catalog.order(
                view, sort=sort, reverse=reverse, amounts={"s1": 3, "s2": 5}
            )
            for view in View
            for sort in Sort
            for reverse in (False, True)
        },
        "sources": catalog.order(View.ALL, sources=["cron", "tool"]),
        "below": {
            chain.root_id: [child.root_id for child in catalog.child_conversations(chain)]
            for chain in catalog.conversations()
        },
        "children": {
            parent: sorted(child.id for child in catalog.children_of(parent))
            for parent in ("gone", *catalog.sessions)
        },
    }


FIELDS = {
    "id": IDS,
    "source": ["cli", "cron", "subagent", "tool"],
    "parent_id": [None, "gone", *IDS],
    "started_at": [1.0, 2.0, 3.0, None],
    "ended_at": [None, 2.0],
    "end_reason": [None, "compression", "compression", "branched", "session_reset"],
    "last_active": [1.0, 5.0, None],
    "branched_from": [None, None, *IDS],
    "delegate_from": [None, None, "__orphaned__", *IDS],
    "session_key": [None, "key"],
    "archived": [False, True],
    "hidden": [False, False, True],
    "title": [None, "", "Ferry", "an end"],
    "input_tokens": [0, 5, 2**63 - 1],
    "cost_usd": [None, 0.0, 0.25, -1.0],
}
sessions = st.builds(Session, **{name: st.sampled_from(FIELDS[name]) for name in FIELDS})


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(st.lists(sessions, max_size=8))
def test_every_session_is_in_one_conversation_and_that_in_its_lists(given_rows):
    """Of any links, rings and other damage too; each list goes by activity, then by the id of the
    tip."""
    catalog = Catalog(given_rows, NOW)
    found = list(catalog.conversations())
    whole = [(part.id, each) for each in found for part in each.segments]
    assert sorted(id for id, _each in whole) == sorted(catalog.sessions)
    assert all(catalog.conversation(id) is each for id, each in whole)
    tops = [each for each in found if not each.is_attached_subagent]
    costs = (
        sum(each.cost_usd or 0 for each in some) for some in (found, catalog.sessions.values())
    )
    assert len({sum(each.tree_cost_usd or 0 for each in tops), *costs}) == 1, "each is paid once"
    by_rank = [each.root_id for each in sorted(found, key=rank, reverse=True)]
    assert list(catalog.listed(View.ALL)) == by_rank
    apart = (None, View.CHATS, View.AUTOMATION, View.ARCHIVED)
    for view in apart:
        assert list(catalog.listed(view)) == [
            root for root in by_rank if catalog.conversation(root).view is view
        ]
    for each in found:
        for child in catalog.child_conversations(each):
            assert catalog.parent_conversation(child) is each


def conversations(count):
    """The rows of so many, with a message each."""
    times = {f"c{number}": T0 + number for number in range(count)}
    sessions = [{"id": each, "source": "cli", "started_at": at} for each, at in times.items()]
    return sessions, [{"session_id": each, "timestamp": at} for each, at in times.items()]


@pytest.fixture(params=["14", "22", "31"])
def store(request, tmp_path):
    """Three hundred conversations, the first of which was used longest ago."""
    return make_store(tmp_path / "state.db", str(request.param), *conversations(300))


CHANGES = {
    "a message": "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('c3', 'user', 'x', 1767258700.0)",
    "a session": "INSERT INTO sessions (id, source, started_at) VALUES ('new', 'cli', 1767258700.0)",
    "a subagent": "INSERT INTO sessions (id, source, started_at, parent_session_id) "
    "VALUES ('sub', 'subagent', 1767258700.0, 'c5')",
    "a title": "UPDATE sessions SET title = 'Another' WHERE id = 'c290'",
    "an end": "UPDATE sessions SET ended_at = 1767258700.0, end_reason = 'compression' WHERE id = 'c291'",
    "archived": "UPDATE sessions SET archived = 1 WHERE id = 'c292'",
}


@pytest.mark.parametrize("what", slow_but([*CHANGES][::2], CHANGES))
def test_changes_are_seen(store, what):
    before = read(store)
    run(store, CHANGES[what])
    step, anew = increment(store, before), picture(read(store)[0])
    assert picture(step[0]) == anew == picture(read(store, before[0])[0])
    assert anew != picture(before[0])
    again = increment(store, step)
    assert picture(again[0]) == anew, "nothing has changed since"


def test_what_is_known_to_be_touched_needs_no_reading_of_all(store):
    """Deleted, put back and changed in one go, a child cut loose along with it and tied to it again;
    what is gone and was not known to be touched asks for all."""
    child = "INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('kid', 'cli', 1767225600.0, 'c7')"
    run(store, child)
    before = read(store)
    for sql in (
        "UPDATE sessions SET parent_session_id = NULL WHERE id = 'kid'",
        "DELETE FROM messages WHERE session_id = 'c7'",
        "DELETE FROM sessions WHERE id = 'c7'",
        "UPDATE sessions SET archived = 1 WHERE id = 'c9'",
    ):
        run(store, sql)
    assert increment(store, before) is None
    step = increment(store, before, ["c7", "c9"])
    assert "c7" not in step[0].sessions
    assert picture(step[0]) == picture(read(store)[0])
    run(
        store,
        "INSERT INTO sessions (rowid, id, source, started_at) VALUES (8, 'c7', 'cli', 1767225607.0)",
    )
    run(store, "UPDATE sessions SET parent_session_id = 'c7' WHERE id = 'kid'")
    after = increment(store, step, ["c7"])
    assert picture(after[0]) == picture(read(store)[0])


STEPS = {
    "add": ["INSERT INTO sessions (id, source, started_at) VALUES ('n' || :name, 'cron', :start + 50)"],
    "message": [
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES (:one, 'user', 'x', :start + 60 + :odd)"
    ],
    "child": [
        "INSERT INTO sessions (id, source, started_at, parent_session_id) "
        "VALUES ('k' || :name, CASE WHEN :odd THEN 'subagent' ELSE 'cli' END, :start + 70, :one)"
    ],
    "change": ["UPDATE sessions SET title = 'T ' || :name, archived = 1 - archived WHERE id = :one"],
    "compress": ["UPDATE sessions SET ended_at = :start + 65, end_reason = 'compression' WHERE id = :one"],
    "move": ["UPDATE sessions SET parent_session_id = :other WHERE id = :one"],
    "delete": [
        "INSERT INTO gone SELECT rowid, id, source, started_at FROM sessions WHERE id = :one",
        "UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = :one",
        "DELETE FROM messages WHERE session_id = :one",
        "DELETE FROM sessions WHERE id = :one",
    ],
    "restore": [
        "INSERT OR IGNORE INTO sessions (rowid, id, source, started_at) SELECT * FROM gone",
        "DELETE FROM gone",
    ],
}  # fmt: skip
_STEP = st.tuples(st.sampled_from([*STEPS]), st.integers(0, 11), st.integers(0, 11))


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(st.lists(st.lists(_STEP, min_size=1, max_size=3), max_size=6))
def test_a_catalog_that_is_kept_up_to_date_is_the_one_read_anew(steps):
    """Rows added, changed, deleted and put back while it is open."""
    with TemporaryDirectory() as folder:
        path = make_store(Path(folder) / "state.db", "22", *conversations(6), fts=False)
        run(path, "CREATE TABLE gone (number, id, source, started_at)")
        state = read(path)
        kept = state[0]
        for number, step in enumerate(steps):
            touched = set()
            with closing(sqlite3.connect(path)) as connection, connection:
                for at, (kind, one, other) in enumerate(step):
                    touched |= _act(connection, kind, f"{number}-{at}", (one, other))
            anew = read(path)
            kept = read(path, kept)[0]
            state = increment(path, state, touched) or anew
            assert picture(state[0]) == picture(anew[0]) == picture(kept)


def _act(connection, kind, name, which):
    """Change a store in one way; returns what is known to have been touched."""
    ids = [row[0] for row in connection.execute("SELECT id FROM sessions ORDER BY rowid")] or [""]
    gone = {row[0] for row in connection.execute("SELECT id FROM gone")}
    one, other = (ids[each % len(ids)] for each in which)
    values = {"name": name, "start": T0, "one": one, "other": other, "odd": which[1] % 2}
    for sql in STEPS[kind]:
        connection.execute(sql, values)
    return {"add": set(), "restore": gone}.get(kind, {one})


@pytest.mark.slow
def test_an_increment_reads_no_more_of_a_larger_store(tmp_path):
    counts = []
    for sessions_of in (300, 1500):
        path = tmp_path / f"{sessions_of}.db"
        big_store(path, sessions_of, sessions_of * 3)
        before = read(path)
        run(
            path,
            "INSERT INTO messages (session_id, role, content, timestamp) "
            "SELECT id, 'user', 'x', 1e9 FROM sessions LIMIT 1",
        )
        with open_store(Store(path)) as store, noted_statements() as statements:
            assert store.increment(*before, NOW) is not None
        counts.append(len(statements))
    assert counts[0] == counts[1] <= 8
