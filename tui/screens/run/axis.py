"""The time axis of a run: turns, tool calls, tokens, parts, subagents, compressions.

Pauses are drawn short: most of the time between two prompts nothing happens.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import ClassVar

from hermes_browse.store.run.run import Run
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ...text import formats
from ...text.run_words import cache_share, ended_at, has_tokens
from ...widgets.stacked_columns import NOTHING, Cell, Part, Picture, runs, stack

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


class Scale:
    """Times as shares of a run, with short pauses."""

    def __init__(self, times: Sequence[float]) -> None:
        self._times = sorted(set(times)) or [0.0]
        steps = [later - earlier for earlier, later in pairwise(self._times)]
        pause = sum(step for step in steps if step < _PAUSE) / _SHORT or 1.0
        lengths = (step if step < _PAUSE else pause for step in steps)
        self._places = list(accumulate(lengths, initial=0.0))

    @property
    def ends(self) -> tuple[float, float]:
        """The first and the last time."""
        return self._times[0], self._times[-1]

    def share(self, at: float) -> float:
        """Return where a time is, from 0 to 1."""
        times, places = self._times, self._places
        index = bisect_right(times, at) - 1
        if index < 0 or index >= len(times) - 1:
            return float(index > 0)
        within = (at - times[index]) / (times[index + 1] - times[index])
        place = places[index] + within * (places[index + 1] - places[index])
        return place / places[-1]


def lanes(subagents: Sequence[Conversation]) -> list[list[tuple[float, float]]]:
    """Return the begins and ends of subagents in as few lanes as they need side by side."""
    found: list[list[tuple[float, float]]] = []
    spans = [(each.root.started_at, ended_at(each)) for each in subagents]
    for begin, end in sorted((begin, end or begin) for begin, end in spans if begin is not None):
        free = next((lane for lane in found if lane[-1][1] <= begin), None)
        if free is None:
            found.append(free := [])
        free.append((begin, end))
    return found


def times_of(run: Run) -> Iterator[float]:
    """Yield all times of a run."""
    yield from (row.at for turn in run.turns for row in turn if row.at is not None)
    yield from run.compressions
    for lane in lanes(run.subagents):
        for span in lane:
            yield from span


class RunAxis(Picture):
    """Draws a run; `▲` is at the time of the row under the cursor."""

    NAME = "run"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"run--{look}" for look in (*_TOOLS, "others", "none", "cut", "text")
    }

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._run: Run | None = None
        self._scale = Scale(())
        self._at: float | None = None
        self._room, self._still = 0, list[list[Cell]]()
        """Cells for which all but the last two rows were drawn, and those rows."""

    def show(self, run: Run) -> None:
        """Show a run."""
        self._run, self._scale, self._room = run, Scale(list(times_of(run))), 0
        self.styles.height = len(self._rows(run, _LEAD)) + 2
        self.redraw()

    def point_at(self, at: float | None) -> None:
        """Mark a time (Unix seconds)."""
        self._at = at
        self.redraw()

    def draw_rows(self) -> list[list[Cell]]:
        room = self.size.width - _LEAD - 1
        if self._run is None or room < 2:
            return []
        if room != self._room:
            self._room, self._still = room, [runs(row) for row in self._rows(self._run, room)]
        pointed = [(self._at, self._at, Cell("▲", "cut"))] if self._at is not None else []
        return [*self._still, self._named("", self._painted(pointed, room)), self._times(room)]

    def _rows(self, run: Run, room: int) -> list[list[Cell]]:
        tools = Counter(use.name for use in run.tools)
        looks = dict(zip([name for name, _count in tools.most_common(3)], _TOOLS, strict=False))
        calls = [(use.at, looks.get(use.name, "others"), 1) for use in run.tools]
        end = self._scale.ends[1]
        turns = [
            (turn[0].at, end, Cell("█", "others" if number % 2 else "series-1"))
            for number, turn in enumerate(run.turns)
            if turn[0].at is not None
        ]
        rows = [self._named(_("turns"), self._painted(turns, room))]
        if calls:
            rows.append(_legend(tools, looks))
            rows += self._columns(_("calls"), calls, room, 3)
        if has_tokens(run):
            tokens = [(row.at, "series-1", row.tokens) for turn in run.turns for row in turn]
            rows += self._columns(_("tokens"), tokens, room, 2)
        rows.append(self._named(_("parts"), self._parts(run, room)))
        for number, lane in enumerate(lanes(run.subagents)[:_LANES]):
            name = _("subagents") if not number else ""
            bars = [(*span, Cell("█", "series-3")) for span in lane]
            rows.append(self._named(name, self._painted(bars, room)))
        if run.compressions:
            signs = [(at, at, Cell("▼", "cut")) for at in run.compressions]
            rows.append(self._named(_("compressed"), self._painted(signs, room)))
        return rows

    def _named(self, name: str, cells: Sequence[Cell]) -> list[Cell]:
        return [Cell(f" {formats.fit(name, _LEAD - 1)}", "text"), *cells]

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
        values: Sequence[tuple[float | None, str, int | None]],
        room: int,
        height: int,
    ) -> list[list[Cell]]:
        sums: list[Counter[str]] = [Counter() for _column in range(room)]
        for at, look, value in values:
            if at is not None and value:
                sums[self._column(at, room)][look] += value
        columns: list[list[Part]] = [sorted(each.items()) for each in sums]
        rows = stack(columns, room, height)
        return [self._named("" if number else name, row) for number, row in enumerate(rows)]

    def _parts(self, run: Run, room: int) -> list[Cell]:
        """Name cost and cache share of each part, from where it begins."""
        times = {row.id: row.at for turn in run.turns for row in turn}
        begins = [times.get(part.first_message_id or 0) for part in run.stretches]
        columns = [self._column(begin, room) if begin is not None else 0 for begin in begins]
        cells = [Cell(" " * min(columns, default=room), "text")]
        for part, column, end in zip(run.stretches, columns, [*columns[1:], room], strict=True):
            words = (formats.dollars(part.cost_usd), cache_share(part), one_line(part.model, 60))
            text = "│" + " · ".join(filter(None, words))
            cells.append(Cell(formats.fit(text, max(end - column, 0)), "text"))
        return cells

    def _times(self, room: int) -> list[Cell]:
        first, last = map(formats.timestamp, self._scale.ends)
        rest = formats.fit(last, max(room - len(first), 0), right=True)
        return self._named("", [Cell(first + rest, "text")])


def _legend(tools: Counter[str], looks: Mapping[str, str]) -> list[Cell]:
    """Name the tools by their colours."""
    named = [(one_line(name, 30), tools[name], look) for name, look in looks.items()]
    others = tools.total() - sum(count for _name, count, _look in named)
    cells = [Cell(" " * _LEAD, "text")]
    for name, count, look in [*named, (_("others"), others, "others")]:
        if count:
            cells += [Cell("█", look), Cell(f" {name} {count:,}  ", "text")]
    return cells
