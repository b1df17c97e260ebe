"""Newest and oldest go by time, also where ids do not: imported, merged and restored stores, clocks set back."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest
from builders import make_store
from effort import slow_but
from hypothesis import given, settings
from hypothesis import strategies as st
from search_stores import NOW, ask, change, copy_fixture, found, ids, write_store

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader, Row
from hermes_browse.store.search import times
from hermes_browse.store.search.engine import search
from hermes_browse.store.search.filter_values import recent_tools
from hermes_browse.store.search.query import parse
from hermes_browse.store.search.times import time_order
from hermes_browse.tui.cli import main

QUERIES = ["docker", "d*", "docker ro*", "role:user", "桂 OR docker", "row -needle", "::", "桂林"]


def _by_time(path: Path, keys: list[int], *, oldest: bool = False) -> list[int]:
    with Store(path).reader() as reader:
        times = {int(str(key)): stamp for key, stamp in reader.rows("SELECT id, timestamp FROM messages")}
    return sorted(keys, key=lambda key: (times[key] is not None, times[key], key), reverse=not oldest)


_ORDERS = ("shuffled", "imported", "one late", "backwards")


@pytest.fixture(scope="module", params=slow_but(("shuffled", "one late"), _ORDERS))
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,500 messages whose ids do not follow their times."""
    places = list(range(1500))
    if request.param == "shuffled":
        random.Random(5).shuffle(places)
    elif request.param == "imported":  # one session after another, each of them in order
        places = [place for session in (3, 0, 4, 1, 2) for place in range(session, 1500, 5)]
    elif request.param == "one late":  # a clock was set back for a moment
        places.insert(700, places.pop())
    else:
        places.reverse()
    rows = [
        {
            "session_id": "abcde"[place % 5],
            "role": ("user", "assistant", "tool")[place % 3],
            "content": f"docker row {place} :: ow"
            + (" needle" if place % 100 == 0 else "")
            + " 桂林" * (place % 9 == 0),
            "timestamp": NOW + place * 60,
        }
        for place in places
    ]
    sessions = [{"id": name, "source": "cli", "started_at": NOW} for name in "abcde"]
    return make_store(tmp_path_factory.mktemp("order") / "state.db", "22", sessions, rows)


@pytest.mark.parametrize("query", slow_but(QUERIES[::5], QUERIES))
@pytest.mark.parametrize("sort", ["newest", "oldest"])
def test_pages_go_by_time_and_join_into_the_whole(store: Path, query: str, sort: str) -> None:
    whole = found(store, query, sort=sort)
    assert len(whole) > 100
    assert whole == _by_time(store, whole, oldest=sort == "oldest")
    joined: list[int] = []
    last = None
    while True:
        answer = ask(store, query, sort=sort, limit=170, before=last)
        joined += ids(answer)
        if not answer.more:
            break
        last = answer.hits[-1]
    assert joined == whole


@pytest.mark.parametrize("query", QUERIES)
def test_without_an_index_the_same_order(store: Path, query: str) -> None:
    with Store(store).reader() as reader:
        with_index = [hit.message_id for hit in search(reader, parse(query), limit=100).hits]
        reader.schema = reader.schema.without_search()
        assert [hit.message_id for hit in search(reader, parse(query), limit=100).hits] == with_index


def test_the_newest_page_does_not_read_the_store(store: Path) -> None:
    with Store(store).reader() as reader:
        search(reader, parse("docker"), limit=20)
        before = reader.statements
        assert len(search(reader, parse("docker"), limit=20).hits) == 20
        assert reader.statements - before < 250, "a stretch of time, and at most so many ranges of ids in it"


