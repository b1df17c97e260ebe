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
    for command in _OPERATOR.split(_QUOTED.sub(_hide, line)):
        words = _VARIABLES.sub("", " ".join(command.split()))
        if words:
            yield words


def _hide(part: re.Match[str]) -> str:
    return "" if part[0].startswith("#") else part[0].translate(_HIDDEN)


def _plain(word: str) -> str:
    """Return a word without its quotes."""
    return re.sub(r"['\"\\]", "", word).translate(_SHOWN)


def read_line(line: str) -> tuple[set[str] | None, str | None]:
    """Read what a shell line does to files.

    Returns:
        The names, without the folders above, that it surely names to change them: of files and
        folders, with wildcards. None if it changes no file: all lines may have done so that are not
        known to only read. And where it goes last, as far as it says so; None if it stays.
    """
    only_reads = _SUBSTITUTION.search(line) is None
    names: set[str] = set()
    folder = None
    for command in _commands(line):
        shown = command.translate(_SHOWN)
        is_reader = _READER.match(shown) is not None
        written: list[str] = _TARGET.findall(command)
        if not is_reader and _WRITER.search(command):
            written = [*command.split(), *_WORDS.split(shown)]
        only_reads &= is_reader and not written
        names.update(map(_name_of, written))
        if move := _MOVE.match(command):
            folder = _plain(move[1] or "~")
    return (None if only_reads else names), folder


def _name_of(word: str) -> str:
    """Return the last name in a word of a command."""
    path = _plain(word)
    if path in (".", ".."):
        return "*"
    return posixpath.basename(path.rpartition("=")[2].rstrip("/"))


# Programs

EDITS = {
    "write_file": ("path", "content"),
    "patch": ("path", "old_string", "new_string", "replace_all", "mode", "patch"),
}
"""Tools that change files, with their parameters in order."""
_TOOLS = {*EDITS, "read_file", "search_files", "terminal", "web_search", "web_extract"}
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
    calls: list[tuple[str, Json]] = []
    changes_no_other = True
    values: Json = {}
    for statement in tree.body:
        is_plain = isinstance(statement, ast.Expr | ast.Assign | ast.Import | ast.ImportFrom)
        if not is_plain:
            values = {}  # any name may have another value now
        for node in ast.walk(statement):
            match node:
                case ast.Import(names=modules):
                    changes_no_other &= all(_is_of_python(each.name) for each in modules)
                case ast.ImportFrom(module=module):
                    changes_no_other &= _is_of_python(module or "")
                case ast.Assign(targets=[ast.Name(id=name), *_others], value=value) if is_plain:
                    values[name] = _value(value, values)
                case ast.Call():
                    name, arguments = _call(node, values)
                    is_known = "path" in arguments and None not in arguments.values()
                    is_fixed = is_plain and (is_known or name not in EDITS)
                    if name in _TOOLS and is_fixed:
                        calls.append((name, arguments))
                    is_counted = is_fixed or name not in _TOOLS
                    changes_no_other &= is_counted and _HARMLESS.fullmatch(name) is not None
    return calls, changes_no_other


def names_in(code: str) -> set[str]:
    """Return the names, without folders, that a program has if it seems to write files."""
    return set(re.findall(r"[\w.-]+", code)) if _WRITES.search(code) else set()


def _is_of_python(module: str) -> bool:
    return module.partition(".")[0] in _MODULES


def _call(node: ast.Call, values: Json) -> tuple[str, Json]:
    """Return the name that a call names last, `write_file` of `hermes_tools.write_file(…)`, and its
    arguments, None for one that is computed."""
    name = str(getattr(node.func, "attr", getattr(node.func, "id", "")))
    nodes = dict(zip(EDITS.get(name, ()), node.args, strict=False))
    nodes |= {str(each.arg): each.value for each in node.keywords}
    return name, {key: _value(value, values) for key, value in nodes.items()}


def _value(node: ast.expr, values: Json) -> object:
    """Return the value of a constant, or of a name that has one; None for any other."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return values.get(name)
    return None
