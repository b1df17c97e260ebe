"""Do again what tool calls did to files, and take over what they showed of them.

Seen in the tools of Hermes 0.14 to 0.19: `write_file`, `patch` in both of its modes, `read_file`,
and `execute_code`, whose program calls the former.
"""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import Json, as_mapping
from ..messages.decode import has_failed
from ..sessions.models import Session
from .edited_file import Edit, EditedFile, Hunk
from .programs import read_program
from .tool_uses import ToolUse, json_at_start, read_results

_LINE_NUMBER = re.compile(r"^ *\d+\|", re.MULTILINE)
_NOT_FOUND = "File not found"
_OUTSIDE = "was modified since you last read it"
"""Another program, or one that the tool does not know of, changed the file before this edit."""
_SIBLING = "sibling subagent"
"""Another agent did."""
EDITORS = ("write_file", "patch")
"""Tools that change files, each call one edit."""
FILE_TOOLS = ("read_file", "execute_code", *EDITORS)
_DEPTH = 100
"""Sessions above another that are looked at."""
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_WHOLE = re.compile(r"# (?:Moved: (?P<moved>.+?) -> (?P<to>.+?)|Deleted: (?P<deleted>.+?))\n?")
_LAST_LINE = 500_000
"""A hunk that begins beyond that is taken for damage."""


class TrackedFile:
    """One file through its edits."""

    def __init__(self, path: str) -> None:
        self.first_path = path
        """Another one than the present path if it was moved."""
        self.edits: list[Edit] = []
        self.versions = [EditedFile(set())]
        """Another one begins where an edit does not fit: somebody else has changed the file."""
        self.is_certain = True
        """Whether nothing else has changed it, as far as is known."""
        self.is_unclear = False
        """Whether it is not known what an edit changed."""

    def take(self, step: Callable[..., bool], *facts: object) -> None:
        """Do a step, a method of `EditedFile`: something happened to the file or was seen of it."""
        if step(self.versions[-1], *facts):
            return
        self.versions.append(EditedFile(self.versions[-1].shown))
        self.is_certain = False
        if not step(self.versions[-1], *facts):
            self.is_unclear = True


class Replay:
    """Files, each under its present path.

    Args:
        name: Without folders: the calls are those about files of this name alone, so that other
            files are not kept, and nothing is known of a file that had another name before.
    """

    def __init__(self, name: str = "") -> None:
        self.files: dict[str, TrackedFile] = {}
        self._name = name

    def file(self, path: str) -> TrackedFile:
        """Return a file; nothing is known of a new one."""
        file = self.files.get(path, TrackedFile(path))
        self._keep(path, file)
        return file

    def move(self, path: str, to: str) -> None:
        """Move a file."""
        self._keep(to, self.files.pop(path, TrackedFile(path)))

    def _keep(self, path: str, file: TrackedFile) -> None:
        if self._name in ("", posixpath.basename(path)):
            self.files[path] = file


def replay_uses(
    reader: Reader, replay: Replay, uses: Sequence[ToolUse], sessions: Mapping[str, Session]
) -> int:
    """Do what tool calls did to files; return how many edits failed.

    `sessions` has the sessions of the calls and those above them, by id.
    """
    results = read_results(reader, uses)
    directory_of = cache(partial(_directory, sessions))
    return sum(
        replay_call(replay, use, results.get(use.result_id, ""), directory_of(use.session_id))
        for use in uses
    )


def _directory(sessions: Mapping[str, Session], session_id: str) -> str:
    """Return the directory of a session, or else that of the nearest one above it."""
    above = sessions.get(session_id)
    for _step in range(_DEPTH):
        if above is None or above.cwd:
            break
        above = sessions.get(above.parent_id or "")
    return (above and above.cwd) or ""


def replay_call(replay: Replay, use: ToolUse, text: str, directory: str) -> bool:
    """Do what a tool call did to files, and tell whether it is an edit that failed.

    Args:
        replay: Of the files.
        use: The call.
        text: Its result; empty if none is stored: whether it was done is not known.
        directory: Where relative paths begin; empty if not known.
    """
    call = _FileCall(replay, use, json_at_start(text), directory)
    if use.name in EDITORS:
        return call.edit_files(text)
    {"terminal": call.show, "read_file": call.read, "execute_code": call.run_program}[use.name]()
    return False


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _unclear(*_facts: object) -> bool:
    """It was changed, and what changed is not stored."""
    return False


