"""Where unexpected failures are written down: a private file, without a word of any conversation."""

from __future__ import annotations

import os
import sys
import time
import traceback
from pathlib import Path

_MOST = 512 * 1024


def log_path() -> Path:
    """The log of this user."""
    from platformdirs import user_log_path

    return user_log_path("hermes-browse", appauthor=False) / "hermes-browse.log"


def log_failure() -> str:
    """Write down the exception being handled: where it came from, not what values it held.

    Returns:
        The path of the log, or why there is none.
    """
    kind, _, trace = sys.exc_info()
    lines = [f"{time.strftime('%Y-%m-%d %H:%M:%S')} {kind.__name__ if kind else 'failure'}"]
    lines += [f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
    path = log_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.exists() and path.stat().st_size > _MOST:
            path.replace(path.with_suffix(".log.1"))
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except OSError as error:
        return f"no log could be written ({error.strerror})"
    return str(path)
