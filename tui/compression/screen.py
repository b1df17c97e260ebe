"""The inspector: each compaction of a conversation, what it replaced, what the model had instead,
and what was lost."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from hermes_browse.store.compression.compactions import Compaction, read_history
from hermes_browse.store.compression.losses import Losses, find_losses
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.messages.chat_message import ChatMessage
from hermes_browse.store.messages.transcript import read_messages_of
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from .. import formats
from ..commands.screen_commands import COMPACTIONS
from ..list.conversation_list import ConversationList
from ..list.list_rows import FixedRows, NoteRow
from ..screens.by_name import load
from ..screens.controllers import Controllers
from ..screens.sub_screen import SubScreen
from ..shared import clipboard
from ..shared.keys import KeyLine
from ..shared.lines import TextLine
from ..transcript.find import needle
from ..transcript.view import TranscriptView
from .compaction_rows import CompactionRow, compaction_rows
from .inspection import (
    WAYS,
    Inspection,
    Sides,
    describe_lost,
    lost_markdown,
    notes,
    nothing_compressed,
    read_sides,
    remedy,
    replaced_markdown,
    title_of_instead,
    title_of_replaced,
)
from .pane import PartPane

_MOST_LIT = 150
"""Lost terms that are highlighted at once."""


class CompactionsScreen(SubScreen):
    """The compactions of the current conversation.

    It begins with the one of a number; without a number with that of the current message, else the
    newest.
    """

    ENTER = N_("Read what was replaced")
    HELP_TITLE = N_("Compactions")
    EXAMPLES_TITLE = N_("What is shown")
    EXAMPLES = (
        (
            N_("lost"),
            N_(
                "what stood in the replaced messages and in nothing that the model was given after them"
            ),
        ),
        ("~84k ▸ 12k", N_("tokens before and after, guessed: four bytes each, as Hermes does")),
        ("?", N_("the store does not say all there is to know of this one")),
        ("!", N_("it left messages behind without a summary; the line below says what helps")),
    )
    KEYS = COMPACTIONS

    def __init__(self, controllers: Controllers, begin: int | None = None) -> None:
        super().__init__(controllers)
        self._begin = begin
        self._conversation = controllers.current.conversation
        self._inspection: Inspection | None = None
        self._number = -1
        """The compaction that the panes show."""
        self._losses: dict[int, Losses] = {}
        self._counted: dict[int, str] = {}
        """How much each compaction lost, in words, as far as it is known."""
        self._lost = -1
        """The lost term that was gone to last."""

    def compose(self) -> ComposeResult:
        """The list, what is special about the current compaction, and the two sides."""
        yield TextLine(id="header")
        yield ConversationList(id="compactions")
        yield TextLine(id="about")
        with Horizontal(id="panes"):
            with Vertical(id="replaced-side"):
                yield TextLine(id="replaced-title")
                yield PartPane(self.context, id="replaced")
            with Vertical(id="instead-side"):
                yield TextLine(id="instead-title")
                yield PartPane(self.context, id="instead")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Find the compactions."""
        self.overview.clock = self.context.clock
        conversation = self._conversation
        name = one_line(formats.name(conversation), 200) if conversation is not None else ""
        self.show_title(_("compactions"), name)
        self.set_focus(self.overview)
        self.overview.show(FixedRows([NoteRow(_("looking …"))]))
        self._read()

    @property
    def overview(self) -> ConversationList:
        """The compactions."""
        return self.query_one("#compactions", ConversationList)

    @property
    def replaced(self) -> PartPane:
        """What the summary stands for."""
        return self.query_one("#replaced", PartPane)

    @property
    def instead(self) -> PartPane:
        """What the model had from then on."""
        return self.query_one("#instead", PartPane)

    @property
    def is_pending(self) -> bool:
        """Whether a long text is being laid out."""
        return self.is_whole and (self.replaced.is_drawing or self.instead.is_drawing)

    @property
    def _one(self) -> Compaction | None:
        return (
            self._inspection.compactions[self._number]
            if self._inspection is not None and self._number >= 0
            else None
        )

    # Reading

    def catalog_changed(self) -> None:
        """Look again: Hermes may have compressed the conversation meanwhile."""
        current = self.controllers.current.conversation
        if self._inspection is not None and current is not None and self._conversation is not None:
            if current.root_id == self._conversation.root_id:
                self._conversation = current
            self._read()

    def _read(self) -> None:
        conversation, begin = self._conversation, self._begin
        if conversation is None:
            return
        at = self.controllers.message_id

        def work(reader: Reader) -> tuple[Inspection, int, Sides | None]:
            inspection = Inspection(conversation, read_history(reader, conversation.segments))
            number = inspection.first(begin, at)
            return (
                inspection,
                number,
                read_sides(reader, inspection, number) if number >= 0 else None,
            )

        self.context.plan_worker.submit("compactions", work, self._take)

    def _take(self, answer: tuple[Inspection, int, Sides | None]) -> None:
        inspection, number, sides = answer
        before, self._inspection = self._inspection, inspection
        if not self.is_whole or (
            before is not None and before.compactions == inspection.compactions
        ):
            return
        self._losses.clear()
        self._counted.clear()
        self._number = -1
        count = len(inspection.compactions)
        self.query_one("#panes").display = count > 0
        self.line("about").display = count > 0
        if sides is None:
            self.overview.styles.height = "1fr"
            self.overview.show(FixedRows([NoteRow(nothing_compressed(inspection.history))]))
            return
        self.overview.styles.height = min(count, max(self.size.height // 5, 3))
        self._show(number, sides)
        self._show_rows(key=f"c{number}")

    def _show_rows(self, key: str | None = None) -> None:
        if self._inspection is not None:
            rows = compaction_rows(self._inspection.compactions, self._counted)
            self.overview.show(FixedRows(rows), key=key)

    @staticmethod
    def _count_lost(losses: Losses) -> str:
        count = len(losses.terms)
        words = ngettext("1 detail lost", "{count:,} details lost", count).format(count=count)
        return words if losses.is_complete else _("{count} or more").format(count=words)

    # The compaction under the cursor

    @on(ConversationList.Highlighted, "#compactions")
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Show both sides of the compaction."""
        event.stop()
        if isinstance(event.row, CompactionRow) and event.row.number != self._number:
            self._show(event.row.number)

    @on(ConversationList.Selected, "#compactions")
    def selected(self, event: ConversationList.Selected) -> None:
        """Enter: to what was replaced."""
        event.stop()
        if self._one is not None:
            self.set_focus(self.replaced)

    @on(TranscriptView.Notice)
    def noticed(self, event: TranscriptView.Notice) -> None:
        """A word from one of the panes."""
        event.stop()
        self.say(event.text)

    def _show(self, number: int, sides: Sides | None = None) -> None:
        """Show a compaction; its sides are read if they are not given."""
        inspection = self._inspection
        if inspection is None or not self.is_whole:
            return
        self._number, self._lost = number, -1
        one = inspection.compactions[number]
        self._show_title(one)
        self.line("instead-title").update(Content.styled("  " + title_of_instead(one), "bold"))
        sessions = one.session_id
        if one.into_session_id is not None and one.into_session_id != one.session_id:
            sessions += f" → {one.into_session_id}"
        facts = " · ".join([f"{_(WAYS[one.kind])}: {one_line(sessions, 200)}", *notes(one)])
        if helps := remedy(inspection, one):
            facts = f" · {facts}"
        about = Content.assemble((f"! {helps}" if helps else "", "$warning"), (facts, "dim"))
        self.line("about").update(about, layout=True)

        def opened(sides: Sides) -> None:
            if not self.is_whole or self._number != number:
                return
            self.replaced.page.matchers = ()
            self.replaced.open(sides[0])
            self.instead.open(sides[1], one.summary)
            self._find_losses(number, one)

        if sides is not None:
            opened(sides)
        else:
            self.context.page_worker.submit(
                "sides",
                lambda reader: read_sides(reader, inspection, number),
                opened,
                self.context.failed,
            )

    def _find_losses(self, number: int, one: Compaction) -> None:
        """Highlight what a compaction lost, once that is known."""
        if number in self._losses:
            self._light(self._losses[number])
            self._count_next()
            return

        def work(reader: Reader) -> Losses:
            return find_losses(reader, one, stopped=lambda: self._number != number)

        def done(losses: Losses) -> None:
            if not self.is_whole or self._one != one:
                return
            self._losses[number] = losses
            self._take_count(number, losses)
            self._show_title(one)
            self._light(losses)

        self.context.plan_worker.submit("losses", work, done)

    def _take_count(self, number: int, losses: Losses) -> None:
        self._counted[number] = self._count_lost(losses)
        self._show_rows()
        self._count_next()

    def _count_next(self) -> None:
        """Count what a compaction lost that is not under the cursor, the newest first; moving the
        cursor ends it."""
        inspection, current = self._inspection, self._number
        if inspection is None:
            return
        left = [
            number for number in range(len(inspection.compactions)) if number not in self._counted
        ]
        if not left:
            return
        number = left[-1]
        one = inspection.compactions[number]

        def work(reader: Reader) -> Losses:
            return find_losses(reader, one, stopped=lambda: self._number != current)

        def done(losses: Losses) -> None:
            if self.is_whole and self._inspection is inspection:
                self._take_count(number, losses)

        self.context.plan_worker.submit("losses", work, done)

    def _show_title(self, one: Compaction) -> None:
        losses = self._losses.get(self._number)
        parts: list[tuple[str, str]] = [("  " + title_of_replaced(one), "bold")]
        if losses is not None and losses.terms:
            parts.append((f" · {self._count_lost(losses)}", "$accent bold"))
        self.line("replaced-title").update(Content.assemble(*parts))

    def _light(self, losses: Losses) -> None:
        terms = (needle(each.term) for each in losses.terms[:_MOST_LIT])
        self.replaced.highlight([each for each in terms if each is not None])

    # Keys

    def action_lost(self, by: int) -> None:
        """Go to the next or previous lost term, the most telling first."""
        losses = self._losses.get(self._number)
        if losses is None:
            self.say(_("still looking for what was lost") if self._one is not None else "")
            return
        count = len(losses.terms)
        if not count:
            self.say(_("Nothing was lost."))
            return
        self._lost = (self._lost + by) % count if self._lost >= 0 else (0 if by > 0 else count - 1)
        lost = losses.terms[self._lost]
        self.replaced.find(lost.last_message_id, lost.term)
        self.say(describe_lost(lost, self._lost + 1, count))

    def action_pane(self, by: int) -> None:
        """Focus the next or previous of list, replaced part and summary."""
        if self._one is None:
            return
        panes = [self.overview, self.replaced, self.instead]
        at = next((index for index, each in enumerate(panes) if each.has_focus), 0)
        self.set_focus(panes[(at + by) % len(panes)])

    def action_copy(self) -> None:
        """Copy what was replaced."""
        inspection, one, number = self._inspection, self._one, self._number
        if inspection is None or one is None:
            return
        if not one.gone:
            self.say(_("nothing was replaced here"))
            return

        def work(reader: Reader) -> str:
            messages: list[ChatMessage] = read_messages_of(reader, one.gone)
            return replaced_markdown(inspection, number, messages)

        self.context.page_worker.submit(
            "copying",
            work,
            lambda text: self._copy(text, title_of_replaced(one)),
            self.context.failed,
        )

    def action_export(self) -> None:
        """Save what was replaced in a file."""
        conversation, one = self._conversation, self._one
        if conversation is None or one is None or not one.gone:
            self.say(_("nothing was replaced here"))
            return
        name = _("{title}, before {time}").format(
            title=formats.name(conversation), time=formats.timestamp(one.at)
        )
        load("export")(
            self.context, self.app, [conversation._replace(title=name)], frozenset(one.gone)
        )

    def action_copy_lost(self) -> None:
        """Copy what was lost."""
        losses = self._losses.get(self._number)
        if self._inspection is None or losses is None or not losses.terms:
            self.action_lost(1)  # says why there is nothing
            return
        self._copy(lost_markdown(self._inspection, self._number, losses), self._count_lost(losses))

    def _copy(self, text: str, name: str) -> None:
        async def work() -> None:
            route = await clipboard.copy(text, self.app.copy_to_clipboard)
            self.say(f"{name}: {route}")

        self.run_worker(work(), group="copying", exclusive=True)

    def action_resume(self) -> None:
        """Resume the conversation."""
        if self._conversation is not None:
            self.controllers.resuming.start(self._conversation.id)

    def action_read_there(self) -> None:
        """Read the conversation at the summary."""
        conversation, one = self._conversation, self._one
        if conversation is not None:
            self.read(conversation, one.summary if one is not None else None)
