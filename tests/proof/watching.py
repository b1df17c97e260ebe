"""A store looked at from outside, without ever opening it: its log, and what stands beside it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from pathlib import Path

from counts import Tell
from writers import Written

BESIDE = {"state.db", "state.db-wal", "state.db-shm"}
"""The store, and what SQLite puts beside one that it opens to read."""
_CHECK = """
import json, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10)
busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
print(json.dumps([busy, [row[0] for row in connection.execute("PRAGMA integrity_check")],
                  connection.execute("SELECT count(*) FROM messages WHERE session_id LIKE 'writer-%'").fetchone()[0]]))
"""


class Watch:
    """Notes every inode that the log of a store has, and every name that appears in its folder."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.inodes: set[int] = set()
        self.names: set[str] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        wal = Path(f"{self.store}-wal")
        while not self._stop.wait(0.003):
            try:
                self.inodes.add(wal.stat().st_ino)
            except FileNotFoundError:
                self.inodes.add(0)  # a log that is gone under a writer is as bad as another one
            self.names.update(path.name for path in self.store.parent.iterdir())

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def digest(path: Path) -> str:
    """Of all bytes of a file no connection of this process is on."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_and_count(store: Path) -> int:
    """In a process of its own: the log goes into the store without anyone in the way, and the store
    is whole.

    Returns:
        How many messages the writers have in it.
    """
    done = subprocess.run(
        [sys.executable, "-c", _CHECK, str(store)], capture_output=True, text=True, check=True
    )
    busy, said, messages = json.loads(done.stdout)
    assert busy == 0, "a checkpoint could not be completed"
    assert said == ["ok"], said
    return int(messages)


def faultless(tell: Tell, written: list[Written]) -> int:
    """No writer met an error, nor had Hermes anything to warn of.

    Returns:
        How many messages were appended.
    """
    for each in written:
        assert not each.errors, each.errors[:5]
        # Hermes optimises its index after a thousand messages and waits a second for its turn: with
        # two writers at full speed the other one may have it longer, and Hermes warns and goes on.
        # A reader beside a log keeps no one out.
        own = [
            text
            for text in each.warnings
            if len(written) > 1 and text.startswith("FTS optimize failed")
        ]
        tell("optimisations put off by another writer", len(own))
        others = [text for text in each.warnings if text not in own]
        assert not [text for text in others if "lock" in text.lower() or "wal" in text.lower()], (
            others
        )
        assert each.times
        tell("appends beside it", len(each.times))
        tell("clean-ups by Hermes beside it", each.maintenance)
    tell("writer errors", 0)
    return sum(len(each.times) for each in written)
