"""What tests of the write half share: a small store, a write to it, and other processes that use it meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from builders import make_store

from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.edit.guards import Needs
from hermes_browse.store.edit.transaction import Transaction
from hermes_browse.store.errors import WriteUnverifiedError

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


def retitle(unit: Transaction) -> str:
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
