"""Names out of any title, and files that are whole or not there; nothing that was there is ever
lost."""

import errno
import os
import stat
import unicodedata
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_browse.store import files
from hermes_browse.store.errors import BrowseError, RefusedError
from hermes_browse.store.export.files import (
    NAME_BYTES,
    check_target,
    file_stem,
    make_folder,
    unique_names,
    write_file,
)


@pytest.mark.parametrize(
    "title, name",
    [
        ("Fix auth bug #3", "Fix auth bug #3"),
        ("../../etc/passwd", "etc passwd"),
        ("/", "conversation"),
        ("..", "conversation"),
        ("", "conversation"),
        ("-rf", "rf"),
        ("~root", "root"),
        (".env", "env"),
        ("con", "_con"),
        ("NUL.txt", "_NUL.txt"),
        ("com¹", "_com¹"),
        ("conscious", "conscious"),
        ('a\\b:c*d?"<>|', "a b c d"),
        ("two\nlines\tand\x00more\x1b[31m", "two lines and more [31m"),
        ("trailing. . ", "trailing"),
        ("e\u0301te\u0301 \u202egnp.exe", "\u00e9t\u00e9 gnp.exe"),
        ("日本" * 100, "日本" * 20),
        ("👩‍👩‍👧" * 20, None),
    ],
)
def test_names_of_titles(title, name):
    """What a title becomes; None: only that it fits."""
    found = file_stem(title)
    assert name is None or found == name
    assert len(found.encode()) <= NAME_BYTES


@given(st.text(), st.integers(16, 200))
def test_any_title_names_a_plain_file(title, most):
    """No separator, no control, no dot or dash ahead, within its bytes; and it stays that on the
    way back."""
    name = file_stem(title, most)
    assert name and len(name.encode()) <= most
    assert name == os.path.basename(name) and not set(name) & set('/\\:*?"<>|')
    assert not {unicodedata.category(letter) for letter in name} & {"Cc", "Cs", "Zl", "Zp"}
    assert name[0] not in ".-~ " and name[-1] not in ". "
    assert file_stem(name, most) == name


TITLES = ["A", "a", "\u00e9", "e\u0301", "", "x" * 300, "A 2"]


@given(
    st.lists(
        st.tuples(st.sampled_from(TITLES), st.text(max_size=30)),
        max_size=9,
    )
)
def test_names_in_one_folder_differ(titles):
    """On file systems that fold case and accents as well; the id tells namesakes apart."""
    names = unique_names(titles, ".md")
    assert len({name.casefold() for name in names}) == len(titles)
    assert all(name.endswith(".md") and len(name.encode()) < 200 for name in names)
    assert unique_names([("A", "id-1"), ("a", "id-2"), ("B", "id-3")], ".md") == [
        "A.md",
        "a (id-2).md",
        "B.md",
    ]
    assert unique_names([("A", "id"), ("a", "id"), ("A", "id")], "") == ["A", "a (id)", "A (id) 2"]


def test_written_whole_for_its_owner(tmp_path):
    """The bytes are counted, the mode is 0600, and nothing else is left in the folder."""
    path = tmp_path / "a.md"
    assert write_file(path, iter(["grün", "\n"])) == 6
    assert path.read_bytes() == b"gr\xc3\xbcn\n" and os.listdir(tmp_path) == ["a.md"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_is_there_stays_until_said_otherwise(tmp_path):
    """A file, a link, a broken link; with force the link is replaced, not what it names."""
    kept, link, broken = tmp_path / "kept", tmp_path / "link", tmp_path / "broken"
    kept.write_text("kept")
    link.symlink_to(kept)
    broken.symlink_to(tmp_path / "nowhere")
    for path in (kept, link, broken):
        with pytest.raises(RefusedError, match="there already"):
            write_file(path, ["new"])
    assert kept.read_text() == "kept" and not (tmp_path / "nowhere").exists()
    write_file(link, ["new"], force=True)
    assert kept.read_text() == "kept" and link.read_text() == "new" and not link.is_symlink()
    write_file(kept, ["newer"], force=True)
    assert kept.read_text() == "newer"


def test_what_is_never_written_over(tmp_path):
    """The store by any of its names, folders, devices: not even with force."""
    store, hard, soft = tmp_path / "state.db", tmp_path / "hard", tmp_path / "soft"
    store.write_text("rows")
    os.link(store, hard)
    soft.symlink_to(store)
    keep = [store, tmp_path / "state.db-wal"]
    for path in (store, hard, soft, tmp_path / "." / "state.db", tmp_path / "state.db-wal"):
        with pytest.raises(RefusedError, match="belongs to the session store"):
            write_file(path, ["x"], force=True, keep=keep)
    (tmp_path / "folder").mkdir()
    with pytest.raises(RefusedError, match="is a folder"):
        check_target(tmp_path / "folder", force=True)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(RefusedError, match="no plain file"):
            check_target(path, force=True)
    assert store.read_text() == "rows" and Path("/dev/null").is_char_device()


def _failing(error):
    yield "half"
    raise error


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError("x")],
)
def test_a_failure_leaves_nothing_behind(tmp_path, error):
    """Neither half a file nor a temporary one, and the old file is as it was."""
    path = tmp_path / "a.md"
    path.write_text("old")
    expected = BrowseError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        write_file(path, _failing(error), force=True)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.md"]


