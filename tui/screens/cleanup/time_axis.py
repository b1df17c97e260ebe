"""The time axis of a clean-up: what goes, what is spared and what stays, by the time of last
activity; above a plan it has the cutoff of the age rule.

`axis_of` looks at every conversation and runs on a reading thread; what draws looks at the columns
only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.geometry import Size
from textual.message import Message

from hermes_browse.store.amounts import DAY, begin_of
from hermes_browse.store.cleanup.sizes import Sizes
from hermes_browse.store.insights.sums import bucket_after, bucket_of
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.wording import N_, _, ngettext

from ...text import formats
from ...widgets.stacked_columns import NOTHING, Cell, Drawing, Picture, place_labels, runs, stack


class Measure(StrEnum):
    """The quantity that the columns show; its value is its name, to be translated."""

    BYTES = N_("bytes")
    CONVERSATIONS = N_("conversations")
    MESSAGES = N_("messages")
    COST = N_("cost")


_UNITS = {"day": N_("by day"), "week": N_("by week"), "month": N_("by month")}
_DAYS = {"day": 1, "week": 7, "month": 31}
"""Most days of a column, narrowest first."""
_EQUAL = N_("in equal parts")
"""The width where there are too many months."""
_KINDS = {
    "goes": ("█", N_("delete")),
    "spared": ("▒", N_("protected")),
    "stays": ("█", N_("keep")),
}
"""Sign and name of each part of a column, lowest first."""
_MOST_DAYS = 36_500.0
"""A century: Hermes takes any number of days."""
_BYTES = 2000.0
"""Of a message, as long as nothing is measured."""


class AxisShare(NamedTuple):
    """A conversation on the axis."""

    when: float
    """Its last activity, Unix seconds."""
    kind: str
    """One of `_KINDS`."""
    amount: float


class Axis(NamedTuple):
    """Columns, oldest first."""

    unit: str
    """The width of a column, to be translated."""
    edges: Sequence[float]
    """The starts of the columns, and the end of the last, Unix seconds."""
    columns: Sequence[Mapping[str, float]]
    """The sums of each by kind, over what was last active in it."""
    measure: Measure
    is_estimated: bool = False
    """Bytes of some conversations are not measured yet, but estimated from their messages."""

    def time_at(self, x: float) -> float:
        """The time at a position of the axis, from 0 on the left to 1 on the right."""
        return _on_line(x * len(self.columns), range(len(self.edges)), self.edges)

    def place_of(self, when: float) -> float:
        """The position of a time on the axis, from 0 to 1; there is at least one column."""
        return _on_line(when, self.edges, range(len(self.edges))) / len(self.columns)


def _on_line(x: float, xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the height at `x`, or the nearest end, of a line through points that rise."""
    x = min(max(x, xs[0]), xs[-1])
    right = min(bisect_right(xs, x), len(xs) - 1)
    left = right - 1
    return ys[left] + (x - xs[left]) / (xs[right] - xs[left]) * (ys[right] - ys[left])


def axis_of(
    catalog: Catalog,
    measure: Measure,
    sizes: Mapping[str, Sizes],
    *,
    gone: Container[str],
    spared: Container[str],
    most: int,
    now: float,
) -> Axis:
    """Add up a measure over all conversations that have a time, as `make_axis` does.

    Args:
        sizes: Measured so far, by session.
        gone: Sessions that go.
        spared: Roots that the rules mean and that stay.
    """
    rows = sum(each.rows for each in sizes.values())
    per_message = sum(each.total for each in sizes.values()) / rows if rows else _BYTES
    shares = []
    is_estimated = False
    for conversation in catalog.conversations():
        if (when := conversation.last_active) is None:
            continue
        amount = 0.0 if conversation.is_attached_subagent else 1.0
        if measure is Measure.COST:
            amount = conversation.cost_usd or 0.0
        elif measure is not Measure.CONVERSATIONS:
            amount = sum(each.message_count for each in conversation.segments)
        if measure is Measure.BYTES:
            if all(each.id in sizes for each in conversation.segments):
                amount = sum(sizes[each.id].total for each in conversation.segments)
            else:
                amount *= per_message
                is_estimated = True
        kind = "spared" if conversation.root_id in spared else "stays"
        shares.append(AxisShare(when, "goes" if conversation.id in gone else kind, amount))
    return make_axis(shares, measure, most, now)._replace(is_estimated=is_estimated)


def make_axis(shares: Sequence[AxisShare], measure: Measure, most: int, now: float) -> Axis:
    """Add up shares in at most `most` columns, two or more, up to `now` (Unix seconds).

    A column is the shortest unit of time of which `most` surely reach back to the first share, else
    an equal part of the time since then. Without shares there are no columns.
    """
    if not shares:
        return Axis(_EQUAL, (now,), (), measure)
    first = min(max(min(each.when for each in shares), 0.0), now)
    # The first and the last column may be parts of a unit.
    wide = (unit for unit, days in _DAYS.items() if now - first < (most - 1) * days * DAY)
    if unit := next(wide, ""):
        edges = _edges(unit, first, now)
    else:
        edges = [first + (now - first) * index / most for index in range(most + 1)]
    columns = [dict.fromkeys(_KINDS, 0.0) for _start in edges[:-1]]
    for each in shares:
        index = bisect_right(edges, each.when, hi=len(columns)) - 1
        columns[max(index, 0)][each.kind] += each.amount
    return Axis(_UNITS.get(unit, _EQUAL), edges, columns, measure)


