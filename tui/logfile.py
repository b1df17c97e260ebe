"""Where unexpected failures are written down: a private file, without a word of any conversation.

With `--debug` also what was asked of the store, how long it took, and every failure that was expected; still no value:
statements are written as they stand, before anything is bound to them.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from hermes_browse.store.connection import reader
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

_MOST = 512 * 1024
_MOST_IN_DEBUG = 8 * 1024 * 1024
"""Bytes; a longer file becomes `….log.1`, and what that was is gone."""
_LONGEST = 400

_lock = threading.Lock()
_is_debugging = False


def log_path() -> Path:
    """The log of this user."""
    from platformdirs import user_log_path

    return user_log_path("hermes-browse", appauthor=False) / "hermes-browse.log"


def _write(lines: Sequence[str]) -> str:
    """Add to the log.

    Returns:
        The path of the log, or why there is none.
    """
    path = log_path()
    try:
        with _lock:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if path.exists() and path.stat().st_size > (_MOST_IN_DEBUG if _is_debugging else _MOST):
                path.replace(path.with_suffix(".log.1"))
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "a", encoding="utf-8", errors="replace") as file:
                file.write("\n".join(lines) + "\n")
    except OSError as error:
        return _("no log could be written ({reason})").format(reason=error.strerror)
    return str(path)


def _stamp() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _frames() -> list[str]:
    """The exception being handled, and those that led to it: kinds and places, no values."""
    lines: list[str] = []
    error: BaseException | None = sys.exc_info()[1]
    while error is not None and len(lines) < 200:
        name = getattr(error, "sqlite_errorname", None) or getattr(error, "errno", None)
        kind = type(error).__name__ + (f" ({name})" if name else "")
        lines.append(f"{_stamp()} {kind}" if not lines else f"  because of {kind}")  # not shown
        lines += [
            f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)
        ]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return lines or [f"{_stamp()} failure"]


def log_failure() -> str:
    """Write down the exception being handled: where it came from, not what values it held.

    Returns:
        The path of the log, or why there is none.
    """
    return _write(_frames())


def log_expected() -> None:
    """With `--debug`, write down a failure that has a sentence of its own."""
    if _is_debugging:
        _write(_frames())


def start_debugging(command: str) -> str:
    """Write down more from now on: versions, the terminal, each statement with its time and rows.

    Args:
        command: The name of what is run, without what it was told: that may be words of a conversation.

    Returns:
        The path of the log, or why there is none.
    """
    import platform

    from .version import version

    global _is_debugging
    _is_debugging = True
    reader.observe = _observe
    env = os.environ
    return _write(
        [
            f"{_stamp()} hermes-browse {version()} {command}, process {os.getpid()}",
            f"  Python {platform.python_version()}, SQLite {reader.SQLITE}, {platform.platform()}",
            f"  TERM={one_line(env.get('TERM', ''), 40)} COLORTERM={one_line(env.get('COLORTERM', ''), 40)} "
            f"NO_COLOR={'NO_COLOR' in env} tmux={'TMUX' in env} ssh={'SSH_CONNECTION' in env}",
        ]
    )


def stop_debugging() -> None:
    """Write down failures alone again."""
    global _is_debugging
    _is_debugging = False
    reader.observe = None


def _observe(sql: str, seconds: float, rows: int | None) -> None:
    told = f"{rows:,} rows" if rows is not None else "failed"
    thread = threading.current_thread().name
    _write([f"{_stamp()} {seconds * 1000:8.1f} ms {told:>12} [{thread}] {one_line(' '.join(sql.split()), _LONGEST)}"])
