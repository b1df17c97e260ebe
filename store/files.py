"""Files of this machine.

They are written whole or not at all, whoever else writes beside us. Small files that anybody may
have put there are read with care: a pipe would be waited for, and a device never ends. Private
folders in the system's temporary folder are removed when the process ends.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import stat
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from types import FrameType
from typing import Any

from .wording import _

PARTIAL = ".hermes-browse-*.partial"
"""Names of files that are being written."""
_LARGEST_LIST = 4_000_000
"""Bytes of a JSON file of Hermes, at most."""


def sync_folder(path: Path) -> None:
    """Flush the entries of a folder to disk; a no-op on Windows, which cannot."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:  # of a folder that may be written to and not read, all is flushed
        os.sync()
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def private(path: str, flags: int) -> int:
    """Open a file that only this user may read; for `open`."""
    return os.open(path, flags, 0o600)


def write_whole(path: Path, pieces: Iterable[bytes], *, replace: bool) -> int:
    """Write a private file (0600); return its size in bytes.

    Pieces go to a temporary file beside it, which is synced and then renamed. Whatever fails before
    that, also in `pieces`, leaves an existing file as it was.

    Raises:
        FileExistsError: It is there, without `replace`.
        OSError: It was not written; or it was, and something failed after that: the temporary file
            may be left over, or the folder is not synced.
    """
    temporary = path.with_name(PARTIAL.replace("*", os.urandom(6).hex()))
    _TEMPORARY.add(temporary)  # until this returns, a signal removes it
    try:
        with open(temporary, "xb", opener=private) as file:
            size = sum(map(file.write, pieces))
            file.flush()
            os.fsync(file.fileno())
        _publish(temporary, path, replace=replace)
    finally:
        temporary.unlink(missing_ok=True)
        _TEMPORARY.discard(temporary)
    sync_folder(path.parent)
    return size


def write_private(path: Path, text: str, *, replace: bool = True) -> None:
    """Write a text as `write_whole` does, and make its folder if there is none."""
    make_folder(path.parent)
    write_whole(path, [text.encode("utf-8")], replace=replace)


def _publish(temporary: Path, path: Path, *, replace: bool) -> None:
    """Give the finished file its name; without `replace` only if no such file has appeared."""
    if replace:
        os.replace(temporary, path)
        return
    try:
        os.link(temporary, path)
    except OSError:  # no hard links on this file system: take the name first, then replace the file
        path.touch(mode=0o600, exist_ok=False)
        try:
            os.replace(temporary, path)
        except OSError:
            path.unlink()
            raise


_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""Flags to open what may be no file."""


class FileTooLargeError(OSError):
    """The file has more bytes than one of its kind has."""


def open_regular(path: Path | str, *, follow: bool = True) -> BufferedReader:
    """Open a regular file to read it, at once; without `follow` no symbolic link.

    Raises:
        OSError: It cannot be read, or is a folder, a pipe, a device or a socket.
    """
    more = _AT_ONCE if follow else _AT_ONCE | getattr(os, "O_NOFOLLOW", 0)

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | more)

    file = open(path, "rb", opener=opener)  # noqa: SIM115 -- it is returned
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, _("it is no regular file"), str(path))
    return file


def read_regular(path: Path | str, most: int) -> bytes:
    """Read a regular file of at most so many bytes.

    Raises:
        FileTooLargeError: It has more.
        OSError: As of `open_regular`.
    """
    with open_regular(path) as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise FileTooLargeError(
            errno.EFBIG, _("it is larger than {most:,} bytes", most=most), str(path)
        )
    return raw


def read_objects(path: Path, key: str = "") -> Sequence[Mapping[str, Any]]:
    """Read a list of objects from a JSON file of Hermes: the document itself, or, where the
    document is an object, what it has under a key.

    A file that is missing or damaged has none: Hermes writes it without asking us.
    """
    try:
        text = read_regular(path, _LARGEST_LIST).decode("utf-8-sig", "replace")
        document = json.loads(text, strict=False)
    except (OSError, ValueError, RecursionError):
        return []
    listed = document.get(key) if isinstance(document, dict) else document
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def make_folder(path: Path) -> None:
    """Create a folder and its parents, readable by this user alone."""
    if path.is_dir():
        return
    make_folder(path.parent)
    with suppress(FileExistsError):  # another process has created it meanwhile
        os.mkdir(path, 0o700)
    sync_folder(path.parent)


_NAME = "hermes-browse"
_XDG = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "data": ("XDG_DATA_HOME", ".local/share"),
    "state": ("XDG_STATE_HOME", ".local/state"),
    "log": ("XDG_STATE_HOME", ".local/state"),
}
"""Kind of folder to its variable, and its place in the home folder where that is not set."""


def user_folder(kind: str) -> Path:
    """Return this user's folder for files of a kind (`config`, `data`, `state`, `log`); it need not
    exist.

    Importing platformdirs takes as long as painting the first rows, so the folders of Linux and the
    BSDs are computed by the same rule (XDG Base Directory Specification); a test compares the two.
    """
    if sys.platform in ("win32", "darwin") or "ANDROID_DATA" in os.environ:
        import platformdirs  # start: Linux does without it

        return Path(getattr(platformdirs, f"user_{kind}_dir")(_NAME, appauthor=False))
    variable, default = _XDG[kind]
    folder = Path(os.environ.get(variable, "").strip() or Path.home() / default) / _NAME
    return folder / "log" if kind == "log" else folder


# Temporary folders and files

_TEMPORARY: set[Path] = set()
"""What signals remove: the temporary folders, and files that are being written."""


class TemporaryFolder:
    """A folder that only its owner can read (0700), removed by `remove` or when Python ends.

    Args:
        purpose: A word of lower-case letters for its name.

    Raises:
        OSError: It cannot be created.
    """

    def __init__(self, purpose: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"hermes-browse-{purpose}-"))
        # What a thread that still runs puts into it after `remove` goes when Python ends.
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        _TEMPORARY.add(self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *ended: object) -> None:
        self.remove()

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


@contextmanager
def removed_on_signals() -> Iterator[None]:
    """Within the block, SIGTERM and SIGHUP remove the temporary folders, and the file that is being
    written, before they end the process.

    The handler raises no exception: Python ignores one raised in a callback of SQLite or of a weak
    reference, and the program would go on. Signal handlers can be set in the main thread only;
    elsewhere this does nothing.
    """

    def end(number: int, frame: FrameType | None) -> None:
        for path in list(_TEMPORARY):
            shutil.rmtree(path, ignore_errors=True)
            with suppress(OSError):
                path.unlink(missing_ok=True)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    names = ("SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
