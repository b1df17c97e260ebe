"""The trash is listed, and only what is asked for is removed from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from trashing import FAMILY, NOW, family, remove

from hermes_browse.store.trash import shelf
from hermes_browse.store.trash.bundle import load, verify
from hermes_browse.store.trash.format import BundleDamagedError, BundleNotFoundError, TrashError


@pytest.fixture
def trash(tmp_path: Path) -> Path:
    """A trash with two bundles."""
    path = family(tmp_path / "state.db")
    remove(path, "tip", now=NOW)
    remove(path, "branch", "other", now=NOW + 60)
    return tmp_path / "trash"


def test_bundles_are_listed_newest_first(trash: Path) -> None:
    """With what is in them, and their bytes on disk."""
    newer, older = shelf.list_bundles(trash)
    assert set(older.sessions) == FAMILY and older.messages == 24 and older.title == "Harbour #3"
    assert older.conversations == ("tip",) and older.created_at == NOW and older.damage == ""
    assert newer.title == "Harbour aside and 1 more" and newer.store == str(
        trash.parent / "state.db"
    )
    for each in (newer, older):
        assert each.bytes == sum(
            file.stat().st_size for file in each.path.rglob("*") if file.is_file()
        )
        assert verify(each.path).name == each.name


def test_no_trash_is_an_empty_one(tmp_path: Path) -> None:
    """Until something has been deleted there is none."""
    shelf.sweep(tmp_path / "none", NOW)
    assert shelf.list_bundles(tmp_path / "none") == []


def test_a_damaged_bundle_is_one_line_with_its_reason(trash: Path) -> None:
    """The others are as sound as before; it can still be dropped."""
    bundle = shelf.list_bundles(trash)[0]
    (bundle.path / "manifest.json").write_bytes(b"{")
    listed = {each.name: each for each in shelf.list_bundles(trash)}
    assert (
        len(listed) == 2
        and "manifest.json" in listed[bundle.name].damage
        and listed[bundle.name].bytes > 0
    )
    with pytest.raises(BundleDamagedError):
        verify(bundle.path)
    shelf.drop(trash, bundle.name)
    assert [each.name for each in shelf.list_bundles(trash)] == [
        name for name in listed if name != bundle.name
    ]


def test_a_renamed_folder_is_not_believed(trash: Path) -> None:
    """Its manifest says another name."""
    bundle = shelf.list_bundles(trash)[0]
    os.rename(bundle.path, trash / "20200101-000000-00000000")
    assert [each.damage for each in shelf.list_bundles(trash)].count(
        "Its folder has been renamed."
    ) == 1


def test_a_bundle_is_found_by_its_beginning(trash: Path) -> None:
    """Where only one begins so."""
    newer, older = shelf.list_bundles(trash)
    assert (
        shelf.find(trash, older.name[:15]) == older.path
        and shelf.find(trash, newer.name) == newer.path
    )
    for name in ("2026", "", "..", "../trash", ".", newer.name + "x", "*"):
        with pytest.raises(BundleNotFoundError):
            shelf.find(trash, name)


def test_dropping_removes_that_bundle_and_nothing_else(trash: Path, tmp_path: Path) -> None:
    """Links in it are removed, not followed; other things in the folder are no bundles."""
    newer, older = shelf.list_bundles(trash)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept").write_text("kept")
    (older.path / "link").symlink_to(tmp_path / "mine")
    (trash / "20200101-000000-00000000").symlink_to(tmp_path / "mine")
    (trash / "notes.txt").write_text("kept")
    shelf.drop(trash, older.name)
    assert sorted(each.name for each in trash.iterdir()) == [
        "20200101-000000-00000000",
        newer.name,
        "notes.txt",
    ]
    assert (tmp_path / "mine" / "kept").read_text() == "kept"
    with pytest.raises(BundleNotFoundError):
        shelf.drop(trash, "20200101-000000-00000000")
    with pytest.raises(BundleNotFoundError):
        shelf.drop(trash, older.name)


def test_what_is_old_goes_when_an_age_is_set(trash: Path) -> None:
    """A damaged bundle stays however old it is: somebody has to look at it."""
    newer, older = shelf.list_bundles(trash)
    now = newer.created_at + 50.0
    assert shelf.expire(trash, now - older.created_at + 1.0, now) == []
    assert [each.name for each in shelf.expire(trash, now - older.created_at - 1.0, now)] == [
        older.name
    ]
    (newer.path / "manifest.json").write_text("{")
    assert shelf.expire(trash, 0.0, now + 1e9) == [] and newer.path.is_dir()


def test_what_cannot_be_removed_is_a_sentence(trash: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the bundle is still there."""
    bundle = shelf.list_bundles(trash)[0]

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(TrashError, match="cannot be removed"):
        shelf.drop(trash, bundle.name)
    assert verify(bundle.path)


def test_only_old_leftovers_are_swept(trash: Path) -> None:
    """An unfinished bundle may be another process' that is still writing."""
    for name, age in (
        (".partial-old", 90_000.0),
        (".partial-new", 60.0),
        (".dropped-x", 60.0),
        (".other", 90_000.0),
    ):
        (trash / name).mkdir()
        os.utime(trash / name, (NOW - age, NOW - age))
    shelf.sweep(trash, NOW)
    left = {each.name for each in trash.iterdir()}
    assert {".partial-new", ".other"} <= left and not left & {".partial-old", ".dropped-x"}
    assert len(shelf.list_bundles(trash)) == 2


def test_a_restored_bundle_says_so(trash: Path) -> None:
    """It stays sound: the mark is not part of what is summed."""
    bundle = shelf.list_bundles(trash)[0]
    assert bundle.restored_at is None
    shelf.mark_restored(bundle.path, load(bundle.path), NOW + 9, bundle.sessions)
    assert shelf.describe(bundle.path).restored_at == NOW + 9
    assert verify(bundle.path)
    for nonsense in ('{"at": "never"}', f'{{"at": [{10**400}]}}', "[" * 100_000):
        (bundle.path / "restored.json").write_text(nonsense)
        assert shelf.describe(bundle.path).restored_at is None
