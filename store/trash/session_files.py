"""The files of sessions that Hermes stores beside its database.

Hermes stores in `$HERMES_HOME/sessions`: `<id>.json`, `<id>.jsonl` and `request_dump_<id>_*.json`,
which it removes with a session (0.13 to 0.22), and `session_<id>.json`, which it leaves behind
(0.19) or removes too (0.22). They are copied into a bundle, removed after a delete, and written
back by a restore. Ids are untrusted: only a plain name becomes part of a path, and only regular
files with a single hard link, directly in that folder, are read or changed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..connection.failures import SQLITE_ERRORS
from ..connection.reader import Row
from ..files import open_regular, sync_folder
from ..wording import _

_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")
_DUMP = "request_dump_"
_CHUNK = 1 << 20
_MODE = 0o777


def make_folder(path: Path) -> None:
    """Create a folder and its parents, readable by this user alone."""
    missing = []
    current = path
    while not current.is_dir():
        missing.append(current)
        current = current.parent
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another process has created it meanwhile
            os.mkdir(folder, 0o700)
        sync_folder(folder.parent)


class SessionFile(NamedTuple):
    """A file of a session, and its state when it was found."""

    path: Path
    session: str
    stat: tuple[int, int, int, int]
    """Device, inode, size and mtime in nanoseconds."""


def _is_safe_name(name: str) -> bool:
    return _PLAIN.fullmatch(name) is not None and name not in (".", "..")


def is_name_of(name: str, session: str) -> bool:
    """Return whether a session may have a file with this name."""
    if not _is_safe_name(name) or not _is_safe_name(session):
        return False
    return name in _names(session) or (
        name.startswith(f"{_DUMP}{session}_") and name.endswith(".json")
    )


def _names(session: str) -> tuple[str, ...]:
    """Return the names of a session's files, except request dumps."""
    return f"{session}.json", f"{session}.jsonl", f"session_{session}.json"


def _stat(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    # A second hard link means another use of the file, in the worst case as the store itself.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def find(
    rows_in: Callable[[str, Sequence[object]], list[Row]], folder: Path | None, ids: Sequence[str]
) -> list[SessionFile]:
    """Find the files of some sessions in `sessions` of the Hermes home; none if there is no such
    folder.

    `rows_in` asks the store for ids that begin with another id.
    """
    if folder is None:
        return []
    try:
        present = frozenset(os.listdir(folder))
    except OSError:
        return []
    plain = [each for each in ids if _is_safe_name(each)]
    owners = _owners_of_dumps(rows_in, frozenset(plain), sorted(present))
    found: list[SessionFile] = []
    for session in plain:
        own_names = [each for each in _names(session) if each in present]
        own_names += [name for name, owner in owners.items() if owner == session]
        stats = ((folder / name, _stat(folder / name)) for name in own_names)
        found += [SessionFile(path, session, stat) for path, stat in stats if stat is not None]
    return found


def _owners_of_dumps(
    rows_in: Callable[[str, Sequence[object]], list[Row]],
    requested: frozenset[str],
    names: Sequence[str],
) -> dict[str, str]:
    """Return the owner of each request dump: the longest id in the store that its name may begin
    with.

    Hermes removes `request_dump_a_b_….json` with session `a` even if there is a session `a_b`; we
    do not. Dumps that cannot belong to a requested session are left out.
    """
    candidates: dict[str, list[str]] = {}
    for name in names:
        if name.startswith(_DUMP) and name.endswith(".json"):
            stem = name[len(_DUMP) :]
            prefixes = [stem[:at] for at, letter in enumerate(stem) if letter == "_" and at]
            if not requested.isdisjoint(prefixes):
                candidates[name] = prefixes
    all_prefixes = list(dict.fromkeys(each for some in candidates.values() for each in some))
    rows = rows_in("SELECT id FROM sessions WHERE id IN ({keys})", all_prefixes)
    existing = {str(row[0]) for row in rows}
    owners = {
        name: max(existing.intersection(prefixes), key=len, default="")
        for name, prefixes in candidates.items()
    }
    return {name: owner for name, owner in owners.items() if owner}


def save_files(bundle: sqlite3.Connection, files: Sequence[SessionFile]) -> None:
    """Copy files into an attached bundle.

    Raises:
        OSError: One could not be read.
        sqlite3.Error: The bundle could not be written, or a file is too large for it.
    """
    bundle.execute("CREATE TABLE bundle.bundle_files (session, name, mode, mtime_ns, content)")
    # In a transaction, because closing a blob commits otherwise, and Python drops the error of that.
    bundle.execute("BEGIN")
    for each in files:
        with open_regular(each.path, follow=False) as file:
            found = os.fstat(file.fileno())
            row = bundle.execute(
                "INSERT INTO bundle.bundle_files VALUES (?, ?, ?, ?, zeroblob(?))",
                [each.session, each.path.name, found.st_mode & _MODE, each.stat[3], each.stat[2]],
            ).lastrowid
            assert row is not None
            if each.stat[2]:
                with bundle.blobopen("bundle_files", "content", row, name="bundle") as content:
                    left = each.stat[2]  # what is appended now makes it another file
                    while left and (data := file.read(min(left, _CHUNK))):
                        content.write(data)
                        left -= len(data)
    bundle.execute("COMMIT")


