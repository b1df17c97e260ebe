"""What a tool call did to files: steps that `document` replays.

Seen in the tools of Hermes 0.14 to 0.19: `write_file`, `patch` in both of its modes, `read_file`,
and `execute_code`, whose program calls the former.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from ..connection.stored_values import Json, as_mapping
from ..messages.decode import has_failed
from .hunks import DiffError, FileDiff, Hunk, parse_diff
from .programs import CodeCall, file_calls
from .tool_uses import ToolUse, json_at_start

_LINE_NUMBER = re.compile(r"^ *\d+\|", re.MULTILINE)
_NOT_FOUND = "File not found"
_WARNING = "_warning"
_OUTSIDE = "was modified since you last read it"
"""Another program, or one that the tool does not know of, changed the file before this edit."""
_SIBLING = "sibling subagent"
"""Another agent did."""
EDITORS = ("write_file", "patch")
"""Tools that change files, each call one edit."""


class FileStepKind(StrEnum):
    """What happened to a file, or what was seen of it."""

    READ = "read"
    """Its whole text was read."""
    SHOWN = "shown"
    """Lines of it were shown to the model."""
    ABSENT = "absent"
    """It was not there."""
    WRITE = "write"
    PATCH = "patch"
    REPLACE = "replace"
    DELETE = "delete"
    MOVE = "move"
    UNCLEAR = "unclear"
    """It was changed, and what changed is not stored."""


class Edit(NamedTuple):
    """One change of one file by a tool call."""

    message_id: int
    session_id: str
    tool: str
    at: float | None
    ok: bool


class FileStep(NamedTuple):
    """Something that happened to a file, or was seen of it."""

    kind: FileStepKind
    path: str
    edit: Edit | None = None
    """None for what only looks."""
    text: str = ""
    """What was read, shown, written or deleted; of a replacement the new text."""
    hunks: tuple[Hunk, ...] = ()
    to: str = ""
    """Where it was moved."""
    old: str = ""
    """The text that a replacement looks for."""
    replaces_all: bool = False
    size: int | None = None
    """Bytes of the file after a write."""
    is_certain: bool = True
    """False if the result of the edit is not stored, or says that another program had changed the
    file."""
    follows_agent: bool = False
    """Its result says that another agent had changed the file; those edits may be known."""


class Paths:
    """Turns the paths of one session's calls into absolute ones, as far as the directory is
    known."""

    def __init__(self, directory: str | None) -> None:
        self.directory = directory or ""
        """Where relative paths begin; empty if not known."""

    def resolve(self, path: str, result: Json) -> str:
        """Return the path of a call: as its result names it (0.15 and later), or by the
        directory."""
        if path.startswith("/"):
            return posixpath.normpath(path)
        if path.startswith("~"):
            return self._named(path.lstrip("~"), result) or path
        plain = posixpath.normpath(path)
        if named := self._named(f"/{plain}", result):
            return named
        return posixpath.normpath(posixpath.join(self.directory, path)) if self.directory else plain

    def _named(self, end: str, result: Json) -> str:
        """Return the absolute path with this end in a result; empty if it names none."""
        modified = result.get("files_modified")
        names = [result.get("resolved_path"), *(modified if isinstance(modified, list) else ())]
        found = [str(name) for name in names if str(name).startswith("/")]
        # Of `x.py` and `src/x.py` in one patch, the shorter is the one that was named shorter.
        return min((name for name in found if name.endswith(end)), key=len, default="")


def _is_failed(text: str, result: Json) -> bool:
    """Whether the result of an edit says that it changed nothing, or not all it should."""
    if not result:
        return has_failed(text, None)
    return bool(result.get("error")) or result.get("success") is False


def steps_of(use: ToolUse, text: str | None, paths: Paths) -> tuple[list[FileStep], bool]:
    """Return what a tool call did to files, or saw of them, in order; and whether it is an edit
    that failed.

    Args:
        use: The call.
        text: Its result; None if none is stored: whether it was done is not known.
        paths: Of the session.
    """
    arguments = as_mapping(use.arguments)
    result = json_at_start(text or "")
    edit = Edit(use.message_id, use.session_id, use.name, use.at, ok=True)
    if use.name == "read_file":
        return list(_reads(arguments, result, paths)), False
    if use.name == "execute_code":
        return list(_code_steps(arguments, result, edit, paths)), False
    if use.name not in EDITORS:
        return [], False
    if text is not None and _is_failed(text, result):
        # A patch of several files may have changed some of them; its diff has those.
        return list(_patched(arguments, result, edit, paths)) if result.get("diff") else [], True
    if use.name == "patch" and result:
        return list(_patched(arguments, result, edit, paths)), False
    if result:
        return [_warned(_write(arguments, result, edit, paths), result)], False
    where = paths.resolve(str(arguments.get("path")), {})
    return [FileStep(FileStepKind.UNCLEAR, where, edit._replace(ok=False))], False


def _reads(arguments: Json, result: Json, paths: Paths) -> Iterator[FileStep]:
    path, content = arguments.get("path"), result.get("content")
    if not isinstance(path, str):
        return
    where = paths.resolve(path, result)
    if str(result.get("error", "")).startswith(_NOT_FOUND):
        yield FileStep(FileStepKind.ABSENT, where)
    elif isinstance(content, str) and not result.get("error"):
        text = _LINE_NUMBER.sub("", content)
        # Long lines are cut and secrets are masked, so that the size differs.
        is_whole = len(text.encode("utf-8", "replace")) == result.get("file_size")
        yield FileStep(FileStepKind.READ if is_whole else FileStepKind.SHOWN, where, text=text)


def _warned(step: FileStep, result: Json) -> FileStep:
    """Return a step with what the warning in its result says about edits by others."""
    warning = str(result.get(_WARNING, ""))
    return step._replace(
        is_certain=step.is_certain and _OUTSIDE not in warning,
        follows_agent=_SIBLING in warning,
    )


def _write(arguments: Json, result: Json, edit: Edit, paths: Paths) -> FileStep:
    path, content = arguments.get("path"), arguments.get("content")
    where = paths.resolve(str(path), result)
    if not isinstance(content, str):
        return FileStep(FileStepKind.UNCLEAR, where, edit)
    size = result.get("bytes_written")
    known = size if isinstance(size, int) else None
    return FileStep(FileStepKind.WRITE, where, edit, text=content, size=known)


def _patched(arguments: Json, result: Json, edit: Edit, paths: Paths) -> Iterator[FileStep]:
    """Yield the steps of a `patch` by its diff; without a readable one, by its arguments."""
    try:
        files = parse_diff(str(result.get("diff", "")))
    except DiffError:
        files = []
    for each in files:
        yield _warned(_diff_step(each, edit, result, paths), result)
    if files:
        return
    path = arguments.get("path")
    if isinstance(path, str) and path:
        where = paths.resolve(path, result)
        yield _warned(_replacement(arguments, where, edit), result)
        return
    modified = result.get("files_modified")
    for name in modified if isinstance(modified, list) else ():
        yield FileStep(FileStepKind.UNCLEAR, paths.resolve(str(name), result), edit)


def _replacement(arguments: Json, path: str, edit: Edit) -> FileStep:
    old, new = arguments.get("old_string"), arguments.get("new_string")
    if not (isinstance(old, str) and old and isinstance(new, str)):
        return FileStep(FileStepKind.UNCLEAR, path, edit)
    is_all = arguments.get("replace_all") is True
    return FileStep(FileStepKind.REPLACE, path, edit, text=new, old=old, replaces_all=is_all)


def _diff_step(each: FileDiff, edit: Edit, result: Json, paths: Paths) -> FileStep:
    if not each.before:
        where = paths.resolve(each.after, result)
        return FileStep(FileStepKind.WRITE, where, edit, text=each.text)
    where = paths.resolve(each.before, result)
    if not each.after:
        return FileStep(FileStepKind.DELETE, where, edit, hunks=each.hunks)
    if each.before != each.after:
        return FileStep(FileStepKind.MOVE, where, edit, to=paths.resolve(each.after, result))
    return FileStep(FileStepKind.PATCH, where, edit, hunks=each.hunks)


def _code_steps(arguments: Json, result: Json, edit: Edit, paths: Paths) -> Iterator[FileStep]:
    """Yield the edits of a program that ended well and names them outright; their own results are
    not stored."""
    calls = file_calls(str(arguments.get("code", "")))
    if result.get("status") != "success" or result.get("tool_calls_made") != len(calls):
        return
    for call in calls:
        if call.name in EDITORS and "path" in call.arguments:
            yield _code_step(call, edit, paths)


def _code_step(call: CodeCall, edit: Edit, paths: Paths) -> FileStep:
    where = paths.resolve(str(call.arguments["path"]), {})
    edit = edit._replace(tool=f"{edit.tool}: {call.name}")
    if call.name == "patch":
        return _replacement(call.arguments, where, edit)._replace(is_certain=False)
    return _write(call.arguments, {}, edit, paths)._replace(path=where, is_certain=False)
