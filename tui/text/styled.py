"""Styled text: spans with named looks; wrapping, clipping and highlighting them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

from rich.cells import cell_len, split_graphemes

from hermes_browse.store.text import printable

from .formats import clip, fit

Span = tuple[str, str]
"""Text and the names of its looks, separated by spaces."""
Line = list[Span]
"""One line of the screen."""

LOOKS = (
    "text", "dim", "bold", "italic", "strike", "struck", "code", "link", "heading", "bar", "rule", "note", "error",
    "user", "assistant", "other", "tool", "output", "reasoning", "hit", "hit-current", "gutter",
    "code-text", "keyword", "string", "number", "comment", "function", "added", "removed",
    "underline", "reverse", "sgr-black", "sgr-red", "sgr-green", "sgr-yellow", "sgr-blue", "sgr-magenta", "sgr-cyan",
    "sgr-white",
)  # fmt: skip
"""Looks that texts and transcripts use; each has a component class in the style sheet."""

TAB = "    "


def _breaks_ascii(text: str, width: int) -> list[tuple[int, int]]:
    # As many characters as there is room for, up to a space or the end; else a word is cut.
    lines = re.finditer(rf"(.{{1,{width}}})(?: |$)|(.{{{width}}})", text)
    return [line.span(line.lastindex or 0) for line in lines]


def _breaks_wide(text: str, width: int) -> list[tuple[int, int]]:
    """Break at spaces, and after wide characters, as their scripts have no spaces."""
    ranges: list[tuple[int, int]] = []
    start = used = 0
    stop = following = 0  # the last place for a break: end of the line, start of the next
    for begin, end, cells in split_graphemes(text)[0]:
        is_space = text[begin:end] == " "
        if used + cells > width and begin > start:
            if is_space:
                stop, following = begin, end
            elif stop <= start:
                stop = following = begin
            ranges.append((start, stop))
            start = following
            used = cell_len(text[start:begin])
            if is_space:
                continue
        used += cells
        if is_space:
            stop, following = begin, end
        elif cells > 1:
            stop = following = end
    ranges.append((start, len(text)))
    return ranges


def breaks(text: str, width: int) -> list[tuple[int, int]]:
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


def slice_spans(spans: Sequence[Span], ranges: Iterable[tuple[int, int]]) -> list[Line]:
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


def wrap_spans(spans: Iterable[Span], width: int) -> list[Line]:
    """Wrap spans, which may contain newlines, to lines of at most `width` cells."""
    return [
        piece
        for line in split_lines(spans)
        for piece in slice_spans(line, breaks(line_text(line), width))
    ]


def safe_text(text: str) -> str:
    """Make a stored text printable, with newlines as line ends and tabs expanded."""
    return printable(text.replace("\r\n", "\n")).replace("\t", TAB)


def line_text(line: Line) -> str:
    return line[0][0] if len(line) == 1 else "".join([text for text, _ in line])


def line_width(line: Iterable[Span]) -> int:
    return sum(cell_len(text) for text, _ in line)


def clip_line(line: Line, width: int) -> Line:
    """Clip a line to `width` cells, with an ellipsis."""
    clipped: Line = []
    for text, look in line:
        if width <= 0:
            break
        clipped.append((clip(text, width), look))
        width -= cell_len(text)
    return clipped


def light(line: Line, ranges: Sequence[tuple[int, int]], looks: Sequence[str]) -> Line:
    """Add a look to each of some ranges of a line: half-open, in code points of its text, in order,
    apart."""
    edges = [0, *chain.from_iterable(ranges), len(line_text(line))]
    parts = slice_spans(line, pairwise(edges))
    return [
        (text, f"{before} {looks[number // 2]}" if number % 2 else before)
        for number, part in enumerate(parts)
        for text, before in part
    ]


def with_hits(text: str, ranges: Sequence[tuple[int, int]], look: str) -> Line:
    """Return a text of a list in its look, with that of a hit instead in some ranges."""
    parts = pairwise([0, *chain.from_iterable(ranges), len(text)])
    return [
        (text[start:end], "hit" if number % 2 else look)
        for number, (start, end) in enumerate(parts)
        if text[start:end]
    ]


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
