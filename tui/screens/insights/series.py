"""The parts of columns and bars: the largest models or sources in colours of their own, all others
in one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ...widgets.stacked_columns import Part
from .adding_up import GroupedSums
from .words import by_name, printed, tick, value_of

_NAME = 40
"""Cells of a name in the legend."""
OWN = ("series-1", "series-2", "series-3", "series-4")
"""Looks of the largest parts."""
OTHERS, PICKED = "others", "picked"
"""Looks of all others together, and of a part that is not one of the largest but is under the
cursor."""
LOOKS = (*OWN, OTHERS, PICKED)
STACKS = ("model", "source", "")
"""By what columns of time can be stacked; empty for not at all."""
STACKED = {
    "model": N_("Columns are stacked by model."),
    "source": N_("Columns are stacked by source."),
    "": N_("Columns are not stacked."),
}


class Series(NamedTuple):
    """The same part of every column."""

    name: str
    """For the legend; empty if there is only one part."""
    look: str
    values: Sequence[float]


class Chart(NamedTuple):
    """The data of a chart, columns from left to right."""

    labels: Sequence[str]
    """By column."""
    series: Sequence[Series]
    """Parts of the columns, lowest first; each has a value for every column."""
    chosen: int | None = None
    """The index of the chosen column."""
    form: Callable[[float], str] = str
    """Formats a value in few cells."""
    title: str = ""
    keys: Sequence[str] = ()
    """Of the groups that the columns are; empty if they are of other groups."""


class Stacking:
    """Splits sums by time into parts: the largest models or sources, or the picked one.

    Args:
        metric: Which value of the sums.
        picked: The key of the lowest part.
    """

    def __init__(self, answer: GroupedSums, metric: str, picked: str = "") -> None:
        self._whole = {group.key: value_of(group, metric) for group in answer.by_time.rows}
        self._parts = {
            key: {when: value_of(group, metric) for when, group in groups.items()}
            for key, groups in answer.parts.items()
        }
        self._is_alone = not answer.is_by_time and answer.by not in STACKS
        weights = {key: sum(values.values()) for key, values in self._parts.items()}
        ranked = sorted(weights, key=lambda key: (-weights[key], key))
        largest = [key for key in ranked if weights[key] > 0][: len(OWN)]
        if self._is_alone:
            largest = [picked] if picked in weights else []
        self.looks = dict(zip(largest, OWN, strict=False))
        """By key of a part; all other parts have `OTHERS`."""
        if picked in weights:
            self.looks = {picked: self.looks.get(picked, PICKED)} | self.looks

    def at(self, when: str) -> list[Part]:
        """Return the parts of one column by its key, lowest first, which add up to its sum.

        A session that used several models counts for each of them but once for the sum, so parts
        are scaled down if they exceed it.
        """
        whole = self._whole.get(when, 0.0)
        if not self._parts:
            return [(OWN[0], whole)]
        counted = self.looks if self._is_alone else self._parts
        every = sum(self._parts[key].get(when, 0.0) for key in counted)
        share = min(1.0, whole / every) if every > 0 else 0.0
        parts = [
            (look, self._parts[key].get(when, 0.0) * share) for key, look in self.looks.items()
        ]
        return [*parts, (OTHERS, max(0.0, whole - sum(value for _look, value in parts)))]

    def series(
        self, keys: Sequence[str], name_of: Callable[[str], str] | None = None
    ) -> list[Series]:
        """Return the parts of several columns by their keys, lowest first, without empty ones.

        `name_of` returns the name of a part; without it the name is made of its key.
        """
        columns = [self.at(key) for key in keys]
        names = [""]
        if self._parts:
            others = len(self._parts) - len(self.looks)
            rest = ngettext("1 other", "{count:,} others", others, count=others)
            own = [one_line(name_of(key), _NAME) for key in self.looks] if name_of else None
            names = [*(own or _short(list(self.looks))), rest]
        looks = [*self.looks.values(), OTHERS] if self._parts else [OWN[0]]
        series = [
            Series(name, look, [column[place][1] for column in columns])
            for place, (name, look) in enumerate(zip(names, looks, strict=True))
        ]
        # Rounding errors are no part.
        return [each for each in series if max(each.values, default=0.0) > 1e-9] or series[:1]


def _short(keys: Sequence[str]) -> list[str]:
    """Return names for the legend: the part after the last slash (`gpt-5` of `openai/gpt-5`) if
    these are unique."""
    names = [one_line(key.rstrip("/").rpartition("/")[2] or key, 100) for key in keys]
    return names if len(set(names)) == len(names) else [one_line(key, 100) for key in keys]


def make_chart(
    answer: GroupedSums, metric: str, current: str, now: float, name_of: Callable[[str], str]
) -> Chart:
    """Make the chart of an answer: the current group is a chosen column, or the lowest part of all.

    `name_of` returns the name of a conversation.
    """
    unit, is_column = answer.question.unit, answer.is_by_time
    keys, this_year = answer.columns(now), datetime.fromtimestamp(now).year
    stacking = Stacking(answer, metric, "" if is_column else current)
    return Chart(
        labels=[tick(unit, key, this_year) for key in keys],
        series=stacking.series(keys, name_of if answer.by == "conversation" else None),
        chosen=keys.index(current) if is_column and current in keys else None,
        form=partial(printed, metric=metric),
        title=_("{metric} by {unit}", metric=_(metric), unit=by_name(unit)),
        keys=keys if is_column else (),
    )
