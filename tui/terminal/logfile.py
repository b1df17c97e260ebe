"""The log: unexpected exceptions, in a private file that contains nothing of any conversation.

With `--debug` also expected errors, and every SQL statement with its time and without its
parameters.
"""

from __future__ import annotations

import os
import platform
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from hermes_browse.store.connection import reader
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.files import user_folder
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from .. import version

_MAX_BYTES = 8 * 1024 * 1024
"""A longer file is renamed to `….log.1`, replacing the one before."""
_MAX_SQL = 400
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
"""In place of the log there may be a pipe that nobody reads."""

_lock = threading.Lock()
_is_debugging = False


def log_path() -> Path:
    """The log."""
    return user_folder("log") / "hermes-browse.log"


def _write(lines: Sequence[str]) -> str:
    """Append to the log; return its path, or why it could not be written."""
    path = log_path()
    try:
        with _lock:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if path.exists() and path.stat().st_size > _MAX_BYTES:
                path.replace(path.with_suffix(".log.1"))
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NO_WAITING, 0o600)
            with os.fdopen(handle, "a", encoding="utf-8", errors="replace") as file:
                file.write("\n".join(lines) + "\n")
    except OSError as error:
        return _("no log could be written ({reason})", reason=error.strerror)
    return str(path)


def _stamp() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _frames() -> list[str]:
    """Return the exception being handled and its causes as lines: types and frames, no values."""
    lines: list[str] = []
    error: BaseException | None = sys.exc_info()[1]
    while error is not None and len(lines) < 200:
        name = getattr(error, "sqlite_errorname", None) or getattr(error, "errno", None)
        kind = type(error).__name__ + (f" ({name})" if name else "")
        lines.append(f"{_stamp()} {kind}" if not lines else f"  because of {kind}")
        lines += [
            f"  {frame.filename}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_tb(error.__traceback__)
        ]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return lines or [f"{_stamp()} failure"]


def log_failure() -> str:
    """Log the exception being handled, without the values it held; return what `_write` does."""
    return _write(_frames())


def unexpected(error: Exception) -> BrowseError:
    """Log an exception that is being handled; return an error that names its type and the log."""
    return BrowseError(
        _("Something unexpected went wrong ({kind}).", kind=type(error).__name__),
        remedy=_("Details: {log}", log=log_failure()),
    )


def log_expected() -> None:
    """With `--debug`, log an error that has a sentence of its own."""
    if _is_debugging:
        _write(_frames())


def start_debugging(command: str) -> str:
    """Log more from now on: versions, the terminal, each statement with its time and number of
    rows.

    Args:
        command: The name of the command, without arguments: these may be words of a conversation.

    Returns:
        The path of the log, or why it could not be written.
    """
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


def _observe(sql: str, seconds: float, rows: int | None) -> None:
    result = f"{rows:,} rows" if rows is not None else "failed"
    text = one_line(" ".join(sql.split()), _MAX_SQL)
    thread = threading.current_thread().name
    _write([f"{_stamp()} {seconds * 1000:8.1f} ms {result:>12} [{thread}] {text}"])
