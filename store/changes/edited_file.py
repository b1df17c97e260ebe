"""The text of a file as edits leave it: which lines were there before, and which edit added the
others.

Lines end where `str.splitlines` says, as in the diffs of Hermes' tools. What was never read stays
unknown: maybe only the lines around the edits are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

_CONTEXT = "   "
"""Signs of the unchanged lines after a change in a diff of `difflib`; fewer at the end of the
file."""


class Hunk(NamedTuple):
    """A part of a diff."""

    start: int
    """Index of its first line in the file before."""
    lines: list[str]
    """With their ends, each behind its sign: blank, minus or plus."""


class Edit(NamedTuple):
    """One change of one file by a tool call."""

    message_id: int
    session_id: str
    tool: str
    at: float | None
    ok: bool = True
    """Whether its result is stored, and says that it was done."""


@dataclass(slots=True, eq=False)
class Line:
    """A line of a file."""

    text: str | None
    """With its end; None if it is not known."""
    added_by: Edit | None = None
    """None for a line from before the first edit."""
    removed_by: Edit | None = None
    is_copied: bool = False
    """Whether the model had been shown an added line, so that somebody else may have written it."""


SignedLine = tuple[str, Line]
"""A line of a diff: blank if it is in both versions, minus or plus."""


def signed(old: Sequence[Line], new: Sequence[Line]) -> Iterator[SignedLine]:
    """Compare lines by their texts; yield those that stay as they were in the old version."""
    old_texts, new_texts = [line.text for line in old], [line.text for line in new]
    matcher = SequenceMatcher(None, old_texts, new_texts)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            yield from ((" ", line) for line in old[start:end])
        else:
            yield from (("-", line) for line in old[start:end])
            yield from (("+", line) for line in new[new_start:new_end])


def split(text: str) -> list[str]:
    """Split a text into lines with their ends."""
    return text.splitlines(keepends=True)


def _content(line: str | None) -> str:
    return "".join((line or "").splitlines())


class EditedFile:
    """The text of a file through edits that fit each other.

    Methods that return a truth value change nothing that is known when they return False: what they
    say is not true of the file as it is known.
    """

    def __init__(self, shown: set[str]) -> None:
        self.shown = shown
        """Lines that the model was shown, without their ends."""
        self.before: list[Line] = []
        """Lines before the first edit, as many as edits reached."""
        self.lines: list[Line] = []
        """The lines as they stand."""
        self.is_known_before = True
        """Whether it is known what stood where edits changed it."""
        self.was_absent = False
        """Whether there was no such file before the first edit."""
        self.exists = True
        self._is_open = True
        """Whether more lines from before may follow."""

    def text(self) -> str | None:
        """Return the whole text; None if not every line is known."""
        texts = [line.text for line in self.lines if line.text is not None]
        return None if self._is_open or len(texts) < len(self.lines) else "".join(texts)

    def _fits(self, place: int, texts: Sequence[str], *, is_end: bool) -> bool:
        """Whether lines may have these texts, and be the last; that is known of them then."""
        end = place + len(texts)
        missing = end - len(self.lines)
        if not self.exists or (missing > 0 and not self._is_open) or (missing < 0 and is_end):
            return False
        unknown = [Line(None) for _line in range(missing)]
        self.before += unknown
        self.lines += unknown
        pairs = list(zip(self.lines[place:end], texts, strict=True))
        if any(line.text not in (None, text) for line, text in pairs):
            return False
        for line, text in pairs:
            line.text = text
        self._is_open = self._is_open and not is_end
        return True

    def read(self, text: str) -> bool:
        """The whole text was read."""
        return self._fits(0, split(text), is_end=True)

    def show(self, text: str) -> None:
        """The model was shown lines, of this file or about it."""
        self.shown |= set(text.splitlines()) - {_content(line.text) for line in self.lines}

    def miss(self) -> bool:
        """The file was looked for and not found."""
        if self._is_open and not self.lines:
            self.was_absent = True
            self.exists = self._is_open = False
        return not self.exists

    def write(self, text: str, edit: Edit) -> bool:
        """The whole text was written; lines that stay keep who wrote them."""
        if self.text() is None:
            self.is_known_before = False
            self.before, self.lines = [], []
        new = [self._added(line, edit) for line in split(text)]
        self._change(0, list(signed(self.lines, new)), edit)
        self._is_open, self.exists = False, True
        return True

    def _added(self, text: str, edit: Edit) -> Line:
        return Line(text, edit, is_copied=_content(text) in self.shown)

    def _change(self, start: int, lines: Sequence[SignedLine], edit: Edit) -> None:
        """Put the lines of a diff in the place of those that it is of."""
        for sign, line in lines:
            if sign == "-":
                line.removed_by = edit
        end = start + sum(sign != "+" for sign, _line in lines)
        self.lines[start:end] = [line for sign, line in lines if sign != "-"]

    def patch(self, hunks: Sequence[Hunk], edit: Edit) -> bool:
        """All hunks of a diff were applied."""
        if not all(map(self._takes, hunks)):
            return False
        for hunk in reversed(hunks):  # so that the places above stay
            old = iter(self.lines[hunk.start :])
            lines = [
                (line[0], self._added(line[1:], edit) if line.startswith("+") else next(old))
                for line in hunk.lines
            ]
            self._change(hunk.start, lines, edit)
        return True

    def _takes(self, hunk: Hunk) -> bool:
        """Whether the lines of a hunk may stand at its place."""
        before = [line[1:] for line in hunk.lines if not line.startswith("+")]
        signs = "".join(line[0] for line in hunk.lines)
        return self._fits(hunk.start, before, is_end=not signs.endswith(_CONTEXT))

    def replace(self, old: object, new: object, everywhere: bool, edit: Edit) -> bool:
        """A text was replaced by another, as the tool does where both stand there exactly."""
        if not (isinstance(old, str) and isinstance(new, str) and old):
            return False
        text = self.text() or ""
        count = text.count(old)
        if not count or (count > 1 and not everywhere):
            return False
        return self.write(text.replace(old, new), edit)

    def delete(self, text: str, edit: Edit) -> bool:
        """The file was deleted, and this was its whole text."""
        if not self.read(text):
            return False
        self._change(0, [("-", line) for line in self.lines], edit)
        self.exists = False
        return True


# One unified diff of all edits, with the message behind each line. Lines are the same if no edit
# touched them, not if their texts are equal: between the edits the texts may not be known.

_AROUND = 3
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
    near = {place for at in changed for place in range(at - _AROUND, at + _AROUND + 1)}
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
