"""On every shape of the search index, whole, missing or broken: whatever is typed gives the rows a
plain scan gives."""

import re
import sqlite3
import unicodedata
from contextlib import closing

import pytest
from builders import make_store, tool_call
from effort import examples, slow_but
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from search_stores import NOW, Texts, contains, ids, rows
from searching import count, search
from shapes import NAMES

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.search.query import parse

_LONG = 9000
"""Characters past which Hermes 0.22 leaves tool output out of its index, and more."""
_SESSIONS = [
    {"id": "chat", "source": "cli"},
    {"id": "job", "source": "cron"},
    {
        "id": "sub",
        "source": "subagent",
        "parent_session_id": "chat",
        "model_config": '{"_delegate_from": "chat"}',
    },
]
_SAID = [
    {"content": "the docker deploy failed, don't retry"},
    {"content": "Docker compose up; docker-compose down"},
    {"content": "C++ and c# and .env in src/main.py:12"},
    {"content": "naïve café CAFÉ cafe\u0301s một ngày đẹp"},
    {"content": "大别山项目 会议记录 🚀 launch"},
    {"content": "桂林山水 … 50% of a/b"},
    {"content": "a 🦊 b, 5 ₽ kopek"},
    {"content": "dock the boat, snake_case_name x=y 1 12 123\tStraße ΣΊΣΥΦΟΣ Йод 한국어 “curly”"},
    {"content": ""},
    {
        "content": None,
        "role": "assistant",
        "tool_calls": [tool_call("docker_run", '{"path": "src/main.py"}')],
    },
    {"content": "日本語の検索 ok", "role": "tool", "tool_name": "docker", "tool_call_id": "c1"},
    {
        "content": "x" * _LONG + " docker 大别山 past the cut",
        "role": "tool",
        "tool_name": "terminal",
    },
    {
        "content": [
            {"type": "text", "text": "see dock, 大别山 in the picture"},
            {"type": "image_url", "image_url": {}},
        ]
    },
]
_ROWS = [
    {"session_id": session, "timestamp": NOW + number} | row
    for session in ("chat", "job", "sub", "chat")
    for number, row in enumerate(_SAID)
]
_PIECES = ["docker", "the", "don't", "c++", "src/main.py", "café", "cafe", "a", "大别山", "别", "桂林", "日本語", "🚀",
           "một", "50%", ".env", "terminal", "nothing", "…", "b", "kopek", "*cafe*", "*afés*", "*ope*", "dock", "deploy",
           "x=y", "snake_case_name", "123", "strasse", "σίσυφος", "йод", "curly"]  # fmt: skip


def _run(path, *statements):
    """Run statements on a store, but those on tables that it lacks."""
    with closing(sqlite3.connect(path)) as connection, connection:
        listed = connection.execute("SELECT name FROM sqlite_master").fetchall()
        tables = {name for (name,) in listed}
        for statement in statements:
            words = re.findall(r"\bmessages_fts\w*", statement.partition(" WHERE ")[0])
            if tables.issuperset(words):
                connection.execute(statement)


