"""What four releases of Hermes did to files with their own tools, as recorded by
`record_edits.py`; and every store can be asked: recorded ones, the sample, and one that holds
anything."""

import builders
import pytest
from paths import DATA
from plays import RELEASES, apply_and_compare, play, repository, store_of, write_files
from statements import noted_statements
from store_builder import T0, add_tool_use

from hermes_browse.store.changes.blame import read_blame
from hermes_browse.store.changes.changes import diff_text, read_changes, relative
from hermes_browse.store.changes.run import read_run
from hermes_browse.store.connection.connect import Store

KNOWN = {
    "README.md", "crlf.txt", "docs/new.md", "empty.txt", "gone.txt", "hand.txt", "long.txt",
    "many.txt", "no_end.txt", "short.txt", "src/app.py", "src/busy.py", "src/moved.py",
    "strange name é.txt", "tests/test_app.py", "to_end.txt", "whole.txt",
}  # fmt: skip
UNKNOWN = {"by_code.txt", "mine.txt", "sedded.txt", "src/util.py", "unread.txt"}
"""Written over what nobody had read, by a program, or touched by a command too."""


def changes_of(document, folder, session, **more):
    """What a session of a play did."""
    path = store_of(document, folder / "state.db", **more)
    with Store(path).reader() as reader:
        return read_changes(reader, session)


def diff_of(changes, path):
    """The diff of one file."""
    return diff_text(each for each in changes.files if each.name == path)


@pytest.mark.parametrize("release", RELEASES)
def test_git_applies_every_known_diff(release, tmp_path):
    """Failed edits change nothing and are counted; commands are listed, and never guessed."""
    document = play(release)
    changes = changes_of(document, tmp_path, "second")
    exact = {each.name: each.is_exact for each in changes.files}
    assert exact == dict.fromkeys(KNOWN, True) | dict.fromkeys(UNKNOWN, False)
    folder = repository(tmp_path / "git", document["before"])
    for path in KNOWN:
        apply_and_compare(folder, diff_of(changes, path), document["between"].get(path), path)
    assert changes.failed == 3
    commands = [each.text for each in changes.commands]
    assert commands == ["sed -i s/old/new/ sedded.txt", "echo made > made.txt"]


def test_subagents_and_segments_belong_to_it(tmp_path):
    changes = changes_of(play("0.19.0"), tmp_path, "first")
    files = {each.name: each for each in changes.files}
    of_subagents = {path for path, change in files.items() if change.by_subagents}
    assert of_subagents == {"src/app.py", "src/busy.py", "tests/test_app.py"}
    app = files["src/app.py"]
    assert {edit.session_id for edit in app.edits} == {"first", "agent", "second"}
    messages = {line.message_id for line in app.diff if line.text.startswith("+")} - {None}
    assert messages == {edit.message_id for edit in app.edits} - {41, 43}  # an edit and its undoing


def test_what_stood_there_before_is_not_known(tmp_path):
    changes = changes_of(play("0.19.0"), tmp_path, "second")
    change = next(each for each in changes.files if each.path.endswith("unread.txt"))
    assert (change.added, change.removed, change.is_exact) == (None, None, False)
    assert "what stood there before is not known" in change.diff[0].text


def test_moved_by_the_agent(tmp_path):
    changes = changes_of(play("0.19.0"), tmp_path, "second")
    assert diff_of(changes, "src/moved.py").startswith(
        "diff --git a/src/old.py b/src/moved.py\nrename from src/old.py\nrename to src/moved.py\n"
    )


def test_the_disk_is_compared_and_left_alone(tmp_path):
    document, folder = play("0.19.0"), tmp_path / "disk"
    write_files(folder, document["between"])
    (folder / "long.txt").write_text("something else\n")
    (folder / "many.txt").unlink()
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    changes = changes_of(document, tmp_path, "second", directory=str(folder))
    states = {each.name: each.disk for each in changes.files}
    wanted = {"docs/new.md": "same", "gone.txt": "same", "long.txt": "changed", "many.txt": "gone"}
    wanted |= {"README.md": None}  # not every line is known
    assert wanted.items() <= states.items()
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == times


def test_an_old_store_without_directories(tmp_path):
    changes = changes_of(play("0.14.0"), tmp_path, "second", shape="11")
    assert "docs/new.md" in [each.path for each in changes.files]
    assert all(each.disk is None for each in changes.files if each.path[:1] != "/")


