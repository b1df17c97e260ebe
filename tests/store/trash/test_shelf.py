"""The trash is listed, and only what is asked for is removed from it."""

import os
import subprocess
from pathlib import Path
from unittest.mock import Mock

import pytest
from trashing import FAMILY, NOW, family, put_back, remove

from hermes_browse.store.trash import shelf
from hermes_browse.store.trash.bundle import (
    BundleDamagedError,
    BundleNotFoundError,
    TrashError,
    read_bundle_facts,
    verify,
)


@pytest.fixture
def trash(tmp_path):
    """A trash with two bundles."""
    path = family(tmp_path / "state.db")
    remove(path, "tip", now=NOW)
    remove(path, "branch", "other", now=NOW + 60)
    return tmp_path / "trash"


def test_bundles_are_listed_newest_first(trash):
    """With what is in them, and their bytes on disk."""
    newer, older = shelf.list_bundles(trash)
    assert set(older.sessions) == FAMILY and older.messages == 24 and older.title == "Harbour #3"
    assert older.conversations == ("tip",) and older.created_at == NOW and older.damage == ""
    assert newer.title == "Harbour aside and 1 more" and newer.store == str(
        trash.parent / "state.db"
    )
    for each in (newer, older):
        assert each.bytes == each.path.stat().st_size
        assert verify(each.path).name == each.name


def test_no_trash_is_an_empty_one(tmp_path):
    """Until something has been deleted there is none."""
    shelf.remove_leftovers(tmp_path / "none", NOW)
    assert shelf.list_bundles(tmp_path / "none") == []


def test_a_damaged_bundle_is_one_line_with_its_reason(trash):
    """The others are as sound as before; it can still be removed."""
    bundle = shelf.list_bundles(trash)[0]
    bundle.path.write_bytes(b"{")
    listed = {each.name: each for each in shelf.list_bundles(trash)}
    assert (
        len(listed) == 2
        and "cannot be read" in listed[bundle.name].damage
        and listed[bundle.name].bytes > 0
    )
    with pytest.raises(BundleDamagedError):
        verify(bundle.path)
    shelf.remove_bundle(shelf.find(trash, bundle.name))
    assert [each.name for each in shelf.list_bundles(trash)] == [
        name for name in listed if name != bundle.name
    ]


def test_a_bundle_is_found_by_its_beginning(trash):
    """Where only one begins so."""
    newer, older = shelf.list_bundles(trash)
    assert (
        shelf.find(trash, older.name[:15]) == older.path
        and shelf.find(trash, newer.name) == newer.path
    )
    with pytest.raises(BundleNotFoundError) as ambiguous:
        shelf.find(trash, "2026")
    assert f"Candidates: {newer.name}, {older.name}" in ambiguous.value.remedy
    for name in ("", "..", "../trash", ".", newer.name + "x", "*"):
        with pytest.raises(BundleNotFoundError):
            shelf.find(trash, name)


def test_dropping_removes_that_bundle_and_nothing_else(trash, tmp_path):
    """What stands beside it too; links and other things in the folder are no bundles."""
    newer, older = shelf.list_bundles(trash)
    shelf.mark_restored(older.path, NOW, older.sessions)
    (tmp_path / "mine").write_text("kept")
    (trash / "20200101-000000-00000000.db").symlink_to(tmp_path / "mine")
    (trash / "notes.txt").write_text("kept")
    shelf.remove_bundle(shelf.find(trash, older.name))
    assert sorted(each.name for each in trash.iterdir()) == [
        "20200101-000000-00000000.db",
        newer.path.name,
        f"{newer.name}.sha256",
        "links.db",
        "notes.txt",
    ]
    assert (tmp_path / "mine").read_text() == "kept"
    with pytest.raises(BundleNotFoundError):
        shelf.remove_bundle(shelf.find(trash, "20200101-000000-00000000"))
    with pytest.raises(BundleNotFoundError):
        shelf.remove_bundle(shelf.find(trash, older.name))


