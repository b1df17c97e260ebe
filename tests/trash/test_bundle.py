"""A bundle is whole or not there, tells when it is damaged, and can be read without us."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import stat
import subprocess
from collections import namedtuple
from pathlib import Path

import pytest
from trashing import FAMILY, NOW, differences, dump, family, opened, remove

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import QueryInterruptedError
from hermes_browse.store.trash import bundle as bundles
from hermes_browse.store.trash.bundle import (
    Contents,
    WrittenBundle,
    load,
    new_name,
    read_lines,
    verify,
    write_bundle,
)
from hermes_browse.store.trash.format import BundleDamagedError, RowFate, TrashError, read_manifest
from hermes_browse.store.trash.progress import NOBODY, Progress
from hermes_browse.store.trash.session_files import find

ENOUGH = namedtuple("ENOUGH", "total used free")


def written(path: Path, progress: Progress = NOBODY) -> WrittenBundle:
    """A bundle of the conversation in `family`, with a file of Hermes."""
    folder = path.parent / "sessions"
    folder.mkdir(exist_ok=True)
    (folder / "tip.json").write_text('{"said": "lantern"}' * 50)
    with Store(path).reader() as reader:
        ids = tuple(sorted(FAMILY))
        contents = Contents(ids, ("tip",), ("Harbour #3",), find(reader, folder, ids))
        trash = path.parent / "trash"
        return write_bundle(reader, contents, trash, NOW, progress)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with everything."""
    return family(tmp_path / "state.db")


def test_a_bundle_is_private_and_holds_what_its_manifest_says(store: Path) -> None:
    """Folders 0700, files 0600; names say nothing of what is in it."""
    made = written(store)
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700
    for each in [made.path, *made.path.rglob("*")]:
        assert stat.S_IMODE(each.stat().st_mode) == (0o700 if each.is_dir() else 0o600), each
    names = sorted(
        str(each.relative_to(made.path)) for each in made.path.rglob("*") if each.is_file()
    )
    assert names == ["README.txt", "SHA256SUMS", "files/0001.gz", "manifest.json", "rows.jsonl.gz"]
    assert [each.name for each in made.path.parent.iterdir()] == [made.path.name]
    manifest = verify(made.path)
    assert manifest == made.manifest == load(made.path)
    assert (manifest.messages, manifest.sessions, manifest.titles) == (
        24,
        tuple(sorted(FAMILY)),
        ("Harbour #3",),
    )
    assert manifest.origin.path == str(store) and manifest.origin.schema_version == 31
    assert (
        manifest.tables["messages"].rows == 24
        and manifest.tables["gateway_routing"].fate is RowFate.MENTIONED
    )
    assert {line.table for line in read_lines(made.path)} == manifest.tables.keys()


def test_a_bundle_can_be_read_with_ordinary_tools(store: Path, tmp_path: Path) -> None:
    """The commands of its README.txt do what they say."""
    for tool in ("gzip", "sha256sum", "sqlite3"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} here")
    made = written(store)
    checked = subprocess.run(
        ["sha256sum", "-c", "SHA256SUMS"], cwd=made.path, capture_output=True, text=True
    )
    assert checked.returncode == 0 and checked.stdout.count(": OK") == 4
    readme = (made.path / "README.txt").read_text("ascii")
    commands = [
        line.strip()
        for line in readme.splitlines()
        if line.startswith("    gzip") or "sqlite3 rows.db" in line
    ]
    copy = shutil.copytree(made.path, tmp_path / "copy")
    shown = ""
    for command in commands:
        done = subprocess.run(["sh", "-c", command], cwd=copy, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        shown = done.stdout
    with opened(store, "ro") as connection:
        rows = connection.execute(
            "SELECT role, content FROM messages WHERE session_id NOT IN ('branch', 'other') ORDER BY id"
        ).fetchall()
    assert shown.splitlines() == [f"{role}|{content}" for role, content in rows]


@pytest.mark.parametrize(
    "name", ["README.txt", "SHA256SUMS", "files/0001.gz", "manifest.json", "rows.jsonl.gz"]
)
@pytest.mark.parametrize("how", ["flip", "cut", "gone", "link"])
def test_damage_is_noticed(store: Path, tmp_path: Path, name: str, how: str) -> None:
    """In whichever file and however."""
    path = written(store).path / name
    data = bytearray(path.read_bytes())
    if how == "flip":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif how == "cut":
        path.write_bytes(data[:-9])
    else:
        path.unlink()
    if how == "link":
        (tmp_path / "elsewhere").write_bytes(data)
        path.symlink_to(tmp_path / "elsewhere")
        if name in ("SHA256SUMS", "manifest.json"):
            pytest.skip("the sums are what is looked at, not where they are")
    with pytest.raises(BundleDamagedError):
        verify(path.parent if "/" not in name else path.parent.parent)


def test_rows_that_were_swapped_with_their_sums_are_noticed(store: Path) -> None:
    """The count of rows and the sum of their lines are in the manifest itself."""
    made = written(store)
    rows = made.path / "rows.jsonl.gz"
    lines = gzip.decompress(rows.read_bytes()).splitlines(keepends=True)
    rows.write_bytes(gzip.compress(b"".join(lines[:-1])))
    document = json.loads((made.path / "manifest.json").read_bytes())
    import hashlib

    piece = {"bytes": rows.stat().st_size, "sha256": hashlib.sha256(rows.read_bytes()).hexdigest()}
    document["pieces"]["rows.jsonl.gz"] = piece
    (made.path / "manifest.json").write_text(json.dumps(document))
    sums = (made.path / "SHA256SUMS").read_text().splitlines()
    fresh = {
        name: hashlib.sha256((made.path / name).read_bytes()).hexdigest()
        for name in (s[66:] for s in sums)
    }
    (made.path / "SHA256SUMS").write_text(
        "".join(f"{total}  {name}\n" for name, total in fresh.items())
    )
    with pytest.raises(BundleDamagedError, match="rows its manifest counts"):
        verify(made.path)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"name": 5},
        {"sessions": "tip"},
        {"messages": True},
        {"tables": {"messages": {}}},
        {"links": [{"table": "sessions"}]},
        {"origin": None},
        {"pieces": {"x": {"bytes": "1", "sha256": ""}}},
        {"created_at": "now"},
        {"created_at": 10**400},
    ],
)
def test_a_manifest_of_another_making_is_refused(store: Path, change: dict[str, object]) -> None:
    """Nothing of it is believed unseen."""
    document = json.loads((written(store).path / "manifest.json").read_bytes())
    with pytest.raises(BundleDamagedError):
        read_manifest(json.dumps({**document, **change}).encode())
    for key in change.keys() - {"format"}:
        with pytest.raises(BundleDamagedError):
            read_manifest(
                json.dumps(
                    {name: value for name, value in document.items() if name != key}
                ).encode()
            )


