"""A program that appends messages to a store as Hermes does, and prints as JSON when each began and
how long it took.

Once the store is open it says `ready` and waits for a line. With a COUNT of 0 it goes on until the
next line.

    python writer.py STORE SESSION COUNT wal|delete

Beginnings are seconds of the monotonic clock, which all processes of a machine share under Linux;
times milliseconds.

With hermes-agent installed it is Hermes' own SessionDB that writes, else the same kind of INSERT.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

_PAUSE = 0.003
"""Seconds between two messages."""
_TEXT = (
    "the ferry left the harbour with a lantern and a ticket, and the parser found no token in the cache "
    * 3
)


def _set_journal(connection: sqlite3.Connection, journal: str) -> None:
    found = connection.execute(f"PRAGMA journal_mode={journal}").fetchone()[0]
    if found != journal:
        raise RuntimeError(f"the store stays in {found} mode")


def _open(
    path: Path, session: str, journal: str
) -> tuple[Callable[[int], object], Callable[[], object]]:
    """What appends a message, and what closes the store."""
    if importlib.util.find_spec("hermes_state") is not None:
        database = importlib.import_module("hermes_state").SessionDB(db_path=path)
        # Hermes 0.19 turns every store to WAL; 0.20 leaves new ones in DELETE mode.
        _set_journal(database._conn, journal)
        return (
            lambda number: database.append_message(session, "user", f"{number} {_TEXT}")
        ), database.close
    connection = sqlite3.connect(path, isolation_level=None, timeout=5.0)
    _set_journal(connection, journal)

    def append(number: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, ?)",
            [session, f"{number} {_TEXT}", time.time()],
        )
        connection.execute("COMMIT")

    return append, connection.close


def main() -> None:
    """Write, and say how long it took."""
    append, close = _open(Path(sys.argv[1]), sys.argv[2], sys.argv[4])
    print("ready", flush=True)
    sys.stdin.readline()
    count, told = int(sys.argv[3]), threading.Event()
    if not count:

        def wait_for_end() -> None:
            sys.stdin.readline()
            told.set()

        threading.Thread(target=wait_for_end, daemon=True).start()
    times: list[tuple[float, float]] = []
    while not told.is_set() and (not count or len(times) < count):
        time.sleep(_PAUSE)
        at, begun = time.monotonic(), time.perf_counter()
        append(len(times))
        times.append((at, (time.perf_counter() - begun) * 1000))
    close()
    print(json.dumps(times))


if __name__ == "__main__":
    main()
