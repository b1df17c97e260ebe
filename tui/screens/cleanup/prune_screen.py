"""The clean-up screen: rules, the plan they make, the axis of time, the map of bytes."""

from __future__ import annotations

from functools import partial

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.getters import query_one
from textual.widgets import Input

from hermes_browse.store.amounts import DAY
from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.selection import toggled, with_age
from hermes_browse.store.cleanup.sizes import FileSpace, Sizes, SpaceMap
from hermes_browse.store.search.filters import help_lines
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ...browser.edit.deleting import PreparedPlan
from ...browser.list.conversation_list import ConversationList
from ...settings.keys.screen_commands import PRUNE
from ...text import formats
from ...widgets.bindings import following
from ...widgets.lines import KeyLine, TextLine, ToggleLine
from ...widgets.list_rows import FixedRows, ListRow, NoteRow, head_of
from .plan_rows import PLAN_COLUMNS, PlanOrder, PlanRow, PlanView, SparedRow, key_in_plan
from .plan_screen import SWITCHES, PlanScreen, RulesBox
from .reclaim import open_reclaim
from .tile_map import MOST_TILES, StoreBytes, Tile, TileMap
from .time_axis import Measure, TimeAxis, axis_of

_ACTS = frozenset({"prune-archive", "prune-delete"})
"""The keys that act on what goes."""
_AXIS = 20
"""The fewest lines of a screen that shows the time axis."""


def what_goes(view: PlanView, space: SpaceMap | None, width: int, *, is_old: bool) -> Content:
    """Say what a plan deletes, as far as it fits; `is_old` if another plan is being made."""
    totals = view.totals
    if not view.sentence:
        return Content("")
    if not totals.conversations:
        return Content.styled(" " + _("nothing to clean up"), "dim")
    parts = [formats.counted(totals.conversations, "conversation")]
    share = totals.sizes.total / space.total if space is not None and space.total else 0.0
    if 0.005 <= share <= 1:  # less would be "0%", and what is more was deleted by now
        parts.append(_("{share:.0%} of the store", share=share))
    line = Content(formats.fitting(f" ✓ {' · '.join([*parts, view.sentence])}", width))
    return line.stylize("dim") if is_old else line.stylize("bold $accent", 0, len(parts[0]) + 3)


