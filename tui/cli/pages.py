"""What `--plain` prints page by page: the rows of a list, and the messages of a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_browse.store.api import OpenStore
from hermes_browse.store.messages.chat_message import ChatMessage, Hit, Reading, RowInfo
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import NN_, _, ngettext, pgettext

from ..text.formats import costs, dollars, timestamp
from .output import labelled, title_or_preview
from .show import body_of, heading

_MESSAGES = 5
"""Of a page."""
_CUT = 200
"""Letters of tool output and calls that are printed until all of it is asked for."""
_BETWEEN = NN_("{count:,} message in between.", "{count:,} messages in between.")
Lines = Callable[[Sequence[Any], int], Iterator[str]]
"""Yields the lines of some items, of which the first has a number."""


@dataclass
class Pages:
    """Items that are printed page by page."""

    what: str
    """In the plural and translated."""
    items: Sequence[Any]
    lines: Lines
    size: int = 10
    """Items of a page."""
    first: int = 0
    """Index of the first item of the page printed last."""

    def page(self, first: int = 0) -> Iterator[str]:
        """Yield the lines of a page."""
        if not self.items:
            yield _("No {what}.", what=self.what)
            return
        self.first = first
        shown = self.items[first : first + self.size]
        yield from self.lines(shown, first + 1)
        yield _(
            "{what} {first:,} to {last:,} of {total:,}.",
            what=self.what.capitalize(),
            first=first + 1,
            last=first + len(shown),
            total=len(self.items),
        )

    def again(self) -> Iterator[str]:
        """Yield the lines of the page printed last; of the first if there is less now."""
        return self.page(self.first if self.first < len(self.items) else 0)

    def later(self) -> Iterator[str]:
        """Yield the lines of the next page."""
        first = self.first + self.size
        return self.page(first) if first < len(self.items) else iter([_("That was the last page.")])

    def earlier(self) -> Iterator[str]:
        """Yield the lines of the previous page."""
        if not self.first:
            return iter([_("This is the first page.")])
        return self.page(max(self.first - self.size, 0))

    def end(self) -> Iterator[str]:
        """Yield the lines of the last whole page."""
        return self.page(max(len(self.items) - self.size, 0))


class Transcript:
    """The messages of the open conversation, which has details; opened at a hit, or at its end."""

    def __init__(self, store: OpenStore, conversation: Conversation, hit: Hit | None) -> None:
        self._store, self.conversation = store, conversation
        self._is_full = False
        """Whether tool output and summaries are printed in full."""
        outline = store.outline(conversation.segments)
        at = outline.index_of(hit.message_id) if hit is not None else None
        if hit is not None and at is None:  # taken back, or hidden
            everything = store.outline(conversation.segments, Reading.EVERYTHING)
            at = everything.index_of(hit.message_id)
            outline = outline if at is None else everything
        first = max(len(outline.rows) - _MESSAGES, 0) if at is None else at
        self.pages = Pages(_("messages"), outline.rows, self._lines, _MESSAGES, first)

    def prompt(self) -> Iterator[str]:
        """Yield the last prompt of the user ahead of the first message to print."""
        for between, row in enumerate(reversed(self.pages.items[: self.pages.first])):
            if row.role != "user" or row.hidden:
                continue
            for message in self._store.messages([row.id]):
                if not message.is_summary:
                    yield from self._message(message)
                    if between:
                        yield ngettext(*_BETWEEN, between)
                    return

    def _lines(self, rows: Sequence[RowInfo], _number: int) -> Iterator[str]:
        for message in self._store.messages([row.id for row in rows]):
            yield from self._message(message)

    def _message(self, message: ChatMessage) -> Iterator[str]:
        yield _("{words}:", words=heading(message))
        body = body_of(message, call=_("Calls {tool} with {arguments}"), with_summary=self._is_full)
        if not self._is_full and message.role == "tool":
            body = cut(body)
        yield from filter(None, map(str.rstrip, body.split("\n")))

    def toggled(self) -> Iterator[str]:
        """Yield the lines of the page with tool output and summaries in full, or no longer."""
        self._is_full = not self._is_full
        return self.pages.again()

    def facts(self) -> Iterator[str]:
        """Return what is known of the conversation."""
        conversation = self.conversation
        facts = {
            _("Title"): title_or_preview(conversation),
            _("Id"): conversation.id,
            _("Source"): conversation.source,
            _("Model"): conversation.model,
            _("Directory"): conversation.cwd,
            pgettext("git", "Branch"): conversation.git_branch,
            _("Started"): timestamp(conversation.root.started_at),
            _("Last active"): timestamp(conversation.last_active),
            _("Messages"): f"{conversation.message_count:,}",
            _("Cost"): costs(conversation, dollars),
        }
        return map(one_line, labelled(facts))


def cut(text: str) -> str:
    """Shorten a text to a line that a screen reader reads whole."""
    return one_line(text, _CUT).replace("…", "...")
