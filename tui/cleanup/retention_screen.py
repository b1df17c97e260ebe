"""The screen of conversations that Hermes will delete by itself; one key saves a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.events import Resize

from hermes_browse.store.ages import DAY
from hermes_browse.store.cleanup.retention import Fate, Radar
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.edit.delete import copy_to_trash
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.trash.shelf import Bundle
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from .. import formats
from ..commands.screen_commands import RETENTION
from ..list.conversation_list import ConversationList
from ..list.list_model import RowDetails
from ..list.list_rows import FixedRows, NoteRow
from ..screens.controllers import Controllers
from ..screens.sub_screen import SubScreen
from ..shared.keys import KeyLine
from ..shared.lines import TextLine
from ..shared.styled import Line, line_text, row_line
from ..store_paths import read_radar_at, sessions_folder, trash_folder
from .axis import coming
from .axis_controller import TimeAxis
from .plan_rows import idle_age


class FateRow(NamedTuple):
    """A conversation that Hermes will delete by itself, and when."""

    conversation: Conversation
    fate: Fate

    @property
    def key(self) -> str:
        """Made of the root."""
        return f"f{self.conversation.root_id}"

    def spans(self, width: int, now: float) -> Line:
        days = self.fate.prune_in_days
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
        columns = _columns(
            width,
            formats.day_key(now + days * DAY) if days is not None else "",
            idle_age(self.conversation, now),
            formats.source(self.conversation.source),
            formats.number(self.conversation.message_count),
        )
        archived = f"  {_('archived')}" if self.conversation.archived else ""
        name = one_line(formats.name(self.conversation), 300) + archived
        lead = f" {mark[0]} {formats.fit(when, 7, right=True)}  "
        return row_line((lead, mark[1]), (name, "title"), columns, width)


def _columns(width: int, day: str, idle: str, source: str, messages: str) -> str:
    """Format the columns that fit into a row of `width` cells."""
    columns = formats.fit(idle, 6, right=True)
    if width >= 76:
        columns = formats.fit(day, 11) + columns
    if width >= 50:
        columns += " " + formats.fit(source, 6)
    if width >= 60:
        columns += formats.fit(messages, 6, right=True)
    return columns


class _Outlook(NamedTuple):
    """What Hermes will delete or close."""

    radar: Radar
    catalog: Catalog
    leaving: list[tuple[Conversation, Fate]]
    closing: int
    """Open sessions of automation that Hermes closes at its next clean-up."""


class _Fates:
    """Rows of conversations that Hermes deletes, with the names read so far."""

    def __init__(self, leaving: Sequence[tuple[Conversation, Fate]], details: RowDetails) -> None:
        self._leaving, self._details = leaving, details
        self._index = {
            f"f{conversation.root_id}": index for index, (conversation, _fate) in enumerate(leaving)
        }

    def __len__(self) -> int:
        return len(self._leaving)

    def row(self, index: int) -> FateRow:
        conversation, fate = self._leaving[index]
        return FateRow(self._details.complete(conversation)[0], fate)

    def index_of(self, key: str) -> int | None:
        return self._index.get(key)

    def nameless(self, first: int, last: int) -> list[Conversation]:
        """Return conversations of some rows that have no title and no preview yet."""
        rows = (self.row(index).conversation for index in range(first, min(last + 1, len(self))))
        return [each for each in rows if not each.title and not each.preview]


class RetentionScreen(SubScreen):
    """Conversations by the day on which Hermes deletes them."""

    HELP_TITLE = N_("What Hermes deletes by itself")
    KEYS = RETENTION

    def __init__(self, controllers: Controllers) -> None:
        super().__init__(controllers)
        self._outlook: _Outlook | None = None

    def compose(self) -> ComposeResult:
        """The rule, the list, the reason for the current row."""
        yield TextLine(id="header")
        yield TextLine(id="rule")
        yield TimeAxis(title=_("deletions"), can_cut=False, id="axis")
        yield TextLine(id="fates-head")
        yield ConversationList(id="fates")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Read what Hermes will delete."""
        self.fates.clock = self.context.clock
        self.show_title(_("what Hermes deletes by itself"))
        self.set_focus(self.fates)
        self.fates.show(FixedRows([NoteRow(_("looking …"))]))
        self.catalog_changed()

    @property
    def fates(self) -> ConversationList:
        return self.query_one("#fates", ConversationList)

    def catalog_changed(self) -> None:
        """Read again what Hermes will delete."""
        current, location, now = self.context.catalog, self.context.location, self.context.clock()

        def work(reader: Reader) -> _Outlook:
            catalog = current if current.exact else read_catalog(reader, now)
            radar = read_radar_at(location, reader, now)
            return _Outlook(radar, catalog, radar.soonest(catalog), len(radar.closing(catalog)))

        self.context.plan_worker.submit("radar", work, self._take)

    def _take(self, outlook: _Outlook) -> None:
        if not self.is_whole:
            return
        self._outlook = outlook
        radar = outlook.radar
        sentence = radar.beyond_reach or radar.retention.sentence
        parts = [one_line(sentence, 300)]
        if outlook.leaving:
            days = [fate.prune_in_days for _conversation, fate in outlook.leaving]
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
            parts.append(can if radar.rescue == "pin" else unsure if radar.can_pin else cannot)
        self.line("rule").update(Content.styled(" · ".join(parts), "dim"), layout=True)
        self.query_one(TimeAxis).set_class(not outlook.leaving, "-empty")
        self._show_axis()
        is_known = radar.retention.auto_prune is not None or bool(radar.beyond_reach)
        none = (
            _("No conversation of this store would go.")
            if is_known
            else _("It is unknown which conversations would go.")
        )
        nothing = FixedRows([NoteRow(none)])
        self.fates.show(
            _Fates(outlook.leaving, self.context.details) if outlook.leaving else nothing
        )

    def on_resize(self, event: Resize) -> None:
        """Fit the columns to the size."""
        super().on_resize(event)
        self.call_after_refresh(self._show_axis)

    def _show_axis(self) -> None:
        """Show how many conversations go on which day."""
        if self._outlook is not None and self.is_whole:
            axis = self.query_one(TimeAxis)
            days = [fate.prune_in_days for _conversation, fate in self._outlook.leaving]
            dated = [each for each in days if each is not None]
            row, now = self.fates.current, self.context.clock()
            goes_in = row.fate.prune_in_days if isinstance(row, FateRow) else None
            axis.show(
                coming(dated, axis.columns // 2, now),
                now + goes_in * DAY if goes_in is not None else None,
            )

    def _show_head(self) -> None:
        width = self.fates.scrollable_content_region.width
        lead = f"   {formats.fit(_('goes in'), 7, right=True)}  ", "dim"
        columns = _columns(width, _("day"), _("idle"), _("source"), _("msgs"))
        head = row_line(lead, (_("conversation"), "dim"), columns, width)
        self.line("fates-head").update(Content.styled(line_text(head), "dim"))

    @on(ConversationList.Highlighted, "#fates")
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Say why the conversation goes, and show when on the axis."""
        event.stop()
        if isinstance(event.row, FateRow):
            self.describe(event.row.fate.reason, by_hand=event.by_hand)
            self._show_axis()

    @on(ConversationList.Shown)
    def rows_shown(self, event: ConversationList.Shown) -> None:
        """Read the names that are missing."""
        event.stop()
        source = event.list.source
        self.line("fates-head").set_class(not isinstance(source, _Fates), "-empty")
        self._show_head()
        nameless = source.nameless(event.first, event.last) if isinstance(source, _Fates) else []
        self.read_names("fate-names", nameless, self.fates.refresh_rows)

    @on(ConversationList.Selected, "#fates")
    def selected(self, event: ConversationList.Selected) -> None:
        """Read the conversation."""
        event.stop()
        if isinstance(event.row, FateRow):
            self.read(event.row.conversation)

    def action_pin(self) -> None:
        """Pin the conversation, so that Hermes keeps it."""
        row = self.fates.current
        if isinstance(row, FateRow):
            self.controllers.changing.pin_these([row.conversation])

    def action_bundle(self) -> None:
        """Put a copy of the conversation into the trash."""
        row, outlook = self.fates.current, self._outlook
        if not isinstance(row, FateRow) or outlook is None:
            return
        context, conversation = self.context, row.conversation
        store, location, now = context.store, context.location, context.clock()

        def work() -> Bundle:
            trash, files = trash_folder(location), sessions_folder(location)
            return copy_to_trash(
                store, outlook.catalog, [conversation], trash, now=now, sessions_folder=files
            )

        def done(bundle: Bundle) -> None:
            sentence = _(
                "a copy is in the trash: {name}; restore it after Hermes has deleted the original"
            )
            context.say(sentence.format(name=bundle.name))

        context.writer.submit(work, done)
