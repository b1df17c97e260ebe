"""Files of Hermes beside the store: what goes along with a session, and what no id can reach."""

import os
from unittest.mock import Mock

import pytest
from builders import HOSTILE_IDS, make_store
from effort import slow_but
from trashing import NOW, as_before, dump, meanwhile, put_back, remove

from hermes_browse.store.trash.session_files import find_files, owners

MINE = (
    "tip.json",
    "tip.jsonl",
    "session_tip.json",
    "request_dump_tip_20260101_090000_000001.json",
    "request_dump_tip_20260101_090000_000002.json",
)


OTHERS = (
    "other.json",
    "request_dump_other_20260101_090000_000001.json",
    "request_dump_tip_1.json",
    "sessions.json",
    "tip.json.bak",
    "tipx.json",
    "request_dump_tipx_20260101_090000_000001.json",
    "request_dump_tip.json",
)


@pytest.fixture
def folder(tmp_path):
    """Files of sessions of the store, and others."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name in (*MINE, *OTHERS):
        (folder / name).write_text(f"{name} " * 99)
        os.utime(folder / name, (NOW - 5, NOW - 5))
    os.chmod(folder / "tip.json", 0o640)
    return folder


def state(folder):
    """Names, bytes, modes and times of all files."""
    return {
        each.name: (each.read_bytes(), each.stat().st_mode, each.stat().st_mtime_ns)
        for each in sorted(folder.iterdir())
    }


def test_files_go_along_and_come_back(path, folder):
    """With bytes, permissions and times; nobody else's are touched."""
    before = state(folder)
    done = remove(path, "root", sessions_folder=folder)
    assert sorted(done.files) == sorted(MINE) and done.notes == ()
    assert state(folder) == {name: each for name, each in before.items() if name not in MINE}
    mask = os.umask(0o077)
    try:
        back = put_back(path, done.bundle.name, sessions_folder=folder)
    finally:
        os.umask(mask)
    assert back.files == len(MINE) and state(folder) == before


def test_files_come_back_on_a_file_system_without_permissions(path, folder, monkeypatch):
    """Such as FAT, where the system refuses to change them."""
    refuse = Mock(side_effect=PermissionError(1, "Operation not permitted"))
    monkeypatch.setattr(os, "chmod", refuse)
    done = remove(path, "root", sessions_folder=folder)
    assert put_back(path, done.bundle.name, sessions_folder=folder).files == len(MINE)


def test_without_a_folder_of_files_rows_are_all(path, folder):
    """A loose store file belongs to no home; files in the bundle stay there and are named."""
    done = remove(path, "root")
    assert done.files == () and len(state(folder)) == 13
    put_back(path, done.bundle.name)
    done = remove(path, "root", sessions_folder=folder)
    back = put_back(path, done.bundle.name)
    assert back.files == 0 and any("5 files stay in the trash" in each for each in back.notes)


def test_nothing_is_overwritten(path, folder):
    """What is there again stays as it is; the rest comes back."""
    done = remove(path, "tip", sessions_folder=folder)
    (folder / "tip.json").write_text("newer")
    (folder / "tip.jsonl").symlink_to("nowhere")
    back = put_back(path, done.bundle.name, sessions_folder=folder)
    assert back.files == 3 and sum("was left as it is" in each for each in back.notes) == 2
    assert (folder / "tip.json").read_text() == "newer" and not (folder / "nowhere").exists()


def test_a_restore_that_was_cut_after_its_rows(path, folder):
    """Rows are back, files are not: a second one brings them, and a half-written one is no
    hindrance."""
    files, rows = state(folder), dump(path)
    name = remove(path, "tip", sessions_folder=folder).bundle.name
    put_back(path, name)  # as far as a kill after the commit lets it come
    (folder / ".hermes-browse-0123.partial").write_text("half of")
    back = put_back(path, name, sessions_folder=folder)
    assert back.verified and back.files == len(MINE) and "tip" in back.sessions
    assert state(folder) == files and dump(path) == rows
    assert put_back(path, name, sessions_folder=folder) == back and state(folder) == files


