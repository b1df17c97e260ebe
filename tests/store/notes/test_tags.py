"""Tags stay with a conversation through all that can happen to it, and change nothing of the store."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import DATA
from store_builder import T0, StoreBuilder
from trashing import dump, hermes_db, run, session_ids

from hermes_browse.store import open_store
from hermes_browse.store.cleanup.selection import Selection
from hermes_browse.store.connection.connect import OWN, Store
from hermes_browse.store.errors import NotFoundError, RefusedError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.notes.notes_file import NotesError, changing_notes, notes_rows
from hermes_browse.store.notes.tagging import TagCount, clean_tag, keep_restored
from hermes_browse.store.search.query import parse

CHAIN = ("first", "second")


def chain(path):
    """A conversation of two parts, and another one, in a home of their own."""
    builder = StoreBuilder(path)
    builder.session("first", end_reason="compression", ended_at=T0 + 30)
    builder.session("second", parent_session_id="first", started_at=T0 + 30)
    builder.session("other")
    for session in (*CHAIN, "other"):
        builder.message(session, "user", f"hello from {session}")
    builder.write()
    return open_store(Location(path, path.parent, "default", demo=True))


def tags(store):
    """The tags of all conversations that have any, by the id of the tip."""
    return {each.id: each.tags for each in store.conversations() if each.tags}


@pytest.fixture
def store(tmp_path):
    """The store of `chain`, whose notes are beside it."""
    return chain(tmp_path / "state.db")


def test_set_and_removed(store):
    """Any part stands for the conversation; the store keeps every byte."""
    before = dump(store.source.path)
    done = store.tag(["first"], ["#Deploy", "in review"])
    assert done.session_ids == CHAIN
    assert tags(store) == {"second": ("deploy", "in-review")}
    assert store.tags() == (TagCount("deploy", 1), TagCount("in-review", 1))
    assert not store.tag(["second"], ["deploy"]).session_ids
    store.tag(["second", "other"], ["both"], ["deploy"])
    assert tags(store) == {"second": ("both", "in-review"), "other": ("both",)}
    assert [each.id for each in store.conversations("tag:both -tag:in-review")] == ["other"]
    assert dump(store.source.path) == before


def test_undone(store):
    """An undo removes what was set and sets what was removed, and nothing else."""
    store.tag(["other"], ["kept"])
    done = store.tag(["first", "other"], ["new", "kept"])
    renamed = store.rename_tag("kept", "held")
    removed = store.rename_tag("new", None)
    assert tags(store) == {"second": ("held",), "other": ("held",)}
    for each in (removed, renamed, done):
        store.undo_tags(each)
    assert tags(store) == {"other": ("kept",)}


def test_through_a_compression(store):
    """A new part has the tags of the parts before it."""
    store.tag(["second"], ["deploy"])
    store.close()
    run(
        store.source.path,
        "UPDATE sessions SET end_reason = 'compression', ended_at = 1767258100 WHERE id = 'second'",
        "INSERT INTO sessions (id, source, parent_session_id, started_at) "
        "VALUES ('third', 'cli', 'second', 1767258100)",
    )
    assert tags(store) == {"third": ("deploy",)}


def test_through_a_prune_of_hermes(store):
    """The real prune takes the first part, and leaves the second."""
    store.tag(["first"], ["deploy"])
    store.close()
    with hermes_db(store.source.path) as db:
        assert db.prune_sessions(older_than_days=1) == 1
    assert "first" not in session_ids(store.source.path)
    assert tags(store) == {"second": ("deploy",)}


def test_through_archive_delete_and_restore(store):
    """Also where the file of tags is gone when the deletion is restored."""
    store.tag(["first"], ["deploy"])
    store.archive(["second"])
    assert tags(store) == {"second": ("deploy",)}
    deleted = store.delete(["second"])
    assert not tags(store) and store.tags() == ()
    store.close()
    (store.source.path.parent / "notes.db").unlink()
    with open_store(Store(deleted.bundle.path)) as bundle:
        assert tags(bundle) == {"second": ("deploy",)}
    store.restore(deleted.bundle.name)
    assert tags(store) == {"second": ("deploy",)}


def test_restored_without_its_tags(store, tmp_path):
    """If the file of tags cannot be written, the conversation is restored, and that is told."""
    store.tag(["first"], ["deploy"])
    deleted = store.delete(["second"])
    store.close()
    (tmp_path / "notes.db").write_bytes(b"no database" * 100)
    restored = store.restore(deleted.bundle.name)
    assert set(restored.sessions) == set(CHAIN) and "cannot be used" in restored.notes[-1]
    assert {each.id for each in store.conversations()} == {"second", "other"}


def test_of_one_store(store, tmp_path):
    """Another store with the same ids has tags of its own; one that was moved keeps its own, if
    Hermes gave it an id (0.22)."""
    notes = tmp_path / "notes.db"
    store.tag(["other"], ["here"])
    (tmp_path / "b").mkdir()
    other = chain(tmp_path / "b" / "state.db")
    other.source.notes = notes
    assert not tags(other)
    newest = DATA / "state-v31-hermes-0.22.2.db"
    paths = [tmp_path / name for name in ("c.db", "moved.db")]
    paths[0].write_bytes(newest.read_bytes())
    with open_store(Store(paths[0], notes=notes)) as before:
        session = before.conversations()[0].id
        before.tag([session], ["kept"])
    paths[0].rename(paths[1])
    with open_store(Store(paths[1], notes=notes)) as after:
        assert tags(after) == {session: ("kept",)}


@pytest.mark.parametrize("typed", ["", " # ", "a,b", 'say "x"', "x" * 41, "a\x1b[31mb", "a\u202eb"])
def test_no_tag(store, typed):
    """What cannot be found again, or would harm a terminal, is refused with nothing written."""
    with pytest.raises(RefusedError):
        store.tag(["other"], ["fine", typed])
    assert not tags(store)


@given(st.text(max_size=60))
def test_clean_tags_stay(typed):
    """What is kept is kept as it is when it is typed again."""
    try:
        tag = clean_tag(typed)
    except RefusedError:
        return
    assert clean_tag(tag) == tag


def test_failures(store, tmp_path):
    """A session or a tag that is not there; a store without notes; a damaged file, which does not
    keep anyone from reading the store."""
    with pytest.raises(NotFoundError):
        store.tag(["other", "nobody"], ["x"])
    with pytest.raises(NotFoundError):
        store.rename_tag("nothing", None)
    with pytest.raises(RefusedError):
        open_store(Store(store.source.path)).tag(["other"], ["x"])
    assert not (tmp_path / "notes.db").exists()
    (tmp_path / "notes.db").write_bytes(b"no database" * 100)
    assert len(store.conversations()) == 2
    with pytest.raises(NotesError, match="move it away"):
        store.tag(["other"], ["x"])


@pytest.mark.parametrize("query", ["-tag:deploy", "tag:deploy", "is:new", "-is:new", "hello tag:x"])
def test_a_filter_is_refused_where_its_file_cannot_be_read(store, tmp_path, query):
    """A clean-up of `-tag:keep` would take what the tag protects; also with a catalog of before."""
    store.tag(["first"], ["deploy"])
    (tmp_path / "notes.db").write_bytes(b"no database" * 100)
    catalog = store.catalog(T0)
    for ask in (
        lambda: store.search(query, catalog),
        lambda: store.conversations(query),
        lambda: store.plan(catalog, Selection(parse(query, now=T0)), T0),
        store.tags,
    ):
        with pytest.raises(NotesError):
            ask()


def test_tags_are_those_of_now(store):
    """The catalog may be of a moment when their file could not be read."""
    catalog = store.catalog(T0)
    store.tag(["first"], ["deploy"])
    found = store.search("hello tag:deploy", catalog).answer.hits
    assert {hit.session_id for hit in found} == set(CHAIN)


def test_what_is_no_tag_is_not_restored(store):
    """A deletion is a file that anybody may have changed."""
    pairs = [("other", "deploy"), ("other", "\x1b[31m")]
    (said,) = keep_restored(store.source, pairs, {"other"})
    assert "is no tag" in said and "Nothing was changed" not in said
    assert tags(store) == {}
    assert keep_restored(store.source, [("other", "two WORDS")], {"other"}) == ()
    assert tags(store) == {"other": ("two-words",)}


def test_a_name_that_it_has_already(store):
    """Nothing has to be changed."""
    store.tag(["first"], ["deploy"])
    done = store.rename_tag("deploy", "#Deploy")
    assert not done.session_ids and not done.sentence
    assert tags(store) == {"second": ("deploy",)}


def test_a_folder_that_cannot_be_entered(store, tmp_path):
    """Reading goes on without tags, and a change says why it cannot be made."""
    folder = tmp_path / "closed"
    folder.mkdir(0o000)
    try:
        if os.access(folder, os.X_OK):
            pytest.skip("this user may enter every folder")
        closed = Store(store.source.path, notes=folder / "notes.db")
        with closed.reader() as reader, pytest.raises(NotesError, match="cannot be used"):
            notes_rows(reader, "SELECT ?1, ?2")
    finally:
        folder.chmod(0o700)


def test_a_path_that_cannot_be_looked_up(store, tmp_path):
    """Whether there is a file is not known then: to say that there is none would be a lie."""
    odd = Store(store.source.path, notes=tmp_path / ("x" * 300) / "notes.db")
    with odd.reader() as reader, pytest.raises(NotesError, match="cannot be used"):
        notes_rows(reader, "SELECT ?1, ?2")


def test_a_read_gives_up_no_lock_of_another_thread(store, tmp_path):
    """Closing the file itself, outside of SQLite, would drop the locks of this process: another
    browser could then write in the middle of a change."""
    store.tag(["first"], ["deploy"])
    path = tmp_path / "notes.db"
    other = (
        "import sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1], 0)\n"
        "connection.execute('INSERT INTO tags VALUES (1, 2, 3, 4)')\n"
        "connection.commit()\n"
    )

    def tags_there():
        with store.source.reader() as reader:
            return notes_rows(reader, f"SELECT DISTINCT tag FROM tags WHERE {OWN}")

    with store.source.reader() as reader, changing_notes(reader) as run:
        run("INSERT INTO tags VALUES (?1, ?2, 'first', 'late')")
        with ThreadPoolExecutor() as threads:
            rows = threads.submit(tags_there).result()
        assert rows == [("deploy",)]
        done = subprocess.run([sys.executable, "-c", other, path], capture_output=True, check=False)
        assert b"database is locked" in done.stderr
    assert {name for each in store.tags() for name in [each.name]} == {"deploy", "late"}
