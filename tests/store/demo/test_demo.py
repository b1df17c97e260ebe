"""The sample store: true to Hermes 0.22 in shape, the same at every build, and complete; the home
it stands in."""

import itertools
import json
import os
import re
import shutil
import sqlite3
import stat
import time
from pathlib import Path

import pytest
from builders import SAMPLED as NOW
from builders import demo_store
from paths import DATA

from hermes_browse.store.cleanup.retention import retention_rules_at
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.demo import build_home, store_writer
from hermes_browse.store.hermes.homes import DEFAULT_PROFILE, Location
from hermes_browse.store.sessions.catalog import read_catalog

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The sample store in its home."""
    home = tmp_path_factory.mktemp("home")
    return Location(build_home(home, now=NOW), home, DEFAULT_PROFILE, demo=True)


def _objects(path):
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    found = connection.execute("SELECT type, name FROM sqlite_master").fetchall()
    connection.close()
    return set(found)


def _statements(path):
    """CREATE statements of indexes, triggers and search tables by name, as one line without what
    does not matter."""
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    ).fetchall()
    connection.close()
    wanted = {name: sql for name, sql in rows if not sql.upper().startswith("CREATE TABLE")}
    return {
        name: re.sub(r"\s*([(),;=])\s*", r"\1", " ".join(re.sub(r"--[^\n]*", "", sql).split()))
        for name, sql in wanted.items()
    }


def _columns(path):
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    tables = [
        row[0]
        for row in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
    ]
    found = {
        table: connection.execute(f'PRAGMA table_info("{table}")').fetchall() for table in tables
    }
    connection.close()
    return found


def _rows(path):
    connection = sqlite3.connect(path)
    tables = [*store_writer.TABLES, "sqlite_sequence", store_writer.WORDS, store_writer.TRIGRAM]
    found = {
        table: connection.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
        for table in tables
    }
    connection.close()
    return found


class TestShape:
    """What Hermes 0.22 makes is what we make: `tests/data` has a store it wrote."""

    def test_tables_indexes_and_triggers_are_those_of_a_fresh_store(self, sample):
        real = DATA / "state-v31-hermes-0.22.2.db"
        assert _objects(sample) == _objects(real)
        assert _columns(sample) == _columns(real)
        assert _statements(sample) == _statements(real)
        connection = sqlite3.connect(f"file:{real}?immutable=1", uri=True)
        assert connection.execute("SELECT version FROM schema_version").fetchall() == [
            (store_writer.VERSION,)
        ]
        connection.close()

    @pytest.mark.parametrize("path", [None, DATA / "state-v31-hermes-0.22.2.db"])
    def test_the_file_is_stamped_with_its_generation(self, path, sample):
        connection = sqlite3.connect(f"file:{path or sample}?immutable=1", uri=True)
        stamp = connection.execute("PRAGMA application_id").fetchone()[0]
        generation = connection.execute(
            "SELECT value FROM state_meta WHERE key = 'db_file_generation'"
        ).fetchone()[0]
        connection.close()
        assert stamp == int(generation[:8], 16) & 0x7FFFFFFF

    def test_the_file_is_whole_private_and_in_wal_mode(self, sample):
        assert [path.name for path in sample.parent.iterdir()] == ["state.db"]
        assert (
            sample.read_bytes()[18:20] == b"\x02\x02"
        )  # write and read version 2: WAL (sqlite.org/fileformat.html)
        if os.name == "posix":
            assert stat.S_IMODE(sample.stat().st_mode) == 0o600

    def test_without_the_trigram_tokenizer_its_table_is_left_out(self, tmp_path, monkeypatch):
        monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 33, 0))
        path = tmp_path / "state.db"
        demo_store(path, now=NOW)
        names = {name for _, name in _objects(path)}
        assert store_writer.WORDS in names
        assert not any(name.startswith(store_writer.TRIGRAM) for name in names)

    def test_an_existing_file_is_refused_and_kept(self, tmp_path):
        path = tmp_path / "state.db"
        path.write_bytes(b"precious")
        with pytest.raises(FileExistsError):
            demo_store(path, now=NOW)
        assert path.read_bytes() == b"precious"

    def test_a_failed_build_leaves_nothing(self, tmp_path):
        path = tmp_path / "state.db"
        with pytest.raises(sqlite3.OperationalError):
            store_writer.write_store(path, {"sessions": [{"no_such_column": 1}]})
        assert list(tmp_path.iterdir()) == []


class TestSoundness:
    """The file is sound, and so are its search indexes."""

    def test_sqlite_finds_nothing_wrong(self, sample, tmp_path):
        connection = sqlite3.connect(shutil.copy(sample, tmp_path / "copy.db"))
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        # The one session whose parent is gone is there on purpose.
        assert [row[0] for row in connection.execute("PRAGMA foreign_key_check").fetchall()] == [
            "sessions"
        ]
        for name in (store_writer.WORDS, store_writer.TRIGRAM):
            # With rank 1 the index is compared with the rows it is made from.
            connection.execute(f"INSERT INTO {name}({name}, rank) VALUES ('integrity-check', 1)")
        connection.close()

    def test_triggers_keep_the_indexes_in_step(self, sample, tmp_path):
        connection = sqlite3.connect(shutil.copy(sample, tmp_path / "copy.db"))
        found = connection.execute(
            "SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'compare_digest'"
        ).fetchall()
        assert found
        connection.executemany("DELETE FROM messages WHERE id = ?", found)
        connection.execute("UPDATE messages SET content = 'a bittern' WHERE id = 1")
        for name in (store_writer.WORDS, store_writer.TRIGRAM):
            query = f"SELECT rowid FROM {name} WHERE {name} MATCH ?"
            assert connection.execute(query, ['"compare_digest"']).fetchall() == []
            assert connection.execute(query, ["bittern"]).fetchall() == [(1,)]
        connection.close()

    def test_counters_are_those_hermes_would_keep(self, store):
        # Compacted rows leave the counter, rewound rows stay in it (0.19 `archive_and_compact`,
        # `rewind_to_message`).
        wrong = store.execute(
            "SELECT s.id FROM sessions s WHERE s.message_count <> "
            "(SELECT count(*) FROM messages m WHERE m.session_id = s.id AND m.compacted = 0)"
        ).fetchall()
        assert wrong == []

    def test_ids_follow_time_but_for_one_clock_set_back(self, store):
        # Rows that a compaction keeps are written anew with the times and the place they had.
        query = "SELECT timestamp FROM messages WHERE display_order = id ORDER BY id"
        stamps = [row[0] for row in store.execute(query).fetchall()]
        back = [(old, new) for old, new in itertools.pairwise(stamps) if new < old]
        assert len(back) == 1
        assert back[0][0] - back[0][1] > 30 * MINUTE

    @pytest.mark.parametrize("hour", [0.2, 6.6, 12.0, 23.9])
    def test_nothing_lies_in_the_future_at_any_hour(self, hour, tmp_path):
        now = NOW - NOW % DAY + hour * HOUR
        path = tmp_path / "state.db"
        demo_store(path, now=now)
        connection = sqlite3.connect(path)
        newest = connection.execute("SELECT max(timestamp) FROM messages").fetchone()[0]
        latest = connection.execute(
            "SELECT max(max(started_at, COALESCE(ended_at, 0))) FROM sessions"
        ).fetchone()[0]
        connection.close()
        assert now - 5 * MINUTE < newest < now
        assert latest < now

    def test_written_scenes_left_no_marks_behind(self, store):
        # A word that is no mark, by a slip of the pen, would be text of the row before.
        texts = [
            row[0]
            for row in store.execute(
                "SELECT content FROM messages WHERE content IS NOT NULL"
            ).fetchall()
        ]
        marks = re.compile(r"^\+?[a-z_]+!?(\([^)]*\))?> ", re.MULTILINE)
        assert [text for text in texts if marks.search(text)] == []


class TestRepeatability:
    """The same moment gives the same rows."""

    def test_the_same_moment_gives_the_same_rows_in_any_time_zone(
        self, sample, tmp_path, monkeypatch
    ):
        if hasattr(time, "tzset"):
            monkeypatch.setenv("TZ", "Asia/Tokyo")
            time.tzset()
        again = tmp_path / "again.db"
        try:
            demo_store(again, now=NOW)
        finally:
            monkeypatch.undo()
            if hasattr(time, "tzset"):
                time.tzset()
        first = tmp_path / "first.db"
        shutil.copy(sample, first)
        assert _rows(again) == _rows(first)

    def test_another_moment_moves_everything_with_it(self, store, tmp_path):
        later = tmp_path / "later.db"
        demo_store(later, now=NOW + 40 * DAY)
        connection = sqlite3.connect(later)
        query = "SELECT content, round(timestamp - ?, 3) FROM messages ORDER BY id"
        # The day of the run stands in the id of a session, and nowhere in what is said.
        assert (
            connection.execute(query, [NOW + 40 * DAY]).fetchall()
            == store.execute(query, [NOW]).fetchall()
        )
        connection.close()


class TestHome:
    """What stands around the store in `--demo`."""

    def test_the_store_is_that_of_build(self, here, sample, tmp_path):
        assert _rows(Path(shutil.copy(here.path, tmp_path / "a.db"))) == _rows(
            Path(shutil.copy(sample, tmp_path / "b.db"))
        )

    def test_every_profile_is_a_sample_with_conversations_of_its_own(self, here):
        profiles = here.profiles()
        assert [each.profile for each in profiles] == [DEFAULT_PROFILE, "harbour"]
        assert all(each.demo for each in profiles), (
            "what belongs to one must never reach the user's own trash"
        )
        assert [each.name for each in profiles] == ["demo", "demo · harbour"]
        titles = set()
        for each in profiles:
            with Store(each.path).reader() as reader:
                catalog = read_catalog(reader, NOW)
            titles |= {session.title for session in catalog.sessions.values()}
        assert {"Fix auth bug #3", "Berths for the regatta"} <= titles

    def test_hermes_would_delete_something_at_once_and_more_later(self, here):
        with Store(here.path).reader() as reader:
            catalog = read_catalog(reader, NOW)
            rules = retention_rules_at(reader, here, NOW)
        days = [
            forecast.prune_in_days
            for _, forecast in rules.deletions(catalog)
            if forecast.prune_in_days is not None
        ]
        assert days[0] < 1 and sum(each < 100 for each in days) >= 5
        old = [each for each in catalog.chains() if (each.last_active or NOW) < NOW - 541 * DAY]
        assert {(each.pinned, each.tip.ended_at is None) for each in old} == {
            (True, False),
            (False, True),
        }

    def test_jobs_are_named_where_hermes_names_them(self, here, store):
        jobs = json.loads((here.path.parent / "cron" / "jobs.json").read_text())["jobs"]
        named = {each["id"]: each["name"] for each in jobs}
        runs = store.execute("SELECT id, title FROM sessions WHERE source = 'cron'").fetchall()
        assert {named[run.split("_")[1]] for run, _ in runs} == set(named.values())
        assert all(title.startswith(f"{named[run.split('_')[1]]} · ") for run, title in runs)

    def test_all_of_it_is_small(self, here):
        assert sum(each.stat().st_size for each in here.path.parent.rglob("*.db")) < 3_000_000
