"""Which files commands of a terminal and programs of `execute_code` may have changed: a shell line
by its words, a program by the file tools of Hermes that it calls."""

from __future__ import annotations

import ast
import posixpath
import re
import sys
import warnings
from collections.abc import Iterator

from ..connection.stored_values import Json

# Shell lines

_READER = re.compile(
    r"""(?:/(?:usr/(?:local/)?)?bin/)?(?!
    awk\ .*(?:-i|>|\||system) | fd\ .*(?:-[xX]|--exec) | file\ .*-\w*C
    | find\ .*-(?:delete|exec|ok|fprint|fls) | git\ .*(?:--ou|--ext-diff|-O)
    | rg\ .*--pre | sed\ (?:.*\ )?(?:-\w*i|--in-place) | sed\ .*\bw\ | sort\ .*(?:-\w*o|--ou)
    | tree\ .*-\w*o | uniq\ (?:-\S+\ )*[^-\ ]\S*\ \S
    )(?:
    \[ | awk | basename | cat | cd | cmp | column | comm | cut | date | df | diff | dirname | du
    | echo | egrep | false | fd | fgrep | file | find | free | grep | head | hexdump | hostname | id
    | jq | ls | lsof | md5sum | nl | nproc | od | pgrep | ping | printenv | printf | ps | pwd
    | readlink | realpath | rg | sed | seq | sha1sum | sha256sum | sleep | sort | stat | strings
    | tac | tail | test | top | tr | tree | true | tty | type | uname | uniq | uptime | wc | which | who
    | whoami
    | git (?:\ (?:--no-pager|-C\ \S+))* \ (?: blame | describe | diff | grep | log | ls-files
    | ls-tree | rev-list | rev-parse | shortlog | show | status)
    )(?:\ |$)""",
    re.VERBOSE,
)
"""Commands that only read, unless their options say otherwise or their output goes into a file."""
_WRITER = re.compile(
    r"""(?:^|\ )(?:/(?:usr/)?bin/)?(?:
    cp | dd | ed | ex | install | ln | mv | patch | rm | rmdir | rsync | shred | tee | truncate
    | unlink | (?:sed|perl)\ (?:.*\ )?(?:-\w*i|--in-place)\S*
    | git\ (?:.*\ )?(?:apply|checkout|mv|restore|rm) | \w*sh\ (?:.*\ )?-\w*c
    )(?:\ |$)""",
    re.VERBOSE,
)
"""Commands that change the files they are given, maybe behind others such as `sudo` or `timeout`."""
_MOVE = re.compile(r"(?:cd|pushd|popd)(?: (\S+)|$)")
"""Changes the directory of the terminal, which all later calls of a session share."""
_SUBSTITUTION = re.compile(r"`|\$\(|[<>]\(")
_QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?<![^\s;&|()])#[^\n]*""", re.DOTALL)
"""A quoted text, an escaped sign, or a comment."""
_SIGNS, _MARKS = " \n;&|()<>", "\1\2\3\4\5\6\7\x0e\x0f"
_HIDDEN, _SHOWN = str.maketrans(_SIGNS, _MARKS), str.maketrans(_MARKS, _SIGNS)
"""Signs that mean nothing where they are quoted; there, marks take their places."""
_OPERATOR = re.compile(r"[;()\n]|(?<![<>])[&|]")
_VARIABLES = re.compile(r"^(?:\w+=\S*(?: |$))+")
"""Of one command, ahead of it."""
_TARGET = re.compile(r">(?:[>|]|&(?!\d))? ?(?!/dev/null(?: |$))([^\s<>|&]+)")
"""The file that the output of a command goes into."""
_WORDS = re.compile(r"[\s;&|()<>'\"]+")
"""What separates words of a command within a quoted text."""


def _commands(line: str) -> Iterator[str]:
    """Yield the simple commands of a shell line, with quoted signs hidden."""
    hidden = _QUOTED.sub(_hide, line)
    for command in _OPERATOR.split(hidden):
        words = _VARIABLES.sub("", " ".join(command.split()), count=1)
        if words:
            yield words


def _hide(part: re.Match[str]) -> str:
    return "" if part[0].startswith("#") else part[0].translate(_HIDDEN)


def _plain(word: str) -> str:
    """Return a word without its quotes."""
    return re.sub(r"['\"\\]", "", word).translate(_SHOWN)


def changed_names(line: str) -> set[str] | None:
    """Return the names, without the folders above, that a shell line surely names to change them:
    of files and folders, with wildcards. None if it changes no file: all lines may have done so that
    are not known to only read."""
    commands = list(_commands(line))
    if not _SUBSTITUTION.search(line) and all(map(_only_reads, commands)):
        return None
    return {
        "*" if name in (".", "..") else posixpath.basename(name.rpartition("=")[2].rstrip("/"))
        for command in commands
        for name in map(_plain, _written(command))
    }


def _only_reads(command: str) -> bool:
    is_reader = _READER.match(command.translate(_SHOWN)) is not None
    return is_reader and _TARGET.search(command) is None


def _written(command: str) -> list[str]:
    """Return the words of a command that changes files, else where its output goes."""
    shown = command.translate(_SHOWN)
    if _WRITER.search(command) and not _READER.match(shown):
        return [*command.split(), *_WORDS.split(shown)]
    return _TARGET.findall(command)


def moved_to(line: str) -> str | None:
    """Return where a shell line goes last, as far as it says so; None if it stays."""
    moves = list(filter(None, map(_MOVE.match, _commands(line))))
    return _plain(moves[-1][1] or "~") if moves else None


# Programs

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
)
"""Names of what changes nothing, or only what else is known."""
_MODULES = sys.stdlib_module_names | {"hermes_tools"}
"""What can be imported without running another program."""
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


def read_program(code: str) -> tuple[list[tuple[str, Json]], bool]:
    """Read what a program of `execute_code` does to files.

    Returns:
        Its calls of Hermes' tools in order, by name, with their arguments, but for those in a loop,
        a function or a condition, and edits with arguments that are computed. And whether it surely
        changes no file by other means.
    """
    try:
        tree = ast.parse(code, _STORED)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [], False
    called: list[str] = []
    imported: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.Call():
                called.append(_called(node))
            case ast.Import():
                imported += [each.name for each in node.names]
            case ast.ImportFrom():
                imported.append(node.module or "")
    calls = list(_fixed_calls(tree))
    only_known = (
        len(calls) == sum(name in _TOOLS for name in called)
        and all("path" in arguments for name, arguments in calls if name in _EDITS)
        and all(map(_HARMLESS.fullmatch, called))
        and _MODULES.issuperset(name.partition(".")[0] for name in imported)
    )
    return calls, only_known


def program_names(code: str) -> set[str] | None:
    """Return the names, without folders, that a program has if it seems to write files; None if it
    changes no file but by calls that are known."""
    _calls, changes_no_other = read_program(code)
    if changes_no_other:
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
            if isinstance(node, ast.Call) and _called(node) in _TOOLS:
                name = _called(node)
                nodes = dict(zip(_EDITS.get(name, ()), node.args, strict=False))
                nodes |= {str(each.arg): each.value for each in node.keywords}
                arguments = {key: _value(value, values) for key, value in nodes.items()}
                if name not in _EDITS or None not in arguments.values():
                    yield name, arguments
        match statement:
            case ast.Assign(targets=[ast.Name(id=name), *_others], value=value):
                values[name] = _value(value, values)


def _value(node: ast.expr, values: Json) -> object:
    """Return the value of a constant, or of a name that has one; None for any other."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return values.get(name)
    return None
