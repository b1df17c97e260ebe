"""Every layout of a store reads the same: columns, tables and indexes are looked for, never counted
on."""

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import shapes
from builders import make_store
from effort import examples, slow_but
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import DATA
from schemas import MESSAGES, NOW, SESSIONS, read_all
from search_stores import ids
from searching import search
from trashing import run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.health import summarize
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.messages.decode import read_messages_of
from hermes_browse.store.messages.transcript import read_outline
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.list_page import with_details
from hermes_browse.store.sessions.models import Relation


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("name", shapes.NAMES)
def test_every_shape_reads_the_same(name, journal, tmp_path):
    """One conversation in two segments with a branch and a subagent, one job; texts, calls and hits
    alike."""
    path = make_store(tmp_path / "state.db", name, SESSIONS, MESSAGES, journal)
    store = Store(path)
    with store.reader() as reader:
        assert read_all(reader)[:2] == (4, 8)
        catalog = read_catalog(reader, NOW)
        found = catalog.of_session("root")
        assert [each.id for each in found.segments] == ["root", "tip"]
        assert (found.title, found.model) == ("Harbour #2", "m")
        assert (found.branches, found.subagents) == (1, 1)
        assert found.cwd == ("/src" if "cwd" in reader.schema.session_columns else None)
        assert catalog.conversation("agent").relation is Relation.DELEGATED
        (detailed,) = with_details(reader, [found])
        assert (detailed.preview, detailed.shown_count) == ("the lantern of the harbour", 5)
        shown = read_messages_of(
            reader, [row.id for row in read_outline(reader, found.segments).rows]
        )
        assert [each.role for each in shown] == ["user", "assistant", "tool", "user", "assistant"]
        assert shown[1].tool_calls[0].name == "terminal" and shown[2].tool_name == "terminal"
        assert shown[3].text == "灯台の光 lantern" and shown[4].reasoning == "light"
        words = {"lantern": [1, 4, 7], "灯台": [4], "tide": [8], "lant*": [1, 4, 7], "antern": []}
        for text, numbers in words.items():
            answer = search(reader, parse(text), limit=0)
            assert sorted(ids(answer)) == numbers, text
        summary = summarize(reader, Location(path))
        version = shapes.shape(name).version
        assert (summary.schema_version, summary.journal_mode) == (version, journal)
        assert (summary.sessions, summary.messages, summary.warnings) == (5, 8, ())


FIXTURES = {
    path.name.split("-")[1].removeprefix("v"): path for path in sorted(DATA.glob("state-v*.db"))
}
"""By the name of their shape."""

_NEEDED = {"sessions.id", "messages.id", "messages.session_id"}
_OPTIONAL = {
    name: [
        *(f"{table}.{column}" for table in ("sessions", "messages")
          for column in shapes.shape(name).columns(table) if f"{table}.{column}" not in _NEEDED),
        *("schema_version", "state_meta"),
    ]
    for name in FIXTURES
}  # fmt: skip

_COUNTERS = ("sessions.message_count", "sessions.tool_call_count")

_CHANGES = st.sampled_from([
    "ALTER TABLE sessions ADD COLUMN from_the_future TEXT",
    "ALTER TABLE messages ADD COLUMN \"select\" BLOB DEFAULT x'ff'",
    "ALTER TABLE sessions ADD COLUMN pinned_ INTEGER NOT NULL DEFAULT 1",
    "CREATE TABLE attachments (id)",
    "CREATE TABLE session_turn_leases (conversation_id, expires_at)",
    "CREATE VIEW everything AS SELECT * FROM messages",
])  # fmt: skip


@cache
def rows(name, table):
    """The rows of a fixture, which is not touched."""
    with closing(sqlite3.connect(f"file:{FIXTURES[name]}?immutable=1", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f"SELECT * FROM {table}").fetchall()]


def layout(path, name, without, changes=()):
    """The rows of a fixture in a layout that lacks some things and has others."""
    counters = [
        each for each in without if each in _COUNTERS
    ]  # the builder fills them in, so they go at the end
    missing = [each for each in without if each not in counters]
    make_store(path, name, rows(name, "sessions"), rows(name, "messages"), without=missing)
    places = [each.partition(".") for each in counters]
    run(path, *(f"ALTER TABLE {table} DROP COLUMN {column}" for table, _, column in places))
    run(path, *changes)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(list(FIXTURES)[-1:], FIXTURES))
@settings(max_examples=examples(15))
@given(data=st.data())
def test_any_layout_reads(name, data):
    """Whatever optional columns are gone and whatever has been added, every row still reads."""
    without = data.draw(st.lists(st.sampled_from(_OPTIONAL[name]), unique=True, max_size=12))
    changes = data.draw(st.lists(_CHANGES, unique=True, max_size=3))
    if "session_turn_leases" in shapes.shape(name).tables:
        changes = [change for change in changes if "session_turn_leases" not in change]
    with TemporaryDirectory() as folder:
        path = layout(Path(folder) / "state.db", name, without, changes)
        with Store(path).reader() as reader:
            _, messages, _ = read_all(reader)
            assert messages == len(rows(name, "messages"))
            assert len(read_catalog(reader, NOW).sessions) == len(rows(name, "sessions"))


@pytest.mark.parametrize("name", FIXTURES)
def test_only_the_keys_are_needed(name, tmp_path):
    """With every other column gone each session is a conversation, and the messages stand in their
    order."""
    path = layout(tmp_path / "state.db", name, _OPTIONAL[name])
    with Store(path).reader() as reader:
        assert reader.schema.session_columns == {"id"} and reader.schema.message_columns == {
            "id",
            "session_id",
        }
        assert read_all(reader) == (len(rows(name, "sessions")), len(rows(name, "messages")), 0)
