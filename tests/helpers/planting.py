"""A demo home in which something happened since the user looked: the morning after."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from browsing import NOW, demo_app

from hermes_browse.store.api import OpenStore
from hermes_browse.tui.app import BrowseApp

_QUESTION = {"question": "Keep the old token table until all clients have rotated?"}
_CALL = {"id": "c1", "function": {"name": "clarify", "arguments": json.dumps(_QUESTION)}}
_LEDGER = (
    "CREATE TABLE executions (id TEXT PRIMARY KEY, job_id TEXT, source TEXT, process_id TEXT, "
    "pid INTEGER, process_started_at INTEGER, status TEXT, claimed_at TEXT, started_at TEXT, "
    "finished_at TEXT, error TEXT)"
)
"""As Hermes 0.19 writes it."""


def planted_app(folder: Path, now: float = NOW) -> BrowseApp:
    """The browser on a demo home, with read marks, two conversations that wait, two failures."""
    app = demo_app(folder, now)
    with OpenStore(app.store, app.location) as store:
        store.begin_marks(now - 3600)
    path = folder / "state.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        find = "SELECT id FROM sessions WHERE title IS ? AND source = ? ORDER BY started_at DESC"
        (asking,) = connection.execute(find, ["Fix auth bug #3", "cli"]).fetchone()
        (paper,) = connection.execute(find, ["Board paper: parcels by boat", "cli"]).fetchone()
        open_one = "SELECT id FROM sessions WHERE ended_at IS NULL AND source = 'telegram'"
        (boat,) = connection.execute(f"{open_one} ORDER BY started_at DESC").fetchone()
        rows = [
            (asking, "user", "Go on with the tokens.", None, None),
            (asking, "assistant", "", json.dumps([_CALL]), "tool_calls"),
            (boat, "user", "And back?", None, None),
            (boat, "assistant", "At 22:05 and 23:40. Which one do you want?", None, "stop"),
            (paper, "user", "Now the whole paper again.", None, None),
            (paper, "assistant", "The board proposes", None, "length"),
        ]
        connection.executemany(
            "INSERT INTO messages (session_id, role, content, tool_calls, finish_reason, timestamp) "
            f"VALUES (?, ?, ?, ?, ?, {now - 1800})",
            rows,
        )
    _plant_cron(folder / "cron", now)
    return app


def _plant_cron(folder: Path, now: float) -> None:
    """A script that failed in the night, which has no session, and its output."""
    output = folder / "output" / "backup.sh" / "2026-05-28_20-25-40.md"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("# Cron Job: backup.sh (FAILED)\n\ntar: no space left on device\n")
    os.utime(output, (now - 60, now - 60))
    with closing(sqlite3.connect(folder / "executions.db")) as connection, connection:
        connection.execute(_LEDGER)
        at = datetime.fromtimestamp(now - 60, UTC).isoformat()
        row = [
            "e1",
            "backup.sh",
            "schedule",
            "p",
            1,
            None,
            "failed",
            at,
            at,
            at,
            "exit 3: no space",
        ]
        connection.execute(f"INSERT INTO executions VALUES ({', '.join('?' * len(row))})", row)
