"""Killed at any moment, with a writer beside: each conversation is wholly in the store or wholly in
a bundle.

Twenty times; HERMES_BROWSE_KILLS sets another number.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from builders import T0, make_store
from trashing import is_sound, opened

from hermes_browse.store.trash.bundle import verify
from hermes_browse.store.trash.shelf import list_bundles

KILLS = int(os.environ.get("HERMES_BROWSE_KILLS", "20"))
_WORKS = frozenset([b"delete", b"prune", b"restore"])
CHATS = [f"chat{number}" for number in range(6)]

_CLEANER = """
import random, sys
from pathlib import Path
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.trash.shelf import drop, list_bundles
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
            print("prune", flush=True)
            prune(store, trash, chance.sample(sys.argv[4:], 2))
        elif bundles and chance.random() < 0.45:
            name = chance.choice(bundles).name
            print("restore", flush=True)
            restore(store, trash, name)
            drop(trash, name)
        else:
            print("delete", flush=True)
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
    with opened(path, "ro") as connection:
        for table, column in (("sessions", "id"), ("messages", "session_id")):
            for owner, *row in connection.execute(f"SELECT {column}, * FROM {table}"):
                found.setdefault(owner, set()).add((table, *row))
    del found["writer"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("shape, journal", [("22", "wal"), ("31", "delete")])
def test_killed_at_any_moment(tmp_path, shape, journal):
    """Half of the runs in either journal mode."""
    path, trash = store_of(tmp_path / "state.db", shape, journal), tmp_path / "trash"
    whole = rows_by_session(path)
    chance = random.Random(shape)
    gone_once, back_once = set(), set()
    killed = Counter()
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout.readline() == b"ready\n"
        try:
            for run in range(max(1, KILLS) * 5):
                if (
                    run >= KILLS // 2
                    and gone_once
                    and back_once
                    and len(killed.keys() & _WORKS) > 1
                ):
                    break
                seed = str(chance.randrange(10**9))
                with subprocess.Popen(
                    [sys.executable, "-c", _CLEANER, str(path), str(trash), seed, *CHATS],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                ) as cleaner:
                    assert cleaner.stdout.readline() == b"ready\n"
                    time.sleep(chance.uniform(0.0, 0.6))
                    cleaner.send_signal(signal.SIGKILL)
                    assert cleaner.stderr.read() == b""
                    killed[(cleaner.stdout.read().split() or [b"nothing"])[-1]] += 1
                assert writer.poll() is None
                assert is_sound(path)
                present = rows_by_session(path)
                kept = {
                    name
                    for bundle in list_bundles(trash)
                    if verify(bundle.path)
                    for name in bundle.sessions
                }
                for name in CHATS:
                    family = [name, f"{name}-next", f"{name}-helper"]
                    there = [each for each in family if each in present]
                    if there:
                        assert there == family and all(
                            present[each] == whole[each] for each in family
                        ), name
                        back_once.add(name)
                    else:
                        assert set(family) <= kept, f"{name} is nowhere"
                        gone_once.add(name)
                assert not any(bundle.damage for bundle in list_bundles(trash))
        finally:
            writer.kill()
    assert is_sound(path)
    for bundle in list_bundles(trash):
        assert bundle.messages == 180 * len(bundle.conversations) == len(bundle.sessions) * 60
    assert gone_once and back_once
    print({work.decode(): count for work, count in killed.items()})
