"""What tests share: a small store, a write to it, its open handles, and other processes and users
that use it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from builders import make_store

from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.edit.guards import DELETE_AND_RESTORE
from hermes_browse.store.edit.transaction import Writer
from hermes_browse.store.errors import BrowseError, WriteUnverifiedError

NEEDS = DELETE_AND_RESTORE


def small_store(path: Path, journal: str = "wal") -> Path:
    """A store of two sessions, `a` with a title and `b` without, with a message each.

    Args:
        path: A path that is free.
        journal: `wal` or `delete`.
    """
    sessions = [{"id": "a", "title": "Ferry"}, {"id": "b"}]
    messages = [{"session_id": "a", "content": "lantern"}, {"session_id": "b", "content": "rope"}]
    return make_store(path, "31", sessions, messages, journal=journal)


def retitle(unit: Writer) -> str:
    """Some work."""
    assert unit.execute("UPDATE sessions SET title = ? WHERE id = ?", ["Quay", "a"]) == 1
    return "Quay"


def check(reader: Reader, title: str) -> None:
    """Read it back."""
    if reader.value("SELECT title FROM sessions WHERE id = 'a'") != title:
        raise WriteUnverifiedError("It is not there.")


def handles(path: Path, pid: int | str = "self") -> list[str]:
    """Files a process has open that are the store or stand beside it; none where the system does
    not tell."""
    folder, found = Path(f"/proc/{pid}/fd"), []
    for descriptor in folder.iterdir() if folder.is_dir() else ():
        with suppress(OSError):  # closed meanwhile, as the one that the folder itself was read by
            found.append(os.readlink(descriptor))
    return [name for name in found if name.startswith(str(path.resolve()))]


@contextmanager
def another_process(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process that is ready; it goes on when it is sent a line, or at the end of the block."""
    command = [sys.executable, "-c", script, *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        if not process.stdin.closed:
            process.stdin.close()


def as_nobody(work: Callable[[], object]) -> str:
    """What a piece of work says to a user without privileges: its answer or the kind of its
    error."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:  # a fork has all it needs imported: nobody may not read this environment
        said = "died"
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            said = str(work())
        except BrowseError as error:
            said = type(error).__name__
        finally:
            os.write(send, said.encode())
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said
