"""List the other processes that have a store open: from `/proc` on Linux, from `lsof` elsewhere."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from ..text import one_line
from ..wording import _
from .find_hermes import run_quietly

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
        words = os.fsdecode((process / "cmdline").read_bytes()).split("\0")[:6]
        names = [os.path.basename(word) for word in words]
        name = (process / "comm").read_text(errors="replace").strip()
    except OSError:
        name, names = "", []
    for number, word in enumerate(names):
        if word.startswith("hermes"):
            command = "".join(names[number + 1 : number + 2])
            name = f"{word} {command}" if command.isalpha() else word
            break
    return one_line(name, 60) or _("a process")


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
    # One field per line: p for the process, c for its name (lsof(8), "output for other programs").
    done = run_quietly(["lsof", "-w", "-F", "pc", "--", *files], _TIMEOUT) if files else None
    if done is None or done.returncode > (0 if done.stderr.strip() else 1):
        return None  # 1 without a message means that nobody has a file open
    programs: dict[int, str] = {}
    pid = 0
    for line in done.stdout.splitlines():
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
    try:
        pids = sorted(int(entry.name) for entry in processes.iterdir() if entry.name.isdecimal())
    except OSError:
        pids = []
    if not pids:
        return _by_lsof(real)
    found: list[Holder] = []
    for pid in pids:
        process = processes / str(pid)
        try:
            held = _held(process, real)
        except OSError:  # ended meanwhile, or another user's
            continue
        if held and pid != os.getpid():
            is_gone = f"{real}{_DELETED}" in held and real not in held
            found.append(Holder(pid, _name(process), is_gone))
    return found
