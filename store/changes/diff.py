"""One unified diff of all edits of a file, with the message behind each line.

Lines are the same if no edit touched them, not if their texts are equal: between the edits the
texts may not be known.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import accumulate, takewhile
from operator import is_not
from typing import NamedTuple

from .edited_file import EditedFile, Line

_CONTEXT = 3
_NO_END = "\\ No newline at end of file\n"
_NOTHING = "/dev/null"

SignedLine = tuple[str, Line]
"""A line of a diff: blank if it is in both versions, minus or plus."""


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
        removed = list(takewhile(partial(is_not, line), before))
        if removed or added:
            lines += _changed(removed, added)
            added = []
        lines.append((" ", line))
    return [*lines, *_changed(list(before), added)]


def _changed(removed: Sequence[Line], added: Sequence[Line]) -> Iterator[SignedLine]:
    old, new = [line.text for line in removed], [line.text for line in added]
    for tag, start, end, new_start, new_end in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            yield from ((" ", line) for line in removed[start:end])
            continue
        yield from (("-", line) for line in removed[start:end])
        yield from (("+", line) for line in added[new_start:new_end])


def can_be_applied(lines: Sequence[SignedLine]) -> bool:
    """Whether all changed lines are known, and lines end as they do for Git: with a line feed,
    except the last."""
    if any(line.text is None and sign != " " for sign, line in lines):
        return False
    versions = ([line.text for sign, line in lines if sign != other] for other in "+-")
    return all(text is None or text.endswith("\n") for version in versions for text in version[:-1])


def relative(path: str, directory: str) -> str:
    """Return a path relative to a directory, if it lies below that; else without its first
    slash."""
    if directory and path.startswith(directory.rstrip("/") + "/"):
        return os.path.relpath(path, directory)
    return path.lstrip("/")


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
    hunks = _hunks(lines)
    if hunks:
        headers += [f"--- {old}\n", f"+++ {new}\n"]
    if len(headers) > 1:
        yield from map(DiffLine, headers)
        numbers = [
            list(accumulate((sign != other for sign, _line in lines), initial=0)) for other in "+-"
        ]
        for start, end in hunks:
            (old_start, old_end), (new_start, new_end) = ((at[start], at[end]) for at in numbers)
            ranges = _range(old_start, old_end), _range(new_start, new_end)
            yield DiffLine("@@ -{} +{} @@\n".format(*ranges))
            for line in lines[start:end]:
                yield from _printed(*line)


def _quoted(path: str) -> str:
    """Return a path as Git writes it: quoted, with escapes, if it has signs that would mislead."""
    if all(" " < letter <= "~" and letter not in '"\\' for letter in path):
        return path
    signs = (
        f"\\{byte:03o}" if not 0x20 <= byte <= 0x7E or chr(byte) in '"\\' else chr(byte)
        for byte in path.encode()
    )
    return f'"{"".join(signs)}"'


def _hunks(lines: Sequence[SignedLine]) -> list[tuple[int, int]]:
    """Return where hunks begin and end; changes that are near each other share one."""
    hunks: list[tuple[int, int]] = []
    for place, (sign, _line) in enumerate(lines):
        if sign == " ":
            continue
        above, below = (
            lines[max(0, place - _CONTEXT) : place],
            lines[place + 1 : place + 1 + _CONTEXT],
        )
        start = place - len(list(takewhile(_is_known, reversed(above))))
        end = place + 1 + len(list(takewhile(_is_known, below)))
        if hunks and start <= hunks[-1][1]:
            start, _end = hunks.pop()
        hunks.append((start, end))
    return hunks


def _is_known(signed: SignedLine) -> bool:
    return signed[1].text is not None


def _range(start: int, end: int) -> str:
    return f"{start + (end > start)},{end - start}"


def _printed(sign: str, line: Line) -> Iterator[DiffLine]:
    edit = {"+": line.added_by, "-": line.removed_by}.get(sign)
    message_id = edit.message_id if edit is not None else None
    text = f"{sign}{line.text or ''}"
    yield DiffLine(text.removesuffix("\n") + "\n", message_id)
    if not text.endswith("\n"):
        yield DiffLine(_NO_END)
