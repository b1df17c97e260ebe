"""The plan of a clean-up as the state of a screen: made by rules, narrowed by hand, measured piece
by piece, carried out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from textual.app import ComposeResult
from textual.content import Content
from textual.getters import query_one
from textual.reactive import var

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.selection import Selection, parse_line
from hermes_browse.store.cleanup.sizes import SpaceMap
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.search.query import EMPTY, USUAL
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext

from ...browser.edit.deleting import PlanChoices, PreparedPlan, planning
from ...browser.edit.long_writes import ProgressCard
from ...browser.list.list_model import RowDetails
from ...browser.main import MainScreen
from ...browser.search.box import QueryBox
from ...browser.search.query_line import complete
from ...settings.keys.screen_commands import ARCHIVING
from ...text import formats
from ...widgets.bindings import following
from ...widgets.card import Card, styled
from ...widgets.lines import ToggleLine
from ...widgets.list_rows import NoteRow
from ..sub_screen import SubScreen
from .plan_rows import BY_HAND, PlanOrder, PlanRows, PlanView, make_view, rows_of

_REST = 0.15
"""Seconds without a key after which a plan is made."""
_UPDATE = 0.4
"""Seconds between two updates while the store is measured."""


SWITCHES = (
    *("older:30d", "older:90d", "older:365d", "is:automation", "is:empty", "include:stale"),
    *("include:archived", "free:50%"),
)
"""The rules of the keys 1, 2, …"""
_HINT = "older:30d source:cron is:automation size>10M free:50% title:… cwd:~/src"


class RulesBox(QueryBox):
    """A box for rules; `hint` is shown while it is empty, and `clock` returns Unix seconds."""

    parsed = var(EMPTY, init=False, always_update=True)
    """The rules, set within the keystroke that edits them."""

    def __init__(self, rules: str, hint: str, clock: Callable[[], float]) -> None:
        super().__init__(rules, placeholder=hint or _HINT, id="rules")
        self._clock = clock
        self.vocabulary = USUAL
        self.set_reactive(RulesBox.parsed, parse_line(rules, clock()))

    def on_mount(self) -> None:
        self.watch(self, "value", self._edited, init=False)
        self._mark()

    def _edited(self, text: str) -> None:
        self.parsed = parse_line(text, self._clock())
        self._mark()

    def _mark(self) -> None:
        """Mark what is read as a filter, and offer to complete the last one."""
        offered = complete(self.value, self.vocabulary, self._clock(), for_cleanup=True)
        self.mark(self.parsed.filters, self.parsed.problems, is_typed=offered is not None)
        self.offer(offered)

    @property
    def age(self) -> float | None:
        """The age from which on conversations go, in seconds; None without such a rule."""
        if self.parsed.problems:
            return None
        return Selection(self.parsed).age(self._clock())

    @property
    def switches_on(self) -> list[int]:
        words = self.value.split()
        return [index for index, rule in enumerate(SWITCHES) if rule in words]


class ArchiveCard(Card[bool]):
    """Asks for a key to archive the conversations of a plan."""

    KEYS = ARCHIVING

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def content(self) -> ComposeResult:
        n = self._count
        asked = ngettext("Archive 1 conversation?", "Archive {count:,} conversations?", n)
        yield styled(asked, "bold")
        where = ngettext(
            "It goes to the view Archived: u brings it back.",
            "They go to the view Archived: u brings them back.",
            n,
        )
        yield styled(where, "dim")


class PlanScreen(SubScreen):
    """Makes plans; its subclass shows them and changes the rules."""

    box = query_one(RulesBox)
    planned: var[PreparedPlan | None] = var(None, init=False, always_update=True)
    """The plan by the rules, with what the user leaves out; None while another one is made."""
    view = var(PlanView(PlanRows((), RowDetails())), init=False, always_update=True)
    """The plan as shown: the last one while another one is made."""
    space: var[SpaceMap | None] = var(None, init=False, always_update=True)
    """None until the store has been measured."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        marks = frozenset(conversation.id for conversation in main.marks.values())
        self.choices = PlanChoices("", taken=marks) if marks else main.edits.choices
        self.order = PlanOrder.IDLE
        self.opened: frozenset[str] = frozenset()
        """Keys of jobs whose runs are shown."""
        self._mapped: Catalog | None = None
        """The conversations that `space` was measured with."""
        self._is_shown = asyncio.Event()
        """Set unless `view` is about to be replaced."""
        self._known: frozenset[str] | None = None
        """Roots of what the present rules have chosen so far; None before their first plan."""

    def rules_edited(self) -> None:
        """Show which switches are on, and make the plan of other rules after a moment without
        keys."""
        self.query_one(ToggleLine).show(self.box.switches_on)
        self.choices.rules = self.main.edits.choices.rules = self.box.parsed.text
        self._known = None
        self.cancel("ready")
        self.plan_anew(_REST)

    def plan_anew(self, rest: float = 0.0) -> None:
        """Make another plan after so many seconds."""
        self.planned = None
        self._is_shown.clear()
        self.start("plan", self._plan, rest)

    async def _plan(self, rest: float) -> None:
        await asyncio.sleep(rest)
        selection = Selection(self.box.parsed, marks=self.choices.taken)
        if sentence := why_none(selection):
            rows = PlanRows([NoteRow(sentence)], self.main.details)
            self.view = PlanView(rows, self.order)
            self._is_shown.set()
            self._measure_if_changed()
            return
        try:
            planned = await self.read(planning(self.main, selection, measure=False))
        except BrowseError:
            self.cancel("ready")
            self._is_shown.set()
            raise
        roots = await self.call(planned.plan.roots)
        if self._known is not None:  # what a change of the store has brought, nobody has chosen
            self.choices.left_out |= roots - self._known
        self._known = roots.union(self._known or ())
        self.planned = planned
        await self._lay_out()

    async def _lay_out(self) -> None:
        """Show the plan, then measure it piece by piece."""
        while self.planned is not None:
            self.view = view = await self.call(partial(self._view_of, self.planned))
            self._is_shown.set()
            if view.is_measured:
                break
            more = partial(
                OpenStore.measure_more, plan=self.planned.plan, known=self.main.details.sizes
            )
            self.planned = self.planned._replace(plan=await self.read(more))
        self._measure_if_changed()

    def _view_of(self, planned: PreparedPlan) -> PlanView:
        """Return the view of a plan; on a thread, as for a large one it takes longer than a frame.

        What it reads of the screen is replaced and never changed, and a new view follows that.
        """
        left_out = self.choices.left_out
        order = self.order
        empty = _("Nothing is selected.")
        if words := one_line(planned.selection.query.text.strip(), 200):
            empty = _("Nothing to clean up: no conversation matches {filters}.", filters=words)
        if planned.plan.spared:
            empty = _("Nothing to clean up: all that match are kept.")
        rows = rows_of(planned.plan, self.main.details, left_out, empty, self.opened, order)
        return make_view(planned, rows, order, left_out)

    def lay_out_again(self) -> None:
        if self.planned is not None:  # else it will be laid out when it is made
            self._is_shown.clear()
            self.start("plan", self._lay_out)

    def action_sort(self) -> None:
        """Sort by the next column."""
        self.order = following(PlanOrder, self.order)
        self.lay_out_again()
        self.answer(_("sorted by {column}", column=_(self.order)))

    # The store

    def catalog_changed(self) -> None:
        self.plan_anew()

    def _measure_if_changed(self) -> None:
        """Measure the store as it was read last, after the plan, which needs less of it, and not
        per portion of a long work."""
        if self._mapped is not self.main.catalog and not isinstance(self.app.screen, ProgressCard):
            self.start("space", self._measure_store)

    async def _measure_store(self) -> None:
        main = self.main
        now = main.clock()
        sizes = main.details.sizes
        catalog = main.catalog

        def measure(store: OpenStore) -> SpaceMap:
            return store.space_map(catalog if catalog.exact else store.catalog(now), sizes)

        if self.space is None:
            self.start("progress", self._show_measuring)
        try:
            self.space = space = await self.read(measure)
            self._mapped = catalog
        except BrowseError as error:
            self.show_line("map-title", one_line(str(error), 400), "$error")
            return
        finally:
            self.cancel("progress")
        note = _("{size} with index · Tab: select here", size=formats.size(space.total))
        title = f"  {_('disk usage')}  "
        self.line("map-title").update(Content.assemble((title, "bold"), (note, "dim")))

    async def _show_measuring(self) -> None:
        while True:
            total = len(self.main.catalog.sessions)
            text = _(
                "disk usage · measuring, {count:,} of {total:,} sessions",
                count=min(len(self.main.details.sizes), total),
                total=total,
            )
            self.show_line("map-title", f"  {text}")
            await asyncio.sleep(_UPDATE)

    # By hand

    def leave_out(self, roots: Sequence[str]) -> None:
        """Leave conversations out, or take all of them back if some are left out."""
        left_out = self.choices.left_out
        is_new = left_out.isdisjoint(roots)
        self.choices.left_out = left_out.union(roots) if is_new else left_out.difference(roots)
        self.lay_out_again()

    def take_or_leave(self, conversation: Conversation) -> None:
        """Leave a conversation out, take it back, or add it; say what protects it."""
        view = self.view
        root = conversation.root_id
        why = view.spared.get(root)
        if root in view.roots:
            self.leave_out([root])
        elif why is not None and why.code not in BY_HAND:
            self.answer(_("it stays whatever is marked: {reason}", reason=why.words))
        else:
            self.choices.taken |= {conversation.id}
            if self._known is not None:  # else all that the first plan has was chosen
                self._known |= {root}
            self.plan_anew()

    # Carrying out

    def action_carry_out(self, wanted: str) -> None:
        """Act on what goes, once the plan by the present rules is shown."""
        self.answer(_("making the plan …"))
        self.start("ready", self._carry_out, wanted)

    async def _carry_out(self, wanted: str) -> None:
        while not self._is_shown.is_set():
            await self._is_shown.wait()
        planned = self.planned
        plan = self.view.plan
        if wanted == "archive":
            plan = await self.call(plan.for_archive)
        if planned is None or not plan.selected:
            self.answer(_("nothing to clean up by these filters"))
            return
        planned = planned._replace(plan=plan)
        if wanted == "delete":
            await self.main.edits.delete_planned(planned, self)
            return

        self.say("")
        if await self.main.ask(ArchiveCard(len(plan.selected)), self):
            self.main.edits.archive_planned(planned)
        else:
            self.main.say(_("nothing was archived"))


def why_none(selection: Selection) -> str:
    """Say why no plan can be made of a selection; empty if one can."""
    query = selection.query
    if query.problems:
        words = _("; ").join(problem.text for problem in query.problems)
        return _("A filter cannot be read: {problems}", problems=words)
    if not selection.is_empty:
        return ""
    if query.filters:
        return _("include: only adds to what others choose: 1 to 5 say which ones go.")
    return _("No filters yet: 1 to 8 switch some on, / edits them, Esc leaves.")
