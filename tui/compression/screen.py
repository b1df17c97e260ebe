"""The inspector: each compaction of a conversation, what it replaced, what the model had instead,
and what was lost."""

from __future__ import annotations

from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from hermes_browse.store.api import OpenStore
from hermes_browse.store.compression.compactions import Compaction
from hermes_browse.store.compression.losses import Losses
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from .. import formats
from ..commands.screen_commands import COMPACTIONS
from ..list.conversation_list import ConversationList
from ..list.list_rows import FixedRows, NoteRow
from ..screens.by_name import load
from ..screens.main import MainScreen
from ..screens.sub_screen import SubScreen
from ..shared import clipboard
from ..shared.keys import KeyLine
from ..shared.lines import TextLine
from ..transcript.view import TranscriptView
from .compaction_rows import CompactionRow, compaction_rows
from .inspection import (
    WAYS,
    Inspection,
    Sides,
    lost_markdown,
    notes,
    nothing_compressed,
    read_sides,
    remedy,
    replaced_markdown,
    title_of_instead,
    title_of_replaced,
)
from .pane import PartPane, ReplacedPane

_EXAMPLES = (
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


def count_lost(losses: Losses) -> str:
    """Say how much a compaction lost."""
    count = len(losses.terms)
    words = ngettext("1 detail lost", "{count:,} details lost", count).format(count=count)
    return words if losses.is_complete else _("{count} or more").format(count=words)


def _about(inspection: Inspection, compaction: Compaction) -> Content:
    """Say what helps against a broken compaction, how it was made, and in which session."""
    sessions = [compaction.session_id]
    if compaction.into_session_id not in (None, compaction.session_id):
        sessions.append(str(compaction.into_session_id))
    way = f"{_(WAYS[compaction.kind])}: {one_line(' → '.join(sessions), 200)}"
    facts = " · ".join([way, *notes(compaction)])
    helps = remedy(inspection, compaction)
    if not helps:
        return Content.styled(facts, "dim")
    return Content.assemble((f"! {helps}", "$warning"), (f" · {facts}", "dim"))


def _find_losses(inspection: Inspection, number: int, store: OpenStore) -> Losses:
    return store.losses(inspection.compactions[number])


class CompactionsScreen(SubScreen):
    """The compactions of the current conversation; it begins with the one of a number, else with
    that of the current message, else with the newest."""

    ENTER = N_("Read what was replaced")
    HELP_TITLE = N_("Compactions")
    EXAMPLES_TITLE = N_("What is shown")
    EXAMPLES = _EXAMPLES
    KEYS = COMPACTIONS

    def __init__(self, main: MainScreen, begin: int | None = None) -> None:
        super().__init__(main)
        self._begin = begin
        self._conversation = main.current
        self._inspection: Inspection | None = None
        self._number = -1
        """The compaction that the panes show."""
        self._losses: dict[int, Losses] = {}

    def compose(self) -> ComposeResult:
        yield TextLine(id="header")
        yield ConversationList(id="compactions")
        yield TextLine(id="about")
        with Horizontal(id="panes"):
            with Vertical(id="replaced-side"):
                yield TextLine(id="replaced-title")
                yield ReplacedPane(self, id="replaced")
            with Vertical(id="instead-side"):
                yield TextLine(id="instead-title")
                yield PartPane(self, id="instead")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        self.overview.clock = self.main.clock
        conversation = self._conversation
        name = one_line(formats.name(conversation), 200) if conversation is not None else ""
        self.show_title(_("compactions"), name)
        self.set_focus(self.overview)
        self.overview.show(FixedRows([NoteRow(_("looking …"))]))
        self._read()

    @property
    def overview(self) -> ConversationList:
        return self.query_one("#compactions", ConversationList)

    @property
    def replaced(self) -> ReplacedPane:
        """What the summary stands for."""
        return self.query_one("#replaced", ReplacedPane)

    @property
    def instead(self) -> PartPane:
        """What the model had from then on."""
        return self.query_one("#instead", PartPane)

    @property
    def is_pending(self) -> bool:
        return self.is_whole and (self.replaced.is_drawing or self.instead.is_drawing)

    @property
    def _compaction(self) -> Compaction | None:
        if self._inspection is None or self._number < 0:
            return None
        return self._inspection.compactions[self._number]

    def catalog_changed(self) -> None:
        current = self.main.current
        if self._inspection is not None and current is not None and self._conversation is not None:
            if current.root_id == self._conversation.root_id:
                self._conversation = current
            self._read()

    def _read(self) -> None:
        if self._conversation is not None:
            self.start("compactions", self._read_compactions, self._conversation)

    async def _read_compactions(self, conversation: Conversation) -> None:
        begin, at = self._begin, self.main.message_id

        def read(store: OpenStore) -> tuple[Inspection, int, Sides | None]:
            inspection = Inspection(conversation, store.compactions(conversation.segments))
            number = inspection.first(begin, at)
            sides = read_sides(store, inspection, number) if number >= 0 else None
            return inspection, number, sides

        inspection, number, sides = await self.read(read)
        before, self._inspection = self._inspection, inspection
        if before is not None and before.compactions == inspection.compactions:
            return
        self._losses.clear()
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
            lost = {number: count_lost(losses) for number, losses in self._losses.items()}
            rows = compaction_rows(self._inspection.compactions, lost)
            self.overview.show(FixedRows(rows), key=key)

    @on(ConversationList.Highlighted, "#compactions")
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        event.stop()
        if isinstance(event.row, CompactionRow) and event.row.number != self._number:
            self._show(event.row.number)

    @on(ConversationList.Selected, "#compactions")
    def selected(self, event: ConversationList.Selected) -> None:
        event.stop()
        if self._compaction is not None:
            self.set_focus(self.replaced)

    @on(TranscriptView.Notice)
    def noticed(self, event: TranscriptView.Notice) -> None:
        event.stop()
        self.say(event.text)

    def _show(self, number: int, sides: Sides | None = None) -> None:
        """Show a compaction; its sides are read if they are not given."""
        inspection = self._inspection
        if inspection is None:
            return
        self._number = number
        compaction = inspection.compactions[number]
        self._show_title(compaction)
        self.line("instead-title").update(
            Content.styled("  " + title_of_instead(compaction), "bold")
        )
        self.line("about").update(_about(inspection, compaction), layout=True)

        self.start("sides", self._open_sides, inspection, number, sides)

    async def _open_sides(self, inspection: Inspection, number: int, sides: Sides | None) -> None:
        """Show both sides of a compaction, then find what it lost, then what the others did, the
        newest first; moving the cursor ends it."""
        if sides is None:
            sides = await self.read(lambda store: read_sides(store, inspection, number))
        self.replaced.open(sides[0])
        self.instead.open(sides[1], inspection.compactions[number].summary)
        self._show_losses()
        for each in (number, *reversed(range(len(inspection.compactions)))):
            if each not in self._losses:
                self._losses[each] = await self.read(partial(_find_losses, inspection, each))
                if each == number:
                    self._show_losses()
                self._show_rows()

    def _show_losses(self) -> None:
        """Show what the compaction under the cursor lost, if that is known."""
        losses = self._losses.get(self._number)
        if losses is not None and self._compaction is not None:
            self._show_title(self._compaction)
            self.replaced.light(losses)

    def _show_title(self, compaction: Compaction) -> None:
        losses = self._losses.get(self._number)
        parts: list[tuple[str, str]] = [("  " + title_of_replaced(compaction), "bold")]
        if losses is not None and losses.terms:
            parts.append((f" · {count_lost(losses)}", "$accent bold"))
        self.line("replaced-title").update(Content.assemble(*parts))

    def action_lost(self, by: int) -> None:
        self.say(self.replaced.go_to_lost(by) if self._compaction is not None else "")

    def action_pane(self, by: int) -> None:
        if self._compaction is None:
            return
        panes = [self.overview, self.replaced, self.instead]
        at = next((index for index, each in enumerate(panes) if each.has_focus), 0)
        self.set_focus(panes[(at + by) % len(panes)])

    def action_copy(self) -> None:
        inspection, compaction, number = self._inspection, self._compaction, self._number
        if inspection is None or compaction is None:
            return
        if not compaction.gone:
            self.say(_("nothing was replaced here"))
            return

        self.start("copying", self._copy_replaced, inspection, compaction, number)

    async def _copy_replaced(
        self, inspection: Inspection, compaction: Compaction, number: int
    ) -> None:
        text = await self.read(
            lambda store: replaced_markdown(inspection, number, store.messages(compaction.gone))
        )
        await self._copy(text, title_of_replaced(compaction))

    def action_export(self) -> None:
        conversation, compaction = self._conversation, self._compaction
        if conversation is None or compaction is None or not compaction.gone:
            self.say(_("nothing was replaced here"))
            return
        name = _("{title}, before {time}").format(
            title=formats.name(conversation), time=formats.timestamp(compaction.at)
        )
        load("export")(
            self.main, self.app, [conversation._replace(title=name)], frozenset(compaction.gone)
        )

    def action_copy_lost(self) -> None:
        losses = self._losses.get(self._number)
        if self._inspection is None or losses is None or not losses.terms:
            self.action_lost(1)  # says why there is nothing
            return
        text = lost_markdown(self._inspection, self._number, losses)
        self.start("copying", self._copy, text, count_lost(losses))

    async def _copy(self, text: str, name: str) -> None:
        route = await clipboard.copy(text, self.app.copy_to_clipboard)
        self.say(f"{name}: {route}")

    def action_resume(self) -> None:
        if self._conversation is not None:
            self.main.resuming.resume()

    def action_read_there(self) -> None:
        conversation, compaction = self._conversation, self._compaction
        if conversation is not None:
            message_id = compaction.summary if compaction is not None else None
            self.read_conversation(conversation, message_id)
