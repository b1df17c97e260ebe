"""Which files a conversation changed, over all its segments and subagents, and how."""

from __future__ import annotations

import fnmatch
import os
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_mapping
from ..files import read_regular
from ..sessions.catalog import Catalog
from ..sessions.first_page import read_conversation
from ..sessions.models import Conversation
from ..wording import _
from .commands import changed_names, program_names
from .diffs import DiffLine, quoted, unified_diff
from .edited_file import Edit, TrackedFile, whole
from .replay import CHANGING_TOOLS, Files, replay_uses
from .tool_uses import ToolUse, read_tool_uses

_PROGRAMS = {"terminal": ("command", changed_names), "execute_code": ("code", program_names)}
"""Tools that run a command or a program: the argument that has it, and what tells which names it
changes, None if it changes no file."""
_LARGEST = 50_000_000
"""Bytes of a file that is compared with what a conversation left."""


class ShellCommand(NamedTuple):
    """A command of a terminal, or a program, that may have changed files."""

    message_id: int
    session_id: str
    text: str


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
    commands: tuple[ShellCommand, ...]


def find_tree(
    reader: Reader, session_id: str, now: float = 0.0
) -> tuple[Catalog, list[Conversation]]:
    """Read the conversation of a session, and all its subagents after those they work for.

    Raises:
        NotFoundError: There is no such session.
    """
    catalog, conversation = read_conversation(reader, session_id, now)
    tree = [conversation]
    for parent in tree:
        tree += [
            child for child in catalog.child_conversations(parent) if child.is_attached_subagent
        ]
    return catalog, tree


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
    uses = read_tool_uses(reader, tree)
    tracked: Files = {}
    failed = replay_uses(reader, tracked, _telling(uses), catalog.sessions)
    found = list(_commands(uses))
    touched = {name for _command, names in found for name in names}
    is_touched = re.compile("|".join(map(fnmatch.translate, touched)) or "(?!)").match
    own = set(tree[0].session_ids)
    directory = os.path.realpath(tree[0].cwd) if tree[0].cwd else ""  # as the tools name files
    files: list[FileChange] = []
    for path, file in sorted(tracked.items()):
        if any(edit.ok for edit in file.edits):
            names = relative(path, directory), relative(file.first_path, directory)
            parts = filter(None, "/".join(names).split("/"))
            file.is_certain &= not any(map(is_touched, parts))
            files.append(file_change(path, file, directory, own))
    commands = tuple(command for command, _names in found)
    return Changes(session_id, tree[0].id, tuple(files), failed, commands)


def _telling(uses: Sequence[ToolUse]) -> list[ToolUse]:
    """Return the calls that say something about the files that are changed."""
    edits = [as_mapping(use.arguments) for use in uses if use.name in CHANGING_TOOLS]
    keys = ("path", "patch", "code")
    edited = "\n".join(str(edit.get(key)) for edit in edits for key in keys)
    is_edited = cache(edited.__contains__)
    return [
        use
        for use in uses
        if use.name in ("terminal", *CHANGING_TOOLS)
        or (
            use.name == "read_file"
            and is_edited(posixpath.basename(str(as_mapping(use.arguments).get("path"))))
        )
    ]


def relative(path: str, directory: str) -> str:
    """Return a path relative to a directory if it lies below that, else the whole path, also where
    the directory is not known."""
    return path.removeprefix(directory.rstrip("/") + "/") if directory else path


def file_change(path: str, file: TrackedFile, directory: str, own: Collection[str]) -> FileChange:
    """Return what became of a file; sessions that are not `own` are those of subagents."""
    name = relative(path, directory)
    before, after = relative(file.first_path, directory).lstrip("/"), name.lstrip("/")
    is_exact = file.is_certain and file.is_known_before
    diff: list[DiffLine] = []
    for version in file.versions:
        diff += unified_diff(version, before, after)
    signs = [line.text[0] for line in diff if line.is_change]
    if not is_exact:
        reason = (
            _("not all that happened to this file is known")
            if file.is_known_before
            else _("what stood there before is not known; every line is shown as added")
        )
        comment = f"# {quoted(after)}: {reason}\n"
        diff.insert(0, DiffLine(comment, diff[0].message_id if diff else None))
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


def _commands(uses: Sequence[ToolUse]) -> Iterator[tuple[ShellCommand, set[str]]]:
    """Yield what may have changed files, with the names of files that it has."""
    for use in uses:
        if use.name in _PROGRAMS:
            argument, names_in = _PROGRAMS[use.name]
            text = str(as_mapping(use.arguments).get(argument) or "")
            names = names_in(text)
            if names is not None:
                yield ShellCommand(use.message_id, use.session_id, text), names


def _read_disk(path: str, file: TrackedFile) -> str | None:
    """Compare a file of this machine with what the conversation left, without changing anything."""
    left = file.last
    if not path.startswith("/"):
        return None
    try:
        text = read_regular(path, _LARGEST).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return "same" if left.is_absent else "gone"
    except (OSError, ValueError):
        return None
    known = left.text()  # before `read`, which takes the text over
    if not left.patch([whole(text)], None):
        return "changed" if file.is_certain else None
    return "same" if known == text else None
