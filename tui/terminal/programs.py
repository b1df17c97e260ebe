"""Run other programs: the system's opener of addresses and files, a pager, an editor."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hermes_browse.store.files import TemporaryFolder, write_private
from hermes_browse.store.text import printable
from hermes_browse.store.wording import _

_OPENER_SECONDS = 1.5
"""How long to wait for the opener to report a failure."""
_OPENERS = {"darwin": ("open",), "win32": ("explorer",)}
_PAGERS = ("less", "more")
_EDITORS = ("nano", "vi", "notepad")


def open_outside(target: str) -> tuple[bool, str]:
    """Open a checked address, or a file, by the system, in a program that outlives this one.

    The opener gets no input and no output, as some write to the terminal.

    Returns:
        Whether it was taken, and a sentence about that.
    """
    names = _OPENERS.get(sys.platform, ("xdg-open", "wslview"))
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        return False, _("no program here that opens it ({names})", names=", ".join(names))
    name = Path(program).stem
    silent = subprocess.DEVNULL
    try:
        started = subprocess.Popen(
            [program, target], stdin=silent, stdout=silent, stderr=silent, start_new_session=True
        )
        code = started.wait(_OPENER_SECONDS)
    except subprocess.TimeoutExpired:
        code = 0  # some openers run as long as the program that they start
    except OSError as error:
        return False, not_started(name, error)
    if code and sys.platform != "win32":  # the explorer of Windows always ends with 1
        return False, _("{program} did not take it", program=name)
    return True, _("handed to {program}", program=name)


def _command(variables: Sequence[str], defaults: Sequence[str]) -> list[str] | None:
    for variable in variables:
        if setting := os.environ.get(variable, "").strip():
            try:
                return shlex.split(setting, posix=sys.platform != "win32")
            except ValueError:  # a quote that is not closed; starting it says what is wrong
                return [setting]
    return next(([name] for name in defaults if shutil.which(name)), None)


def pager() -> list[str] | None:
    """Return the pager's command without the file, by `PAGER` or what is installed; None if there
    is none."""
    return _command(["PAGER"], _PAGERS)


def editor() -> list[str] | None:
    """Return the editor's command without the file, by `VISUAL`, else `EDITOR`, or what is
    installed; None for none."""
    return _command(["VISUAL", "EDITOR"], _EDITORS)


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
        write_private(path, printable(text))
        yield path


def show(command: Sequence[str], text: str, suffix: str = ".txt") -> str:
    """Run a pager or an editor on a text and wait for it; the terminal must be lent
    (`Application.lend_terminal`).

    Args:
        command: Without the file, which gets the suffix.

    Returns:
        The error as a printable sentence; empty on success.
    """
    name = printable(command[0])
    with private_file(text, suffix) as path:
        try:
            ended = subprocess.run([*command, str(path)])
        except OSError as error:
            return not_started(name, error)
    if not ended.returncode:
        return ""
    return f"{name} {how_it_ended(ended.returncode)}"


def how_it_ended(code: int) -> str:
    """Return how a program ended that reports no success, to stand behind its name."""
    if code >= 0:
        return _("ended with {code}", code=code)
    names = {each.value: each.name for each in signal.Signals}
    return _("was stopped by {signal}", signal=names.get(-code, -code))


def wait_for_enter() -> None:
    """Leave on the lent terminal what a program has said, until Enter is pressed."""
    print("\n" + _("Enter goes back to the browser."), end="", flush=True)
    try:
        input()
    except (EOFError, KeyboardInterrupt):
        print()


def not_started(program: str, error: OSError) -> str:
    """Return why a program could not be started."""
    reason = error.strerror or type(error).__name__
    return _("{program} could not be started: {reason}", program=program, reason=reason)
