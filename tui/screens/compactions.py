"""The inspector: each compaction of a conversation, what it replaced, what the model had instead,
and what was lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.getters import query_one

from hermes_browse.store.api import OpenStore
from hermes_browse.store.compression.compactions import Compaction, CompactionHistory
from hermes_browse.store.compression.losses import Losses, Lost
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import N_, _

from ..browser.list.conversation_list import ConversationList
from ..browser.main import MainScreen
from ..browser.transcript.entries import TranscriptModel
from ..browser.transcript.finding import needle
from ..browser.transcript.loader import read_missing
from ..browser.transcript.scroll import Needed
from ..browser.transcript.view import TranscriptView
from ..settings.keys.main_commands import TRANSCRIPT
from ..settings.keys.screen_commands import COMPACTIONS
from ..text import formats
from ..text.family import count_lost
from ..widgets.bindings import bindings
from ..widgets.lines import TextLine
from ..widgets.list_rows import FixedRows, ListRow, NoteRow
from ..work.jobs import StoreScreen
from .exporting import ExportCard
from .inspection import (
    CompactionRow,
    about,
    describe_lost,
    lost_markdown,
    nothing_compressed,
    read_sides,
    replaced_markdown,
    title_of_instead,
    title_of_replaced,
)
from .sub_screen import ConversationScreen

_KEPT = (
    "scroll_",
    "to_start",
    "to_end",
    "step(",
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

    BINDINGS = bindings(each for each in TRANSCRIPT if each.call.startswith(_KEPT))

    _goal: int | None = None
    """The entry to begin at, until what is there has been read: guessed heights may end the page too
    early."""

    def open(self, model: TranscriptModel, at: int | None = None) -> None:
        """Show a part from its start, or from a message, which is unfolded."""
        self.show(model)
        index = model.entry_of(at) if at is not None else 0
        if index is not None and len(model):
            if at is not None and (row := model.row(index)) is not None:
                self.page.opened.add(row.id)
            self._go_to(index)
            self._goal = index

    def watch_needed(self, needed: Needed | None) -> None:
        """Read the messages that came into sight."""
        if needed is None:
            return
        screen = self.screen
        assert isinstance(screen, StoreScreen)
        screen.start(f"part {self.id}", read_missing, screen, self, needed.first, needed.last)

    def loaded(self) -> None:
        """Lay out the part again, after messages have been read; go to where it begins, unless that
        was done."""
        super().loaded()
        if self._goal is not None:
            self._go_to(self._goal)
            self._goal = None


class CompactionsScreen(ConversationScreen):
    """The compactions of a conversation; it begins with the one of a number, else with
    that of the current message, else with the newest."""

    ENTER = N_("Read what was replaced")
    EXAMPLES = (
        N_("What is shown"),
        (
            (
                N_("lost"),
                N_(
                    "what stood in the replaced messages and in nothing that the model was given after them"
                ),
            ),
            ("~84k → 12k", N_("tokens before and after, guessed: four bytes each, as Hermes does")),
            ("?", N_("the store does not say all there is to know of this one")),
            ("!", N_("it left messages behind without a summary; the line below says what helps")),
        ),
    )
    KEYS = COMPACTIONS
    TITLE = N_("compactions")

    replaced = query_one("#replaced", PartPane)
    """What the summary stands for, with what was lost of it highlighted."""
    instead = query_one("#instead", PartPane)
    """What the model had from then on."""

    def __init__(
        self, main: MainScreen, conversation: Conversation, begin: int | None = None
    ) -> None:
        super().__init__(main, conversation)
        self._history = CompactionHistory()
        self._number = -1 if begin is None else begin
        """The compaction that the panes show, or begin with; negative for none."""
        self._losses: dict[Compaction, Losses] = {}
        """As far as they have been found."""
        self._is_open = False
        """Whether they show it already; False while its messages are being read."""
        self._lost_at: int | None = None
        """The lost term that was gone to last, -1 for none; None as long as they are not
        highlighted."""

    def content(self) -> ComposeResult:
        yield ConversationList(id="compactions")
        yield TextLine(id="about")
        yield Horizontal(
            Vertical(TextLine(id="replaced-title"), PartPane(id="replaced"), id="replaced-side"),
            Vertical(TextLine(id="instead-title"), PartPane(id="instead"), id="instead-side"),
            id="panes",
        )

    @property
    def _compaction(self) -> Compaction | None:
        compactions = self._history.compactions
        return compactions[self._number] if 0 <= self._number < len(compactions) else None

    async def read_rows(self) -> None:
        """Read the compactions, and show them unless they are the same; the panes stay as long as
        what they show does."""
        conversation = self.conversation
        at = self.main.message_id
        history = await self.read(lambda store: store.compactions(conversation.segments))
        shown = self._compaction
        before = self._history.compactions
        self._history = history
        compactions = history.compactions
        if shown is not None and before == compactions:
            return
        count = len(compactions)
        begin = self._number
        if not 0 <= begin < count:
            of_message = (each for each in range(count) if at in compactions[each].gone)
            begin = next(of_message, count - 1)
        self._number = begin
        self.set_class(not count, "-empty")
        self.offer_keys(are_of_use=count > 0)
        if not count:
            self.cancel("sides")
            catalog = self.main.catalog
            words = nothing_compressed(history)
            if catalog.exact and catalog.of_session(conversation.root_id) is None:
                words = self.main.why_gone(conversation)
            self.rows.show(FixedRows([NoteRow(words)]))
            return
        self.rows.styles.height = min(count, max(self.size.height // 5, 3))
        there = compactions[begin]
        if self._is_open and shown and (shown.gone, shown.instead) == (there.gone, there.instead):
            if there not in self._losses:
                self._lost_at = None
            self._describe(there)
            self.start("sides", self._find_losses, there)
        else:
            self._show(begin)
        self._show_rows(key=f"c{begin}")

    def _show_rows(self, key: str | None = None) -> None:
        rows = [
            CompactionRow(number, compaction, self._losses.get(compaction))
            for number, compaction in enumerate(self._history.compactions)
        ]
        self.rows.show(FixedRows(rows), key=key)

    def came_to(self, row: ListRow, *, by_hand: bool) -> None:
        if isinstance(row, CompactionRow) and row.number != self._number:
            self._show(row.number)

    def chose(self, row: ListRow) -> None:
        if isinstance(row, CompactionRow):
            self.set_focus(self.replaced)

    @on(TranscriptView.Notice)
    def noticed(self, event: TranscriptView.Notice) -> None:
        self.say(event.text)

    def _show(self, number: int) -> None:
        """Show a compaction."""
        self._number = number
        self._lost_at = None
        self._is_open = False
        compaction = self._history.compactions[number]
        self._describe(compaction)
        self.start("sides", self._open_sides, compaction)

    def _describe(self, compaction: Compaction) -> None:
        """Tell of the compaction shown."""
        self.show_line("instead-title", f"  {title_of_instead(compaction)}", "bold")
        self.line("about").update(about(self.conversation, compaction), layout=True)
        self._show_losses(compaction)

    async def _open_sides(self, compaction: Compaction) -> None:
        """Read both sides of a compaction, then find what was lost; moving the cursor ends it."""
        read = partial(
            read_sides,
            conversation=self.conversation,
            history=self._history,
            compaction=compaction,
        )
        replaced, instead = await self.read(read)
        self.replaced.open(replaced)
        self.instead.open(instead, compaction.summary)
        self._is_open = True
        await self._find_losses(compaction)

    async def _find_losses(self, shown: Compaction) -> None:
        """Find what a compaction lost, then what the others did, the newest first."""
        for each in (shown, *reversed(self._history.compactions)):
            if each not in self._losses:
                self._losses[each] = await self.read(partial(OpenStore.losses, compaction=each))
                self._show_rows()
            if each is shown and self._lost_at is None:
                self._show_losses(shown)
                terms = self._losses[shown].terms[:_MOST_LIT]
                self.replaced.highlight([needle(each.term) for each in terms])
                self._lost_at = -1

    def _show_losses(self, compaction: Compaction) -> None:
        """Show how much the compaction under the cursor lost, if that is known."""
        losses = self._losses.get(compaction)
        title = Content.styled("  " + title_of_replaced(compaction), "bold")
        if losses is not None and losses.terms:
            title += Content.styled(f" · {count_lost(losses)}", "$accent bold")
        self.line("replaced-title").update(title)

    def action_lost(self, by: int) -> None:
        """Go to the next or previous lost term, the most telling first."""
        if self._compaction is None:
            self.say("")
        elif self._lost_at is None:
            self.say(_("still looking for what was lost"))
        elif terms := self._losses[self._compaction].terms:
            first = 0 if by > 0 else len(terms) - 1
            self._lost_at = (self._lost_at + by) % len(terms) if self._lost_at >= 0 else first
            self.start(f"part {self.replaced.id}", self._show_lost, terms, self._lost_at)
        else:
            self.say(_("Nothing was lost."))

    async def _show_lost(self, terms: Sequence[Lost], at: int) -> None:
        """Go to a lost term in its message, which is read first if need be, and describe it."""
        pane = self.replaced
        model = pane.model
        lost = terms[at]
        index = model.entry_of(lost.last_message_id) if model is not None else None
        if model is None or index is None:
            return
        if await read_missing(self, pane, index - _AROUND, index + _AROUND):
            pane.show_find(lost.last_message_id, matchers=(needle(lost.term),))
            entry = model.entries[model.shown_at(lost.last_message_id) or 0]  # that of its call
            self.say(describe_lost(lost, at + 1, len(terms), entry.number))

    def action_pane(self, by: int) -> None:
        if self._compaction is not None:
            panes = [self.rows, self.replaced, self.instead]
            at = next((index for index, pane in enumerate(panes) if pane.has_focus), 0)
            self.set_focus(panes[(at + by) % len(panes)])

    def _replaced_something(self) -> Compaction | None:
        """Return the compaction under the cursor; if it replaced nothing, say so and return
        None."""
        if self._compaction is not None and self._compaction.gone:
            return self._compaction
        self.say(_("nothing was replaced here"))
        return None

    def action_copy(self) -> None:
        if (compaction := self._replaced_something()) is not None:
            self.start("copying", self._copy_replaced, compaction)

    async def _copy_replaced(self, compaction: Compaction) -> None:
        read = partial(
            replaced_markdown,
            conversation=self.conversation,
            history=self._history,
            compaction=compaction,
        )
        text = await self.read(read)
        await self.main.copy_and_say(text, f"{title_of_replaced(compaction)}:")

    def action_export(self) -> None:
        compaction = self._replaced_something()
        if compaction is None:
            return
        name = _(
            "{title}, before {time}",
            title=formats.name(self.conversation),
            time=formats.timestamp(compaction.at),
        )
        conversation = self.conversation._replace(title=name)
        card = ExportCard(self.main, [conversation], frozenset(compaction.gone))
        self.app.push_screen(card)

    def action_copy_lost(self) -> None:
        compaction = self._compaction
        losses = self._losses.get(compaction) if compaction is not None else None
        if compaction is not None and losses is not None and losses.terms:
            self.main.copy(lost_markdown(compaction, losses), f"{count_lost(losses)}:")
        else:
            self.action_lost(1)  # says why there is nothing

    def action_resume(self) -> None:
        self.main.resuming.resume(conversation=self.conversation)

    def action_read_there(self) -> None:
        message_id = self._compaction.summary if self._compaction is not None else None
        self.read_conversation(self.conversation, message_id)
