"""A line of context around what matched, with the matches marked."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import islice

from .fold import fold, has_marks
from .kept import Said
from .terms import Matcher

WIDTH = 160
"""Code points of a snippet."""

_BEFORE = 40
_MOST_MATCHES = 50


def _starts_inside(text: str, position: int) -> bool:
    """Whether a cut at the position would part a character from its marks or joiners."""
    if not 0 < position < len(text):
        return False
    here, before = text[position], text[position - 1]
    return bool(unicodedata.combining(here)) or here in "\u200d\ufe0f" or before == "\u200d"


def _ranges(folded: str, matchers: Sequence[Matcher], most: int | None = _MOST_MATCHES) -> list[tuple[int, int]]:
    """Where the terms stand, in order, overlaps joined; `most` of each term, None for all."""
    found: list[tuple[int, int]] = []
    marked = has_marks(folded)
    for each in matchers:
        found += islice(each.find(folded, marked), most)
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def find_ranges(text: str, matchers: Sequence[Matcher]) -> list[tuple[int, int]]:
    """Half-open ranges of a text in which the terms stand, code points; all of them.

    Args:
        text: Any text, e.g. of a message on screen.
        matchers: Of a plan.
    """
    return _ranges(fold(text), matchers, None)


def _on_one_line(text: str) -> str:
    """Runs of white space as one space, those at the ends too."""
    before, after = " " if text[:1].isspace() else "", " " if text[-1:].isspace() else ""
    return before + " ".join(text.split()) + (after if not text.isspace() else "")


def _cut(text: str, first: int, matchers: Sequence[Matcher]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The line around a position, and where the terms stand in it."""
    start = max(first - _BEFORE, 0)
    while start > 0 and (_starts_inside(text, start) or text[start - 1].isspace()):
        start -= 1
    # What stands just outside the cut decides whether a word at its edge is a whole one.
    outside = _on_one_line(text[max(start - _BEFORE, 0) : start]).lstrip()
    window = _on_one_line(text[start : start + WIDTH * 3])
    end = WIDTH
    while end < len(window) and _starts_inside(window, end):
        end += 1
    body = window[:end].rstrip()
    lead = len(body) - len(body.lstrip())
    body = body.lstrip()
    head = "…" if start else ""
    tail = "…" if len(window.rstrip()) > end or start + WIDTH * 3 < len(text) else ""
    shift = len(head) - len(outside) - lead
    ranges = []
    for first, last in _ranges(fold(outside + window), matchers):
        first, last = max(first + shift, len(head)), min(last + shift, len(head) + len(body))
        if first < last:
            ranges.append((first, last))
    return head + body + tail, tuple(ranges)


def make_snippet(said: Said, matchers: Sequence[Matcher]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """One line around the first match: of what was said, else of the raw content, else of the tool call.

    Args:
        said: What is searched of a row.
        matchers: Terms to light.

    Returns:
        The line (not yet printable) and the half-open ranges of the matches in it.
    """
    for text, folded in said.parts():
        marked = has_marks(folded)
        firsts = [span[0] for each in matchers if (span := each.first(folded, marked)) is not None] if text else []
        if firsts:
            return _cut(text, min(firsts), matchers)
    return _cut(said.spoken or said.tool_name or said.tool_calls, 0, matchers)
