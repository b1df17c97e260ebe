"""Find a text inside a transcript: the matcher, the scan in slices, and the results."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.messages.block_kinds import CALL, RESULT, without_injections
from hermes_browse.store.messages.chat_message import ChatMessage, RowInfo, blocks_of
from hermes_browse.store.search.terms import Matcher, Term, TermKind, fold
from hermes_browse.store.text import printable

from ...text.styled import line_text
from .block_layout import MARKDOWN_LIMIT
from .markdown_layout import render_markdown
from .tool_text import as_shown

_BATCH = 40
"""Messages read at a time, which takes a few milliseconds."""
_SECONDS = 0.05
"""The duration of a slice; messages that come into sight are read between two slices."""
_MARKUP = re.compile(r"[*_`~\\\[\]]|\]\([^)\s]*\)")
_WIDE = 20_000
"""Cells; wide enough for any table."""
_OVERLAP = 24
"""Messages before a slice that are read again, to find the calls of results in it."""


def needle(text: str) -> Matcher | None:
    """Return a matcher of a literal text, anywhere in a word, ignoring case and accents; None for
    an empty text."""
    term = Term(text, TermKind.INSIDE, 0, len(text))
    return Matcher(term, fold(text), is_anywhere=True) if text.strip() else None


def texts_of(message: ChatMessage) -> Iterator[str]:
    """Yield the texts of a message as the transcript can show them, including folded parts."""
    for block in blocks_of(message):
        if block.kind is CALL:
            yield block.tool
        yield as_shown(block.body) if block.kind in (CALL, RESULT) else block.body


def contains(message: ChatMessage, matcher: Matcher) -> bool:
    """Whether a message, as it can be shown, has a match."""
    for text in texts_of(message):
        if matcher.first(fold(text)):
            return True
    return _matches_rendered(without_injections(message.text), matcher)


def _matches_rendered(text: str, matcher: Matcher) -> bool:
    """Whether Markdown matches when it is rendered: `**bold** words` contains `bold words`."""
    if len(text) > MARKDOWN_LIMIT:
        return False
    plain = fold(_MARKUP.sub("", text))
    if len(plain) == len(text) or not matcher.first(plain):
        return False
    paragraphs = render_markdown(printable(text), _WIDE)
    shown = fold("\n".join(line_text(paragraph.spans) for paragraph in paragraphs))
    return matcher.first(shown) is not None


class Slice(NamedTuple):
    """The result of scanning a part of a conversation."""

    found: tuple[int, ...]
    """Ids of messages; a result that is shown with its call counts as the message with the call."""
    end: int
    """The first row that has not been scanned."""


def scan(
    store: OpenStore, rows: Sequence[RowInfo], start: int, stop: int, matcher: Matcher
) -> Slice:
    """Scan rows from `start` up to `stop` for a short while, and return how far that was; on a
    reading thread."""
    until = time.monotonic() + _SECONDS
    callers = {}

    def note_calls(messages: Sequence[ChatMessage]) -> None:
        for message in messages:
            callers.update({call.id: message.id for call in message.tool_calls if call.id})

    if start < stop and rows[start].role == "tool":
        note_calls(store.messages([row.id for row in rows[max(start - _OVERLAP, 0) : start]]))
    found: dict[int, None] = {}
    position = start
    while position < stop and (position == start or time.monotonic() < until):
        batch = rows[position : min(position + _BATCH, stop)]
        messages = store.messages([row.id for row in batch])
        note_calls(messages)
        for message in messages:
            if contains(message, matcher):
                found[callers.get(message.tool_call_id or "", message.id)] = None
        position += len(batch)
    return Slice(tuple(found), position)


class FindResults:
    """The matching messages of a conversation with `count` rows, as far as it has been scanned from
    `origin` on."""

    def __init__(self, matcher: Matcher, count: int, origin: int) -> None:
        self.matcher = matcher
        self.origin = min(max(origin, 0), count)
        self._parts = [(self.origin, count), (0, self.origin)]
        self.found: set[int] = set()
        """Ids of messages."""

    @property
    def next_part(self) -> tuple[int, int] | None:
        """Rows to scan next, as a half-open range; None when all are scanned."""
        return next((part for part in self._parts if part[0] < part[1]), None)

    @property
    def is_complete(self) -> bool:
        """Whether everything has been scanned."""
        return self.next_part is None

    def take(self, part: Slice) -> None:
        """Add the result for the next part."""
        self.found.update(part.found)
        scanned = self.next_part
        assert scanned is not None
        self._parts[self._parts.index(scanned)] = (part.end, scanned[1])

    def grow(self, before: int, count: int) -> None:
        """Scan rows that were added at the end, too."""
        self._parts.append((before, count))
