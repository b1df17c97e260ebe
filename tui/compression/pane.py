"""A part of a conversation as a transcript of its own, which reads what comes into sight."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from ..bindings import bindings
from ..commands.main_commands import TRANSCRIPT
from ..context import Context
from ..transcript.find import needle
from ..transcript.reading import read_missing
from ..transcript.view import TranscriptView

if TYPE_CHECKING:
    from ..transcript.entries import TranscriptModel

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
_AROUND = 20
"""Entries that are read before and after a place that is gone to."""


class PartPane(TranscriptView, inherit_bindings=False):
    """Shows a model of a part; the keys that need the main screen are left out."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(
        each for each in TRANSCRIPT if each.call.startswith(_KEPT)
    )

    def __init__(self, context: Context, *, id: str) -> None:
        super().__init__(id=id)
        self._of_store, self._slot = context, f"part {id}"
        self._goal: int | None = None
        """The entry to begin at, until what is there has been read: guessed heights may end the
        page too early."""

    def open(self, model: TranscriptModel, at: int | None = None) -> None:
        """Show a part from its start, or from a message, which is unfolded."""
        self.show(model)
        index = model.entry_of(at) if at is not None else 0
        if index is not None and len(model):
            if at is not None:
                self.page.opened.add(index)
            self._go_to(index)
            self._goal = index

    def find(self, message_id: int, text: str) -> None:
        """Go to a text in a message, which is read first if need be."""
        matcher, model = needle(text), self.model
        index = model.entry_of(message_id) if model is not None else None
        if index is None or matcher is None:
            return
        show = partial(self.show_find, message_id, matchers=(matcher,))
        read_missing(self._of_store, self._slot, self, index - _AROUND, index + _AROUND, show)

    def on_transcript_view_needed(self, event: TranscriptView.Needed) -> None:
        """Read the messages that came into sight."""
        event.stop()
        read_missing(self._of_store, self._slot, self, event.first, event.last)

    def loaded(self) -> None:
        """Lay out the part again, after messages have been read; go to where it begins, unless that
        was done."""
        super().loaded()
        if self._goal is not None:
            self._go_to(self._goal)
            self._goal = None
