"""Paragraphs: what a message is laid out as, before it is wrapped to the width of the page.

A message goes through three steps: its texts become paragraphs (`block_layout.py`, slow for long
texts), matches are highlighted in them, and they are wrapped to lines. A match is found wherever a
line breaks, as it is looked for before that.
"""

from __future__ import annotations

from bisect import bisect_right
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

Range = tuple[int, int]
"""Half-open, in code points."""

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

    def breaks(self, width: int) -> list[Range]:
        """Return the ranges of its text that its lines show."""
        text = line_text(self.spans)
        if self.is_fixed:
            return [(0, len(text))]
        return breaks(text, width - line_width(list(self._margins(width)[0])))

    def lines(self, spans: Line, ranges: Sequence[Range], width: int) -> list[Line]:
        """Return the lines of its spans, possibly highlighted, for ranges from `breaks`."""
        if self.is_fixed:
            return [clip_line([*self.lead, *spans], width)]
        lead, hang = self._margins(width)
        parts = slice_spans(spans, ranges)
        return [[*(hang if number else lead), *part] for number, part in enumerate(parts)]

    def _margins(self, width: int) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
        """Return what stands before its lines; nothing where the text would have no room."""
        is_deep = line_width(list(self.lead)) > width - _LEAST_ROOM
        return ((), ()) if is_deep else (self.lead, self.hang)


def fixed(*spans: Span) -> Paragraph:
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
) -> tuple[Sequence[Paragraph], int]:
    """Return what fills the first lines, and the number of lines left out."""
    lines = wrap(paragraphs, width)
    if len(lines) <= count:
        return paragraphs, 0
    return [Paragraph(line, is_fixed=True) for line in lines[:count]], len(lines) - count


class DrawnLines(NamedTuple):
    """Lines as they are shown."""

    lines: list[Line]
    match_lines: Sequence[int] = ()
    """The indexes of those on which a match begins."""


NO_LINE = -1
"""In place of the index of a match line: none stands out."""


class MessageLayout(NamedTuple):
    """A message laid out for a width: paragraphs, and the ranges of text on the lines of each."""

    paragraphs: Sequence[Paragraph]
    width: int
    breaks: Sequence[Sequence[Range]]

    @classmethod
    def of(cls, paragraphs: Sequence[Paragraph], width: int) -> MessageLayout:
        return cls(paragraphs, width, [each.breaks(width) for each in paragraphs])

    def drawn(self, matchers: Sequence[Matcher] = (), current: int | None = NO_LINE) -> DrawnLines:
        """Return the lines with matches highlighted.

        The matches on one of the match lines stand out, given by its index among these, or all
        matches if that is None.
        """
        texts, match_lines = [each.spans for each in self.paragraphs], list[int]()
        if matchers:
            texts, match_lines = self._highlighted(matchers, current)
        lines: list[Line] = []
        for paragraph, spans, ranges in zip(self.paragraphs, texts, self.breaks, strict=True):
            lines += paragraph.lines(spans, ranges, self.width)
        return DrawnLines(lines, match_lines)

    def _highlighted(
        self, matchers: Sequence[Matcher], current: int | None
    ) -> tuple[list[Line], list[int]]:
        """Return the spans of each paragraph with matches highlighted, and the match lines.

        A match may go on in the next paragraph, so all are searched as one text.
        """
        from hermes_browse.store.search.rows import find_ranges  # matchers have loaded it

        spans = [span for each in self.paragraphs for span in (*each.spans, ("\n", ""))]
        ends = list(accumulate(len(line_text(each.spans)) + 1 for each in self.paragraphs))
        offsets = [0, *ends]
        matches = find_ranges(line_text(spans), matchers)
        line_starts = [
            offset + start
            for offset, ranges in zip(offsets, self.breaks, strict=False)
            for start, _end in ranges
        ]
        lines = [bisect_right(line_starts, start) - 1 for start, _end in matches]
        match_lines = sorted(set(lines))
        strong = dict(enumerate(match_lines)).get(current, NO_LINE) if current is not None else None
        for look, is_strong in (("hit", False), ("hit-current", True)):
            of_look = [
                match
                for match, line in zip(matches, lines, strict=True)
                if (strong is None or line == strong) is is_strong
            ]
            spans = light(spans, of_look, look)
        parts = [(start, end - 1) for start, end in zip(offsets, ends, strict=False)]
        return slice_spans(spans, parts), match_lines