def test_a_file_that_cannot_be_written_is_not_called_verified(path, folder, monkeypatch):
    """It is named, nothing is left in its place, and a second try ends well."""
    files = state(folder)
    name = remove(path, "tip", sessions_folder=folder).bundle.name
    real = os.fsync

    def fail(descriptor):
        if os.readlink(f"/proc/self/fd/{descriptor}").endswith(".partial"):
            raise OSError(5, "Input/output error")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    back = put_back(path, name, sessions_folder=folder)
    assert (
        not back.verified
        and back.files == 0
        and sum("could not be written" in each for each in back.notes) == 5
    )
    assert state(folder) == {each: files[each] for each in files if each not in MINE}
    monkeypatch.setattr(os, "fsync", real)
    assert put_back(path, name, sessions_folder=folder).verified and state(folder) == files


def test_a_dump_of_a_longer_id_is_that_sessions(tmp_path):
    """Hermes removes it with the shorter one (0.19); a bundle takes what belongs to its
    sessions."""
    names = [f"request_dump_{each}_20260101_090000_000001.json" for each in ("a", "a_b", "a_c")]
    for name in names:
        (tmp_path / name).write_text("x")
    for ids, found in ((["a"], names[:1]), (["a_b"], names[1:2]), (["a", "a_b"], names[:2])):
        assert [each.path.name for each in find_files(tmp_path, ids)] == found


def test_only_plain_files_with_one_name(path, folder):
    """A link would lead elsewhere, and what has a second name is somebody else's too."""
    for name in MINE:
        (folder / name).unlink()
    outside = path.parent / "outside.json"
    outside.write_text("kept")
    (folder / "tip.json").symlink_to(outside)
    os.link(outside, folder / "tip.jsonl")
    os.mkfifo(folder / "session_tip.json")
    (folder / MINE[4]).mkdir()
    done = remove(path, "tip", sessions_folder=folder)
    assert done.files == ()
    assert outside.read_text() == "kept" and len(state_names(folder) & {*MINE}) == 4


def state_names(folder):
    """Names of all that is in a folder."""
    return {each.name for each in folder.iterdir()}


_PATHS = ["..", ".", "../state", "/etc/passwd", "a/b", "a\x00b"]


@pytest.mark.parametrize(
    "session", slow_but([*HOSTILE_IDS[::4], *_PATHS[::2]], [*HOSTILE_IDS, *_PATHS])
)
def test_ids_that_are_paths_touch_their_rows_alone(tmp_path, session):
    """Whatever the id, nothing outside its rows goes, and it comes back."""
    home = tmp_path / "home"
    (home / "sessions").mkdir(parents=True)
    kept = {home / "state.json": "1", home / "state.jsonl": "2", tmp_path / "passwd.json": "3",
            home / "sessions" / ".json": "4", home / "sessions" / "sessions.json": "5"}  # fmt: skip
    for file, text in kept.items():
        file.write_text(text)
    path = make_store(
        home / "state.db", "31", [{"id": session}, {"id": "kept"}],
        [{"session_id": session, "content": "lantern"}, {"session_id": "kept", "content": "quay"}],
    )  # fmt: skip
    with as_before(path):
        done = remove(path, session, sessions_folder=home / "sessions")
        assert done.bundle.sessions == (session,) and done.files == ()
        assert [row[2] for row in dump(path)["sessions"]] == [b"kept"]
        assert {file: file.read_text() for file in kept} == kept
        assert put_back(path, done.bundle.name).sessions == (session,)


def test_a_file_that_is_written_meanwhile_stays(path, folder, monkeypatch):
    """What is not what was copied is not removed."""

    def act():
        (folder / "tip.json").write_text("another word")
        (folder / "tip.jsonl").unlink()

    meanwhile(monkeypatch, act)
    done = remove(path, "tip", sessions_folder=folder)
    assert [each.rpartition("/")[2] for each in done.notes] == [
        "tip.json was written to meanwhile and stays."
    ]
    assert (folder / "tip.json").read_text() == "another word"


@pytest.mark.parametrize(
    "name, session, fits",
    [
        ("a.json", "a", True),
        ("session_a.json", "a", True),
        ("request_dump_a_20260101_090000_000001.json", "a", True),
        ("request_dump_a_1.json", "a", False),
        ("b.json", "a", False),
        ("../a.json", "a", False),
        ("a.json", "../a", False),
        ("..json", ".", False),
        ("request_dump_a_/x.json", "a", False),
        ("state.db", "state", False),
    ],
)
def test_names_in_a_manifest_are_data_too(name, session, fits):
    """A changed manifest writes no other file."""
    assert (session in owners(name)) is fits
