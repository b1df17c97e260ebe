"""Folders and files that are ours alone, written so that they are there after a power cut."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from pathlib import Path

from ..wording import _
from .manifest import Piece

RESERVE = 16 * 1024 * 1024
"""Bytes a disk keeps free for what else writes to it: a gateway whose disk we filled would lose its turns."""

_LOOK_EVERY = 4 * 1024 * 1024


def sync_folder(path: Path) -> None:
    """Have the names in a folder on disk. Windows has no such thing."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """Make a folder, and what it lies in, for this user alone."""
    missing = []
    current = path
    while not current.is_dir():
        missing.append(current)
        current = current.parent
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another process made it meanwhile
            os.mkdir(folder, 0o700)
        sync_folder(folder.parent)


def remove_folder(path: Path) -> None:
    """Remove a folder with all in it, as far as that is possible; links are not followed."""
    shutil.rmtree(path, ignore_errors=True)


class NewFile:
    """A file that must not exist yet, for this user alone; counts and sums what is written.

    Args:
        path: Where.
        mode: Its permissions.
    """

    def __init__(self, path: Path, mode: int = 0o600) -> None:
        self._path = path
        self._sum = hashlib.sha256()
        self._bytes = 0
        self._until_look = 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self._file = os.fdopen(os.open(path, flags, mode), "wb")

    def write(self, data: bytes) -> int:
        """Write bytes; as files of the standard library, so that gzip can stand on it.

        Raises:
            OSError: No room, or less than is to be kept free.
        """
        if self._until_look <= 0:
            import errno

            if shutil.disk_usage(self._path.parent).free < RESERVE + len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._until_look = _LOOK_EVERY
        self._until_look -= len(data)
        self._sum.update(data)
        self._bytes += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        """Hand what is buffered to the system."""
        self._file.flush()

    def finish(self) -> Piece:
        """Have it on disk and close it.

        Returns:
            Its size and sum.
        """
        self._file.flush()
        os.fsync(self._file.fileno())
        # What is read back to be verified should come from the disk, not from memory.
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self._file.close()
        return Piece(self._bytes, self._sum.hexdigest())

    def abandon(self) -> None:
        """Close it, whatever is in it; for a file that goes away."""
        with contextlib.suppress(OSError):
            self._file.close()


def write_file(path: Path, data: bytes) -> Piece:
    """Write a whole small file and have it on disk."""
    file = NewFile(path)
    try:
        file.write(data)
        return file.finish()
    finally:
        file.abandon()


def sum_file(path: Path) -> Piece:
    """Size and sum of a file.

    Raises:
        OSError: It cannot be read, or is a link or no plain file.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(_("{file} is no plain file").format(file=path.name))
        total, size = hashlib.sha256(), 0
        while piece := file.read(1 << 20):
            total.update(piece)
            size += len(piece)
    return Piece(size, total.hexdigest())
