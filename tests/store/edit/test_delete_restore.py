"""A bundle put back into a store that has moved on: what can come back without loss does, and the
rest is said."""

import shlex
from unittest.mock import Mock

import pytest
from effort import slow_but
from trashing import (
    FAMILY,
    allow_any_trigger,
    as_before,
    column_of,
    dump,
    family,
    is_sound,
    put_back,
    remove,
    rows,
    run,
)

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import restore
from hermes_browse.store.edit.restore import check_index
from hermes_browse.store.errors import (
    BrowseError,
    RefusedError,
    WriteUnverifiedError,
)
from hermes_browse.store.trash.bundle import verify
from hermes_browse.store.trash.shelf import describe


@pytest.fixture(params=slow_but(["delete"], ["wal", "delete"]))
def path(request, tmp_path):
    """A store with one conversation of everything, in either journal mode."""
    return family(tmp_path / "state.db", journal=request.param)


@pytest.fixture
def name(path):
    """The bundle of that conversation, which is in the trash."""
    return remove(path, "tip").bundle.name


def test_a_session_of_that_id_is_not_overwritten(path, name, tmp_path):
    """It stays as it is, with all that is its own; the others come back."""
    run(
        path,
        "INSERT INTO sessions (id, source, title, started_at) VALUES ('tip', 'cli', 'Another', 1.0)",
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('tip', 'user', 'new words', 1.0)",
        "INSERT INTO state_meta VALUES ('goal:tip', 'another goal')",
    )
    back = put_back(path, name)
    assert set(back.sessions) == FAMILY - {"tip"} and back.messages == 20
    assert (
        "Session tip was not restored: it is in the store, and differs from the deletion."
        in back.notes
    )
    assert rows(path, "SELECT title FROM sessions WHERE id = 'tip'") == [("Another",)]
    assert rows(path, "SELECT content FROM messages WHERE session_id = 'tip'") == [("new words",)]
    assert rows(path, "SELECT value FROM state_meta WHERE key = 'goal:tip'") == [("another goal",)]
    assert rows(path, "SELECT parent_session_id FROM sessions WHERE id = 'branch'") == [(None,)]
    assert is_sound(path)
    assert describe(tmp_path / "trash" / f"{name}.db").restored_at is None


def test_what_is_there_counts_as_restored(path, name, tmp_path):
    """A second restore changes nothing, and says that all of it is there."""
    first = put_back(path, name)
    with as_before(path):
        again = put_back(path, name)
        assert again._replace(present=frozenset()) == first and first.verified
        assert again.present == FAMILY and first.present == frozenset(), (
            "an undo takes back what was put back, and no more"
        )
    assert describe(tmp_path / "trash" / f"{name}.db").restored_at is not None
    with pytest.raises(RefusedError, match="none of these"):
        put_back(path, name, only=["nobody"])


def test_what_has_changed_since_is_refused(path, name):
    """With the reason; what is missing beside it comes back."""
    put_back(path, name)
    run(
        path,
        "UPDATE sessions SET title = 'Pier' WHERE id = 'tip'",
        "DELETE FROM messages WHERE session_id = 'nested'",
    )
    run(path, "DELETE FROM sessions WHERE id = 'nested'")
    back = put_back(path, name)
    assert set(back.sessions) == FAMILY - {"tip"}
    assert back.notes == (
        "Session tip was not restored: it is in the store, and differs from the deletion.",
    )
    assert rows(path, "SELECT title FROM sessions WHERE id = 'tip'") == [("Pier",)]
    assert rows(path, "SELECT count(*) FROM messages WHERE session_id = 'nested'") == [(4,)]
    run(path, "UPDATE sessions SET archived = 1")
    with pytest.raises(RefusedError, match="differs from the deletion"):
        put_back(path, name)


def test_a_title_that_was_numbered_is_no_change(path, name):
    """It was the first restore that had to give it another number."""
    run(path, "UPDATE sessions SET title = 'Harbour' WHERE id = 'other'")
    put_back(path, name)
    with as_before(path):
        assert set(put_back(path, name).sessions) == FAMILY


