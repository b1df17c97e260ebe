"""Durable writing of files and folders, and the files of sessions that Hermes stores beside its
database.

Hermes stores in `$HERMES_HOME/sessions`: `<id>.json`, `<id>.jsonl` and `request_dump_<id>_*.json`,
which it removes with a session (0.13 to 0.22), and `session_<id>.json`, which it leaves behind
(0.19) or removes too (0.22). They are copied into a bundle, removed after a delete, and written
back by a restore. Ids are untrusted: only a plain name becomes part of a path, and only regular
files with a single hard link, directly in that folder, are read or changed.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import os
import re
import shutil
import stat
import zlib
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from ..wording import _
from .format import FILES, BundleFile, Kept
from .tables import Rows

RESERVE = 16 * 1024 * 1024
"""Bytes left free on a disk for other programs: a gateway with a full disk would lose its turns."""

_CHECK_EVERY = 4 * 1024 * 1024
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")
_DUMP = "request_dump_"
_CHUNK = 1 << 20
_MODE = 0o777


def sync_folder(path: Path) -> None:
    """Flush the entries of a folder to disk; a no-op on Windows, which cannot."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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


def remove_folder(path: Path) -> None:
    """Remove a folder with its contents as far as possible, without following links."""
    shutil.rmtree(path, ignore_errors=True)


class NewFile:
    """A new file, readable by this user alone; counts and hashes what is written.

    The path must not exist; `mode` has the permissions.
    """

    def __init__(self, path: Path, mode: int = 0o600) -> None:
        self._path = path
        self._hash = hashlib.sha256()
        self._bytes = 0
        self._until_check = 0
        flags = (
            os.O_WRONLY
            | os.O_CREAT
            | os.O_EXCL
            | getattr(os, "O_NOFOLLOW", 0)
            | getattr(os, "O_BINARY", 0)
        )
        self._file = os.fdopen(os.open(path, flags, mode), "wb")
        if hasattr(os, "fchmod"):
            with contextlib.suppress(OSError):  # a file system without permissions
                os.fchmod(self._file.fileno(), mode)  # the umask may have taken some away

    def give_to(self, owner: os.stat_result) -> None:
        """Give it to the owner and group of something else, as far as the system allows: root may,
        others need not."""
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            with contextlib.suppress(
                OSError
            ):  # a file system without owners, or one that trusts no root
                os.fchown(self._file.fileno(), owner.st_uid, owner.st_gid)

    def write(self, data: bytes) -> int:
        """Write bytes; the signature is the one that `gzip` requires.

        Raises:
            OSError: The disk would have less than `RESERVE` bytes left, or cannot be written.
        """
        if self._until_check <= 0:
            if shutil.disk_usage(self._path.parent).free < RESERVE + len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._until_check = _CHECK_EVERY
        self._until_check -= len(data)
        self._hash.update(data)
        self._bytes += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        """Flush the buffer to the operating system."""
        self._file.flush()

    def finish(self) -> BundleFile:
        """Flush it to disk and close it; return its size and checksum."""
        self._file.flush()
        os.fsync(self._file.fileno())
        # Verification should read from the disk, not from the page cache.
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self._file.close()
        return BundleFile(self._bytes, self._hash.hexdigest())

    def close(self) -> None:
        """Close it, ignoring errors; no effect after `finish`."""
        with contextlib.suppress(OSError):
            self._file.close()


def write_file(path: Path, data: bytes) -> BundleFile:
    """Write a whole small file and flush it to disk."""
    with contextlib.closing(NewFile(path)) as file:
        file.write(data)
        return file.finish()


def open_plain(path: Path) -> BufferedReader:
    """Open a file to read it, but no link, and without waiting for the other end of a pipe."""
    flags = (
        os.O_RDONLY
        | getattr(os, "O_NOFOLLOW", 0)
        | getattr(os, "O_NONBLOCK", 0)
        | getattr(os, "O_BINARY", 0)
    )
    return os.fdopen(os.open(path, flags), "rb")


def sum_file(path: Path) -> BundleFile:
    """Return size and checksum of a file.

    Raises:
        OSError: It cannot be read, or is a link or not a regular file.
    """
    with open_plain(path) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(_("{file} is no plain file").format(file=path.name))
        digest = hashlib.file_digest(file, "sha256")
        return BundleFile(file.tell(), digest.hexdigest())


class SessionFile(NamedTuple):
    """A file of a session, and its state when it was found."""

    path: Path
    session: str
    stat: tuple[int, int, int, int]
    """Device, inode, size and mtime in nanoseconds."""


def is_safe_name(name: str) -> bool:
    """Return whether an id, or a name from a manifest, may become part of a path."""
    return _PLAIN.fullmatch(name) is not None and name not in (".", "..")


def is_name_of(name: str, session: str) -> bool:
    """Return whether a session may have a file with this name."""
    if not is_safe_name(name) or not is_safe_name(session):
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