def _edges(unit: str, first: float, last: float) -> list[float]:
    """Return the starts of the columns between two times, then the end of the last."""
    day = bucket_of(date.fromtimestamp(first), unit)
    edges = [begin_of(day)]
    while edges[-1] <= last:
        day = bucket_after(day, unit)
        edges.append(begin_of(day))
    return edges


def coming(days: Sequence[float], most: int, now: float) -> Axis:
    """Return the axis of future days, in conversations that go.

    `days` are those from `now` (Unix seconds) until each goes, 0 for the next clean-up; `most`
    columns fit.
    """
    moments = [now + min(each, _MOST_DAYS) * DAY for each in days]
    today = AxisShare(now, "goes", 0.0)  # the axis begins today
    shares = [today, *(AxisShare(moment, "goes", 1.0) for moment in moments)]
    return make_axis(shares, Measure.CONVERSATIONS, most, max(moments, default=now) + DAY)


def draw(axis: Axis, width: int, height: int, cut: float | None) -> Drawing:
    """Draw at most `width` columns as `height` rows of exactly `width` cells, top first.

    `cut` is the time before which things go, in Unix seconds; None without a rule.
    """
    columns = [list(each.items()) for each in axis.columns]
    rows = stack(columns, width, height)
    if cut is not None and columns:
        line = min(round(axis.place_of(cut) * width), width - 1)
        for cells in rows:
            under = cells[line]
            behind = under.look if under.text in "█▒" else under.behind
            cells[line] = Cell("│", "cut", behind)
    return [runs(cells) for cells in rows]


def labels(axis: Axis, width: int) -> str:
    """Return the line of `width` cells below the columns: years, and months where there is room
    between them."""
    years = []
    months = []
    year = month = 0
    for index, start in enumerate(axis.edges[:-1]):
        at = datetime.fromtimestamp(start)
        place = index * width // len(axis.columns)
        name = _(at.strftime("%b"))[:3]
        if at.year != year:
            is_within = not year and at.month > 1
            years.append((place, f"{name} {at.year}" if is_within else str(at.year)))
        if at.month != month:
            months.append((place, name))
        year = at.year
        month = at.month
    return place_labels([*years[1:], *years[:1], *months], width)


class TimeAxis(Picture):
    """Columns of what goes and stays over time.

    They stand under their measure, and the line is the cutoff, which can be moved; or under a
    title, and it is the time of the row under the cursor. `clock` returns Unix seconds.
    """

    @dataclass
    class Moved(Message):
        """The mouse moved the cutoff."""

        days: int
        """Before now."""

    def __init__(self, clock: Callable[[], float], title: str = "") -> None:
        super().__init__(id="axis")
        self._clock = clock
        self._heading = title
        self._can_cut = not title
        self.axis: Axis | None = None
        self.cut: float | None = None
        """The time of the line, Unix seconds."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 5 if viewport.height < 30 else 8 if viewport.height < 45 else 12

    @property
    def most(self) -> int:
        """The most columns that an axis to show may have."""
        return max(self.size.width // 2 - 1, 2)

    def show(self, axis: Axis | None, cut: float | None) -> None:
        """Show an axis of at most `most` columns, and a cutoff (Unix seconds) if there is one."""
        self.axis = axis
        self.cut = cut
        self.redraw()

    def draw_rows(self) -> Drawing:
        """Draw the title, the columns, and the labels below them."""
        width = self.size.width
        axis = self.axis
        if axis is None or width < 4:
            return []
        columns = draw(axis, width - 2, self.size.height - 2, self.cut)
        below = Cell(" " + labels(axis, width - 2), "dim")
        return [self._title(axis, width), *([NOTHING, *row] for row in columns), [below]]

    def _title(self, axis: Axis, width: int) -> list[Cell]:
        """Return the title, the legend, the cutoff, and its keys if there is room."""
        what = self._heading or _(axis.measure)
        what += _(", estimated") if axis.is_estimated else ""
        highest = max((sum(each.values()) for each in axis.columns), default=0.0)
        peak = formats.amount(highest, axis.measure)
        title = _("{what} {unit}, up to {peak}", what=what, unit=_(axis.unit), peak=peak)
        cells = [Cell(f" {title}  ", "heading")]
        for look, (sign, words) in _KINDS.items():
            if self._can_cut and any(each[look] for each in axis.columns):
                cells += [Cell(sign, look), Cell(f" {_(words)}  ", "dim")]
        left = width - sum(cell_len(cell.text) for cell in cells)
        cutoff = self._cutoff(left)
        left -= cell_len(cutoff)
        cells.append(Cell(cutoff, "cut"))
        keys = _("[ ] move it · m measures")
        if self._can_cut and cell_len(keys) + 2 < left:
            cells.append(Cell(f"{keys} ".rjust(left), "dim"))
        return cells

    def _cutoff(self, room: int) -> str:
        """Return the time of the line, with its age if that fits into so many cells."""
        if self.cut is None:
            return ""
        days = round((self._clock() - self.cut) / DAY)
        day = formats.day_key(self.cut)
        words = ngettext(
            "older than 1 day: before {day}",
            "older than {days:,} days: before {day}",
            days,
            day=day,
            days=days,
        )
        is_room = self._can_cut and cell_len(words) + 3 <= room
        return f" │ {words if is_room else day}"

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if self._can_cut:
            self.capture_mouse()
            self.on_mouse_move(event)

    def on_mouse_up(self) -> None:
        self.release_mouse()

    def on_mouse_move(self, event: events.MouseEvent) -> None:
        axis = self.axis
        now = self._clock()
        if self.app.mouse_captured is self and axis is not None and axis.columns:
            when = axis.time_at((event.x - 1) / max(self.size.width - 2, 1))
            self.post_message(self.Moved(max(1, round((now - when) / DAY))))
