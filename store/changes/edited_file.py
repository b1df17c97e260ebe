"""The text of a file as edits leave it: which lines were there before, and which edit added the
others.

Lines end as Git has them. What was never read stays unknown: maybe only the lines around the edits
are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from io import StringIO
from typing import NamedTuple


class Hunk(NamedTuple):
    """A part of a diff."""

    start: int
    """Index of its first line in the file before."""
    lines: list[str]
    """With their ends, each behind its sign: blank, minus or plus."""
    is_end: bool
    """Whether no line of the file follows."""


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


ABSENT = ""
"""No line has this text, as those of files have ends or are not empty."""
MISSING = Hunk(0, [f" {ABSENT}"], is_end=True)
"""That there is no such file."""


SignedLine = tuple[str, Line]
"""The sign of a line in a diff, and the line."""


def signed(old: Sequence[Line], new: Sequence[Line]) -> Iterator[SignedLine]:
    """Compare lines by their texts; yield each behind its sign in a diff. Those that stay are the
    old ones."""
    old_texts, new_texts = [line.text for line in old], [line.text for line in new]
    changes = SequenceMatcher(None, old_texts, new_texts).get_opcodes()
    for tag, start, end, new_start, new_end in changes:
        sign = " " if tag == "equal" else "-"
        yield from ((sign, line) for line in old[start:end])
        if sign == "-":
            yield from (("+", line) for line in new[new_start:new_end])


def split(text: str) -> list[str]:
    """Split a text into lines with their ends."""
    return StringIO(text).readlines()


def whole(text: str) -> Hunk:
    """Return the whole text of a file as a hunk that changes nothing."""
    return Hunk(0, [f" {line}" for line in split(text)], is_end=True)


@dataclass
class Version:
    """The text of a file through edits that fit each other; a file that is not there is one of
    the line `ABSENT`."""

    before: list[Line] = field(default_factory=list)
    """Lines before the first edit, as many as edits reached."""
    lines: list[Line] = field(default_factory=list)
    """The lines as they stand."""
    is_whole: bool = False
    """Whether no line follows those that were seen; not all texts may be known."""

    def text(self) -> str | None:
        """Return the whole text; None if not every line is known."""
        texts = [line.text for line in self.lines if line.text is not None]
        is_known = self.is_whole and len(texts) == len(self.lines)
        return "".join(texts) if is_known else None

    def patch(self, hunks: Sequence[Hunk], edit: Edit | None) -> bool:
        """Apply all hunks of a diff; change nothing that is known and return False if they do not
        fit. Without an edit they only say what stands there."""
        if not all(map(self._takes, hunks)):
            return False
        for hunk in reversed(hunks):  # so that the places above stay
            at = hunk.start
            for line in hunk.lines:
                if line[0] == "-":
                    self.lines.pop(at).removed_by = edit
                elif line[0] == "+":
                    self.lines.insert(at, Line(line[1:], edit))
                at += line[0] != "-"
        return True

    def _takes(self, hunk: Hunk) -> bool:
        """Whether the lines of a hunk may stand at its place; that is known of them then."""
        texts = [line[1:] for line in hunk.lines if line[0] != "+"]
        end = hunk.start + len(texts)
        missing = end - len(self.lines)
        is_longer = missing > 0 and self.is_whole
        is_shorter = missing < 0 and hunk.is_end
        known = zip(self.lines[hunk.start : end], texts, strict=False)
        is_other = any(line.text not in (None, text) for line, text in known)
        if is_longer or is_shorter or is_other:
            return False
        unknown = [Line(None) for _line in range(missing)]
        self.before += unknown
        self.lines += unknown
        for line, text in zip(self.lines[hunk.start : end], texts, strict=True):
            line.text = text
        self.is_whole |= hunk.is_end
        return True


@dataclass
class TrackedFile:
    """One file through its edits."""

    first_path: str
    """Another one than the present path if it was moved."""
    edits: list[Edit] = field(default_factory=list)
    versions: list[Version] = field(default_factory=lambda: [Version()])
    """Another one begins where it is not known what stood there."""
    is_certain: bool = True
    """Whether nothing else has changed it, as far as is known."""
    is_known_before: bool = True
    """Whether it is known what stood where edits changed it."""
    is_unclear: bool = False
    """Whether it is not known what an edit changed."""
    shown: object = None
    """The result of the last `read_file`, and the number of edits before it."""

    @property
    def last(self) -> Version:
        """Its last version."""
        return self.versions[-1]

    def write(self, text: str | None, edit: Edit) -> None:
        """The whole text was written; None if it is not known."""
        if text is None:
            self._begin_version()
            self.is_unclear = True
        else:
            if self.last.text() is None:
                self.versions.append(Version())
                self.is_known_before = False
            new = [Line(line) for line in split(text)]
            lines = [f"{sign}{line.text}" for sign, line in signed(self.last.lines, new)]
            self.patch([Hunk(0, lines, is_end=True)], edit)

    def patch(self, hunks: Sequence[Hunk], edit: Edit | None = None) -> None:
        """A diff was applied; without an edit it says what was seen."""
        if not self.last.patch(hunks, edit):
            self._begin_version()
            self.last.patch(hunks, edit)

    def _begin_version(self) -> None:
        """Somebody else has changed it: nothing is known any more."""
        self.versions.append(Version())
        self.is_certain = False