def test_the_number_of_a_message_that_is_anothers_by_now(path, name):
    """Numbers are handed out again in a store that was rebuilt: that session stays out."""
    run(
        path,
        "INSERT INTO messages (id, session_id, role, content, timestamp) VALUES (1, 'other', 'user', 'mine', 1.0)",
    )
    back = put_back(path, name)
    assert set(back.sessions) == FAMILY - {"root"} and back.messages == 20
    assert any("message 1 is another one's by now" in each for each in back.notes)
    assert any("next was a child of root" in each for each in back.notes)
    assert rows(path, "SELECT session_id, content FROM messages WHERE id = 1") == [
        ("other", "mine")
    ]
    assert rows(path, "SELECT count(*) FROM session_model_usage WHERE session_id = 'root'") == [
        (0,)
    ]


@pytest.mark.parametrize("has_index", [True, False])
@pytest.mark.parametrize(
    "session, title, numbered",
    [("root", "Harbour", "Harbour #4"), ("tip", "x" * 99, f"{'x' * 97} #2")],
)
def test_a_title_that_is_anothers_by_now(path, has_index, session, title, numbered):
    """It gets the next free number, and is cut if that is too long for Hermes; also where no index
    would refuse a second session of that title."""
    if not has_index:
        run(path, "DROP INDEX idx_sessions_title_unique")
    run(path, f"UPDATE sessions SET title = '{title}' WHERE id = '{session}'")
    name = remove(path, "tip").bundle.name
    run(path, f"UPDATE sessions SET title = '{title}' WHERE id = 'other'")
    back = put_back(path, name)
    assert back.verified and back.notes == (
        f"The title of {session}, “{title}”, is another session's by now: it is “{numbered}” now.",
    )
    assert column_of(path, "title")[session] == numbered
    titles = list(filter(None, column_of(path, "title").values()))
    assert len(set(titles)) == len(titles)


def test_a_parent_that_was_never_there(path):
    """It is named again, whatever it is; all other rows come back with foreign keys on."""
    run(path, "UPDATE sessions SET parent_session_id = CAST(x'6e6fff' AS TEXT) WHERE id = 'root'")
    with as_before(path):
        back = put_back(path, remove(path, "tip").bundle.name)
        assert back.notes == () and back.verified
    assert is_sound(path)


def test_other_references_that_lead_nowhere_are_refused(path):
    """Foreign keys are off during a restore: what was there at the delete must be there again."""
    run(
        path,
        "CREATE TABLE kinds (id INTEGER PRIMARY KEY)",
        "CREATE TABLE notes (whose TEXT REFERENCES sessions(id), kind INTEGER REFERENCES kinds(id))",
        "INSERT INTO kinds VALUES (1)",
        "PRAGMA foreign_keys = OFF",
        "INSERT INTO notes VALUES ('tip', 1), ('tip', 7)",
    )
    before, name = dump(path), remove(path, "tip").bundle.name
    run(path, "DELETE FROM kinds")
    gone = dump(path)
    with pytest.raises(RefusedError, match="notes refer to rows of kinds"):
        put_back(path, name)
    assert dump(path) == gone
    run(path, "INSERT INTO kinds VALUES (1)")
    assert put_back(path, name).verified and dump(path) == before


def test_a_branch_that_hangs_elsewhere_by_now(path, name):
    """It is left there; one that is gone is not missed."""
    run(path, "UPDATE sessions SET parent_session_id = 'other' WHERE id = 'branch'")
    back = put_back(path, name)
    assert len(back.notes) == 1 and "branch was a child of tip" in back.notes[0]
    assert rows(path, "SELECT parent_session_id FROM sessions WHERE id = 'branch'") == [("other",)]


def test_rows_whose_place_is_taken(path, name):
    """A row of a table beside, with the same key: what is there stays."""
    run(
        path,
        "INSERT INTO state_meta VALUES ('goal:tip', 'newer')",
        "UPDATE system_prompts SET prompt = 'Else'",
    )
    back = put_back(path, name)
    assert (
        len(back.notes) == 1
        and "state_meta (goal:tip) exists already" in back.notes[0]
        and back.verified
    )
    assert rows(path, "SELECT value FROM state_meta WHERE key = 'goal:tip'") == [("newer",)]


