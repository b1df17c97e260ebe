"""Which file tools of Hermes a Python program calls, and whether it may change files by itself."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from ..connection.stored_values import Json

_EDITS = {
    "write_file": ("path", "content"),
    "patch": ("path", "old_string", "new_string", "replace_all", "mode", "patch"),
}
"""Tools that change files, with their parameters in order."""
_TOOLS = {*_EDITS, "read_file", "search_files", "terminal", "web_search", "web_extract"}
"""What a program of `execute_code` can import (0.14 to 0.19)."""
_HARMLESS = re.compile(
    r"read_file|search_files|write_file|patch|print|len|str|repr|int|float|list|dict|sorted|range"
    r"|enumerate|get|join|split|splitlines|strip|dumps|loads|json_parse"
    r"|hermes_tools|collections|json|math|os|os\.path|pathlib|re|sys|time"
)
"""Names of what changes nothing, or only what else is known, if it is called or imported."""
_WRITES = re.compile(
    r"""write|patch|["'][wax]b?\+?["']|os\.replace|remove|rename|unlink|shutil|subprocess|system
    |terminal""",
    re.VERBOSE,
)
"""Signs of a program that changes files."""
_NAME = re.compile(r"[\w.-]+")
_STORED = "<stored program>"
"""Its name for Python."""
# Python 3.12 prints a warning for an escape like `\d` in what it parses.
warnings.filterwarnings("ignore", module=_STORED)


class Program(NamedTuple):
    """What a program of `execute_code` does to files."""

    calls: tuple[tuple[str, Json], ...] = ()
    """All its calls of Hermes' tools in order, by name, with their arguments; empty if one stands
    in a loop, a function or a condition, or edits with arguments that are computed."""
    changes_no_other: bool = False
    """Whether it surely changes no file by other means."""


def read_program(code: str) -> Program:
    """Read what a program does to files."""
    try:
        tree = ast.parse(code, _STORED)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Program()
    used: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.Call():
                used.append(_called(node))
            case ast.Import():
                used += [each.name for each in node.names]
            case ast.ImportFrom():
                used.append(node.module or "")
    calls = tuple(_fixed_calls(tree))
    if len(calls) != sum(name in _TOOLS for name in used):
        calls = ()
    known = sum(name in _EDITS and "path" in arguments for name, arguments in calls)
    are_known = known == sum(name in _EDITS for name in used)
    return Program(calls, are_known and all(map(_HARMLESS.fullmatch, used)))


def program_names(code: str) -> set[str] | None:
    """Return the names, without folders, that a program has if it seems to write files; None if it
    changes no file but by calls that are known."""
    if read_program(code).changes_no_other:
        return None
    return set(_NAME.findall(code)) if _WRITES.search(code) else set()


def _called(call: ast.Call) -> str:
    """Return the name that a call names last: `write_file` of `hermes_tools.write_file(…)`."""
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _fixed_calls(tree: ast.Module) -> Iterator[tuple[str, Json]]:
    """Yield the calls of tools at the top of a program whose edits have fixed arguments."""
    values: Json = {}
    for statement in tree.body:
        if not isinstance(statement, ast.Expr | ast.Assign | ast.Import | ast.ImportFrom):
            values = {}  # any name may have another value now
            continue
        for node in ast.walk(statement):
            if not (isinstance(node, ast.Call) and _called(node) in _TOOLS):
                continue
            name = _called(node)
            nodes = dict(zip(_EDITS.get(name, ()), node.args, strict=False))
            nodes |= {each.arg: each.value for each in node.keywords if each.arg is not None}
            arguments = {key: _value(value, values) for key, value in nodes.items()}
            if name not in _EDITS or None not in arguments.values():
                yield name, arguments
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            values[statement.targets[0].id] = _value(statement.value, values)


def _value(node: ast.expr, values: Json) -> object:
    """Return the value of a constant, or of a name that has one; None for any other."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    return node.value if isinstance(node, ast.Constant) else None
