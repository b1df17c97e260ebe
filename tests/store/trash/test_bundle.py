"""A bundle is whole or not there, tells when it is damaged, opens as a store, and can be read without
us."""

import hashlib
import os
import shutil
import stat
import subprocess
from collections import namedtuple
from pathlib import Path
from unittest.mock import Mock

import pytest
from paths import ROOT
from tongue import speak_brackets
from trashing import (
    FAMILY,
    NOW,
    as_before,
    differences,
    dump,
    family,
    in_trash,
    opened,
    put_back,
    remove,
    rows,
    run,
)

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import QueryInterruptedError
from hermes_browse.store.messages.decode import read_messages_of
from hermes_browse.store.messages.transcript import read_outline
from hermes_browse.store.progress import NOBODY, Progress
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.store.trash import copying
from hermes_browse.store.trash.bundle import (
    SUM,
    BundleDamagedError,
    SavedConversation,
    TrashError,
    read_bundle_facts,
    verify,
)
from hermes_browse.store.trash.copying import write_bundle
from hermes_browse.store.trash.shelf import BundleFate, list_bundles

ENOUGH = namedtuple("ENOUGH", "total used free")


def written(path, progress=NOBODY):
    """A bundle of the conversation in `family`, with a file of Hermes."""
    folder = path.parent / "sessions"
    folder.mkdir(exist_ok=True)
    (folder / "tip.json").write_text('{"said": "lantern"}' * 50)
    with Store(path).reader() as reader:
        ids = tuple(sorted(FAMILY))
        saved = [SavedConversation("tip", "Harbour #3", ids, 24)]
        return write_bundle(
            reader, saved, folder, path.parent / "trash", NOW, BundleFate(), progress
        )


