"""Bytes: counted exactly where they are said to be, and where in the file they are."""

import random
import sqlite3
from collections import Counter

import pytest
from builders import big_store, hostile_store, make_store
from pruning import aged, family, opened
from trashing import rows

from hermes_browse.store.cleanup import sizes as module
from hermes_browse.store.cleanup.sizes import (
    REASONING,
    added,
    measure,
    read_space_map,
)
from hermes_browse.store.connection.stored_values import as_int
from hermes_browse.store.insights.sums import read_report


def raw_bytes(path):
    """Bytes of all counted columns by session, summed up in Python from blobs."""
    have = {row[1] for row in rows(path, "PRAGMA table_info(messages)")}
    names = [name for name in ("content", "tool_calls", "api_content", *REASONING) if name in have]
    columns = ", ".join(f"CAST({name} AS BLOB)" for name in names)
    counted = rows(path, f"SELECT session_id, {columns} FROM messages")
    counted += rows(path, "SELECT id, CAST(system_prompt AS BLOB) FROM sessions")
    found = Counter()
    for session_id, *values in counted:
        found[session_id] += sum(map(len, filter(None, values)))
    return found


def all_of(path):
    """The sizes of all sessions of a store."""
    with opened(path) as (reader, catalog):
        return measure(reader, catalog.sessions.values())


@pytest.mark.parametrize("name", ["state-v11", "state-v14", "state-v22", "state-v31", "hostile"])
def test_content_is_counted_to_the_byte(fixture_store, tmp_path, name):
    """Text of any storage class, with NULs in it, multimodal; also blobs and numbers."""
    is_hostile = name == "hostile"
    path = hostile_store(tmp_path / "state.db") if is_hostile else fixture_store(name)
    wanted = raw_bytes(path)
    found = all_of(path)
    assert {id: sizes.content for id, sizes in found.items()} == {id: wanted[id] for id in found}
    assert is_hostile or sum(sizes.content for sizes in found.values()) > 10_000


def test_some_and_all_are_measured_alike(tmp_path, monkeypatch):
    """Many sessions in a statement, one, or one in many statements: the same numbers, and those of
    the rows."""
    path = big_store(tmp_path / "state.db", 200, 3000)
    with opened(path) as (reader, catalog):
        sessions = list(catalog.sessions.values())
        whole = measure(reader, sessions)
        few = measure(reader, sessions[::7])
        assert {key: whole[key] for key in few} == few and len(few) == len(sessions[::7])
        for size in (1, 3, 50):
            monkeypatch.setattr(module, "_SLICE", size)
            assert measure(reader, sessions) == whole
        total = read_report(reader, "source", "all", 0.0).total
        prompts = reader.value("SELECT sum(length(CAST(system_prompt AS BLOB))) FROM sessions")
    assert added(whole.values()).rows == 3000 == total.messages
    assert added(whole.values()).content - as_int(prompts) == total.bytes


@pytest.mark.parametrize("shape, copies", [("6", 0), ("22", 2), ("31", 0), ("31-migrated", 2)])
def test_the_index_is_estimated_by_its_shape(tmp_path, shape, copies):
    """Inline indexes keep copies; a fresh one of 0.22 leaves out tool output past 8192, its
    trigrams cron runs too."""
    messages = [
        {"session_id": "chat", "content": "x" * 100_000},
        {"session_id": "tools", "role": "tool", "content": "x" * 100_000},
        {"session_id": "cron", "content": "x" * 100_000},
    ]
    sessions = [aged("chat", 5), aged("tools", 5), aged("cron", 5, source="cron")]
    path = make_store(tmp_path / "state.db", shape, sessions, messages)
    found = all_of(path)
    sizes = {key: each.total - each.content for key, each in found.items()}
    if copies:
        assert sizes["chat"] == sizes["tools"] == sizes["cron"] > copies * 100_000
    elif shape == "31":
        assert sizes["tools"] < 10_000 < sizes["cron"] < sizes["chat"] < 300_000
    else:
        assert sizes["chat"] == sizes["cron"] < 100_000  # words only


def test_a_store_without_an_index(tmp_path):
    """Nothing is kept twice there."""
    path = make_store(
        tmp_path / "state.db",
        "22",
        [aged("a", 5)],
        [{"session_id": "a", "content": "x"}],
        fts=False,
    )
    found = all_of(path)["a"]
    assert found.total == found.content


def test_the_map_adds_up(tmp_path):
    """Every conversation with the bytes of all of its segments, biggest first."""
    with opened(family(tmp_path / "state.db")) as (reader, catalog):
        found = read_space_map(reader, catalog)
        measured = measure(reader, catalog.sessions.values())
        chains = list(catalog.conversations())
    assert found.total == added(measured.values()).total
    assert dict(found.conversations) == {
        chain.tip.id: added(measured[each.id] for each in chain.segments).total for chain in chains
    }
    sizes = [each[1] for each in found.conversations]
    assert sizes == sorted(sizes, reverse=True)
    assert found.total < found.file.file_bytes


def _free_and_size(connection):
    page, free, pages = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_size", "freelist_count", "page_count")
    )
    return page * free, page * pages


@pytest.mark.parametrize("shape", ["22", "31"])
def test_what_a_delete_frees_is_estimated_within_a_quarter(tmp_path, shape):
    """At once, while the search index only marks deleted terms; and after merging it and a VACUUM.

    The older half of a store of a megabyte, with copies in its indexes and without; stores of
    115 MB and 1.2 GB were measured by hand.
    """
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlucmfwypvbgk", k=1 + n % 9)) for n in range(3000)]
    shares = [1 / rank for rank in range(1, 3001)]
    sessions = [aged(f"s{number:02}", 50 - number) for number in range(30)]
    messages = [
        {
            "session_id": f"s{number // 10:02}",
            "content": " ".join(chance.choices(words, shares, k=chance.randint(20, 250))),
        }
        for number in range(300)
    ]
    path = make_store(tmp_path / "state.db", shape, sessions, messages)
    going = [f"s{number:02}" for number in range(15)]
    with opened(path) as (reader, catalog):
        found = added(measure(reader, map(catalog.sessions.__getitem__, going)).values())
    connection = sqlite3.connect(path, isolation_level=None)
    free_before, size_before = _free_and_size(connection)
    for each in going:
        connection.execute("DELETE FROM messages WHERE session_id = ?", [each])
        connection.execute("DELETE FROM sessions WHERE id = ?", [each])
    free, size = _free_and_size(connection)
    at_once = free - free_before - (size - size_before)
    for name in ("messages_fts", "messages_fts_trigram"):
        connection.execute(f"INSERT INTO {name}({name}) VALUES ('optimize')")
    connection.execute("VACUUM")
    given_back = size_before - free_before - _free_and_size(connection)[1]
    connection.close()
    assert found.given_back_bytes == pytest.approx(given_back, rel=0.25)
    assert found.free_bytes == pytest.approx(at_once, rel=0.25, abs=8192)  # two pages
