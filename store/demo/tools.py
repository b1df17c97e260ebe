"""Tool calls and results in the form Hermes 0.19 stores them."""

from __future__ import annotations

import json

_ARGUMENT = {
    "terminal": "command",
    "read_file": "path",
    "write_file": "path",
    "patch": "path",
    "process": "action",
    "search_files": "pattern",
    "web_search": "query",
    "web_extract": "urls",
    "execute_code": "code",
    "memory": "content",
    "session_search": "query",
    "send_message": "message",
    "browser_navigate": "url",
    "vision_analyze": "question",
    "cronjob": "action",
    "delegate_task": "goal",
    "ha_call_service": "service",
}
"""The argument a tool is mostly called with."""

NAMES = frozenset(_ARGUMENT)
"""Tools the sample knows."""


def arguments(tool: str, given: str) -> str:
    """The `arguments` of a call: a JSON text.

    Args:
        tool: One of `NAMES`.
        given: JSON as it stands, or the value of the tool's main argument.
    """
    return given if given.startswith("{") else json.dumps({_ARGUMENT[tool]: given}, ensure_ascii=False)


def result(tool: str, given: str, body: str, *, failed: bool = False) -> str:
    """The stored result of a call.

    Args:
        tool: One of `NAMES`.
        given: As for `arguments`.
        body: What came out, plain; a body that is JSON already is kept.
        failed: The tool says that it went wrong.
    """
    if body.startswith(("{", "[")):
        return body
    value: dict[str, object]
    if tool == "terminal":
        value = {"output": body, "exit_code": 1 if failed else 0, "error": None}
    elif failed:
        value = {"error": body}
    elif tool == "read_file":
        lines = body.split("\n")
        numbered = "\n".join(f"{number}|{line}" for number, line in enumerate(lines, 1))
        value = {"content": numbered, "total_lines": len(lines), "file_size": len(body.encode()), "truncated": False}
    elif tool == "patch":
        value = {"success": True, "diff": body, "files_modified": [given]}
    else:
        return body
    return json.dumps(value, ensure_ascii=False)


def call(call_id: str, tool: str, given: str) -> dict[str, object]:
    """One item of `tool_calls`."""
    function = {"name": tool, "arguments": arguments(tool, given)}
    return {"id": call_id, "call_id": call_id, "type": "function", "function": function}
