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
_WHOLE = re.compile(r"# (?:Moved: (?P<moved>.+?) -> (?P<to>.+?)|Deleted: (?P<deleted>.+?))\n?")
_LAST_LINE = 500_000
"""A hunk that begins beyond that is taken for damage."""


class Hunk(NamedTuple):
    """A part of a diff."""

    start: int
    """Index of its first line in the file before."""
    lines: list[str]
    """With their ends, each behind its sign: blank, minus or plus."""


class FileDiff(NamedTuple):
    """What a diff says of one file."""

    before: str
    """Its path; empty for a file that the tool calls new."""
    after: str
    """Its path; empty if it was deleted."""
    hunks: list[Hunk]
    """Of a new file one with all its lines."""


def parse_diff(diff: str) -> list[FileDiff]:
    """Parse the diff of a result.

    Raises:
        ValueError: It is none of Hermes', or is ambiguous.
    """
    lines = deque([*diff.splitlines(keepends=True), ""])
    files: list[FileDiff] = []
    while line := lines.popleft():
        if whole := _WHOLE.fullmatch(line):
            files.append(FileDiff(whole["moved"] or whole["deleted"], whole["to"] or "", []))
        elif line.startswith("--- ") and lines[0].startswith("+++ "):
            files.append(_file(_path(line), _path(lines.popleft()), lines))
        elif line != "\n":  # between the diffs of two files
            raise ValueError(line)
    return files


def _path(line: str) -> str:
    """Return the path in a header of a diff; empty for a file that is not there."""
    name = line[4:].rstrip("\r\n")
    return "" if name == "/dev/null" else name[2:]


def _file(before: str, after: str, lines: deque[str]) -> FileDiff:
    hunks: list[Hunk] = []
    if not before:
        hunks.append(Hunk(0, []))
        while lines[0].startswith("+"):
            hunks[0].lines.append(lines.popleft())
    while before and lines[0].startswith("@@ "):
        hunks.append(_hunk(lines))
    told = hunks[-1].lines if hunks else []
    # The last line end only separates two files; a new file has none, so any separates.
    ends = ("", "\n") if before else ("",)
    if told and lines[0] not in ends:
        told.append(told.pop().removesuffix("\n"))
    return FileDiff(before, after, hunks)


def _hunk(lines: deque[str]) -> Hunk:
    header = _HUNK.match(lines.popleft())
    if header is None:
        raise ValueError("hunk")
    old, new = int(header[2] or "1"), int(header[3] or "1")
    hunk = Hunk(int(header[1]) - (old > 0), [])
    while old > 0 or new > 0:
        if not lines[0].startswith((" ", "-", "+")):
            _split_joined(hunk.lines)
            new -= 1
            break
        line = lines.popleft()
        hunk.lines.append(line)
        old -= not line.startswith("+")
        new -= not line.startswith("-")
    if old or new or not 0 <= hunk.start <= _LAST_LINE:
        raise ValueError("counts")
    return hunk


def _split_joined(lines: list[str]) -> None:
    """Separate the last deleted line, which has no line end, from the added one behind it."""
    last = "".join(line[0] for line in lines).rfind("-")
    if last < 0 or lines[last].count("+") != 1:
        raise ValueError("last line")
    deleted, _plus, added = lines[last].partition("+")
    lines[last : last + 1] = deleted, f"+{added}"
