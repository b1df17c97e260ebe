"""What is gone is told only where it is certain: ids in no row, results whose call is in no row."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from gone import mixed_store, without
from store_builder import StoreBuilder, tool_call

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.messages.gaps import IdGap
from hermes_browse.store.messages.transcript import Skeleton, read_skeleton
from hermes_browse.store.sessions.session import Session


def read(path: Path, reading: Reading = Reading.EVERYTHING, *names: str) -> Skeleton:
    """The skeleton of `s`, or of the segments named."""
    with Store(path).reader() as reader:
        return read_skeleton(reader, [Session(name, "cli") for name in names or ("s",)], reading)


def test_jumps_over_another_session_are_no_gap(tmp_path: Path) -> None:
    skeleton = read(mixed_store(tmp_path / "state.db"))
    assert [bone.id for bone in skeleton.bones] == [1, 3, 5, 7, 9, 10, 11]
    assert skeleton.id_gaps == {} and skeleton.lost_calls == frozenset()


def test_ids_in_no_row_are_told_when_everything_is_read(tmp_path: Path) -> None:
    path = without(mixed_store(tmp_path / "state.db"), 3, 4, 8)
    assert read(path).id_gaps == {5: IdGap(3, 4, 2), 9: IdGap(8, 8, 1)}
    assert read(path, Reading.SAID).id_gaps == {}, "whose they were nobody knows, so they are not in what was said"


def test_long_steps_are_not_looked_through(tmp_path: Path) -> None:
    """To look for each of 900,000 ids would take longer than one waits."""
    path = mixed_store(tmp_path / "state.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE messages SET id = 900000 WHERE id = 11")
    assert read(path).id_gaps == {}


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
