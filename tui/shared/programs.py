"""Run other programs: the system's web browser, a pager, an editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from hermes_browse.store.temporary import TemporaryFolder
from hermes_browse.store.text import printable
from hermes_browse.store.wording import _

_PATIENCE = 8.0
"""Maximum seconds to wait for the web browser's starter."""
_QUIETLY = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"
_IN_TERMINAL = ("GenericBrowser", "Elinks")
"""Classes of `webbrowser` (Python 3.11 to 3.14) for programs that run in the foreground and take
the terminal."""
_PAGERS = ("less", "more")
_EDITORS = ("nano", "vi", "notepad")


def takes_the_terminal() -> bool | None:
    """Return whether the system's web browser is a text browser, which needs the terminal; None if
    there is none.

    Not for the screen's thread: this may start a program.
    """
    try:
        return type(webbrowser.get()).__name__ in _IN_TERMINAL
    except webbrowser.Error:
        return None


def open_quietly(address: str) -> bool:
    """Open an address in a graphical web browser; return whether a program accepted it.

    Runs in a process without output, as starters such as xdg-open write to the terminal; isolated
    (`-I`), so that Python imports nothing from the working directory. The address must have been
    checked.
    """
    try:
        return start_quietly([sys.executable, "-I", "-c", _QUIETLY, address], _PATIENCE) in (
            0,
            None,
        )
    except OSError:
        return False


def start_quietly(command: Sequence[str], patience: float) -> int | None:
    """Start a program without input and output that outlives this one.

    Returns:
        Its exit code; None if it still runs after `patience` seconds.

    Raises:
        OSError: It cannot be started.
    """
    silent = subprocess.DEVNULL
    started = subprocess.Popen(
        command, stdin=silent, stdout=silent, stderr=silent, start_new_session=True
    )
    try:
        return started.wait(patience)
    except subprocess.TimeoutExpired:
        return None


def open_here(address: str) -> bool:
    """Show a checked address in a text browser and wait for it; the terminal must be free."""
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False


def _command(
    environment: Mapping[str, str], variables: Sequence[str], defaults: Sequence[str]
) -> list[str] | None:
    for variable in variables:
        if (setting := environment.get(variable, "")).strip():
            return shlex.split(setting, posix=sys.platform != "win32")
    return next(([name] for name in defaults if shutil.which(name)), None)


def pager(environment: Mapping[str, str]) -> list[str] | None:
    """Return the pager's command without the file, by `PAGER` or what is installed; None if there
    is none."""
    return _command(environment, ["PAGER"], _PAGERS)


def editor(environment: Mapping[str, str]) -> list[str] | None:
    """Return the editor's command without the file, by `VISUAL`, else `EDITOR`, or what is
    installed; None for none."""
    return _command(environment, ["VISUAL", "EDITOR"], _EDITORS)


@contextmanager
def private_file(text: str, suffix: str) -> Iterator[Path]:
    """Write a file that only its owner can read (0600, in a folder of 0700), removed when the block
    ends.

    Args:
        text: Its contents, made printable, as a pager passes controls on to the terminal.
        suffix: Of its name, for the editor's file type.
    """
    with TemporaryFolder("text") as folder:
        path = folder / f"text{suffix}"
        with os.fdopen(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(printable(text))
        yield path


def show(command: Sequence[str], text: str, suffix: str = ".txt") -> str:
    """Run a pager or an editor on a text and wait for it; the terminal must be lent
    (`Application.lend_terminal`).

    Args:
        command: Without the file, which gets the suffix.

    Returns:
        The error as a printable sentence; empty on success.
    """
    with private_file(text, suffix) as path:
        try:
            ended = subprocess.run([*command, str(path)])
        except OSError as error:
            reason = error.strerror or type(error).__name__
            return _("{program} could not be started: {reason}").format(
                program=printable(command[0]), reason=reason
            )
    if not ended.returncode:
        return ""
    return _("{program} ended with {code}").format(
        program=printable(command[0]), code=ended.returncode
    )
