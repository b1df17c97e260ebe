"""Whether a stored tool call edits a file, or only mentions it."""

from __future__ import annotations

import re

from ..connection.stored_values import read_json
from ..messages.decode import decode_tool_calls
from .fold import fold

_CHANGES = re.compile(r"write|edit|patch|create|replace|append|insert|delete|remove|rename|move")
"""Parts of the names of tools that change files: `write_file` and `patch` are Hermes' own
(0.22)."""
_PATCH_HEADERS = ("*** ", "+++ ", "--- ")
"""How a line of a patch begins that names a file."""


def _names_file(argument: object, needle: str) -> bool:
    """Whether an argument names the file: a bare path, or the headers of a patch, not the text
    written."""
    if not isinstance(argument, str):
        return False
    lines = argument.split("\n")
    return any(
        needle in fold(line) for line in lines if len(lines) == 1 or line.startswith(_PATCH_HEADERS)
    )


def edits_file(tool_calls: str, needle: str) -> bool:
    """Whether tool calls, as stored, change a file whose path contains a folded text."""
    if needle not in fold(tool_calls):
        return False
    for call in decode_tool_calls(tool_calls):
        if not _CHANGES.search(call.name.lower()):
            continue
        try:
            arguments = read_json(call.arguments)
        except ValueError:
            arguments = None
        values = arguments.values() if isinstance(arguments, dict) else [call.arguments]
        if any(_names_file(value, needle) for value in values):
            return True
    return False
