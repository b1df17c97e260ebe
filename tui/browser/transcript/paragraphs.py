"""Paragraphs: what a message is laid out as, before it is wrapped to the width of the page.

A message goes through three steps: its texts become paragraphs (`block_layout.py`, slow for long
texts), matches are highlighted in them, and they are wrapped to lines. A match is found wherever a
line breaks, as it is looked for before that.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
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
    from hermes_browse.store.search.terms import Matcher

_LEAST_ROOM = 8
"""Cells for the text of a paragraph that is nested more deeply than the page is wide."""


class Paragraph(NamedTuple):
    """A line of text, which may be longer than a line of the page."""

    spans: Line
    lead: tuple[Span, ...] = ()
    """What stands before its first line."""
    hang: tuple[Span, ...] = ()
    """What stands before the lines it is continued on; as wide as `lead`."""
    is_fixed: bool = False
    """It is cut off at the width instead of being continued."""

    def wrap(self, width: int) -> list[Line]:
        """Return its lines, of at most `width` cells."""
        return self.lines(self.spans, self.breaks(width), width)

    def breaks(self, width: int) -> list[tuple[int, int]]:
        """Return the ranges of its text that its lines show: half-open, in code points."""
        text = line_text(self.spans)
        if self.is_fixed:
            return [(0, len(text))]
        room = max(width - line_width(list(self.lead)), _LEAST_ROOM)
        return breaks(text, min(room, width))

    def lines(self, spans: Line, ranges: Sequence[tuple[int, int]], width: int) -> list[Line]:
        """Return the lines of its spans, possibly highlighted, for ranges from `breaks`."""
        if self.is_fixed:
            return [clip_line([*self.lead, *spans], width)]
        parts = slice_spans(spans, ranges)
        if not self.lead:
            return parts
        is_deep = line_width(list(self.lead)) > width - _LEAST_ROOM
        lead, hang = (
            (clip_line(list(each), width - _LEAST_ROOM) if is_deep else each)
            for each in (self.lead, self.hang)
        )
        return [[*(hang if number else lead), *part] for number, part in enumerate(parts)]


def fixed(*spans: Span) -> Paragraph:
    """Return a paragraph of one line."""
    return Paragraph(list(spans), is_fixed=True)


def paragraphs_of(spans: Iterable[Span]) -> list[Paragraph]:
    """Return the paragraphs of spans that may contain newlines."""
    return [Paragraph(line) for line in split_lines(spans)]


def plain(text: str, look: str) -> list[Paragraph]:
    """Return the paragraphs of a printable text of one look."""
    return paragraphs_of([(text, look)])


def indent(
    paragraphs: Iterable[Paragraph], prefix: Span, first: Span | None = None
) -> list[Paragraph]:
    """Put a prefix before every line, or `first` before the first one."""
    return [
        each._replace(
            lead=(first if first is not None and not number else prefix, *each.lead),
            hang=(prefix, *each.hang),
        )
        for number, each in enumerate(paragraphs)
    ]


def wrap(paragraphs: Iterable[Paragraph], width: int) -> list[Line]:
    """Wrap paragraphs to lines of at most `width` cells."""
    return [line for paragraph in paragraphs for line in paragraph.wrap(width)]


def first_lines(
    paragraphs: Sequence[Paragraph], width: int, count: int
) -> tuple[list[Paragraph], int]:
    """Return what fills the first lines, and the number of lines left out."""
    kept = []
    room, left = count, 0
    for paragraph in paragraphs:
        lines = paragraph.wrap(width)
        if len(lines) <= room:
            kept.append(paragraph)
        else:
            kept += [Paragraph(line, is_fixed=True) for line in lines[:room]]
            left += len(lines) - room
        room = max(room - len(lines), 0)
    return kept, left


class MessageLayout(NamedTuple):
    """A message laid out for a width: paragraphs, and the lines of each."""

    paragraphs: Sequence[Paragraph]
    wrapped: Sequence[Sequence[Line]]

    @property
    def lines(self) -> list[Line]:
        """All lines."""
        return [line for lines in self.wrapped for line in lines]

    def highlighted(
        self, width: int, matchers: Sequence[Matcher], is_hit: bool, number: int | None
    ) -> tuple[list[Line], list[int]]:
        """Return the lines with matches highlighted, and the indexes of those on which one begins.

        In the current hit the matches that begin on one line stand out, given by its number among
        these lines, or all of them if that is None.
        """
        from hermes_browse.store.search.snippets import find_ranges  # matchers have loaded it

        texts = [line_text(each.spans) for each in self.paragraphs]
        ranges = [each.breaks(width) if texts[i] else [] for i, each in enumerate(self.paragraphs)]
        first_lines = list(accumulate(map(len, self.wrapped), initial=0))
        found = find_ranges("\n".join(texts), matchers)
        matches = _matches(texts, first_lines, ranges, found)
        starts = sorted({match.line for part in matches.values() for match in part})
        current = starts[number] if number is not None and number < len(starts) else None
        lines: list[Line] = []
        for index, paragraph in enumerate(self.paragraphs):
            if index not in matches:
                lines += self.wrapped[index]
                continue
            spans = paragraph.spans
            for look, is_strong in (("hit", False), ("hit-current", True)):
                lit = [
                    (match.start, match.end)
                    for match in matches[index]
                    if (is_hit and (number is None or match.line == current)) is is_strong
                ]
                spans = light(spans, lit, look)
            lines += paragraph.lines(spans, ranges[index], width)
        return lines, starts


class _Match(NamedTuple):
    """The part of a match in one paragraph."""

    start: int
    end: int
    line: int
    """The line of the message on which the match begins."""


def _matches(
    texts: Sequence[str],
    first_lines: Sequence[int],
    ranges: Sequence[Sequence[tuple[int, int]]],
    found: Iterable[tuple[int, int]],
) -> dict[int, list[_Match]]:
    """Return matches by paragraph; `found` are ranges in all texts, joined by newlines."""
    matches: dict[int, list[_Match]] = {}
    offsets = list(accumulate((len(text) + 1 for text in texts), initial=0))
    for start, end in found:
        first = bisect_right(offsets, start) - 1
        inside = start - offsets[first]
        continued = sum(begin <= inside for begin, _end in ranges[first][1:])
        line = first_lines[first] + continued
        for part in range(first, bisect_left(offsets, end)):
            text, offset = texts[part], offsets[part]
            begin, stop = max(start - offset, 0), min(end - offset, len(text))
            if begin < stop:
                matches.setdefault(part, []).append(_Match(begin, stop, line))
    return matches
