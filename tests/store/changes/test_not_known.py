"""What cannot be known of a file is not passed off as known: results as the tools of Hermes 0.19
gave them, in the situations in which they leave something out."""

import os

import pytest
from file_calls import code, missing, patch, patches, read, store_by, terminal, write
from plays import apply_and_compare, repository

from hermes_browse.store.changes.changes import diff_text, read_changes
from hermes_browse.store.connection.connect import Store

OLD, NEW = "a\nend\n", "b\nend\n"


def changes_by(folder, *calls, cwd="/w"):
    """What some calls did: each a tool, its arguments and its result."""
    store, _ids = store_by(folder, *calls, cwd=cwd)
    with Store(store).reader() as reader:
        return read_changes(reader, "s")


def known(changes):
    """The files by name, and whether their diffs are known whole."""
    return {each.name: each.is_exact for each in changes.files}


def test_a_path_is_no_patch(tmp_path):
    """One that holds a diff stays within the comment of a diff that is not known whole."""
    evil = (
        "x\ndiff --git a/Makefile b/Makefile\n--- a/Makefile\n+++ b/Makefile\n@@ -1 +1 @@\n-a\n+b\n"
    )
    text = diff_text(changes_by(tmp_path, write(evil, "new\n", f"/w/{evil}")).files)
    assert text and all(line.startswith("# ") for line in text.splitlines())


def test_a_path_that_is_no_text(tmp_path):
    """JSON may hold half of a character."""
    assert "?.txt" in diff_text(changes_by(tmp_path, write("/w/\udcff.txt", "new\n")).files)


_MIXED = (
    "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n one\r\n+two\n three\r\n",
    "--- a/b.txt\n+++ b/b.txt\n@@ -2,0 +3,1 @@\n+three\n",
)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        # The tool knows best where a file is: above the directory, in another one that the terminal
        # went to, or behind a link.
        (
            (
                terminal("cd sub"),
                patch("../x.py", OLD, NEW, "/w/x.py"),
                patch("y.py", OLD, NEW, "/w/sub/y.py"),
                patch("/w/link.py", OLD, NEW, "/w/real.py"),
            ),
            {"x.py": True, "sub/y.py": True, "real.py": True},
        ),
        # A patch of files writes all lines as the first one ends, and shows new ones without a
        # carriage return.
        (
            (
                read("b.txt", "one\r\ntwo\r\n"),
                patches(_MIXED[0], "/w/a.txt"),
                patches(_MIXED[1], "/w/b.txt"),
            ),
            {"a.txt": False, "b.txt": False},
        ),
        # A mark ahead of the text is not shown.
        (
            (read("a.txt", OLD, size=len(OLD) + 3), patch("a.txt", OLD, NEW)),
            {"a.txt": False},
        ),
        # What was there before a file took its place is gone without a trace in the diff.
        (
            (
                read("b.txt", "b\n"),
                patches("# Deleted: b.txt", "/w/b.txt"),
                patches("# Moved: a.txt -> b.txt", "/w/a.txt", "/w/b.txt"),
            ),
            {"b.txt": False},
        ),
    ],
    ids=["places", "line ends", "mark", "moved"],
)
def test_which_files_are_known_whole(tmp_path, calls, expected):
    assert known(changes_by(tmp_path, *calls)) == expected


_WRITTEN = write("/w/README.md", "new\n", "/w/README.md")


@pytest.mark.parametrize(
    "calls",
    [
        # The file tools follow the terminal, and the result of a read does not say where it was.
        (terminal("cd api && ls"), read("README.md", "of api\n"), _WRITTEN),
        (terminal("cd api && ls"), missing("README.md"), _WRITTEN),
        # What was masked or cut may be as long as what stands there.
        (read("a.py", "k = '«redacted:sk-…»'\n"), write("a.py", "new\n")),
        (read("a.py", "x... [truncated]\n"), write("a.py", "new\n")),
    ],
    ids=["read elsewhere", "missed elsewhere", "masked", "cut"],
)
def test_what_was_read_is_not_what_stood_there(tmp_path, calls):
    (change,) = changes_by(tmp_path, *calls).files
    assert not change.is_known_before


