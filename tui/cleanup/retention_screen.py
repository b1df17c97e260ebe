"""The screen of conversations that Hermes will delete by itself; one key saves a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.events import Resize

from hermes_browse.store.ages import DAY
from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.retention import Forecast, RetentionRules
from hermes_browse.store.edit.delete import copy_to_trash
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.trash.shelf import Bundle
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from .. import formats
from ..commands.screen_commands import RETENTION
from ..context import Context
from ..list.conversation_list import ConversationList
from ..list.list_model import RowDetails
from ..list.list_rows import FixedRows, NoteRow
from ..screens.main import MainScreen
from ..screens.sub_screen import SubScreen
from ..shared.columns import Column, Columns
from ..shared.keys import KeyLine
from ..shared.lines import TextLine
from ..shared.styled import Line, line_text, row_line
from ..store_paths import sessions_folder, trash_folder
from .axis import coming
from .plan_rows import idle_age
from .time_axis import TimeAxis


class ForecastRow(NamedTuple):
    """A conversation that Hermes will delete by itself, and when."""

    conversation: Conversation
    forecast: Forecast

    @property
    def key(self) -> str:
        return f"f{self.conversation.root_id}"

    def spans(self, width: int, now: float) -> Line:
        days = self.forecast.prune_in_days
        if days is None or days < 1:
            when = _("never") if days is None else pgettext("deadline", "now")
        else:
            when = _("{days:,.0f} d").format(days=days)
        urgent = days is not None and days < 7
        mark = (
            ("★", "accent")
            if self.conversation.pinned
            else ("!" if urgent else "·", "accent" if urgent else "dim")
        )
        archived = f"  {_('archived')}" if self.conversation.archived else ""
        name = one_line(formats.name(self.conversation), 300) + archived
        lead = f" {mark[0]} {formats.fit(when, 7, right=True)}  "
        return row_line((lead, mark[1]), (name, "title"), _COLUMNS.text(self, width, now), width)

    def day(self, now: float) -> str:
        days = self.forecast.prune_in_days
        return formats.day_key(now + days * DAY) if days is not None else ""


_COLUMNS: Columns[ForecastRow] = Columns(
    Column(N_("day"), 11, lambda row, now: row.day(now), least=76, lead=0),
    Column(N_("idle"), 6, lambda row, now: idle_age(row.conversation, now)),
    Column(
        N_("source"),
        7,
        lambda row, now: formats.source(row.conversation.source),
        least=50,
        lead=1,
    ),
    Column(
        N_("msgs"), 6, lambda row, now: formats.number(row.conversation.message_count), least=60
    ),
)


class _Outlook(NamedTuple):
    """What Hermes will delete or close."""

    rules: RetentionRules
    catalog: Catalog
    leaving: list[tuple[Conversation, Forecast]]
    closing: int
    """Open sessions of automation that Hermes closes at its next clean-up."""


class _Forecasts:
    """Rows of conversations that Hermes deletes, with the names read so far."""

    def __init__(
        self, leaving: Sequence[tuple[Conversation, Forecast]], details: RowDetails
    ) -> None:
        self._leaving, self._details = leaving, details
        self._index = {
            f"f{conversation.root_id}": index
            for index, (conversation, _forecast) in enumerate(leaving)
        }

    def __len__(self) -> int:
        return len(self._leaving)

    def row(self, index: int) -> ForecastRow:
        conversation, forecast = self._leaving[index]
        return ForecastRow(self._details.complete(conversation)[0], forecast)

    def index_of(self, key: str) -> int | None:
        return self._index.get(key)

    def lacking(self, first: int, last: int) -> Sequence[Conversation]:
        shown = self._leaving[first : last + 1]
        return self._details.nameless(conversation for conversation, _forecast in shown)


class RetentionScreen(SubScreen):
    """Conversations by the day on which Hermes deletes them."""

    HELP_TITLE = N_("Retention: what Hermes will delete")
    KEYS = RETENTION

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._outlook: _Outlook | None = None

    def compose(self) -> ComposeResult:
        yield TextLine(id="header")
        yield TextLine(id="rule")
        yield TimeAxis(title=_("deletions"), can_cut=False, id="axis")
        yield TextLine(id="forecasts-head")
        yield ConversationList(id="forecasts")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        self.forecasts.clock = self.main.clock
        self.show_title(_("retention: what Hermes will delete"))
        self.set_focus(self.forecasts)
        self.forecasts.show(FixedRows([NoteRow(_("looking …"))]))
        self.catalog_changed()

    @property
    def forecasts(self) -> ConversationList:
        return self.query_one("#forecasts", ConversationList)

    def catalog_changed(self) -> None:
        """Read again what Hermes will delete."""
        self.start("radar", self._read_fates)

    async def _read_fates(self) -> None:
        current, now = self.main.catalog, self.main.clock()

        def look(store: OpenStore) -> _Outlook:
            catalog = current if current.exact else store.catalog(now)
            rules = store.retention(now)
            return _Outlook(rules, catalog, rules.deletions(catalog), len(rules.closing(catalog)))

        self._outlook = outlook = await self.read(look)
        rules = outlook.rules
        sentence = rules.why_never or rules.retention.sentence
        parts = [one_line(sentence, 300)]
        if outlook.leaving:
            days = [forecast.prune_in_days for _conversation, forecast in outlook.leaving]
            first = sum(each is not None and each < 1 for each in days)
            at_next = _("{count:,} at its next clean-up").format(count=first)
            parts.append(at_next if first else _("none at its next clean-up"))
        if outlook.closing:
            sentence = ngettext(
                "closes 1 open session of automation and deletes it later",
                "closes {count:,} open sessions of automation and deletes them later",
                outlook.closing,
            )
            parts.append(sentence.format(count=outlook.closing))
        if outlook.leaving:
            can, cannot = (
                _("a pin protects, archiving does not"),
                _("this store has no pins: b makes a copy"),
            )
            unsure = _("a pin protects only since Hermes 0.20.5: b makes a copy")
            parts.append(can if rules.pins_hold else unsure if rules.can_pin else cannot)
        self.line("rule").update(Content.styled(" · ".join(parts), "dim"), layout=True)
        self.query_one(TimeAxis).set_class(not outlook.leaving, "-empty")
        self._show_axis()
        is_known = rules.retention.auto_prune is not None or bool(rules.why_never)
        none = (
            _("No conversation of this store would go.")
            if is_known
            else _("It is unknown which conversations would go.")
        )
        nothing = FixedRows([NoteRow(none)])
        self.forecasts.show(
            _Forecasts(outlook.leaving, self.main.details) if outlook.leaving else nothing
        )

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        self.call_after_refresh(self._show_axis)

    def _show_axis(self) -> None:
        """Show how many conversations go on which day."""
        if self._outlook is not None and self.is_whole:
            axis = self.query_one(TimeAxis)
            days = [forecast.prune_in_days for _conversation, forecast in self._outlook.leaving]
            dated = [each for each in days if each is not None]
            row, now = self.forecasts.current, self.main.clock()
            goes_in = row.forecast.prune_in_days if isinstance(row, ForecastRow) else None
            axis.show(
                coming(dated, axis.most, now),
                now + goes_in * DAY if goes_in is not None else None,
            )

    def _show_head(self) -> None:
        width = self.forecasts.scrollable_content_region.width
        lead = f"   {formats.fit(_('goes in'), 7, right=True)}  ", "dim"
        head = row_line(lead, (_("conversation"), "dim"), _COLUMNS.head(width), width)
        self.line("forecasts-head").update(Content.styled(line_text(head), "dim"))

    @on(ConversationList.Highlighted, "#forecasts")
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Say why the conversation goes, and show when on the axis."""
        event.stop()
        if isinstance(event.row, ForecastRow):
            self.describe(event.row.forecast.reason, by_hand=event.by_hand)
            self._show_axis()

    @on(ConversationList.Shown)
    def head_shown(self, event: ConversationList.Shown) -> None:
        has_rows = isinstance(event.list.source, _Forecasts)
        self.line("forecasts-head").set_class(not has_rows, "-empty")
        self._show_head()

    @on(ConversationList.Selected, "#forecasts")
    def selected(self, event: ConversationList.Selected) -> None:
        """Read the conversation."""
        event.stop()
        if isinstance(event.row, ForecastRow):
            self.read_conversation(event.row.conversation)

    def action_pin(self) -> None:
        """Pin the conversation, so that Hermes keeps it."""
        row = self.forecasts.current
        if isinstance(row, ForecastRow):
            self.main.edits.pin_these([row.conversation])

    def action_bundle(self) -> None:
        """Put a copy of the conversation into the trash."""
        row, outlook = self.forecasts.current, self._outlook
        if not isinstance(row, ForecastRow) or outlook is None:
            return
        self.main.start_write(_copy_to_trash, self.main, outlook, row.conversation)


async def _copy_to_trash(context: Context, outlook: _Outlook, conversation: Conversation) -> None:
    store, location, now = context.store, context.location, context.clock()

    def copy() -> Bundle:
        trash, files = trash_folder(location), sessions_folder(location)
        return copy_to_trash(
            store, outlook.catalog, [conversation], trash, now=now, sessions_folder=files
        )

    bundle = await context.write(copy)
    sentence = _("a copy is in the trash: {name}; restore it after Hermes has deleted the original")
    context.say(sentence.format(name=bundle.name))
