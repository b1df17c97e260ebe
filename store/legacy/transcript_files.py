"""Find conversations in `$HERMES_HOME/sessions` that have no session in the store.

Hermes up to 0.13 wrote `<id>.jsonl` for every conversation of its gateways (`gateway/session.py`),
at first instead of the store; later `session_<id>.json` is an optional snapshot (`run_agent.py`,
`_save_session_log`, 0.19). Other files of that folder are not conversations: the routing index
`sessions.json`, and `request_dump_*`, requests to a provider. Only regular files with one link are
read: a second link may be the store itself, and opening and closing the store's file in this
process would drop the locks of our connections (https://sqlite.org/howtocorrupt.html, 2.2).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import first_texts
from ..text import text_of


class OldFile(NamedTuple):
    """A transcript file, not read yet."""

    path: Path
    session_id: str
    size: int
    """Bytes."""
    modified: float
    """Unix seconds."""


class Count(NamedTuple):
    """The number of files, and their size."""

    files: int = 0
    bytes: int = 0


def session_of(name: str) -> str | None:
    """Return the session id in a file name; None if it is not the name of a transcript."""
    stem, _dot, extension = name.rpartition(".")
    if not stem or name == "sessions.json" or name.startswith((".", "request_dump_")):
        return None
    if extension == "jsonl":
        return stem
    return stem.removeprefix("session_") or None if extension == "json" else None


def find_files(folder: Path, known: Collection[str]) -> Iterator[OldFile]:
    """Yield transcripts without a session in the store, in the order of the folder.

    Args:
        folder: `sessions` of a Hermes home; may be missing.
        known: Ids of the sessions in the store.

    Raises:
        OSError: The folder cannot be read.
    """
    try:
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            session = session_of(entry.name)
            if session is None or session in known:
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:  # removed meanwhile
                continue
            # On Windows, DirEntry.stat() does not count links.
            if (
                stat.S_ISREG(status.st_mode)
                and (status.st_nlink or os.lstat(entry.path).st_nlink) == 1
            ):
                yield OldFile(
                    folder / entry.name, text_of(session, "?"), status.st_size, status.st_mtime
                )


def known_sessions(reader: Reader) -> frozenset[str]:
    """Return the ids of all sessions of a store."""
    return frozenset(first_texts(reader.rows("SELECT id FROM sessions")))


def count_files(folder: Path | None, reader: Reader) -> Count:
    """Count the transcripts in `sessions` of a home without a session in its store; zeros if it
    cannot be read."""
    if folder is None:
        return Count()
    try:
        if next(find_files(folder, ()), None) is None:
            return Count()
        known = known_sessions(reader)
        sizes = [each.size for each in find_files(folder, known)]
    except OSError:
        return Count()
    return Count(len(sizes), sum(sizes))
