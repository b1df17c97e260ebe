"""How a conversation went: a time axis of turns, tool calls, parts, subagents and compressions;
below it what stands out, its parts and subagents.

Pauses are drawn short: most of the time between two prompts nothing happens.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, pairwise

from textual.app import ComposeResult
from textual.content import Content
from textual.getters import query_one

from hermes_browse.store.api import OpenStore
from hermes_browse.store.changes.run import Run, RunRow
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..browser.list.conversation_list import ConversationList
from ..settings.keys.screen_commands import RUN
from ..text import formats
from ..text.sentences import cache_share, ended_at, facts
from ..text.styled import Span
from ..widgets.lines import TextLine
from ..widgets.list_rows import Column, Columns, FixedRows, ListRow, NoteRow
from ..widgets.stacked_columns import NOTHING, Cell, Picture, place_labels, runs, stack
from .sub_screen import ConversationScreen, MessageRow

_LEAD = 12
"""Cells of the names at the left."""
_PAUSE = 1800.0
"""Seconds; whatever takes longer is a pause."""
_SHORT = 20
"""A pause is as long as this part of the rest."""
_HEIGHT = 3
"""Most cells of the columns of calls and of subagents."""
_TOOLS = ("series-1", "series-2", "series-3")
"""Looks of the tools that are called most."""
Period = tuple[float, float, str]
"""Begin and end in Unix seconds, and a look."""
NamedRow = tuple[str, Sequence[Cell]]
"""A row and its name at the left."""


class Scale:
    """Times as shares of a run, with short pauses."""

    def __init__(self, times: Iterable[float]) -> None:
        self.times = sorted(set(times)) or [0.0]
        steps = [later - earlier for earlier, later in pairwise(self.times)]
        self.has_pauses = max(steps, default=0.0) >= _PAUSE
        pause = sum(step for step in steps if step < _PAUSE) / _SHORT or 1.0
        lengths = (step if step < _PAUSE else pause for step in steps)
        self._places = list(accumulate(lengths, initial=0.0))

    def share(self, at: float) -> float:
        """Return where a time is, or else the next one that is known, from 0 to 1."""
        index = min(bisect_left(self.times, at), len(self.times) - 1)
        return self._places[index] / (self._places[-1] or 1.0)


def _spans(run: Run) -> list[Period]:
    """Return when the subagents of a run were there."""
    begins = [(each.root.started_at, each) for each in run.subagents]
    return [
        (begin, ended_at(each) or begin, "series-3") for begin, each in begins if begin is not None
    ]


class RunAxis(Picture):
    """Draws a run; `▲` is at the time of the row under the cursor."""

    NAME = "run"
    LOOKS = (*_TOOLS, "others", "stays", "none", "cut", "text")

    _fixed: Callable[[int], list[NamedRow]] | None = None
    """Returns the rows but for the mark; of a long run they take longer than a frame, and are made
    once for each width."""
    scale = Scale(())
    _pointed: tuple[float, ...] = ()
    """The time that is marked, if there is one."""

    def show(self, run: Run) -> None:
        """Show a run."""
        ends = [time for begin, end, _look in _spans(run) for time in (begin, end)]
        times = [row.at for row in run.rows if row.at is not None]
        self._fixed = cache(lambda room: list(self._rows(run, room)))
        self.scale = Scale([*times, *run.compressions, *ends])
        self.styles.height = len(self._fixed(_LEAD)) + 2
        self.redraw()

    def point_at(self, at: float | None) -> None:
        """Mark a time (Unix seconds)."""
        self._pointed = () if at is None else (at,)
        self.redraw()

    def draw_rows(self) -> list[list[Cell]]:
        room = self.size.width - _LEAD - 1
        if self._fixed is None or room < 2:
            return []
        first, last = (formats.timestamp(self.scale.times[end]) for end in (0, -1))
        times = place_labels([(0, first), (room - len(last), last)], room)
        marked = self._signs("▲", self._pointed, room)
        return [
            runs([Cell(f" {formats.fit(name, _LEAD - 1)}", "text"), *cells])
            for name, cells in (*self._fixed(room), ("", marked), ("", [Cell(times, "text")]))
        ]

    def _rows(self, run: Run, room: int) -> Iterator[NamedRow]:
        turns = [NOTHING] * room
        for number, row in enumerate(run.turns):
            if row.at is not None:
                # Two looks in turn, none of which a tool has.
                first, look = self._column(row.at, room), "stays" if number % 2 else "text"
                turns[first:] = [Cell("█", look)] * (room - first)
        yield _("turns"), turns
        if run.tools:
            most = Counter(use.name for use in run.tools).most_common(len(_TOOLS))
            looks = {name: look for (name, _count), look in zip(most, _TOOLS, strict=False)}
            uses = [(use.at, looks.get(use.name, "others")) for use in run.tools]
            calls = [(at, at, look) for at, look in uses if at is not None]
            counts = Counter(look for _at, look in uses)
            yield "", list(_legend([*looks.items(), (_("others"), "others")], counts))
            yield from self._columns(_("calls"), calls, room, _HEIGHT)
        yield _("parts"), list(self._parts(run, room))
        if run.subagents:
            height = min(len(run.subagents), _HEIGHT)
            yield from self._columns(_("subagents"), _spans(run), room, height)
        if run.compressions:
            yield _("compressed"), self._signs("▼", run.compressions, room)

    def _column(self, at: float, room: int) -> int:
        return min(int(self.scale.share(at) * room), room - 1)

    def _signs(self, sign: str, times: Iterable[float], room: int) -> list[Cell]:
        columns = {self._column(at, room) for at in times}
        return [Cell(sign, "cut") if each in columns else NOTHING for each in range(room)]

    def _columns(
        self, name: str, spans: Iterable[Period], room: int, height: int
    ) -> Iterator[NamedRow]:
        """Count in each column what was there."""
        sums: list[Counter[str]] = [Counter() for _column in range(room)]
        for begin, end, look in spans:
            for column in range(self._column(begin, room), self._column(end, room) + 1):
                sums[column][look] += 1
        rows = stack([sorted(each.items()) for each in sums], room, height)
        return zip((name, *[""] * height), rows, strict=False)

    def _parts(self, run: Run, room: int) -> Iterator[Cell]:
        """Name cost and cache share of each part, from where it begins."""
        columns = [self._column(part.first.at or 0.0, room) for part in run.stretches]
        yield Cell(" " * min(columns, default=room), "text")
        for part, column, end in zip(run.stretches, columns, [*columns[1:], room], strict=True):
            model = one_line(part.model, 60)
            text = "│" + formats.joined(formats.dollars(part.cost_usd), cache_share(part), model)
            yield Cell(formats.fit(text, max(end - column, 0)), "text")


def _legend(looks: Iterable[tuple[str, str]], counts: Counter[str]) -> Iterator[Cell]:
    """Name the tools by their colours."""
    for name, look in looks:
        if counts[look]:
            yield Cell("█", look)
            yield Cell(f" {one_line(name, 30)} {counts[look]:,}  ", "text")


_COLUMNS: Columns[MessageRow] = Columns(
    Column(N_("when"), 17, lambda row, now: formats.timestamp(row.at), least=60),
    Column(N_("cost"), 9, lambda row, now: formats.dollars(row.cost)),
)


def run_rows(run: Run) -> Iterator[MessageRow]:
    """Yield what stands out, then the parts, then the subagents."""
    for mark in run.marks:
        yield _event((" ! ", "accent"), mark.text, mark.row)
    for part in run.stretches:
        told = formats.joined(part.model, cache_share(part))
        if not told and part.cost_usd is None:
            continue  # as of an old transcript
        words = _("part: {facts}", facts=told) if told else _("part")
        yield _event((" │ ", "dim"), words, part.first, part.cost_usd)
    for subagent in run.subagents:
        begin, end = subagent.root.started_at, ended_at(subagent)
        took = formats.duration(end - begin) if begin is not None and end is not None else ""
        words = _("subagent: {facts}", facts=formats.joined(took, formats.name(subagent)))
        yield _event((" █ ", "dim"), words, RunRow(subagent.id, at=begin), subagent.cost_usd)


def _event(lead: Span, text: str, row: RunRow, cost: float | None = None) -> MessageRow:
    key, title = f"{row.session_id} {row.id} {text}", (one_line(text, 400), "title")
    return MessageRow(key, lead, title, (row.session_id, row.id), row.at, cost, _COLUMNS)


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
        session_id, now = self.conversation.id, self.main.clock()

        def read(store: OpenStore) -> tuple[Run, list[MessageRow]]:
            run = store.run(session_id, now)
            run = run._replace(subagents=tuple(store.with_names(run.subagents)))
            return run, list(run_rows(run))

        run, rows = await self.read(read)
        self.axis.show(run)
        short = _("pauses are drawn short") if self.axis.scale.has_pauses else ""
        missing = _("Hermes stores no cost of single messages")
        notes = formats.joined(missing, short)
        self.line("facts").update(
            Content.assemble((facts(run), ""), (f" · {notes}", "dim")), layout=True
        )
        self.rows.show(FixedRows(rows or [NoteRow(_("Nothing more is stored of this run."))]))

    def came_to(self, row: ListRow, *, by_hand: bool) -> None:
        if isinstance(row, MessageRow):
            self.axis.point_at(row.at)
            self.describe(row.text[0], by_hand=by_hand)
