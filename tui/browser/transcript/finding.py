"""Find in the transcript, and going to a message by its id."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hermes_browse.store.wording import _, ngettext

from ..panes import Panes
from .ask_line import AskInput
from .entries import TranscriptModel
from .find import FindResults, needle, scan
from .loader import read_missing

if TYPE_CHECKING:
    from .moves import Bookmark
    from .view import TranscriptView

_WINDOW = 30
"""Messages read before and after a find."""


class Finding:
    """Finds a text in the conversation on screen: asks for it, scans, steps through the results.

    While nothing is being found, the terms of the search are highlighted.
    """

    def __init__(self, main: Panes) -> None:
        self._main = main
        self._findings: FindResults | None = None
        self._model: TranscriptModel | None = None
        self._asks_for_id = False
        self._origin: Bookmark | None = None
        self._awaits_first = False
        """The transcript has not gone to the first find yet."""
        self._text = ""
        self._is_quiet = False
        self._order: dict[int, int] = {}
        """By message id: its index in the outline of `_model`."""

    # The input

    def open(self, what: str = "text") -> None:
        """Ask for a text, or for the `id` of a message: within the key, so that what is typed behind
        it goes into the input."""
        transcript, line = self._main.transcript, self._main.ask_line
        if transcript.model is None:
            self._main.say(_("no conversation here"))
            return
        self._asks_for_id = what == "id"
        self._origin = transcript.here()
        transcript.remember()
        if self._asks_for_id:
            hint = _("{first} to {last}", first=1, last=len(transcript.model.outline.rows))
            line.ask(_("go to message"), hint=hint, has_steps=False)
        else:
            line.ask(_("find"), self._text, _("exact text; n and N go to the next and previous"))
            if self._text:
                self.edited(self._text)

    def hide(self) -> None:
        """Hide the input."""
        self._main.ask_line.display = False
        if isinstance(self._main.focused, AskInput):
            self._main.set_focus(self._main.transcript)

    def submitted(self, text: str) -> None:
        """Enter: stay at the find, or go to the id."""
        if self._asks_for_id:
            self._go_to_id(text)
            return
        self.hide()
        if self._findings is None:
            self.close()
        else:
            self._tell()

    def left(self) -> None:
        """Escape: go back to where the input was opened."""
        self.hide()
        if not self._asks_for_id:
            self.close()
        if self._origin is not None:
            self._main.transcript.go_back_to(self._origin)

    def _go_to_id(self, text: str) -> None:
        """Go to a message by its number here, else by its id; what cannot be gone to stays in the
        input."""
        typed = text.strip().lstrip("#")
        model = self._main.transcript.model
        if not typed or model is None:
            self.hide()
            return
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
        self.hide()
        place = model.number_of(message_id)
        told = _("message {number:,} of {count:,} · ' goes back", number=place, count=len(rows))
        self._main.start("goal", self._show, index, message_id, told=told)

    # Finding

    def edited(self, text: str) -> None:
        """Find another text; called for each key."""
        if self._asks_for_id:
            return
        self._text = text
        matcher, model = needle(text), self._main.transcript.model
        if matcher is None or model is None:
            self.close()
            return
        self._take_model(model)
        origin = self._order.get(self._origin.message_id, 0) if self._origin is not None else 0
        self._findings = FindResults(matcher, len(model.outline.rows), origin)
        self._awaits_first, self._is_quiet = True, False
        self._main.cancel("goal")  # found with fewer letters
        self._main.transcript.is_finding = True
        self._main.transcript.highlight([matcher])
        self._scan_on()

    def _scan_on(self) -> None:
        if self._findings is not None and self._model is not None:
            self._main.start("find", self._scan, self._findings, self._model)

    async def _scan(self, findings: FindResults, model: TranscriptModel) -> None:
        """Scan slice by slice; after each, show what was found so far."""
        if findings.is_complete:
            self._arrive()
        while (part := findings.next_part) is not None:
            start, stop = part
            of_part = partial(
                scan, rows=model.outline.rows, start=start, stop=stop, matcher=findings.matcher
            )
            findings.take(await self._main.read(of_part))
            self._arrive()

    def _take_model(self, model: TranscriptModel) -> None:
        if model is not self._model:
            self._model = model
            self._order = {row.id: number for number, row in enumerate(model.outline.rows)}

    def _ordered(self) -> list[int]:
        assert self._findings is not None
        return sorted(self._findings.found & self._order.keys(), key=self._order.__getitem__)

    def _arrive(self) -> None:
        """Show the number of finds, and go to the first one unless that is done."""
        findings, model = self._findings, self._model
        if findings is None or model is None:
            return
        if not self._is_quiet:
            self._tell()
        if not self._awaits_first or not findings.found:
            return
        after = [each for each in self._ordered() if self._order[each] >= findings.origin]
        if after:
            self._go(after[0])
        elif findings.is_complete:
            self._go(self._ordered()[0])

    def _go(self, message_id: int, *, last: bool = False) -> None:
        index = self._model.entry_of(message_id) if self._model is not None else None
        if index is None:
            return
        self._awaits_first = False
        self._main.start("goal", self._show, index, message_id, last=last)

    async def _show(
        self, index: int, message_id: int, *, last: bool = False, told: str = ""
    ) -> None:
        """Show a message after the missing ones around it have been read, and tell where it is."""
        main, transcript = self._main, self._main.transcript
        if await read_missing(main, transcript, index - _WINDOW, index + _WINDOW):
            transcript.show_find(message_id, last=last)
            if told:
                main.say(told)
            else:
                self._tell()

    def step(self, by: int) -> None:
        """Go to the next or previous find, wrapping around."""
        transcript = self._main.transcript
        if self._findings is None or self._model is not transcript.model:
            return
        self._is_quiet = False
        ordered = self._ordered()
        # After scrolling, the step starts from the page instead of the last find.
        position = self._position(ordered) if transcript.is_find_in_sight else None
        if not ordered or (position is not None and transcript.step_match(by)):
            self._tell()
            return
        following = position + by if position is not None else _beside(transcript, ordered, by)
        self._go(ordered[following % len(ordered)], last=by < 0)

    def _position(self, ordered: list[int]) -> int | None:
        hit = self._main.transcript.page.hit
        return ordered.index(hit) if hit in ordered else None

    def _tell(self) -> None:
        findings = self._findings
        if findings is None:
            return
        ordered = self._ordered()
        position = self._position(ordered)
        many = len(ordered)
        if position is not None:
            count = ngettext(
                "{position:,} of 1 message",
                "{position:,} of {count:,} messages",
                many,
                position=position + 1,
                count=many,
            )
            if not self._main.transcript.is_match_laid_out:
                count += " · " + _("in what is left out here; O opens all of it")
        else:
            count = ngettext("1 message", "{count:,} messages", many, count=many)
        if not findings.is_complete:
            count += " …"
        elif not ordered:
            count = _("not in this conversation")
        if self._main.ask_line.display:
            self._main.ask_line.answer(count)
            return
        self._main.say(_("“{text}”: {found} · n N step · Esc ends", text=self._text, found=count))

    def end(self) -> None:
        """Stop finding, and hide the input."""
        self.close()
        self.hide()

    def close(self) -> None:
        """Stop finding; the terms of the search are highlighted again."""
        if not self._main.transcript.is_finding:
            return
        self._forget()
        transcript = self._main.transcript
        transcript.is_finding = False
        if transcript.model is not None:
            transcript.highlight(self._main.matchers)

    def _forget(self) -> None:
        self._findings, self._awaits_first = None, False
        for group in ("find", "goal"):
            self._main.cancel(group)

    def shown(self, model: TranscriptModel | None) -> None:
        """Continue in a transcript that has grown or is read differently; stop in another
        conversation."""
        findings, before = self._findings, self._model
        if findings is None or before is None:
            return
        if model is None or model.conversation.root_id != before.conversation.root_id:
            self._forget()
            self._main.transcript.is_finding = False
            self.hide()
            return
        count = len(before.outline.rows)
        has_grown = model.outline.rows[:count] == before.outline.rows
        self._take_model(model)
        self._is_quiet = True  # not caused by a key
        if has_grown:
            findings.grow(count, len(model.outline.rows))
        else:
            self._findings = FindResults(findings.matcher, len(model.outline.rows), 0)
            self._main.transcript.is_finding = True
            self._main.transcript.highlight([findings.matcher])
        self._scan_on()


def _beside(transcript: TranscriptView, ordered: list[int], by: int) -> int:
    """Return the index of the first find on the page or below it; upwards of the last one on it or
    above."""
    model, frame = transcript.model, transcript.page.frame()
    entries = [model.entry_of(message_id) or 0 for message_id in ordered] if model and frame else []
    if by > 0:
        return next((n for n, entry in enumerate(entries) if entry >= frame[0][0]), len(ordered))
    return next((n for n in reversed(range(len(entries))) if entries[n] <= frame[-1][0]), -1)
