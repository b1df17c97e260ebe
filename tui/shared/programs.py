"""Other programs for what the browser does not show itself: the system's browser, a pager, an editor."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
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
"""Seconds the browser's starter is waited for; what takes longer goes on without us."""
_QUIETLY = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"  # not shown
_IN_TERMINAL = ("GenericBrowser", "Elinks")
"""Classes of `webbrowser` (Python 3.11 to 3.14) for programs that run in the foreground and take the terminal."""
_PAGERS = ("less", "more")
_EDITORS = ("nano", "vi", "notepad")


def takes_the_terminal() -> bool | None:
    """Whether the browser of this system is one of text, which needs the terminal; None when there is none.

    Asks the system, which may start a program: not for the screen's thread.
    """
    try:
        return type(webbrowser.get()).__name__ in _IN_TERMINAL
    except webbrowser.Error:
        return None


def open_quietly(address: str) -> bool:
    """Hand an address to a browser that has a window, and say whether a program took it.

    In a process of its own whose words go nowhere: starters such as xdg-open talk to the terminal. Isolated (`-I`), so
    that nothing in the working directory is taken for a module.

    Args:
        address: Checked before: of the web, or of a mail.
    """
    try:
        return start_quietly([sys.executable, "-I", "-c", _QUIETLY, address], _PATIENCE) in (0, None)
    except OSError:
        return False


def start_quietly(command: Sequence[str], patience: float) -> int | None:
    """Start a program that says nothing and outlives the browser.

    Args:
        command: Words.
        patience: Seconds to wait for it to end.

    Returns:
        Its exit code; None while it runs.

    Raises:
        OSError: It cannot be started.
    """
    silent = subprocess.DEVNULL
    started = subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent, start_new_session=True)
    try:
        return started.wait(patience)
    except subprocess.TimeoutExpired:
        return None


def open_here(address: str) -> bool:
    """Show an address in a browser of text and wait for it; the terminal must be free.

    Args:
        address: Checked before.
    """
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False


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