@pytest.mark.parametrize(
    "name", ["../../state.db", "files/../../x", "/etc/passwd", "a/b", "files/a/b"]
)
def test_a_manifest_cannot_lead_outside(store: Path, name: str) -> None:
    """Pieces are files of the bundle."""
    made = written(store)
    document = json.loads((made.path / "manifest.json").read_bytes())
    document["pieces"][name] = {"bytes": 0, "sha256": ""}
    (made.path / "manifest.json").write_text(json.dumps(document))
    import hashlib

    own = hashlib.sha256((made.path / "manifest.json").read_bytes()).hexdigest()
    sums = [
        line
        for line in (made.path / "SHA256SUMS").read_text().splitlines()
        if "manifest" not in line
    ]
    (made.path / "SHA256SUMS").write_text("\n".join([*sums, f"{own}  manifest.json", f"  {name}"]))
    with pytest.raises(
        BundleDamagedError, match=r"outside itself|cannot be read whole|do not agree"
    ):
        verify(made.path)


def test_an_unfinished_bundle_is_none(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped, out of room, or wrong when read back: no folder is left, and nothing is deleted."""
    trash, before = store.parent / "trash", dump(store)
    with pytest.raises(QueryInterruptedError):
        written(store, Progress(lambda: True))
    assert list(trash.iterdir()) == []
    monkeypatch.setattr("shutil.disk_usage", lambda _: ENOUGH(1, 1, 1000))
    with pytest.raises(TrashError, match="No space left"):
        remove(store, "tip")
    assert list(trash.iterdir()) == []
    monkeypatch.undo()

    def damaged(folder: Path, *rest: object) -> None:
        raise BundleDamagedError("Its rows are wrong.")

    monkeypatch.setattr(bundles, "verify", damaged)
    with pytest.raises(TrashError, match="does not give back"):
        remove(store, "tip")
    assert list(trash.iterdir()) == [] and dump(store) == before


@pytest.mark.parametrize("call", ["mkdir", "fsync", "rename"])
def test_what_the_system_refuses_is_a_sentence(
    store: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """With a code for scripts; nothing of it stays."""
    trash, before = store.parent / "trash", dump(store)
    trash.mkdir()
    real = getattr(os, call)

    def refuse(*arguments: object, **rest: object) -> object:
        if call == "fsync" or "partial" in str(arguments[0]):
            raise PermissionError(13, "Permission denied")
        return real(*arguments, **rest)

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(TrashError, match="Permission denied") as caught:
        remove(store, "tip")
    assert caught.value.exit_code == 5 and "Nothing was changed" in str(caught.value)
    assert list(trash.iterdir()) == []
    assert differences(before, dump(store)) == {}


def test_a_trash_that_is_a_file_is_a_sentence(store: Path) -> None:
    """A path in the way is not removed."""
    (store.parent / "trash").write_text("mine")
    with pytest.raises(TrashError):
        remove(store, "tip")
    assert (store.parent / "trash").read_text() == "mine"


def test_names_are_of_time_and_chance() -> None:
    """Two at once differ."""
    names = {new_name(NOW) for _ in range(50)}
    assert len(names) == 50 and all(
        name.startswith("20260720-090000-") and len(name) == 24 for name in names
    )
