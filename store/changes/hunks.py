"""Parse the diff in the result of Hermes' `patch` tool (0.14 to 0.19).

Hermes joins the lines of `difflib.unified_diff`, which may be any that `str.splitlines` separates.
A last line without a line end stands on one line with what follows. The diffs of several files are
joined by a line end, with or without one before it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_MOVED = re.compile(r"# Moved: (.+?) -> (.+?)\n?")
_DELETED = re.compile(r"# Deleted: (.+?)\n?")
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

    @property
    def context_below(self) -> int:
        """How many unchanged lines it ends with."""
        signs = [sign for sign, _text in self.lines]
        return next((n for n, sign in enumerate(reversed(signs)) if sign != " "), len(signs))


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
    return _DiffReader(diff.splitlines(keepends=True)).files()


def _path(line: str) -> str:
    """Return the path in a header of a diff; empty for a file that is not there."""
    name = line[4:].rstrip("\r\n")
    return "" if name == _NOTHING else name[2:]


class _DiffReader:
    """Parses the lines of a diff, first to last."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def _peek(self) -> str:
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _next(self) -> str:
        line = self._peek()
        self._at += 1
        return line

    def files(self) -> list[FileDiff]:
        files: list[FileDiff] = []
        while self._at < len(self._lines):
            if self._peek() == "\n":  # between the diffs of two files
                self._at += 1
                continue
            files.append(self._file())
        return files

    def _file(self) -> FileDiff:
        line = self._next()
        if moved := _MOVED.fullmatch(line):
            return FileDiff(moved[1], moved[2])
        if deleted := _DELETED.fullmatch(line):
            return FileDiff(deleted[1], "")
        below = self._next()
        if not line.startswith("--- ") or not below.startswith("+++ "):
            raise DiffError(line[:80])
        before, after = _path(line), _path(below)
        if not before:
            return FileDiff("", after, text=self._new_text())
        hunks: list[Hunk] = []
        while self._peek().startswith("@@ "):
            hunks.append(self._hunk())
        if hunks and self._is_file_next():
            hunks[-1] = _without_last_end(hunks[-1])
        return FileDiff(before, after, tuple(hunks))

    def _is_file_next(self) -> bool:
        """Whether the next diff follows at once, so that the last line end only separates the
        two."""
        return self._peek().startswith(("--- ", "# Moved: ", "# Deleted: "))

    def _new_text(self) -> str:
        """Return the text of a new file; Hermes joins its lines without an end after the last."""
        lines: list[str] = []
        while self._peek().startswith("+"):
            lines.append(self._next()[1:])
        text = "".join(lines)
        return text.removesuffix("\n") if self._peek() else text

    def _hunk(self) -> Hunk:
        header = _HUNK.match(self._next())
        if header is None:
            raise DiffError("hunk")
        start = int(header[1])
        old, new = (int(number or "1") for number in (header[2], header[4]))
        lines: list[tuple[str, str]] = []
        place = start if not old else start - 1
        if place < 0:
            raise DiffError("start")
        while old or new:
            line = self._peek()
            sign = line[:1]
            if sign not in (" ", "-", "+") or not line:
                if (old, new) != (0, 1):
                    raise DiffError("counts")
                return Hunk(place, _split_joined(lines))
            self._at += 1
            old -= sign != "+"
            new -= sign != "-"
            if old < 0 or new < 0:
                raise DiffError("counts")
            lines.append((sign, line[1:]))
        return Hunk(place, tuple(lines))


def _split_joined(lines: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Separate the last deleted line, which has no line end, from the added one behind it."""
    last = max((at for at, (sign, _text) in enumerate(lines) if sign == "-"), default=-1)
    if last < 0 or lines[last][1].count("+") != 1:
        raise DiffError("last line")
    deleted, _plus, added = lines[last][1].partition("+")
    return (*lines[:last], ("-", deleted), ("+", added), *lines[last + 1 :])


def _without_last_end(hunk: Hunk) -> Hunk:
    sign, text = hunk.lines[-1]
    return hunk._replace(lines=(*hunk.lines[:-1], (sign, text.removesuffix("\n"))))
