"""Every store can be asked: recorded ones, the sample, and one that holds anything."""

import builders
import pytest
from paths import DATA
from store_builder import T0, add_tool_use

from hermes_browse.store.changes.blame import read_blame
from hermes_browse.store.changes.changes import read_changes, relative
from hermes_browse.store.changes.run import read_run
from hermes_browse.store.connection.connect import Store

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