@pytest.mark.parametrize(
    "calls",
    [
        # Most commands begin with `cd` into the directory of the session.
        (
            terminal("cd api"),
            terminal("cd /w && make x"),
            read("a.md", "old\n"),
            write("/w/a.md", "new\n", "/w/a.md"),
        ),
        # `write_file` over a file with carriage returns writes them, and only its size tells so.
        (
            read("a.txt", "one\r\ntwo\r\n"),
            (
                "write_file",
                {"path": "a.txt", "content": "one\n2\n"},
                {"bytes_written": len("one\r\n2\r\n")},
            ),
        ),
    ],
    ids=["the terminal comes back", "line ends are kept"],
)
def test_what_was_read_stood_there(tmp_path, calls):
    (change,) = changes_by(tmp_path, *calls).files
    assert change.is_exact and (change.added, change.removed) == (1, 1)


def test_what_was_read_by_a_link_is_known(tmp_path):
    calls = read("/w/link.py", "a\n"), write("/w/link.py", "b\n", "/w/real.py")
    (change,) = changes_by(tmp_path, *calls).files
    assert change.is_exact and change.first_path == change.path == "/w/real.py"


def test_a_directory_that_is_a_link(tmp_path):
    """The tools name files as the system does, and Git wants them below the directory."""
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to("real")
    real = os.path.realpath(tmp_path / "real")
    calls = read("a.md", "old\n"), write("a.md", "new\n", f"{real}/a.md")
    assert known(changes_by(tmp_path, *calls, cwd=link)) == {"a.md": True}


@pytest.mark.parametrize(
    "command",
    [
        terminal("# don't\nsed -Ei s/a/b/ src/*.py"),
        terminal("if x; then sudo rm -rf src; fi"),
        terminal("git checkout ."),
        code("from pathlib import Path\nPath('src/x.py').write_text('new')"),
        code("open('src/x.py', 'a').write('new')"),
    ],
    ids=["wildcard", "folder", "everything", "path", "open"],
)
def test_a_command_that_may_have_changed_it(tmp_path, command):
    """What stands on the disk may be what the conversation itself left then."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "x.py").write_text("c\nend\n")
    edit = patch("src/x.py", OLD, NEW, str(tmp_path / "src" / "x.py"))
    (change,) = changes_by(tmp_path, edit, command, cwd=tmp_path).files
    assert not change.is_exact and change.disk is None


def test_a_program_that_ended_early(tmp_path):
    """Nobody knows which of its edits were made."""
    name, arguments, result = code("write_file('x.py', 'c')\nwrite_file('y.py', 'd')")
    failed = name, arguments, result | {"status": "error", "tool_calls_made": 1}
    changes = changes_by(tmp_path, patch("x.py", OLD, NEW), failed)
    assert known(changes) == {"x.py": False}
    assert [each.text for each in changes.commands] == [arguments["code"]]


def test_a_program_that_only_reads_changes_no_file(tmp_path):
    calls = patch("x.py", OLD, NEW), code("print(open('x.py').read())"), code("import made_here")
    changes = changes_by(tmp_path, *calls)
    assert known(changes) == {"x.py": True} and len(changes.commands) == 2


@pytest.mark.parametrize("is_new", [True, False])
def test_an_empty_file_that_was_moved(tmp_path, is_new):
    """Git wants one name in the head of a file that is new, or gone."""
    first = (missing("a.txt"), write("a.txt", "")) if is_new else (read("a.txt", ""),)
    moved = patches("# Moved: a.txt -> b.txt", "/w/a.txt", "/w/b.txt")
    gone = () if is_new else (patches("# Deleted: b.txt", "/w/b.txt"),)
    changes = changes_by(tmp_path, *first, moved, *gone)
    folder = repository(tmp_path / "git", {} if is_new else {"a.txt": ""})
    name, left = ("b.txt", "") if is_new else ("a.txt", None)
    apply_and_compare(folder, diff_text(changes.files), left, name)
