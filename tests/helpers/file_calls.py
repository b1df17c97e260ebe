"""Calls of Hermes' file tools with their results, as 0.19 gives them, and stores that have them."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path

from store_builder import StoreBuilder, add_tool_use

from hermes_browse.store.connection.stored_values import Json

Call = tuple[str, Json, Json]
"""A tool, its arguments and its result."""


def terminal(command: str, output: str = "") -> Call:
    return "terminal", {"command": command}, {"output": output, "exit_code": 0}


def code(text: str) -> Call:
    """A program that calls no tool."""
    return "execute_code", {"code": text}, {"status": "success", "output": "", "tool_calls_made": 0}


def read(path: str, text: str, size: int | None = None) -> Call:
    """A `read_file` of a whole text."""
    shown = "\n".join(f"{number}|{line}" for number, line in enumerate(text.split("\n"), 1))
    return "read_file", {"path": path}, {"content": shown, "file_size": size or len(text.encode())}


def missing(path: str) -> Call:
    """A `read_file` of what is not there."""
    return "read_file", {"path": path}, {"content": "", "error": f"File not found: {path}"}


def write(path: str, text: str, resolved: str | None = None) -> Call:
    result: Json = {"bytes_written": len(text.encode()), "resolved_path": resolved}
    return "write_file", {"path": path, "content": text}, result


def patch(path: str, old: str, new: str, resolved: str | None = None) -> Call:
    """A `patch` from one text to another."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    diff = "".join(unified_diff(before, after, f"a/{path}", f"b/{path}"))
    return "patch", {"path": path}, {"success": True, "diff": diff, "resolved_path": resolved}


def patches(diff: str, *modified: str) -> Call:
    """A `patch` of several files."""
    result = {"success": True, "diff": diff, "files_modified": list(modified)}
    return "patch", {"mode": "patch", "patch": diff}, result


def store_by(folder: Path, *calls: Call, cwd: object = "/w") -> tuple[Path, list[int]]:
    """A store of one session `s` with some calls, and the messages that have them."""
    builder = StoreBuilder(folder / "state.db")
    builder.session("s", cwd=str(cwd))
    ids = [add_tool_use(builder, f"c{number}", *call) for number, call in enumerate(calls)]
    return builder.write(), ids
