"""Private folders in the system's temporary folder, removed when the process ends, however it ends."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import tempfile
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType, ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_NAME = re.compile(r"hermes-browse-[a-z]+-[0-9a-f]{12}")
_LOCK = ".in-use"
"""A file in each folder, locked by the process that uses it; the kernel releases the lock when that ends."""

_YOUNG = 60.0
"""Seconds in which a new folder may not be locked yet."""
_PATHS: set[Path] = set()
"""The folders of this process."""


class TemporaryFolder:
    """A folder that only its owner can read (0700), removed by `remove` or when the interpreter ends.

    The folders of a process that was killed (SIGKILL) are removed when the next one is created.

    Args:
        purpose: A word of lower-case letters for its name.

    Raises:
        OSError: It cannot be created.
    """

    def __init__(self, purpose: str) -> None:
        remove_abandoned()
        self.path = temporary_directory() / f"hermes-browse-{purpose}-{os.urandom(6).hex()}"
        descriptors: list[int] = []
        # Registered before the folder exists, so that it is removed whichever of the next lines is interrupted.
        self.remove = weakref.finalize(self, _remove, self.path, descriptors)
        _PATHS.add(self.path)
        self.path.mkdir(mode=0o700)
        if fcntl is not None:
            descriptors.append(os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600))
            fcntl.flock(descriptors[0], fcntl.LOCK_EX | fcntl.LOCK_NB)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *ended: object) -> None:
        self.remove()


def temporary_directory() -> Path:
    """Return the system's folder for temporary files.

    Python writes a file there at the first call, to see whether it can, and removes it; signals wait for that.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        return Path(tempfile.gettempdir())
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGHUP, signal.SIGINT})
    try:
        return Path(tempfile.gettempdir())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _remove(path: Path, descriptors: Iterable[int]) -> None:
    shutil.rmtree(path, ignore_errors=True)
    _PATHS.discard(path)
    for descriptor in descriptors:
        os.close(descriptor)


def _remove_all() -> None:
    # Not `TemporaryFolder.remove`: it does nothing the second time, and the first one may have been interrupted.
    for path in list(_PATHS):
        shutil.rmtree(path, ignore_errors=True)


def remove_abandoned() -> None:
    """Remove the folders of processes that were killed; none that could be in use, and none of other users."""
    if fcntl is None:  # Windows: whether a folder is in use cannot be tested
        return
    for path in temporary_directory().glob("hermes-browse-*"):
        if not _NAME.fullmatch(path.name):
            continue
        with contextlib.suppress(OSError):  # gone meanwhile, not ours, or in use
            try:
                descriptor = os.open(path / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            except FileNotFoundError:
                if time.time() - path.lstat().st_mtime > _YOUNG:
                    path.rmdir()  # refused by the system unless it is empty
                continue
            with os.fdopen(descriptor):
                if os.fstat(descriptor).st_uid == os.getuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def removed_on_signals() -> Iterator[None]:
    """Within the block, SIGTERM and SIGHUP remove the temporary folders of this process before they end it.

    So does an exception that leaves the block, such as the one of Ctrl+C. The handler raises none: Python ignores one
    raised in a callback of SQLite or of a weak reference, and the program would go on. Signal handlers can be set in
    the main thread only; elsewhere this does nothing.
    """
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        _remove_all()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    except BaseException:
        _remove_all()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
