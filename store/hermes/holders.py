"""Which other processes have a store open, as far as the system tells: `/proc` of Linux, elsewhere `lsof`."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from ..text import one_line
from ..wording import _

_PROCESSES = Path("/proc")
_GONE = " (deleted)"
_PATIENCE = 5.0
"""Seconds `lsof` may take; a network drive can keep it for ever."""


class Holder(NamedTuple):
    """A process that has the store open."""

    pid: int
    name: str
    """What it is called, printable; for Hermes with what it was told to do."""
    is_gone: bool
    """The file it holds has been removed or replaced: what it writes is seen by nobody."""


def _name(process: Path) -> str:
    """What a process is called: no more of its words than that, they may hold a secret."""
    try:
        words = [os.fsdecode(word) for word in (process / "cmdline").read_bytes().split(b"\0")[:6]]
        for index, word in enumerate(words):
            if os.path.basename(word).startswith("hermes"):
                told = words[index + 1 : index + 2]
                return one_line(" ".join([os.path.basename(word), *(each for each in told if each.isalpha())]), 60)
        return one_line((process / "comm").read_text(errors="replace").strip(), 60) or _("a process")
    except OSError:
        return _("a process")


def _held(process: Path, path: str) -> bool | None:
    """Whether the store a process holds is gone; None when it holds none."""
    links: set[str] = set()
    for descriptor in (process / "fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            links.add(os.readlink(descriptor))
    if path in links:
        return False
    if f"{path}{_GONE}" in links:  # what SQLite keeps beside it may have kept its name
        return True
    return False if links & {f"{path}-wal", f"{path}-shm"} else None


def _by_lsof(path: str) -> list[Holder] | None:
    """The same from `lsof` (macOS, the BSDs); None where there is none, or where it fails."""
    program = shutil.which("lsof")
    if program is None:
        return None
    import subprocess

    names = [each for each in (path, f"{path}-wal", f"{path}-shm") if os.path.exists(each)]
    try:
        ended = subprocess.run(
            # Fields by letters, one a line: p the process, c its name (lsof(8), "output for other programs").
            [program, "-w", "-F", "pc", "--", *names],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if not names or (ended.returncode > 1) or (ended.returncode == 1 and ended.stderr.strip()):
        return None  # 1 alone says that nobody has one of the files open
    found: dict[int, str] = {}
    number = 0
    for line in ended.stdout.splitlines():
        if line[:1] == "p" and line[1:].isdecimal():
            number = int(line[1:])
        elif line[:1] == "c" and number not in (0, os.getpid()):
            found[number] = one_line(line[1:], 60) or _("a process")
    return [Holder(each, found[each], False) for each in sorted(found)]


def holders(path: Path, processes: Path = _PROCESSES) -> list[Holder] | None:
    """Other processes that have the store, or what SQLite keeps beside it, open.

    Those of other users are seen by root alone.

    Args:
        path: The store.
        processes: The folder of processes.

    Returns:
        By process id; None where the system does not tell.
    """
    real = os.path.realpath(path)
    found: list[Holder] = []
    try:
        numbers = sorted(int(entry.name) for entry in processes.iterdir() if entry.name.isdecimal())
    except OSError:
        numbers = []
    if not numbers:
        return _by_lsof(real)
    for number in numbers:
        if number == os.getpid():
            continue
        process = processes / str(number)
        try:
            is_gone = _held(process, real)
        except OSError:  # ended meanwhile, or another user's
            continue
        if is_gone is not None:
            found.append(Holder(number, _name(process), is_gone))
    return found
