"""Triggers: Hermes' own are known in every form they have had, and with any other the store is not
written to; nor without those that keep its search indexes."""

import json

import pytest
import shapes
from paths import DATA
from trashing import (
    allow_any_trigger,
    as_before,
    deleted,
    dump,
    family,
    health,
    in_trash,
    put_back,
    remove,
    rows,
    run,
)

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import flags, guards
from hermes_browse.store.edit.guards import check_triggers, digest, normalised
from hermes_browse.store.edit.restore import check_index
from hermes_browse.store.errors import StoreRefusedError

TAKES_ALL = "CREATE TRIGGER archive_log AFTER DELETE ON sessions BEGIN DELETE FROM messages; END"


def test_a_delete_takes_nothing_that_is_not_in_the_bundle(path, tmp_path):
    """A trigger that deletes other conversations too: nothing is deleted, no bundle is left, the
    trigger is named."""
    run(path, TAKES_ALL)
    with as_before(path):
        with pytest.raises(
            StoreRefusedError, match=r"table sessions has a trigger .*, archive_log:"
        ) as caught:
            remove(path, "tip")
        assert caught.value.exit_code == 5 and "Nothing was changed." in caught.value.sentence
        assert in_trash(tmp_path) == []


def test_other_writes_to_the_table_are_refused_too(path):
    """Archive and rename write to `sessions`; a restore to all tables of the bundle."""
    run(path, "CREATE TRIGGER note AFTER UPDATE ON sessions BEGIN SELECT 1; END")
    with as_before(path):
        with pytest.raises(StoreRefusedError, match="note"):
            flags.archive(Store(path), ["tip"])
        with pytest.raises(StoreRefusedError, match="note"):
            flags.rename(Store(path), "tip", "Quay")


@pytest.mark.parametrize(
    "table", ["session_model_usage", "system_prompts", "state_meta", "messages_fts_docsize"]
)
def test_tables_that_go_with_a_conversation(tmp_path, table):
    """A delete and a restore write to them, and to those in which the search index is kept; a
    rename does not."""
    path, name = deleted(tmp_path)
    run(path, f"CREATE TRIGGER odd BEFORE INSERT ON {table} BEGIN SELECT 1; END")
    with as_before(path):
        with pytest.raises(StoreRefusedError, match=f"{table} has a trigger .*, odd:"):
            put_back(path, name)
        with pytest.raises(StoreRefusedError, match=f"{table} has a trigger .*, odd:"):
            remove(path, "other")
        assert in_trash(tmp_path) == [f"{name}.db", f"{name}.sha256"]
    assert flags.rename(Store(path), "other", "Pier").rows[-1].after["title"] == "Pier"


def test_tables_of_others_are_theirs(path):
    """A trigger on a table that is not written to is nobody's business."""
    run(
        path,
        "CREATE TABLE plugin (n)",
        "CREATE TRIGGER own AFTER INSERT ON plugin BEGIN DELETE FROM plugin; END",
    )
    assert remove(path, "tip").bundle.sessions


@pytest.mark.parametrize("name", shapes.NAMES)
def test_those_of_hermes_are_known(name):
    """In stores of every schema, and after an upgrade."""
    triggers = [("t", "messages", sql) for sql in shapes.shape(name).triggers.values()]
    check_triggers(lambda sql: list(triggers), ["sessions", "messages"])
    assert len(triggers) >= 3


def test_those_between_two_schemas_are_known():
    """No store of these releases is at hand."""
    text = (DATA / "shapes" / "triggers-between.sql").read_text(encoding="utf-8")
    triggers = [("t", "messages", sql) for sql in text.rstrip().split("\n\n")]
    check_triggers(lambda sql: list(triggers), ["messages"])
    assert len(triggers) == 12


def test_the_record_names_where_each_was_seen():
    """It is data: a table, a name, a digest, and at least one release."""
    record = json.loads(guards.RECORD.read_text(encoding="ascii"))
    assert all(each["releases"] and len(each["sha256"]) == 64 for each in record)
    assert {each["table"] for each in record} == {"messages"}
    assert {"0.14.0", "0.16.0", "0.19.0", "0.22.2"} <= {
        where for each in record for where in each["releases"]
    }