def sealed(path):
    """A bundle whose checksum is made right, after it was changed."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_suffix(SUM).write_text(f"{digest}  {path.name}\n")
    return path


@pytest.fixture
def store(tmp_path):
    """A store with everything."""
    return family(tmp_path / "state.db")


def test_a_bundle_is_private_and_holds_what_it_says(store):
    """Folder 0700, files 0600; names say nothing of what is in it."""
    made = written(store)
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700
    beside = made.path.with_suffix(SUM)
    assert in_trash(store.parent) == [made.path.name, beside.name]
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    facts = verify(made.path)
    assert facts == made.facts == read_bundle_facts(made.path)
    assert (facts.messages, facts.sessions) == (24, tuple(sorted(FAMILY)))
    assert facts.conversations[0].title == "Harbour #3" and facts.origin.path == str(store)
    kept = "SELECT count(*) FROM messages WHERE session_id NOT IN ('branch', 'other')"
    assert rows(made.path, "SELECT count(*) FROM messages") == rows(store, kept) == [(24,)]
    assert rows(made.path, "SELECT name, length(content) FROM bundle_files") == [("tip.json", 950)]
    assert rows(made.path, "PRAGMA integrity_check") == [("ok",)]


def test_a_bundle_can_be_read_with_ordinary_tools(store):
    """The commands of docs/safety.md do what they say."""
    for tool in ("sha256sum", "sqlite3"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} here")
    made = written(store)
    name, folder = made.facts.name, made.path.parent
    safety = (ROOT / "docs" / "safety.md").read_text("utf-8")
    commands = [
        line.strip().replace("NAME", name)
        for line in safety.splitlines()
        if line.startswith("    ")
    ]
    assert [each.split()[0] for each in commands] == ["sha256sum", "sqlite3"]
    done = [
        subprocess.run(["sh", "-c", each], cwd=folder, capture_output=True, text=True)
        for each in commands
    ]
    assert "OK" in done[0].stdout and not any(each.returncode for each in done)
    said = rows(
        store,
        "SELECT role, content FROM messages WHERE session_id NOT IN ('branch', 'other') ORDER BY id",
    )
    assert done[1].stdout.splitlines() == [f"{role}|{content}" for role, content in said]


@pytest.mark.parametrize("suffix", [".db", SUM])
@pytest.mark.parametrize("how", ["flip", "cut", "gone"])
def test_damage_is_noticed(store, suffix, how):
    """In either file and however; nothing is put back."""
    bundle = remove(store, "tip").bundle.path
    gone, path = dump(store), bundle.with_suffix(suffix)
    data = bytearray(path.read_bytes())
    if how == "flip":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif how == "cut":
        path.write_bytes(data[:-9])
    else:
        path.unlink()
    with pytest.raises(BundleDamagedError):
        verify(bundle)
    if (suffix, how) != (".db", "gone"):
        with pytest.raises(BundleDamagedError):
            put_back(store, bundle.stem)
    assert dump(store) == gone


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE bundle SET value = 3 WHERE key = 'format'",
        "UPDATE bundle SET value = 'x' WHERE key = 'created_at'",
        "UPDATE bundle SET value = 'else' WHERE key = 'name'",
        "DELETE FROM bundle WHERE key = 'store'",
        "DROP TABLE bundle_sessions",
        "CREATE VIEW more AS SELECT 1",
        "CREATE TABLE t (a); CREATE TRIGGER more AFTER INSERT ON t BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE more USING fts5(a)",
    ],
)
def test_a_bundle_of_another_making_is_refused(store, statement):
    """Nothing of it is believed unseen, whatever its sum."""
    path = written(store).path
    run(path, *statement.split("; ", 1) if "TRIGGER" in statement else (statement,))
    with pytest.raises(BundleDamagedError):
        verify(sealed(path))


def test_a_bundle_is_no_way_into_other_tables(store):
    """Rows that belong to none of its sessions stay in it, though its sum is right."""
    before = dump(store)
    bundle = remove(store, "tip").bundle.path
    run(
        bundle,
        "INSERT INTO schema_version VALUES (99)",
        "INSERT INTO state_meta VALUES ('fts_stale', '1'), ('goal:other', 'else')",
        "INSERT INTO messages SELECT * FROM messages WHERE id = 1",
        "UPDATE messages SET id = 900, session_id = 'other' WHERE rowid = (SELECT max(rowid) FROM messages)",
        "INSERT INTO sessions (id, source) VALUES ('late', 'cli')",
        "CREATE TABLE async_extra (session_id)",
    )
    sealed(bundle)
    put_back(store, bundle.stem)
    assert differences(before, dump(store)) == {}


def test_a_bundle_that_lacks_what_it_names_is_refused(store):
    """Its rows were taken out, and its sum made right again."""
    bundle = remove(store, "tip").bundle.path
    gone = dump(store)
    run(bundle, "DELETE FROM sessions WHERE id = 'tip'")
    with pytest.raises(BundleDamagedError):
        put_back(store, sealed(bundle).stem)
    assert dump(store) == gone


@pytest.mark.parametrize("name", [".db", SUM])
def test_a_pipe_in_the_trash_is_not_waited_for(store, name):
    """Nor does it keep others from being listed, deleted or restored."""
    first, second = remove(store, "tip").bundle, remove(store, "other").bundle
    path = first.path.with_suffix(name)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(BundleDamagedError):
        verify(first.path)
    put_back(store, second.name)
    assert remove(store, "branch").bundle.sessions == ("branch",)


def test_an_endless_file_in_the_trash_is_not_read(store):
    """A device where the checksum or the links should be."""
    bundle = remove(store, "tip").bundle.path
    bundle.with_suffix(SUM).unlink()
    bundle.with_suffix(SUM).symlink_to("/dev/zero")
    with pytest.raises(BundleDamagedError):
        verify(bundle)
    (bundle.parent / "links.db").unlink()
    (bundle.parent / "links.db").symlink_to("/dev/zero")
    with pytest.raises(TrashError, match="links"):
        remove(store, "other")


def test_an_unfinished_bundle_is_none(store, monkeypatch):
    """Stopped, out of room, or wrong when compared: no file is left, and nothing is deleted."""
    trash, before = store.parent / "trash", dump(store)
    with pytest.raises(QueryInterruptedError):
        written(store, Progress(lambda: True))
    assert list(trash.iterdir()) == []
    monkeypatch.setattr("shutil.disk_usage", lambda _: ENOUGH(1, 1, 1000))
    with pytest.raises(TrashError, match=r"needs about \d+ KB.* has 0 B free"):
        remove(store, "tip")
    with pytest.raises(TrashError, match="No space left"):
        written(store, Progress())
    assert list(trash.iterdir()) == []
    monkeypatch.undo()
    monkeypatch.setattr(copying, "equal", lambda columns: "0")
    with pytest.raises(TrashError, match="differs from the store"):
        remove(store, "tip")
    assert list(trash.iterdir()) == [] and dump(store) == before


@pytest.mark.parametrize("call", ["open", "mkdir", "fsync", "rename"])
def test_what_the_system_refuses_is_a_sentence(store, monkeypatch, call):
    """With a code for scripts; nothing of it stays."""
    trash, before = store.parent / "trash", dump(store)
    if call != "mkdir":
        trash.mkdir()
    real = getattr(os, call)

    def refuse(*arguments, **rest):
        if call == "fsync" or "trash" in str(arguments[0]):
            raise PermissionError(13, "Permission denied")
        return real(*arguments, **rest)

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(TrashError, match="Permission denied") as caught:
        remove(store, "tip")
    assert caught.value.exit_code == 5 and "Nothing was changed" in str(caught.value)
    monkeypatch.undo()
    assert in_trash(store.parent) == []
    assert differences(before, dump(store)) == {}


def test_a_bundle_that_cannot_be_taken_back_is_a_whole_one(store, monkeypatch):
    """It has its name, then the folder cannot be flushed and the file not be removed: all of it
    stays, and is listed as sound."""
    with as_before(store):
        refuse, unlink = Mock(side_effect=OSError(5, "Input/output error")), Path.unlink

        def keep_bundles(path, **named):
            return refuse() if path.suffix in (".db", ".sha256") else unlink(path, **named)

        with monkeypatch.context() as patch:
            patch.setattr(copying, "sync_folder", refuse)
            patch.setattr(Path, "unlink", keep_bundles)
            with pytest.raises(TrashError):
                remove(store, "tip")
        (bundle,) = list_bundles(store.parent / "trash")
        assert not bundle.damage and verify(bundle.path).messages == 24
    assert put_back(store, bundle.name).present == FAMILY


def said(path):
    """Role, text and reasoning of each conversation's messages, by its root."""
    with Store(path).reader() as reader:
        catalog = read_catalog(reader, NOW)
        found = {}
        for root in catalog.order(View.ALL):
            lines = read_outline(reader, catalog.conversation(root).segments).rows
            found[root] = [
                (each.role, each.text, each.reasoning)
                for each in read_messages_of(reader, [row.id for row in lines])
            ]
    return found


