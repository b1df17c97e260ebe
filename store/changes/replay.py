"""Do again what tool calls did to files, and take over what they showed of them.

Seen in the tools of Hermes 0.14 to 0.19: `write_file`, `patch` in both of its modes, `read_file`,
and `execute_code`, whose program calls the former.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from ..connection.reader import Reader
from ..connection.stored_values import Json, as_mapping, has_failed, json_at_start
from ..sessions.models import Session
from .commands import EDITS, names_in, read_line, read_program
from .diffs import parse_diff
from .edited_file import MISSING, Edit, TrackedFile, whole
from .tool_uses import ToolUse, read_results

_LINE_NUMBER = re.compile(r"\n *\d+\|")
_NOT_FOUND = "File not found"
_OUTSIDE = "was modified since you last read it"
"""Another program, or one that the tool does not know of, changed the file before this edit."""
_SIBLING = "sibling subagent"
"""Another agent did."""
_UNLIKE = ("«redacted", "... [truncated]\n")
"""In what `read_file` shows in the place of secrets, and of the rest of long lines."""
_MARK = 3
"""Bytes of a mark ahead of the text (BOM), which the tools keep and do not show."""
_CHANGING_TOOLS = ("execute_code", *EDITS)
_FILE_TOOLS = ("read_file", *_CHANGING_TOOLS)
DEPTH = 100
"""Sessions above another that are looked at."""


@dataclass
class Replay:
    """What tool calls did to files."""

    sessions: Mapping[str, Session]
    """The sessions of the calls and those above them, by id."""
    files: dict[str, TrackedFile] = field(default_factory=dict)
    """Each under its present path."""
    failed: int = 0
    """Edits that failed."""
    commands: list[ToolUse] = field(default_factory=list)
    """Commands of a terminal, and programs, that may have changed files."""
    touched: set[str] = field(default_factory=set)
    """Names of files and folders that the commands have, with wildcards."""
    _folders: dict[str, str] = field(default_factory=dict)
    """Where the terminals of sessions went; empty for any other directory than that of the session.
    The file tools follow the terminal; their results do not always say where they were (0.14 to
    0.19)."""

    def do_all(self, reader: Reader, uses: Sequence[ToolUse]) -> None:
        """Do calls again in order, with their results, but for those that read other files than
        were changed."""
        named = "\n".join(
            use.said(key)
            for use in uses
            if use.name in _CHANGING_TOOLS
            for key in ("path", "patch", "code")
        )
        is_named = cache(named.__contains__)
        telling = [
            use
            for use in uses
            if use.name != "read_file" or is_named(posixpath.basename(use.said("path")))
        ]
        results = read_results(reader, [use for use in telling if use.name in _FILE_TOOLS])
        for use in telling:
            self.do(use, results.get(use.result_id, ""))

    def do(self, use: ToolUse, text: str) -> None:
        """Do a call again.

        Args:
            use: Of any tool.
            text: Its result; empty if none is stored: whether it was done is not known.
        """
        home = self._directory(use.session_id)
        names: set[str] | None = None
        if use.name == "terminal":
            names, folder = read_line(use.text)
            if folder is not None:
                is_home = _joined(home, folder) == _joined(home, "")
                self._folders[use.session_id] = home if is_home else ""
        elif use.name in _FILE_TOOLS:
            directory = self._folders.get(use.session_id, home)
            result = json_at_start(text)
            edit = Edit(use.message_id, use.session_id, use.name, use.at, ok=bool(result))
            call = _FileCall(self.files, edit, as_mapping(use.arguments), result, directory)
            if use.name in EDITS:
                self.failed += call.edit_files(text)
            elif use.name == "read_file":
                call.read()
            else:
                names = call.run_program(use.text)
        if names is not None:
            self.touched |= names
            self.commands.append(use)

    def _directory(self, session_id: str | None, depth: int = DEPTH) -> str:
        """Return the directory of a session, or else that of the nearest one above it; empty if
        none is known."""
        session = self.sessions.get(session_id or "")
        if session is None or depth == 0:
            return ""
        return session.cwd or self._directory(session.parent_id, depth - 1)


def _joined(directory: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(directory, path))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _text_after(before: str, tool: str, arguments: Json) -> str | None:
    """Return the text that an edit leaves, as far as its arguments say so: a `patch` replaces what
    stands there exactly once."""
    if tool == "write_file":
        content = arguments.get("content")
        return content if isinstance(content, str) else None
    old, new = (str(arguments.get(f"{key}_string") or "") for key in ("old", "new"))
    count = before.count(old) if old else 0
    is_sure = count == 1 or (count > 0 and arguments.get("replace_all") is True)
    return before.replace(old, new) if is_sure else None


@dataclass
class _FileCall:
    """A tool call that is done again."""

    files: dict[str, TrackedFile]
    edit: Edit
    arguments: Json
    result: Json
    directory: str

    @property
    def modified(self) -> list[str]:
        """The files that it changed, as far as its result names them."""
        names = self.result.get("files_modified")
        return list(map(str, names)) if isinstance(names, list) else []

    def _file(self, path: object, to: str = "") -> TrackedFile:
        """Return a file by its path in the call, and move it if there is another; one that is not
        kept if the path is none."""
        if not isinstance(path, str) or not path:
            return TrackedFile("")
        resolved = self._resolve(path)
        present = self._resolve(to) if to else resolved
        file = (
            self.files.pop(resolved, None)
            or self.files.pop(self._plain(path), None)
            or TrackedFile(resolved)
        )
        if not file.edits:
            file.first_path = resolved  # it was read by a link
        file.is_certain &= present not in self.files  # what was there is not known any more
        self.files[present] = file
        return file

    def _resolve(self, path: str) -> str:
        """Return an absolute path: as the result names it (0.15 and later), or by the directory."""
        resolved = str(self.result.get("resolved_path"))
        if resolved.startswith("/") and self.arguments.get("path"):  # the only one of the call
            return posixpath.normpath(resolved)
        end = posixpath.join("/", posixpath.normpath(path).removeprefix("~/"))
        named = [name for name in self.modified if name.startswith("/") and name.endswith(end)]
        # Of `x.py` and `src/x.py` in one patch, the shorter is the one that was named shorter.
        return min(named, key=len, default=self._plain(path))

    def _plain(self, path: str) -> str:
        return path if path.startswith("~") else _joined(self.directory, path)

    def read(self) -> None:
        """Take over what `read_file` showed, unless it showed the same before."""
        file = self._file(self.arguments.get("path"))
        shown = self.result, len(file.edits)
        if file.shown == shown:
            return
        content = self.result.get("content")
        if str(self.result.get("error")).startswith(_NOT_FOUND):
            file.patch([MISSING])
        elif isinstance(content, str):
            text = _LINE_NUMBER.sub("\n", f"\n{content}")[1:]
            size = self.result.get("file_size")
            if size == _size(text) + _MARK:
                file.is_certain = False
            elif size == _size(text) and not any(each in f"{text}\n" for each in _UNLIKE):
                file.patch([whole(text)])
        file.shown = shown

    def edit_files(self, text: str) -> bool:
        """Do an edit; return whether it failed as its result says."""
        is_done = not has_failed(text)
        # A patch of several files that failed may have changed some of them; its diff has those.
        if not self._apply_diff() and is_done:
            self._do(self.edit.tool, self.arguments)
        return not is_done

    def run_program(self, code: str) -> set[str] | None:
        """Do the edits of a program that ended well and names them outright; return the names in
        one that may have changed files in another way, None for any other."""
        calls, changes_no_other = read_program(code)
        edits = [call for call in calls if call[0] in EDITS]
        told = self.result.get("status"), self.result.get("tool_calls_made")
        is_done = told == ("success", len(calls))
        for tool, arguments in edits if is_done else ():
            self.edit = self.edit._replace(tool=f"execute_code: {tool}")
            self._do(tool, arguments)
        is_known = changes_no_other and (is_done or not edits)
        return None if is_known else names_in(code)

    def _do(self, tool: str, arguments: Json) -> None:
        """Do an edit by its arguments."""
        path = arguments.get("path")
        for name in [path] if path else self.modified:
            file = self._edited(name)
            text = _text_after(file.last.text() or "", tool, arguments)
            written = self.result.get("bytes_written")
            if text is not None:
                with_returns = text.replace("\n", "\r\n")
                if written == _size(with_returns):
                    text = with_returns  # the tool keeps such line ends of a file (0.16)
                file.is_certain &= written in (None, _size(text))
            file.write(text if self.edit.ok else None, self.edit)

    def _edited(self, path: object, to: str = "") -> TrackedFile:
        """Return a file for this edit; the warning in the result tells of edits by others."""
        file = self._file(path, to)
        warning = str(self.result.get("_warning"))
        is_by_other = _OUTSIDE in warning or (
            _SIBLING in warning  # is the edit of the other agent known?
            and all(each.session_id == self.edit.session_id for each in file.edits)
        )
        is_by_program = self.edit.tool not in EDITS  # its own result is not stored
        file.is_certain &= not (is_by_other or is_by_program)
        file.edits.append(self.edit)
        return file

    def _apply_diff(self) -> bool:
        """Do a `patch` by its diff; return whether it has one that can be read."""
        diff = str(self.result.get("diff") or "")
        try:
            files = parse_diff(diff)
        except ValueError:
            return False
        for before, after, change in files:
            file = self._edited(before, after)
            if isinstance(change, str):
                file.write(change, self.edit)
            else:
                file.patch(change, self.edit)
            # Mode `patch` shows new lines with other ends than it writes (0.19).
            is_of_one = bool(self.arguments.get("path"))
            file.is_certain &= is_of_one or "\r\n" not in f"{diff}{file.last.text()}"
        return bool(files)
