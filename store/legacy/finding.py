"""Finds the files of `$HERMES_HOME/sessions` that are conversations without a session in the store.

Hermes up to 0.13 wrote `<id>.jsonl` for every conversation of its gateways (`gateway/session.py`), at first instead of
the store; later `session_<id>.json` is an optional snapshot (`run_agent.py`, `_save_session_log`, 0.19). Other files of
that folder are no conversations: the routing index `sessions.json`, and `request_dump_*`, the requests to a provider.
Only plain files with a single name are read: a second name may be the store's own, and opening and closing the store's
file in this process would drop the locks of our connections (https://sqlite.org/howtocorrupt.html, 2.2).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from ..connection.connect import Reader
from ..text import as_text

_NO_TRANSCRIPTS = ("sessions.json",)
_SNAPSHOT = "session_"
_DUMP = "request_dump_"


class OldFile(NamedTuple):
    """One file as its folder lists it, not read."""

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
    """The session a file name is about; None for what is no transcript.

    Args:
        name: Without its folder.
    """
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem or name.startswith(".") or name in _NO_TRANSCRIPTS or name.startswith(_DUMP):
        return None
    if extension == "jsonl":
        return stem
    if extension == "json":
        return stem.removeprefix(_SNAPSHOT) or None
    return None


def find_files(folder: Path, known: Collection[str]) -> Iterator[OldFile]:
    """Transcripts without a session in the store, in the order of the folder.

    Args:
        folder: `sessions` of a Hermes home; one that is not there has none.
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
                found = entry.stat(follow_symlinks=False)
            except OSError:  # gone since
                continue
            if stat.S_ISREG(found.st_mode) and _single(entry, found):
                name = as_text(session) or "?"
                yield OldFile(folder / entry.name, name, found.st_size, found.st_mtime)


def _single(entry: os.DirEntry[str], found: os.stat_result) -> bool:
    # Windows counts names only when asked by path.
    count = found.st_nlink or os.lstat(entry.path).st_nlink
    return count == 1


def known_sessions(reader: Reader) -> frozenset[str]:
    """Ids of all sessions of a store.

    Args:
        reader: An open reader.
    """
    return frozenset(text for text in (as_text(row[0]) for row in reader.rows("SELECT id FROM sessions")) if text)


def count_files(folder: Path | None, reader: Reader) -> Count:
    """Count the transcripts without a session in the store; none if the folder cannot be read.

    Args:
        folder: `sessions` of the home; None for a store that has none.
        reader: An open reader of its store.
    """
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
