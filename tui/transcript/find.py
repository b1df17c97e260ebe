"""Finding inside a transcript: what is looked for, slices of the conversation looked through, what was found."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.messages.blocks import CALL, RESULT, blocks_of
from hermes_browse.store.messages.decode import without_injections
from hermes_browse.store.messages.models import ChatMessage
from hermes_browse.store.messages.transcript import Bone, read_messages
from hermes_browse.store.search import find_ranges
from hermes_browse.store.search.fold import fold, has_marks
from hermes_browse.store.search.query import Term, TermKind
from hermes_browse.store.search.terms import Matcher
from hermes_browse.store.text import printable

from ..shared.styled import JOINT, SPACE_JOINT, Line, light, line_text
from .blocks import MARKDOWN_LIMIT
from .tool_text import as_shown

_BATCH = 40
"""Messages read at a time: a few milliseconds."""
_SECONDS = 0.05
"""Seconds after which a slice ends, so that messages that come into sight are read between two slices."""
_SIGNS = re.compile(r"[*_`~\\\[\]]|\]\([^)\s]*\)")
_WIDE = 20_000
"""Cells that no line exceeds, so that none is broken."""
_OVERLAP = 24
"""Messages before a slice that are read again, to find the calls that results belong to."""


def needle(text: str) -> Matcher | None:
    """What finds a text as it is typed in the box; None for an empty one.

    The text is taken literally, ignoring case and accents, anywhere in a word: it is no query.

    Args:
        text: As typed.
    """
    folded = fold(text)
    if not folded.strip():
        return None
    return Matcher(Term(text, TermKind.WORD, 0, len(text)), folded, folded, (), False, True, False, skips_marks=True)


def texts_of(message: ChatMessage) -> Iterator[str]:
    """The texts of a message as the transcript can show them, folded parts too."""
    for block in blocks_of(message):
        if block.kind is CALL:
            yield block.tool
        yield as_shown(block.body) if block.kind in (CALL, RESULT) else block.body


def contains(message: ChatMessage, wanted: Matcher) -> bool:
    """Whether a message, as it can be shown, has the needle in it."""
    for text in texts_of(message):
        folded = fold(text)
        if wanted.in_folded(folded, has_marks(folded)):
            return True
    return _stands_rendered(without_injections(message.text), wanted)


def _stands_rendered(text: str, wanted: Matcher) -> bool:
    """Whether the needle is in a Markdown text as it is shown, without its signs: `bold words` in `**bold** words`."""
    if len(text) > MARKDOWN_LIMIT:
        return False
    without_signs = fold(_SIGNS.sub("", text))
    if len(without_signs) == len(text) or not wanted.in_folded(without_signs, has_marks(without_signs)):
        return False
    from .markdown import render_markdown  # seldom needed; to parse each message would be slow

    shown = fold("\n".join(map(line_text, render_markdown(printable(text), _WIDE))))
    return wanted.in_folded(shown, has_marks(shown))


class Slice(NamedTuple):
    """What was found in a part of a conversation."""

    found: tuple[int, ...]
    """Ids of messages; a result that stands with its call counts as the message that made the call."""
    end: int
    """The first bone that has not been looked through."""


def look_through(reader: Reader, bones: Sequence[Bone], start: int, stop: int, wanted: Matcher) -> Slice:
    """Look through a part of a conversation for a short while; on a worker's thread.

    Args:
        reader: An open reader.
        bones: Of the whole conversation.
        start: The first bone to look at.
        stop: The first one not to.
        wanted: What to look for.
    """
    until = time.monotonic() + _SECONDS
    callers: dict[str, int] = {}

    def note(messages: Sequence[ChatMessage]) -> None:
        for message in messages:
            callers.update({call.id: message.id for call in message.tool_calls if call.id})

    before = bones[max(start - _OVERLAP, 0) : start]
    if start < stop and bones[start].role == "tool":
        note(read_messages(reader, before))
    found: dict[int, None] = {}
    position = start
    while position < stop and (position == start or time.monotonic() < until):
        batch = bones[position : min(position + _BATCH, stop)]
        messages = read_messages(reader, batch)
        note(messages)
        for message in messages:
            if contains(message, wanted):
                found[callers.get(message.tool_call_id or "", message.id)] = None
        position += len(batch)
    return Slice(tuple(found), position)


class Findings:
    """Messages of a conversation with a needle in them, as far as it has been looked through.

    Args:
        wanted: The needle.
        count: Bones of the conversation.
        origin: The bone at which the reader was: it and what follows is looked through first.
    """

    def __init__(self, wanted: Matcher, count: int, origin: int) -> None:
        self.wanted = wanted
        self.origin = min(max(origin, 0), count)
        self._parts = [(self.origin, count), (0, self.origin)]
        self.found: set[int] = set()
        """Ids of messages."""

    @property
    def next_part(self) -> tuple[int, int] | None:
        """Bones to look through next, half-open; None when all have been."""
        return next(((start, stop) for start, stop in self._parts if start < stop), None)

    @property
    def is_complete(self) -> bool:
        """Whether everything has been looked through."""
        return self.next_part is None

    def take(self, part: Slice) -> None:
        """Add what was found in the next part."""
        self.found.update(part.found)
        for number, (start, stop) in enumerate(self._parts):
            if start < stop:
                self._parts[number] = (part.end, stop)
                return

    def grow(self, before: int, count: int) -> None:
        """Look through bones that were added at the end, too."""
        self._parts.append((before, count))


def _beginning(line: Line) -> tuple[str, int]:
    """The text between a line and the one above it, and where in the line its own text begins."""
    position = 0
    for span in line:
        if span == JOINT:
            return "", position
        if span == SPACE_JOINT:
            return " ", position
        position += len(span[0])
    return "\n", 0


def ranges_of_lines(lines: Sequence[Line], matchers: Sequence[Matcher]) -> list[list[tuple[int, int, int]]]:
    """Where terms are in lines: for each line ranges of its text, and with each the line on which the term begins.

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
    """Lines with terms highlighted, and the numbers of those on which one begins.

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
