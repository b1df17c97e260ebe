"""The screen of conversations that Hermes will delete by itself; one key saves a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from textual.app import ComposeResult
from textual.content import Content
from textual.events import Resize
from textual.getters import query_one

from hermes_browse.store.amounts import DAY
from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.retention import RetentionRules
from hermes_browse.store.edit.delete import copy_to_trash
from hermes_browse.store.hermes.homes import sessions_folder, trash_folder
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, pgettext

from ...browser.context import Context
from ...browser.list.columns import messages_text
from ...browser.list.conversation_list import ConversationList
from ...browser.list.list_model import NamedRows
from ...settings.keys.screen_commands import RETENTION
from ...text import formats
from ...text.styled import Line, row_line
from ...widgets.lines import TextLine
from ...widgets.list_rows import Column, Columns, ListRow, NoteRow
from ..sub_screen import ListScreen
from .plan_rows import idle_age
from .time_axis import TimeAxis, coming


class ForecastRow(NamedTuple):
    """A conversation that Hermes will delete by itself."""

    conversation: Conversation
    days: float
    """Until it goes."""
    about: str
    """Why it goes."""

    @property
    def key(self) -> str:
        return f"f{self.conversation.root_id}"

    def spans(self, width: int, now: float) -> Line:
        when = _("{days:,.0f} d", days=self.days)
        if self.days < 1:
            when = pgettext("deadline", "now")
        sign, look = ("!", "accent") if self.days < 7 else ("·", "dim")
        if self.conversation.pinned:
            sign = "★"
            look = "accent"
        archived = f"  {_('archived')}" if self.conversation.archived else ""
        name = one_line(formats.name_so_far(self.conversation), 300) + archived
        lead = f" {sign} {formats.fit(when, 7, right=True)}  ", look
        return row_line(lead, (name, "title"), FORECAST_COLUMNS.text(self, width, now), width)


FORECAST_COLUMNS: Columns[ForecastRow] = Columns(
    Column(N_("day"), 11, lambda row, now: formats.day_key(now + row.days * DAY), least=76, lead=0),
    Column(N_("idle"), 6, lambda row, now: idle_age(row.conversation, now)),
    Column(
        N_("source"),
        7,
        lambda row, now: formats.source(row.conversation.source),
        least=50,
        lead=1,
    ),
    Column(N_("msgs"), 6, lambda row, now: messages_text(row.conversation), least=60),
)


def _rule(rules: RetentionRules, leaving: Sequence[ForecastRow]) -> str:
    """Say by which rule Hermes deletes, what goes next, and what protects from it."""
    rule = one_line(rules.why_never or rules.retention.sentence, 300)
    if not leaving:
        return rule
    first = sum(row.days < 1 for row in leaving)
    at_next = _("{count:,} at its next clean-up", count=first)
    protects = _("this store has no pins: b makes a copy")
    if rules.pins_hold:
        protects = _("a pin protects, archiving does not")
    elif rules.can_pin:
        protects = _("a pin protects only since Hermes 0.20.5: b makes a copy")
    return " · ".join([rule, at_next if first else _("none at its next clean-up"), protects])


class RetentionScreen(ListScreen):
    """Conversations by the day on which Hermes deletes them."""

    KEYS = RETENTION
    TITLE = N_("retention: what Hermes will delete")

    axis = query_one(TimeAxis)
    leaving: Sequence[ForecastRow] = ()

    def content(self) -> ComposeResult:
        yield TextLine(id="rule")
        yield TimeAxis(self.main.clock, _("deletions"))
        yield TextLine(id="forecasts-head")
        yield ConversationList(id="forecasts")

    async def read_rows(self) -> None:
        current = self.main.catalog
        now = self.main.clock()

        def look(store: OpenStore) -> tuple[RetentionRules, list[ForecastRow]]:
            rules = store.retention(now)
            leaving = rules.deletions(current if current.exact else store.catalog(now))
            return rules, [ForecastRow(*each) for each in leaving]

        rules, self.leaving = await self.read(look)
        self.line("rule").update(Content.styled(_rule(rules, self.leaving), "dim"), layout=True)
        self.axis.set_class(not self.leaving, "-empty")
        self._show_axis()
        self.offer_keys(are_of_use=bool(self.leaving))
        none = _("No conversation of this store would go.")
        if rules.retention.auto_prune is None and not rules.why_never:
            none = _("It is unknown which conversations would go.")
        self.rows.show(NamedRows(self.leaving or [NoteRow(none)], self.main.details))

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._show_axis)

    def _show_axis(self) -> None:
        """Show how many conversations go on which day."""
        if self.is_whole:
            self.start("axis", self._add_up)

    async def _add_up(self) -> None:
        days = [each.days for each in self.leaving]
        add_up = partial(coming, days, self.axis.most, self.main.clock())
        self.axis.show(await self.call(add_up), self._at_row)

    @property
    def _at_row(self) -> float | None:
        """The time when the conversation under the cursor goes, Unix seconds."""
        return self.main.clock() + self._row.days * DAY if self._row is not None else None

    @property
    def _row(self) -> ForecastRow | None:
        row = self.rows.current
        return row if isinstance(row, ForecastRow) else None

    def heads_shown(self) -> None:
        self.line("forecasts-head").set_class(self._row is None, "-empty")
        lead = f"   {formats.fit(_('goes in'), 7, right=True)}  "
        self.show_head("forecasts-head", FORECAST_COLUMNS, _("conversation"), lead=lead)

    def came_to(self, row: ListRow, *, by_hand: bool) -> None:
        """Say why the conversation goes, and show when on the axis."""
        super().came_to(row, by_hand=by_hand)
        if self.is_whole:
            self.axis.show(self.axis.axis, self._at_row)

    def _target(self) -> Conversation | None:
        """Return the conversation under the cursor; say so if there is none."""
        if self._row is not None:
            return self._row.conversation
        self.say(_("no conversation here"))
        return None

    def action_pin(self) -> None:
        """Pin the conversation, so that Hermes keeps it."""
        if (conversation := self._target()) is not None:
            self.main.edits.pin_these([conversation])

    def action_bundle(self) -> None:
        """Put a copy of the conversation into the trash."""
        if (conversation := self._target()) is not None:
            self.main.start_write(_copy_to_trash, self.main, conversation.id)


async def _copy_to_trash(context: Context, session_id: str) -> None:
    location = context.location
    folders = trash_folder(location), sessions_folder(location)
    bundle = await context.write(partial(copy_to_trash, context.store, session_id, *folders))
    context.say(
        _(
            "a copy is in the trash: {name}; restore it after Hermes has deleted the original",
            name=bundle.name,
        )
    )