@pytest.mark.parametrize("shape", ["6", "11", "14", "22", "26", "31", "31-migrated"])
def test_what_was_deleted_reads_as_before(tmp_path, shape):
    """A bundle opens as the store it is from; reading leaves it, and nothing beside it."""
    path = family(tmp_path / "state.db", shape)
    before = said(path)
    bundle = remove(path, "tip", "other").bundle.path
    files = {each: each.read_bytes() for each in bundle.parent.iterdir()}
    found = said(bundle)
    assert found and found == {
        root: lines for root, lines in before.items() if root in FAMILY | {"other"}
    }
    assert files == {each: each.read_bytes() for each in bundle.parent.iterdir()}


def test_written_in_one_language_and_put_back_in_another(path, monkeypatch):
    """What it says to people is shown in the language of who looks; nothing of that is in its
    files."""
    with as_before(path):
        with monkeypatch.context() as patch:
            speak_brackets(patch)
            done = remove(path, "tip", now=NOW)
            count = len(done.bundle.sessions)
            assert done.sentence == f"‹deleted ‹{count} sessions›, ‹24 messages› to the trash›"
        for file in done.bundle.path.parent.iterdir():
            assert "‹".encode() not in file.read_bytes()
        back = put_back(path, done.bundle.name)
        assert back.verified and back.messages == 24


def test_statements_that_copy_are_short(store, monkeypatch):
    """However many rows there are, in portions that take some fifty milliseconds each; every row is
    copied once."""
    monkeypatch.setattr(copying, "_STATEMENT_SECONDS", 0.0)
    monkeypatch.setattr(copying, "_SESSIONS_AT_ONCE", 2)
    with as_before(store):
        done = remove(store, "tip")
        with opened(done.bundle.path, "ro") as connection:
            ids = connection.execute("SELECT id FROM messages ORDER BY rowid").fetchall()
        assert [id for (id,) in ids] == [*range(1, 25)]
        put_back(store, done.bundle.name)
