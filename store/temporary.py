"""Private folders in the system's temporary folder, which go with the process however it ends."""

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
"""A file in each folder, locked by the process that uses it; the kernel gives the lock up when that ends."""

_YOUNG = 60.0
"""Seconds."""
_FOLDERS: weakref.WeakSet[TemporaryFolder] = weakref.WeakSet()
"""Those of this process."""


class TemporaryFolder:
    """A folder that only its owner can read (0700).

    It is removed by `remove`, or at the latest when the interpreter ends. A process that is killed (SIGKILL) cannot
    remove anything: its folders go when the next one is made.

    Args:
        purpose: A word of lower-case letters for its name.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, purpose: str) -> None:
        remove_abandoned()
        self.path = Path(tempfile.gettempdir()) / f"hermes-browse-{purpose}-{os.urandom(6).hex()}"
        """Where it is."""
        descriptors: list[int] = []
        # Before the folder is there: whatever interrupts one of the next lines, it goes.
        self.remove = weakref.finalize(self, _remove, self.path, descriptors)
        _FOLDERS.add(self)
        self.path.mkdir(mode=0o700)
        if fcntl is not None:
            descriptors.append(os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600))
            fcntl.flock(descriptors[0], fcntl.LOCK_EX | fcntl.LOCK_NB)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *ended: object) -> None:
        self.remove()


def _remove(path: Path, descriptors: Iterable[int]) -> None:
    shutil.rmtree(path, ignore_errors=True)
    for descriptor in descriptors:
        os.close(descriptor)


def remove_abandoned() -> None:
    """Remove the folders of processes that were killed; nothing that could be in use, or of somebody else."""
    if fcntl is None:  # Windows: nothing tells whether a folder is in use
        return
    for path in Path(tempfile.gettempdir()).glob("hermes-browse-*"):
        if not _NAME.fullmatch(path.name):
            continue
        with contextlib.suppress(OSError):  # gone meanwhile, not ours, or in use
            try:
                descriptor = os.open(path / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            except FileNotFoundError:
                if time.time() - path.lstat().st_mtime > _YOUNG:  # else it may be about to be locked
                    path.rmdir()  # refused by the system unless it is empty
                continue
            with os.fdopen(descriptor):
                if os.fstat(descriptor).st_uid == os.getuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def removed_when_told_to_end() -> Iterator[None]:
    """Within the block SIGTERM and SIGHUP remove the temporary folders of this process, and then end it as they would.

    No exception is raised for that: one that is raised in a callback of SQLite or of a weak reference is ignored there,
    and the program would stay. Only the main thread can set this; elsewhere it does nothing.
    """
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        for remove in [each.remove for each in _FOLDERS]:
            remove()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
