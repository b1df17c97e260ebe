"""Killed at any moment, with a writer beside: each conversation is wholly in the store or wholly in
a bundle.

Twenty times; HERMES_BROWSE_KILLS sets another number.
"""

import os
import random
import signal
import time

import pytest
from builders import T0, make_store
from trashing import is_sound, rows
from writing import another_process

from hermes_browse.store.trash.bundle import verify
from hermes_browse.store.trash.shelf import list_bundles

KILLS = int(os.environ.get("HERMES_BROWSE_KILLS", "20"))
CHATS = [f"chat{number}" for number in range(6)]

_CLEANER = """
import random, sys
from pathlib import Path
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.trash.shelf import find, list_bundles, remove_bundle
from hermes_browse.store.edit import transaction
from hermes_browse.store.edit.delete import delete
from hermes_browse.store.cleanup.bulk import clean_up
from hermes_browse.store.cleanup.plan import make_plan
from hermes_browse.store.edit.restore import restore
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.cleanup.selection import Selection, parse_line
NOW = 1784538000.0
transaction.PATIENCE = 20.0
def prune(store, trash, names):
    with store.reader() as reader:
        catalog = read_catalog(reader, NOW)
        there = [name for name in names if name in catalog.sessions]
        plan = make_plan(reader, catalog, Selection(parse_line("", NOW), frozenset(there)), NOW)
    expected = [planned.expected for planned in plan.selected]
    error = clean_up(store, expected, trash, None).error
    if error is not None:
        raise error
store, trash, chance = Store(Path(sys.argv[1])), Path(sys.argv[2]), random.Random(int(sys.argv[3]))
print("ready", flush=True)
while True:
    try:
        bundles = list_bundles(trash)
        if chance.random() < 0.25:
            prune(store, trash, chance.sample(sys.argv[4:], 2))
        elif bundles and chance.random() < 0.45:
            name = chance.choice(bundles).name
            restore(store, trash, name)
            remove_bundle(find(trash, name))
        else:
            delete(store, [chance.choice(sys.argv[4:])], trash, now=NOW)
    except BrowseError as error:
        if error.exit_code not in (4, 5):
            print(error, file=sys.stderr, flush=True)
            raise
"""

_WRITER = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
connection.execute("PRAGMA foreign_keys=ON")
print("ready", flush=True)
while True:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('writer', 'user', 'zebra', ?)",
                       [time.time()])
    connection.execute("UPDATE sessions SET message_count = message_count + 1 WHERE id = 'writer'")
    connection.execute("COMMIT")
    time.sleep(0.01)
"""


def store_of(path, shape, journal):
    """Six chats of two segments and a subagent, each with messages enough to take a moment."""
    sessions = [{"id": "writer"}]
    messages = []
    for name in CHATS:
        sessions += [
            {"id": name, "end_reason": "compression", "ended_at": T0},
            {"id": f"{name}-next", "parent_session_id": name},
            {"id": f"{name}-helper", "source": "subagent", "parent_session_id": name,
             "model_config": f'{{"_delegate_from": "{name}"}}'},
        ]  # fmt: skip
        for session in (name, f"{name}-next", f"{name}-helper"):
            messages += [
                {"session_id": session, "content": f"{name} lantern {n} " * 20} for n in range(60)
            ]
    return make_store(path, shape, sessions, messages, journal)


def rows_by_session(path):
    """All rows of sessions and messages by the session they are of."""
    found = {}
    for table, column in (("sessions", "id"), ("messages", "session_id")):
        for owner, *row in rows(path, f"SELECT {column}, * FROM {table}"):
            found.setdefault(owner, set()).add((table, *row))
    del found["writer"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("shape, journal", [("22", "wal"), ("31", "delete")])
def test_killed_at_any_moment(tmp_path, shape, journal):
    """Half of the runs in either journal mode."""
    path, trash = store_of(tmp_path / "state.db", shape, journal), tmp_path / "trash"
    whole, chance = rows_by_session(path), random.Random(shape)
    gone, back, times, wanted = set(), set(), 0, max(1, KILLS // 2)
    with another_process(_WRITER, str(path)) as writer:
        try:
            while times < wanted or not (gone and back):
                times += 1
                assert times < wanted + 100, f"gone: {gone}, back: {back}"
                seed = str(chance.randrange(10**9))
                longest = (
                    0.6 if times <= wanted else 5.0
                )  # a busy machine may need more for a delete
                with another_process(_CLEANER, str(path), str(trash), seed, *CHATS) as cleaner:
                    time.sleep(chance.uniform(0.0, longest))
                    cleaner.kill()
                    assert cleaner.wait() == -signal.SIGKILL, "it ended by itself"
                assert writer.poll() is None and is_sound(path)
                present, bundles = rows_by_session(path), list_bundles(trash)
                assert not any(bundle.damage for bundle in bundles)
                kept = {each for bundle in bundles for each in verify(bundle.path).sessions}
                for name in CHATS:
                    family = {name, f"{name}-next", f"{name}-helper"}
                    there = family & present.keys()
                    (back if there else gone).add(name)
                    if there:
                        assert all(present.get(each) == whole[each] for each in family), name
                    else:
                        assert family <= kept, f"{name} is nowhere"
        finally:
            writer.kill()
    assert is_sound(path)
    for bundle in list_bundles(trash):
        assert bundle.messages == 180 * len(bundle.conversations) == len(bundle.sessions) * 60
