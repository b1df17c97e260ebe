"""Which commands may have changed files, and which file tools a Python program calls."""

from __future__ import annotations

import ast
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ..connection.stored_values import Json

_READERS = re.compile(
    r"\[|awk|basename|cat|cd|cmp|column|comm|cut|date|df|diff|dirname|du|echo|egrep|env"
    r"|false|fd|fgrep|file|find|free|grep|head|hexdump|hostname|id|jq|less|ls|lsof|md5sum"
    r"|more|nl|nproc|od|pgrep|ping|printenv|printf|ps|pwd|readlink|realpath|rg|sed|seq"
    r"|sha1sum|sha256sum|sleep|sort|stat|strings|tac|tail|test|top|tr|tree|true|tty|type"
    r"|uname|uniq|uptime|wc|which|who|whoami"
)
"""Programs that only read, unless an argument of `_CHANGING` or a redirection says otherwise."""
_CHANGING = {
    "awk": r"-i|.*>",
    "find": r"-delete|-exec|-ok|-fprint|-fls",
    "sed": r"-[A-Za-z]*i|--in-place",
    "sort": r"-o|--output",
    "fd": r"-[xX]|--exec",
}
"""How an argument begins with which they change files."""
_GIT_READERS = re.compile(
    r"blame|describe|diff|grep|log|ls\-files|ls\-tree|rev\-list|rev\-parse|shortlog|show"
    r"|status"
)
_GIT_OPTIONS = ("-c", "--config-env", "--output", "--ext-diff")
"""Options that let a reading command of Git run something else, or write."""
_OPERATORS = frozenset([";", "&", "&&", "|", "||", "(", ")", "|&", ";;"])
_TOOLS = re.compile(r"read_file|search_files|write_file|patch|terminal|web_search|web_extract")
"""What a program of `execute_code` can import (0.14 to 0.19)."""
_PARAMETERS = {
    "write_file": ("path", "content"),
    "patch": ("path", "old_string", "new_string", "replace_all", "mode", "patch"),
    "read_file": ("path", "offset", "limit"),
}
_HARMLESS = re.compile(
    r"read_file|search_files|write_file|patch|print|len|str|repr|int|float|list|dict|sorted|range|enumerate|get|join|split"
    r"|splitlines|strip|dumps|loads|json_parse"
)


class CodeCall(NamedTuple):
    """A call of a Hermes tool in a program, with the arguments that stand there as they are."""

    name: str
    arguments: Json


def may_change_files(command: str) -> bool:
    """Whether a shell command may have changed files: all do that are not known to only read."""
    if "`" in command or "$(" in command or "<(" in command:
        return True
    words = _words(command)
    return words is None or any(_changes(part) for part in _parts(words))


_WRITERS = re.compile(r"cp|dd|ed|ex|install|ln|mv|patch|rm|rsync|shred|tee|truncate|unlink")
"""Programs that change the files they are given."""
_GIT_WRITERS = re.compile(r"apply|checkout|mv|restore|rm")


def written_names(command: str) -> set[str]:
    """Return the names of files, without folders, that a shell command surely names to change
    them."""
    names: set[str] = set()
    for part in _parts(_words(command) or []):
        program = part[0].rpartition("/")[2] if part else ""
        in_place = program in ("sed", "perl") and any(word.startswith("-i") for word in part)
        is_git = program == "git" and any(map(_GIT_WRITERS.fullmatch, part))
        if in_place or is_git or _WRITERS.fullmatch(program):
            names |= {word.rpartition("/")[2] for word in part[1:]}
        names |= {target.rpartition("/")[2] for target in _targets(part)}
    return names


def _words(command: str) -> list[str] | None:
    """Split a command line as a shell does; None if it cannot be."""
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return None


def _parts(words: list[str]) -> Iterator[list[str]]:
    """Yield the simple commands of a line."""
    part: list[str] = []
    for word in words:
        if word in _OPERATORS:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _changes(words: list[str]) -> bool:
    """Whether a simple command may have changed files."""
    while words and "=" in words[0].partition("/")[0]:
        words = words[1:]  # a variable for this command
    if not words:
        return False
    if _targets(words):
        return True
    name = words[0].rpartition("/")[2]
    if name == "git":
        verb = next((word for word in words[1:] if not word.startswith("-")), "")
        return not _GIT_READERS.fullmatch(verb) or any(
            word.startswith(_GIT_OPTIONS) for word in words
        )
    if name == "env" and len(words) > 1:
        return True
    if not _READERS.fullmatch(name):
        return True
    changing = _CHANGING.get(name)
    return changing is not None and any(re.match(changing, word) for word in words[1:])


def _targets(words: list[str]) -> list[str]:
    """Return the files that the output of a simple command goes into."""
    targets = [
        target
        for word, target in pairwise([*words, ""])
        if ">" in word and set(word) <= set("<>&|")
        if not (word.endswith("&") and target.isdigit())
    ]
    return [target for target in targets if target != "/dev/null"]


def _tree_of(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _called(node: ast.Call) -> str:
    """Return the name that a call names last: `write_file` of `hermes_tools.write_file(…)`."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def code_may_change_files(code: str) -> bool:
    """Whether a program may have changed files by other means than the file tools it calls."""
    tree = _tree_of(code)
    if tree is None:
        return True
    calls = [_called(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    edits = sum(name in ("write_file", "patch") for name in calls)
    known = sum(
        call.name in ("write_file", "patch") and "path" in call.arguments
        for call in file_calls(code)
    )
    return edits != known or not all(map(_HARMLESS.fullmatch, calls))


def file_calls(code: str) -> list[CodeCall]:
    """Return the calls of Hermes' tools in a program that runs from top to bottom, in order.

    Empty if a tool is called elsewhere (in a loop, a function, a condition), or with arguments that
    are computed.
    """
    tree = _tree_of(code)
    if tree is None:
        return []
    values = _constants(tree)
    calls: list[CodeCall] = []
    for statement in tree.body:
        if isinstance(statement, ast.Expr | ast.Assign):
            calls += _calls_in(statement, values)
    return calls if len(calls) == len(list(_tool_nodes(tree))) else []


def _tool_nodes(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _TOOLS.fullmatch(_called(node)):
            yield node


def _constants(tree: ast.Module) -> dict[str, object]:
    """Return the names that are set once in a program, to a value that stands there."""
    stored = (
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    times = Counter(stored)
    values: dict[str, object] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            target = statement.targets[0]
            if isinstance(target, ast.Name) and times[target.id] == 1:
                values[target.id] = statement.value.value
    return values


def _calls_in(statement: ast.stmt, values: dict[str, object]) -> Iterator[CodeCall]:
    for node in _tool_nodes(statement):
        name = _called(node)
        given = dict(zip(_PARAMETERS.get(name, ()), node.args, strict=False))
        given |= {each.arg: each.value for each in node.keywords if each.arg is not None}
        arguments = {key: _value(value, values) for key, value in given.items()}
        if name not in ("write_file", "patch") or None not in arguments.values():
            yield CodeCall(name, arguments)


def _value(node: ast.expr, values: dict[str, object]) -> object:
    if isinstance(node, ast.Name):
        return values.get(node.id)
    return node.value if isinstance(node, ast.Constant) else None
