"""The builders build what they promise: every shape, sound indexes, the hostile and the large
store."""

import shutil
import sqlite3
from pathlib import Path

import builders
import pytest
import shapes
from paths import DATA


def _open(path):
    return sqlite3.connect(path)


def _columns(connection, table):
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})").fetchall()]


SESSIONS = [
    {"id": "a", "title": "Harbour", "cwd": "/src"},
    {"id": "b", "pinned": 1, "model_config": {"x": 1}},
]
MESSAGES = [
    {"session_id": "a", "content": "the lantern"},
    {"session_id": "a", "role": "tool", "content": "rope", "tool_name": "terminal"},
    {"session_id": "b", "content": [{"type": "text", "text": "灯台の光"}]},
]


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("name", shapes.NAMES)
def test_every_shape_is_sound_and_indexed(name, journal, tmp_path):
    path = builders.make_store(tmp_path / "state.db", name, SESSIONS, MESSAGES, journal)
    assert [file.name for file in tmp_path.iterdir()] == ["state.db"]
    connection = _open(path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == (journal,)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("SELECT version FROM schema_version").fetchall() == [
        (shapes.shape(name).version,)
    ]
    # What the triggers do later must agree with what the bulk fill did: integrity-check compares
    # with the content.
    connection.execute(
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'a buoy', 5)"
    )
    connection.execute("UPDATE messages SET content = 'a beacon' WHERE content = 'a buoy'")
    connection.execute("DELETE FROM messages WHERE id = 1")
    for index in shapes.shape(name).fill:
        connection.execute(f"INSERT INTO {index}({index}, rank) VALUES ('integrity-check', 1)")
        query = f"SELECT rowid FROM {index} WHERE {index} MATCH ?"
        assert connection.execute(query, ["beacon"]).fetchall() == [(4,)]
        assert connection.execute(query, ["lantern"]).fetchall() == []
        assert connection.execute(query, ["buoy"]).fetchall() == []
    connection.close()


@pytest.mark.parametrize("name", ["11", "14", "31"])
def test_a_shape_from_a_real_store_has_its_very_columns(name, tmp_path):
    fixture = next(DATA.glob(f"state-v{name}-*.db"))
    real = _open(Path(shutil.copy(fixture, tmp_path / "real.db")))
    ours = _open(builders.make_store(tmp_path / "state.db", name))
    query = "SELECT type, name FROM sqlite_master ORDER BY 1, 2"
    assert ours.execute(query).fetchall() == real.execute(query).fetchall()
    for table in ("sessions", "messages", "session_model_usage", "async_delegations", "state_meta"):
        statement = f"PRAGMA table_info({table})"
        assert ours.execute(statement).fetchall() == real.execute(statement).fetchall()
    real.close()
    ours.close()


def test_a_migrated_store_has_the_new_columns_last_and_inline_search(tmp_path):
    connection = _open(builders.make_store(tmp_path / "state.db", "31-migrated"))
    columns = _columns(connection, "sessions")
    sql = connection.execute(
        "SELECT sql FROM sqlite_master WHERE name = 'messages_fts'"
    ).fetchone()[0]
    meta = connection.execute("SELECT key, value FROM state_meta").fetchall()
    connection.close()
    assert columns[-1] == "tool_names"
    assert columns.index("archived") < columns.index("created_source")
    assert "content=" not in sql
    assert meta == [("fts_optimize_available", "1")]


def test_the_hostile_store_is_hostile(tmp_path):
    connection = _open(builders.hostile_store(tmp_path / "state.db"))
    connection.text_factory = bytes
    assert connection.execute("SELECT count(*) FROM schema_version").fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM sessions WHERE id IS NULL").fetchone() == (1,)
    assert connection.execute(
        "SELECT count(*) FROM sessions WHERE model_config LIKE '{%' AND NOT json_valid(model_config)"
    ).fetchone() == (2,)
    kinds = {
        row[0]
        for row in connection.execute("SELECT DISTINCT typeof(started_at) FROM sessions").fetchall()
    }
    assert kinds == {b"real", b"text", b"blob"}
    contents = {
        row[0]
        for row in connection.execute("SELECT DISTINCT typeof(content) FROM messages").fetchall()
    }
    assert {b"blob", b"text", b"null"} <= contents
    invalid = connection.execute(
        "SELECT content FROM messages WHERE instr(hex(content), 'FFFE20')"
    ).fetchall()
    with pytest.raises(UnicodeDecodeError):
        invalid[0][0].decode()
    ids = {
        row[0]
        for row in connection.execute("SELECT id FROM sessions WHERE id IS NOT NULL").fetchall()
    }
    assert {b"", b"-rf", b"--help", b"../../etc/passwd"} <= ids
    ring = connection.execute(
        "SELECT parent_session_id FROM sessions WHERE id LIKE 'ring-%' ORDER BY id"
    ).fetchall()
    assert ring == [(b"ring-c",), (b"ring-a",), (b"ring-b",)]
    dangling = "SELECT count(*) FROM messages WHERE session_id NOT IN (SELECT id FROM sessions WHERE id IS NOT NULL)"
    assert connection.execute(dangling).fetchone() == (1,)
    triggers = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'"
    ).fetchone()
    assert triggers == (5,)
    connection.close()
