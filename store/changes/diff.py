"""One unified diff of all edits of a file, with the message behind each line.

`difflib` needs both texts whole; here the lines between the edits may not be known, and each keeps
the edit it comes from.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import NamedTuple

from .document import EditedFile, Line

_CONTEXT = 3
_NO_END = "\\ No newline at end of file\n"
_NOTHING = "/dev/null"
_OTHER_ENDS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""What ends a line for Python and not for Git."""


class DiffLine(NamedTuple):
    """A line of a diff."""

    kind: str
    """`header`, `hunk`, `context`, `added`, `removed` or `note`."""
    text: str
    """The whole line, with its sign."""
    message_id: int | None = None
    """The message whose edit added or removed it."""


_KINDS = {" ": "context", "+": "added", "-": "removed"}


def net_lines(document: EditedFile) -> list[Line]:
    """Return the lines of a document without what edits took back again: a line that was deleted
    and added anew is unchanged."""
    lines: list[Line] = []
    removed: list[Line] = []
    added: list[Line] = []
    for line in document.lines():
        if line.sign == " ":
            lines += _net_change(removed, added)
            removed, added = [], []
            lines.append(line)
        else:
            (added if line.sign == "+" else removed).append(line)
    return lines + _net_change(removed, added)


def _net_change(removed: Sequence[Line], added: Sequence[Line]) -> list[Line]:
    if not (removed and added):
        return [*removed, *added]
    old, new = [line.text for line in removed], [line.text for line in added]
    lines: list[Line] = []
    for tag, start, end, new_start, new_end in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            lines += (Line(" ", text) for text in old[start:end])
        else:
            lines += [*removed[start:end], *added[new_start:new_end]]
    return lines


def count_changes(lines: Sequence[Line]) -> tuple[int, int]:
    """Count the lines that edits added, and those they removed."""
    signs = [line.sign for line in lines if line.edit is not None]
    return signs.count("+"), signs.count("-")


def can_be_applied(lines: Sequence[Line]) -> bool:
    """Whether all changed lines are known, and lines end as they do for Git: with a line feed,
    except the last."""
    if any(line.text is None and line.sign != " " for line in lines):
        return False
    return all(_ends_plainly([line for line in lines if line.sign != sign]) for sign in "+-")


def _ends_plainly(lines: Sequence[Line]) -> bool:
    texts = [line.text for line in lines if line.text is not None]
    is_last_one = texts[-1:] == ["".join(texts[-1:]).strip(_OTHER_ENDS)]
    return all(text.endswith("\n") for text in texts[:-1]) and (not texts or is_last_one)


def relative(path: str, directory: str) -> str:
    """Return a path relative to a directory, if it lies below that; else without its first
    slash."""
    if directory and path.startswith(directory.rstrip("/") + "/"):
        return os.path.relpath(path, directory)
    return path.lstrip("/")


def unified_diff(
    document: EditedFile, lines: Sequence[Line], before: str, after: str
) -> Iterator[DiffLine]:
    """Yield the diff of a file, as `git apply` takes it; nothing if there is no change.

    Args:
        document: The file.
        lines: Its `net_lines`.
        before: Its path before the first edit.
        after: Its path after the last.
    """
    hunks = list(_hunks(lines))
    is_new = document.was_absent and document.exists
    is_gone = not document.exists and not document.was_absent
    if not (hunks or is_new or is_gone or before != after):
        return
    yield DiffLine("header", f"diff --git {_quoted('a/' + before)} {_quoted('b/' + after)}\n")
    if is_new:
        yield DiffLine("header", "new file mode 100644\n")
    elif is_gone:
        yield DiffLine("header", "deleted file mode 100644\n")
    elif before != after:
        yield DiffLine("header", f"rename from {_quoted(before)}\n")
        yield DiffLine("header", f"rename to {_quoted(after)}\n")
    if not hunks:
        return
    yield DiffLine("header", f"--- {_NOTHING if is_new else _quoted('a/' + before)}\n")
    yield DiffLine("header", f"+++ {_NOTHING if is_gone else _quoted('b/' + after)}\n")
    for hunk in hunks:
        yield from hunk


def _quoted(path: str) -> str:
    """Return a path as Git writes it: quoted, with escapes, if it has signs that would mislead."""
    if all(" " < letter <= "~" and letter not in '"\\' for letter in path):
        return path
    escaped = [chr(byte) if 0x20 <= byte <= 0x7E else f"\\{byte:03o}" for byte in path.encode()]
    return '"' + "".join(f"\\{each}" if each in '"\\' else each for each in escaped) + '"'


def _hunks(lines: Sequence[Line]) -> Iterator[list[DiffLine]]:
    """Yield the hunks: the changes with the lines around them, as far as these are known."""
    old = list(accumulate((line.sign != "+" for line in lines), initial=0))
    new = list(accumulate((line.sign != "-" for line in lines), initial=0))
    start = 0
    for start, end in _ranges(lines):
        part = lines[start:end]
        old_count, new_count = old[end] - old[start], new[end] - new[start]
        old_start = old[start] + (old_count > 0)
        new_start = new[start] + (new_count > 0)
        header = f"@@ -{old_start},{old_count} +{new_start},{new_count} @@\n"
        yield [DiffLine("hunk", header), *_printed(part)]


def _ranges(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Yield where hunks begin and end; changes that are near each other share one."""
    begin = end = -1
    for at, line in enumerate(lines):
        if line.sign == " ":
            continue
        first, last = _known_around(lines, at)
        if begin >= 0 and first > end:
            yield begin, end
            begin = -1
        begin = first if begin < 0 else begin
        end = last
    if begin >= 0:
        yield begin, end


def _known_around(lines: Sequence[Line], at: int) -> tuple[int, int]:
    """Return where the known context of a changed line begins and ends."""
    first, last = at, at + 1
    while first > 0 and at - first < _CONTEXT and lines[first - 1].text is not None:
        first -= 1
    while last < len(lines) and last - at <= _CONTEXT and lines[last].text is not None:
        last += 1
    return first, last


def _printed(lines: Sequence[Line]) -> Iterator[DiffLine]:
    for line in lines:
        message_id = line.edit.message_id if line.edit is not None else None
        text = f"{line.sign}{line.text}"
        if text.endswith("\n"):
            yield DiffLine(_KINDS[line.sign], text, message_id)
        else:
            yield DiffLine(_KINDS[line.sign], f"{text}\n", message_id)
            yield DiffLine("note", _NO_END)