def find(source: Rows, folder: Path | None, ids: Sequence[str]) -> list[SessionFile]:
    """Find the files of some sessions in `sessions` of the Hermes home; none if there is no such
    folder.

    The store is asked for ids that begin with another id.
    """
    if folder is None:
        return []
    try:
        present = frozenset(os.listdir(folder))
    except OSError:
        return []
    plain = [each for each in ids if is_safe_name(each)]
    owners = _owners_of_dumps(source, frozenset(plain), sorted(present))
    found: list[SessionFile] = []
    for session in plain:
        own_names = [each for each in _names(session) if each in present]
        own_names += [name for name, owner in owners.items() if owner == session]
        stats = ((folder / name, _stat(folder / name)) for name in own_names)
        found += [SessionFile(path, session, stat) for path, stat in stats if stat is not None]
    return found


def _owners_of_dumps(
    source: Rows, requested: frozenset[str], names: Sequence[str]
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
    all_prefixes = list(
        dict.fromkeys(each for prefixes in candidates.values() for each in prefixes)
    )
    existing = {
        str(row[0])
        for row in source.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", all_prefixes)
    }
    owners = {
        name: max(existing.intersection(prefixes), key=len, default="")
        for name, prefixes in candidates.items()
    }
    return {name: owner for name, owner in owners.items() if owner}


def take_along(
    found: Sequence[SessionFile], bundle: Path
) -> tuple[list[Kept], dict[str, BundleFile]]:
    """Copy files into a bundle, compressed.

    Raises:
        OSError: One could not be read or written.
    """
    kept: list[Kept] = []
    pieces: dict[str, BundleFile] = {}
    for number, each in enumerate(found, 1):
        name = f"{number:04}.gz"
        digest, size = hashlib.sha256(), 0
        with contextlib.closing(NewFile(bundle / FILES / name)) as target:
            with (
                open_plain(each.path) as file,
                gzip.GzipFile("", "wb", 6, target, mtime=0) as packed,
            ):
                mode = os.fstat(file.fileno()).st_mode & _MODE
                while data := file.read(_CHUNK):
                    digest.update(data)
                    size += len(data)
                    packed.write(data)
            pieces[f"{FILES}/{name}"] = target.finish()
        kept.append(
            Kept(name, each.path.name, each.session, size, digest.hexdigest(), mode, each.stat[3])
        )
    return kept, pieces


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
    kept: Sequence[Kept], bundle: Path, folder: Path | None, sessions: frozenset[str]
) -> FilesPutBack:
    """Write the files of restored sessions back; of existing files, only an empty one is
    overwritten.

    `bundle` is the folder of the bundle, `folder` that of Hermes (None if there is none),
    `sessions` the restored ids.
    """
    own = [each for each in kept if each.session in sessions]
    if not own:
        return FilesPutBack(0, 0, ())
    if folder is None or not folder.is_dir():
        none = _(
            "There is no folder for the files of sessions beside this store: {count:,} files stay in the bundle."
        )
        return FilesPutBack(0, 0, (none.format(count=len(own)),))
    count, written, notes = 0, 0, []
    failed = _("{path} could not be written: {reason}")
    for each in own:
        if not is_name_of(each.name, each.session) or not is_safe_name(each.file):
            no_name = _("“{name}” is no name of a session's file and stays in the bundle.")
            notes.append(no_name.format(name=each.name))
            continue
        target = folder / each.name
        try:
            if os.path.lexists(target) and not _is_empty(target):
                if not _is_same(target, each):
                    notes.append(
                        _("{path} is there again and was left as it is.").format(path=target)
                    )
                    continue
            else:
                _write_back(each, bundle / FILES / each.file, target)
                written += 1
        except (OSError, EOFError, ValueError, zlib.error) as error:
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


def _is_same(path: Path, kept: Kept) -> bool:
    """Return whether a file equals the one in a bundle; False for a link and for an unreadable
    file."""
    try:
        return sum_file(path) == BundleFile(kept.bytes, kept.sha256)
    except OSError:
        return False


def _write_back(kept: Kept, source: Path, target: Path) -> None:
    """Write a file under a temporary name, flush it to disk, and rename it; root gives it to the
    folder's owner."""
    temporary = target.with_name(f".{target.name}.restoring")
    temporary.unlink(missing_ok=True)  # left by a killed process
    file = NewFile(temporary, kept.mode & _MODE & ~0o022)
    try:
        file.give_to(target.parent.stat())
        with open_plain(source) as raw, gzip.GzipFile(fileobj=raw, mode="rb") as packed:
            while data := packed.read(_CHUNK):
                file.write(data)
        piece = file.finish()
        if (piece.bytes, piece.sha256) != (kept.bytes, kept.sha256):
            raise ValueError(_("its sum in the bundle is wrong"))
        os.utime(temporary, ns=(kept.mtime_ns, kept.mtime_ns))
        os.replace(temporary, target)
    except BaseException:
        file.close()
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
