"""A store from which rows are gone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from store_builder import StoreBuilder, tool_call


def mixed_store(path: Path) -> Path:
    """Two sessions by turns (ids 1 to 8), then a call with its result (9, 10) and one more
    message."""
    builder = StoreBuilder(path)
    for name in ("s", "other"):
        builder.session(name)
    for number in range(8):
        builder.message(("s", "other")[number % 2], "user", f"message {number}")
    builder.message(
        "s", "assistant", None, tool_calls=[tool_call("terminal", {"command": "ls"}, id="call_a-1")]
    )
    builder.message("s", "tool", "out", tool_call_id="call_a-1", tool_name="terminal")
    builder.message("s", "user", "thanks")
    return builder.write()


def without(path: Path, *ids: int) -> Path:
    """Delete rows as any program would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany("DELETE FROM messages WHERE id = ?", [(each,) for each in ids])
    return path
