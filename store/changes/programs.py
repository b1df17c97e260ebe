"""Which commands may have changed files, and which file tools a Python program calls."""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from collections.abc import Iterator
from itertools import dropwhile, groupby, pairwise
from typing import NamedTuple

from ..connection.stored_values import Json

_FOLDER = r"(?:\S*/)?"
_READER = re.compile(
    rf"""{_FOLDER}(?!
    awk\ .*(?:-i|>) | fd\ .*(?:-[xX]|--exec) | find\ .*-(?:delete|exec|ok|fprint|fls)
    | git\ .*--(?:output|ext-diff) | sed\ (?:.*\ )?(?:-[A-Za-z]*i|--in-place)
    | sort\ .*(?:-o|--output)
    )(?:
    \[ | awk | basename | cat | cd | cmp | column | comm | cut | date | df | diff | dirname | du
    | echo | egrep | false | fd | fgrep | file | find | free | grep | head | hexdump | hostname | id
    | jq | less | ls | lsof | md5sum | more | nl | nproc | od | pgrep | ping | printenv | printf
    | ps | pwd | readlink | realpath | rg | sed | seq | sha1sum | sha256sum | sleep | sort | stat
    | strings | tac | tail | test | top | tr | tree | true | tty | type | uname | uniq | uptime | wc
    | which | who | whoami
    | git (?:\ (?:--no-pager|-C\ \S+))* \ (?: blame | describe | diff | grep | log | ls-files
    | ls-tree | rev-list | rev-parse | shortlog | show | status)
    )(?:\ |$)""",
    re.VERBOSE,
)
"""Commands that only read, unless their options say otherwise or their output goes into a file."""
_WRITER = re.compile(
    rf"""{_FOLDER}(?:
    cp | dd | ed | ex | install | ln | mv | patch | rm | rsync | shred | tee | truncate | unlink
    | (?:sed|perl)\ (?:.*\ )?-i\S* | git\ (?:.*\ )?(?:apply|checkout|mv|restore|rm)
    )(?:\ |$)""",
    re.VERBOSE,
)
"""Commands that change the files they are given."""
_SUBSTITUTION = re.compile(r"`|\$\(|<\(")
_OPERATOR = re.compile(r"[;&|()]+")
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


_STORED = "<stored program>"
# Python 3.12 prints a warning for an escape like `\d` in what it parses.
warnings.filterwarnings("ignore", module=_STORED)


def _commands(line: str) -> Iterator[list[str]]:
    """Yield the simple commands of a shell line as words; an empty word if it cannot be split."""
    lexer = shlex.shlex(line.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        words = [""]
    for is_operator, command in groupby(words, lambda word: bool(_OPERATOR.fullmatch(word))):
        if not is_operator:  # a variable for this command is left out
            yield list(dropwhile(lambda word: "=" in word.partition("/")[0], command))


def may_change_files(line: str) -> bool:
    """Whether a shell line may have changed files: all do that are not known to only read."""
    return bool(_SUBSTITUTION.search(line)) or any(map(_changes, _commands(line)))


def _changes(words: list[str]) -> bool:
    return bool(words) and (not _READER.match(" ".join(words)) or bool(_targets(words)))


def written_names(line: str) -> set[str]:
    """Return the names of files, without folders, that a shell line surely names to change them."""
    return {
        name.rpartition("/")[2]
        for words in _commands(line)
        for name in (words[1:] if _WRITER.match(" ".join(words)) else _targets(words))
    }


def _targets(words: list[str]) -> list[str]:
    """Return the files that the output of a simple command goes into."""
    return [
        target
        for word, target in pairwise([*words, ""])
        if ">" in word and set(word) <= set("<>&|") and target != "/dev/null"
        if not (word.endswith("&") and target.isdigit())
    ]


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
    called = [_called(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls = tuple(_fixed_calls(tree))
    if len(calls) != sum(bool(_TOOLS.fullmatch(name)) for name in called):
        calls = ()
    known = sum(name in _PARAMETERS and "path" in arguments for name, arguments in calls)
    is_known = known == sum(name in _PARAMETERS for name in called)
    return Program(calls, not (is_known and all(map(_HARMLESS.fullmatch, called))))


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
            given = dict(zip(_PARAMETERS.get(name, ()), node.args, strict=False))
            given |= {each.arg: each.value for each in node.keywords if each.arg is not None}
            arguments = {key: _value(value, values) for key, value in given.items()}
            if name not in _PARAMETERS or None not in arguments.values():
                yield name, arguments
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            values[statement.targets[0].id] = _value(statement.value, values)


def _value(node: ast.expr, values: Json) -> object:
    """Return the value of a constant, or of a name that has one; None for any other."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    return node.value if isinstance(node, ast.Constant) else None
