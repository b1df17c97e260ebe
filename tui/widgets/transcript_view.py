"""The conversation as one scroll: lays out only what is on screen, and never moves what is being read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType

from hermes_browse.store.wording import N_, _

from ..bindings import bindings
from ..blocks import Look, Tools, is_foldable
from ..commands.panes import TRANSCRIPT
from ..entries import TranscriptModel
from ..styled import line_text
from .transcript_base import LOOKS
from .transcript_find import TranscriptFind

if TYPE_CHECKING:
    from hermes_browse.store.search import Matcher

__all__ = ["LOOKS", "TranscriptView"]

_TOOLS_ARE = {Tools.OFF: N_("tools: off"), Tools.SHORT: N_("tools: short"), Tools.FULL: N_("tools: full")}


class TranscriptView(TranscriptFind):
    """The viewer of a conversation over a `TranscriptModel`."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(TRANSCRIPT)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that step through finds are those of the search while nothing is looked for here."""
        return self.is_finding or action not in ("find_step", "find_end")

    def show(
        self,
        model: TranscriptModel | None,
        *,
        message_id: int | None = None,
        matchers: Sequence[Matcher] = (),
        segment: str | None = None,
    ) -> None:
        """Show a conversation: at its end, at a message, or at the start of a segment.

        Args:
            model: What to show; None for nothing.
            message_id: Begin at this message, as a hit.
            matchers: Terms to light.
            segment: Begin at this session instead.
        """
        self.page.matchers, self.page.hit, self.page.hit_number = matchers, message_id, None
        self.page.open(model)
        self._unfolded = None
        self._wanted = None
        self._loosen()
        if message_id is not None and self.show_find(message_id):
            return
        start = model.entry_of_segment(segment) if model is not None and segment is not None else None
        if start is not None:
            self._go_to(start)
        else:
            self._place()

    def grow(self, model: TranscriptModel) -> int:
        """Take a longer reading of the same conversation; follows along when at the end.

        Returns:
            How many messages are new below what is on screen; 0 when they are shown.
        """
        at_end = self.page.at_end
        new = self.page.grow(model)
        self._wanted = None
        self._place()
        return 0 if at_end else new

    def loaded(self) -> None:
        """Messages have been read: lay out what is on screen again."""
        self.page.forget()
        if self._wanted is not None:
            self.page.hide_paired(*self._wanted)
        self._wanted = None
        self._place()
        self._step_on()

    def on_click(self, event: events.Click) -> None:
        """A click on a folded line opens it."""
        frame = self.page.frame()
        if event.y < len(frame):
            self._current, line = frame[event.y]
            if line_text(line).lstrip(" │┊─").startswith(("▸", "▾", "…")):
                self.action_toggle_fold()
            self.refresh()

    def action_find_step(self, by: int) -> None:
        """To the next or previous find."""
        self.post_message(self.Finding(by))

    def action_find_end(self) -> None:
        """No longer find."""
        self.post_message(self.Finding(0))

    # Folding

    def action_toggle_fold(self) -> None:
        """Show all of the current message, or less again."""
        index = self._current_index()
        message = self.current
        if index is None or message is None or not is_foldable(message, self.model):
            self.post_message(self.Told(_("nothing is folded here")))
            return
        self.page.opened ^= {index}
        self._unfolded = None  # the reader has decided
        self.page.forget()
        self.page.go(self.page.place)
        self._current = index
        self._place()

    def _set_look(self, look: Look) -> None:
        self.page.look = look
        self.page.forget()
        self._place()

    def action_cycle_tools(self) -> None:
        """Tool calls off → short → full."""
        order = list(Tools)
        self._set_look(replace(self.look, tools=order[(order.index(self.look.tools) + 1) % len(order)]))
        self.post_message(self.Told(_(_TOOLS_ARE[self.look.tools])))

    def action_toggle_reasoning(self) -> None:
        """Reasoning folded or shown."""
        self._set_look(replace(self.look, reasoning=not self.look.reasoning))
        self.post_message(self.Told(_("reasoning shown") if self.look.reasoning else _("reasoning folded")))
