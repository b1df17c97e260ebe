"""Which file tools of Hermes a Python program calls, and whether it may change files by itself."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..connection.stored_values import Json

_TOOLS = re.compile(r"read_file|search_files|write_file|patch|terminal|web_search|web_extract")
"""What a program of `execute_code` can import (0.14 to 0.19)."""
_PARAMETERS = {
    "write_file": ("path", "content"),
    "patch": ("path", "old_string", "new_string", "replace_all", "mode", "patch"),
}
_HARMLESS = re.compile(
    r"read_file|search_files|write_file|patch|print|len|str|repr|int|float|list|dict|sorted|range"
    r"|enumerate|get|join|split|splitlines|strip|dumps|loads|json_parse"
)
"""Names of what changes nothing, or only what else is known."""
_MODULES = sys.stdlib_module_names | {"hermes_tools"}
"""What can be imported without running another program."""
_WRITES = re.compile(
    r"""write|["'][wax]b?\+?["']|os\.replace|remove|rename|unlink|shutil|subprocess|system|terminal"""
)
"""Signs of a program that changes files by other means than Hermes' tools."""
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
    may_change_more: bool = True
    """Whether it may have changed files by other means."""


def read_program(code: str) -> Program:
    """Read what a program does to files."""
    try:
        tree = ast.parse(code, _STORED)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Program()
    nodes = list(ast.walk(tree))
    called = [_called(node) for node in nodes if isinstance(node, ast.Call)]
    calls = tuple(_fixed_calls(tree))
    if len(calls) != sum(bool(_TOOLS.fullmatch(name)) for name in called):
        calls = ()
    known = sum(name in _PARAMETERS and "path" in arguments for name, arguments in calls)
    is_known = known == sum(name in _PARAMETERS for name in called)
    is_known = is_known and _MODULES.issuperset(_imported(nodes))
    return Program(calls, not (is_known and all(map(_HARMLESS.fullmatch, called))))


def changed_names(code: str) -> set[str]:
    """Return the names, without folders, that a program has if it may write files."""
    return set(_NAME.findall(code)) if _WRITES.search(code) else set()


def _imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the modules that a program imports, each of which is another program."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


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
            if not (isinstance(node, ast.Call) and _TOOLS.fullmatch(_called(node))):
                continue
            name = _called(node)
            nodes = dict(zip(_PARAMETERS.get(name, ()), node.args, strict=False))
            nodes |= {each.arg: each.value for each in node.keywords if each.arg is not None}
            arguments = {key: _value(value, values) for key, value in nodes.items()}
            if name not in _PARAMETERS or None not in arguments.values():
                yield name, arguments
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            values[statement.targets[0].id] = _value(statement.value, values)


def _value(node: ast.expr, values: Json) -> object:
    """Return the value of a constant, or of a name that has one; None for any other."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    return node.value if isinstance(node, ast.Constant) else None
