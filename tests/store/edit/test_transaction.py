"""The one door: one transaction, wholly or not at all, and never the connection that takes the log
along."""

import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from paths import ROOT
from trashing import as_before, dump, rows, write
from writing import NEEDS, check, handles, retitle, small_store

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.transaction import writing
from hermes_browse.store.errors import (
    BrowseError,
    RefusedError,
    StoreMissingError,
    WriteFailedError,
    WriteUnverifiedError,
)


@pytest.fixture(params=["wal", "delete"])
def path(request, tmp_path):
    """A small store in either journal mode."""
    return small_store(tmp_path / "state.db", str(request.param))


def test_done_and_let_go_of(path):
    """The work is committed, what it returned is given back, no handle is kept and the journal mode
    stays."""
    before = rows(path, "PRAGMA journal_mode")
    assert write(Store(path), retitle, check, needs=NEEDS) == "Quay"
    assert dump(path)["sessions"][0][2:].count(b"Quay") == 1
    assert rows(path, "PRAGMA journal_mode") == before
    assert handles(path) == []


def test_foreign_keys_are_on(path):
    """A session whose messages are still there is not deleted, whatever a connection of SQLite
    would do by itself."""
    with (
        as_before(path),
        pytest.raises(WriteFailedError, match=r"FOREIGN KEY.*Nothing was changed"),
    ):
        write(
            Store(path),
            lambda unit: unit.execute("DELETE FROM sessions WHERE id = 'a'"),
            lambda *_: None,
        )


def test_what_the_work_raises_takes_it_back(path):
    """Its own error, unchanged; an interrupt from the keyboard too."""
    before = dump(path)
    for error in (RefusedError("Not now."), KeyboardInterrupt(), ZeroDivisionError()):

        def work(unit, error=error):
            retitle(unit)
            assert unit.rows("SELECT total_changes()") == [(1,)]
            raise error

        with pytest.raises(type(error)) as caught:
            write(Store(path), work, lambda *_: None)
        assert caught.value is error
        assert dump(path) == before


def test_rows_of_the_unit_are_those_of_the_transaction(path):
    """It sees its own work, text that is no UTF-8 does not stop it, and triggers count as
    changes."""

    def work(unit):
        unit.execute("UPDATE sessions SET title = CAST(x'ff41' AS TEXT) WHERE id = 'b'")
        unit.execute("DELETE FROM messages WHERE session_id = ?", ["b"])
        ((changed,),) = unit.rows("SELECT total_changes()")
        assert int(str(changed)) > 2, "the search index too"
        return unit.rows("SELECT title FROM sessions WHERE id = ?", ["b"])

    assert write(Store(path), work, lambda *_: None, needs=NEEDS) == [("\ufffdA",)]


def test_no_room_on_the_disk(path):
    """A sentence that says so, and nothing is changed."""
    with as_before(path):

        def work(unit):
            retitle(unit)
            unit.rows(
                "PRAGMA max_page_count=1"
            )  # as many as there are: SQLite says what it says on a full disk
            unit.execute("UPDATE sessions SET title = hex(randomblob(1000000)) WHERE id = 'b'")

        with pytest.raises(WriteFailedError, match=r"no room left.*Nothing was changed"):
            write(Store(path), work, lambda *_: None)


def test_what_does_not_read_back_is_told(path):
    """By the verifier's own words; where it cannot read at all, that is said."""
    store = Store(path)
    with pytest.raises(WriteUnverifiedError, match="It is not there") as caught:
        write(store, lambda unit: retitle(unit) and "Pier", check)
    assert caught.value.exit_code == 1
    with pytest.raises(WriteUnverifiedError, match=r"could not be read back.*nonsense"):
        write(store, retitle, lambda reader, _: reader.rows("SELECT nonsense") and None)


def test_nothing_is_made_where_nothing_is(tmp_path):
    """A store that is missing stays missing."""
    with pytest.raises(StoreMissingError):
        write(Store(tmp_path / "state.db"), retitle, check)
    assert list(tmp_path.iterdir()) == []


def test_replaced_before_the_transaction(path):
    """Another file by the same name is not the one that was looked at."""
    copy = Path(shutil.copy(path, path.parent / "copy.db"))
    before = dump(copy)
    with (
        pytest.raises(RefusedError, match=r"replaced.*Nothing was changed"),
        writing(Store(path), ()) as writer,
    ):
        os.replace(copy, path)
        writer.run(retitle, check)
    for leftover in path.parent.glob("state.db-*"):
        leftover.unlink()  # the log of the file that is gone
    assert dump(path) == before


def test_replaced_during_the_transaction(path):
    """The work is in a file that is gone: that is told, not passed over."""
    copy = Path(shutil.copy(path, path.parent / "copy.db"))
    with pytest.raises(WriteUnverifiedError, match="replaced"):
        write(Store(path), lambda unit: (retitle(unit), os.replace(copy, path)), lambda *_: None)


def test_new_tables_since_the_guards_looked(path):
    """Hermes migrates a file when it opens it: what was checked then is checked anew."""
    with (
        pytest.raises(RefusedError, match=r"just been changed.*Nothing was changed"),
        writing(Store(path), ()) as writer,
        closing(sqlite3.connect(path)) as hermes,
    ):
        hermes.execute("CREATE TABLE new_table (id)")
        writer.run(retitle, check)
    assert write(Store(path), retitle, check) == "Quay"


def test_only_one_module_opens_a_store_for_writing():
    """And only one more opens it at all; two make stores that are nobody's: the sample, and one of
    old transcripts."""
    raw, own, openings = set(), set(), {}
    for source in [*ROOT.glob("store/**/*.py"), *ROOT.glob("tui/**/*.py")]:
        text = source.read_text(encoding="utf-8")
        name = source.relative_to(ROOT).as_posix()
        assert not re.search(r"from sqlite3 import|\bsqlite3 as\b", text), source
        if "sqlite3.connect(" in text:
            raw.add(name)
        if re.search(r"failures import (\([^)]*|.*)\bown_file\b", text):
            own.add(name)
        if re.search(r"failures import (\([^)]*|.*)\bopened\b", text):
            openings[name] = set(re.findall(r"\bopened\((.+?), (.+?),", text))
    assert raw == {
        "store/connection/failures.py",
        "store/demo/__init__.py",
        "store/places/old_transcripts.py",
        # Only in memory: a table of conversations, one of sums, and the limit of memory.
        "store/search/scope.py",
        "store/insights/facts.py",
        "store/hosts/serving.py",
    }
    assert openings == {
        "store/connection/connect.py": {("self.path", "mode")},
        "store/edit/transaction.py": {("path", '"rw"')},
        "store/trash/copying.py": {("store", '"ro"')},
        # No stores: deletions, Hermes' ledger of cron runs.
        "store/trash/bundle.py": {("path", "READ_ONLY")},
        "store/since/cron_runs.py": {("path", '"ro"')},
    }
    # Tags and read marks; the links of deletions.
    assert own == {"store/notes/notes_file.py", "store/trash/bundle.py"}


def test_errors_of_a_write_are_ours(path):
    """No raw error of SQLite leaves it, whatever happens in the work."""
    statements = (
        "DELETE FROM nowhere",
        "INSERT INTO sessions (id) VALUES ('a')",
        "not SQL",
        "UPDATE sessions SET id = 'a'",
        "SELECT nonsense FROM sessions",
    )
    with as_before(path):
        for statement in statements:
            with pytest.raises(BrowseError, match=r"(?i)nothing was changed"):
                write(Store(path), lambda unit, sql=statement: unit.execute(sql), lambda *_: None)
