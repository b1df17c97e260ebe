"""Lighting terms in the lines of a message, also where a line was broken in the middle of one."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_browse.store.search import find_ranges
from hermes_browse.store.search.terms import Matcher

from .styled import JOINT, SPACE_JOINT, Line, light, line_text


def _beginning(line: Line) -> tuple[str, int]:
    """What stood between a line and the one above it, and where in the line the text goes on."""
    position = 0
    for span in line:
        if span == JOINT:
            return "", position
        if span == SPACE_JOINT:
            return " ", position
        position += len(span[0])
    return "\n", 0


def ranges_of_lines(lines: Sequence[Line], matchers: Sequence[Matcher]) -> list[list[tuple[int, int, int]]]:
    """Where terms stand in lines: for each line the ranges of its text, and with each the line on which it began.

    Args:
        lines: Of a message; those that were broken have joints.
        matchers: What is looked for.
    """
    texts: list[str] = []
    starts: list[int] = []
    shifts: list[int] = []
    length = 0
    for line in lines:
        between, begin = _beginning(line)
        text = line_text(line)[begin:]
        length += len(between)
        starts.append(length)
        shifts.append(begin)
        texts += [between, text]
        length += len(text)
    found: list[list[tuple[int, int, int]]] = [[] for _ in lines]
    first = 0
    for start, end in find_ranges("".join(texts), matchers):
        while first + 1 < len(lines) and starts[first + 1] <= start:
            first += 1
        number = first
        while number < len(lines) and starts[number] < end:
            length = len(texts[2 * number + 1])
            begin, stop = max(start - starts[number], 0), min(end - starts[number], length)
            if begin < stop:
                found[number].append((begin + shifts[number], stop + shifts[number], first))
            number += 1
    return found


def light_lines(
    lines: Sequence[Line], matchers: Sequence[Matcher], is_hit: bool, number: int | None
) -> tuple[list[Line], list[int]]:
    """Lines with terms lit, and the numbers of those on which one begins.

    Args:
        lines: Of a message.
        matchers: What is looked for.
        is_hit: Whether it is the message gone to.
        number: Which of its finds is; None for all.
    """
    ranges = ranges_of_lines(lines, matchers)
    stops = sorted({first for each in ranges for _, _, first in each})
    current = stops[number] if is_hit and number is not None and number < len(stops) else None
    shown: list[Line] = []
    for line, each in zip(lines, ranges, strict=True):
        if not each:
            shown.append(line)
            continue
        weak = [(start, end) for start, end, first in each if not is_hit or (number is not None and first != current)]
        strong = [(start, end) for start, end, first in each if is_hit and (number is None or first == current)]
        shown.append(light(light(line, weak, "hit"), strong, "hit-current"))
    return shown, stops
