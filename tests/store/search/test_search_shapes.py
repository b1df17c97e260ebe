"""Search over stores whose index is missing, old, broken, stale or behind; and odd rows in them."""

import pytest
from search_stores import ask, found, ids
from searching import search
from statements import noted_statements
from trashing import run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import StoreBusyError, StoreDamagedError


@pytest.fixture
def whole(fixture_store):
    return fixture_store("state-v22")


NOT_BELIEVED = {
    "no search index": ["DROP TABLE messages_fts", "DROP TABLE messages_fts_trigram"],
    "stale": [
        "INSERT INTO state_meta (key, value) VALUES ('fts_stale', '1')",
        "DELETE FROM messages_fts",
    ],
    "lacks 80 messages": ["DELETE FROM messages_fts WHERE rowid BETWEEN 11 AND 90"],
}


@pytest.mark.parametrize("said", NOT_BELIEVED)
def test_an_index_that_is_not_believed_is_said(written, said):
    path = written([f"docker 大别山 {at}" for at in range(100)])
    run(path, *NOT_BELIEVED[said])
    for query in ("docker", "dock*", "大别山"):
        answer = ask(path, query)
        assert ids(answer) == list(range(100, 0, -1)) and answer.complete
        assert answer.engine == ("mixed" if "lacks" in said else "scan")
        assert any(said in note for note in answer.notes)


@pytest.mark.parametrize("kind", [StoreBusyError, StoreDamagedError])
def test_what_is_wrong_with_the_store_is_not_laid_to_its_index(whole, monkeypatch, kind):
    """It is busy, or damaged beyond the index."""
    with Store(whole).reader() as reader:

        def failing(*_):
            raise kind("no")

        monkeypatch.setattr(reader, "rows", failing)
        with pytest.raises(kind):
            search(reader, "docker")
        assert reader.schema.fts is not None


def test_a_contentless_index(written):
    path = written(["docker up", "docker, don't"], fts=False, trigram=False)
    run(
        path,
        "CREATE VIRTUAL TABLE messages_fts USING fts5(content, content='')",
        "INSERT INTO messages_fts(rowid, content) SELECT id, content FROM messages",
    )
    assert found(path, "docker") == [2, 1]
    assert found(path, "don't") == [2]


def test_ids_with_holes_of_any_width(written):
    far = 2**50
    rows = [
        {"id": number, "content": text}
        for number, text in ((3, "old 桂林"), (far, "new"), (far + 9, "桂林"))
    ]
    path = written(rows, fts=False, trigram=False)
    assert found(path, "桂林") == [far + 9, 3]
    assert found(path, "桂林", order="oldest") == [3, far + 9]
    with Store(path).reader() as reader, noted_statements() as statements:
        search(reader, "absent")
    assert len(statements) < 40


def test_no_statement_reads_the_whole_table_for_its_ends(whole):
    """`SELECT min(id), max(id)` is a scan in SQLite; two subqueries are two seeks."""
    with Store(whole).reader() as reader:
        with noted_statements() as asked:
            search(reader, "d", prefix_last=True)
        (sql,) = {sql for sql in asked if "min(id) FROM messages" in sql}
        plan = " ".join(str(row[3]) for row in reader.rows(f"EXPLAIN QUERY PLAN {sql}"))
    assert plan.count("SEARCH messages") == 2 and "SCAN messages" not in plan


def test_an_empty_store(written):
    path = written([])
    for query in ("docker", "d*", "桂林", "role:user", "大别山"):
        answer = ask(path, query, prefix_last=True)
        assert (answer.hits, answer.complete, answer.total) == ((), True, 0)


def test_text_of_any_storage_class(written):
    path = written(["plain docker", b"blob \xff docker", "", "nul\x00 and 桂林", "桂林"])
    run(
        path,
        "INSERT INTO messages (id, session_id, role, content) VALUES (9, 's', 'user', CAST(x'ff20c3a9' AS TEXT))",
        "INSERT INTO messages (id, session_id, role, content) VALUES (10, 's', NULL, 12345)",
        "INSERT INTO messages_fts (rowid, content) SELECT id, content FROM messages WHERE id > 8",
    )
    # The substring index stops at a NUL.
    expected = {"docker": [2, 1], "12345": [10], "桂": [5], "é": [9]}
    assert {text: found(path, text) for text in expected} == expected
