"""Files that Hermes keeps of a session beside the store: found, taken along, removed, put back.

In `$HERMES_HOME/sessions`: `<id>.json`, `<id>.jsonl` and `request_dump_<id>_*.json`, which Hermes removes with a
session (0.13 to 0.22), and `session_<id>.json`, which it forgets (0.19) or removes too (0.22). Ids are data: only one
that is a plain name makes a path, and only plain files with a single name, directly in that folder, are touched.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import re
import stat
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..wording import _
from .folders import NewFile, sum_file, sync_folder
from .layout import Rows
from .manifest import FILES, Kept, Piece
from .slices import chunks

_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")
_STEP = 1 << 20
_MODE = 0o777


class Found(NamedTuple):
    """A file of a session, and what it was like when it was found."""

    path: Path
    session: str
    mark: tuple[int, int, int, int]
    """Device, inode, size and mtime in nanoseconds."""


def is_plain(name: str) -> bool:
    """Whether an id, or a name from a manifest, may become part of a path."""
    return _PLAIN.fullmatch(name) is not None and name not in (".", "..")


def is_name_of(name: str, session: str) -> bool:
    """Whether a file of this name is one of a session's."""
    if not is_plain(name) or not is_plain(session):
        return False
    dump = name.startswith(f"request_dump_{session}_") and name.endswith(".json")
    return dump or name in (f"{session}.json", f"{session}.jsonl", f"session_{session}.json")


