"""Find the `hermes` program, which is often not on the PATH of a command that ssh or a desktop
starts.

Hermes' own installer links it into `~/.local/bin` for every user but root (`scripts/install.sh`,
0.19 to 0.22). A plain `ssh HOST command` is no login shell, so nothing has put that folder on its
PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_NAME = "hermes"
_TIMEOUT = 10.0
"""Seconds for a login shell, which may start much."""
_FIND = f"command -v {_NAME}"
_LOGIN_SHELLS = ("sh", "bash", "dash", "fish", "ksh", "zsh")
"""Shells that take `-lc`; tcsh does not."""


def run_quietly(command: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str] | None:
    """Run a program and return what it prints; None if it cannot be run, or takes more than so many
    seconds.

    It has a session of its own: a shell must not take the terminal of the browser.
    """
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            start_new_session=True,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def find_hermes() -> str | None:
    """Return the full path of the `hermes` program; None if it is nowhere.

    It is looked for on PATH, beside this program, in `~/.local/bin`, and by the user's login shell.
    """
    if (found := shutil.which(_NAME)) is not None:
        return found
    folders = [Path(sys.argv[0]).absolute().parent, Path.home() / ".local" / "bin"]
    if (found := shutil.which(_NAME, path=os.pathsep.join(map(str, folders)))) is not None:
        return found
    return _found_by_login()


def hermes_word(executable: str | None) -> str:
    """Return the word that starts `hermes` in a shell: its name where that is enough, else its full
    path."""
    return _NAME if executable is None or shutil.which(_NAME) == executable else executable


def _found_by_login() -> str | None:
    """Return where the user's login shell finds it."""
    shell = os.environ.get("SHELL", "")
    if os.path.basename(shell) not in _LOGIN_SHELLS:
        return None
    done = run_quietly([shell, "-lc", _FIND], _TIMEOUT)
    # The shell may print other lines first, and an alias is no path.
    lines = done.stdout.splitlines() if done is not None else []
    found = [line.strip() for line in lines if line.startswith("/")]
    return shutil.which(found[-1]) if found else None
