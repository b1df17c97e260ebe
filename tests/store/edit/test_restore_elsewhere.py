"""A bundle put back into another store: of an older or newer schema, or of another installation."""

import shutil

import pytest
from effort import slow_but
from searching import search
from trashing import (
    FAMILY,
    deleted,
    differences,
    dump,
    family,
    is_sound,
    matches,
    put_back,
    remove,
    rows,
    run,
)

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.search.query import parse

_UPDATES = ["6 31", "11 22", "14 31", "22 31", "22 31-migrated", "26 31", "31-migrated 31"]


@pytest.mark.parametrize("update", slow_but(_UPDATES[::3], _UPDATES))
def test_into_a_newer_schema(tmp_path, update):
    """Hermes was updated since: columns that are new get what a new row gets, and searching finds
    it all."""
    old, new = update.split()
    path, name = deleted(tmp_path, old)
    shutil.move(path, tmp_path / "old.db")
    family(path, new, journal="delete")
    run(
        path,
        "PRAGMA foreign_keys = OFF",
        "DELETE FROM messages WHERE session_id NOT IN ('branch', 'other')",
        "DELETE FROM sessions WHERE id NOT IN ('branch', 'other')",
        "DELETE FROM session_model_usage",
        "UPDATE sessions SET parent_session_id = NULL",
    )
    back = put_back(path, name)
    assert set(back.sessions) == FAMILY and back.verified
    assert all("state_meta" in each or "session_model_usage" in each for each in back.notes)
    said = "SELECT session_id, role, content, tool_calls, reasoning, timestamp FROM messages ORDER BY id"
    fresh = family(tmp_path / "fresh.db", new)
    assert rows(path, said) == rows(fresh, said)
    tied = "SELECT id, parent_session_id, title, source FROM sessions ORDER BY id"
    assert rows(path, tied) == rows(fresh, tied)
    if new == "31":
        assert rows(path, "SELECT count(*) FROM messages WHERE message_uid IS NULL") == [(0,)]
    assert is_sound(path) and matches(path, "gangway") == matches(fresh, "gangway")
    trigram = "messages_fts_trigram"
    assert matches(path, "antern", trigram) == matches(fresh, "antern", trigram) != []
    with Store(path).reader() as reader:
        assert len(search(reader, parse("lantern"), limit=0).hits) == 8


@pytest.mark.parametrize("new, old", [("31", "22"), ("31", "11"), ("22", "6")])
def test_into_an_older_schema(tmp_path, new, old):
    """What an older store has no place for stays in the bundle, and is named."""
    path, name = deleted(tmp_path, new)
    shutil.move(path, tmp_path / "new.db")
    family(path, old, journal="delete")
    run(
        path,
        "DELETE FROM messages WHERE session_id NOT IN ('branch', 'other')",
        "DELETE FROM sessions WHERE id NOT IN ('branch', 'other')",
    )
    back = put_back(path, name)
    assert set(back.sessions) == FAMILY and back.messages == 24 and back.verified
    assert any("stays in the trash" in each or "stay in the trash" in each for each in back.notes)
    assert len(matches(path, "gangway")) == 8 and is_sound(path)


def test_a_column_a_new_hermes_insists_on(tmp_path):
    """Rows that cannot be made without inventing something are not made."""
    path, name = deleted(tmp_path)
    ((sql,),) = rows(path, "SELECT sql FROM sqlite_master WHERE name = 'session_model_usage'")
    more = sql.replace("model TEXT NOT NULL,", "model TEXT NOT NULL, must TEXT NOT NULL,", 1)
    run(path, "DROP TABLE session_model_usage", more)
    gone = dump(path)
    back = put_back(path, name)
    assert any("session_model_usage (root" in each for each in back.notes) and back.verified
    remove(path, "tip")
    assert differences(gone, dump(path)).keys() <= {"session_model_usage"}


def test_a_bundle_of_another_store(tmp_path):
    """It goes back where it is from, unless that is gone or another is wanted."""
    path, name = deleted(tmp_path)
    other = tmp_path / "other.db"
    shutil.copy(path, other)
    run(other, "DELETE FROM state_meta WHERE key = 'store_instance_id'")
    with pytest.raises(RefusedError, match="another store"):
        put_back(other, name)
    back = put_back(other, name, any_store=True)
    assert back.notes == (f"The deletion is from {path}.",)
    moved = tmp_path / "moved.db"
    shutil.move(path, moved)
    assert put_back(moved, name).notes == (f"The deletion is from {path}.",)


def test_a_store_knows_itself_by_its_number(tmp_path):
    """Hermes 0.22 numbers stores: a copy at another place is the same one, another at the same
    place is not."""
    path = family(tmp_path / "state.db", journal="delete")
    run(path, "INSERT OR REPLACE INTO state_meta VALUES ('store_instance_id', 'one')")
    name = remove(path, "tip").bundle.name
    shutil.copy(path, tmp_path / "copy.db")
    assert put_back(tmp_path / "copy.db", name).notes == ()
    run(path, "UPDATE state_meta SET value = 'two' WHERE key = 'store_instance_id'")
    back = put_back(path, name, any_store=True)
    assert back.notes == (f"The deletion is from {path}.",)