def test_a_full_disk_is_a_sentence(tmp_path, monkeypatch):
    """Noticed at the latest when the file is synced, before it has its name."""
    full = Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(BrowseError, match="failed: No space left on device"):
        write_file(tmp_path / "a.md", ["text"])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_appears_meanwhile(tmp_path, monkeypatch, has_links):
    """Someone else took the name while we wrote: theirs stays. On a file system without links the
    name is taken first."""
    if not has_links:
        none = Mock(side_effect=OSError(errno.EPERM, "Operation not permitted"))
        monkeypatch.setattr(files.os, "link", none)
    write_file(tmp_path / "a.md", ["text"])
    assert (tmp_path / "a.md").read_text() == "text" and os.listdir(tmp_path) == ["a.md"]

    def pieces():
        yield "ours"
        (tmp_path / "b.md").write_text("theirs")

    with pytest.raises(RefusedError, match="there already"):
        write_file(tmp_path / "b.md", pieces())
    assert (tmp_path / "b.md").read_text() == "theirs" and len(os.listdir(tmp_path)) == 2


def test_exported_though_the_temporary_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "out.md"
    stays = Mock(side_effect=PermissionError(errno.EPERM, "Operation not permitted"))
    monkeypatch.setattr(Path, "unlink", stays)
    with pytest.raises(BrowseError) as caught:
        write_file(path, ["whole"])
    assert path.read_text() == "whole" and "it is whole" in caught.value.remedy
    assert caught.value.sentence == f"Writing {path} failed: Operation not permitted."


@pytest.mark.skipif(os.name != "posix", reason="folders are synced there alone")
@pytest.mark.parametrize("force", [False, True])
def test_exported_though_its_folder_cannot_be_synced(tmp_path, monkeypatch, force):
    path, sync = tmp_path / "out.md", os.fsync

    def no_folders(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EIO, "Input/output error")
        sync(handle)

    monkeypatch.setattr(files.os, "fsync", no_folders)
    with pytest.raises(BrowseError, match="failed: Input/output error"):
        write_file(path, ["whole"], force=force)
    assert [each.name for each in tmp_path.iterdir()] == ["out.md"] and path.read_text() == "whole"


def test_without_links_a_name_that_was_taken_is_given_back(tmp_path, monkeypatch):
    fails = Mock(side_effect=OSError(errno.EIO, "Input/output error"))
    monkeypatch.setattr(files.os, "link", fails)
    monkeypatch.setattr(files.os, "replace", fails)
    with pytest.raises(BrowseError, match=r"Writing .*out\.md failed"):
        write_file(tmp_path / "out.md", ["x"])
    assert list(tmp_path.iterdir()) == []


def test_folders(tmp_path):
    """Made for their owner; one that is there will do, a file will not, and a missing parent is a
    sentence."""
    make_folder(tmp_path / "new")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    make_folder(tmp_path / "new")
    (tmp_path / "file").write_text("")
    with pytest.raises(RefusedError, match="is a file"):
        make_folder(tmp_path / "file")
    with pytest.raises(BrowseError, match="failed: No such file"):
        make_folder(tmp_path / "a" / "b")
    with pytest.raises(BrowseError, match="failed: No such file"):
        write_file(tmp_path / "a" / "b.md", ["x"])
