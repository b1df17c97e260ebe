"""A file as edits leave it: which of its lines were there before, and which edit added the others.

Lines end where `str.splitlines` says, as in the diffs of Hermes' tools. What was never read stays
unknown: a document may know only the lines around its edits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from itertools import takewhile
from operator import is_not

from .edits import Edit, FileStep, FileStepKind
from .hunks import Hunk

_CONTEXT = 3
"""Unchanged lines around a change in a diff of `difflib`, fewer at the end of the file."""
_MOST_LINES = 500_000
"""A hunk beyond that is taken for damage."""


@dataclass(slots=True, eq=False)
class Line:
    """A line of the file, or one that an edit deleted."""

    sign: str
    """Blank, minus or plus, as in a diff."""
    text: str | None
    """With its end; None if it is not known."""
    edit: Edit | None = None
    """Which edit added or deleted it; None for lines that stay."""
    is_copied: bool = False
    """Whether the model had been shown an added line, so that somebody else may have written it."""


class EditedFile:
    """One file through a series of edits."""

    def __init__(self) -> None:
        self.is_known_before = True
        """Whether it is known what stood there before the first edit, where edits touched it."""
        self.is_exact = True
        """Whether all that happened to it is known."""
        self.is_disturbed = False
        """Whether another program has changed it between the steps."""
        self.has_undone = False
        """Whether a step could not be done."""
        self.was_absent = False
        """Whether there was no such file before the first edit."""
        self.exists = True
        self.shown: set[str] = set()
        """Lines that the model was shown, and that were not known to be in the file."""
        self._before: list[Line] = []
        """Lines of the file before, as many as edits reached."""
        self._lines: list[Line] = []
        """The lines as they stand."""
        self._is_open = True
        """Whether more lines from before may follow."""

    def apply(self, step: FileStep) -> bool:
        """Do what a step says.

        Returns:
            False if it could not be done: what it changes is not in the file as it is known.
        """
        done = self._apply(step)
        self.has_undone = self.has_undone or not done
        if not (done and step.is_certain):
            self.is_exact = False
            self.is_disturbed = True
        return done

    def _apply(self, step: FileStep) -> bool:
        kind = step.kind
        if kind is FileStepKind.READ:
            return self._read(_split(step.text))
        if kind is FileStepKind.SHOWN:
            self.show(_split(step.text))
            return True
        if kind is FileStepKind.ABSENT:
            return self._miss()
        if kind is FileStepKind.WRITE:
            self._write(step)
            return True
        if kind is FileStepKind.PATCH:
            return self._patch(step.hunks, step.edit)
        if kind is FileStepKind.REPLACE:
            return self._replace(step)
        if kind is FileStepKind.DELETE:
            return self._delete(step)
        return kind is FileStepKind.MOVE

    # What is known

    def _extend(self, count: int) -> bool:
        """Let the file have so many lines at least; return whether it can."""
        missing = count - len(self._lines)
        if missing > 0 and (not self._is_open or count > _MOST_LINES):
            return False
        lines = [Line(" ", None) for _line in range(missing)]
        self._before += lines
        self._lines += lines
        return True

    def _learn(self, place: int, texts: Sequence[str]) -> bool:
        """Take over texts of lines; return False if another text is known of one."""
        lines = self._lines[place : place + len(texts)]
        known = [line.text for line in lines]
        if known == texts:
            return True
        if any(text not in (None, new) for text, new in zip(known, texts, strict=True)):
            return False
        for line, text in zip(lines, texts, strict=True):
            line.text = text
        return True

    def text(self) -> str | None:
        """Return the whole text as the edits left it; None if not every line is known."""
        texts = [line.text for line in self._lines if line.text is not None]
        return None if self._is_open or len(texts) < len(self._lines) else "".join(texts)

    def may_be(self, text: str) -> bool:
        """Whether a text may be that of the file, as far as its lines are known."""
        texts = _split(text)
        is_long_enough = len(texts) == len(self._lines) or self._is_open
        pairs = zip(self._lines, texts, strict=False)
        return (
            self.exists
            and is_long_enough
            and len(texts) >= len(self._lines)
            and all(line.text in (None, text) for line, text in pairs)
        )

    # Steps

    def show(self, texts: Sequence[str]) -> None:
        """Take down lines that the model was shown, in this file or about it."""
        self.shown.update(set(texts).difference(line.text or "" for line in self._lines))

    def _read(self, texts: list[str]) -> bool:
        fits = self.exists and self._extend(len(texts)) and len(self._lines) == len(texts)
        if not (fits and self._learn(0, texts)):
            return False
        self._is_open = False
        return True

    def _miss(self) -> bool:
        """There is no such file."""
        if self._is_open and not self._lines:
            self.was_absent = True
            self.exists = self._is_open = False
        return not self.exists

    def _write(self, step: FileStep) -> None:
        texts = _split(_as_written(step, self._ends()))
        if step.size not in (None, _size(texts)):
            self.is_exact = False
        self._write_lines(texts, step.edit)
        self.exists = True

    def _ends(self) -> str:
        first = self._lines[0].text if self._lines else None
        return "\r\n" if first is not None and first.endswith("\r\n") else "\n"

    def _write_lines(self, texts: list[str], edit: Edit | None) -> None:
        """Replace the whole text; lines that stay keep who wrote them."""
        old = [line.text for line in self._lines]
        if self._is_open or None in old:
            self.is_known_before = self.is_exact = self._is_open = False
            self._before = []
            self._lines = self._add(texts, edit)
            return
        lines: list[Line] = []
        matcher = SequenceMatcher(None, old, texts)
        for tag, start, end, new_start, new_end in matcher.get_opcodes():
            if tag == "equal":
                lines += self._lines[start:end]
                continue
            _drop(self._lines[start:end], edit)
            lines += self._add(texts[new_start:new_end], edit)
        self._lines = lines

    def _add(self, texts: Sequence[str], edit: Edit | None) -> list[Line]:
        return [Line("+", text, edit, text in self.shown) for text in texts]

    def _patch(self, hunks: Sequence[Hunk], edit: Edit | None) -> bool:
        """Apply all hunks or none."""
        if not self.exists:
            return False
        places = [self._place(hunk) for hunk in reversed(hunks)]
        if None in places or places != sorted(places, key=lambda place: -(place or 0)):
            return False
        for hunk, place in zip(reversed(hunks), places, strict=True):  # the places above stay
            self._change(hunk, place or 0, edit)
        return True

    def _place(self, hunk: Hunk) -> int | None:
        """Return where the lines of a hunk stand; None if they do not, or more than once."""
        if self._is_at(hunk, hunk.start):
            return hunk.start
        self.is_exact = False
        self.is_disturbed = True
        return self._only_place(hunk)

    def _is_at(self, hunk: Hunk, place: int) -> bool:
        """Whether the lines of a hunk may stand at a place, in the file as it is known."""
        before = hunk.before
        end = place + len(before)
        if not self._extend(end):
            return False
        is_end = hunk.context_below < _CONTEXT
        if is_end and len(self._lines) > end:
            return False
        if not self._learn(place, before):
            return False
        self._is_open = self._is_open and not is_end
        return True

    def _only_place(self, hunk: Hunk) -> int | None:
        """Return the only place with exactly the lines of a hunk; other programs have moved them."""
        before = hunk.before
        known = [line.text for line in self._lines]
        places = [
            place
            for place in range(len(known) - len(before) + 1)
            if before and known[place] == before[0] and known[place : place + len(before)] == before
        ]
        return places[0] if len(places) == 1 else None

    def _change(self, hunk: Hunk, place: int, edit: Edit | None) -> None:
        """Put the new lines of a hunk in place of the old ones."""
        lines: list[Line] = []
        at = place
        for sign, text in hunk.lines:
            if sign == "+":
                lines += self._add([text], edit)
                continue
            if sign == "-":
                _drop(self._lines[at : at + 1], edit)
            else:
                lines.append(self._lines[at])
            at += 1
        self._lines[place:at] = lines

    def _replace(self, step: FileStep) -> bool:
        """Replace a text by another as the tool does where both stand there exactly."""
        text = self.text()
        if text is None or not self.exists:
            return False
        count = text.count(step.old)
        if not count or (count > 1 and not step.replaces_all):
            return False
        self._write_lines(_split(text.replace(step.old, step.text)), step.edit)
        return True

    def _delete(self, step: FileStep) -> bool:
        """Take the file away; without hunks, Hermes has deleted an empty one."""
        fits = self._patch(step.hunks, step.edit) if step.hunks else self._read([])
        _drop(self._lines, step.edit)
        self._lines = []
        self._is_open = self.exists = False
        return fits

    # What became of it

    def lines(self) -> Iterator[Line]:
        """Yield the lines in order, with those that were deleted where they stood."""
        before = iter(self._before)
        for line in self._lines:
            if line.sign == " ":
                yield from takewhile(partial(is_not, line), before)
            yield line
        yield from before


def _drop(lines: Sequence[Line], edit: Edit | None) -> None:
    """Mark the lines from before among some lines as deleted."""
    for line in lines:
        if line.sign == " ":
            line.sign, line.edit = "-", edit


def _split(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _size(texts: Sequence[str]) -> int:
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def _as_written(step: FileStep, ends: str) -> str:
    """Return the text of a write as it is in the file: the tool keeps the line ends of the file
    (0.16 and later)."""
    text = step.text
    if ends == "\n" or "\r\n" in text:
        return text
    other = text.replace("\n", ends)
    return other if step.size == len(other.encode("utf-8", "replace")) else text