def test_what_comes_later_is_put_in_its_place(tmp_path: Path) -> None:
    path = write_store(tmp_path / "state.db", ["docker one", "docker two", "docker three"])
    opened = Store(path)

    def newest() -> list[int]:
        with opened.reader() as reader:
            return [hit.message_id for hit in search(reader, parse("docker")).hits]

    def add(key: int, stamp: float) -> None:
        change(
            path,
            f"INSERT INTO messages (id, session_id, role, content, timestamp) VALUES ({key}, 's', 'user', 'docker', "
            f"{stamp})",
            f"INSERT INTO messages_fts (rowid, content) VALUES ({key}, 'docker')",
        )

    assert newest() == [3, 2, 1]
    add(10, NOW + 10)
    assert newest() == [10, 3, 2, 1]
    with opened.reader() as reader:
        assert time_order(reader, (1, 10)).follows_ids, "ids follow time up to here"
    add(11, NOW - 5)
    assert newest() == [10, 3, 2, 1, 11]
    add(12, NOW + 1.5)
    assert newest() == [10, 3, 2, 12, 1, 11]
    add(7, NOW + 20)  # an old id, as a restore gives
    assert newest() == [7, 10, 3, 2, 12, 1, 11]
    change(path, "DELETE FROM messages WHERE id = 10")
    assert newest() == [7, 3, 2, 12, 1, 11]


def test_an_old_id_for_a_new_row_is_noticed_where_ids_follow_time(tmp_path: Path) -> None:
    path = write_store(
        tmp_path / "state.db", [{"id": key, "content": "docker", "timestamp": NOW + key} for key in (1, 9)]
    )
    opened = Store(path)
    with opened.reader() as reader:
        assert [hit.message_id for hit in search(reader, parse("docker")).hits] == [9, 1]
    change(
        path,
        "INSERT INTO messages (id, session_id, role, content, timestamp) "
        f"VALUES (5, 's', 'user', 'docker', {NOW + 50})",
        "INSERT INTO messages_fts (rowid, content) VALUES (5, 'docker')",
    )
    with opened.reader() as reader:
        assert [hit.message_id for hit in search(reader, parse("docker")).hits] == [5, 9, 1]


def test_stores_in_order_are_read_once(tmp_path: Path) -> None:
    path = write_store(tmp_path / "state.db", [f"docker {number}" for number in range(50)])
    opened = Store(path)
    with opened.reader() as reader:
        search(reader, parse("docker"), limit=5)
    with opened.reader() as reader:
        before = reader.statements
        search(reader, parse("docker"), limit=5)
        again = reader.statements - before
    with opened.reader() as reader:
        assert again < 30
        assert not any("m.timestamp FROM messages m WHERE m.session_id" in sql for sql in _asked(reader))


def _asked(reader: object) -> list[str]:
    asked: list[str] = []
    original = reader.rows  # type: ignore[attr-defined]  # listens

    def rows(sql: str, parameters: object = ()) -> object:
        asked.append(sql)
        return original(sql, parameters)

    reader.rows = rows  # type: ignore[attr-defined]
    search(reader, parse("docker"), limit=5)  # type: ignore[arg-type]
    return asked


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve messages, to be given times."""
    rows = [{"id": 3 * number + 1, "content": "docker"} for number in range(12)]
    return write_store(tmp_path_factory.mktemp("times") / "state.db", rows)


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(0, 6)), min_size=12, max_size=12), st.booleans())
def test_any_times_in_any_order(small: Path, stamps: list[int | None], oldest: bool) -> None:
    times = " ".join(
        f"WHEN {3 * at + 1} THEN {'NULL' if stamp is None else NOW + stamp}" for at, stamp in enumerate(stamps)
    )
    change(small, f"UPDATE messages SET timestamp = CASE id {times} END")
    sort = "oldest" if oldest else "newest"
    whole = found(small, "docker", sort=sort)
    assert whole == _by_time(small, [3 * at + 1 for at in range(12)], oldest=oldest)
    first = ask(small, "docker", sort=sort, limit=5)
    assert ids(first) + found(small, "docker", sort=sort, before=first.hits[-1]) == whole


def test_ids_far_apart_keep_the_order_of_time(tmp_path: Path) -> None:
    rows = [{"id": key, "content": "docker", "timestamp": NOW + at} for key, at in ((5, 3), (2**50, 1), (2**50 + 7, 2))]
    path = write_store(tmp_path / "far.db", rows)
    assert found(path, "docker") == [5, 2**50 + 7, 2**50]


@pytest.mark.skipif(find_spec("hermes_state") is None, reason="Hermes is not installed here")
def test_a_store_imported_by_hermes_goes_by_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hermes 0.19 writes our export of a whole store into a new one: each conversation under new ids."""
    old = copy_fixture(22, tmp_path)
    with Store(old).reader() as reader:
        names = [str(row[0]) for row in reader.rows("SELECT id FROM sessions ORDER BY id DESC")]
    lines = tmp_path / "all.jsonl"
    assert main(["--db", str(old), "export", *names, "--format", "jsonl", "--no-redact", "--output", str(lines)]) == 0
    capsys.readouterr()
    sessions = [json.loads(line) for line in lines.read_text().splitlines()]
    (tmp_path / "sessions.json").write_text(json.dumps(sessions))
    new = tmp_path / "new.db"
    program = (
        "import json, sys; from pathlib import Path; from hermes_state import SessionDB; "
        "db = SessionDB(Path(sys.argv[1])); db.import_sessions(json.loads(Path(sys.argv[2]).read_text())); db.close()"
    )
    subprocess.run(
        [sys.executable, "-c", program, str(new), str(tmp_path / "sessions.json")],
        check=True, capture_output=True, timeout=120, env={"HOME": str(tmp_path), "HERMES_HOME": str(tmp_path)},
    )  # fmt: skip
    for query in ("docker", "the", "role:user", "会"):
        for sort in ("newest", "oldest"):
            whole = found(new, query, sort=sort)
            assert whole == _by_time(new, whole, oldest=sort == "oldest")
            assert ids(ask(new, query, sort=sort, limit=3)) == whole[:3]
    assert found(new, "role:user") != sorted(found(new, "role:user"), reverse=True), "or the store proves nothing"