def test_folders_of_older_versions_are_named_and_stay(trash):
    """Which version restores them is said; nothing removes them."""
    folder = trash / "20200101-000000-00000000"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    listed = {each.name: each for each in shelf.list_bundles(trash)}
    assert "0.1.0" in listed[folder.name].damage and listed[folder.name].bytes == 2
    with pytest.raises(TrashError, match=r"only 0\.1\.0 restores it"):
        shelf.find(trash, folder.name)
    with pytest.raises(TrashError, match=r"only 0\.1\.0 restores it"):
        shelf.remove_bundle(folder)
    shelf.remove_older(trash, 0.0, NOW + 1e9)
    shelf.remove_leftovers(trash, NOW + 1e9)
    assert (folder / "manifest.json").exists()


def test_what_is_old_goes_when_an_age_is_set(trash):
    """A damaged bundle stays however old it is: somebody has to look at it."""
    newer, older = shelf.list_bundles(trash)
    now = newer.created_at + 50.0
    assert shelf.remove_older(trash, now - older.created_at + 1.0, now) == []
    assert [each.name for each in shelf.remove_older(trash, now - older.created_at - 1.0, now)] == [
        older.name
    ]
    newer.path.write_text("{")
    assert shelf.remove_older(trash, 0.0, now + 1e9) == [] and newer.path.exists()


def test_what_cannot_be_removed_is_a_sentence(trash, monkeypatch):
    """And the bundle is still there."""
    bundle = shelf.list_bundles(trash)[0]
    refuse = Mock(side_effect=PermissionError(13, "Permission denied"))
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(TrashError, match="cannot be removed"):
        shelf.remove_bundle(shelf.find(trash, bundle.name))
    assert verify(bundle.path)


def test_only_old_leftovers_are_removed(trash):
    """An unfinished bundle may be another process' that is still writing."""
    gone = shelf.list_bundles(trash)[0].path
    gone.unlink()
    for name, age in (
        (".partial-old.db", 90_000.0),
        (".partial-new.db", 60.0),
        (".other", 90_000.0),
    ):
        (trash / name).touch()
        os.utime(trash / name, (NOW - age, NOW - age))
    shelf.remove_leftovers(trash, NOW)
    left = {each.name for each in trash.iterdir()}
    assert {".partial-new.db", ".other"} <= left and ".partial-old.db" not in left
    assert len(shelf.list_bundles(trash)) == 1


def test_a_restored_bundle_says_so(trash):
    """It stays sound: the mark is not part of what is summed."""
    bundle = shelf.list_bundles(trash)[0]
    assert bundle.restored_at is None
    shelf.mark_restored(bundle.path, NOW + 9, bundle.sessions)
    assert shelf.describe(bundle.path).restored_at == NOW + 9
    assert verify(bundle.path)
    for nonsense in (
        '{"restored_at": "never"}',
        '{"restored": 5}',
        f'{{"restored_at": {10**400}}}',
        "[" * 100_000,
    ):
        bundle.path.with_suffix(".json").write_text(nonsense)
        assert shelf.describe(bundle.path).restored_at is None


def test_what_a_killed_delete_left_in_the_store_is_not_listed(trash):
    """The process is gone: what it had not come to is marked, once the store says so."""
    bundle = shelf.list_bundles(trash)[0]
    facts = read_bundle_facts(bundle.path)
    store = trash.parent / "state.db"
    put_back(store, bundle.name, only=["other"])
    with subprocess.Popen(["true"]) as process:
        process.wait()
    shelf.write_fate(bundle.path, shelf.BundleFate(deleting=os.getpid()))
    assert set(shelf.describe(bundle.path).sessions) == set(facts.sessions), "still at it"
    shelf.write_fate(bundle.path, shelf.BundleFate(deleting=process.pid))
    listed = shelf.describe(bundle.path)
    assert listed.conversations == ("branch",) and listed.messages == 4
    assert listed.title == "Harbour aside" and shelf.read_fate(bundle.path).kept == ("other",)
    assert put_back(store, bundle.name).sessions == ("branch",)
    shelf.write_fate(bundle.path, shelf.BundleFate(deleting=process.pid))
    assert bundle.name not in [each.name for each in shelf.list_bundles(trash)], "all is there"
