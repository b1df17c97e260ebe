"""Every message is new once, until it is read: over compressions, branches, deletes and clocks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partialmethod

import pytest
from builders import T0, make_store
from compressed import END, SUMMARY
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from trashing import rows

from hermes_browse.store import open_store
from hermes_browse.store.api import OpenStore
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.since.since import find_written

_OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ("say", "say", "say", "place", "rotate", "branch", "read", "all", "delete")
        ),
        st.integers(0, 9),
        st.sampled_from((1.0, 60.0, -4000.0)),
    ),
    min_size=5,
    max_size=30,
)


class History:
    """A store that grows as Hermes writes it, and what the user has not read of it."""

    def __init__(self, path):
        make_store(path, sessions=[{"id": "s0"}])
        self.store = open_store(Location(path, path.parent, "default", demo=True))
        self.at, self.number = T0, 0
        self.chains = {"s0": ["s0"]}
        """Sessions by conversation."""
        self.new = {"s0": 0}
        """Messages that were not read, by conversation."""
        self.store.begin_marks(T0)

    def change(self, sql, *rows):
        """Write to the store as another program: a statement, with the values of each row."""
        self.store.close()
        with closing(sqlite3.connect(self.store.source.path)) as connection, connection:
            connection.executemany(sql, rows or [()])

    def rows(self, session):
        """The live rows of a session."""
        live = "SELECT role, content FROM messages WHERE session_id = ? AND active = 1 ORDER BY id"
        return rows(self.store.source.path, live, session)

    def write(self, session, *said):
        """Write messages at once: roles and texts."""
        columns = "session_id, role, content, timestamp"
        # As rows of one write have it.
        times = [self.at + at * 1e-6 for at in range(1, len(said) + 1)]
        written = [(session, *each, time) for each, time in zip(said, times, strict=True)]
        self.change(f"INSERT INTO messages ({columns}) VALUES (?, ?, ?, ?)", *written)
        self.at = times[-1]

    def session(self, parent, config=None):
        """Write a session below another."""
        self.number += 1
        columns = "id, source, started_at, parent_session_id, model_config"
        row = (f"s{self.number}", "cli", self.at, parent, config)
        self.change(f"INSERT INTO sessions ({columns}) VALUES (?, ?, ?, ?, ?)", row)
        return row[0]

    def say(self, root, times=1):
        """A prompt and its answer, so many times."""
        for role in ("user", "assistant") * times:
            self.number += 1
            self.at += 1.0
            self.write(self.chains[root][-1], (role, f"{role} {self.number}: look there " * 4))
        self.new[root] += 2 * times

    def compress(self, root, *, in_place):
        """Write a summary and copies of the first and the last messages."""
        tip = self.chains[root][-1]
        before = self.rows(tip)
        if len(before) < 12:
            return
        head = before[:3] if len(self.chains[root]) == 1 else []
        self.number += 1
        self.at += 1.0
        into = tip
        if in_place:
            done = "active = 0, compacted = 1 WHERE session_id = ? AND active = 1"
            self.change(f"UPDATE messages SET {done}", (tip,))
        else:
            ended = "end_reason = 'compression', ended_at = ? WHERE id = ?"
            self.change(f"UPDATE sessions SET {ended}", (self.at, tip))
            into = self.session(tip)
            self.chains[root].append(into)
        summary = ("assistant", SUMMARY.format(number=self.number) + END)
        self.write(into, *head, summary, *before[-8:])

    def branch(self, root):
        """Write a branch, which begins with a copy of all that it left."""
        tip = self.chains[root][-1]
        rows = self.rows(tip)
        branch = self.session(tip, f'{{"_branched_from": "{tip}"}}')
        self.chains[branch], self.new[branch] = [branch], 0
        self.write(branch, *rows)
        return branch

    def unread(self):
        """New messages by conversation, as this program counts them."""
        found = self.store.attention(self.store.catalog(self.at), self.at).unread
        return {root: new.amount for root, new in found.items()}

    def read(self, root):
        """Read one conversation."""
        self.store.mark_read(self.chains[root], self.store.state().message)
        self.new[root] = 0

    def delete(self, root):
        """Delete a conversation, unless others hang on it."""
        own = [(session,) for session in self.chains[root]]
        links = rows(self.store.source.path, "SELECT parent_session_id, id FROM sessions")
        has_others = any((parent,) in own and (id,) not in own for parent, id in links)
        if root != "s0" and not has_others:
            self.change("DELETE FROM messages WHERE session_id = ?", *own)
            self.change("DELETE FROM sessions WHERE id = ?", *own)
            del self.chains[root], self.new[root]

    place = partialmethod(compress, in_place=True)
    rotate = partialmethod(compress, in_place=False)

    def all(self, _root):
        """Read everything."""
        self.store.mark_all_read(T0)
        self.new = dict.fromkeys(self.new, 0)

    def do(self, operation, which, seconds):
        """One step, on some conversation, after some time or with the clock set back."""
        self.at += seconds
        getattr(self, operation)(sorted(self.chains)[which % len(self.chains)])


@pytest.fixture
def history(tmp_path):
    """A new one."""
    return History(tmp_path / "state.db")


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(operations=_OPERATIONS)
def test_each_message_once(operations, tmp_path_factory):
    """After each step, what is new is what was said and not read, of each conversation."""
    history = History(tmp_path_factory.mktemp("history") / "state.db")
    history.say("s0", 8)
    for operation in operations:
        history.do(*operation)
        expected = {root: count for root, count in history.new.items() if count}
        assert history.unread() == expected, operation


@pytest.mark.parametrize("operation", ["place", "rotate"])
def test_what_is_said_after_a_compression_is_new(history, operation):
    """What the compression wrote is not."""
    history.say("s0", 8)
    history.read("s0")
    history.do(operation, 0, 1.0)
    assert history.unread() == {}
    history.say("s0")
    assert history.unread() == {"s0": history.new["s0"]} != {}


def test_all_read_and_back(history):
    """An undo brings back what was new, and keeps what was read before."""
    history.say("s0")
    branch = history.branch("s0")
    history.say(branch)
    history.read(branch)
    done = history.store.mark_all_read(T0)
    assert history.unread() == {}
    history.store.undo_all_read(done)
    assert history.unread() == {"s0": 2}


def test_two_browsers(history):
    """A mark never falls: the one that has read less does not undo the other."""
    history.say("s0", 2)
    newest = history.store.state().message
    first, second = history.store, OpenStore(history.store.source, history.store.location)
    first.mark_read(["s0"], newest)
    second.mark_read(["s0"], newest - 2)
    assert history.unread() == {}


def test_another_file(history):
    """A store that was replaced by one whose ids start over is read from its own beginning."""
    history.say("s0", 5)
    history.store.mark_all_read(T0)
    history.store.close()
    history.store.source.path.unlink()
    messages = [{"session_id": "other", "content": "hello"}]
    make_store(history.store.source.path, sessions=[{"id": "other"}], messages=messages)
    assert history.unread() == {}
    history.store.begin_marks(T0)
    history.chains, history.new = {"other": ["other"]}, {"other": 0}
    history.say("other")
    assert history.unread() == {"other": 2}


def _identify(history, name):
    """Give the store an id, as Hermes 0.22 does."""
    history.change("CREATE TABLE IF NOT EXISTS state_meta (key TEXT PRIMARY KEY, value TEXT)")
    history.change("INSERT OR REPLACE INTO state_meta VALUES ('store_instance_id', ?)", (name,))


def test_another_store_at_the_path(history):
    """Each has its own marks and tags, also when the first one comes back."""
    _identify(history, "one")
    history.store.mark_all_read(T0)
    history.say("s0")
    history.read("s0")
    history.store.tag(["s0"], ["deploy"])
    _identify(history, "two")
    assert history.store.tags() == ()
    history.store.begin_marks(T0)
    history.say("s0")
    assert history.unread() == {"s0": 2}
    history.store.mark_read(["s0"], 1)
    history.store.tag(["s0"], ["deploy"])
    _identify(history, "one")
    assert history.unread() == {"s0": 2} and history.store.tags()[0].conversations == 1
    history.store.mark_read(["s0"], None)
    assert history.unread() == {}


def test_an_id_that_comes_later(history):
    """A store that Hermes 0.22 has given an id keeps its marks, and its path may change."""
    history.say("s0")
    history.store.mark_read(["s0"], None)
    _identify(history, "one")
    assert history.unread() == {}
    history.store.mark_read(["s0"], 1)
    assert history.unread() == {}


def test_a_damaged_file_of_marks(history, tmp_path):
    """What waits is told all the same."""
    asks = '[{"id": "c", "function": {"name": "clarify", "arguments": "{}"}}]'
    history.write("s0", ("assistant", ""))
    history.change("UPDATE messages SET tool_calls = ?", (asks,))
    (tmp_path / "notes.db").write_bytes(b"no database" * 100)
    catalog = history.store.catalog(T0)
    attention = history.store.attention(catalog, T0)
    assert attention.waiting == {"s0"} and not attention.have_marks and not attention.unread
    since = history.store.since(catalog, T0)
    assert [each.lane for each in since.items if each.session_id == "s0"] == ["waiting"]
    assert since.since == T0 and "notes.db cannot be used" in since.notes[0]


def test_a_short_answer_that_is_given_once_more(history):
    """In a branch, after a copy of a conversation that has the same words."""
    said = [("user", "deploy it"), ("assistant", "Done."), ("user", "yes"), ("assistant", "Done.")]
    history.write("s0", *said)
    branch = history.branch("s0")
    history.write(branch, *said[2:])
    assert history.unread()[branch] == 2


def test_times_that_are_texts(history):
    """Other tools write them; SQLite takes them for later than any number."""
    times = ("2020-01-02T03:04:05", "2099-01-02T03:04:05")
    history.write("s0", *(("user", time) for time in times))
    history.change("UPDATE messages SET timestamp = content")
    with history.store.source.reader() as reader:
        found = find_written(reader, history.store.catalog(history.at), history.at)
    assert {root: new.amount for root, new in found.items()} == {"s0": 1}
