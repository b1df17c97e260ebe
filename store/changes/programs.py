"""Which commands may have changed files, and which file tools a Python program calls."""

from __future__ import annotations

import ast
import posixpath
import re
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator
from itertools import dropwhile, groupby, pairwise
from typing import NamedTuple

from ..connection.stored_values import Json

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
_MOVES = ("cd", "pushd", "popd")
"""Commands that change the directory of the terminal, which all later calls of a session share."""
_SUBSTITUTION = re.compile(r"`|\$\(|[<>]\(")
_COMMENT = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?<![^\s;&|()])#[^\n]*""", re.DOTALL)
"""A comment, or what is none: a quoted text or an escaped sign."""
_LONGEST = 50_000
"""Characters of a shell line that is split as a shell does, which takes long; they are quadratic."""
_OPERATOR = re.compile(r"[;&|()]+")
_WORDS = re.compile(r"[\s;&|()<>'\"]+")
"""What separates words, where it is not known which are quoted."""
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


_MODULES = sys.stdlib_module_names | {"hermes_tools"}
_WRITES = re.compile(
    r"""write|["'][wax]b?\+?["']|os\.replace|remove|rename|unlink|shutil|subprocess|system|terminal"""
)
"""Signs of a program that changes files by other means than Hermes' tools."""
_NAME = re.compile(r"[\w.-]+")
_STORED = "<stored program>"
# Python 3.12 prints a warning for an escape like `\d` in what it parses.
warnings.filterwarnings("ignore", module=_STORED)


def _commands(line: str) -> Iterator[list[str]]:
    """Yield the simple commands of a shell line as words; all words after an empty one if it cannot
    be split."""
    line = _COMMENT.sub(lambda part: "" if part[0].startswith("#") else part[0], line)
    lexer = shlex.shlex(line.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer) if len(line) < _LONGEST else ["", *_WORDS.split(line)]
    except ValueError:  # a quote that is not closed, such as in a text for standard input
        words = ["", *_WORDS.split(line)]
    for is_operator, command in groupby(words, lambda word: bool(_OPERATOR.fullmatch(word))):
        if not is_operator:  # a variable for this command is left out
            yield list(dropwhile(lambda word: "=" in word.partition("/")[0], command))


def may_change_files(line: str) -> bool:
    """Whether a shell line may have changed files: all do that are not known to only read."""
    return bool(_SUBSTITUTION.search(line)) or any(map(_changes, _commands(line)))


def _changes(words: list[str]) -> bool:
    return bool(words) and (not _READER.match(" ".join(words)) or bool(_targets(words)))


def written_names(line: str) -> set[str]:
    """Return the names that a shell line surely names to change them, without the folders above:
    of files and folders, with wildcards."""
    return {
        "*" if name in (".", "..") else posixpath.basename(name.rpartition("=")[2].rstrip("/"))
        for words in filter(None, _commands(line))
        for name in _written(words)
    }


def _written(words: list[str]) -> list[str]:
    """Return the words of a simple command that changes files, else where its output goes."""
    text = " ".join("'" if " " in word else word for word in words)  # a message is no command
    is_writer = not words[0] or (_WRITER.search(text) and not _READER.match(text))
    return [*words, *" ".join(words).split()] if is_writer else _targets(words)


def moved_to(line: str) -> str | None:
    """Return where a shell line goes last, as far as it says so; None if it stays."""
    if not any(move in line for move in _MOVES):
        return None
    moves = [words[1:] for words in filter(None, _commands(line)) if words[0] in _MOVES]
    return next(iter(moves[-1]), "~") if moves else None


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
