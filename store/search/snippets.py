"""What a person sees of a hit: one line around the match, and the chat messages around it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import islice

from ..connection.connect import Reader
from ..messages.decode import select, to_message
from ..messages.models import ChatMessage, Hit, State
from .fold import fold, has_marks
from .rows import RowText
from .terms import Matcher

WIDTH = 160
"""Code points of a snippet."""
_BEFORE = 40
_MOST_MATCHES = 50
_CONTEXT_WIDTH = 200


def _splits_character(text: str, position: int) -> bool:
    """Whether a cut at the position would part a character from its marks or joiners."""
    if not 0 < position < len(text):
        return False
    here, before = text[position], text[position - 1]
    return bool(unicodedata.combining(here)) or here in "\u200d\ufe0f" or before == "\u200d"


def _ranges(folded: str, matchers: Sequence[Matcher], most: int | None = _MOST_MATCHES) -> list[tuple[int, int]]:
    """Return where the terms are, in order, overlaps merged; `most` of each term, None for all."""
    matches: list[tuple[int, int]] = []
    marked = has_marks(folded)
    for each in matchers:
        matches += islice(each.find(folded, marked), most)
    merged: list[tuple[int, int]] = []
    for start, end in sorted(matches):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def find_ranges(text: str, matchers: Sequence[Matcher]) -> list[tuple[int, int]]:
    """Return all half-open ranges of a text that match, in code points."""
    return _ranges(fold(text), matchers, None)


def _on_one_line(text: str) -> str:
    """Replace runs of white space by one space, at the ends too."""
    before, after = " " if text[:1].isspace() else "", " " if text[-1:].isspace() else ""
    return before + " ".join(text.split()) + (after if not text.isspace() else "")


def _cut(text: str, first: int, matchers: Sequence[Matcher]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the line around a position, and the ranges of the terms in it."""
    start = max(first - _BEFORE, 0)
    while start > 0 and (_splits_character(text, start) or text[start - 1].isspace()):
        start -= 1
    # The text just outside the cut decides whether a word at its edge is a whole one.
    outside = _on_one_line(text[max(start - _BEFORE, 0) : start]).lstrip()
    window = _on_one_line(text[start : start + WIDTH * 3])
    end = WIDTH
    while end < len(window) and _splits_character(window, end):
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


def make_snippet(text: RowText, matchers: Sequence[Matcher]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return one line around the first match, and the half-open ranges of all matches in it; not yet printable.

    It is of the spoken text if possible, else of the raw content or a tool call.
    """
    for part, folded in text.parts():
        marked = has_marks(folded)
        starts = [span[0] for each in matchers if (span := each.first(folded, marked)) is not None] if part else []
        if starts:
            return _cut(part, min(starts), matchers)
    return _cut(text.spoken or text.tool_name or text.tool_calls, 0, matchers)


def _is_shown(message: ChatMessage) -> bool:
    return not message.is_hidden and message.state is not State.REWOUND


def read_context(reader: Reader, hit: Hit, count: int) -> list[tuple[int, str, str]]:
    """Return the chat messages around a hit, itself included, in order: id, role, text to 200 code points.

    `count` is how many before and how many after; rewound and hidden rows do not count.
    """
    columns = select(reader.schema)
    messages = list(map(to_message, reader.rows(f"SELECT {columns} FROM messages m WHERE m.id = ?", [hit.message_id])))
    for comparison, order in (("<", "DESC"), (">", "ASC")):
        neighbours: list[ChatMessage] = []
        last, chunk = hit.message_id, count + 4
        while len(neighbours) < count:
            rows = reader.rows(
                f"SELECT {columns} FROM messages m WHERE m.session_id = ? AND m.id {comparison} ? "
                f"ORDER BY m.id {order} LIMIT ?",
                [hit.session_id, last, chunk],
            )
            neighbours += filter(_is_shown, map(to_message, rows))
            if len(rows) < chunk:
                break
            last = int(str(rows[-1][0]))
        messages += neighbours[:count]
    messages.sort(key=lambda message: message.id)
    return [(message.id, message.role, message.text[:_CONTEXT_WIDTH]) for message in messages]
