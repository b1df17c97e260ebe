"""The files of sessions that Hermes stores beside its database, in `$HERMES_HOME/sessions`.

Up to 0.13 that is `<id>.jsonl` for every conversation of its gateways (`gateway/session.py`), at
first instead of the store; later `session_<id>.json` is an optional snapshot (`run_agent.py`,
`_save_session_log`, 0.19). With a session Hermes removes `<id>.json`, `<id>.jsonl` and
`request_dump_<id>_*.json`, a request to a provider (0.13 to 0.22); `session_<id>.json` it leaves
behind (0.19) or removes too (0.22). `sessions.json` is its routing index.

What has a session in the store is copied into a bundle, removed after a delete, and written back by
a restore; what has none is an old transcript. Ids are untrusted: only a plain name becomes part of
a path. Only regular files with one link, directly in that folder, are read or changed: a second
link may be the store itself, and opening and closing the store's file in this process would drop
the locks of our connections (https://sqlite.org/howtocorrupt.html, 2.2).
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Collection, Container, Iterator, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from ..connection.failures import SQLITE_ERRORS
from ..connection.reader import Reader
from ..connection.stored_values import first_texts
from ..files import PARTIAL, open_regular, write_whole
from ..wording import _

_PLAIN = re.compile(r"(?!\.\.?$)[A-Za-z0-9_.-]+")
_OWNED = (
    re.compile(r"(.+)\.jsonl?"),
    re.compile(r"session_(.+)\.json"),
    re.compile(r"request_dump_(.+)_[0-9]{8}_[0-9]{6}_[0-9]{6}\.json"),
)
"""Names of files, with the session; the last is a request that failed, with the time of it (0.13 to
0.22)."""
_TRANSCRIPT = re.compile(
    r"""
    (?! \. | request_dump_ | sessions\.json\Z | session_\.json\Z )
    (?: (.+)\.jsonl | (?:session_)? (.+)\.json )
    """,
    re.VERBOSE | re.DOTALL,
)
"""Names of transcripts, with the session; not of hidden files, of requests, of the index of
routing, and of a snapshot without an id."""
_MODE = 0o777
_STATE = attrgetter("st_dev", "st_ino", "st_size", "st_mtime_ns")
"""Which file it is, and what changes with its content."""


class SessionFile(NamedTuple):
    """A file of a session, and its state when it was found."""

    path: Path
    session: str
    stat: os.stat_result


def owners(name: str) -> list[str]:
    """Return the sessions that may have a file with this name."""
    return [
        found[1]
        for each in _OWNED
        if (found := each.fullmatch(name)) and _PLAIN.fullmatch(found[1])
    ]


def plain_file(path: Path) -> os.stat_result | None:
    """Return the state of a regular file with one link; None for any other, or none.

    A second hard link means another use of the file, in the worst case as the store itself.
    """
    try:
        status = path.lstat()
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else None


def find_files(folder: Path | None, sessions: Sequence[str]) -> list[SessionFile]:
    """Find the files of some sessions in `sessions` of the Hermes home; none if there is no such
    folder."""
    if folder is None:
        return []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    wanted = set(sessions)
    return [
        SessionFile(folder / name, session, state)
        for name in names
        for session in wanted.intersection(owners(name))
        if (state := plain_file(folder / name)) is not None
    ]


def session_of(name: str) -> str | None:
    """Return the session in the name of a transcript; None if it is not the name of one."""
    found = _TRANSCRIPT.fullmatch(name)
    return found and (found[1] or found[2])


def find_old_files(folder: Path, known: Container[str]) -> Iterator[SessionFile]:
    """Yield the transcripts of sessions that are not known, in the order of the folder, which may
    be missing.

    Raises:
        OSError: The folder cannot be read.
    """
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        session, path = session_of(name), folder / name
        if session is not None and session not in known and (state := plain_file(path)) is not None:
            yield SessionFile(path, session, state)


def known_sessions(reader: Reader) -> frozenset[str]:
    """Return the ids of all sessions of a store."""
    return frozenset(first_texts(reader.rows("SELECT id FROM sessions")))


class Count(NamedTuple):
    """The number of files, and their size."""

    files: int = 0
    bytes: int = 0


def count_old_files(folder: Path | None, reader: Reader) -> Count:
    """Count the transcripts in a folder without a session in a store; zeros if it cannot be read."""
    sizes: list[int] = []
    with suppress(OSError):
        if folder is not None and any(find_old_files(folder, ())):
            old = find_old_files(folder, known_sessions(reader))
            sizes = [each.stat.st_size for each in old]
    return Count(len(sizes), sum(sizes))


def save_files(bundle: sqlite3.Connection, files: Sequence[SessionFile]) -> None:
    """Copy files into an attached bundle.

    Raises:
        OSError: One could not be read.
        sqlite3.Error: The bundle could not be written, or a file is too large for it.
    """
    bundle.execute("CREATE TABLE bundle.bundle_files (session, name, mode, mtime_ns, content)")
    for path, session, found in files:
        with open_regular(path, follow=False) as file:
            content = file.read(found.st_size)  # what is appended now makes it another file
        bundle.execute(
            "INSERT INTO bundle.bundle_files VALUES (?, ?, ?, ?, ?)",
            [session, path.name, found.st_mode & _MODE, found.st_mtime_ns, content],
        )


def remove_files(files: Sequence[SessionFile]) -> Iterator[str]:
    """Remove the files that have not changed since they were found; yield a sentence for each that
    stays."""
    for path, _session, found in files:
        now = plain_file(path)
        try:
            if now is not None and _STATE(now) == _STATE(found):
                path.unlink()
            elif os.path.lexists(path):
                yield _("{path} was written to meanwhile and stays.", path=path)
        except OSError as error:
            yield _("{path} could not be removed: {reason}.", path=path, reason=error.strerror)


def put_back(
    bundle: sqlite3.Connection, folder: Path | None, sessions: Collection[str]
) -> tuple[int, list[str]]:
    """Write the files of restored sessions from an open bundle into the folder of Hermes; return
    the number of those that exist now, and a sentence for each that could not be restored.

    An existing file is never overwritten. `folder` is None if there is none.
    """
    listed = bundle.execute("SELECT rowid, session, name, mode, mtime_ns FROM bundle_files")
    own = [row for row in listed if row[1] in sessions]
    if not own:
        return 0, []
    if folder is None or not folder.is_dir():
        return 0, [
            _(
                "There is no folder for the files of sessions beside this store: {count:,} files stay in the trash.",
                count=len(own),
            )
        ]
    with suppress(OSError):
        for unfinished in folder.glob(PARTIAL):  # left by a killed process
            unfinished.unlink()
    notes = [note for row in own if (note := _put_back_one(bundle, folder, *row))]
    return len(own) - len(notes), notes


def _put_back_one(
    bundle: sqlite3.Connection, folder: Path, row: int, session: str, name: Any, *kept: Any
) -> str:
    """Write one file, given the mode and mtime that it had; return a sentence if it stays in the
    trash."""
    target = folder / str(name)
    if session not in owners(str(name)):
        return _("“{name}” is no name of a session's file and stays in the trash.", name=name)
    try:
        one = bundle.execute("SELECT content FROM bundle_files WHERE rowid = ?", [row])
        content = bytes(one.fetchone()[0])
        if not os.path.lexists(target):
            write_whole(target, [content], replace=False)
        elif not _has(target, content):
            return _("{path} is there again and was left as it is.", path=target)
        _as_it_was(target, *map(int, kept))
    except (OSError, ValueError, TypeError, *SQLITE_ERRORS) as error:
        reason = getattr(error, "strerror", None) or error
        return _("{path} could not be written: {reason}", path=target, reason=reason)
    return ""


def _has(path: Path, content: bytes) -> bool:
    """Return whether a file is a plain one, and has this content."""
    if plain_file(path) is None:
        return False
    with open_regular(path, follow=False) as file:
        return file.read(len(content) + 1) == content


def _as_it_was(path: Path, mode: int, mtime_ns: int) -> None:
    """Give a file its permissions and time back; root gives it to the folder's owner."""
    with suppress(OSError):  # a file system without owners or permissions
        os.chmod(path, mode & _MODE & ~0o022)
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            owner = path.parent.stat()
            os.chown(path, owner.st_uid, owner.st_gid)
    os.utime(path, ns=(mtime_ns, mtime_ns))
