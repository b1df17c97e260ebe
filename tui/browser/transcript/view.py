"""The transcript widget: shows conversations, folds, and goes to days, parts, marks and matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.reactive import var

from hermes_browse.store.wording import N_, _

from ...settings.keys.main_commands import TRANSCRIPT
from ...text.styled import line_text
from ...widgets.bindings import bindings, following
from .entries import NOTHING, Look, Tools, TranscriptModel
from .page import Bookmark, SeenByModel
from .scroll import TranscriptScroll

if TYPE_CHECKING:
    from hermes_browse.store.search.terms import Term

_TOOLS = {
    Tools.OFF: N_("tools: off"),
    Tools.SHORT: N_("tools: short"),
    Tools.FULL: N_("tools: full"),
}
_LEAD = 2
"""Lines shown above a match."""


class TranscriptView(TranscriptScroll):
    """Shows a `TranscriptModel`."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(TRANSCRIPT)

    is_finding: var[bool] = var(False, init=False, bindings=True)
    """Whether a text is being found here: `n`, `N` and Escape act on it then, not on the search."""

    _unfolded: int | None = None
    """The message that was unfolded to show a match; it is folded again when another is shown."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys that step through matches to the search while nothing is being found
        here."""
        return self.is_finding or action != "find"

    def show(
        self,
        model: TranscriptModel | None,
        *,
        message_id: int | None = None,
        matchers: Sequence[Term] = (),
        segment: str | None = None,
    ) -> None:
        """Show a conversation: at its end, at a message, or at the start of a segment.

        Args:
            model: None for an empty page.
            message_id: Begin at this message, as a hit.
            matchers: Terms to highlight.
            segment: Begin at this session instead.
        """
        self.page.light(matchers, message_id)
        self.page.open(model if model is not None else NOTHING)
        self._unfolded = None
        if message_id is not None and self.show_find(message_id):
            return
        if segment is None or not self.go_to_segment(segment):
            self._update_page()

    def grow(self, model: TranscriptModel) -> int:
        """Show a newer version of the same conversation, at its end if that was shown.

        Returns:
            The number of new messages below the page; 0 if these are shown.
        """
        at_end = self.page.at_end
        new = self.page.grow(model)
        self._update_page()
        return 0 if at_end else new

    def loaded(self) -> None:
        """Lay out the page again, after messages have been read."""
        self._update_page()

    def see(self, seen: SeenByModel | None) -> None:
        self.page.seen = seen
        self._update_page()

    def on_click(self, event: events.Click) -> None:
        frame = self.page.frame()
        if event.y < len(frame):
            self.page.stepped, line = frame[event.y]
            if line_text(line).lstrip(" │┊─").startswith(("▸", "▾", "…")):
                self.action_toggle_fold()
            self._update_page()

    def action_find(self, step: int) -> None:
        self.post_message(self.FindKeyPressed(step))

    # Folding

    def action_toggle_fold(self) -> None:
        index, row_id = self.page.current, self.current_id
        if index is None or row_id is None or not self.page.model.is_foldable(index):
            self.tell(_("nothing is folded here"))
            return
        self.page.opened ^= {row_id}
        self._unfolded = None  # stays as the user folds it
        self._go(self.page.position, index)

    def _set_look(self, look: Look, words: str) -> None:
        self.page.look = look
        self._update_page()
        self.tell(words)

    def action_cycle_tools(self) -> None:
        """Show tool calls not at all, short, or in full."""
        look = self.page.look
        tools = following(Tools, look.tools)
        self._set_look(look._replace(tools=tools), _(_TOOLS[tools]))

    def action_toggle_reasoning(self) -> None:
        look = self.page.look
        words = _("reasoning folded") if look.reasoning else _("reasoning shown")
        self._set_look(look._replace(reasoning=not look.reasoning), words)

    # Days, parts, marks

    def go_to_segment(self, session_id: str) -> bool:
        """Show the beginning of a segment; False if it has no messages."""
        index = self.page.model.entry_of_segment(session_id)
        if index is not None:
            self._go_to(index)
        return index is not None

    def go_back_to(self, bookmark: Bookmark) -> bool:
        """Show a place again; False if this reading leaves its message out."""
        position = self.page.position_of(bookmark)
        if position is not None:
            self._go(position)
        return position is not None

    def action_mark(self) -> None:
        self._mark = self.page.here()
        self._is_marked = self._mark is not None
        if self._is_marked:
            self.tell(_("marked · ' comes back here"))

    def action_to_mark(self) -> None:
        """Go to the mark, else to where the last jump began; the key goes back to here the next
        time."""
        goal, here = self._mark, self.page.here()
        if goal is None or goal.root_id != self.page.model.conversation.root_id:
            self.tell(_("no mark in this conversation: m makes one"))
        elif self.go_back_to(goal):
            self._mark = here
        else:
            self.tell(_("the marked message is not part of this reading: v shows everything"))

    # Matches

    def highlight(self, matchers: Sequence[Term]) -> None:
        """Highlight other terms without scrolling."""
        self.page.light(matchers)
        self._update_page()

    @property
    def is_match_laid_out(self) -> bool:
        """Whether a match stands in the lines of the message at which the find is."""
        return self.page.hit_entry is None or bool(self.page.match_lines(self.page.hit_entry))

    def step_match(self, by: int) -> bool:
        """Go to the next or previous match in the same message; False if there is none."""
        index, number = self.page.hit_entry, self.page.hit_number
        if index is None or number is None:
            return False
        is_there = 0 <= number + by < len(self.page.match_lines(index))
        if is_there:
            self._show_match(index, number + by)
        return is_there

    def show_find(
        self, message_id: int, *, last: bool = False, matchers: Sequence[Term] | None = None
    ) -> bool:
        """Show a message at its first match, or at its start if it has none; it must have been
        read.

        Args:
            message_id: A result that is shown with its call is shown there.
            last: Show the last match instead.
            matchers: Terms to highlight; None for the same as before.

        Returns:
            False if this reading leaves the message out.
        """
        page, model = self.page, self.page.model
        if matchers is not None and matchers != page.matchers:
            page.light(matchers)
        index = model.shown_at(message_id)
        if index is None:
            return False
        page.hit, page.hit_number = model.id_of(index), None
        if self._unfolded != page.hit:
            page.opened.discard(self._unfolded)
            self._unfolded = None
        is_folded = page.hit not in page.opened and model.is_foldable(index)
        if is_folded and not page.match_lines(index):
            page.opened.add(page.hit)
            self._unfolded = page.hit
            if not page.match_lines(index):
                page.opened.remove(page.hit)
        lines = page.match_lines(index)
        self._show_match(index, len(lines) - 1 if last else 0)
        return True

    def _show_match(self, index: int, number: int) -> None:
        """Show the start of a message, or one of its matches where that is below the page then."""
        lines, height = self.page.match_lines(index), self.page.height
        self.page.hit_number = number if lines else None
        line = lines[number] if lines else 0
        is_below = line > height - _LEAD - 3
        self._go_to(index, lead=height // 3 - line if is_below else _LEAD)
