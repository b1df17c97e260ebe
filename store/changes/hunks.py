"""Parse the diff in the result of Hermes' `patch` tool (0.14 to 0.19).

Hermes joins the lines of `difflib.unified_diff`, which may be any that `str.splitlines` separates.
A last line without a line end stands on one line with what follows. The diffs of several files are
joined by a line end, with or without one before it.
"""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_MOVED = re.compile(r"# Moved: (.+?) -> (.+?)\n?")
_DELETED = re.compile(r"# Deleted: (.+?)\n?")
_NEXT_FILE = ("--- ", "# Moved: ", "# Deleted: ")
_NOTHING = "/dev/null"


class DiffError(ValueError):
    """A diff that cannot be read without a guess."""


class Hunk(NamedTuple):
    """A part of a diff: lines with their ends, each with its sign: blank, minus or plus."""

    start: int
    """Index of its first line in the file before."""
    lines: tuple[tuple[str, str], ...]

    @property
    def before(self) -> list[str]:
        """The lines before the edit."""
        return [text for sign, text in self.lines if sign != "+"]


class FileDiff(NamedTuple):
    """What a diff says of one file."""

    before: str
    """Its path; empty for a file that the tool calls new."""
    after: str
    """Its path; empty if it was deleted."""
    hunks: tuple[Hunk, ...] = ()
    text: str = ""
    """The whole text of a new file."""


def parse_diff(diff: str) -> list[FileDiff]:
    """Parse the diff of a result.

    Raises:
        DiffError: It is none of Hermes', or is ambiguous.
    """
    lines = deque(diff.splitlines(keepends=True))
    files: list[FileDiff] = []
    while lines:
        if lines[0] == "\n":  # between the diffs of two files
            lines.popleft()
        else:
            files.append(_file(lines))
    return files


def _peek(lines: deque[str]) -> str:
    return lines[0] if lines else ""


def _path(line: str) -> str:
    """Return the path in a header of a diff; empty for a file that is not there."""
    name = line[4:].rstrip("\r\n")
    return "" if name == _NOTHING else name[2:]


def _file(lines: deque[str]) -> FileDiff:
    line = lines.popleft()
    if moved := _MOVED.fullmatch(line):
        return FileDiff(moved[1], moved[2])
    if deleted := _DELETED.fullmatch(line):
        return FileDiff(deleted[1], "")
    if not (line.startswith("--- ") and _peek(lines).startswith("+++ ")):
        raise DiffError(line[:80])
    before, after = _path(line), _path(lines.popleft())
    if not before:
        return FileDiff("", after, text=_new_text(lines))
    hunks: list[Hunk] = []
    while _peek(lines).startswith("@@ "):
        hunks.append(_hunk(lines))
    if hunks and _peek(lines).startswith(_NEXT_FILE):  # the last line end only separates the two
        *above, (sign, text) = hunks[-1].lines
        hunks[-1] = hunks[-1]._replace(lines=(*above, (sign, text.removesuffix("\n"))))
    return FileDiff(before, after, tuple(hunks))


def _new_text(lines: deque[str]) -> str:
    """Return the text of a new file; Hermes joins its lines without an end after the last."""
    text = ""
    while _peek(lines).startswith("+"):
        text += lines.popleft()[1:]
    return text.removesuffix("\n") if lines else text


def _hunk(lines: deque[str]) -> Hunk:
    header = _HUNK.match(lines.popleft())
    if header is None:
        raise DiffError("hunk")
    old, new = int(header[2] or "1"), int(header[3] or "1")
    start = int(header[1]) - (old > 0)
    signed: list[tuple[str, str]] = []
    while old > 0 or new > 0:
        sign, text = _peek(lines)[:1], _peek(lines)[1:]
        if sign not in {" ", "-", "+"}:
            if (old, new) != (0, 1):
                raise DiffError("counts")
            return Hunk(start, _split_joined(signed))
        lines.popleft()
        signed.append((sign, text))
        old -= sign != "+"
        new -= sign != "-"
    if min(start, old, new) < 0:
        raise DiffError("counts")
    return Hunk(start, tuple(signed))


def _split_joined(lines: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Separate the last deleted line, which has no line end, from the added one behind it."""
    last = max((at for at, (sign, _text) in enumerate(lines) if sign == "-"), default=-1)
    if last < 0 or lines[last][1].count("+") != 1:
        raise DiffError("last line")
    deleted, _plus, added = lines[last][1].partition("+")
    return (*lines[:last], ("-", deleted), ("+", added), *lines[last + 1 :])