@pytest.mark.parametrize("other", [101, -7, 10**9])
def test_rows_that_come_while_the_times_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: int) -> None:
    """A writer is not waited for: what it adds after the ids were looked at belongs to the next reading."""
    rows = [{"id": key, "session_id": "a", "content": "docker", "timestamp": NOW + key} for key in range(1, 101)]
    path = make_store(tmp_path / "state.db", "22", [{"id": "a", "source": "cli", "started_at": NOW}], rows)
    original = times._portions

    def portions(reader: Reader, count: int) -> Iterator[Sequence[Row]]:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(
                "INSERT INTO messages (id, session_id, role, content, timestamp) VALUES (?, 'a', 'user', 'docker', ?)",
                [other, NOW + other],
            )
        yield from original(reader, count)

    with Store(path).reader() as reader:
        with monkeypatch.context() as patch:
            patch.setattr(times, "_portions", portions)
            assert times.time_order(reader, (1, 100)).newest == 100
        found = [hit.message_id for hit in search(reader, parse("docker"), limit=0).hits]
    assert found == sorted([*range(1, 101), other], reverse=True)


def test_rows_that_go_while_the_times_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": 5, "session_id": "a", "content": "docker", "timestamp": NOW}]
    path = make_store(tmp_path / "state.db", "22", [{"id": "a", "source": "cli", "started_at": NOW}], rows)
    monkeypatch.setattr(times, "_portions", lambda reader, count: iter(()))
    with Store(path).reader() as reader:
        assert times.time_order(reader, (5, 5)).follows_ids


def test_recent_tools_are_those_of_the_newest_by_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was imported last is not what was used last."""
    monkeypatch.setattr("hermes_browse.store.search.filter_values._RECENT", 20)
    used = [
        {"session_id": "a", "role": "tool", "content": "x", "tool_name": "terminal", "timestamp": NOW + at}
        for at in range(30)
    ]
    imported = [row | {"tool_name": "fossil", "timestamp": NOW - 1e7 + at} for at, row in enumerate(used)]
    for name, rows, tool in (("in order", imported + used, "terminal"), ("imported", used + imported, "terminal")):
        path = make_store(tmp_path / f"{name}.db", "22", [{"id": "a", "started_at": NOW - 2e7}], rows)
        with Store(path).reader() as reader:
            assert recent_tools(reader, 5) == (tool,), name
