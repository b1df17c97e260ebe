"""Random lives of a store: the real Hermes 0.19 writes, and after each step both give the same
answers."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from builders import tool_call
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from searching import search
from trashing import hermes_db

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.messages.chat_message import Reading, State
from hermes_browse.store.messages.transcript import read_outline
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.lineage import predict_resume
from hermes_browse.store.sessions.list_page import with_details
from hermes_browse.store.sessions.models import View
from hermes_browse.store.sessions.relations import AUTOMATION_SOURCES
from hermes_browse.store.sessions.session_rows import resolve_last, resolve_session, resolve_title

SOURCES = ("cli", "telegram", "cron", "tui")


@dataclass
class Life:
    """A store that Hermes writes to, and the sessions in it."""

    db: Any
    ids: list[str] = field(default_factory=list)
    stamp: float = 1_767_258_000.0
    """Time of the newest message; each is a second later, so that no two orders are right."""

    def start(self, source, parent=None, **columns):
        """A new session, with a first message."""
        session = f"s{len(self.ids):03}"
        self.db.create_session(session, source, parent_session_id=parent, **columns)
        self.ids.append(session)
        time.sleep(0.001)  # starts are told apart by the clock
        self.say(session, f"lantern {session}")
        return session

    def say(self, session, text, role="user", **columns):
        """A message."""
        self.stamp += 1.0
        return int(self.db.append_message(session, role, text, timestamp=self.stamp, **columns))

    def step(self, what, number):
        """One thing that happens, to a session chosen by a number; what Hermes refuses does not
        happen."""
        session = self.ids[number % len(self.ids)] if self.ids else ""
        row = self.db.get_session(session) if session else None
        if row is None or what == "root":
            self.start(SOURCES[number % len(SOURCES)])
            return
        source = row["source"]
        person = source if source not in ("subagent", "tool") else "cli"  # who branches is somebody
        match what:
            case "talk":
                self.say(session, f"tide {number}")
                call = [tool_call("terminal", {"command": "ls"})]
                self.say(session, "", "assistant", tool_calls=call)
                self.say(session, "rope", "tool", tool_name="terminal", tool_call_id="call_1")
            case "compress" | "race":
                self.db.end_session(session, "compression")
                if self.db.get_session(session)["end_reason"] == "compression":
                    for _ in range(2 if what == "race" else 1):
                        self.start(source, session)
            case "branch":
                self.start(person, session, model_config={"_branched_from": session})
            case "branch by reason":
                self.db.end_session(session, "branched")
                self.start(person, session)
            case "delegate":
                self.start("subagent", session, model_config={"_delegate_from": session})
            case "tool":  # goes on nothing, even below a compressed session
                self.start("tool", session)
            case "unmarked":
                self.start(source, session)
            case "end":
                reason = ("cli_close", "new_session", "session_reset")[number % 3]
                self.db.end_session(session, reason)
            case "reopen":
                self.db.reopen_session(session)
            case "archive":
                self.db.set_session_archived(session, number % 2 == 0)
            case "title":
                title = self.db.get_next_title_in_lineage("Har_bour 50%")
                self.db.set_session_title(session, title)
            case "rewind":
                messages = self.db.get_messages(session)
                for each in [each for each in messages if each["role"] == "user"][-1:]:
                    self.db.rewind_to_message(session, each["id"])
            case "compact":
                texts = "[CONTEXT COMPACTION — REFERENCE ONLY] so far", f"on with {number}"
                rows = zip(("user", "assistant"), texts, strict=True)
                written = [{"role": role, "content": text} for role, text in rows]
                self.db.archive_and_compact(session, written)
            case "delete":
                self.db.delete_session(session)


STEPS = (
    "root", "talk", "compress", "race", "branch", "branch by reason", "delegate", "tool", "unmarked", "end", "reopen",
    "archive", "title", "rewind", "compact", "delete",
)  # fmt: skip


def same_lists(db, catalog):
    """All Hermes lists is a conversation of ours with its data, and what it lists nowhere has a
    note with us."""
    listed = set()
    for name in ("", "include_archived", "archived_only", "order_by_last_active"):
        options = {name: True} if name else {}
        for row in db.list_sessions_rich(limit=10_000, **options):
            ours = catalog.of_session(row["id"])
            tip = ours.tip
            assert (ours.id, ours.root_id) == (row["id"], row.get("_lineage_root_id", row["id"]))
            assert (ours.source, ours.archived) == (row["source"], bool(row["archived"]))
            assert row["title"] in (ours.title, None)
            theirs = [row[key] for key in ("started_at", "end_reason", "ended_at", "last_active")]
            assert theirs == [ours.root.started_at, tip.end_reason, tip.ended_at, tip.last_active]
            assert tip.message_count == row["message_count"]
            view = View.AUTOMATION if row["source"] in AUTOMATION_SOURCES else View.CHATS
            # Below a session that ended as branched Hermes lists a subagent as a branch; ours
            # stands under its parent.
            under = ours.is_attached_subagent and row["source"] in ("subagent", "tool")
            assert under or ours.view is (View.ARCHIVED if row["archived"] else view)
            listed.add(row["id"])
    for chain in catalog.conversations():
        assert chain.id in listed or chain.is_attached_subagent or chain.note, chain


def same_sessions(db, catalog, reader, ids):
    """Tip, resume, messages and names of each session, and the one of a source that was used
    last."""
    for source in SOURCES:
        newest = [row["id"] for row in db.search_sessions(source, limit=1)]
        assert [resolve_last(reader, source)] == (newest or [None])
    kept = [session for session in ids if db.get_session(session) is not None]
    assert sorted(catalog.sessions) == sorted(kept)
    for session in kept:
        assert catalog.conversation(session).tip.id == db.get_compression_tip(session)
        resumed = predict_resume(catalog, session, reader.schema.version)
        assert resumed == db.resolve_resume_session_id(session)
        for reading in (Reading.LIVE, Reading.EVERYTHING):
            outline = read_outline(reader, [catalog.sessions[session]], reading)
            every = db.get_messages(session, include_inactive=reading is Reading.EVERYTHING)
            assert [row.id for row in outline.rows] == [each["id"] for each in every]
        title = db.get_session(session)["title"]
        if title:
            assert resolve_title(reader, title) == db.resolve_session_by_title(title)
    for text in ("s00", "s", "s001", "har", "s%", "Har_bour 50%"):
        theirs = db.resolve_session_id(text)
        try:
            ours = resolve_session(reader, text)
        except BrowseError:
            assert theirs is None, text
        else:
            assert ours == (theirs or db.resolve_session_by_title(text)), text


@pytest.mark.slow
@settings(max_examples=examples(20))
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 30)), min_size=5, max_size=25))
def test_every_life_of_a_store_is_read_as_hermes_reads_it(steps):
    """Between any two writes; and nothing we open stays open."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        with hermes_db(path) as db:
            life, store = Life(db), Store(path)
            for what, number in steps:
                life.step(what, number)
                with store.reader() as reader:
                    catalog = read_catalog(reader, time.time())
                    same_lists(db, catalog)
            with store.reader() as reader:
                catalog = read_catalog(reader, time.time())
                same_sessions(db, catalog, reader, life.ids)
                for each in with_details(reader, catalog.select(View.ALL)):
                    assert each.message_count == len(read_outline(reader, each.segments).rows)
                found = search(reader, parse("lantern"), limit=0).hits
                hits = {
                    hit.message_id for hit in found if hit.state is not State.REWOUND
                }  # ours finds those too, marked
                assert hits == {row["id"] for row in db.search_messages("lantern", limit=10_000)}
