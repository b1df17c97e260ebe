"""Newest and oldest go by time, also where ids do not: imported, merged and restored stores, clocks
set back."""

import random
import subprocess
import sys
from importlib.util import find_spec

import pytest
from builders import make_store
from effort import slow_but
from hypothesis import given, settings
from hypothesis import strategies as st
from search_stores import NOW, ask, found, ids, pages, write_store
from searching import search
from trashing import rows, run

from hermes_browse.store.connection.connect import Store
from hermes_browse.tui.cli import main

QUERIES = ["docker", "d*", "docker ro*", "role:user", "桂 OR docker", "row -needle", "::", "桂林"]


def _by_time(path, keys, *, oldest=False):
    times = dict(rows(path, "SELECT id, timestamp FROM messages"))
    return sorted(
        keys, key=lambda key: (times[key] is not None, times[key], key), reverse=not oldest
    )


PLACES = range(1500)
ORDERS = {
    "shuffled": random.Random(5).sample(PLACES, 1500),
    # One session after another, each of them in order.
    "imported": [place for session in (3, 0, 4, 1, 2) for place in PLACES[session::5]],
    "one late": [*PLACES[:700], 1499, *PLACES[700:1499]],  # a clock was set back for a moment
    "backwards": PLACES[::-1],
}


@pytest.fixture(scope="module", params=slow_but(("one late",), ORDERS))
def store(request, tmp_path_factory):
    """1,500 messages whose ids do not follow their times."""
    messages = [
        {
            "session_id": "abcde"[place % 5],
            "role": ("user", "assistant", "tool")[place % 3],
            "content": f"docker row {place} :: ow{' needle' * (place % 100 == 0)}{' 桂林' * (place % 9 == 0)}",
            "timestamp": NOW + place * 60,
        }
        for place in ORDERS[request.param]
    ]
    sessions = [{"id": name, "source": "cli", "started_at": NOW} for name in "abcde"]
    return make_store(tmp_path_factory.mktemp("order") / "state.db", "22", sessions, messages)


@pytest.mark.slow
@pytest.mark.parametrize("query", slow_but(QUERIES[::5], QUERIES))
@pytest.mark.parametrize("order", ["newest", "oldest"])
def test_pages_go_by_time_and_join_into_the_whole(store, query, order):
    whole = found(store, query, order=order)
    assert len(whole) > 100
    assert whole == _by_time(store, whole, oldest=order == "oldest")
    assert pages(store, query, order=order, limit=170) == whole


def test_what_comes_later_is_put_in_its_place(written):
    path = written(["docker one", "docker two", "docker three"])
    opened = Store(path)

    def newest():
        with opened.reader() as reader:
            return ids(search(reader, "docker"))

    assert newest() == [3, 2, 1]
    for key, seconds, order in (
        (10, 10, [10, 3, 2, 1]),
        (11, -5, [10, 3, 2, 1, 11]),
        (12, 1.5, [10, 3, 2, 12, 1, 11]),
        (7, 20, [7, 10, 3, 2, 12, 1, 11]),  # an old id, as a restore gives
    ):
        run(
            path,
            "INSERT INTO messages (id, session_id, role, content, timestamp) "
            f"VALUES ({key}, 's', 'user', 'docker', {NOW + seconds})",
            f"INSERT INTO messages_fts (rowid, content) VALUES ({key}, 'docker')",
        )
        assert newest() == order
    run(path, "DELETE FROM messages WHERE id = 10")
    assert newest() == [7, 3, 2, 12, 1, 11]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Twelve messages, to be given times."""
    messages = [{"id": 3 * number + 1, "content": "docker"} for number in range(12)]
    return write_store(tmp_path_factory.mktemp("times") / "state.db", messages)


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(0, 6)), min_size=12, max_size=12), st.booleans())
def test_any_times_in_any_order(small, stamps, oldest):
    times = " ".join(
        f"WHEN {3 * at + 1} THEN {'NULL' if stamp is None else NOW + stamp}"
        for at, stamp in enumerate(stamps)
    )
    run(small, f"UPDATE messages SET timestamp = CASE id {times} END")
    order = "oldest" if oldest else "newest"
    whole = found(small, "docker", order=order)
    assert whole == _by_time(small, [3 * at + 1 for at in range(12)], oldest=oldest)
    first = ask(small, "docker", order=order, limit=5)
    assert ids(first) + found(small, "docker", order=order, before=first.hits[-1]) == whole


@pytest.mark.slow
@pytest.mark.skipif(find_spec("hermes_state") is None, reason="Hermes is not installed here")
def test_a_store_imported_by_hermes_goes_by_time(fixture_store, tmp_path, capsys):
    """Hermes 0.19 writes our export of a whole store into a new one: each conversation under new
    ids."""
    old = fixture_store("state-v22")
    names = [name for (name,) in rows(old, "SELECT id FROM sessions ORDER BY id DESC")]
    lines = tmp_path / "all.jsonl"
    options = f"--format jsonl --no-redact --output {lines}".split()
    assert main(["--db", str(old), "export", *names, *options]) == 0
    capsys.readouterr()
    new = tmp_path / "new.db"
    program = (
        "import json, sys; from pathlib import Path; from hermes_state import SessionDB; "
        "db = SessionDB(Path(sys.argv[1])); lines = Path(sys.argv[2]).read_text().splitlines(); "
        "db.import_sessions([json.loads(line) for line in lines]); db.close()"
    )
    home = {"HOME": str(tmp_path), "HERMES_HOME": str(tmp_path)}
    python = [sys.executable, "-c", program, str(new), str(lines)]
    subprocess.run(python, check=True, capture_output=True, timeout=120, env=home)
    for query in ("docker", "the", "role:user", "会"):
        for order in ("newest", "oldest"):
            whole = found(new, query, order=order)
            assert whole == _by_time(new, whole, oldest=order == "oldest")
            assert ids(ask(new, query, order=order, limit=3)) == whole[:3]
    assert found(new, "role:user") != sorted(found(new, "role:user"), reverse=True), (
        "or the store proves nothing"
    )
