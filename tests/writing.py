"""What tests of the write half share: a small store, a write to it, and other processes that use it meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from builders import make_store

from hermes_browse.store.connect import Reader
from hermes_browse.store.errors import WriteUnverifiedError
from hermes_browse.store.write.unit import Needs, Unit

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX locks, and processes that end at once")

HOLDER = """
import sqlite3, sys
path = sys.argv[1]
gateway = sqlite3.connect(path, isolation_level=None)
gateway.execute("UPDATE sessions SET title = 'held' WHERE id = 'a'")
if sys.argv[2] == "dropped":
    open(path, "rb").close()  # POSIX: closing any descriptor of a file drops all locks of the process on it
print("ready", flush=True)
sys.stdin.readline()
try:
    gateway.execute("INSERT INTO sessions (id, source, started_at) VALUES ('later', 'cli', 1)")
    print(gateway.execute("SELECT group_concat(id || ':' || COALESCE(title, ''), ' ') FROM sessions").fetchone()[0])
except sqlite3.Error as error:
    print("failed:", error)
"""
"""A gateway that has the store open, its locks on it kept or dropped, and goes on when it is told to."""

NEEDS = Needs(frozenset({"sessions", "messages"}))


def small_store(path: Path, journal: str = "wal") -> Path:
    """A store of two sessions, `a` with a title and `b` without, with a message each.

    Args:
        path: A path that is free.
        journal: `wal` or `delete`.
    """
    sessions = [{"id": "a", "title": "Ferry"}, {"id": "b"}]
    messages = [{"session_id": "a", "content": "lantern"}, {"session_id": "b", "content": "rope"}]
    return make_store(path, "31", sessions, messages, journal=journal)


def retitle(unit: Unit) -> str:
    """Some work."""
    assert unit.execute("UPDATE sessions SET title = ? WHERE id = ?", ["Quay", "a"]) == 1
    return "Quay"


def check(reader: Reader, title: str) -> None:
    """Read it back."""
    if reader.value("SELECT title FROM sessions WHERE id = 'a'") != title:
        raise WriteUnverifiedError("It is not there.")


def handles(path: Path) -> list[str]:
    """Open files of this process that are the store or stand beside it; none where the system does not tell."""
    found = []
    for descriptor in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        try:
            name = os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError:  # the one the folder itself was read by
            continue
        if name.startswith(str(path)):
            found.append(name)
    return found


@contextmanager
def another_process(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process that is ready; it goes on when it is sent a line, or at the end of the block."""
    command = [sys.executable, "-c", script, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        if not process.stdin.closed:
            process.stdin.close()