def _mark(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    # A second name would mean that the file is something else as well, the store itself at worst.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def find(source: Rows, folder: Path | None, ids: Sequence[str]) -> list[Found]:
    """The files of some sessions.

    Args:
        source: A reader of the store, which knows whose id begins with another's.
        folder: `sessions` of the Hermes home; None where there is none.
        ids: Of sessions that go.
    """
    if folder is None:
        return []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    plain = [each for each in ids if is_plain(each)]
    dumps: dict[str, list[str]] = {}
    for name in names:
        if name.startswith("request_dump_") and name.endswith(".json"):
            stem = name[len("request_dump_") :]
            for at, letter in enumerate(stem):  # every id the name may stand for
                if letter == "_" and at:
                    dumps.setdefault(stem[:at], []).append(name)
    present = frozenset(names)
    longest = _longest_owners(source, {owner for owner in dumps if owner in set(plain)}, dumps)
    found: list[Found] = []
    for session in plain:
        wanted = [
            name for name in (f"{session}.json", f"{session}.jsonl", f"session_{session}.json") if name in present
        ]
        wanted += [name for name in dumps.get(session, ()) if longest.get(name) == session]
        for name in wanted:
            mark = _mark(folder / name)
            if mark is not None:
                found.append(Found(folder / name, session, mark))
    return found


def _longest_owners(source: Rows, asked: set[str], dumps: dict[str, list[str]]) -> dict[str, str]:
    """For each dump of the asked ids the longest id in the store it may belong to.

    Hermes takes `request_dump_a_b_….json` along with session `a` even where there is a session `a_b`; we do not.
    """
    names = {name for session in asked for name in dumps[session]}
    candidates = [owner for owner, theirs in dumps.items() if names.intersection(theirs)]
    owners: dict[str, str] = {}
    for chunk in chunks(candidates):
        marks = ",".join("?" * len(chunk))
        for (key,) in source.rows(f"SELECT id FROM sessions WHERE id IN ({marks})", chunk):
            owner = str(key)
            for name in dumps.get(owner, ()):
                if len(owner) > len(owners.get(name, "")):
                    owners[name] = owner
    return owners


def _open_plain(path: Path) -> int:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    return os.open(path, flags)


def take_along(found: Sequence[Found], bundle: Path) -> tuple[list[Kept], dict[str, Piece]]:
    """Copy files into a bundle, compressed.

    Raises:
        OSError: One could not be read, or not be written.
    """
    kept: list[Kept] = []
    pieces: dict[str, Piece] = {}
    for number, each in enumerate(found, 1):
        name = f"{number:04}.gz"
        target = NewFile(bundle / FILES / name)
        try:
            total, size = hashlib.sha256(), 0
            with os.fdopen(_open_plain(each.path), "rb") as file:
                mode = os.fstat(file.fileno()).st_mode & _MODE
                with gzip.GzipFile("", "wb", 6, target, mtime=0) as packed:
                    while data := file.read(_STEP):
                        total.update(data)
                        size += len(data)
                        packed.write(data)
            pieces[f"{FILES}/{name}"] = target.finish()
        finally:
            target.abandon()
        kept.append(Kept(name, each.path.name, each.session, size, total.hexdigest(), mode, each.mark[3]))
    return kept, pieces


def remove(found: Sequence[Found]) -> list[str]:
    """Remove the files that are still what was copied.

    Returns:
        A sentence for each that stays.
    """
    notes: list[str] = []
    for each in found:
        if _mark(each.path) != each.mark:
            if os.path.lexists(each.path):
                notes.append(_("{path} was written to meanwhile and stays.").format(path=each.path))
            continue
        try:
            each.path.unlink()
        except OSError as error:
            failed = _("{path} could not be removed: {reason}.")
            notes.append(failed.format(path=each.path, reason=error.strerror))
    return notes


class Back(NamedTuple):
    """Files of a bundle that are to be in their place."""

    there: int
    """How many are there now, those included that were there before."""
    written: int
    """How many were written."""
    notes: tuple[str, ...]
    """A sentence for each that is not there."""


def put_back(kept: Sequence[Kept], bundle: Path, folder: Path | None, sessions: frozenset[str]) -> Back:
    """Put files of restored sessions back; none is overwritten but an empty one, which holds nothing.

    Args:
        kept: From the manifest.
        bundle: Its folder.
        folder: `sessions` of the Hermes home; None where there is none.
        sessions: Ids that have been restored.
    """
    wanted = [each for each in kept if each.session in sessions]
    if not wanted:
        return Back(0, 0, ())
    if folder is None or not folder.is_dir():
        none = _("There is no folder for the files of sessions beside this store: {count:,} files stay in the bundle.")
        return Back(0, 0, (none.format(count=len(wanted)),))
    count, written, notes = 0, 0, []
    for each in wanted:
        if not is_name_of(each.name, each.session) or not is_plain(each.file):
            no_name = _("“{name}” is no name of a session's file and stays in the bundle.")
            notes.append(no_name.format(name=each.name))
            continue
        target = folder / each.name
        try:
            if os.path.lexists(target) and not _is_empty(target):
                if not _is_same(target, each):
                    notes.append(_("{path} is there again and was left as it is.").format(path=target))
                    continue
            else:
                _put_back(each, bundle / FILES / each.file, target)
                written += 1
        except (OSError, EOFError, ValueError, zlib.error) as error:
            failed = _("{path} could not be written: {reason}")
            notes.append(failed.format(path=target, reason=error))
        else:
            count += 1
    if written:
        try:
            sync_folder(folder)
        except OSError as error:
            failed = _("{path} could not be written: {reason}")
            notes.append(failed.format(path=folder, reason=error))
    return Back(count, written, tuple(notes))


def _is_empty(path: Path) -> bool:
    """Whether a file is a plain one without a byte: an earlier version that was killed left such behind."""
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_size == 0


def _is_same(path: Path, kept: Kept) -> bool:
    """Whether a file is what a bundle has; a link is not, nor is one that cannot be read."""
    try:
        return sum_file(path) == Piece(kept.bytes, kept.sha256)
    except OSError:
        return False


def _put_back(kept: Kept, source: Path, target: Path) -> None:
    """Write a file beside its place, have it on disk, and give it its name."""
    beside = target.with_name(f".{target.name}.restoring")
    beside.unlink(missing_ok=True)  # of one that was killed
    file = NewFile(beside, kept.mode & _MODE & ~0o022)
    try:
        with os.fdopen(_open_plain(source), "rb") as raw, gzip.GzipFile(fileobj=raw, mode="rb") as packed:
            while data := packed.read(_STEP):
                file.write(data)
        piece = file.finish()
        if (piece.bytes, piece.sha256) != (kept.bytes, kept.sha256):
            raise ValueError(_("its sum in the bundle is wrong"))
        os.utime(beside, ns=(kept.mtime_ns, kept.mtime_ns))
        os.replace(beside, target)
    except BaseException:
        file.abandon()
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
