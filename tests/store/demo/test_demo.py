"""The sample store: true to Hermes 0.22 in shape, the same at every build, and complete; the home
it stands in."""

import json
import re
import sqlite3
import stat
import time

import pytest
from builders import DAY, demo_store
from builders import SAMPLED as NOW
from paths import DATA
from trashing import dump, is_sound, rows

from hermes_browse.store.cleanup.retention import retention_rules_at
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.demo import TRIGRAM, VERSION, WORDS, build_home, write_store
from hermes_browse.store.hermes.homes import DEFAULT_PROFILE, Location
from hermes_browse.store.sessions.catalog import read_catalog

HOUR = 3600.0
REAL = DATA / "state-v31-hermes-0.22.2.db"
"""A store that Hermes 0.22 wrote."""


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The sample store in its home."""
    home = tmp_path_factory.mktemp("home")
    return Location(build_home(home, now=NOW), home, DEFAULT_PROFILE, demo=True)


def _layout(path):
    """What stands in the schema, by name: columns of tables, statements of everything else."""
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    found = {}
    for name, sql in connection.execute("SELECT name, sql FROM sqlite_master").fetchall():
        plain = " ".join(re.sub(r"--[^\n]*", "", sql or "").split())
        if plain.startswith("CREATE TABLE"):
            found[name] = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        else:
            found[name] = re.sub(r"\s*([(),;=])\s*", r"\1", plain)
    connection.close()
    return found


def test_it_is_laid_out_as_a_fresh_store_of_hermes(store, sample):
    assert _layout(sample) == _layout(REAL)
    assert store.execute("SELECT version FROM schema_version").fetchall() == [(VERSION,)]


@pytest.mark.parametrize("path", [None, REAL])
def test_the_file_is_stamped_with_its_generation(path, sample):
    connection = sqlite3.connect(f"file:{path or sample}?immutable=1", uri=True)
    query = "SELECT value FROM state_meta WHERE key = 'db_file_generation'"
    (generation,) = connection.execute(query).fetchone()
    stamp = connection.execute("PRAGMA application_id").fetchone()
    connection.close()
    assert stamp == (int(generation[:8], 16) & 0x7FFFFFFF,)


def test_the_file_is_whole_private_and_in_wal_mode(sample, tmp_path):
    assert [path.name for path in sample.parent.iterdir()] == ["state.db"]
    assert stat.S_IMODE(sample.stat().st_mode) == 0o600
    copy = tmp_path / "copy.db"
    copy.write_bytes(sample.read_bytes())
    assert is_sound(copy)
    assert rows(copy, "PRAGMA journal_mode") == [("wal",)]
    # The one session whose parent is gone is there on purpose.
    assert [row[0] for row in rows(copy, "PRAGMA foreign_key_check")] == ["sessions"]


def test_without_the_trigram_tokenizer_its_table_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 33, 0))
    demo_store(tmp_path / "state.db", now=NOW)
    names = _layout(tmp_path / "state.db").keys()
    assert WORDS in names
    assert not any(name.startswith(TRIGRAM) for name in names)


def test_an_existing_file_is_refused_and_kept(tmp_path):
    path = tmp_path / "state.db"
    path.write_bytes(b"precious")
    with pytest.raises(FileExistsError):
        demo_store(path, now=NOW)
    assert path.read_bytes() == b"precious"


def test_a_failed_build_leaves_nothing(tmp_path):
    with pytest.raises(sqlite3.OperationalError):
        write_store(tmp_path / "state.db", {"sessions": [{"no_such_column": 1}]})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("hour", [0.2, 6.6, 12.0, 23.9])
def test_nothing_lies_in_the_future_at_any_hour(hour, tmp_path):
    now = NOW - NOW % DAY + hour * HOUR
    path = tmp_path / "state.db"
    demo_store(path, now=now)
    ((newest,),) = rows(path, "SELECT max(timestamp) FROM messages")
    ((latest,),) = rows(path, "SELECT max(max(started_at, COALESCE(ended_at, 0))) FROM sessions")
    assert now - 300 < newest < now
    assert latest < now


def test_the_same_moment_gives_the_same_rows_in_any_time_zone(sample, tmp_path, monkeypatch):
    for zone in ("UTC", "Asia/Tokyo"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        demo_store(tmp_path / f"{zone[:3]}.db", now=NOW)
    monkeypatch.undo()
    time.tzset()
    assert dump(tmp_path / "UTC.db") == dump(tmp_path / "Asi.db")


def test_another_moment_moves_everything_with_it(store, tmp_path):
    """The day of the run stands in the id of a session, and nowhere in what is said."""
    later = tmp_path / "later.db"
    demo_store(later, now=NOW + 40 * DAY)
    query = "SELECT content, round(timestamp - {}, 3) FROM messages ORDER BY id"
    assert rows(later, query.format(NOW + 40 * DAY)) == store.execute(query.format(NOW)).fetchall()


def test_every_profile_is_a_sample_with_conversations_of_its_own(here):
    profiles = here.profiles()
    assert [each.profile for each in profiles] == [DEFAULT_PROFILE, "harbour"]
    assert all(each.demo for each in profiles), (
        "what belongs to one must never reach the user's own trash"
    )
    assert [each.name for each in profiles] == ["demo", "demo · harbour"]
    for each, title in zip(profiles, ("Fix auth bug #3", "Berths for the regatta"), strict=True):
        assert rows(each.path, f"SELECT 1 FROM sessions WHERE title = '{title}'")


def test_hermes_would_delete_something_at_once_and_more_later(here):
    with Store(here.path).reader() as reader:
        catalog = read_catalog(reader, NOW)
        rules = retention_rules_at(reader, here, NOW)
    days = [left for _, left, _why in rules.deletions(catalog)]
    assert days[0] < 1 and sum(each < 100 for each in days) >= 5


def test_jobs_are_named_where_hermes_names_them(here, store):
    jobs = json.loads((here.path.parent / "cron" / "jobs.json").read_text())["jobs"]
    named = {each["id"]: each["name"] for each in jobs}
    runs = store.execute("SELECT id, title FROM sessions WHERE source = 'cron'").fetchall()
    assert {run.split("_")[1] for run, _ in runs} == named.keys()
    assert all(title.startswith(f"{named[run.split('_')[1]]} · ") for run, title in runs)


def test_all_of_it_is_small(here):
    assert sum(each.stat().st_size for each in here.path.parent.rglob("*.db")) < 3_000_000
