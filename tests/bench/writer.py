"""A program that appends messages to a store as Hermes does, and prints as JSON when each began and
how long it took.

Once the store is open it says `ready` and waits for a line. With a COUNT of 0 it goes on until the
next line.

    python writer.py STORE SESSION COUNT wal|delete

Beginnings are seconds of the monotonic clock, which all processes of a machine share under Linux;
times milliseconds. It is Hermes' own SessionDB that writes.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import threading
import time
from pathlib import Path

_PAUSE = 0.003
"""Seconds between two messages."""
_TEXT = (
    "the ferry left the harbour with a lantern and a ticket, and the parser found no token in the cache "
    * 3
)


def main() -> None:
    """Write, and say how long it took."""
    database = importlib.import_module("hermes_state").SessionDB(db_path=Path(sys.argv[1]))
    # Hermes 0.19 turns every store to WAL; 0.20 leaves new ones in DELETE mode.
    found = database._conn.execute(f"PRAGMA journal_mode={sys.argv[4]}").fetchone()[0]
    if found != sys.argv[4]:
        raise RuntimeError(f"the store stays in {found} mode")
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
        database.append_message(sys.argv[2], "user", f"{len(times)} {_TEXT}")
        times.append((at, (time.perf_counter() - begun) * 1000))
    database.close()
    print(json.dumps(times))


if __name__ == "__main__":
    main()