@pytest.mark.parametrize(
    "other",
    [
        'CREATE TRIGGER  A after delete\nON "messages" begin -- note; END\n select 1 /* ; */ ; END',
        "create trigger a AFTER DELETE ON messages BEGIN SELECT 1; END",
    ],
)
def test_looks_do_not_matter(other):
    """Case, white space, comments and quotes; SQLite writes some of them itself when a table is
    renamed."""
    assert digest(other) == digest("CREATE TRIGGER a AFTER DELETE ON messages BEGIN SELECT 1; END")


def test_what_it_does_matters():
    """Text within quotes, and every other word."""
    one = (
        "CREATE TRIGGER a AFTER DELETE ON messages WHEN old.role <> 'Tool -- x' BEGIN SELECT 1; END"
    )
    assert normalised(one) != normalised(one.replace("Tool", "tool"))
    assert normalised(one) != normalised(one.replace("-- x", "--  x"))
    assert normalised(one) != normalised(one.replace("SELECT 1", "DELETE FROM messages"))


@pytest.mark.parametrize(
    "trigger, said",
    [
        (TAKES_ALL, "messages would lose 32 rows and get 0, not lose 24"),
        (
            "CREATE TRIGGER log AFTER DELETE ON messages BEGIN INSERT INTO log VALUES (old.id); END",
            "log would lose 0 rows and get 24, not lose 0",
        ),
    ],
)
def test_every_table_is_counted(path, tmp_path, monkeypatch, trigger, said):
    """Even if a trigger passes as known, what it takes or adds besides rolls the delete back."""
    run(path, "CREATE TABLE log (id)", trigger)
    with as_before(path):
        allow_any_trigger(monkeypatch)
        with pytest.raises(StoreRefusedError, match=said) as caught:
            remove(path, "tip")
        assert caught.value.exit_code == 5
        assert in_trash(tmp_path) == []


def test_a_cascade_that_is_not_found_is_counted(path, tmp_path):
    """SQLite takes names of tables in any case: what such a key takes along is not in the bundle."""
    run(
        path,
        "CREATE TABLE notes (session_id TEXT REFERENCES Sessions(id) ON DELETE CASCADE, note TEXT)",
        "INSERT INTO notes VALUES ('tip', 'keep'), ('other', 'stay')",
    )
    with as_before(path):
        with pytest.raises(StoreRefusedError, match="table notes would lose 1 rows"):
            remove(path, "tip")
        assert in_trash(tmp_path) == []


def test_a_cascade_that_nobody_knows_of_is_counted(path):
    """A foreign key of another program takes its rows along: they are in the bundle, and come
    back."""
    run(
        path,
        "CREATE TABLE notes (session_id TEXT REFERENCES sessions(id) ON DELETE CASCADE, note TEXT)",
        "INSERT INTO notes VALUES ('tip', 'keep'), ('other', 'stay')",
    )
    with as_before(path):
        name = remove(path, "tip").bundle.name
        assert rows(path, "SELECT note FROM notes") == [("stay",)]
        put_back(path, name)


def without_triggers(path, events):
    """Drop the triggers that keep the indexes at some events."""
    names = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%fts%'"
    run(path, *(f"DROP TRIGGER {name}" for (name,) in rows(path, names) if name.endswith(events)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "events", [("insert", "delete", "update"), ("insert",), ("delete",)], ids=" ".join
)
@pytest.mark.parametrize("shape", shapes.NAMES)
def test_a_store_without_triggers_is_left_alone(tmp_path, shape, events):
    """Neither is anything deleted from it nor restored; Hermes makes them again."""
    path = family(tmp_path / "state.db", shape)
    name = remove(path, "other").bundle.name
    before = dump(without_triggers(path, events))
    for act in (lambda: remove(path, "tip"), lambda: put_back(path, name)):
        with pytest.raises(StoreRefusedError, match="messages_fts has no trigger") as caught:
            act()
        assert "Start a chat in Hermes once" in caught.value.remedy
    assert dump(path) == before and in_trash(tmp_path) == [f"{name}.db", f"{name}.sha256"]


def test_an_index_that_hermes_has_detached(tmp_path):
    """It is left for Hermes to make anew, and the answer is not called verified."""
    path = without_triggers(family(tmp_path / "state.db", "31"), ("insert", "delete", "update"))
    run(path, "INSERT INTO state_meta VALUES ('fts_stale', '1')")
    back = put_back(path, remove(path, "tip").bundle.name)
    assert not back.verified and any("out of date" in each for each in back.notes)
    assert set(health(path)) and dump(path)
    assert check_index(Store(path)) != ()
