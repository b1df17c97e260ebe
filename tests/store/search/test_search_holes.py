"""What an index does not hold, or holds a part of, is read; where that is too much the answer says
so."""

import pytest
from builders import make_store
from effort import slow_but
from search_stores import ask, counted, found, ids
from searching import count, search
from trashing import run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.chat_message import State
from hermes_browse.store.search import candidates
from hermes_browse.store.search.coverage import Damage, index_state, read_coverage

QUERIES = [
    *["docker", "dock*", "d*", "C++", "大别山", "会", "🚀", "don't", "*ock*"],
    "docker deployment",
    "docker OR 桂林",
]


@pytest.mark.parametrize("version", [11, 14, 22, 31])
def test_nothing_is_missing_in_a_store_that_hermes_wrote(version, fixture_store):
    """What an index leaves out by its definition is no hole in it."""
    with Store(fixture_store(f"state-v{version}")).reader() as reader:
        assert not read_coverage(reader).reason
        answer = search(reader, "docker", limit=0)
    assert answer.complete and not any("hold" in note for note in answer.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape", slow_but(["22", "31-migrated"], ["11", "22", "26", "31", "31-migrated"])
)
@pytest.mark.parametrize(
    "lost",
    slow_but(["id BETWEEN 20 AND 60"], ["id % 2", "id BETWEEN 20 AND 60", "id < 40", "id > 70"]),
)
def test_rows_that_are_missing_anywhere_in_the_index_are_scanned(tmp_path, shape, lost):
    texts = [
        "docker deployment, don't",
        "大别山项目 会议",
        "🚀 launch C++",
        "桂林 docker",
        "nothing",
    ]
    rows = [{"session_id": "s", "content": f"{text} {at}"} for at, text in enumerate(texts * 20)]
    whole = make_store(tmp_path / "whole.db", shape, [{"id": "s", "source": "cli"}], rows)
    holed = make_store(tmp_path / "holed.db", shape, [{"id": "s", "source": "cli"}], rows)
    for table in ("messages_fts", "messages_fts_trigram"):
        columns = "content, tool_name"
        if table == "messages_fts" or shape == "26":
            columns += ", tool_calls"
        remove = f"INSERT INTO {table}({table}, rowid, {columns}) SELECT 'delete', id, {columns} FROM messages WHERE {lost}"
        if shape in ("11", "22", "31-migrated"):  # inline
            remove = f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM messages WHERE {lost})"
        run(holed, remove)
    with Store(holed).reader() as reader:
        messages, held, damage = index_state(reader)
        assert damage is Damage.GAPS
        assert messages - held == reader.value(f"SELECT count(*) FROM messages WHERE {lost}")
    for query in QUERIES:
        answer, expected = ask(holed, query), found(whole, query)
        assert ids(answer) == expected and answer.complete and answer.total == len(expected)
        assert found(holed, query, order="oldest") == expected[::-1]
        assert counted(holed, query) == len(expected)
        page = ask(holed, query, limit=3)
        assert ids(page) == expected[:3] and page.total in (None, len(expected))


def test_rows_put_back_where_no_trigger_puts_them_into_the_index(written):
    path = written([f"kubernetes {at}" for at in range(30)])
    opened = Store(path)

    def hits():
        with opened.reader() as reader:
            return len(search(reader, "kubernetes", limit=0).hits)

    assert hits() == 30
    run(path, "CREATE TABLE gone AS SELECT * FROM messages WHERE id BETWEEN 5 AND 9")
    run(
        path,
        "DELETE FROM messages WHERE id BETWEEN 5 AND 9",
        "DELETE FROM messages_fts WHERE rowid BETWEEN 5 AND 9",
    )
    assert hits() == 25
    run(path, "INSERT INTO messages SELECT * FROM gone")
    assert hits() == 30


def _long(path):
    """Twenty long outputs, each before two short messages."""
    rows = [
        {
            "session_id": "s",
            "role": "tool",
            "tool_name": "terminal",
            "content": f"{'x ' * 5000} tailneedle{at % 2} docker",
        }
        if at % 3 == 0
        else {"session_id": "s", "content": f"short docker {at}"}
        for at in range(60)
    ]
    return make_store(path, "31", [{"id": "s", "source": "cli"}], rows)


@pytest.mark.parametrize(
    "query", ["tailneedle1", "tailneedle*", "tailnee*", "docker", '"tailneedle0 docker"', "docke*"]
)
def test_what_stands_behind_the_cut_is_found(tmp_path, query):
    path = _long(tmp_path / "state.db")
    with Store(path).reader() as reader:
        indexed = search(reader, query, limit=0)
        reader.schema = reader.schema._replace(fts=None, trigram=None)
        scanned = search(reader, query, limit=0)
    assert ids(indexed) == ids(scanned) and indexed.complete and indexed.total == len(scanned.hits)
    assert found(path, query, order="oldest") == ids(scanned)[::-1]
    assert sorted(found(path, query, order="relevance")) == sorted(ids(scanned))
    assert counted(path, query) == len(scanned.hits)


def test_too_much_behind_the_cut_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(candidates, "_MOST_TRUNCATED", 5)
    path = _long(tmp_path / "state.db")
    answer = ask(path, "tailneedle1")
    assert not answer.complete and not answer.stopped and answer.total is None
    assert answer.notes == (
        "Hermes' index has only the beginning of 20 messages; 5 of them were read in full.",
    )
    with Store(path).reader() as reader:
        assert count(reader, "tailneedle1").at_least


def test_all_are_ranked_where_all_are_wanted(written, monkeypatch):
    monkeypatch.setattr("hermes_browse.store.search.engine._RELEVANT", 20)
    path = written([f"docker {'docker ' * (at == 3)}row {at}" for at in range(100)])
    whole = ask(path, "docker", order="relevance")
    assert len(whole.hits) == whole.total == 100 and whole.complete and ids(whole)[0] == 4
    assert sorted(ids(whole)) == sorted(found(path, "docker"))
    assert len(ask(path, "docker", order="relevance", limit=50).hits) == 50, (
        "as many are ranked as are asked for"
    )
    few = ask(path, "docker", order="relevance", limit=5)
    assert few.notes == ("Ranked among the newest 20 hits.",)


def test_messages_that_were_taken_back_are_found_and_can_be_left_out(written):
    states = ({}, {"active": 0}, {"active": None}, {"active": 0, "compacted": 1})
    rows = [{"content": "narwhal"} | each for each in states]
    path = written(rows)
    said = {hit.message_id: hit.state for hit in ask(path, "narwhal").hits}
    assert said == {4: State.COMPACTED, 3: State.LIVE, 2: State.REWOUND, 1: State.LIVE}
    assert found(path, "narwhal is:rewound") == [2]
    assert found(path, "narwhal -is:rewound") == [4, 3, 1]


def test_a_part_of_a_word_at_the_cut_is_not_counted(made):
    text = "x" * 8190 + " 17 ferries"
    rows = [{"session_id": "s", "role": "tool", "tool_name": "t", "content": text}]
    path = made("31", [{"id": "s", "source": "cli"}], rows)
    assert [counted(path, word) for word in ("1", "17", "ferries")] == [0, 1, 1]