def remove(found: Sequence[SessionFile]) -> list[str]:
    """Remove the files that have not changed since they were found; return a sentence for each that
    stays."""
    notes: list[str] = []
    for each in found:
        if _stat(each.path) != each.stat:
            if os.path.lexists(each.path):
                notes.append(_("{path} was written to meanwhile and stays.").format(path=each.path))
            continue
        try:
            each.path.unlink()
        except OSError as error:
            failed = _("{path} could not be removed: {reason}.")
            notes.append(failed.format(path=each.path, reason=error.strerror))
    return notes


class FilesPutBack(NamedTuple):
    """Result of `put_back`."""

    there: int
    """Number of files that exist now, including those that already existed."""
    written: int
    """Number of files that were written."""
    notes: tuple[str, ...]
    """A sentence for each file that could not be restored."""


def put_back(
    bundle: sqlite3.Connection, folder: Path | None, sessions: frozenset[str]
) -> FilesPutBack:
    """Write the files of restored sessions from an open bundle into the folder of Hermes.

    Of existing files, only an empty one is overwritten. `folder` is None if there is none.
    """
    listed = "SELECT rowid, session, name, mode, mtime_ns FROM bundle_files"
    own = [row for row in bundle.execute(listed).fetchall() if row[1] in sessions]
    if not own:
        return FilesPutBack(0, 0, ())
    if folder is None or not folder.is_dir():
        none = _(
            "There is no folder for the files of sessions beside this store: {count:,} files stay in the bundle."
        )
        return FilesPutBack(0, 0, (none.format(count=len(own)),))
    count, written, notes = 0, 0, []
    failed = _("{path} could not be written: {reason}")
    for row, session, name, mode, mtime_ns in own:
        if not is_name_of(str(name), session):
            no_name = _("“{name}” is no name of a session's file and stays in the bundle.")
            notes.append(no_name.format(name=name))
            continue
        target = folder / str(name)
        try:
            with bundle.blobopen("bundle_files", "content", row, readonly=True) as content:
                if not os.path.lexists(target) or _is_empty(target):
                    _write_back(content, target, int(mode), int(mtime_ns))
                    written += 1
                elif not _is_same(content, target):
                    there = _("{path} is there again and was left as it is.")
                    notes.append(there.format(path=target))
                    continue
        except (OSError, ValueError, *SQLITE_ERRORS) as error:
            notes.append(failed.format(path=target, reason=error))
        else:
            count += 1
    if written:
        try:
            sync_folder(folder)
        except OSError as error:
            notes.append(failed.format(path=folder, reason=error))
    return FilesPutBack(count, written, tuple(notes))


def _is_empty(path: Path) -> bool:
    """Return whether a file is a regular one of zero bytes, as left behind by 0.1.0 when killed."""
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_size == 0


def _is_same(content: sqlite3.Blob, path: Path) -> bool:
    """Return whether a file equals the one in a bundle; False for a link and for an unreadable
    file."""
    if _stat(path) is None:
        return False
    try:
        with open_regular(path, follow=False) as file:
            while data := content.read(_CHUNK):
                if file.read(len(data)) != data:
                    return False
            return not file.read(1)
    except OSError:
        return False


def _write_back(content: sqlite3.Blob, target: Path, mode: int, mtime_ns: int) -> None:
    """Write a file under a temporary name, flush it to disk, and rename it; root gives it to the
    folder's owner."""
    temporary = target.with_name(f".{target.name}.restoring")
    temporary.unlink(missing_ok=True)  # left by a killed process
    mode = mode & _MODE & ~0o022
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, mode), "wb") as file:
            _set_owner_and_mode(file.fileno(), target.parent, mode)
            shutil.copyfileobj(content, file, _CHUNK)
            file.flush()
            os.fsync(file.fileno())
        os.utime(temporary, ns=(mtime_ns, mtime_ns))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _set_owner_and_mode(descriptor: int, folder: Path, mode: int) -> None:
    """As far as the file system has owners and permissions, and trusts root."""
    if not hasattr(os, "fchmod"):
        return
    with contextlib.suppress(OSError):
        os.fchmod(descriptor, mode)  # the umask may have taken some away
    if os.geteuid() == 0:
        owner = folder.stat()
        with contextlib.suppress(OSError):
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
