"""The time axis of a clean-up: what goes, what is spared and what stays, by the time of last
activity.

`axis_of` looks at every conversation and runs on a reading thread; `draw` looks at the columns only.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from rich.cells import cell_len

from hermes_browse.store.amounts import DAY
from hermes_browse.store.cleanup.sizes import Sizes
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.wording import N_

from ...text import formats
from ...widgets.stacked_columns import Cell, runs, stack


class Measure(StrEnum):
    """The quantity that the columns show; its value is its name, to be translated."""

    BYTES = N_("bytes")
    CONVERSATIONS = N_("conversations")
    MESSAGES = N_("messages")
    COST = N_("cost")


AMOUNTS: dict[Measure, Callable[[float], str]] = {
    Measure.BYTES: lambda value: formats.size(round(value)),
    Measure.CONVERSATIONS: formats.number,
    Measure.MESSAGES: formats.number,
    Measure.COST: lambda value: formats.money(value) or "$0",
}
"""Return an amount as text."""
UNITS = {
    "day": N_("by day"),
    "week": N_("by week"),
    "month": N_("by month"),
    "quarter": N_("by quarter"),
    "year": N_("by year"),
}
"""Widths of a column, narrowest first."""
_BYTES = 2000.0
"""Of a message, as long as nothing is measured."""


class AxisShare(NamedTuple):
    """A chain of sessions on the axis."""

    when: float
    """Its last activity, Unix seconds."""
    kind: str
    """`goes`, `spared` or `stays`."""
    amount: float


class AxisPeriod(NamedTuple):
    """A period of time, with the sums over what was last active in it."""

    start: float
    goes: float = 0.0
    spared: float = 0.0
    stays: float = 0.0

    @property
    def total(self) -> float:
        return self.goes + self.spared + self.stays


class Axis(NamedTuple):
    """Columns, oldest first."""

    unit: str
    """One of `UNITS`."""
    columns: tuple[AxisPeriod, ...]
    end: float
    """The end of the last column, Unix seconds."""
    measure: Measure
    is_estimated: bool = False
    """Bytes of some conversations are not measured yet, but estimated from their messages."""
    later: tuple[int, float] | None = None
    """How many conversations are beyond the end, and the time of the last, Unix seconds."""

    @property
    def edges(self) -> list[float]:
        """The starts of the columns, and the end of the last, Unix seconds."""
        return [*(each.start for each in self.columns), self.end]

    @property
    def peak(self) -> float:
        """The value of the highest column."""
        return max((each.total for each in self.columns), default=0.0)

    def time_at(self, x: float) -> float:
        """The time at a position of the axis, from 0 on the left to 1 on the right."""
        place = max(0.0, min(x, 1.0)) * len(self.columns)
        index = min(int(place), len(self.columns) - 1)
        start, end = self.edges[index : index + 2]
        return start + (place - index) * (end - start)

    def place_of(self, when: float) -> float:
        """The position of a time on the axis, from 0 to 1; there is at least one column."""
        edges = self.edges
        when = min(max(when, edges[0]), edges[-1])
        index = min(bisect_right(edges, when), len(self.columns)) - 1
        start, end = edges[index : index + 2]
        return (index + (when - start) / (end - start)) / len(self.columns)


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
    """Add up a measure over all chains that have a time, as `make_axis` does.

    Args:
        sizes: Measured so far, by session.
        gone: Sessions that go.
        spared: Roots that the rules mean and that stay.
    """
    rows = sum(each.rows for each in sizes.values())
    per_message = sum(each.total for each in sizes.values()) / rows if rows else _BYTES
    shares = []
    is_estimated = False
    for chain in catalog.chains():
        when = chain.last_active if chain.last_active is not None else chain.root.started_at
        if when is None:
            continue
        messages = sum(each.message_count for each in chain.segments)
        amounts = {
            Measure.BYTES: messages * per_message,
            Measure.CONVERSATIONS: 0.0 if chain.is_attached_subagent else 1.0,
            Measure.MESSAGES: messages,
            Measure.COST: chain.cost_usd or 0.0,
        }
        amount = amounts[measure]
        if measure is Measure.BYTES:
            if all(each.id in sizes for each in chain.segments):
                amount = sum(sizes[each.id].total for each in chain.segments)
            else:
                is_estimated = True
        kind = "spared" if chain.root_id in spared else "stays"
        shares.append(AxisShare(when, "goes" if chain.id in gone else kind, amount))
    return make_axis(shares, measure, most, now)._replace(is_estimated=is_estimated)


def _edges(unit: str, first: float, last: float, most: int) -> list[float]:
    """Return the starts of the columns between two times, then the end of the last; no more than
    `most` columns, the last of which may then end before `last`."""
    at = datetime.fromtimestamp(first).replace(hour=0, minute=0, second=0, microsecond=0)
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit, 0)
    if unit == "week":
        at -= timedelta(days=at.weekday())
    elif months:
        at = at.replace(month=(at.month - 1) // months * months + 1, day=1)
    edges = [at.timestamp()]
    while edges[-1] <= last and len(edges) <= most:
        if months:
            month = at.month - 1 + months
            at = at.replace(year=at.year + month // 12, month=month % 12 + 1)
        else:
            at += timedelta(days=7 if unit == "week" else 1)
        edges.append(at.timestamp())
    return edges


def make_axis(shares: Sequence[AxisShare], measure: Measure, most: int, now: float) -> Axis:
    """Add up shares in at most `most` columns up to `now` (Unix seconds), in the narrowest unit
    that fits; without any there are no columns."""
    if not shares:
        return Axis("year", (), now, measure)
    first = max(min(each.when for each in shares), 0.0)
    for unit in UNITS:
        edges = _edges(unit, min(first, now), now, max(most, 2))
        if edges[-1] > now:
            break
    else:
        edges = [first + (now - first) * index / most for index in range(most + 1)]
    starts = edges[:-1]
    sums = [dict.fromkeys(("goes", "spared", "stays"), 0.0) for _start in starts]
    for each in shares:
        sums[max(bisect_right(starts, each.when) - 1, 0)][each.kind] += each.amount
    columns = tuple(AxisPeriod(start, **row) for start, row in zip(starts, sums, strict=True))
    return Axis(unit, columns, edges[-1], measure)


def coming(days: Sequence[float], most: int, now: float) -> Axis:
    """Return the axis of future days, in conversations that go; it ends before those that are far
    off.

    `days` are those from `now` (Unix seconds) until each goes, 0 for the next clean-up; `most`
    columns fit.
    """
    ordered = sorted(days)
    far_off = 1.5 * max(ordered[math.ceil(len(ordered) * 0.9) - 1], 1.0) if ordered else 0.0
    shown = [each for each in ordered if each <= far_off]
    today = AxisShare(now, "goes", 0.0)  # the axis begins today
    shares = [today, *(AxisShare(now + each * DAY, "goes", 1.0) for each in shown)]
    end = now + (max(shown, default=0.0) + 1) * DAY
    axis = make_axis(shares, Measure.CONVERSATIONS, most, end)
    beyond = len(ordered) - len(shown)
    return axis._replace(later=(beyond, now + ordered[-1] * DAY)) if beyond else axis


def draw(axis: Axis, width: int, height: int, cut: float | None) -> list[list[Cell]]:
    """Draw at most `width` columns as `height` rows of exactly `width` cells, top first.

    `cut` is the time before which things go, in Unix seconds; None without a rule.
    """
    columns = [
        (("goes", each.goes), ("spared", each.spared), ("stays", each.stays))
        for each in axis.columns
    ]
    rows = stack(columns, width, height, hatched="spared")
    if cut is not None and axis.columns:
        line = min(round(axis.place_of(cut) * width), width - 1)
        for cells in rows:
            under = cells[line]
            behind = under.look if under.text in "█▒" else under.behind
            cells[line] = Cell("│", "cut", behind if behind != "none" else "")
    return [runs(cells) for cells in rows]


def labels(axis: Axis, width: int, months: Sequence[str]) -> str:
    """Return the line of `width` cells below the columns: years, and months by their twelve short
    names if they fit."""
    line = ""
    before = None
    for index, each in enumerate(axis.columns):
        at = datetime.fromtimestamp(each.start)
        text = month = months[at.month - 1]
        if before is None and at.month > 1:
            text = f"{month} {at.year}"
        elif before is None or at.year != before.year:
            text = str(at.year)
        elif at.month == before.month:
            text = ""
        before = at
        place = index * width // len(axis.columns)
        is_free = not line or place > cell_len(line)
        if text and is_free and place + cell_len(text) <= width:
            line = formats.fit(line, place) + text
    return formats.fit(line, width)
