"""List the other processes that have a store open: from `/proc` on Linux, from `lsof` elsewhere."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from ..text import one_line
from ..wording import _

_PROCESSES = Path("/proc")
_DELETED = " (deleted)"
_TIMEOUT = 5.0
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
        words = [os.fsdecode(word) for word in (process / "cmdline").read_bytes().split(b"\0")[:6]]
        for index, word in enumerate(words):
            if os.path.basename(word).startswith("hermes"):
                command = [each for each in words[index + 1 : index + 2] if each.isalpha()]
                return one_line(" ".join([os.path.basename(word), *command]), 60)
        return one_line((process / "comm").read_text(errors="replace").strip(), 60) or _(
            "a process"
        )
    except OSError:
        return _("a process")


def _holds_deleted(process: Path, path: str) -> bool | None:
    """Tell whether the store that a process holds has been removed; None if it does not hold it."""
    links: set[str] = set()
    for descriptor in (process / "fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            links.add(os.readlink(descriptor))
    if path in links:
        return False
    if f"{path}{_DELETED}" in links:  # the -wal and -shm files may still exist
        return True
    return False if links & {f"{path}-wal", f"{path}-shm"} else None


def _by_lsof(path: str) -> list[Holder] | None:
    """List the processes from `lsof` (macOS, the BSDs); None if it is missing or fails."""
    program = shutil.which("lsof")
    if program is None:
        return None
    names = [each for each in (path, f"{path}-wal", f"{path}-shm") if os.path.exists(each)]
    try:
        result = subprocess.run(
            # One field per line: p for the process, c for its name (lsof(8), "output for other
            # programs").
            [program, "-w", "-F", "pc", "--", *names],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if not names or (result.returncode > 1) or (result.returncode == 1 and result.stderr.strip()):
        return None  # 1 without a message means that nobody has a file open
    programs: dict[int, str] = {}
    pid = 0
    for line in result.stdout.splitlines():
        if line[:1] == "p" and line[1:].isdecimal():
            pid = int(line[1:])
        elif line[:1] == "c" and pid not in (0, os.getpid()):
            programs[pid] = one_line(line[1:], 60) or _("a process")
    return [Holder(pid, name, False) for pid, name in sorted(programs.items())]


def holders(path: Path, processes: Path = _PROCESSES) -> list[Holder] | None:
    """List the other processes with the store, its log or its shared memory open, by process id.

    Only root sees those of other users. None if the system does not tell.
    """
    real = os.path.realpath(path)
    found: list[Holder] = []
    try:
        pids = sorted(int(entry.name) for entry in processes.iterdir() if entry.name.isdecimal())
    except OSError:
        pids = []
    if not pids:
        return _by_lsof(real)
    for pid in pids:
        if pid == os.getpid():
            continue
        process = processes / str(pid)
        try:
            is_gone = _holds_deleted(process, real)
        except OSError:  # ended meanwhile, or another user's
            continue
        if is_gone is not None:
            found.append(Holder(pid, _name(process), is_gone))
    return found
