"""One unified diff of all edits of a file, with the message behind each line.

Lines are the same if no edit touched them, not if their texts are equal: between the edits the
texts may not be known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from .edited_file import EditedFile, Line, SignedLine, signed

_CONTEXT = 3
_NOTHING = "/dev/null"
_QUOTED = re.compile(rb"[^ !#-\[\]-~]")


class DiffLine(NamedTuple):
    """A line of a diff."""

    text: str
    """The whole line, with its sign."""
    message_id: int | None = None
    """The message whose edit added or removed it."""


def compare(version: EditedFile) -> list[SignedLine]:
    """Compare a file before and after its edits. What edits took back again is unchanged."""
    lines: list[SignedLine] = []
    before = iter(version.before)
    added: list[Line] = []
    for line in version.lines:
        if line.added_by is not None:
            added.append(line)
            continue
        removed = list(iter(before.__next__, line))
        if removed or added:
            lines += signed(removed, added)
            added = []
        lines.append((" ", line))
    return [*lines, *signed(list(before), added)]


def can_be_applied(lines: Sequence[SignedLine]) -> bool:
    """Whether all lines end as they do for Git: with a line feed, except the last."""
    versions = ([line.text for sign, line in lines if sign != other] for other in "+-")
    return all(text is None or text.endswith("\n") for version in versions for text in version[:-1])


def relative(path: str, directory: str) -> str:
    """Return a path relative to a directory, if it lies below that; else without its first
    slash."""
    return path.removeprefix(directory.rstrip("/") + "/").lstrip("/")


def unified_diff(
    version: EditedFile, lines: Sequence[SignedLine], before: str, after: str
) -> Iterator[DiffLine]:
    """Yield the diff of a file, as `git apply` takes it; nothing if there is no change.

    Args:
        version: The file.
        lines: What `compare` returns for it.
        before: Its path before the first edit.
        after: Its path after the last.
    """
    old, new = _quoted(f"a/{before}"), _quoted(f"b/{after}")
    headers = [f"diff --git {old} {new}\n"]
    if version.was_absent and version.exists:
        headers.append("new file mode 100644\n")
        old = _NOTHING
    elif not (version.exists or version.was_absent):
        headers.append("deleted file mode 100644\n")
        new = _NOTHING
    elif before != after:
        headers += [f"rename from {_quoted(before)}\n", f"rename to {_quoted(after)}\n"]
    if any(sign != " " for sign, _line in lines):
        headers += [f"--- {old}\n", f"+++ {new}\n"]
    if len(headers) > 1:
        yield from map(DiffLine, headers)
        yield from _hunks(lines)


def _quoted(path: str) -> str:
    """Return a path as Git writes it: quoted, with escapes, if it has signs that would mislead."""
    escaped = _QUOTED.sub(lambda sign: b"\\%03o" % ord(sign[0]), path.encode()).decode()
    return path if escaped == path and " " not in path else f'"{escaped}"'


def _hunks(lines: Sequence[SignedLine]) -> Iterator[DiffLine]:
    """Yield the changes with the lines around them, as far as these are known; changes that are
    near each other share a hunk."""
    below = reversed(list(_are_near(reversed(lines))))
    is_shown = map(max, _are_near(lines), below)
    old = new = 0
    for shown, group in groupby(zip(is_shown, lines, strict=True), key=lambda pair: pair[0]):
        hunk = [line for _shown, line in group]
        removed = sum(sign != "+" for sign, _line in hunk)
        added = sum(sign != "-" for sign, _line in hunk)
        if shown:
            yield DiffLine(f"@@ -{_range(old, removed)} +{_range(new, added)} @@\n")
            for line in hunk:
                yield from _printed(*line)
        old += removed
        new += added


def _are_near(lines: Iterable[SignedLine]) -> Iterator[bool]:
    """Tell of each line whether a change is above it, at most three known lines away."""
    left = -1
    for sign, line in lines:
        left -= 1
        if sign != " ":
            left = _CONTEXT
        elif line.text is None:
            left = -1
        yield left >= 0


def _range(start: int, count: int) -> str:
    return f"{start + (count > 0)},{count}"


def _printed(sign: str, line: Line) -> Iterator[DiffLine]:
    edit = {"+": line.added_by, "-": line.removed_by}.get(sign)
    text = f"{sign}{line.text}"
    yield DiffLine(text.removesuffix("\n") + "\n", edit and edit.message_id)
    if not text.endswith("\n"):
        yield DiffLine("\\ No newline at end of file\n")
