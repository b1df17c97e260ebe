"""Which files a conversation changed, over all its segments and subagents, and how."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from ..connection.reader import Reader
from ..files import read_regular
from ..wording import _
from .diffs import DiffLine, quoted, unified_diff
from .edited_file import MISSING, Edit, TrackedFile, whole
from .replay import Replay
from .tool_uses import ToolUse, find_tree, read_tool_uses

LARGEST = 50_000_000
"""Bytes of a file that is compared with what a conversation left."""


class FileChange(NamedTuple):
    """One file that a conversation changed."""

    path: str
    """Where it is now: absolute, unless the directory of its session is not known."""
    name: str
    """The path relative to the directory of the conversation if it lies below that."""
    first_path: str
    """Where it was before the first edit; another one if it was moved."""
    edits: tuple[Edit, ...]
    added: int | None
    """Lines; None if it is not known what stood there before, or what an edit changed."""
    removed: int | None
    is_exact: bool
    """Whether the diff is known whole."""
    is_known_before: bool
    """Whether it is known what stood there before."""
    diff: tuple[DiffLine, ...]
    """From before the first edit to after the last, with paths relative to the directory of the
    conversation where they lie below it. One that is not known whole says so first."""
    by_subagents: int = 0
    """How many of the edits subagents made."""
    disk: str | None = None
    """What became of it on this machine since: `same`, `changed` or `gone`; None if that cannot be
    told."""


class Changes(NamedTuple):
    """What a conversation and its subagents did to files."""

    session_id: str
    conversation_id: str
    files: tuple[FileChange, ...]
    """By path."""
    failed: int
    """Edits that failed."""
    commands: tuple[ToolUse, ...]
    """Commands of a terminal, and programs, that may have changed files."""


def read_changes(reader: Reader, session_id: str, now: float = 0.0) -> Changes:
    """Read what the conversation of a session did to files.

    Args:
        reader: Of the store.
        session_id: Of any session of the conversation.
        now: Unix seconds.

    Raises:
        NotFoundError: There is no such session.
    """
    catalog, tree = find_tree(reader, session_id, now)
    replay = Replay(catalog.sessions)
    replay.do_all(reader, read_tool_uses(reader, tree))
    is_touched = re.compile("|".join(map(fnmatch.translate, replay.touched)) or "(?!)").match
    conversation = tree[0]
    # As the tools name files.
    directory = os.path.realpath(conversation.cwd) if conversation.cwd else ""
    for path, file in replay.files.items():
        names = relative(path, directory), relative(file.first_path, directory)
        parts = filter(None, "/".join(names).split("/"))
        file.is_certain &= not any(map(is_touched, parts))
    files = tuple(
        file_change(path, file, directory, conversation.session_ids)
        for path, file in sorted(replay.files.items())
        if any(edit.ok for edit in file.edits)
    )
    return Changes(session_id, conversation.id, files, replay.failed, tuple(replay.commands))


def relative(path: str, directory: str) -> str:
    """Return a path relative to a directory if it lies below that, else the whole path, also where
    the directory is not known."""
    return path.removeprefix(directory.rstrip("/") + "/") if directory else path


def file_change(path: str, file: TrackedFile, directory: str, own: Collection[str]) -> FileChange:
    """Return what became of a file; sessions that are not `own` are those of subagents."""
    name = relative(path, directory)
    before, after = relative(file.first_path, directory).lstrip("/"), name.lstrip("/")
    is_exact = file.is_certain and file.is_known_before
    diff = [line for version in file.versions for line in unified_diff(version, before, after)]
    signs = [line.text[0] for line in diff if line.message_id is not None]
    if not is_exact:
        reason = (
            _("not all that happened to this file is known")
            if file.is_known_before
            else _("what stood there before is not known; every line is shown as added")
        )
        diff.insert(0, DiffLine(f"# {quoted(after)}: {reason}\n"))
    is_counted = file.is_known_before and not file.is_unclear
    return FileChange(
        path,
        name,
        file.first_path,
        tuple(file.edits),
        added=signs.count("+") if is_counted else None,
        removed=signs.count("-") if is_counted else None,
        is_exact=is_exact,
        is_known_before=file.is_known_before,
        diff=tuple(diff),
        by_subagents=sum(edit.session_id not in own for edit in file.edits),
        disk=_read_disk(path, file),
    )


def diff_text(files: Iterable[FileChange]) -> str:
    """Return the diffs of files as text; one that is not known whole is commented out."""
    text = "".join(
        line.text if change.is_exact or line.text.startswith("# ") else f"# {line.text}"
        for change in files
        for line in change.diff
    )
    return text.encode("utf-8", "replace").decode("utf-8")  # JSON may hold lone surrogates


def _read_disk(path: str, file: TrackedFile) -> str | None:
    """Compare a file of this machine with what the conversation left, without changing anything."""
    if not path.startswith("/"):
        return None
    try:
        there = whole(read_regular(path, LARGEST).decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        there = MISSING
    except (OSError, ValueError):
        return None
    is_known = file.last.text() is not None  # before `patch`, which takes the text over
    fits = file.last.patch([there], None)
    if fits and is_known:
        return "same"
    if there is MISSING:
        return "gone"
    return None if fits or not file.is_certain else "changed"
