"""A result whose call is in no row is told, and only where that is certain."""

from __future__ import annotations

from pathlib import Path

from gone import mixed_store, without
from store_builder import StoreBuilder, tool_call

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.messages.transcript import Outline, read_outline
from hermes_browse.store.sessions.session import Session


def read(path: Path, reading: Reading = Reading.EVERYTHING, *names: str) -> Outline:
    """The outline of `s`, or of the segments named."""
    with Store(path).reader() as reader:
        return read_outline(reader, [Session(name, "cli") for name in names or ("s",)], reading)


def test_a_result_without_its_call_is_told_in_every_reading(tmp_path: Path) -> None:
    path = without(mixed_store(tmp_path / "state.db"), 9)
    for reading in Reading:
        assert read(path, reading).lost_calls == {10}


def test_a_call_that_stands_elsewhere_is_not_lost(tmp_path: Path) -> None:
    """Someone wrote while the tool ran; or the tail that compression keeps begins with a result."""
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("root", end_reason="compression", ended_at=1.0)
    builder.session("tip", parent_session_id="root")
    builder.message("root", "assistant", None, tool_calls=[tool_call("terminal", {}, id="call_1")])
    builder.message("root", "user", "wait")
    builder.message("root", "tool", "out", tool_call_id="call_1")
    builder.message("tip", "tool", "out", tool_call_id="call_1")
    builder.message("tip", "tool", "out", tool_call_id='odd"id')
    path = builder.write()
    assert read(path, Reading.SAID, "root", "tip").lost_calls == frozenset()
    assert read(path, Reading.SAID, "tip").lost_calls == {4}
