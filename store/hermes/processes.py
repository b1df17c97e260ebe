"""Programs of this machine: where `hermes` is and which version, and which processes have a store
open.

`hermes` is often not on the PATH of a command that ssh or a desktop starts. Its own installer links
it into `~/.local/bin` for every user but root (`scripts/install.sh`, 0.19 to 0.22). A plain
`ssh HOST command` is no login shell, so nothing has put that folder on its PATH.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..text import one_line
from ..wording import _

_NAME = "hermes"
_LOGIN_TIMEOUT = 10.0
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
    beside, own = Path(sys.argv[0]).absolute().parent, Path.home() / ".local" / "bin"
    folders = [os.environ.get("PATH", os.defpath), str(beside), str(own)]
    path = shutil.which(_NAME, path=os.pathsep.join(filter(None, folders)))
    return path or _found_by_login()


def hermes_word(executable: str | None) -> str:
    """Return the word that starts `hermes` in a shell: its name where that is enough, else its full
    path."""
    return _NAME if executable is None or shutil.which(_NAME) == executable else executable


def _found_by_login() -> str | None:
    """Return where the user's login shell finds it."""
    shell = os.environ.get("SHELL", "")
    if os.path.basename(shell) not in _LOGIN_SHELLS:
        return None
    done = run_quietly([shell, "-lc", _FIND], _LOGIN_TIMEOUT)
    # The shell may print other lines first, and an alias is no path.
    lines = done.stdout.splitlines() if done is not None else []
    paths = [line.strip() for line in lines if line.startswith("/")]
    return shutil.which(paths[-1]) if paths else None


def hermes_version(executable: str) -> str | None:
    """Return the version of an installed Hermes, from the packages beside its program (given by its
    full path).

    `hermes --version` would create folders in HERMES_HOME (observed, 0.19), and a diagnosis must
    not change anything.
    """
    prefix = Path(executable).resolve().parent.parent
    for packages in ("lib/python3*/site-packages", "Lib/site-packages"):
        for entry in prefix.glob(f"{packages}/hermes_agent-*.dist-info"):
            return entry.name.removeprefix("hermes_agent-").removesuffix(".dist-info")
    return None


# Who has a store open

_PROCESSES = Path("/proc")
_DELETED = " (deleted)"
_HERMES = re.compile(r"(?<!\S)hermes\S*(?: [A-Za-z]+(?!\S))?")
"""A program of Hermes in a command line, with its command."""
_LSOF_PROCESS = re.compile(r"(?m)^p(\d+)\nc(.*)$")
"""One field a line: p for the process, c for its name (lsof(8), "output for other programs")."""
_LSOF_TIMEOUT = 5.0
"""Seconds; `lsof` may hang on a network drive."""


class Holder(NamedTuple):
    """A process that has the store open."""

    pid: int
    name: str
    """Name of the program, printable; for Hermes with its command."""
    is_gone: bool
    """The file it holds has been removed or replaced: nobody sees what it writes."""


def _name(process: Path) -> str:
    """Return the name of a process, without its arguments, which may hold a secret."""
    try:
        words = os.fsdecode((process / "cmdline").read_bytes()).split("\0")[:6]
        name = (process / "comm").read_text(errors="replace").strip()
    except OSError:
        return _("a process")
    of_hermes = _HERMES.search(" ".join(map(os.path.basename, words)))
    return one_line(of_hermes[0] if of_hermes else name, 60) or _("a process")


def _held(process: Path, path: str) -> set[str]:
    """Return which files of a store a process holds: the names of those that were removed end in
    `(deleted)`."""
    files = {path, f"{path}-wal", f"{path}-shm", f"{path}{_DELETED}"}
    links: set[str] = set()
    for descriptor in (process / "fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            links.add(os.readlink(descriptor))
    return links & files


def _by_lsof(path: str) -> list[Holder] | None:
    """List the processes from `lsof` (macOS, the BSDs); None if it is missing or fails."""
    files = [file for file in (path, f"{path}-wal", f"{path}-shm") if os.path.exists(file)]
    done = run_quietly(["lsof", "-w", "-F", "pc", "--", *files], _LSOF_TIMEOUT) if files else None
    if done is None or done.returncode > (0 if done.stderr.strip() else 1):
        return None  # 1 without a message means that nobody has a file open
    programs = {int(pid): name for pid, name in _LSOF_PROCESS.findall(done.stdout)}
    programs.pop(os.getpid(), None)
    return [
        Holder(pid, one_line(name, 60) or _("a process"), False)
        for pid, name in sorted(programs.items())
    ]


def holders(path: Path, processes: Path = _PROCESSES) -> list[Holder] | None:
    """List the other processes with the store, its log or its shared memory open, by process id.

    Only root sees those of other users. None if the system does not tell.
    """
    real = os.path.realpath(path)
    try:
        pids = sorted(int(entry.name) for entry in processes.iterdir() if entry.name.isdecimal())
    except OSError:
        pids = []
    if not pids:
        return _by_lsof(real)
    programs: list[Holder] = []
    for pid in pids:
        process = processes / str(pid)
        try:
            held = _held(process, real)
        except OSError:  # ended meanwhile, or another user's
            continue
        if held and pid != os.getpid():
            is_gone = f"{real}{_DELETED}" in held and real not in held
            programs.append(Holder(pid, _name(process), is_gone))
    return programs
