"""One unified diff of all edits of a file, with the message behind each line.

Lines are the same if no edit touched them, not if their texts are equal: between the edits the
texts may not be known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
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


def can_be_applied(version: EditedFile) -> bool:
    """Whether all lines end as they do for Git: with a line feed, except the last."""
    texts = [line.text for lines in (version.before, version.lines) for line in lines[:-1]]
    return all(text is None or text.endswith("\n") for text in texts)


def relative(path: str, directory: str) -> str:
    """Return a path relative to a directory if it lies below that, else the whole path."""
    return path.removeprefix(directory.rstrip("/") + "/")


def unified_diff(version: EditedFile, before: str, after: str) -> Iterator[DiffLine]:
    """Yield the diff of a file, as `git apply` takes it; nothing if there is no change.

    Args:
        version: The file.
        before: Its path before the first edit, without a slash ahead.
        after: Its path after the last, likewise.
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
    hunks = list(_hunks(_compare(version)))
    if hunks:
        headers += [f"--- {old}\n", f"+++ {new}\n"]
    if len(headers) > 1:
        yield from map(DiffLine, headers)
        yield from hunks


def _quoted(path: str) -> str:
    """Return a path as Git writes it: quoted, with escapes, if it has signs that would mislead."""
    escaped = _QUOTED.sub(lambda sign: b"\\%03o" % ord(sign[0]), path.encode()).decode()
    return path if escaped == path and " " not in path else f'"{escaped}"'


def _compare(version: EditedFile) -> list[SignedLine]:
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


def _hunks(lines: Sequence[SignedLine]) -> Iterator[DiffLine]:
    """Yield the changes with the lines around them, as far as these are known; changes that are
    near each other share a hunk."""
    changed = [at for at, (sign, _line) in enumerate(lines) if sign != " "]
    near = {place for at in changed for place in range(at - _CONTEXT, at + _CONTEXT + 1)}
    is_shown = [at in near and line.text is not None for at, (_sign, line) in enumerate(lines)]
    old = new = 0
    for shown, group in groupby(zip(is_shown, lines, strict=True), key=itemgetter(0)):
        hunk = [line for _shown, line in group]
        removed = sum(sign != "+" for sign, _line in hunk)
        added = sum(sign != "-" for sign, _line in hunk)
        if shown:
            yield DiffLine(f"@@ -{_range(old, removed)} +{_range(new, added)} @@\n")
            for line in hunk:
                yield from _printed(*line)
        old += removed
        new += added


def _range(start: int, count: int) -> str:
    return f"{start + (count > 0)},{count}"


def _printed(sign: str, line: Line) -> Iterator[DiffLine]:
    edit = {"+": line.added_by, "-": line.removed_by}.get(sign)
    text = f"{sign}{line.text}"
    yield DiffLine(text.removesuffix("\n") + "\n", edit and edit.message_id)
    if not text.endswith("\n"):
        yield DiffLine("\\ No newline at end of file\n")
