"""The sample store: true to Hermes 0.19 in shape, readable by the real one, the same at every build, and complete."""

from __future__ import annotations

import importlib
import itertools
import os
import re
import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from hermes_browse.store.demo import build, schema, writer

NOW = 1_795_025_200.0
"""2026-11-18 17:26 UTC."""

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample store; read it only."""
    path = tmp_path_factory.mktemp("sample") / "state.db"
    build(path, now=NOW)
    return path


@pytest.fixture
def store(sample: Path) -> Iterator[sqlite3.Connection]:
    """A connection to the sample store that leaves no files beside it."""
    connection = sqlite3.connect(f"file:{sample}?immutable=1", uri=True)
    yield connection
    connection.close()


@pytest.fixture
def hermes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The real `hermes_state` of 0.19, at home in a temporary folder."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    return importlib.import_module("hermes_state")


def _objects(path: Path) -> set[tuple[str, str]]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT type, name FROM sqlite_master").fetchall()
    connection.close()
    return set(found)


def _statements(path: Path) -> dict[str, str]:
    """CREATE statements of indexes, triggers and search tables by name, as one line without what does not matter."""
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    connection.close()
    wanted = {name: sql for name, sql in rows if not sql.upper().startswith("CREATE TABLE")}
    return {
        name: re.sub(r"\s*([(),;=])\s*", r"\1", " ".join(sql.replace("IF NOT EXISTS ", "").split()))
        for name, sql in wanted.items()
    }


def _columns(path: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(path)
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()]
    found = {table: connection.execute(f'PRAGMA table_info("{table}")').fetchall() for table in tables}
    connection.close()
    return found


def _rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(path)
    tables = [*schema.TABLES, "sqlite_sequence", schema.WORDS, schema.TRIGRAM]
    found = {table: connection.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall() for table in tables}
    connection.close()
    return found


class TestShape:
    """What Hermes 0.19 makes is what we make."""

    def test_tables_indexes_and_triggers_are_those_of_a_fresh_store(
        self, sample: Path, hermes: ModuleType, tmp_path: Path
    ) -> None:
        real, ours = tmp_path / "real.db", tmp_path / "ours.db"
        hermes.SessionDB(db_path=real).close()
        shutil.copy(sample, ours)
        assert _objects(ours) == _objects(real)
        assert _columns(ours) == _columns(real)
        assert _statements(ours) == _statements(real)
        assert schema.VERSION == hermes.SCHEMA_VERSION

    def test_the_file_is_whole_private_and_in_wal_mode(self, sample: Path) -> None:
        assert [path.name for path in sample.parent.iterdir()] == ["state.db"]
        assert sample.read_bytes()[18:20] == b"\x02\x02"  # write and read version 2: WAL (sqlite.org/fileformat.html)
        if os.name == "posix":
            assert stat.S_IMODE(sample.stat().st_mode) == 0o600

    def test_without_the_trigram_tokenizer_its_table_is_left_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 33, 0))
        path = tmp_path / "state.db"
        build(path, now=NOW)
        names = {name for _, name in _objects(path)}
        assert schema.WORDS in names
        assert not any(name.startswith(schema.TRIGRAM) for name in names)

    def test_an_existing_file_is_refused_and_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "state.db"
        path.write_bytes(b"precious")
        with pytest.raises(FileExistsError):
            build(path, now=NOW)
        assert path.read_bytes() == b"precious"

    def test_a_failed_build_leaves_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "state.db"
        with pytest.raises(sqlite3.OperationalError):
            writer.write_store(path, {"sessions": [{"no_such_column": 1}]})
        assert list(tmp_path.iterdir()) == []


class TestSoundness:
    """The file is sound, and so are its search indexes."""

    def test_sqlite_finds_nothing_wrong(self, sample: Path, tmp_path: Path) -> None:
        connection = sqlite3.connect(shutil.copy(sample, tmp_path / "copy.db"))
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        # The one session whose parent is gone is there on purpose.
        assert [row[0] for row in connection.execute("PRAGMA foreign_key_check").fetchall()] == ["sessions"]
        for name in (schema.WORDS, schema.TRIGRAM):
            connection.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")
            indexed = connection.execute(f"SELECT rowid, content FROM {name} ORDER BY rowid").fetchall()
            text = schema.indexed_text("messages")
            assert indexed == connection.execute(f"SELECT id, {text} FROM messages ORDER BY id").fetchall()
        connection.close()

    def test_triggers_keep_the_indexes_in_step(self, sample: Path, tmp_path: Path) -> None:
        connection = sqlite3.connect(shutil.copy(sample, tmp_path / "copy.db"))
        found = connection.execute(
            "SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'compare_digest'"
        ).fetchall()
        assert found
        connection.executemany("DELETE FROM messages WHERE id = ?", found)
        connection.execute("UPDATE messages SET content = 'a bittern' WHERE id = 1")
        for name in (schema.WORDS, schema.TRIGRAM):
            query = f"SELECT rowid FROM {name} WHERE {name} MATCH ?"
            assert connection.execute(query, ['"compare_digest"']).fetchall() == []
            assert connection.execute(query, ["bittern"]).fetchall() == [(1,)]
        connection.close()

    def test_counters_are_those_hermes_would_keep(self, store: sqlite3.Connection) -> None:
        # Compacted rows leave the counter, rewound rows stay in it (0.19 `archive_and_compact`, `rewind_to_message`).
        wrong = store.execute(
            "SELECT s.id FROM sessions s WHERE s.message_count <> "
            "(SELECT count(*) FROM messages m WHERE m.session_id = s.id AND m.compacted = 0)"
        ).fetchall()
        assert wrong == []

    def test_ids_follow_time_but_for_one_clock_set_back(self, store: sqlite3.Connection) -> None:
        stamps = [row[0] for row in store.execute("SELECT timestamp FROM messages ORDER BY id").fetchall()]
        back = [(old, new) for old, new in itertools.pairwise(stamps) if new < old]
        assert len(back) == 1
        assert back[0][0] - back[0][1] > 30 * MINUTE

    @pytest.mark.parametrize("hour", [0.2, 6.6, 12.0, 23.9])
    def test_nothing_lies_in_the_future_at_any_hour(self, hour: float, tmp_path: Path) -> None:
        now = NOW - NOW % DAY + hour * HOUR
        path = tmp_path / "state.db"
        build(path, now=now)
        connection = sqlite3.connect(path)
        newest = connection.execute("SELECT max(timestamp) FROM messages").fetchone()[0]
        latest = connection.execute("SELECT max(max(started_at, COALESCE(ended_at, 0))) FROM sessions").fetchone()[0]
        connection.close()
        assert now - 5 * MINUTE < newest < now
        assert latest < now

    def test_written_scenes_left_no_marks_behind(self, store: sqlite3.Connection) -> None:
        # A word that is no mark, by a slip of the pen, would be text of the row before.
        texts = [row[0] for row in store.execute("SELECT content FROM messages WHERE content IS NOT NULL").fetchall()]
        marks = re.compile(r"^\+?[a-z_]+!?(\([^)]*\))?> ", re.MULTILINE)
        assert [text for text in texts if marks.search(text)] == []


class TestRepeatability:
    """The same moment gives the same rows."""

    def test_the_same_moment_gives_the_same_rows_in_any_time_zone(
        self, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if hasattr(time, "tzset"):
            monkeypatch.setenv("TZ", "Asia/Tokyo")
            time.tzset()
        again = tmp_path / "again.db"
        try:
            build(again, now=NOW)
        finally:
            monkeypatch.undo()
            if hasattr(time, "tzset"):
                time.tzset()
        first = tmp_path / "first.db"
        shutil.copy(sample, first)
        assert _rows(again) == _rows(first)

    def test_another_moment_moves_everything_with_it(self, store: sqlite3.Connection, tmp_path: Path) -> None:
        later = tmp_path / "later.db"
        build(later, now=NOW + 40 * DAY)
        connection = sqlite3.connect(later)
        query = "SELECT content, round(timestamp - ?, 3) FROM messages ORDER BY id"
        # The day of the run stands in the id of a session, and nowhere in what is said.
        assert connection.execute(query, [NOW + 40 * DAY]).fetchall() == store.execute(query, [NOW]).fetchall()
        connection.close()


class TestRealHermes:
    """The real 0.19 takes the sample for its own."""

    def test_it_lists_searches_and_changes_nothing(self, sample: Path, hermes: ModuleType, tmp_path: Path) -> None:
        path = tmp_path / "state.db"
        shutil.copy(sample, path)
        objects, rows = _objects(path), _rows(path)
        db = hermes.SessionDB(db_path=path)
        listed = db.list_sessions_rich(limit=500, order_by_last_active=True)
        titles = [session["title"] for session in listed]
        assert titles[0] == "Fix auth bug #3"
        assert {"Trip to Lisbon #2", "Pricing: freight instead", "日本語の案内板"} <= set(titles)
        assert all(session["source"] != "subagent" for session in listed)
        for query in ("compare_digest", "ヴロンゴ", "欠航", "sourdough", "مشمش"):
            assert db.search_messages(query), query
        tip = listed[0]["id"]
        assert db.get_compression_tip(listed[0]["_lineage_root_id"]) == tip
        assert db.get_messages(tip)[-1]["content"].startswith("Set for 06:10")
        for session in listed:
            db.get_messages_as_conversation(session["id"], include_ancestors=True)
            db.resolve_resume_session_id(session["id"])
        db.close()
        assert _objects(path) == objects
        assert _rows(path) == rows