class _FileCall:
    """A tool call that is done again."""

    def __init__(self, replay: Replay, use: ToolUse, result: Json, directory: str) -> None:
        self._replay, self._result, self._directory = replay, result, directory
        self._arguments = as_mapping(use.arguments)
        self._edit = Edit(use.message_id, use.session_id, use.name, use.at)
        modified = result.get("files_modified")
        self._modified = [str(each) for each in modified] if isinstance(modified, list) else []

    def _resolve(self, path: str) -> str:
        """Return an absolute path: as the result names it (0.15 and later), or by the directory."""
        plain = posixpath.normpath(posixpath.join(self._directory, path))
        end = f"/{posixpath.normpath(path)}"
        if path.startswith("/"):
            return plain
        if path.startswith("~"):
            plain, end = path, path.lstrip("~")
        names = [str(self._result.get("resolved_path")), *self._modified]
        named = [name for name in names if name.startswith("/") and name.endswith(end)]
        # Of `x.py` and `src/x.py` in one patch, the shorter is the one that was named shorter.
        return min(named, key=len, default=plain)

    def show(self) -> None:
        """Take down what a terminal printed: what is written after that may be a copy."""
        output = str(self._result.get("output") or "")
        for file in self._replay.files.values():
            file.versions[-1].show(output)

    def read(self) -> None:
        """Take over what `read_file` showed."""
        path = self._arguments.get("path")
        if not isinstance(path, str):
            return
        file = self._replay.file(self._resolve(path))
        content, error = self._result.get("content"), self._result.get("error")
        if str(error).startswith(_NOT_FOUND):
            file.take(EditedFile.miss)
        elif isinstance(content, str) and not error:
            text = _LINE_NUMBER.sub("", content)
            # Long lines are cut and secrets are masked, so that the size differs.
            if _size(text) == self._result.get("file_size"):
                file.take(EditedFile.read, text)
            else:
                file.versions[-1].show(text)

    def edit_files(self, text: str) -> bool:
        """Do an edit; return whether it failed as its result says."""
        result, tool = self._result, self._edit.tool
        has_error = bool(result.get("error")) or result.get("success") is False
        if has_error if result else has_failed(text, None):
            # A patch of several files may have changed some of them; its diff has those.
            self._apply_diff()
            return True
        if not result:
            self._edit = self._edit._replace(ok=False)
            self._change(self._arguments.get("path"), _unclear)
        elif tool == "write_file" or not self._apply_diff():
            self._do(tool, self._arguments)
        return False

    def run_program(self) -> None:
        """Do the edits of a program that ended well and names them outright; their own results are
        not stored."""
        calls = read_program(str(self._arguments.get("code", ""))).calls
        result, edit = self._result, self._edit
        if result.get("status") != "success" or result.get("tool_calls_made") != len(calls):
            return
        self._result = {"_warning": _OUTSIDE}
        for name, arguments in calls:
            self._edit = edit._replace(tool=f"{edit.tool}: {name}")
            self._do(name, arguments)

    def _do(self, tool: str, arguments: Json) -> None:
        """Do an edit by its arguments; another tool does nothing."""
        path, text = arguments.get("path"), arguments.get("content")
        if tool == "write_file" and isinstance(text, str):
            size = self._result.get("bytes_written")
            with_returns = text.replace("\n", "\r\n")
            if size == _size(with_returns):  # the tool keeps such line ends of a file (0.16)
                text = with_returns
            self._change(path, EditedFile.write, text, is_certain=size in (None, _size(text)))
        elif tool == "write_file":
            self._change(path, _unclear)
        elif tool == "patch":
            old, new, everywhere = map(arguments.get, ("old_string", "new_string", "replace_all"))
            for name in [path] if path else self._modified:
                self._change(name, EditedFile.replace, old, new, everywhere is True)

    def _change(
        self, path: object, step: Callable[..., bool], *facts: object, is_certain: bool = True
    ) -> None:
        """Do a step of this edit; the warning in its result tells of edits by others."""
        if not isinstance(path, str) or not path:
            return
        file = self._replay.file(self._resolve(path))
        warning = str(self._result.get("_warning"))
        others = {edit.session_id for edit in file.edits} - {self._edit.session_id}
        # Is the edit of the other agent known?
        is_by_unknown = _OUTSIDE in warning or (_SIBLING in warning and not others)
        file.is_certain = file.is_certain and is_certain and not is_by_unknown
        file.edits.append(self._edit)
        file.take(step, *facts, self._edit)

    def _apply_diff(self) -> bool:
        """Do a `patch` by its diff; return whether it has one that can be read."""
        try:
            files = parse_diff(str(self._result.get("diff") or ""))
        except ValueError:
            return False
        for before, after, hunks in files:
            text = "".join(line[1:] for hunk in hunks for line in hunk.lines)
            if not before:
                self._change(after, EditedFile.write, text)
            elif not after:
                self._change(before, EditedFile.delete, text)
            elif before == after:
                self._change(before, EditedFile.patch, hunks)
            else:
                self._change(before, EditedFile.patch, [])
                self._replay.move(self._resolve(before), self._resolve(after))
        return bool(files)


