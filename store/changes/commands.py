"""Which shell lines may have changed files, which files they name, and where they go."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

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
