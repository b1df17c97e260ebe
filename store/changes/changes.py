"""Which files a conversation changed, over all its segments and subagents, and how."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_mapping
from ..errors import NotFoundError
from ..files import read_regular
from ..sessions.conversations import Forest
from ..sessions.first_page import read_neighbourhood
from ..sessions.models import Conversation, Relation
from ..wording import _
from .diff import (
    DiffLine,
    can_be_applied,
    count_changes,
    net_lines,
    relative,
    unified_diff,
)
from .document import EditedFile
from .edits import EDITORS, Edit, FileStep, FileStepKind, Paths, steps_of
from .programs import code_may_change_files, may_change_files, written_names
from .tool_uses import ToolUse, copied_rows, read_results, read_tool_uses

_READ = ("read_file", "execute_code", *EDITORS)
_LARGEST = 50_000_000
"""Bytes of a file that is compared with what a conversation left."""


class DiskState(StrEnum):
    """What became of a file on this machine since."""

    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"


class ShellCommand(NamedTuple):
    """A command of a terminal, or a program, that may have changed files."""

    message_id: int
    session_id: str
    text: str


class FileChange(NamedTuple):
    """One file that a conversation changed."""

    path: str
    """Where it is now: absolute, unless the directory of its session is not known."""
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
    by_subagents: int
    """How many of the edits subagents made."""
    diff: tuple[DiffLine, ...]
    """From before the first edit to after the last, with paths relative to the directory of the
    conversation where they lie below it. One that is not known whole says so first."""
    disk: DiskState | None = None
    """What became of it on this machine; None if that cannot be told."""


class Changes(NamedTuple):
    """What a conversation and its subagents did to files."""

    session_id: str
    conversation_id: str
    directory: str
    """Of the conversation; empty if not known."""
    files: tuple[FileChange, ...]
    """By path."""
    failed: int
    """Edits that failed."""
    commands: tuple[ShellCommand, ...]


def delegated_tree(forest: Forest, conversation: Conversation) -> list[Conversation]:
    """Return a conversation and all its subagents, nested ones too, parents first."""
    tree = {conversation.root_id: conversation}
    waiting = [conversation]
    while waiting:
        for child in forest.child_chains(waiting.pop()):
            if child.relation is Relation.DELEGATED and child.root_id not in tree:
                tree[child.root_id] = child
                waiting.append(child)
    return list(tree.values())


def find_tree(reader: Reader, session_id: str, now: float = 0.0) -> list[Conversation]:
    """Read the conversation of a session and its subagents, itself first.

    Raises:
        NotFoundError: There is no such session.
    """
    catalog = read_neighbourhood(reader, [session_id], now)
    conversation = catalog.of_session(session_id)
    if conversation is None:
        raise NotFoundError(_("There is no session {id} in this store.").format(id=session_id))
    return delegated_tree(catalog.forest, conversation)


def read_uses_of_tree(reader: Reader, tree: Sequence[Conversation]) -> list[ToolUse]:
    """Read the tool calls of conversations, in the order of their results."""
    uses: list[ToolUse] = []
    for conversation in tree:
        copies = copied_rows(reader, conversation)
        ids = [segment.id for segment in conversation.segments]
        uses += read_tool_uses(reader, ids, copies)
    return sorted(uses, key=lambda use: use.order)


def directories(tree: Sequence[Conversation]) -> dict[str, Paths]:
    """Return how to resolve paths, by session; a subagent works where its parent does."""
    top = tree[0].cwd
    return {
        segment.id: Paths(segment.cwd or conversation.cwd or top)
        for conversation in tree
        for segment in conversation.segments
    }


def read_changes(
    reader: Reader, session_id: str, now: float = 0.0, *, is_here: bool = True
) -> Changes:
    """Read what the conversation of a session did to files.

    Args:
        reader: Of the store.
        session_id: Of any session of the conversation.
        now: Unix seconds.
        is_here: Whether the store is of this machine, so that its files may be compared.

    Raises:
        NotFoundError: There is no such session.
    """
    tree = find_tree(reader, session_id, now)
    uses = read_uses_of_tree(reader, tree)
    results = read_results(reader, _telling(uses))
    paths = directories(tree)
    failed = 0
    replay = Replay()
    for use in uses:
        if use.name not in _READ:
            continue
        text = results.get(use.result_id) if use.result_id is not None else None
        steps, is_failed = steps_of(use, text, paths[use.session_id])
        failed += is_failed
        for step in steps:
            replay.add(step)
    own = {segment.id for segment in tree[0].segments}
    commands = tuple(_commands(uses))
    touched = {name for command in commands for name in written_names(command.text)}
    directory = tree[0].cwd or ""
    changed = {path for path, edits in replay.edits.items() if any(edit.ok for edit in edits)}
    files = [_file_change(path, replay, own, touched, directory) for path in sorted(changed)]
    if is_here:
        files = [
            each._replace(disk=_read_disk(each.path, replay.documents[each.path])) for each in files
        ]
    return Changes(session_id, tree[0].id, directory, tuple(files), failed, commands)


def _telling(uses: Sequence[ToolUse]) -> list[ToolUse]:
    """Return the calls whose results say something about the files that are changed."""
    edited = " ".join(use.arguments for use in uses if use.name in ("execute_code", *EDITORS))
    return [use for use in uses if use.name in _READ and _is_telling(use, edited)]


def _is_telling(use: ToolUse, edited: str) -> bool:
    if use.name != "read_file":
        return True
    name = posixpath.basename(str(as_mapping(use.arguments).get("path", "")))
    return bool(name) and name in edited


class Replay:
    """Files through the steps of conversations, each under its present path."""

    def __init__(self) -> None:
        self.documents: dict[str, EditedFile] = {}
        self.edits: dict[str, list[Edit]] = {}
        self.first_paths: dict[str, str] = {}
        """Of files that were moved."""

    def add(self, step: FileStep) -> None:
        """Do what a step says."""
        document = self.documents.setdefault(step.path, EditedFile())
        edit = step.edit
        if edit is not None:
            edits = self.edits.setdefault(step.path, [])
            if step.follows_agent and all(each.session_id == edit.session_id for each in edits):
                step = step._replace(is_certain=False)  # the other agent's edits are not here
            edits.append(edit)
        document.apply(step)
        if step.kind is FileStepKind.MOVE:
            self._move(step.path, step.to)

    def _move(self, path: str, to: str) -> None:
        self.documents[to] = self.documents.pop(path)
        self.edits[to] = self.edits.pop(path, [])
        self.first_paths[to] = self.first_paths.pop(path, path)


def _file_change(
    path: str, replay: Replay, own: set[str], touched: set[str], directory: str
) -> FileChange:
    edits, file = tuple(replay.edits[path]), replay.documents[path]
    first = replay.first_paths.get(path, path)
    lines = net_lines(file)
    added, removed = count_changes(lines)
    is_counted = file.is_known_before and not file.has_undone
    is_touched = not touched.isdisjoint((posixpath.basename(path), posixpath.basename(first)))
    is_exact = file.is_exact and not is_touched and can_be_applied(lines)
    before, after = relative(first, directory), relative(path, directory)
    note = "" if is_exact else _reason(file)
    notes = [DiffLine("note", f"# {after}: {note}\n")] if note else []
    return FileChange(
        path,
        first,
        edits,
        added if is_counted else None,
        removed if is_counted else None,
        is_exact,
        file.is_known_before,
        sum(edit.session_id not in own for edit in edits),
        (*notes, *unified_diff(file, lines, before, after)),
    )


def _reason(file: EditedFile) -> str:
    """Say why a diff is not known whole."""
    if not file.is_known_before:
        return _("what stood there before is not known; every line is shown as added")
    return _("not all that happened to this file is known")


def _commands(uses: Sequence[ToolUse]) -> Iterator[ShellCommand]:
    for use in uses:
        if use.name not in ("terminal", "execute_code"):
            continue
        arguments = as_mapping(use.arguments)
        is_code = use.name == "execute_code"
        text = arguments.get("code" if is_code else "command")
        if not isinstance(text, str):
            continue
        if code_may_change_files(text) if is_code else may_change_files(text):
            yield ShellCommand(use.message_id, use.session_id, text)


def _read_disk(path: str, file: EditedFile) -> DiskState | None:
    """Compare a file of this machine with what the conversation left, without changing anything."""
    if not Path(path).is_absolute():
        return None
    try:
        text = read_regular(Path(path), _LARGEST).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return DiskState.GONE if file.exists else DiskState.SAME
    except (OSError, ValueError):
        return None
    if not file.may_be(text):
        return DiskState.CHANGED
    return DiskState.SAME if file.text() == text else None
