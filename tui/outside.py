"""A text in the pager or the editor of whoever reads it: through a private file that is gone afterwards."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from hermes_browse.store.temporary import TemporaryFolder
from hermes_browse.store.text import printable
from hermes_browse.store.wording import _

_PAGERS = ("less", "more")
_EDITORS = ("nano", "vi", "notepad")


def _command(wanted: Sequence[str | None], otherwise: Sequence[str]) -> list[str] | None:
    for each in wanted:
        if each and each.strip():
            return shlex.split(each, posix=sys.platform != "win32")
    found = next((name for name in otherwise if shutil.which(name)), None)
    return [found] if found is not None else None


def pager(environment: Mapping[str, str]) -> list[str] | None:
    """The command that pages a file, without the file; None when there is none.

    Args:
        environment: As `os.environ`: `PAGER`.
    """
    return _command([environment.get("PAGER")], _PAGERS)


def editor(environment: Mapping[str, str]) -> list[str] | None:
    """The command that edits a file, without the file; None when there is none.

    Args:
        environment: As `os.environ`: `VISUAL`, else `EDITOR`.
    """
    return _command([environment.get("VISUAL"), environment.get("EDITOR")], _EDITORS)


@contextmanager
def private_file(text: str, suffix: str) -> Iterator[Path]:
    """A file only its owner can read (0600, in a folder of 0700), gone when the block ends.

    Args:
        text: What it holds, made printable: a pager hands controls on to the terminal.
        suffix: Of its name; tells an editor what it is.
    """
    with TemporaryFolder("text") as folder:
        path = folder / f"text{suffix}"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(printable(text))
        yield path


@contextmanager
def _left_to_the_child() -> Iterator[None]:
    """Ctrl+C is for the program in front, not for us; by a handler, for what is ignored here is ignored there too."""
    before = signal.signal(signal.SIGINT, lambda number, stack: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def show(command: Sequence[str], text: str, suffix: str = ".txt") -> str:
    """Run a pager or an editor on a text and wait for it; the terminal must be free.

    Args:
        command: Without the file.
        text: What to show.
        suffix: Of the file.

    Returns:
        What went wrong, as a printable sentence; empty when nothing did.
    """
    with private_file(text, suffix) as path, _left_to_the_child():
        try:
            ended = subprocess.run([*command, str(path)])
        except OSError as error:
            reason = error.strerror or type(error).__name__
            return _("{program} could not be started: {reason}").format(program=printable(command[0]), reason=reason)
    if not ended.returncode:
        return ""
    return _("{program} ended with {code}").format(program=printable(command[0]), code=ended.returncode)
