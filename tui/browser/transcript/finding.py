"""Find in the transcript, and going to a message by its number or id."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from hermes_browse.store.api import OpenStore
from hermes_browse.store.messages.chat_message import (
    CALL,
    RESULT,
    ChatMessage,
    RowInfo,
    blocks_of,
    without_injections,
)
from hermes_browse.store.search.terms import Term, TermKind, fold
from hermes_browse.store.wording import _, ngettext

from ...text.formats import counted
from ...widgets.lines import TextBox
from ..panes import Panes
from .block_layout import MARKDOWN_LIMIT
from .entries import NOTHING, TranscriptModel
from .loader import read_messages, read_missing
from .markdown_layout import matches_rendered
from .tool_text import as_shown

if TYPE_CHECKING:
    from .page import Bookmark

BATCH = 200
"""Messages scanned at a time, which takes a twentieth of a second."""
_WINDOW = 30
"""Messages read before and after a find."""


def needle(text: str) -> Term:
    """Return a term for a literal text, anywhere in a word, ignoring case and accents."""
    return Term(text, TermKind.INSIDE)


def contains(message: ChatMessage, matcher: Term) -> bool:
    """Whether a message has a match, as the transcript can show it, folded parts included."""
    for block in blocks_of(message):
        shown = as_shown(block.body) if block.kind in (CALL, RESULT) else block.body
        if any(matcher.first(fold(text)) for text in (block.tool, shown)):
            return True
    text = without_injections(message.text)
    return len(text) <= MARKDOWN_LIMIT and matches_rendered(text, matcher)


def scan(
    store: OpenStore, model: TranscriptModel, rows: Sequence[RowInfo], matcher: Term
) -> set[int]:
    """Return the ids of the messages of some rows that match; on a reading thread.

    A result that is shown with its call counts as the message with the call.
    """
    ids = [row.id for row in rows]
    unread = [each for each in ids if each not in model.messages]
    # Looked for after the unread ones: one that is read meanwhile is then looked through twice.
    messages = [model.messages[each] for each in ids if each in model.messages]
    if unread:
        messages += read_messages(store, model, unread)
    callers = {call.id: each.id for each in messages for call in each.tool_calls if call.id}
    matching = [each for each in messages if contains(each, matcher)]
    return {
        callers.get(each.tool_call_id or "") or model.caller_of(each) or each.id
        for each in matching
    }


@dataclass
class FindResults:
    """The matching messages of a conversation, as far as it has been scanned from the row `origin`
    on."""

    matcher: Term
    model: TranscriptModel
    """The conversation; a newer version of it takes its place."""
    origin: int
    found: set[int] = field(default_factory=set)
    """Ids of messages."""
    _scanned: set[int] = field(default_factory=set)
    is_complete: bool = False
    """Whether everything has been scanned."""
    awaits_first: bool = True
    """The transcript has not gone to the first find yet."""

    def unscanned(self) -> Iterator[list[RowInfo]]:
        """Yield the rows that have not been scanned in batches, from the origin around the end;
        each counts as scanned when the next one is asked for.

        Results of tools are in the batch of the calls before them.
        """
        self.is_complete, rows = False, self.model.outline.rows
        around = (*rows[self.origin :], *rows[: self.origin])
        left = [row for row in around if row.id not in self._scanned]
        while left:
            follows = (at for at, row in enumerate(left) if at >= BATCH and row.role != "tool")
            end = next(follows, len(left))
            batch, left = left[:end], left[end:]
            yield batch
            self._scanned.update(row.id for row in batch)
        self.is_complete = True

    @property
    def ordered(self) -> list[int]:
        """The messages found, from top to bottom."""
        return sorted(self.found & self.model.ids, key=self.model.number_of)

    @property
    def first(self) -> int | None:
        """The first message found below the origin, else the first of all; None without any."""
        ordered = self.ordered
        at = bisect_right(ordered, self.origin, key=self.model.number_of)
        around = [*ordered[at:], *ordered]
        return around[0] if around else None


class Finding:
    """Finds a text in the conversation on screen: asks for it, scans, steps through the results.

    While nothing is being found, the terms of the search are highlighted.
    """

    def __init__(self, main: Panes) -> None:
        self._main, self._transcript = main, main.transcript
        self._findings: FindResults | None = None
        self._origin: Bookmark | None = None
        """Where the box was opened."""
        self._told = ""
        """The last sentence in the status line."""
        self._boxes = main.find_box, main.go_to_box
        self._line = main.query_one("#ask")
        """The line of these boxes."""

    # The boxes

    def open(self) -> None:
        """Ask for a text."""
        box = self._main.find_box
        if self._ask(box, _("find")):
            self.edited(box.value)

    def open_go_to(self) -> None:
        """Ask for the number or the id of a message."""
        box = self._main.go_to_box
        if self._ask(box, _("go to message")):
            box.value = ""
            rows = self._transcript.page.model.outline.rows
            box.placeholder = _("{first} to {last}", first=1, last=len(rows)) if rows else ""

    def _ask(self, box: TextBox, label: str) -> bool:
        """Show and focus a box, within the key, so that what is typed behind it goes into the box,
        also while the conversation is being read; return whether there is one."""
        main = self._main
        if main.current is None:
            main.say(_("no conversation here"))
            return False
        self._origin = self._transcript.remember()
        self._line.display = True
        for each in self._boxes:
            each.display = each is box
        main.line("ask-label").update(label, layout=True)
        self._answer("")
        main.set_focus(box)
        return True

    def _answer(self, text: str) -> None:
        self._main.line("ask-answer").update(text, layout=True)

    def hide_boxes(self) -> None:
        self._line.display = False
        if self._main.focused in self._boxes:
            self._main.set_focus(self._transcript)

    def accept(self) -> None:
        """Enter: stay at the find."""
        self.hide_boxes()
        self._tell()

    def cancel(self) -> None:
        """Escape: go back to where the box was opened."""
        if self._main.find_box.has_focus:
            self.stop()
        self.hide_boxes()
        if self._origin is not None:
            self._transcript.go_back_to(self._origin)

    def go_to(self) -> None:
        """Enter: go to a message by its number here, else by its id; what cannot be gone to stays
        in the box."""
        typed = self._main.go_to_box.value.strip().lstrip("#")
        if not typed:
            self.hide_boxes()
            return
        model = self._transcript.page.model
        if not typed.isdecimal():
            self._main.say(_("a message has a number: it stands at the right of its first line"))
            return
        rows, number = model.outline.rows, int(typed)
        message_id = rows[number - 1].id if 1 <= number <= len(rows) else number
        index = model.entry_of(message_id)
        if index is None:
            self._main.say(
                _("message {id} is not part of this conversation as it is read here", id=message_id)
            )
            return
        self.hide_boxes()
        place = model.entries[index].number
        sentence = _("message {number:,} of {count:,} · ' goes back", number=place, count=len(rows))
        self._go(message_id, sentence=sentence)

    # Finding

    def edited(self, text: str) -> None:
        """Find another text; called for each key."""
        matcher, model, origin = needle(text), self._transcript.model, self._origin
        if not text.strip():
            self.stop()
            self._answer("")
            return
        if model is None:  # it is being read
            self._forget()
            self._transcript.is_finding = True
            self._answer("")
            return
        begin = model.entry_of(origin.message_id) if origin is not None else None
        first = model.entries[begin].number - 1 if begin is not None else 0
        self._findings = FindResults(matcher, model, first)
        self._main.cancel("goal")  # found with fewer letters
        self._transcript.is_finding = True
        self._transcript.highlight([matcher])
        self._main.start("find", self._scan, self._findings)

    async def _scan(self, findings: FindResults) -> None:
        """Scan batch by batch; after each, show what was found so far."""
        for rows in findings.unscanned():
            batch = partial(scan, model=findings.model, rows=rows, matcher=findings.matcher)
            findings.found |= await self._main.read(batch)
            self._arrive(findings)
        self._arrive(findings)

    def _arrive(self, findings: FindResults) -> None:
        """Show the number of finds, unless something else was said since, and go to the first one
        unless that is done."""
        if self._line.display or self._main.status.text == self._told:
            self._tell()
        if findings.awaits_first and (first := findings.first) is not None:
            findings.awaits_first = False
            self._go(first)

    def _go(self, message_id: int, **how: Any) -> None:
        self._main.start("goal", self._show, message_id, **how)

    async def _show(self, message_id: int, *, last: bool = False, sentence: str = "") -> None:
        """Show a message after the missing ones around it have been read, and tell where it is."""
        index = self._transcript.page.model.entry_of(message_id) or 0
        first, end = index - _WINDOW, index + _WINDOW
        is_read = await read_missing(self._main, self._transcript, first, end)
        if is_read and self._transcript.show_find(message_id, last=last):
            if sentence:
                self._main.say(sentence)
            else:
                self._tell()

    def step(self, by: int) -> None:
        """Go to the next or previous find, wrapping around."""
        transcript, findings = self._transcript, self._findings
        if findings is None:
            return
        findings.awaits_first = False
        ordered = findings.ordered
        # After scrolling, the step starts from the page instead of the last find.
        page = transcript.page
        hit = page.hit if page.hit_entry in dict(page.frame()) else None
        if not ordered or (hit in ordered and transcript.step_match(by)):
            self._tell()
            return
        if hit in ordered:
            following = ordered.index(hit) + by
        else:
            entries = [findings.model.entry_of(each) or 0 for each in ordered]
            first, last = page.frame()[0][0], page.frame()[-1][0]
            following = bisect_left(entries, first) if by > 0 else bisect_right(entries, last) - 1
        self._go(ordered[following % len(ordered)], last=by < 0)

    def _tell(self) -> None:
        findings = self._findings
        if findings is None:
            return
        ordered, hit = findings.ordered, self._transcript.page.hit
        many = len(ordered)
        count = counted(many, "message")
        if hit in ordered:
            count = ngettext(
                "{position:,} of 1 message",
                "{position:,} of {count:,} messages",
                many,
                position=ordered.index(hit) + 1,
            )
            if not self._transcript.is_match_laid_out:
                count += " · " + _("in what is left out here; O opens all of it")
        if not findings.is_complete:
            count += " …"
        elif not ordered:
            count = _("not in this conversation")
        if self._line.display:
            self._answer(count)
        else:
            self._told = _(
                "“{text}”: {found} · n N step · Esc ends", text=findings.matcher.text, found=count
            )
            self._main.say(self._told)

    def stop(self) -> None:
        """Stop finding; the terms of the search are highlighted again."""
        if self._transcript.is_finding:
            self._forget()
            self._transcript.highlight(self._main.matchers)

    def _forget(self) -> None:
        self._findings, self._transcript.is_finding = None, False
        self._main.retract(self._told)
        for group in ("find", "goal"):
            self._main.cancel(group)

    def shown(self) -> None:
        """Continue in a transcript that has grown or is read differently; stop in another
        conversation. What was typed while one is read is found when it is there."""
        findings, model, box = self._findings, self._transcript.page.model, self._main.find_box
        if findings is None or (model is NOTHING and box.has_focus):
            self.edited(box.value)
            return
        if model.conversation.root_id != findings.model.conversation.root_id:
            self._forget()
            self.hide_boxes()
            return
        findings.model = model
        if list(self._transcript.page.matchers) != [findings.matcher]:
            self._transcript.highlight([findings.matcher])
        self._main.start("find", self._scan, findings)
