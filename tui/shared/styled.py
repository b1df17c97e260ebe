"""Text with named looks, wrapped to cells: the form of all lines before they are painted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from rich.cells import cell_len, split_graphemes

from hermes_browse.store.text import printable

from ..formats import clip, fit

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
"""Names of looks that texts and transcripts use; each has a style in the sheet."""

TAB = "    "
JOINT, SPACE_JOINT = ("", "joint"), ("", "space-joint")
"""Empty spans at the start of a line that continues the one above it, behind any prefix. They tell what was left out at
the break, nothing or one space, so that a term can be found across it; they are never painted and take no cells.
"""


def _breaks_ascii(text: str, width: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    start, length = 0, len(text)
    while length - start > width:
        cut = text.rfind(" ", start + 1, start + width + 1)
        if cut <= start:
            found.append((start, start + width))
            start += width
        else:
            found.append((start, cut))
            start = cut + 1
    found.append((start, length))
    return found


def _breaks_wide(text: str, width: int) -> list[tuple[int, int]]:
    """Break at spaces, and between wide characters, where words have no spaces."""
    found: list[tuple[int, int]] = []
    start, used = 0, 0
    last_break: tuple[int, int] | None = None  # end of the line, start of the next
    for begin, end, cells in split_graphemes(text)[0]:
        if used + cells > width and begin > start:
            if text[begin] == " ":
                found.append((start, begin))
                start, used, last_break = end, 0, None
                continue
            if last_break is not None and last_break[0] > start:
                found.append((start, last_break[0]))
                start = last_break[1]
                used = cell_len(text[start:begin])
            else:
                found.append((start, begin))
                start, used = begin, 0
            last_break = None
        used += cells
        if text[begin] == " ":
            last_break = (begin, end)
        elif cells > 1:
            last_break = (end, end)
    found.append((start, len(text)))
    return found


def breaks(text: str, width: int) -> list[tuple[int, int]]:
    """Break a line without newlines: half-open ranges of it, each at most `width` cells.

    Args:
        text: One printable line.
        width: Cells, at least 2.
    """
    width = max(width, 2)
    if text.isascii():
        return _breaks_ascii(text, width)
    return _breaks_wide(text, width) if cell_len(text) > width else [(0, len(text))]


def slice_spans(spans: Sequence[Span], start: int, end: int) -> Line:
    """The part of spans between two positions in their joined text."""
    found: Line = []
    position = 0
    for text, look in spans:
        if position >= end:
            break
        piece = text[max(start - position, 0) : max(end - position, 0)]
        if piece:
            found.append((piece, look))
        position += len(text)
    return found


def _joint(before: int, start: int) -> Span:
    return SPACE_JOINT if start > before else JOINT


def wrap_spans(spans: Sequence[Span], width: int) -> list[Line]:
    """Spans, which may hold newlines, as lines of at most `width` cells; a continued line begins with a joint."""
    lines: list[Line] = []
    current: Line = []
    for text, look in spans:
        first, *rest = text.replace("\t", TAB).split("\n")
        if first:
            current.append((first, look))
        for piece in rest:
            lines.append(current)
            current = [(piece, look)] if piece else []
    lines.append(current)
    wrapped: list[Line] = []
    for line in lines:
        joined = "".join(text for text, _ in line)
        ranges = breaks(joined, width)
        if len(ranges) == 1:
            wrapped.append(line)
            continue
        wrapped.append(slice_spans(line, *ranges[0]))
        for (_, before), (start, end) in pairwise(ranges):
            wrapped.append([_joint(before, start), *slice_spans(line, start, end)])
    return wrapped


def wrap_text(text: str, width: int, look: str) -> list[Line]:
    """Plain text as lines of one look, with joints."""
    return wrap_spans([(text, look)], width)


def safe_text(text: str) -> str:
    """A stored text made printable, its lines ended by newlines and its tabs expanded."""
    return printable(text.replace("\r\n", "\n")).replace("\t", TAB)


def indent(lines: Iterable[Line], prefix: Span, first: Span | None = None) -> list[Line]:
    """Lines with a prefix each, the first with another one if that is given."""
    return [[first if first is not None and index == 0 else prefix, *line] for index, line in enumerate(lines)]


def line_text(line: Line) -> str:
    """The text of a line."""
    return "".join(text for text, _ in line)


def line_width(line: Line) -> int:
    """Cells of a line."""
    return sum(cell_len(text) for text, _ in line)


def clip_line(line: Line, width: int) -> Line:
    """A line in at most `width` cells; what is cut ends with an ellipsis."""
    found: Line = []
    for text, look in line:
        if width <= 0:
            break
        found.append((clip(text, width), look))
        width -= cell_len(text)
    return found


def light(line: Line, ranges: Sequence[tuple[int, int]], look: str) -> Line:
    """A line with another look added to ranges of its text.

    Args:
        line: Spans.
        ranges: Half-open, in code points of the joined text, in order.
        look: Added to the looks there.
    """
    if not ranges:
        return line
    found: Line = []
    position = 0
    for text, looks in line:
        cursor = 0
        for start, end in ranges:
            begin, stop = max(start - position, cursor), min(end - position, len(text))
            if begin < stop:
                if begin > cursor:
                    found.append((text[cursor:begin], looks))
                found.append((text[begin:stop], f"{looks} {look}"))
                cursor = stop
        if cursor < len(text):
            found.append((text[cursor:], looks))
        position += len(text)
    return found


def row_line(lead: Span, name: Span, columns: str, width: int) -> Line:
    """A row of a list in exactly `width` cells: a mark, a name that takes the free room, columns on the right."""
    columns = clip(columns, width - cell_len(lead[0]) - 2)
    room = width - cell_len(lead[0]) - cell_len(columns) - 2
    return [lead, (fit(name[0], room), name[1]), (f" {columns} ", "dim")]


def bar(share: float, width: int) -> str:
    """A share from 0 to 1 as a bar in eighths of a cell, padded to `width` cells."""
    full, rest = divmod(round(max(0.0, min(share, 1.0)) * width * 8), 8)
    return ("█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(width)
