"""Find in the transcript, and go to a message by its id: the box, slices on the transcript's worker, `n` and `N`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.messages.transcript import read_messages
from hermes_browse.store.wording import _, ngettext

from ..context import Context
from ..screens.panes import Panes
from .ask_line import AskInput, AskLine
from .find import Findings, Slice, look_through, needle
from .model import TranscriptModel

if TYPE_CHECKING:
    from hermes_browse.store.messages.models import ChatMessage
    from hermes_browse.store.search import Matcher

    from .find import Findings, Slice
    from .scroll import Place

_WINDOW = 30


class Finding:
    """What is found in the conversation on screen.

    Args:
        context: The store.
        panes: The transcript.
        matchers: What the search wants lit.
    """

    def __init__(self, context: Context, panes: Panes, matchers: Callable[[], Sequence[Matcher]]) -> None:
        self._context, self._panes, self._matchers = context, panes, matchers
        self._findings: Findings | None = None
        self._model: TranscriptModel | None = None
        self._asks_for_id = False
        self._origin: Place | None = None
        self._awaits_first = False
        """The first find is still to be gone to."""
        self._text = ""
        self._is_quiet = False
        self._order: dict[int, int] = {}
        """Place of each message in the reading of `_model`."""

    # The box

    async def open(self, *, for_id: bool = False) -> None:
        """Ask what to find, or which message to go to."""
        transcript = self._panes.transcript
        if transcript.model is None:
            self._context.say(_("no conversation here"))
            return
        line = await self._line()
        self._asks_for_id = for_id
        self._origin = transcript.here()
        transcript.remember()
        if for_id:
            bones = transcript.model.skeleton.bones
            hint = _("{first} to {last}").format(first=bones[0].id, last=bones[-1].id) if bones else ""
            line.ask(_("go to message"), hint=hint)
        else:
            line.ask(_("find"), self._text, _("letters as they stand here; n and N step"))
            if self._text:
                self.edited(self._text)

    async def _line(self) -> AskLine:
        """The line with the box, mounted when it is first needed."""
        found = self._panes.query(AskLine)
        if found:
            return found.first()
        line = AskLine(self, id="ask")
        await self._panes.mount(line, after=self._panes.transcript)
        return line

    def hide(self) -> None:
        """Put the box away."""
        for line in self._panes.query(AskLine):
            line.display = False
        if isinstance(self._panes.focused, AskInput):
            self._panes.set_focus(self._panes.transcript)

    def submitted(self, text: str) -> None:
        """Enter: stay where the find is, or go to the id."""
        if self._asks_for_id:
            self._go_to_id(text)
            return
        self.hide()
        if self._findings is None:
            self.close()
        else:
            self._tell()

    def left(self) -> None:
        """Escape in the box: back to where it was opened."""
        self.hide()
        if not self._asks_for_id:
            self.close()
        if self._origin is not None:
            self._panes.transcript.go_back_to(self._origin)

    def _go_to_id(self, text: str) -> None:
        """To a message; what cannot be gone to stays in the box, to be changed."""
        wanted = text.strip().lstrip("#")
        if not wanted:
            self.hide()
            return
        try:
            message_id = int(wanted)
        except ValueError:
            self._context.say(
                _("a message id is a number; it stands in the details of a message and in search results")
            )
            return
        transcript = self._panes.transcript
        index = transcript.model.entry_of(message_id) if transcript.model is not None else None
        if index is None:
            absent = _("message {id} is not part of this conversation as it is read here")
            self._context.say(absent.format(id=message_id))
            return
        self.hide()
        self._with_messages(index, lambda: self._show_message(message_id))

    def _show_message(self, message_id: int) -> None:
        self._panes.transcript.go_to_message(message_id)
        self._context.say(_("message {id} · ' goes back").format(id=message_id))

    # Finding

    def edited(self, text: str) -> None:
        """Look for another text; called within the keystroke."""
        if self._asks_for_id:
            return

        self._text = text
        wanted, model = needle(text), self._panes.transcript.model
        if wanted is None or model is None:
            self.close()
            return
        self._take_model(model)
        origin = self._order.get(self._origin.message_id, 0) if self._origin is not None else 0
        self._findings = Findings(wanted, len(model.skeleton.bones), origin)
        self._awaits_first, self._is_quiet = True, False
        self._context.transcript_worker.cancel("goal")  # a place that was found with fewer letters
        self._panes.transcript.is_finding = True
        self._panes.transcript.light([wanted])
        self._look_on()

    def _look_on(self) -> None:
        """Look through the next slice; windows that come into sight are read between two of them."""
        findings, model = self._findings, self._model
        if findings is None or model is None:
            return
        part = findings.next_part
        if part is None:
            self._context.transcript_worker.cancel("find")
            self._arrive()
            return
        bones, wanted = model.skeleton.bones, findings.wanted

        def work(reader: Reader) -> Slice:

            return look_through(reader, bones, *part, wanted)

        def done(slice_: Slice) -> None:
            if self._findings is findings:
                findings.take(slice_)
                self._arrive()
                if not findings.is_complete:
                    self._look_on()

        self._context.transcript_worker.submit("find", work, done, self._context.failed)

    def _take_model(self, model: TranscriptModel) -> None:
        if model is not self._model:
            self._model = model
            self._order = {bone.id: number for number, bone in enumerate(model.skeleton.bones)}

    def _ordered(self) -> list[int]:
        assert self._findings is not None
        return sorted(self._findings.found & self._order.keys(), key=self._order.__getitem__)

    def _arrive(self) -> None:
        """Take news: go to the first find if none was gone to yet, and tell how many there are."""
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

        def show() -> None:
            self._panes.transcript.show_find(message_id, last=last)
            self._tell()

        self._with_messages(index, show)

    def _with_messages(self, index: int, show: Callable[[], None]) -> None:
        """Show a place, after reading the messages around it that are missing."""
        model = self._panes.transcript.model
        assert model is not None
        missing = model.missing(index - _WINDOW, index + _WINDOW)
        if not missing:
            self._context.transcript_worker.cancel("goal")
            show()
            return

        def done(messages: list[ChatMessage]) -> None:
            if self._panes.transcript.model is model:
                model.add(messages)
                self._panes.transcript.loaded()
                show()

        self._context.transcript_worker.submit(
            "goal", lambda reader: read_messages(reader, missing), done, self._context.failed
        )

    def step(self, by: int) -> None:
        """To the next or previous find, around the ends."""
        transcript = self._panes.transcript
        if self._findings is None or self._model is not transcript.model:
            return
        self._is_quiet = False
        ordered = self._ordered()
        # Whoever has moved on by hand goes on from there, not from the find left behind.
        position = self._position(ordered) if transcript.is_find_in_sight else None
        if not ordered or (position is not None and transcript.step_lit(by)):
            self._tell()
            return
        following = position + by if position is not None else self._beside(ordered, by)
        self._go(ordered[following % len(ordered)], last=by < 0)

    def _position(self, ordered: list[int]) -> int | None:
        hit = self._panes.transcript.page.hit
        return ordered.index(hit) if hit in ordered else None

    def _beside(self, ordered: list[int], by: int) -> int:
        """The first find on the page or below it; upwards the last one on the page or above it."""
        assert self._model is not None
        frame = self._panes.transcript.page.frame()
        entries = [self._model.entry_of(each) or 0 for each in ordered]
        if by > 0:
            return next((n for n, entry in enumerate(entries) if frame and entry >= frame[0][0]), len(ordered))
        return next((n for n in range(len(ordered) - 1, -1, -1) if frame and entries[n] <= frame[-1][0]), -1)

    def _tell(self) -> None:
        findings = self._findings
        if findings is None:
            return
        ordered = self._ordered()
        position = self._position(ordered)
        many = len(ordered)
        if position is not None:
            count = ngettext("{position:,} of 1 message", "{position:,} of {count:,} messages", many)
            count = count.format(position=position + 1, count=many)
        else:
            count = ngettext("1 message", "{count:,} messages", many).format(count=many)
        if not findings.is_complete:
            count += " …"
        elif not ordered:
            count = _("not in this conversation")
        for line in self._panes.query(AskLine):
            if line.display:
                line.answer(count)
                return
        self._context.say(_("“{text}”: {found} · n N step · Esc ends").format(text=self._text, found=count))

    def end(self) -> None:
        """Stop finding, and put the box away."""
        self.close()
        self.hide()

    # What happens around it

    def close(self) -> None:
        """Stop finding; terms of the search, if there is one, are lit again."""
        if not self._panes.transcript.is_finding:
            return
        self._forget()
        transcript = self._panes.transcript
        transcript.is_finding = False
        if transcript.model is not None:
            transcript.light(self._matchers())

    def _forget(self) -> None:
        self._findings, self._awaits_first = None, False
        for slot in ("find", "goal"):
            self._context.transcript_worker.cancel(slot)

    def shown(self, model: TranscriptModel | None, *, grown: bool = False) -> None:
        """The transcript shows something else: look on in what is new, or begin again."""
        findings, before = self._findings, self._model
        if findings is None or before is None:
            return
        if model is None or model.conversation.root_id != before.conversation.root_id:
            self._forget()
            self._panes.transcript.is_finding = False
            self.hide()
            return
        self._take_model(model)
        self._is_quiet = True  # the reader has asked for nothing
        if grown:
            findings.grow(len(before.skeleton.bones), len(model.skeleton.bones))
        else:
            self._findings = Findings(findings.wanted, len(model.skeleton.bones), 0)
            self._panes.transcript.is_finding = True
            self._panes.transcript.light([findings.wanted])
        self._look_on()
