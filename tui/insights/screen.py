"""The insights screen: tokens, cost and activity over time and by model, source, tool, directory or
hour."""

from __future__ import annotations

from textual import on

from hermes_browse.store.insights.periods import NATURAL_UNITS, PERIODS, UNITS
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..bindings import following
from ..commands.screen_commands import INSIGHTS
from ..formats import counted
from ..list.conversation_list import ConversationList
from ..list.conversation_rows import ConversationRow, JobRow
from ..list.list_model import CatalogRows
from ..list.list_rows import FixedRows, NoteRow
from ..screens.main import MainScreen
from ..shared.lines import ToggleLine
from .adding_up import TOOL, Question
from .insights_panes import TABS, InsightPanes
from .plot import BarPlot, WeekPlot
from .series import STACKED, STACKS
from .sums_table import GroupRow
from .words import METRICS, TOOL_METRICS, cost_line, label, search_for


class InsightsScreen(InsightPanes):
    """Handles keys, clicks and the list of conversations behind a row."""

    ENTER = N_("Show the conversations behind a line, or read one")
    HELP_TITLE = N_("Insights")
    EXAMPLES_TITLE = N_("What is counted")
    EXAMPLES = (
        (
            N_("tokens and cost"),
            N_("count where their session began: nobody recorded when each was spent"),
        ),
        (
            N_("begun"),
            N_("sessions that began then: a conversation may be in one that began before"),
        ),
        (
            "~$1.24  $1.24?",
            N_("~ where a part is estimated, ? where some sessions have no cost recorded"),
        ),
        (
            N_("input cached out"),
            N_(
                "new input; input read from and written to the cache; output, which includes reasoning"
            ),
        ),
    )
    KEYS = INSIGHTS

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._opened: set[str] = set()

    def on_mount(self) -> None:
        self.groups.clock = self.main.clock
        self.groups.columns = self.main.listing.columns
        self.set_focus(self.groups)
        self.groups.show(FixedRows([NoteRow(_("adding up …"))]))
        self._ask()

    def on_unmount(self) -> None:
        self.sums.stop()

    def _ask(self) -> None:
        self.behind = None
        self.show_head()
        self.sums.ask(Question(self.by, self.period, self.unit, self.stack), self.take)

    # Events

    def catalog_changed(self) -> None:
        """Show in the title that the sums are outdated; they are read again on request."""
        if self.answer is not None and self.is_whole:
            self.show_head()

    @on(ConversationList.Highlighted, "#groups")
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Highlight the row in the chart, and show its cost."""
        event.stop()
        if isinstance(event.row, GroupRow) and self.behind is None:
            self.show_plot()
            group = event.row.group
            cost = (
                _("cost {sum}").format(sum=cost_line(group, 0))
                if group.cost_usd or group.unknown
                else ""
            )
            self.describe(
                " · ".join(filter(None, (one_line(event.row.name, 120), cost))),
                by_hand=event.by_hand,
            )

    @on(ConversationList.Selected, "#groups")
    def selected(self, event: ConversationList.Selected) -> None:
        """Enter: list the conversations behind a row, or read a conversation."""
        event.stop()
        row = event.row
        if isinstance(row, ConversationRow):
            self.read_conversation(row.conversation)
        elif isinstance(row, JobRow):
            self._opened ^= {row.name}
            self._show_behind()
        elif isinstance(row, GroupRow):
            if row.by == "conversation":
                self.read_conversation(self.sums.catalog(self.by).conversation(row.group.key))
                return
            self.behind = row
            self._show_behind()

    def _show_behind(self) -> None:
        row = self.behind
        if row is None:
            return
        catalog = self.sums.catalog(self.by)
        conversations = [catalog.conversation(root) for root in row.group.conversations]
        conversations.sort(key=lambda each: (each.last_active or 0.0, each.id), reverse=True)
        roots = [each.root_id for each in conversations]
        self.groups.show(CatalogRows(catalog, roots, self.main.details, self._opened, _("None.")))
        self.show_headings()
        what, count = label(row.by, row.group.key), counted(len(roots), "conversation")
        sentence = _("behind {what}: {conversations} · Enter reads one, Esc goes back")
        self.say(sentence.format(what=what, conversations=count))

    @on(BarPlot.Chosen)
    def bar_chosen(self, event: BarPlot.Chosen) -> None:
        """Go to the row of a column."""
        event.stop()
        answer = self.answer
        if answer is not None and self.behind is None and answer.report.by == self.unit:
            self._go_to(self.column_keys(answer)[event.index])

    @on(WeekPlot.Chosen)
    def hour_chosen(self, event: WeekPlot.Chosen) -> None:
        """Go to the row of an hour."""
        event.stop()
        if self.behind is None:
            self._go_to(event.key)

    def _go_to(self, key: str) -> None:
        index = self.groups.source.index_of(f"g{self.by} {key}")
        if index is not None:
            self.groups.cursor = index
        else:
            self.say(_("{what}: nothing").format(what=label(self.by, key)))

    @on(ToggleLine.Switched)
    def clicked(self, event: ToggleLine.Switched) -> None:
        """Choose a tab."""
        event.stop()
        self.action_choose(event.index)

    # Actions

    def action_choose(self, index: int) -> None:
        """Choose the grouping."""
        self.tab = index
        self._ask()

    def action_tab(self, by: int) -> None:
        """Choose the next or previous grouping."""
        self.action_choose((self.tab + by) % len(TABS))

    def action_period(self, by: int) -> None:
        """Choose a longer or shorter period."""
        index = min(max(PERIODS.index(self.period) + by, 0), len(PERIODS) - 1)
        if PERIODS[index] == self.period:
            self.say(_("that is all there is") if by > 0 else _("there is no shorter period"))
            return
        self.period = PERIODS[index]
        self.unit = NATURAL_UNITS[self.period]
        self._ask()

    def action_unit(self) -> None:
        """Choose days, weeks or months."""
        self.unit = following(UNITS, self.unit)
        self._ask()

    def action_stack(self) -> None:
        """Stack the columns of time by model, source or not at all."""
        if self.by != self.unit:
            self.say(_("Columns are stacked by the lines of the table."))
            return
        self.stack = following(STACKS, self.stack)
        self._ask()
        self.say(_(STACKED[self.stack]))

    def action_metric(self) -> None:
        """Choose the next metric."""
        own = self.by if self.by in self.metrics else ""
        self.metrics[own] = following(TOOL_METRICS if self.by == TOOL else METRICS, self.metric)
        self.show_rows()

    def action_reload(self) -> None:
        """Read the store again."""
        self.sums.forget()
        self._ask()

    def action_search(self) -> None:
        """Search for the conversations of the current row on the main screen."""
        row = self.current_row
        if row is None:
            return
        search = search_for(row.by, row.group.key, self.period, self.main.clock())
        if not search.query:
            self.say(_("{why}: Enter shows the conversations").format(why=search.note))
            return
        self.dismiss(None)
        self.main.search_for(f"{search.query} ", search.note)

    def action_back(self) -> None:
        """Go back from conversations to the table, else stop reading, else close the screen."""
        if self.behind is not None:
            row, self.behind = self.behind, None
            self.show_rows()
            self._go_to(row.group.key)
        elif self.sums.stop():
            self.say(_("stopped: F5 reads again"))
        else:
            self.dismiss(None)
