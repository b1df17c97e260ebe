"""How a conversation went: a time axis of turns, tool calls, parts, subagents and compressions;
below it what stands out, its parts and subagents.

Pauses are drawn short: most of the time between two prompts nothing happens.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import accumulate, cycle, pairwise

from textual.app import ComposeResult
from textual.content import Content
from textual.getters import query_one

from hermes_browse.store.api import OpenStore
from hermes_browse.store.changes.run import GAP, Run, RunMark
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..browser.list.conversation_list import ConversationList
from ..settings.keys.screen_commands import RUN
from ..text import formats
from ..text.run_words import cache_share, ended_at, facts, run_events
from ..widgets.lines import TextLine
from ..widgets.list_rows import Column, Columns, FixedRows, ListRow, MessageRow, NoteRow
from ..widgets.stacked_columns import NOTHING, Cell, Picture, place_labels, runs
from .sub_screen import ConversationScreen

_LEAD = 15
"""Cells of the names at the left."""
_SHORT = 20
"""A pause is as long as this part of the rest."""
_MOST = 3
"""Most tools with a row of their own, and most rows of subagents."""
Period = tuple[float, float, Cell]
"""Begin and end in Unix seconds, and what is drawn from one to the other."""
NamedRow = tuple[str, Sequence[Cell]]
"""A row and its name at the left."""
_MARK, _CUT = Cell("▲", "mark"), Cell("▼", "mark")
_CALL, _SUBAGENT = Cell("█", "series-1"), Cell("█", "series-3")
_TURNS = Cell("█", "bar"), Cell("█", "stays")
"""In turn."""


class Scale:
    """Times as shares of a run, with short pauses."""

    def __init__(self, times: Iterable[float]) -> None:
        self.times = sorted(set(times)) or [0.0]
        steps = [later - earlier for earlier, later in pairwise(self.times)]
        self.has_pauses = max(steps, default=0.0) >= GAP
        pause = sum(step for step in steps if step < GAP) / _SHORT or 1.0
        lengths = (step if step < GAP else pause for step in steps)
        self._places = list(accumulate(lengths, initial=0.0))

    def share(self, at: float) -> float:
        """Return where a time is, or else the next one that is known, from 0 to 1."""
        index = min(bisect_left(self.times, at), len(self.times) - 1)
        return self._places[index] / (self._places[-1] or 1.0)


def _subagents(run: Run) -> list[Period]:
    """Return when the subagents of a run were there, by their begin."""
    begins = [(each.root.started_at, each) for each in run.subagents]
    return sorted(
        (begin, ended_at(each) or begin, _SUBAGENT) for begin, each in begins if begin is not None
    )


class RunAxis(Picture):
    """Draws a run; `▲` is at the time of the row under the cursor."""

    _fixed: Callable[[int], list[NamedRow]] | None = None
    """Returns the rows but for the mark; of a long run they take longer than a frame, and are made
    once for each width."""
    scale = Scale(())
    _pointed: tuple[Period, ...] = ()
    """The time that is marked, if there is one."""

    def show(self, run: Run) -> None:
        """Show a run."""
        ends = [time for begin, end, _cell in _subagents(run) for time in (begin, end)]
        times = [row.at for row in run.rows if row.at is not None]
        self._fixed = cache(lambda room: list(self._rows(run, room)))
        self.scale = Scale([*times, *run.compressions, *ends])
        self.styles.height = len(self._fixed(_LEAD)) + 2
        self.redraw()

    def point_at(self, at: float | None) -> None:
        """Mark a time (Unix seconds)."""
        self._pointed = () if at is None else ((at, at, _MARK),)
        self.redraw()

    def draw_rows(self) -> list[list[Cell]]:
        room = self.size.width - _LEAD - 1
        if self._fixed is None or room < 2:
            return []
        first, last = (formats.timestamp(self.scale.times[end]) for end in (0, -1))
        note = _("pauses are drawn short") if self.scale.has_pauses else ""
        places = [(0, first), (room - len(last), last), ((room - len(note)) // 2, note)]
        times = place_labels(places, room)
        marked = self._lane(self._pointed, room)
        return [
            runs([Cell(f" {formats.fit(name, _LEAD - 1)}", "dim"), *cells])
            for name, cells in (*self._fixed(room), ("", marked), ("", [Cell(times, "dim")]))
        ]

    def _rows(self, run: Run, room: int) -> Iterator[NamedRow]:
        begins = [row.at for row in run.turns if row.at is not None]
        ends = [*begins[1:], self.scale.times[-1]]
        yield _("turns"), self._lane(zip(begins, ends, cycle(_TURNS), strict=False), room)
        most = dict(Counter(use.name for use in run.tools).most_common(_MOST))
        tools = [use.name if use.name in most else _("others") for use in run.tools]
        for tool in dict.fromkeys([*most, *tools]):
            times = [use.at for use, name in zip(run.tools, tools, strict=True) if name == tool]
            calls = [(at, at, _CALL) for at in times if at is not None]
            yield one_line(f"{len(times):,}× {tool}", 30), self._lane(calls, room)
        yield _("parts"), list(self._parts(run, room))
        subagents = _subagents(run)
        for row in range(min(len(subagents), _MOST)):  # so that those in parallel are side by side
            yield "" if row else _("subagents"), self._lane(subagents[row::_MOST], room)
        if run.compressions:
            yield _("compressed"), self._lane([(at, at, _CUT) for at in run.compressions], room)

    def _column(self, at: float, room: int) -> int:
        return min(int(self.scale.share(at) * room), room - 1)

    def _lane(self, periods: Iterable[Period], room: int) -> list[Cell]:
        cells = [NOTHING] * room
        for begin, end, cell in periods:
            first, last = self._column(begin, room), self._column(end, room)
            cells[first : last + 1] = [cell] * (last + 1 - first)
        return cells

    def _parts(self, run: Run, room: int) -> Iterator[Cell]:
        """Name cost and cache share of each part, from where it begins."""
        columns = [self._column(part.first.at or 0.0, room) for part in run.stretches]
        yield Cell(" " * min(columns, default=room), "dim")
        for part, column, end in zip(run.stretches, columns, [*columns[1:], room], strict=True):
            model = one_line(part.model, 60)
            text = "│" + formats.joined(formats.dollars(part.cost_usd), cache_share(part), model)
            yield Cell(formats.fit(text, max(end - column, 0)), "dim")


_COLUMNS: Columns[MessageRow] = Columns(
    Column(N_("when"), 17, lambda row, now: formats.timestamp(row.at), least=60),
    Column(N_("cost"), 9, lambda row, now: formats.dollars(row.cost)),
)


_SIGNS = {"part": "│", "subagent": "█"}
"""Of what does not stand out."""


def _row(event: RunMark) -> MessageRow:
    is_pause = event.kind == "gap" and event.row.role == "user"
    sign = _SIGNS.get(event.kind, "·" if is_pause else "!")
    text = one_line(event.text, 400)
    return MessageRow(
        key=f"{event.row.session_id} {event.row.id} {text}",
        lead=(f" {sign} ", "accent" if sign == "!" else "dim"),
        text=(text, "title"),
        target=(event.row.session_id, event.row.id),
        at=event.row.at,
        cost=event.cost_usd,
        columns=_COLUMNS,
        about=text,
    )


class RunScreen(ConversationScreen):
    """How the current conversation went."""

    ENTER = N_("Read it where it happened")
    HELP_TITLE = N_("The run")
    KEYS = RUN
    TITLE = N_("run")

    axis = query_one(RunAxis)

    def content(self) -> ComposeResult:
        yield TextLine(id="facts")
        yield RunAxis(id="axis")
        yield ConversationList(id="marks")

    async def read_rows(self) -> None:
        run = await self.read(
            partial(OpenStore.run, session_id=self.conversation.id, now=self.main.clock())
        )
        rows = list(map(_row, run_events(run)))
        self.axis.show(run)
        missing = _("Hermes stores no cost per message")
        self.line("facts").update(
            Content.assemble((facts(run), ""), (f" · {missing}", "dim")), layout=True
        )
        self.rows.show(FixedRows(rows or [NoteRow(_("Nothing more is stored of this run."))]))

    def came_to(self, row: ListRow, *, by_hand: bool) -> None:
        if isinstance(row, MessageRow):
            self.axis.point_at(row.at)
        super().came_to(row, by_hand=by_hand)
