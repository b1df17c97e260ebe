"""Every message is new once, until it is read: over compressions, branches, deletes and clocks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partialmethod

import pytest
from compressed import END, SUMMARY
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from store_builder import T0, StoreBuilder
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
        builder = StoreBuilder(path)
        builder.session("s0")
        builder.write()
        self.store = open_store(Location(path, path.parent, "default", demo=True))
        self.at, self.number = T0, 0
        self.chains = {"s0": ["s0"]}
        """Sessions by conversation."""
        self.new = {"s0": 0}
        """Messages that were not read, by conversation."""
        self.parents = {}
        """Of every other session."""
        self.store.begin_marks(T0)

    def change(self, *statements):
        """Write to the store as another program."""
        self.store.close()
        with closing(sqlite3.connect(self.store.source.path)) as connection, connection:
            for statement in statements:
                connection.execute(*statement)

    def rows(self, session):
        """The live rows of a session."""
        live = "SELECT role, content FROM messages WHERE session_id = ? AND active = 1 ORDER BY id"
        return rows(self.store.source.path, live, session)

    def insert(self, session, role, content):
        """Return the statement that writes a message."""
        self.at += 1e-6  # as rows of one write have it
        return (
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)",
            [session, role, content, self.at],
        )

    def session(self, parent, **columns):
        """Write a session below another."""
        self.number += 1
        row = {"id": f"s{self.number}", "source": "cli", "started_at": self.at} | columns
        row["parent_session_id"] = parent
        marks = ", ".join("?" * len(row))
        self.change((f"INSERT INTO sessions ({', '.join(row)}) VALUES ({marks})", [*row.values()]))
        self.parents[row["id"]] = parent
        return row["id"]

    def say(self, root):
        """A prompt and its answer."""
        self.number += 1
        tip = self.chains[root][-1]
        for role in ("user", "assistant"):
            self.at += 1.0
            self.change(self.insert(tip, role, f"{role} {self.number}: look there " * 4))
        self.new[root] += 2

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
            done = (
                "UPDATE messages SET active = 0, compacted = 1 WHERE session_id = ? AND active = 1"
            )
            self.change((done, [tip]))
        else:
            ended = "UPDATE sessions SET end_reason = 'compression', ended_at = ? WHERE id = ?"
            self.change((ended, [self.at, tip]))
            into = self.session(tip)
            self.chains[root].append(into)
        summary = ("assistant", SUMMARY.format(number=self.number) + END)
        block = [*head, summary, *before[-8:]]
        self.change(*(self.insert(into, role, content) for role, content in block))

    def branch(self, root):
        """Write a branch, which begins with a copy of all that it left."""
        tip = self.chains[root][-1]
        rows = self.rows(tip)
        if not rows:
            return
        branch = self.session(tip, model_config=f'{{"_branched_from": "{tip}"}}')
        self.chains[branch], self.new[branch] = [branch], 0
        self.change(*(self.insert(branch, role, content) for role, content in rows))

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
        own = {*self.chains[root]}
        others = {parent for child, parent in self.parents.items() if child not in own}
        if root == "s0" or own & others:
            return
        for session in own:
            self.parents.pop(session)
            self.change(
                ("DELETE FROM messages WHERE session_id = ?", [session]),
                ("DELETE FROM sessions WHERE id = ?", [session]),
            )
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
    for _number in range(8):
        history.say("s0")
    for operation in operations:
        history.do(*operation)
        expected = {root: count for root, count in history.new.items() if count}
        assert history.unread() == expected, operation


@pytest.mark.parametrize("operation", ["place", "rotate"])
def test_what_is_said_after_a_compression_is_new(history, operation):
    """What the compression wrote is not."""
    for _number in range(8):
        history.say("s0")
    history.read("s0")
    history.do(operation, 0, 1.0)
    assert history.unread() == {}
    history.say("s0")
    assert history.unread() == {"s0": history.new["s0"]} != {}


def test_all_read_and_back(history):
    """An undo brings back what was new, and keeps what was read before."""
    history.say("s0")
    history.branch("s0")
    branch = next(root for root in history.chains if root != "s0")
    history.say(branch)
    history.read(branch)
    done = history.store.mark_all_read(T0)
    assert history.unread() == {}
    history.store.undo_all_read(done)
    assert history.unread() == {"s0": 2}


def test_two_browsers(history):
    """A mark never falls: the one that has read less does not undo the other."""
    history.say("s0")
    history.say("s0")
    newest = history.store.state().message
    first, second = history.store, OpenStore(history.store.source, history.store.location)
    first.mark_read(["s0"], newest)
    second.mark_read(["s0"], newest - 2)
    assert history.unread() == {}


def test_another_file(history):
    """A store that was replaced by one whose ids start over is read from its own beginning."""
    for _number in range(5):
        history.say("s0")
    history.store.mark_all_read(T0)
    history.store.close()
    history.store.source.path.unlink()
    builder = StoreBuilder(history.store.source.path)
    builder.session("other")
    builder.message("other", "user", "hello")
    builder.write()
    assert history.unread() == {}
    history.store.begin_marks(T0)
    history.chains, history.new = {"other": ["other"]}, {"other": 0}
    history.say("other")
    assert history.unread() == {"other": 2}


def _identify(history, name):
    """Give the store an id, as Hermes 0.22 does."""
    history.change(
        ("CREATE TABLE IF NOT EXISTS state_meta (key TEXT PRIMARY KEY, value TEXT)", []),
        ("INSERT OR REPLACE INTO state_meta VALUES ('store_instance_id', ?)", [name]),
    )


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
    history.change(
        (
            "INSERT INTO messages (session_id, role, tool_calls, timestamp) VALUES (?, ?, ?, ?)",
            ["s0", "assistant", asks, T0],
        )
    )
    (tmp_path / "notes.db").write_bytes(b"no database" * 100)
    catalog = history.store.catalog(T0)
    attention = history.store.attention(catalog, T0)
    assert attention.waiting == {"s0"} and not attention.have_marks and not attention.unread
    since = history.store.since(catalog, T0)
    assert [each.lane for each in since.items if each.session_id == "s0"] == ["waiting"]
    assert since.since == T0 and "notes.db cannot be used" in since.notes[0]


def test_a_short_answer_that_is_given_once_more(history):
    """In a branch, after a copy of a conversation that has the same words."""
    for content in ("deploy it", "yes"):
        history.change(
            history.insert("s0", "user", content), history.insert("s0", "assistant", "Done.")
        )
    history.branch("s0")
    branch = next(root for root in history.chains if root != "s0")
    history.change(history.insert(branch, "user", "yes"))
    history.change(history.insert(branch, "assistant", "Done."))
    assert history.unread()[branch] == 2


def test_times_that_are_texts(history):
    """Other tools write them; SQLite takes them for later than any number."""
    for text in ("2020-01-02T03:04:05", "2099-01-02T03:04:05"):
        sql, values = history.insert("s0", "user", text)
        history.change((sql, [*values[:3], text]))
    with history.store.source.reader() as reader:
        found = find_written(reader, history.store.catalog(history.at), history.at)
    assert {root: new.amount for root, new in found.items()} == {"s0": 1}
