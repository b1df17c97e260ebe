"""Find a text inside a transcript: the matcher, the scan in batches, and the results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hermes_browse.store.api import OpenStore
from hermes_browse.store.messages.chat_message import (
    CALL,
    RESULT,
    ChatMessage,
    RowInfo,
    blocks_of,
    without_injections,
)
from hermes_browse.store.search.terms import Matcher, Term, TermKind, fold
from hermes_browse.store.text import printable

from ...text.styled import line_text
from .block_layout import MARKDOWN_LIMIT
from .markdown_layout import render_markdown
from .tool_text import as_shown

BATCH = 200
"""Messages scanned at a time, which takes a twentieth of a second."""
_MARKUP = re.compile(r"[*_`~\\\[\]]|\]\([^)\s]*\)")
_WIDE = 20_000
"""Cells; wide enough for any table."""
_OVERLAP = 24
"""Messages before a batch that are read again, to find the calls of results in it."""


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


def scan(
    store: OpenStore, rows: Sequence[RowInfo], start: int, stop: int, matcher: Matcher
) -> set[int]:
    """Return the ids of the matching messages of the rows from `start` up to `stop`; on a reading
    thread.

    A result that is shown with its call counts as the message with the call.
    """
    before = max(start - _OVERLAP, 0) if rows[start].role == "tool" else start
    messages = store.messages([row.id for row in rows[before:stop]])
    callers = {call.id: each.id for each in messages for call in each.tool_calls if call.id}
    wanted = {row.id for row in rows[start:stop]}
    return {
        callers.get(each.tool_call_id or "", each.id)
        for each in messages
        if each.id in wanted and contains(each, matcher)
    }


@dataclass
class FindResults:
    """The matching messages of a conversation, as far as it has been scanned from the row `origin`
    on."""

    matcher: Matcher
    root_id: str
    """Of the conversation."""
    origin: int
    found: set[int] = field(default_factory=set)
    """Ids of messages."""
    _scanned: set[int] = field(default_factory=set)
    is_complete: bool = False
    """Whether everything has been scanned."""

    def left(self, rows: Sequence[RowInfo]) -> Iterator[tuple[int, int]]:
        """Yield the ranges of rows that have not been scanned, from the origin around the end; each
        counts as scanned when the next one is asked for."""
        self.is_complete = False
        for first, last in (self.origin, len(rows)), (0, self.origin):
            for start in range(first, last, BATCH):
                stop = min(start + BATCH, last)
                ids = {row.id for row in rows[start:stop]}
                if not ids <= self._scanned:
                    yield start, stop
                    self._scanned |= ids
        self.is_complete = True
