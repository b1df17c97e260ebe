"""The text of a file as edits leave it: which lines were there before, and which edit added the
others.

Lines end where `str.splitlines` says, as in the diffs of Hermes' tools. What was never read stays
unknown: maybe only the lines around the edits are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from .hunks import Hunk

_CONTEXT = 3
"""Unchanged lines around a change in a diff of `difflib`, fewer at the end of the file."""
_MOST_LINES = 500_000
"""A hunk beyond that is taken for damage."""


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


class EditedFile:
    """The text of a file through edits that fit each other.

    Methods that return a truth value change nothing that is known when they return False: what they
    say is not true of the file as it is known.
    """

    def __init__(self, shown: set[str]) -> None:
        self.shown = shown
        """Lines that the model was shown."""
        self.before: list[Line] = []
        """Lines before the first edit, as many as edits reached."""
        self.lines: list[Line] = []
        """The lines as they stand."""
        self.is_known_before = True
        """Whether it is known what stood where edits changed it."""
        self.is_certain = True
        """Whether nothing else has changed the file, as far as is known."""
        self.was_absent = False
        """Whether there was no such file before the first edit."""
        self.exists = True
        self._is_open = True
        """Whether more lines from before may follow."""

    def text(self) -> str | None:
        """Return the whole text; None if not every line is known."""
        texts = [line.text for line in self.lines if line.text is not None]
        return None if self._is_open or len(texts) < len(self.lines) else "".join(texts)

    def may_be(self, text: str) -> bool:
        """Whether a text may be that of the file, as far as its lines are known."""
        texts = split(text)
        more = len(texts) - len(self.lines)
        pairs = zip(self.lines, texts, strict=False)
        has_length = more == 0 or (more > 0 and self._is_open)
        return self.exists and has_length and all(line.text in (None, text) for line, text in pairs)

    def _fits(self, place: int, texts: Sequence[str]) -> bool:
        """Whether lines may have these texts; they are known to have them then."""
        end = place + len(texts)
        missing = end - len(self.lines)
        if missing > 0:
            if not self._is_open or end > _MOST_LINES:
                return False
            unknown = [Line(None) for _line in range(missing)]
            self.before += unknown
            self.lines += unknown
        pairs = list(zip(self.lines[place:end], texts, strict=True))
        if any(line.text not in (None, text) for line, text in pairs):
            return False
        for line, text in pairs:
            line.text = text
        return True

    def read(self, text: str) -> bool:
        """The whole text was read."""
        texts = split(text)
        if not (self.exists and self._fits(0, texts) and len(self.lines) == len(texts)):
            return False
        self._is_open = False
        return True

    def show(self, texts: Iterable[str]) -> bool:
        """The model was shown lines, of this file or about it."""
        self.shown |= set(texts) - {line.text for line in self.lines}
        return True

    def miss(self) -> bool:
        """The file was looked for and not found."""
        if self._is_open and not self.lines:
            self.was_absent = True
            self.exists = self._is_open = False
        return not self.exists

    def write(self, text: str, edit: Edit) -> bool:
        """The whole text was written; lines that stay keep who wrote them."""
        texts = split(text)
        old = [line.text for line in self.lines]
        if self._is_open or None in old:
            self.is_known_before = False
            self.before, self.lines, old = [], [], []
        lines: list[Line] = []
        for tag, start, end, new_start, new_end in SequenceMatcher(None, old, texts).get_opcodes():
            if tag == "equal":
                lines += self.lines[start:end]
            else:
                lines += self._added(texts[new_start:new_end], edit)
                _remove(self.lines[start:end], edit)
        self.lines = lines
        self._is_open, self.exists = False, True
        return True

    def _added(self, texts: Sequence[str], edit: Edit) -> list[Line]:
        return [Line(text, edit, is_copied=text in self.shown) for text in texts]

    def patch(self, hunks: Sequence[Hunk], edit: Edit) -> bool:
        """All hunks of a diff were applied."""
        if not (self.exists and all(map(self._takes, hunks))):
            return False
        for hunk in reversed(hunks):  # so that the places above stay
            self._change(hunk, edit)
        return True

    def _takes(self, hunk: Hunk) -> bool:
        """Whether the lines of a hunk may stand at its place."""
        end = hunk.start + len(hunk.before)
        signs = "".join(sign for sign, _text in hunk.lines)
        is_last = not signs.endswith(" " * _CONTEXT)
        if (is_last and len(self.lines) > end) or not self._fits(hunk.start, hunk.before):
            return False
        self._is_open = self._is_open and not is_last
        return True

    def _change(self, hunk: Hunk, edit: Edit) -> None:
        lines: list[Line] = []
        place = hunk.start
        for sign, text in hunk.lines:
            if sign == "+":
                lines += self._added([text], edit)
                continue
            if sign == "-":
                _remove(self.lines[place : place + 1], edit)
            else:
                lines.append(self.lines[place])
            place += 1
        self.lines[hunk.start : place] = lines

    def replace(self, old: str, new: str, edit: Edit, *, everywhere: bool) -> bool:
        """A text was replaced by another, as the tool does where both stand there exactly."""
        text = self.text() if self.exists else None
        count = text.count(old) if text and old else 0
        if text is None or not count or (count > 1 and not everywhere):
            return False
        return self.write(text.replace(old, new), edit)

    def delete(self, hunks: Sequence[Hunk], edit: Edit) -> bool:
        """The file was deleted; without hunks it was empty."""
        if not (self.patch(hunks, edit) if hunks else self.read("")):
            return False
        self.lines = []
        self._is_open = self.exists = False
        return True


def _remove(lines: Sequence[Line], edit: Edit) -> None:
    for line in lines:
        line.removed_by = edit


def split(text: str) -> list[str]:
    """Split a text into lines with their ends."""
    return text.splitlines(keepends=True)