_WORDS, _TRIGRAM = (
    [f"DROP TRIGGER {table}_{what}" for what in ("insert", "delete", "update")]
    for table in ("messages_fts", "messages_fts_trigram")
)
_STATES = {
    "whole": [],
    "no words": ["DROP TABLE messages_fts"],
    "no trigrams": [*_TRIGRAM, "DROP TABLE messages_fts_trigram"],
    "parts missing": ["DROP TABLE messages_fts_data", "DROP TABLE messages_fts_trigram_data"],
    "pages missing": [
        "DELETE FROM messages_fts_data WHERE id > 10",
        "DELETE FROM messages_fts_trigram_data WHERE id > 10",
    ],
    "more segments than there is memory for": [
        f"UPDATE {table}_data SET block = x'000000000101000087ffffff7f' WHERE id = 10"
        for table in ("messages_fts", "messages_fts_trigram")
    ],
    "a tokenizer not known here": [
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, ')', ', tokenize=no_such)') "
        "WHERE name LIKE 'messages\\_fts%' ESCAPE '\\' AND sql LIKE 'CREATE VIRTUAL%'",
    ],
    "sizes missing": ["DROP TABLE messages_fts_docsize"],
    "marked stale": [
        "CREATE TABLE IF NOT EXISTS state_meta (key TEXT PRIMARY KEY, value TEXT)",
        "INSERT OR REPLACE INTO state_meta (key, value) VALUES ('fts_stale', '1')",
    ],
    "behind": [
        *_TRIGRAM,
        *_WORDS,
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('chat', 'user', 'docker 大别山 late', 1)",
    ],
    "no index": [],
}
"""What is done to a store that has its index; "no index" never had one."""
_CASES = [(shape, state) for shape in NAMES for state in _STATES]
_SLOW = settings(
    max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(
    scope="module", params=slow_but(_CASES[::6], _CASES), ids=lambda case: f"{case[0]} {case[1]}"
)
def store(request, tmp_path_factory):
    shape, state = request.param
    path = make_store(
        tmp_path_factory.mktemp("shape") / "state.db",
        shape,
        _SESSIONS,
        _ROWS,
        fts=state != "no index",
    )
    _run(path, *_STATES[state])
    return path


@pytest.fixture(scope="module")
def reader(store):
    with Store(store).reader() as opened:
        yield opened


@pytest.fixture(scope="module")
def texts(store):
    """What there is to search, read without the code under test."""
    return Texts({key: unicodedata.normalize("NFC", text) for key, text in rows(store).items()})


@pytest.mark.slow
@_SLOW
@given(
    st.lists(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=2), min_size=1, max_size=2),
    st.lists(st.sampled_from(_PIECES), max_size=1),
)
@example([["docker"]], [])
@example([["大别山"]], [])
@example([["别"]], ["🚀"])
@example([["b"]], [])
@example([["kopek"]], ["b"])
@example([["*cafe*"], ["*afés*"]], [])
def test_hits_are_what_a_plain_scan_finds(reader, texts, groups, excluded):
    typed = " OR ".join(" ".join(group) for group in groups) + "".join(
        f" -{piece}" for piece in excluded
    )
    expected = {
        key
        for key, text in texts.items()
        if any(all(contains(text, piece) for piece in group) for group in groups)
        and not any(contains(text, piece) for piece in excluded)
    }
    answer = search(reader, typed, limit=0)
    found = ids(answer)
    # The sessions of this store were put into it one after another, as an import does: ids do not
    # follow time.
    places = dict(reader.rows("SELECT id, timestamp FROM messages"))
    assert answer.complete and found == sorted(
        set(found), key=lambda key: (places[key], key), reverse=True
    )
    wrong = (set(found) - expected, expected - set(found))
    assert wrong == (set(), set()), (typed, answer.engine, answer.notes)
    assert count(reader, typed, cap=0).count == len(found)
    oldest = search(reader, typed, limit=0, order="oldest")
    assert ids(oldest) == found[::-1]
    best = search(reader, typed, limit=0, order="relevance")
    assert set(ids(best)) == expected


@_SLOW
@given(
    st.text(max_size=40)
    | st.lists(
        st.sampled_from([*_PIECES, *'"()-*:', "OR", "NOT", "AND", "in:reasoning", "role:tool"])
    ).map(" ".join)
)
@example("\ud800")
@example('"\x00" OR -"')
@example("on:" + "9" * 400 + "d")
@example("NEAR(a b, 2) ^x {y}: +z")
def test_anything_typed_is_a_search(reader, typed):
    """It never raises, and each hit shows where it matched."""
    query = parse(typed)
    for problem in query.problems:
        assert 0 <= problem.start <= problem.end <= len(query.text)
    for prefix_last in (False, True):
        answer = search(reader, query, limit=0, prefix_last=prefix_last)
        assert answer.complete
        for hit in answer.hits:
            assert all(0 <= start < end <= len(hit.snippet) for start, end in hit.match)
            assert hit.match or not query.groups
