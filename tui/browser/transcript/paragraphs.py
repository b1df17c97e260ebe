"""Paragraphs: what a message is laid out as, before it is wrapped to the width of the page.

A message goes through three steps: its texts become paragraphs (`block_layout.py`, slow for long
texts), matches are highlighted in them, and they are wrapped to lines. A match is found wherever a
line breaks, as it is looked for before that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import lru_cache
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, NamedTuple

from ...text.styled import (
    Line,
    Span,
    breaks,
    clip_line,
    light,
    line_text,
    line_width,
    slice_spans,
    split_lines,
)

if TYPE_CHECKING:
    from hermes_browse.store.search.terms import Term

Range = tuple[int, int]
"""Half-open, in code points."""
Margin = tuple[Span, ...]
"""What stands before a line."""

NO_LINE = -1
"""In place of the index of a match line: none stands out."""
_LEAST_ROOM = 8
"""Cells for the text of a paragraph that is nested more deeply than the page is wide."""


class Paragraph(NamedTuple):
    """A line of text, which may be longer than a line of the page."""

    spans: Line
    lead: Margin = ()
    """Before its first line."""
    hang: Margin = ()
    """Before the lines it is continued on; as wide as `lead`."""
    is_fixed: bool = False
    """It is cut off at the width instead of being continued."""

    def breaks(self, width: int) -> list[Range]:
        """Return the ranges of its text that its lines show, each of at most `width` cells with its
        margin."""
        text = line_text(self.spans)
        if self.is_fixed:
            return [(0, len(text))]
        return breaks(text, _room(self.lead, width))

    def lines(self, ranges: Sequence[Range], width: int) -> list[Line]:
        """Return its lines, given the ranges from `breaks`."""
        if self.is_fixed:
            return [clip_line([*self.lead, *self.spans], width)]
        parts = slice_spans(self.spans, ranges)
        if _room(self.lead, width) == width:
            return parts
        return [[*(self.hang if number else self.lead), *part] for number, part in enumerate(parts)]


@lru_cache(maxsize=256)
def _room(margin: Margin, width: int) -> int:
    """Return the cells beside a margin; all of them where the text would have no room beside it."""
    room = width - line_width(margin)
    return room if room >= _LEAST_ROOM else width


def fixed(*spans: Span) -> Paragraph:
    return Paragraph(list(spans), is_fixed=True)


def paragraphs_of(spans: Iterable[Span]) -> list[Paragraph]:
    """Return the paragraphs of spans that may contain newlines."""
    return list(map(Paragraph, split_lines(spans)))


def plain(text: str, look: str) -> list[Paragraph]:
    """Return the paragraphs of a printable text of one look."""
    return paragraphs_of([(text, look)])


def indent(
    paragraphs: Iterable[Paragraph], prefix: Span, first: Span | None = None
) -> list[Paragraph]:
    """Put a prefix before every line, or `first` before the first one."""
    margin = (prefix,)
    indented = [
        Paragraph(spans, margin + lead, margin + hang, is_fixed)
        for spans, lead, hang, is_fixed in paragraphs
    ]
    if first is not None and indented:
        indented[0] = indented[0]._replace(lead=(first, *indented[0].lead[1:]))
    return indented


def _drawn(
    paragraphs: Iterable[Paragraph], breaks: Iterable[list[Range]], width: int
) -> Iterator[Line]:
    """Yield the lines of paragraphs, given the ranges of each."""
    for paragraph, ranges in zip(paragraphs, breaks, strict=True):
        yield from paragraph.lines(ranges, width)


class MessageLayout:
    """A message laid out for a width."""

    def __init__(self, paragraphs: Sequence[Paragraph], width: int) -> None:
        self._paragraphs, self._width = paragraphs, width
        self._breaks = [each.breaks(width) for each in paragraphs]
        """The ranges of text on the lines of each paragraph."""
        self.lines = list(_drawn(paragraphs, self._breaks, width))
        self.match_lines: Sequence[int] = ()
        """The indexes of the lines on which a match begins."""

    def lit(self, matchers: Sequence[Term], current: int | None = NO_LINE) -> MessageLayout:
        """Return the same with matches highlighted.

        The matches on one of the match lines stand out, given by its index among these, or all
        matches if that is None. A match may go on in the next paragraph, so all are searched as one
        text.
        """
        if not matchers:
            return self
        from hermes_browse.store.search.rows import find_ranges

        texts = [[*each.spans, ("\n", "")] for each in self._paragraphs]
        spans = list(chain.from_iterable(texts))
        starts = accumulate(map(len, map(line_text, texts)), initial=0)
        matches = find_ranges(line_text(spans), matchers)
        breaks = zip(starts, self._breaks, strict=False)
        line_starts = [offset + start for offset, ranges in breaks for start, _end in ranges]
        at = [bisect_right(line_starts, start) - 1 for start, _end in matches]
        lines = sorted(set(at))
        # Of `NO_LINE` the slice is empty.
        strong = set(lines if current is None else lines[current : current + 1])
        looks = ["hit-current" if each in strong else "hit" for each in at]
        parts = split_lines(light(spans, matches, looks))
        pairs = zip(self._paragraphs, parts, strict=False)
        paragraphs = [each._replace(spans=part) for each, part in pairs]
        lit = copy(self)
        lit.match_lines = lines
        lit.lines = list(_drawn(paragraphs, self._breaks, self._width))
        return lit


def first_lines(paragraphs: list[Paragraph], width: int, count: int) -> tuple[list[Paragraph], int]:
    """Return what fills the first lines, and the number of lines left out."""
    breaks = [each.breaks(width) for each in paragraphs]
    left = sum(map(len, breaks)) - count
    if left <= 0:
        return paragraphs, 0
    return [fixed(*line) for line in islice(_drawn(paragraphs, breaks, width), count)], left
