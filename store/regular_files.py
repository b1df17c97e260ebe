"""Read small files that anybody may have put there: a pipe would be waited for, a device never
ends."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from .wording import _

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


class FileTooLargeError(OSError):
    """The file has more bytes than one of its kind has."""


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file to read it, at once; links are followed.

    Raises:
        OSError: It cannot be read, or is a folder, a pipe, a device or a socket.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, _("it is no regular file"), str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, most: int) -> bytes:
    """Read a regular file of at most so many bytes.

    Raises:
        FileTooLargeError: It has more.
        OSError: As of `open_regular`.
    """
    with open_regular(path) as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise FileTooLargeError(
            errno.EFBIG, _("it is larger than {most:,} bytes").format(most=most), str(path)
        )
    return raw
