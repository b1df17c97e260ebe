"""Styled text: spans with named looks; paragraphs of them, laid out for a width; clipping and
highlighting.

A text goes through three steps: it becomes paragraphs (a message does so in
`transcript/block_layout.py`, which is slow for long texts), matches are highlighted in them, and
they are cut into lines. A match is found wherever a line breaks, as it is looked for before that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, split_graphemes

from hermes_browse.store.text import printable

from .formats import clip, fit

if TYPE_CHECKING:
    from hermes_browse.store.search.terms import Term

Span = tuple[str, str]
"""Text and the names of its looks, separated by spaces."""
Line = list[Span]
"""One line of the screen."""
Range = tuple[int, int]
"""Half-open, in code points."""

TAB = "    "
NO_LINE = -1
"""In place of the index of a match line: none stands out."""
_LEAST_ROOM = 8
"""Cells for the text of a paragraph that is nested more deeply than the page is wide."""


def _breaks_ascii(text: str, width: int) -> list[Range]:
    """Break at spaces, and within a word that is longer than a line."""
    ranges: list[Range] = []
    start = 0
    while len(text) - start > width:
        end = text.rfind(" ", start + 1, start + width + 1)
        following = end + 1
        if end < 0:
            end = following = start + width
        ranges.append((start, end))
        start = following
    if start < len(text):
        ranges.append((start, len(text)))
    return ranges


def _breaks_wide(text: str, width: int) -> list[Range]:
    """Break at spaces, and after wide characters, as their scripts have no spaces."""
    ranges: list[Range] = []
    start = used = 0
    stop = following = 0  # the last place for a break: end of the line, start of the next
    for begin, end, cells in split_graphemes(text)[0]:
        if text[begin:end] == " ":
            stop, following = begin, end
        used += cells
        if used > width and begin > start:
            if stop <= start:
                stop = following = begin
            ranges.append((start, stop))
            start = following
            used = cell_len(text[start:end])
        if cells > 1:
            stop = following = end
    ranges.append((start, len(text)))
    return ranges


def breaks(text: str, width: int) -> list[Range]:
    """Break a line into half-open ranges of at most `width` cells.

    Args:
        text: Printable, without newlines.
        width: Cells, at least 2.
    """
    is_ascii = text.isascii()
    if (len(text) if is_ascii else cell_len(text)) <= width:
        return [(0, len(text))]
    break_up = _breaks_ascii if is_ascii else _breaks_wide
    return break_up(text, max(width, 2))


def slice_spans(spans: Sequence[Span], ranges: Iterable[Range]) -> list[Line]:
    """Return the parts of spans between positions in their joined text: half-open ranges, in
    order."""
    parts: list[Line] = []
    index = position = 0
    for start, end in ranges:
        part: Line = []
        while index < len(spans) and position < end:
            text, look = spans[index]
            piece = text[max(start - position, 0) : end - position]
            if piece:
                part.append((piece, look))
            if position + len(text) > end:
                break  # the rest of the span belongs to the next range
            position += len(text)
            index += 1
        parts.append(part)
    return parts


def split_lines(spans: Iterable[Span]) -> list[Line]:
    lines: list[Line] = [[]]
    for text, look in spans:
        first, *rest = text.replace("\t", TAB).split("\n")
        if first:
            lines[-1].append((first, look))
        lines += [[(piece, look)] if piece else [] for piece in rest]
    return lines


def safe_text(text: str) -> str:
    """Make a stored text printable, with newlines as line ends and tabs expanded."""
    return printable(text.replace("\r\n", "\n")).replace("\t", TAB)


def line_text(line: Line) -> str:
    return line[0][0] if len(line) == 1 else "".join([text for text, _ in line])


def line_width(line: Iterable[Span]) -> int:
    return sum(len(text) if text.isascii() else cell_len(text) for text, _ in line)


def clip_line(line: Line, width: int) -> Line:
    """Clip a line to `width` cells, with an ellipsis."""
    clipped: Line = []
    for text, look in line:
        if width <= 0:
            break
        clipped.append((clip(text, width), look))
        width -= cell_len(text)
    return clipped


def light(line: Line, ranges: Sequence[Range], looks: Sequence[str]) -> Line:
    """Add a look to each of some ranges of a line: half-open, in code points of its text, in order,
    apart."""
    edges = [0, *chain.from_iterable(ranges), len(line_text(line))]
    parts = slice_spans(line, pairwise(edges))
    return [
        (text, f"{before} {looks[number // 2]}" if number % 2 else before)
        for number, part in enumerate(parts)
        for text, before in part
    ]


class Paragraph(NamedTuple):
    """A line of text, which may be longer than a line of the page."""

    spans: Line
    lead: Sequence[Span] = ()
    """Before its first line."""
    hang: Sequence[Span] = ()
    """Before the lines it is continued on; as wide as `lead`."""
    is_fixed: bool = False
    """It is cut off at the width instead of being continued."""


def fixed(*spans: Span) -> Paragraph:
    return Paragraph(list(spans), is_fixed=True)


def ruled(label: Line, width: int) -> Paragraph:
    """Draw a rule across the page with a label in it, which brings the blank behind it."""
    line = [("── ", "rule"), *label]
    return fixed(*line, ("─" * (width - 1 - line_width(line)), "rule"))


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
    indented = [
        Paragraph(spans, (prefix, *lead), (prefix, *hang), is_fixed)
        for spans, lead, hang, is_fixed in paragraphs
    ]
    if first is not None and indented:
        indented[0] = indented[0]._replace(lead=(first, *indented[0].lead[1:]))
    return indented


class TextLayout:
    """Paragraphs laid out for a width: one text, and the range of it on each line."""

    def __init__(self, paragraphs: Iterable[Paragraph], width: int) -> None:
        self._spans: Line = []
        """The paragraphs, with a newline after each."""
        self._ranges: list[Range] = []
        self._margins: list[Sequence[Span]] = []
        """What stands before each line."""
        self.match_lines: Sequence[int] = ()
        """The indexes of the lines on which a match begins."""
        start, free = 0, width
        beside: Sequence[Span] = ()
        for spans, lead, hang, is_fixed in paragraphs:
            if lead != beside:  # measured once for all paragraphs of a text
                beside, free = lead, width - line_width(lead)
            room = free
            if room < _LEAST_ROOM:
                room, lead, hang = width, (), ()
            line = clip_line(spans, room) if is_fixed else spans
            text = line_text(line)
            ranges = breaks(text, room)
            self._spans += [*line, ("\n", "")]
            self._ranges += [(start + begin, start + end) for begin, end in ranges]
            self._margins += [lead, *[hang] * (len(ranges) - 1)]
            start += len(text) + 1

    def __len__(self) -> int:
        return len(self._ranges)

    @property
    def lines(self) -> list[Line]:
        return self.window(0, len(self))

    def window(self, first: int, count: int) -> list[Line]:
        """Return at most `count` lines, from the index `first` on, without making the others."""
        ranges = self._ranges[first : first + count]
        if not ranges:
            return []
        index = bisect_right(self._starts, ranges[0][0]) - 1
        before = self._starts[index]
        here = [(start - before, end - before) for start, end in ranges]
        parts = slice_spans(self._spans[index:], here)
        return [
            [*margin, *part] for margin, part in zip(self._margins[first:], parts, strict=False)
        ]

    @cached_property
    def _starts(self) -> list[int]:
        """Where each span begins in the text."""
        return list(accumulate((len(text) for text, _look in self._spans), initial=0))

    def lit(self, matchers: Sequence[Term], current: int | None) -> TextLayout:
        """Return the same with matches highlighted, which may go on in the next paragraph.

        The matches on one of the match lines stand out, given by its index among these, or all
        matches if that is None.
        """
        if not matchers:
            return self
        from hermes_browse.store.search.terms import find_ranges

        matches = find_ranges(line_text(self._spans), matchers)
        starts = [start for start, _end in self._ranges]
        at = [bisect_right(starts, start) - 1 for start, _end in matches]
        lines = sorted(set(at))
        # Of `NO_LINE` the slice is empty.
        strong = set(lines if current is None else lines[current : current + 1])
        looks = ["hit-current" if each in strong else "hit" for each in at]
        lit = TextLayout((), 0)
        lit._spans = light(self._spans, matches, looks)
        lit._ranges, lit._margins = self._ranges, self._margins
        lit.match_lines = lines
        return lit


def wrap_spans(spans: Iterable[Span], width: int) -> list[Line]:
    """Wrap spans, which may contain newlines, to lines of at most `width` cells."""
    return TextLayout(paragraphs_of(spans), width).lines


def with_hits(text: str, ranges: Sequence[Range], look: str) -> Line:
    """Return a text of a list in its look, with that of a hit instead in some ranges."""
    lit = light([(text, "")], ranges, ["hit"] * len(ranges))
    return [(part, of_hit.strip() or look) for part, of_hit in lit]


def tailed(line: Line, tail: str, width: int) -> Line:
    """Clip or pad a line to exactly `width` cells with a dim text at its end."""
    room = max(width - cell_len(tail), 0)
    line = clip_line(line, room)
    return [*line, (" " * (room - line_width(line)), "plain"), (tail, "dim")]


def row_line(lead: Span, name: Span, columns: str, width: int) -> Line:
    """Format a list row in exactly `width` cells: a mark, a name that fills the free room, columns
    on the right."""
    columns = clip(columns, width - cell_len(lead[0]) - 2)
    room = width - cell_len(lead[0]) - cell_len(columns) - 2
    return [lead, (fit(name[0], room), name[1]), (f" {columns} ", "dim")]


def bar(share: float, width: int) -> str:
    """Draw a share from 0 to 1 as a bar in eighths of a cell, padded to `width` cells."""
    full, rest = divmod(round(max(0.0, min(share, 1.0)) * width * 8), 8)
    return ("█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(width)
