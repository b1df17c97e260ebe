"""Which shell lines may have changed files, which files they name, and where they go."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from itertools import dropwhile, groupby, pairwise

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
"""Characters of the longest line that is split as a shell does: the time grows with their square."""
_OPERATOR = re.compile(r"[;&|()]+")
_WORDS = re.compile(r"[\s;&|()<>'\"]+")
"""What separates words, where it is not known which are quoted."""


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