def _edit(builder, call_id, *names, **flags):
    """A patch of the first line of files."""
    diffs = [f"--- a/{name}\n+++ b/{name}\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n" for name in names]
    modified = [f"/w/{name}" for name in names]
    result = {"success": True, "diff": "\n".join(diffs), "files_modified": modified}
    arguments = {"path": names[0]} if len(names) == 1 else {"mode": "patch"}
    add_tool_use(builder, call_id, "patch", arguments, result, **flags)


def test_rows_that_a_compression_wrote_again_count_once(builder):
    builder.session("s", cwd="/w")
    before = {"active": 0, "compacted": 1}
    builder.message("s", "user", "go", **before)
    builder.message("s", "assistant", "going", **before)
    _edit(builder, "c1", "x.py", **before)
    builder.message("s", "user", "[CONTEXT COMPACTION \u2014 REFERENCE ONLY] so far: a patch")
    _edit(builder, "c1", "x.py")
    for number, row in enumerate(builder.tables["messages"][-3:]):
        row["timestamp"] = T0 + 100 + number * 1e-6  # written at once
    with Store(builder.write()).reader() as reader:
        (change,) = read_changes(reader, "s").files
    assert [edit.message_id for edit in change.edits] == [3]
    assert (change.added, change.removed, change.is_exact) == (1, 1, True)


def test_files_of_one_name_are_told_apart(builder):
    builder.session("s", cwd="/elsewhere")
    _edit(builder, "c", "src/x.py", "x.py")
    with Store(builder.write()).reader() as reader:
        files = read_changes(reader, "s").files
    assert [each.path for each in files] == ["/w/src/x.py", "/w/x.py"]


@pytest.mark.slow
def test_many_calls_take_few_statements(builder):
    builder.session("s", cwd="/w")
    for number in range(5000):
        _edit(builder, f"c{number}", f"{number}.py")
    with Store(builder.write()).reader() as reader, noted_statements() as statements:
        changes = read_changes(reader, "s")
    assert len(statements) < 50
    assert len(changes.files) == 5000
    assert all(change.is_exact for change in changes.files)


NAMES = ('it\'s "x".py', "日本.txt", "-x", "..", "a b.c", "%_.py", ".env", "auth.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    "which", ["sample", "hostile", *sorted(path.name for path in DATA.glob("state-v*.db"))]
)
def test_every_session_can_be_asked(which, tmp_path):
    path = DATA / which
    if which == "sample":
        path = tmp_path / "state.db"
        builders.demo_store(path, now=T0)
    elif which == "hostile":
        path = builders.hostile_store(tmp_path / "state.db")
    with Store(path).reader() as reader:
        for (session,) in reader.rows("SELECT id FROM sessions WHERE id IS NOT NULL"):
            if not isinstance(session, str):
                continue
            changes = read_changes(reader, session)
            assert all(change.edits for change in changes.files)
            read_run(reader, session)
        for name in NAMES:
            blame = read_blame(reader, f"/work/{name}", "one line\n")
            assert [line.text for line in blame] == ["one line"]


@pytest.mark.parametrize(
    "path, shown",
    [
        ("/work/site/a.py", "a.py"),
        ("/etc/hosts", "/etc/hosts"),
        ("/work/sites/a.py", "/work/sites/a.py"),
    ],
)
def test_a_path_outside_of_the_directory_is_shown_whole(path, shown):
    """Without its slash it would look like one inside; so would all where it is not known."""
    assert relative(path, "/work/site/") == relative(path, "/work/site") == shown
    assert relative(path, "") == path


def test_a_name_that_json_escapes(builder):
    """What was read of a file is known, however the calls spell its name."""
    session = builder.session("s", cwd="/work")
    shown = {"content": "1|one\n2|two\n", "file_size": 8}
    add_tool_use(builder, "c1", "read_file", '{"path": "/work/café.py"}', shown)
    written = r'{"path": "/work/caf\u00e9.py", "content": "one\nthree\n"}'
    add_tool_use(builder, "c2", "write_file", written, {"bytes_written": 10})
    with Store(builder.write()).reader() as reader:
        (change,) = read_changes(reader, session).files
    assert change.is_known_before and (change.added, change.removed) == (1, 1)
