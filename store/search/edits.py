"""Which tool calls change a file, told by the name of the tool and its arguments."""

from __future__ import annotations

import json
import re

from ..messages import decode_tool_calls
from .fold import fold

_CHANGES = re.compile(r"write|edit|patch|create|replace|append|insert|delete|remove|rename|move")
"""Parts of the names of tools that change files: `write_file` and `patch` are Hermes' own (0.22)."""
_HEADER = ("*** ", "+++ ", "--- ")
"""How a line of a patch begins that names a file."""


def _names(argument: object, needle: str) -> bool:
    """Whether an argument names the file: a path as it stands, or the headers of a patch, not the text written."""
    if not isinstance(argument, str):
        return False
    lines = argument.split("\n")
    if len(lines) == 1:
        return needle in fold(argument)
    return any(line.startswith(_HEADER) and needle in fold(line) for line in lines)


def edits_file(tool_calls: str, needle: str) -> bool:
    """Whether a row calls a tool that changes a file.

    Args:
        tool_calls: As stored.
        needle: A part of the path, folded.
    """
    if needle not in fold(tool_calls):
        return False
    for call in decode_tool_calls(tool_calls):
        if not _CHANGES.search(call.name.lower()):
            continue
        try:
            arguments = json.loads(call.arguments)
        except ValueError:
            arguments = None
        if not isinstance(arguments, dict):
            arguments = {"": call.arguments}
        if any(_names(each, needle) for each in arguments.values()):
            return True
    return False