# The diff in a result


class FileDiff(NamedTuple):
    """What a diff says of one file."""

    before: str
    """Its path; empty for a file that the tool calls new."""
    after: str
    """Its path; empty if it was deleted."""
    hunks: list[Hunk]
    """Of a new file one with all its lines."""


def parse_diff(diff: str) -> list[FileDiff]:
    """Parse the diff in the result of `patch`.

    Hermes joins the lines of `difflib.unified_diff`, which may be any that `str.splitlines`
    separates. A last line without a line end stands on one line with what follows. The diffs of
    several files are joined by a line end, with or without one before it.

    Raises:
        ValueError: It is none of Hermes', or is ambiguous.
    """
    lines = deque([*diff.splitlines(keepends=True), ""])
    files: list[FileDiff] = []
    while line := lines.popleft():
        if whole := _WHOLE.fullmatch(line):
            files.append(FileDiff(whole["moved"] or whole["deleted"], whole["to"] or "", []))
        elif line.startswith("--- ") and lines[0].startswith("+++ "):
            files.append(_file(_path(line), _path(lines.popleft()), lines))
        elif line != "\n":  # between the diffs of two files
            raise ValueError(line)
    return files


def _path(line: str) -> str:
    """Return the path in a header of a diff; empty for a file that is not there."""
    name = line[4:].rstrip("\r\n")
    return "" if name == "/dev/null" else name[2:]


def _file(before: str, after: str, lines: deque[str]) -> FileDiff:
    hunks: list[Hunk] = []
    if not before:
        hunks.append(Hunk(0, []))
        while lines[0].startswith("+"):
            hunks[0].lines.append(lines.popleft())
    while before and lines[0].startswith("@@ "):
        hunks.append(_hunk(lines))
    told = hunks[-1].lines if hunks else []
    # The last line end only separates two files; a new file has none, so any separates.
    ends = ("", "\n") if before else ("",)
    if told and lines[0] not in ends:
        told.append(told.pop().removesuffix("\n"))
    return FileDiff(before, after, hunks)


def _hunk(lines: deque[str]) -> Hunk:
    header = _HUNK.match(lines.popleft())
    if header is None:
        raise ValueError("hunk")
    old, new = int(header[2] or "1"), int(header[3] or "1")
    hunk = Hunk(int(header[1]) - (old > 0), [])
    while old > 0 or new > 0:
        if not lines[0].startswith((" ", "-", "+")):
            _split_joined(hunk.lines)
            new -= 1
            break
        line = lines.popleft()
        hunk.lines.append(line)
        old -= not line.startswith("+")
        new -= not line.startswith("-")
    if old or new or not 0 <= hunk.start <= _LAST_LINE:
        raise ValueError("counts")
    return hunk


def _split_joined(lines: list[str]) -> None:
    """Separate the last deleted line, which has no line end, from the added one behind it."""
    last = "".join(line[0] for line in lines).rfind("-")
    if last < 0 or lines[last].count("+") != 1:
        raise ValueError("last line")
    deleted, _plus, added = lines[last].partition("+")
    lines[last : last + 1] = deleted, f"+{added}"
