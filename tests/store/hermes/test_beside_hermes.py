"""Beside the real Hermes 0.19: its SessionDB writes while we read, and neither is in the other's
way."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from searching import search
from writing import handles, writing_until

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.messages.transcript import read_messages, read_outline
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.lineage import predict_resume

hermes_state = pytest.importorskip("hermes_state")

_WRITER = """
import sys
from pathlib import Path
from hermes_state import SessionDB
db = SessionDB(Path(sys.argv[1]))
db.create_session("writer", "cli")
print("ready", flush=True)
count, enough = 0, Path(sys.argv[2])
while not enough.exists():
    db.append_message("writer", "user", f"zebra number {count}")
    count += 1
db.close()
print(count, flush=True)
"""


def test_what_hermes_writes_is_what_we_read(tmp_path: Path) -> None:
    """A chat, its compression, a branch and a subagent, read between the writes, with Hermes' own
    answers beside."""
    path = tmp_path / "state.db"
    db = hermes_state.SessionDB(path)
    store = Store(path)
    db.create_session("root", "cli", model="m/one")
    db.append_message("root", "user", "why does the pelican not sing?")
    db.append_message("root", "assistant", "", tool_calls=[
        {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "sing"}'}}
    ])  # fmt: skip
    db.append_message(
        "root", "tool", '{"output": "silence"}', tool_name="terminal", tool_call_id="c1"
    )
    with store.reader() as reader:
        catalog = read_catalog(reader, time.time())
        (found,) = with_details(reader, catalog.select())
        assert (found.id, found.preview, found.message_count) == (
            "root",
            "why does the pelican not sing?",
            3,
        )
        assert found.status.value == "live"
    db.end_session("root", "compression")
    db.create_session("tip", "cli", parent_session_id="root")
    db.append_message("tip", "user", "go on about the pelican")
    db.create_session(
        "agent", "subagent", parent_session_id="tip", model_config={"_delegate_from": "tip"}
    )
    db.append_message("agent", "user", "count the pelicans")
    db.create_session(
        "branch", "cli", parent_session_id="tip", model_config={"_branched_from": "tip"}
    )
    db.append_message("branch", "user", "another way to sing")
    with store.reader() as reader:
        catalog = read_catalog(reader, time.time())
        ours = {each.id: each for each in catalog.select()}
        theirs = {row["id"]: row for row in db.list_sessions_rich(limit=50)}
        assert set(ours) == set(theirs) == {"tip", "branch"}
        assert ours["tip"].root_id == theirs["tip"]["_lineage_root_id"] == "root"
        assert (ours["tip"].branches, ours["tip"].subagents) == (1, 1)
        for session in ("root", "tip", "agent", "branch"):
            assert catalog.conversation(session).tip.id == db.get_compression_tip(session)
            assert predict_resume(
                catalog, session, reader.schema.version
            ) == db.resolve_resume_session_id(session)
            shown = read_messages(
                reader, read_outline(reader, [catalog.sessions[session]], Reading.LIVE).rows
            )
            assert [message.id for message in shown] == [
                row["id"] for row in db.get_messages(session)
            ]
        hits = {hit.message_id for hit in search(reader, parse("pelican")).hits}
        assert hits == {row["id"] for row in db.search_messages("pelican", limit=50)}
    db.close()
    assert handles(path) == []


@pytest.mark.slow
def test_reading_all_the_time_does_not_disturb_a_writer(tmp_path: Path) -> None:
    """Hundreds of leases while another process appends as fast as it can: no error on either
    side."""
    path = tmp_path / "state.db"
    hermes_state.SessionDB(path).close()
    enough, until = tmp_path / "enough", time.monotonic() + 3.0
    with writing_until(enough, _WRITER, path) as writer:
        store, leases, seen = Store(path), 0, 0
        inode = None
        while writer.poll() is None:
            with store.reader() as reader:
                catalog = read_catalog(reader, time.time())
                assert catalog.of_session("writer") is not None
                total = len(search(reader, parse("zebra"), limit=0).hits)
                assert total >= seen
                seen = total
            leases += 1
            if (
                leases > 20 and seen > 50 and time.monotonic() > until
            ):  # however slow the machine is
                enough.touch()
            if store.wal_path.exists():
                current = store.wal_path.stat().st_ino
                assert inode in (None, current), "the log was replaced under its writer"
                inode = current
        written = int(writer.stdout.read())
        assert writer.stderr.read() == ""
    assert leases > 20 and written > 50
    with store.reader() as reader:
        assert len(search(reader, parse("zebra"), limit=0).hits) == written
        assert reader.value("PRAGMA integrity_check") == "ok"
    assert handles(path) == []
