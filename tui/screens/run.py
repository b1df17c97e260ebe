"""How a conversation went: a time axis of turns, tool calls, tokens, parts, subagents and
compressions; below it what stands out, its parts and subagents.

Pauses are drawn short: most of the time between two prompts nothing happens.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.content import Content

from hermes_browse.store.api import OpenStore
from hermes_browse.store.changes.run import Run
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..browser.list.conversation_list import ConversationList
from ..settings.keys.screen_commands import RUN
from ..text import formats
from ..text.sentences import cache_share, ended_at, facts, has_tokens
from ..text.styled import Line, row_line
from ..widgets.lines import TextLine
from ..widgets.list_rows import Column, Columns, FixedRows, ListRow
from ..widgets.stacked_columns import NOTHING, Cell, Picture, place_labels, runs, stack
from .sub_screen import ConversationScreen

_LEAD = 12
"""Cells of the names at the left."""
_PAUSE = 1800.0
"""Seconds; whatever takes longer is a pause."""
_SHORT = 20
"""A pause is as long as this part of the rest."""
_LANES = 4
"""Most subagents below each other."""
_TOOLS = ("series-1", "series-2", "series-3")
"""Looks of the tools that are called most."""
Span = tuple[float, float, Cell]
"""Begin and end in Unix seconds, and what is painted."""
NamedRow = tuple[str, Sequence[Cell]]
"""A row and its name at the left."""


class Scale:
    """Times as shares of a run, with short pauses."""

    def __init__(self, times: Iterable[float]) -> None:
        self._times = sorted(set(times)) or [0.0]
        self.first, self.last = self._times[0], self._times[-1]
        steps = [later - earlier for earlier, later in pairwise(self._times)]
        pause = sum(step for step in steps if step < _PAUSE) / _SHORT or 1.0
        lengths = (step if step < _PAUSE else pause for step in steps)
        self._places = list(accumulate(lengths, initial=0.0))

    def share(self, at: float) -> float:
        """Return where a time is, from 0 to 1."""
        index = bisect_right(self._times, at)
        if index in (0, len(self._times)):
            return float(index > 1)
        begin, end = self._times[index - 1 : index + 1]
        low, high = self._places[index - 1 : index + 1]
        return (low + (at - begin) / (end - begin) * (high - low)) / self._places[-1]


def lanes(subagents: Sequence[Conversation]) -> list[list[tuple[float, float]]]:
    """Return the begins and ends of subagents in as few lanes as they need side by side."""
    found: list[list[tuple[float, float]]] = []
    begins = [(each.root.started_at, each) for each in subagents]
    spans = [(begin, ended_at(each) or begin) for begin, each in begins if begin is not None]
    for span in sorted(spans):
        for lane in found:
            if lane[-1][1] <= span[0]:
                lane.append(span)
                break
        else:
            found.append([span])
    return found


class RunAxis(Picture):
    """Draws a run; `▲` is at the time of the row under the cursor."""

    NAME = "run"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"run--{look}" for look in (*_TOOLS, "others", "none", "cut", "text")
    }

    _scale = Scale(())
    _pointed: Sequence[Span] = ()
    _still: Callable[[int], list[list[Cell]]] | None = None
    """Returns for some cells all rows but the last two, which follow the cursor."""

    def show(self, run: Run) -> None:
        """Show a run."""
        ends = [time for lane in lanes(run.subagents) for span in lane for time in span]
        told = [row.at for row in run.rows if row.at is not None]
        self._scale = Scale([*told, *run.compressions, *ends])
        self._still = still = cache(lambda room: list(map(_row, self._rows(run, room))))
        self.styles.height = len(still(_LEAD)) + 2
        self.redraw()

    def point_at(self, at: float | None) -> None:
        """Mark a time (Unix seconds)."""
        self._pointed = [(at, at, Cell("▲", "cut"))] if at is not None else []
        self.redraw()

    def draw_rows(self) -> list[list[Cell]]:
        room = self.size.width - _LEAD - 1
        if self._still is None or room < 2:
            return []
        first, last = map(formats.timestamp, (self._scale.first, self._scale.last))
        times = place_labels([(0, first), (room - len(last), last)], room)
        pointed = self._painted(self._pointed, room)
        return [*self._still(room), _row(("", pointed)), _row(("", [Cell(times, "text")]))]

    def _rows(self, run: Run, room: int) -> Iterator[NamedRow]:
        turns = [
            (row.at, self._scale.last, Cell("█", "others" if number % 2 else "series-1"))
            for number, row in enumerate(run.turns)
            if row.at is not None
        ]
        yield _("turns"), self._painted(turns, room)
        if run.tools:
            most = Counter(use.name for use in run.tools).most_common(len(_TOOLS))
            looks = {name: look for (name, _count), look in zip(most, _TOOLS, strict=False)}
            calls = [(use.at, looks.get(use.name, "others"), 1) for use in run.tools]
            counts = Counter(look for _at, look, _one in calls)
            yield "", list(_legend([*looks.items(), (_("others"), "others")], counts))
            yield from self._columns(_("calls"), calls, room, 3)
        if has_tokens(run):
            tokens = [(row.at, "series-1", row.tokens) for row in run.rows if row.tokens]
            yield from self._columns(_("tokens"), tokens, room, 2)
        yield _("parts"), list(self._parts(run, room))
        for number, lane in enumerate(lanes(run.subagents)[:_LANES]):
            bars = [(*span, Cell("█", "series-3")) for span in lane]
            yield "" if number else _("subagents"), self._painted(bars, room)
        if run.compressions:
            signs = [(at, at, Cell("▼", "cut")) for at in run.compressions]
            yield _("compressed"), self._painted(signs, room)

    def _column(self, at: float, room: int) -> int:
        return min(int(self._scale.share(at) * room), room - 1)

    def _painted(self, spans: Iterable[Span], room: int) -> list[Cell]:
        """Paint cells from the begins of spans to their ends, later ones over earlier ones."""
        cells = [NOTHING] * room
        for begin, end, cell in spans:
            first, last = self._column(begin, room), self._column(end, room)
            cells[first : last + 1] = [cell] * (last + 1 - first)
        return cells

    def _columns(
        self,
        name: str,
        values: Iterable[tuple[float | None, str, int]],
        room: int,
        height: int,
    ) -> Iterator[NamedRow]:
        sums: list[Counter[str]] = [Counter() for _column in range(room)]
        for at, look, value in values:
            if at is not None:
                sums[self._column(at, room)][look] += value
        rows = stack([sorted(each.items()) for each in sums], room, height)
        return zip((name, *[""] * height), rows, strict=False)

    def _parts(self, run: Run, room: int) -> Iterator[Cell]:
        """Name cost and cache share of each part, from where it begins."""
        columns = [
            self._column(part.at, room) if part.at is not None else 0 for part in run.stretches
        ]
        yield Cell(" " * min(columns, default=room), "text")
        for part, column, end in zip(run.stretches, columns, [*columns[1:], room], strict=True):
            model = one_line(part.model, 60)
            text = "│" + formats.joined(formats.dollars(part.cost_usd), cache_share(part), model)
            yield Cell(formats.fit(text, max(end - column, 0)), "text")


def _row(named: NamedRow) -> list[Cell]:
    name, cells = named
    return runs([Cell(f" {formats.fit(name, _LEAD - 1)}", "text"), *cells])


def _legend(looks: Iterable[tuple[str, str]], counts: Counter[str]) -> Iterator[Cell]:
    """Name the tools by their colours."""
    for name, look in looks:
        if counts[look]:
            yield Cell("█", look)
            yield Cell(f" {one_line(name, 30)} {counts[look]:,}  ", "text")


class RunEventRow(NamedTuple):
    """Something of a run that can be read where it happened."""

    sign: str
    text: str
    session_id: str
    message_id: int | None
    at: float | None
    cost: float | None = None

    @property
    def enter(self) -> str:
        return N_("read")

    @property
    def key(self) -> str:
        return f"r{self.session_id} {self.message_id} {self.text}"

    def spans(self, width: int, now: float) -> Line:
        look = "accent" if self.sign == "!" else "dim"
        lead = (f" {self.sign} ", look)
        text = one_line(self.text, 400)
        return row_line(lead, (text, "title"), _COLUMNS.text(self, width, now), width)


_COLUMNS: Columns[RunEventRow] = Columns(
    Column(N_("when"), 17, lambda row, now: formats.timestamp(row.at), least=60),
    Column(N_("cost"), 9, lambda row, now: formats.dollars(row.cost)),
)


def run_rows(run: Run) -> Iterator[RunEventRow]:
    """Yield what stands out, then the parts, then the subagents."""
    times: dict[int | None, float | None] = {row.id: row.at for row in run.rows}
    sessions: dict[int | None, str] = {row.id: row.session_id for row in run.rows}
    for mark in run.marks:
        id = mark.message_id
        session_id = sessions.get(id, run.conversation.id)
        yield RunEventRow("!", mark.text, session_id, id, times.get(id))
    for part in run.stretches:
        words = _("part: {facts}", facts=formats.joined(part.model, cache_share(part)))
        place = part.session_id, part.first_message_id, part.at
        yield RunEventRow("│", words, *place, part.cost_usd)
    for subagent in run.subagents:
        begin, end = subagent.root.started_at, ended_at(subagent)
        took = formats.duration(end - begin) if begin is not None and end is not None else ""
        words = _("subagent: {facts}", facts=formats.joined(took, formats.name(subagent)))
        yield RunEventRow("█", words, subagent.id, None, begin, subagent.cost_usd)


class RunScreen(ConversationScreen):
    """How the current conversation went."""

    ENTER = N_("Read it where it happened")
    HELP_TITLE = N_("The run")
    KEYS = RUN
    TITLE = N_("run")

    def content(self) -> ComposeResult:
        yield TextLine(id="facts")
        yield RunAxis(id="axis")
        yield ConversationList(id="marks")

    @property
    def axis(self) -> RunAxis:
        return self.query_one("#axis", RunAxis)

    async def read_rows(self) -> None:
        session_id, now = self.conversation.id, self.main.clock()

        def read(store: OpenStore) -> tuple[Run, list[RunEventRow]]:
            run = store.run(session_id, now)
            run = run._replace(subagents=tuple(store.with_names(run.subagents)))
            return run, list(run_rows(run))

        run, rows = await self.read(read)
        missing = _("no cost per message is stored, so the axis has none")
        if not has_tokens(run):
            missing = _("neither cost nor tokens per message are stored, so the axis has none")
        self.line("facts").update(
            Content.assemble((facts(run), ""), (f" · {missing}", "dim")), layout=True
        )
        self.axis.show(run)
        self.rows.show(FixedRows(rows))

    def came_to(self, row: ListRow, *, by_hand: bool) -> None:
        if isinstance(row, RunEventRow):
            self.axis.point_at(row.at)
            self.describe(one_line(row.text, 400), by_hand=by_hand)

    def chose(self, row: ListRow) -> None:
        if isinstance(row, RunEventRow):
            self.read_message(row.session_id, row.message_id)
