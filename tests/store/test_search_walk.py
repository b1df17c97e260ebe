"""The walk: pages, filters inside it, stopping it, and what else is asked of a search."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from effort import slow_but
from search_stores import NOW, ask, change, found, ids, write_store

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import QueryInterruptedError
from hermes_browse.store.search.conditions import Scope, make_conditions
from hermes_browse.store.search.engine import Total, count, search
from hermes_browse.store.search.query import parse
from hermes_browse.store.search.snippets import WIDTH, read_context
from hermes_browse.store.search.suggest import suggest

QUERIES = ["docker", "dock*", "d*", "row -needle", "role:user", "桂 OR docker"]
SESSIONS = [
    {"id": "a", "source": "cli", "title": "Harbour plan", "started_at": NOW, "cwd": "/srv/quay", "model": "m/one"},
    {"id": "b", "source": "telegram", "title": "Ferry", "started_at": NOW + 1, "archived": 1, "model": "m/two"},
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """600 messages in turn of two sessions; every one says docker, each hundredth says needle."""
    rows = [
        {
            "session_id": "ab"[number % 2],
            "role": ("user", "assistant", "tool")[number % 3],
            "content": f"docker row {number}" + (" needle" if number % 100 == 0 else ""),
            "timestamp": NOW + number * 3600,
        }
        for number in range(1, 601)
    ]
    return write_store(tmp_path / "state.db", rows, sessions=SESSIONS)


@pytest.mark.parametrize("query", slow_but(QUERIES[::3], QUERIES))
@pytest.mark.parametrize("sort", ["newest", "oldest"])
def test_pages_join_into_the_whole(store: Path, query: str, sort: str) -> None:
    whole = found(store, query, sort=sort)
    assert len(whole) > 100
    joined: list[int] = []
    last = None
    while True:
        answer = ask(store, query, sort=sort, limit=70, before=last)
        joined += ids(answer)
        last = answer.hits[-1] if answer.hits else None
        if not answer.more:
            break
        assert len(answer.hits) == 70
    assert joined == whole


def test_sessions_are_admitted_inside_the_walk(store: Path) -> None:
    expected = [number for number in range(600, 0, -1) if number % 2 == 0][:50]
    scope = Scope(sessions=lambda session_id: session_id == "a")
    assert found(store, "docker", scope=scope, limit=50) == expected
    with Store(store).reader() as reader:
        assert count(reader, parse("docker"), scope=scope).count == 300
    assert found(store, "docker", scope=Scope(sessions=lambda session_id: False)) == []


def test_roles_add_to_the_filters(store: Path) -> None:
    user = frozenset({"user"})
    assert found(store, "needle", scope=Scope(roles=user)) == [600, 300]
    condition = make_conditions(parse("role:user role:tool")).message
    assert found(store, "needle", scope=Scope(roles=user, message=condition)) == [600, 300]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("needle source:cli", [600, 500, 400, 300, 200, 100]),
        ("needle source:telegram", []),
        ("needle title:harb", [600, 500, 400, 300, 200, 100]),
        ("needle -title:harb", []),
        ("row id:b on:2026-01-02", None),
        ("needle cwd:QUAY", [600, 500, 400, 300, 200, 100]),
        ("needle model:two", []),
        ("needle is:archived", []),
        ("needle role:assistant", [400, 100]),
        ("needle after:2026-01-20", [600, 500]),
    ],
)
def test_filters_are_applied_where_no_scope_is_given(store: Path, query: str, expected: list[int] | None) -> None:
    hits = ask(store, query, now=NOW).hits
    if expected is None:
        assert hits
        assert {hit.session_id for hit in hits} == {"b"}
    else:
        assert [hit.message_id for hit in hits] == expected


def test_totals(store: Path) -> None:
    # Where rows may be hidden, only `count` can tell how many hits there are.
    answer = ask(store, "docker", limit=10)
    assert (answer.total, answer.more) == (None, True)
    change(store, "ALTER TABLE messages DROP COLUMN display_kind")
    answer = ask(store, "docker", limit=10)
    assert (answer.total, answer.at_least, answer.more) == (600, False, True)
    few = ask(store, "needle")
    assert (few.total, few.at_least, few.more) == (6, False, False)
    with Store(store).reader() as reader:
        assert count(reader, parse("docker"), cap=100) == Total(100, True)
        assert count(reader, parse("docker"), cap=0).count == 600
        assert count(reader, parse("")).count == 0


def test_bookkeeping_is_not_counted(tmp_path: Path) -> None:
    rows = [{"content": "docker", "role": "session_meta" if number % 2 else "user"} for number in range(200)]
    path = write_store(tmp_path / "meta.db", rows)
    change(path, "ALTER TABLE messages DROP COLUMN display_kind")
    answer = ask(path, "docker", limit=10)
    assert (answer.total, answer.at_least) == (100, False)


def test_cancelling_stops_between_statements(store: Path) -> None:
    asked = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 3

    answer = ask(store, "桂", cancelled=cancelled)
    assert not answer.complete
    assert len(asked) >= 4
    with Store(store).reader() as reader:
        search(reader, parse("绝"))  # looks once at what there is in the store
        before = reader.statements
        search(reader, parse("绝无"), cancelled=lambda: True)
        assert reader.statements - before <= 4


def test_a_deadline_gives_what_there_is(store: Path) -> None:
    past = ask(store, "桂", deadline=time.monotonic() - 1)
    assert (past.complete, past.more, past.total, past.hits) == (False, True, None, ())
    assert ask(store, "桂", deadline=time.monotonic() + 60).complete


def test_interrupting_from_another_thread_passes_through(store: Path) -> None:
    with Store(store).reader() as reader:
        original = reader.rows

        def slow(sql: str, parameters: object = ()) -> object:
            timer = threading.Timer(0.05, reader.interrupt)
            timer.start()
            try:
                endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
                return original(endless)
            finally:
                timer.cancel()

        reader.rows = slow  # type: ignore[method-assign,assignment]  # a statement that never ends by itself
        with pytest.raises(QueryInterruptedError):
            search(reader, parse("docker"))
        reader.rows = original  # type: ignore[method-assign]  # as it was
        assert reader.schema.fts is not None
        with pytest.raises(QueryInterruptedError):  # an interrupt between two statements is not lost either
            search(reader, parse("needle"))
        reader.begin()
        assert search(reader, parse("needle")).total == 6


def test_a_short_prefix_reads_little_where_it_is_common(store: Path) -> None:
    with Store(store).reader() as reader:
        search(reader, parse("x"), prefix_last=True, limit=20)  # looks once at what there is in the store
        before = reader.statements
        answer = search(reader, parse("d"), prefix_last=True, limit=20)
        assert len(answer.hits) == 20
        assert reader.statements - before <= 6


def test_context(store: Path) -> None:
    change(
        store,
        "UPDATE messages SET active = 0 WHERE id = 298",
        "UPDATE messages SET display_kind = 'hidden' WHERE id = 302",
        "UPDATE messages SET content = printf('%.300c', 'x') WHERE id = 304",
    )
    with Store(store).reader() as reader:
        hit = next(hit for hit in search(reader, parse("needle")).hits if hit.message_id == 300)
        around = read_context(reader, hit, 2)
    assert [message_id for message_id, _, _ in around] == [294, 296, 300, 304, 306]
    assert around[2] == (300, "user", "docker row 300 needle")
    assert len(around[3][2]) == 200


def test_suggestions_are_measured(store: Path) -> None:
    def suggestions(text: str) -> dict[str, tuple[str, int]]:
        with Store(store).reader() as reader:
            return {each.text: (each.query, each.hits) for each in suggest(reader, parse(text))}

    assert suggestions("need") == {"as a prefix: need*": ("need*", 6)}
    assert suggestions("needle source:telegram") == {"without source:telegram": ("needle", 6)}
    assert suggestions("needle absent")["any of the words"] == ("needle OR absent", 6)
    assert suggestions("need-le") == {}
    assert suggestions("row/300")["without the punctuation"] == ("row 300", 1)
    assert suggestions("absent") == {}


def test_a_snippet_is_one_short_line_round_the_match(tmp_path: Path) -> None:
    text = "word " * 100 + "\n\n  the   needle\there " + "tail " * 100
    path = write_store(tmp_path / "long.db", [text, "needles before " + "x " * 100 + "needle"])
    second, first = ask(path, "needle").hits
    assert "the needle here" in first.snippet
    assert first.snippet[0] == first.snippet[-1] == "…"
    assert len(first.snippet) <= WIDTH + 2
    assert [first.snippet[start:end] for start, end in first.match] == ["needle"]
    assert [second.snippet[start:end] for start, end in second.match] == ["needle"]


def test_a_cut_word_is_not_lit(tmp_path: Path) -> None:
    text = "x" * 39 + "needle needle " + "y" * 108 + "needles needle"
    path = write_store(tmp_path / "cut.db", [text])
    (hit,) = ask(path, "needle").hits
    assert [hit.snippet[start:end] for start, end in hit.match] == ["needle"]
    assert hit.snippet[: hit.match[0][0]].endswith("needle ")


def test_a_snippet_never_parts_a_joined_character(tmp_path: Path) -> None:
    family = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
    for pad in range(8):
        path = write_store(tmp_path / f"{pad}.db", ["a" * pad + family * 60 + " needle " + family * 60])
        (hit,) = ask(path, "needle").hits
        body = hit.snippet.strip("…")
        assert not body.startswith("\u200d")
        assert not body.endswith("\u200d")


def test_a_tool_call_is_shown_where_nothing_was_said(tmp_path: Path) -> None:
    calls = '[{"function": {"name": "terminal", "arguments": "{\\"command\\": \\"docker ps\\"}"}}]'
    path = write_store(tmp_path / "call.db", [{"content": None, "role": "assistant", "tool_calls": calls}])
    (hit,) = ask(path, "docker").hits
    assert "docker ps" in hit.snippet
    assert hit.match
