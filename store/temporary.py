"""Private folders in the system's temporary folder, removed when the process ends."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

_FOLDERS: weakref.WeakSet[TemporaryFolder] = weakref.WeakSet()


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
        _FOLDERS.add(self)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *ended: object) -> None:
        self.remove()

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


@contextlib.contextmanager
def removed_on_signals() -> Iterator[None]:
    """Within the block, SIGTERM and SIGHUP remove the temporary folders before they end the
    process.

    The handler raises no exception: Python ignores one raised in a callback of SQLite or of a weak
    reference, and the program would go on. Signal handlers can be set in the main thread only;
    elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        for folder in list(_FOLDERS):
            folder.remove()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
