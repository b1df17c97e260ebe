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


@pytest.mark.parametrize(
    "seen", [read("README.md", "of api\n"), missing("README.md")], ids=["read", "missed"]
)
def test_what_is_read_elsewhere_is_not_of_this_directory(tmp_path, seen):
    """The file tools follow the terminal, and the result of a read does not say where it was."""
    written = write("/w/README.md", "new\n", "/w/README.md")
    (change,) = changes_by(tmp_path, terminal("cd api && ls"), seen, written).files
    assert not change.is_known_before


def test_a_terminal_that_comes_back(tmp_path):
    """Most commands begin with `cd` into the directory of the session."""
    seen = terminal("cd api"), terminal("cd /w && make x"), read("a.md", "old\n")
    (change,) = changes_by(tmp_path, *seen, write("/w/a.md", "new\n", "/w/a.md")).files
    assert change.is_exact and (change.added, change.removed) == (1, 1)


def test_the_tool_knows_best_where_a_file_is(tmp_path):
    """Above the directory, in another one that the terminal went to, or behind a link."""
    calls = (
        terminal("cd sub"),
        patch("../x.py", OLD, NEW, "/w/x.py"),
        patch("y.py", OLD, NEW, "/w/sub/y.py"),
        patch("/w/link.py", OLD, NEW, "/w/real.py"),
    )
    assert known(changes_by(tmp_path, *calls)) == {"x.py": True, "sub/y.py": True, "real.py": True}


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


def test_line_ends_that_a_patch_of_files_does_not_show(tmp_path):
    """It writes all lines as the first one ends, and shows new ones without a carriage return."""
    within = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n one\r\n+two\n three\r\n"
    at_end = "--- a/b.txt\n+++ b/b.txt\n@@ -2,0 +3,1 @@\n+three\n"
    calls = (
        read("b.txt", "one\r\ntwo\r\n"),
        patches(within, "/w/a.txt"),
        patches(at_end, "/w/b.txt"),
    )
    assert known(changes_by(tmp_path, *calls)) == {"a.txt": False, "b.txt": False}


def test_line_ends_that_a_write_keeps(tmp_path):
    """`write_file` over a file with carriage returns writes them, and only its size tells so."""
    name, arguments, result = write("a.txt", "one\n2\n")
    written = name, arguments, result | {"bytes_written": len("one\r\n2\r\n")}
    (change,) = changes_by(tmp_path, read("a.txt", "one\r\ntwo\r\n"), written).files
    assert change.is_exact and (change.added, change.removed) == (1, 1)


@pytest.mark.parametrize("text", ["k = '«redacted:sk-…»'\n", "x... [truncated]\n"])
def test_what_was_masked_or_cut_is_not_the_text(tmp_path, text):
    """It may be as long as what stands there."""
    (change,) = changes_by(tmp_path, read("a.py", text), write("a.py", "new\n")).files
    assert not change.is_known_before


def test_a_mark_ahead_of_the_text_is_not_shown(tmp_path):
    calls = read("a.txt", "one\nend\n", size=11), patch("a.txt", "one\nend\n", "two\nend\n")
    assert known(changes_by(tmp_path, *calls)) == {"a.txt": False}


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


def test_a_file_that_takes_the_place_of_another(tmp_path):
    """What was there is gone without a trace in the diff."""
    gone = patches("# Deleted: b.txt", "/w/b.txt")
    moved = patches("# Moved: a.txt -> b.txt", "/w/a.txt", "/w/b.txt")
    assert known(changes_by(tmp_path, read("b.txt", "b\n"), gone, moved)) == {"b.txt": False}


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
