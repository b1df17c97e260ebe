"""A part of a conversation as a transcript of its own, which reads what comes into sight."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from hermes_browse.store.wording import _

from ...browser.transcript.finding import needle
from ...browser.transcript.loader import read_missing
from ...browser.transcript.view import TranscriptView
from ...settings.keys.main_commands import TRANSCRIPT
from ...widgets.bindings import bindings
from .inspection import describe_lost

if TYPE_CHECKING:
    from hermes_browse.store.compression.losses import Losses, Lost

    from ...browser.transcript.entries import TranscriptModel
    from ...work.store_screen import StoreScreen

_KEPT = (
    "scroll_",
    "to_start",
    "to_end",
    "step(",
    "step_rule(",
    "toggle_fold",
    "cycle_tools",
    "toggle_reasoning",
)
"""What the calls of the keys begin with that work here as in the transcript."""
_MOST_LIT = 150
"""Lost terms that are highlighted at once."""
_AROUND = 20
"""Entries that are read before and after a place that is gone to."""


class PartPane(TranscriptView, inherit_bindings=False):
    """Shows a model of a part; the keys that need the main screen are left out."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(
        each for each in TRANSCRIPT if each.call.startswith(_KEPT)
    )

    def __init__(self, owner: StoreScreen[None], *, id: str) -> None:
        super().__init__(id=id)
        self._owner, self._group = owner, f"part {id}"
        self._goal: int | None = None
        """The entry to begin at, until what is there has been read: guessed heights may end the
        page too early."""

    def open(self, model: TranscriptModel, at: int | None = None) -> None:
        """Show a part from its start, or from a message, which is unfolded."""
        self.show(model)
        index = model.entry_of(at) if at is not None else 0
        if index is not None and len(model):
            if at is not None and (row := model.row(index)) is not None:
                self.page.opened.add(row.id)
            self._go_to(index)
            self._goal = index

    def on_transcript_view_needed(self, event: TranscriptView.Needed) -> None:
        """Read the messages that came into sight."""
        self._owner.start(self._group, read_missing, self._owner, self, event.first, event.last)

    def loaded(self) -> None:
        """Lay out the part again, after messages have been read; go to where it begins, unless that
        was done."""
        super().loaded()
        if self._goal is not None:
            self._go_to(self._goal)
            self._goal = None


class ReplacedPane(PartPane):
    """What a summary stands for, with what was lost of it highlighted."""

    def __init__(self, owner: StoreScreen[None], *, id: str) -> None:
        super().__init__(owner, id=id)
        self._losses: Losses | None = None
        self._at = -1
        """The lost term that was gone to last."""

    def open(self, model: TranscriptModel, at: int | None = None) -> None:
        self._losses, self._at = None, -1
        super().open(model, at)

    def light(self, losses: Losses) -> None:
        """Highlight what was lost."""
        self._losses = losses
        terms = (needle(each.term) for each in losses.terms[:_MOST_LIT])
        self.highlight([each for each in terms if each is not None])

    def go_to_lost(self, by: int) -> str:
        """Go to the next or previous lost term, the most telling first; return a sentence on it."""
        if self._losses is None:
            return _("still looking for what was lost")
        count = len(self._losses.terms)
        if not count:
            return _("Nothing was lost.")
        first = 0 if by > 0 else count - 1
        self._at = (self._at + by) % count if self._at >= 0 else first
        lost = self._losses.terms[self._at]
        self._owner.start(self._group, self._show_lost, lost)
        return describe_lost(lost, self._at + 1, count)

    async def _show_lost(self, lost: Lost) -> None:
        """Go to a lost term in its message, which is read first if need be."""
        matcher, model = needle(lost.term), self.model
        index = model.entry_of(lost.last_message_id) if model is not None else None
        if index is None or matcher is None:
            return
        if await read_missing(self._owner, self, index - _AROUND, index + _AROUND):
            self.show_find(lost.last_message_id, matchers=(matcher,))