def file_line(name: str, file: FileSpace, going: Sizes, width: int, *, no_color: bool) -> Content:
    """Draw the file as a bar of what stays, what goes by a plan and what is free already, then its
    sizes as far as they fit.

    `name` is printable; `width` is in cells.
    """
    used = file.file_bytes - file.free_bytes
    whole = max(file.file_bytes, 1)
    goes = min(going.free_bytes, used)
    given_back = min(going.given_back_bytes, used)
    size = max(min(width // 8, 40), 8)
    free = min(round(file.free_bytes / whole * size), size)
    freed = min(max(round(goes / whole * size), 1 if goes else 0), size - free)
    stays, gone, empty = "░█·" if no_color else "██░"
    parts = [
        (f" {name} {formats.size(file.file_bytes)} ", ""),
        (stays * (size - freed - free), "$secondary-muted"),
        (gone * freed, "$warning"),
        (empty * free, "dim"),
    ]
    room = width - 1 - sum(cell_len(text) for text, _look in parts)
    sizes = {
        _("{size} free at once"): goes,
        _("v shrinks it by {size}"): given_back + file.free_bytes,
        _("{size} free already"): file.free_bytes,
        _("log {size}"): file.wal_bytes,
    }
    told = (text.format(size=formats.size(count)) for text, count in sizes.items() if count)
    words = formats.fitting(" · ".join(told), room)
    return Content.assemble(*parts, (f" {words if cell_len(words) <= room else ''}", "dim"))


class PruneScreen(PlanScreen):
    """Shows what rules would delete; changes nothing before the user confirms it."""

    TITLE = N_("clean up")
    EXAMPLES = (N_("Filters"), tuple(help_lines(for_cleanup=True)))
    KEYS = PRUNE

    axis = query_one(TimeAxis)
    map = query_one(TileMap)
    measure = Measure.BYTES
    """The quantity on the axis."""

    def content(self) -> ComposeResult:
        count = len(self.main.marks)
        marked = ngettext(
            "1 marked in the list · filters add more",
            "{count:,} marked in the list · filters add more",
            count,
        )
        yield RulesBox(self.choices.rules, marked if count else "", self.main.clock)
        yield ToggleLine(PRUNE, id="switches")
        yield TimeAxis(self.main.clock)
        yield Horizontal(
            Vertical(TextLine(id="plan-head"), ConversationList(id="plan"), id="left"),
            Vertical(TextLine(id="map-title"), TileMap(id="map"), id="side"),
            id="panes",
        )
        yield Vertical(
            TextLine(id="totals"), TextLine(id="stays"), TextLine(id="file"), id="plan-sums"
        )

    def on_mount(self) -> None:
        self.show_title(_("nothing changes until you confirm"))
        self.query_one(ToggleLine).show(self.box.switches_on)
        self.rows.show(FixedRows([NoteRow(_("making the plan …"))]))
        self.query_one(KeyLine).withhold(_ACTS)
        self.watch(self.box, "parsed", self.rules_edited, init=False)
        self.plan_anew()
        self.start("vocabulary", self._read_vocabulary)

    async def _read_vocabulary(self) -> None:
        self.box.vocabulary = await self.read(
            partial(OpenStore.vocabulary, catalog=self.main.catalog)
        )

    def on_resize(self, event: Resize) -> None:
        self.axis.display = self.line("plan-head").display = event.size.height >= _AXIS
        self.call_after_refresh(self._show_plan)

    @property
    def _tile(self) -> Conversation | None:
        """That of the tile under the cursor; None on the one of the others, or if it is gone."""
        tile = self.map.current
        return self.main.catalog.of_session(tile.tip) if tile is not None else None

    # Rules

    def action_cut(self, days: int) -> None:
        """Move the cutoff of the age rule back in time by so many days."""
        before = round((self.box.age or 0.0) / DAY)
        self._cut_at(max(before + days, 1))

    @on(TimeAxis.Moved)
    def cut_moved(self, event: TimeAxis.Moved) -> None:
        self._cut_at(event.days)

    def _cut_at(self, days: int) -> None:
        self.box.value = with_age(self.box.value, days)
        self.axis.show(self.axis.axis, self._cut)

    @property
    def _cut(self) -> float | None:
        age = self.box.age
        return self.main.clock() - age if age is not None else None

    def action_switch(self, index: int) -> None:
        self.box.value = toggled(self.box.value, SWITCHES[index])

    def action_rules(self) -> None:
        self.say("")
        self.set_focus(self.box)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not (action == "rules" and self.focused is self.box)

    # What is shown

    def watch_view(self, before: PlanView, view: PlanView) -> None:
        at = self.rows.current
        is_gone = at is None or view.rows.index_of(at.key) is None
        is_chosen_anew = is_gone and before.selection != view.selection
        is_other = is_chosen_anew or before.order is not view.order
        self.rows.show(view.rows, key=view.rows.row(0).key if is_other else None)
        self.query_one(KeyLine).withhold(frozenset() if view.totals.conversations else _ACTS)
        self._show_plan()

    def watch_planned(self, planned: PreparedPlan | None) -> None:
        if planned is None:  # else the sums are shown with the new view
            self._show_sums()

    def watch_space(self, space: SpaceMap) -> None:
        self._show_plan()
        largest = (tip for tip, _size in space.conversations[:MOST_TILES])
        conversations = filter(None, map(self.main.catalog.of_session, largest))
        self.read_names(self.main.details.nameless(conversations), "map-names")

    def names_read(self) -> None:
        super().names_read()
        self._show_map()

    def _show_plan(self) -> None:
        if self.is_whole:
            self.heads_shown()
            self.start("axis", self._add_up)
            self._show_sums()
            self._show_map()

    def _show_sums(self) -> None:
        view = self.view
        space = self.space
        width = self.size.width
        told = what_goes(view, space, width, is_old=self.planned is None)
        self.line("totals").update(told)
        self.show_line("stays", formats.fitting(f" {view.stays}", width))
        if space is not None:
            name = one_line(self.main.store.path.name, 60)
            drawn = file_line(
                name, space.file, view.totals.sizes, width, no_color=self.app.no_color
            )
            self.line("file").update(drawn)

    def _show_map(self) -> None:
        """Draw the map, with the names read so far."""
        view = self.view
        space = self.space
        if space is None:
            return
        largest = []
        for tip, size in space.conversations[:MOST_TILES]:
            name = tip
            conversation = self.main.catalog.of_session(tip)
            if conversation is not None:
                name = formats.name_so_far(self.main.details.complete(conversation))
            goes = min(view.freed.get(tip, 0), size)
            largest.append(Tile(one_line(name, 100), size, goes, tip))
        count = len(space.conversations)
        self.map.show(StoreBytes(largest, count, space.total, view.totals.sizes.total))

    def heads_shown(self) -> None:
        title = head_of(PlanOrder.TITLE, PlanOrder.TITLE, self.order)
        self.show_head("plan-head", PLAN_COLUMNS, title, self.order)

    async def _add_up(self) -> None:
        add_up = partial(
            axis_of,
            self.main.catalog,
            self.measure,
            dict(self.main.details.sizes),
            gone=self.view.sessions,
            spared=self.view.spared,
            most=self.axis.most,
            now=self.main.clock(),
        )
        self.axis.show(await self.call(add_up), self._cut)

    # Rows and tiles

    def came_to(self, row: ListRow, *, by_hand: bool) -> None:
        if self.focused is self.rows:  # its keys mean something else in the box and on the map
            super().came_to(row, by_hand=by_hand)

    def chose(self, row: ListRow) -> None:
        if isinstance(row, PlanRow) and row.is_job:
            self.opened ^= {row.key}
            self.lay_out_again()
        else:
            super().chose(row)

    @on(TileMap.Highlighted)
    def tile_highlighted(self, event: TileMap.Highlighted) -> None:
        """Describe the tile, and move the cursor of the plan to its own row, or that of its job."""
        if self.map.current is not None:
            self.describe(self.map.current.about(), by_hand=event.by_hand)
        if conversation := self._tile:
            for key in (key_in_plan(conversation), f"p{conversation.root_id}"):
                if (place := self.rows.source.index_of(key)) is not None:
                    self.rows.cursor = place

    @on(TileMap.Toggled)
    def action_take(self) -> None:
        row = self.rows.current
        if self.map.has_focus:
            if conversation := self._tile:
                self.take_or_leave(conversation)
            else:
                self.answer(_("this cannot be taken by itself"))
        elif isinstance(row, PlanRow):
            self.leave_out([run.conversation.root_id for run in row.runs])
            self.rows.action_move(1)
        elif isinstance(row, SparedRow):
            self.take_or_leave(row.conversation)

    def action_measure(self) -> None:
        self.measure = following(Measure, self.measure)
        self.start("axis", self._add_up)

    def action_reclaim(self) -> None:
        open_reclaim(self.main)

    @on(TileMap.Selected)
    def action_read(self) -> None:
        if not self.map.has_focus:
            self.rows.action_select()
        elif conversation := self._tile:
            self.read_conversation(conversation)

    def action_other_pane(self) -> None:
        self.set_focus(self.rows if self.map.has_focus else self.map)

    @on(Input.Submitted, "#rules")
    def action_plan_pane(self) -> None:
        self.set_focus(self.rows)
        if (row := self.rows.current) is not None:
            super().came_to(row, by_hand=True)

    def action_back(self) -> None:
        if self.focused is not self.rows:
            self.action_plan_pane()
        else:
            self.dismiss(None)
