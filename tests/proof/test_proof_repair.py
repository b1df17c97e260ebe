"""Beside a repair: `hermes sessions repair` mends a broken store while the browser is on it,
whichever way it takes."""

import os
import subprocess
import sys

import pytest
from builders import big_store
from counts import IS_LONG, setting
from driver import FEW, LEFT, NO_QUERY, Driven
from platforms import needs_hermes, posix_only
from trashing import rows, run
from watching import check_and_count

IDEA = "beside Hermes' repair"
pytestmark = [posix_only, needs_hermes]
SIZE = (60, 900)
BREAKS = {
    "already healthy": (),
    "rebuild_fts": ("UPDATE messages_fts_data SET block = x'0000000000' WHERE id = 10",),
    "dedup_schema": (
        "PRAGMA writable_schema=ON",
        "INSERT INTO sqlite_master SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master "
        "WHERE name = 'messages_fts'",
    ),
    "drop_fts_rebuild": (
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_master SET sql = 'CREATE VIRTUAL TABLE messages_fts USING nonsense(' "
        "WHERE name = 'messages_fts'",
    ),
}
"""By what Hermes 0.19 calls the way it mends it: how a store is broken."""
AGAIN = "\x1b[15~"
"""F5."""
IN_THE_LIST = (AGAIN, "jj", "\tG", f"{LEFT}g", "2", "1")
IN_THE_SEARCH = (AGAIN, f"{NO_QUERY}zebra", f"{NO_QUERY}ferry")
"""What is read over and over while Hermes repairs."""
_APPEND = """
import sys
from pathlib import Path
from hermes_state import SessionDB
db = SessionDB(Path(sys.argv[1]))
db.create_session("writer-0", "cli")
db.set_session_title("writer-0", "Written after it")
db.append_message("writer-0", "user", "the quokka is back")
print(len(db.search_messages("quokka", limit=5)))
db.close()
"""


@pytest.mark.parametrize("way", [pytest.param(way, marks=pytest.mark.long) for way in BREAKS])
def test_a_repair_under_an_open_browser(way, tmp_path, tell):
    """The repair succeeds, takes the way it takes without us, and loses no row; the browser shows
    the mended store."""
    for number in range(setting("REPAIRS", 1, 2)):
        home = tmp_path / str(number)
        home.mkdir()
        _repair(big_store(home / "state.db", *SIZE), way, number % 2 == 0, tell)


def _repair(store, way, searching, tell):
    browser = Driven(store)
    browser.opened()
    if searching:
        browser.send("/ferry", "hits in")
    run(store, *BREAKS[way])
    browser.send(AGAIN)  # it meets the store broken, or cannot tell
    browser.read(0.5)
    with subprocess.Popen(
        [sys.executable, "-m", "hermes_cli.main", "sessions", "repair"],
        env={**os.environ, "HERMES_HOME": str(store.parent)},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as repair:  # fmt: skip
        while repair.poll() is None:  # reads on all the while, whatever there is to be read
            for keys in IN_THE_SEARCH if searching else IN_THE_LIST:
                browser.send(keys)
                browser.read(0.15)
            assert browser.child.isalive(), browser.text
        said = repair.stdout.read()
    assert repair.returncode == 0, said
    if way == "already healthy":
        assert "no repair needed" in said, said
    else:
        assert f"strategy: {way}" in said and f"{SIZE[0]} sessions recovered" in said, said
    done = subprocess.run(
        [sys.executable, "-c", _APPEND, str(store)], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.strip()) == (0, "1"), done.stderr
    if searching:
        browser.send(f"{NO_QUERY}\r{LEFT}")
    browser.wait_for("search: words")
    browser.send(f"{LEFT}{AGAIN}g", "Written after it")
    tell("steps through reading features", browser.walk(1.0 if IS_LONG else 0.35, FEW))
    browser.finish("q")
    assert browser.is_restored
    assert check_and_count(store) == 1
    counts = "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM messages)"
    assert rows(store, counts) == [(SIZE[0] + 1, SIZE[1] + 1)]
    tell("repairs by Hermes under an open browser")
    tell(f"of them {way}")
