"""Every way a store can refuse to be read is a sentence with a remedy, of its own kind."""

import os
import sqlite3

import pytest
from builders import make_store
from searching import search
from trashing import run
from writing import handles

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import flags
from hermes_browse.store.errors import (
    Advice,
    NotAStoreError,
    StoreDamagedError,
    StoreEmptyError,
    StoreError,
    StoreMissingError,
)
from hermes_browse.store.hermes.health import warnings_of
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.list_page import with_details
from hermes_browse.store.sessions.models import View
from hermes_browse.tui.cli import main


def reading(path):
    """Read everything there is.

    Returns:
        How many conversations.
    """
    with Store(path, busy_seconds=0.2).reader() as reader:
        conversations = with_details(reader, read_catalog(reader, 0.0).select(View.ALL))
        search(reader, parse("docker"), limit=0)
    return len(conversations)


def made(path, *statements):
    path.touch()
    run(path, *statements)
    return path


def test_what_is_no_store_has_its_answer(tmp_path):
    """Missing, a folder, empty, noise, another program's."""
    table = "CREATE TABLE recipes (id)"
    noise, empty = tmp_path / "noise.db", tmp_path / "empty.db"
    noise.write_bytes(os.urandom(8192))
    empty.touch()
    dropped = made(tmp_path / "dropped.db", table, "DROP TABLE recipes")
    cases = [
        (tmp_path / "none.db", StoreMissingError, "no session store", Advice.OPEN_ANOTHER),
        (tmp_path, NotAStoreError, "folder", Advice.NAME_FILE_OR_ROOT),
        (empty, StoreEmptyError, "is empty", Advice.START_CHAT),
        (dropped, StoreEmptyError, "no tables", Advice.START_CHAT),
        (noise, NotAStoreError, "no SQLite database", Advice.NAME_STORE),
        (made(tmp_path / "other.db", table), NotAStoreError, "not a Hermes", Advice.NAME_STORE),
    ]
    for path, kind, sentence, advice in cases:
        with pytest.raises(kind, match=sentence) as caught:
            reading(path)
        assert caught.value.advice is advice
        assert handles(path) == [], "of an open that fails"


def test_a_newer_schema_is_read_and_said(fixture_store):
    """Never refused for its number."""
    path = fixture_store("state-v31")
    made(
        path,
        "UPDATE schema_version SET version = 99",
        "ALTER TABLE sessions ADD COLUMN from_the_future TEXT",
    )
    assert reading(path) == 76
    with Store(path).reader() as reader:
        assert any("newer" in each.text for each in warnings_of(reader))


@pytest.mark.parametrize(
    "name", ["with space.db", "50%25.db", "what?.db", "a#b.db", "日本.db", "it's;--.db"]
)
def test_any_name(fixture_store, tmp_path, name):
    """The path is data, also inside an SQLite address."""
    path = fixture_store("state-v22").rename(tmp_path / name)
    assert reading(path) == 56


def test_delete_journal_mode(fixture_store):
    """The default of new stores since 0.20: nothing appears beside the file, and a writer is never
    kept waiting."""
    path = fixture_store("state-v22")
    connection = sqlite3.connect(path, isolation_level=None)
    assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
    with Store(path).reader() as reader:
        assert read_catalog(reader, 0.0).counts()[View.ALL] == 56
        connection.execute("PRAGMA busy_timeout=0")
        connection.execute(
            "UPDATE sessions SET title = 'changed' WHERE id = '20260116_090000_abc001'"
        )
        assert (
            reader.value("SELECT title FROM sessions WHERE id = '20260116_090000_abc001'")
            == "changed"
        )
    connection.close()
    assert not list(path.parent.glob("*.db-*"))


def test_a_damaged_file_is_named(fixture_store):
    """Zeroed pages cost what stood on them, or a sentence; never a traceback."""
    path = fixture_store("state-v22")
    content = bytearray(path.read_bytes())
    for page in range(20, len(content) // 1024, 7):
        content[page * 1024 : (page + 1) * 1024] = bytes(1024)
    path.write_bytes(content)
    try:
        assert reading(path) > 0
    except StoreError as error:
        assert error.remedy


@pytest.fixture
def misnamed(tmp_path):
    """A store whose table of sessions has such a name."""
    path = make_store(tmp_path / "state.db", "22", [{"id": "a"}], journal="delete")
    name = (
        "UPDATE sqlite_master SET name = CAST(x'73657373696fc173' AS TEXT) WHERE name = 'sessions'"
    )
    run(path, "PRAGMA writable_schema=ON", name)
    return path


def test_a_damaged_name_in_the_schema_is_damage(misnamed):
    """It is no UTF-8, and SQLite's message is not either. For readers and writers."""
    with pytest.raises(StoreDamagedError, match="malformed database schema") as caught:
        Store(misnamed).open()
    assert "hermes sessions repair" in caught.value.remedy
    with pytest.raises(StoreDamagedError, match="malformed"):
        flags.rename(Store(misnamed), "a", "Quay")


@pytest.mark.parametrize(
    "command",
    [
        "list",
        "doctor",
        "show a",
        "export a",
        "rename a b",
        "delete --yes a",
        "search a",
        "prune",
        "stats",
    ],
)
def test_commands_say_what_to_do(misnamed, capsys, command):
    """Every command, and none asks to look into the log."""
    code = main(["--db", str(misnamed), *command.split()])
    said = capsys.readouterr()
    assert code in (1, 3) and "unexpected" not in said.err
    assert "hermes sessions repair" in said.out + said.err


@pytest.mark.parametrize(
    "statement", ["DELETE FROM schema_version", "UPDATE schema_version SET version = 99"]
)
def test_every_warning_has_a_remedy(tmp_path, statement):
    """Newer, without a number, without an index."""
    path = make_store(tmp_path / "state.db", "22", [{"id": "a"}], fts=False)
    nameless = "INSERT INTO sessions (id, source, started_at) VALUES (NULL, 'cli', 1)"
    run(path, statement, nameless)
    with open_store(path) as store:
        found = store.summary().warnings
    assert {"store", "no-index"} <= {each.code for each in found}
    assert all(each.remedy for each in found)
