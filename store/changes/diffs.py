"""Diffs of files: those in the results of `patch` are read, and one of all edits of a file is
written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from operator import is_not
from typing import NamedTuple

from .edited_file import ABSENT, Hunk, Line, SignedLine, Version, signed, split, whole

_NOTHING = "/dev/null"
"""The path in a header for a file that is not there."""

# The diff in a result

_LAST_LINE = 500_000
"""A hunk that begins beyond that is taken for damage."""
_MOVED = re.compile(r"^# Moved: (.+?) -> ", re.MULTILINE)
_DELETED = re.compile(r"^# Deleted: (.+)", re.MULTILINE)
_FILE = re.compile(
    r"^--- (?:a/)?(.+)\n\+\+\+ (?:b/)?(.+)\n((?:(?!--- .+\n\+\+\+ ).*\n)*)", re.MULTILINE
)
_JOINED = re.compile("[-+][^+]*")
"""A line of two signed lines."""
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@\n((?:[ +-].*\n?)*)", re.MULTILINE)


FileDiff = tuple[str, str, list[Hunk] | str]
"""What a diff says of one file: its paths before and after, and what changed, or the whole text of
one that the tool calls new."""


def parse_diff(diff: str) -> list[FileDiff]:
    """Parse the diff in the result of `patch`.

    Hermes joins the lines of `difflib.unified_diff`. A last line without a line end stands on one
    line with what follows. The diffs of several files are joined by a line end, with or without one
    before it.

    Raises:
        ValueError: It is none of Hermes', or is ambiguous.
    """
    diff = _MOVED.sub(r"--- a/\1\n+++ b/", f"{diff}\n")
    diff = _DELETED.sub(rf"--- a/\1\n+++ {_NOTHING}", diff)
    return [_file_diff(*part) for part in _parts(_FILE, diff)]


def _file_diff(before: str, after: str, body: str) -> FileDiff:
    if before == _NOTHING:  # no head stands above the lines of a new file
        return after, after, "".join(line[1:] for line in split(body.rstrip("\n")))
    hunks = [_hunk(*part) for part in _parts(_HUNK, body.removesuffix("\n"))]
    if after == _NOTHING:
        after, hunks = before, hunks or [whole("")]
        hunks[-1].lines.append(f"+{ABSENT}")
    return before, after, hunks


def _parts(known: re.Pattern[str], text: str) -> list[tuple[str, ...]]:
    """Return the groups of each match; raise ValueError if a text has other lines, but empty
    ones."""
    if known.sub("", text).strip("\n"):
        raise ValueError(text)
    return known.findall(text)


def _hunk(first: str, old: str, new: str, text: str) -> Hunk:
    lines = split(text)
    counts = int(old or 1), int(new or 1)
    if _counts(_signs(lines)) != counts:
        # The last deleted line may have no end, and the added one stand behind it.
        last = _signs(lines).rfind("-")
        lines[last : last + 1] = _JOINED.findall("".join(lines[last : last + 1]))
    signs = _signs(lines)
    start = int(first) - (counts[0] > 0)
    if _counts(signs) != counts or not 0 <= start <= _LAST_LINE:
        raise ValueError(text)
    # Three unchanged lines follow a change in a diff of `difflib`, fewer at the end of the file.
    return Hunk(start, lines, is_end=not signs.endswith("   "))


def _signs(lines: Iterable[str]) -> str:
    return "".join([line[0] for line in lines])


def _counts(signs: str) -> tuple[int, int]:
    """Return how many lines there are before and after a change."""
    return len(signs) - signs.count("+"), len(signs) - signs.count("-")


# One diff of all edits, with the message behind each line. Lines are the same if no edit touched
# them, not if their texts are equal: between the edits the texts may not be known.

_UNKNOWN = "?"
"""The sign of a line whose text is not known."""
_NEAR = re.compile(" {0,3}[+-](?: {0,6}[+-])* {0,3}")
"""Of the signs of all lines, those of a hunk: changes, the known ones of the three lines around
them, and what is between those."""
_QUOTED = re.compile(rb"[^ !#-\[\]-~]")


class DiffLine(NamedTuple):
    """A line of a diff."""

    text: str
    """The whole line, with its sign."""
    message_id: int | None = None
    """The message whose edit added or removed it; for other lines that of the change above in the
    same hunk, or else of the first one below. None for those ahead of the hunks."""


def unified_diff(version: Version, before: str, after: str) -> Iterator[DiffLine]:
    """Yield the diff of a file, as `git apply` takes it; nothing if there is no change.

    Args:
        version: The file.
        before: Its path before the first edit, without a slash ahead.
        after: Its path after the last, likewise.
    """
    lines = list(_compare(version))
    signs_of_absent = {sign for sign, line in lines if line.text == ABSENT}
    was_absent, is_absent = "-" in signs_of_absent, "+" in signs_of_absent
    # One name in the head, if there is no file on the other side.
    old = quoted(f"a/{after if was_absent else before}")
    new = quoted(f"b/{before if is_absent else after}")
    headers = [f"diff --git {old} {new}"]
    if was_absent:
        headers.append("new file mode 100644")
        old = _NOTHING
    elif is_absent:
        headers.append("deleted file mode 100644")
        new = _NOTHING
    elif before != after:
        headers += [f"rename from {quoted(before)}", f"rename to {quoted(after)}"]
    hunks = list(_diff_hunks([(sign, line) for sign, line in lines if line.text != ABSENT]))
    if hunks:
        headers += [f"--- {old}", f"+++ {new}"]
    if len(headers) > 1:
        yield from (DiffLine(f"{header}\n") for header in headers)
        yield from hunks


def quoted(path: str) -> str:
    """Return a path as Git writes it: quoted, with escapes, if it has signs that would mislead."""
    escaped = _QUOTED.sub(
        lambda sign: b"\\%03o" % ord(sign[0]), path.encode("utf-8", "replace")
    ).decode()
    return path if escaped == path and " " not in path else f'"{escaped}"'


def _compare(version: Version) -> Iterator[SignedLine]:
    """Compare a file before and after its edits. What edits took back again is unchanged."""
    end = Line(None)
    present = iter([*version.lines, end])
    removed: list[Line] = []
    for line in [*version.before, end]:
        if line.removed_by is not None:
            removed.append(line)
        else:
            added = list(takewhile(partial(is_not, line), present))
            if added or removed:
                yield from signed(removed, added)
                removed = []
            yield " ", line


def _diff_hunks(lines: Sequence[SignedLine]) -> Iterator[DiffLine]:
    """Yield the changes with the lines around them, as far as these are known; changes that are
    near each other share a hunk."""
    signs = "".join([sign if line.text is not None else _UNKNOWN for sign, line in lines])
    for near in _NEAR.finditer(signs):
        start, end = near.span()
        (old, new), (removed, added) = _counts(signs[:start]), _counts(near[0])
        ranges = f"-{old + (removed > 0)},{removed} +{new + (added > 0)},{added}"
        hunk = lines[start:end]
        edits = [line.removed_by if sign == "-" else line.added_by for sign, line in hunk]
        message_id = next(edit.message_id for edit in edits if edit is not None)
        yield DiffLine(f"@@ {ranges} @@\n", message_id)
        for (sign, line), edit in zip(hunk, edits, strict=True):
            if edit is not None:
                message_id = edit.message_id
            text, line_end, _rest = f"{sign}{line.text}".partition("\n")
            yield DiffLine(f"{text}\n", message_id)
            if not line_end:
                yield DiffLine("\\ No newline at end of file\n", message_id)