def test_rowids_that_are_taken(path, name):
    """Sessions without a number of their own get another one; nothing refers to it."""
    run(path, "INSERT INTO sessions (rowid, id, source, started_at) VALUES (1, 'late', 'cli', 1.0)")
    back = put_back(path, name)
    assert back.notes == () and back.verified
    assert len(rows(path, "SELECT rowid FROM sessions")) == 9


def test_what_does_not_read_back_is_said(path, name, tmp_path, monkeypatch):
    """A trigger of somebody's changes rows behind our back."""
    allow_any_trigger(monkeypatch)
    run(
        path,
        "CREATE TRIGGER meddle AFTER INSERT ON sessions BEGIN UPDATE sessions SET source = 'x' WHERE id = new.id; END",
    )
    with pytest.raises(WriteUnverifiedError, match="differs from the deletion") as caught:
        put_back(path, name)
    assert caught.value.exit_code == 1 and (tmp_path / "trash" / f"{name}.db").exists()


def test_what_a_trigger_fills_is_put_right(path):
    """Numbers Hermes 0.22 gives to new messages do not stay where there were none."""
    run(path, "UPDATE messages SET message_uid = NULL, display_order = NULL WHERE id % 2")
    with as_before(path):
        put_back(path, remove(path, "tip").bundle.name)
        assert is_sound(path)


def test_an_index_that_was_broken_before(tmp_path):
    """The rows come back; that the index needs repair is said."""
    path = family(tmp_path / "state.db", "22")
    name = remove(path, "tip").bundle.name
    run(path, "DELETE FROM messages_fts_docsize WHERE id = 30")
    back = put_back(path, name)
    assert not back.verified
    (told,) = [each for each in back.notes if "does not agree with the messages" in each]
    assert len(rows(path, "SELECT 1 FROM messages")) == 32
    *_words, statement = shlex.split(told)
    run(path, statement)
    assert is_sound(path)


def test_a_store_that_takes_nothing(path, name, monkeypatch):
    """A constraint of somebody's: nothing is put back."""
    allow_any_trigger(monkeypatch)
    run(
        path,
        "CREATE TRIGGER no BEFORE INSERT ON messages WHEN new.id = 7 BEGIN SELECT RAISE(ABORT, 'not here'); END",
    )
    gone = dump(path)
    with pytest.raises(BrowseError, match="not here"):
        put_back(path, name)
    assert dump(path) == gone


def test_of_several_bundles_the_index_is_compared_once(tmp_path):
    """Not by each restore, which reads the whole store for it, but for all of them in the end."""
    path = family(tmp_path / "state.db", "22")
    name = remove(path, "tip").bundle.name
    run(
        path,
        "DELETE FROM messages_fts_docsize WHERE id IN (SELECT max(id) FROM messages_fts_docsize)",
    )
    assert not any("does not agree" in each for each in put_back(path, name, check=False).notes)
    assert any(
        "messages_fts does not agree with the messages" in each for each in check_index(Store(path))
    )
    whole = family(tmp_path / "whole.db", "22")
    assert check_index(Store(whole)) == ()


@pytest.mark.parametrize("place", ["insert_chosen", "check", "mark_restored"])
def test_a_part_whose_restore_is_cut_short(path, tmp_path, monkeypatch, place):
    """Before the commit nothing is in the store; after it all of the part is; the bundle is whole
    either way."""
    with as_before(path):
        name = remove(path, "tip", "other").bundle.name
        without = dump(path)
        cut = Mock(side_effect=KeyboardInterrupt)
        with monkeypatch.context() as patched:
            patched.setattr(
                restore if place == "mark_restored" else restore.RestoredRows, place, cut
            )
            with pytest.raises(KeyboardInterrupt):
                put_back(path, name, only=["other"])
        assert (dump(path) == without) is (place == "insert_chosen")
        there = {each[0] for each in rows(path, "SELECT id FROM sessions")} - {"branch"}
        assert there == (set() if place == "insert_chosen" else {"other"})
        assert (
            verify(tmp_path / "trash" / f"{name}.db")
            and describe(tmp_path / "trash" / f"{name}.db").restored == set()
        )
        again = put_back(path, name, only=["other"])
        assert again.sessions == ("other",) and again.present == there and again.verified
        assert put_back(path, name).verified
