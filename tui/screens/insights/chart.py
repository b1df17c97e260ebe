"""The data of the chart: columns in parts, the largest models or sources in colours of their own,
all others in one."""

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
_LEAST = 1e-9
"""What is less is a rounding error, and no part."""
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


class Chart(NamedTuple):
    """The data of a chart, columns from left to right."""

    labels: Sequence[str]
    """By column."""
    columns: Sequence[Sequence[Part]]
    """Parts of the columns, lowest first."""
    legend: Sequence[tuple[str, str]] = ()
    """Look and name of each kind of part; empty if there is only one."""
    chosen: int | None = None
    """The index of the chosen column."""
    form: Callable[[float], str] = str
    """Formats a value in few cells."""
    title: str = ""
    keys: Sequence[str] = ()
    """Of the groups that the columns are; empty if they are of other groups."""


class Stacking:
    """Splits sums by time into parts: the largest models or sources, or the picked one alone of
    anything else.

    Args:
        metric: Which value of the sums.
        picked: The key of the lowest part.
    """

    def __init__(self, answer: GroupedSums, metric: str, picked: str = "") -> None:
        self._whole = {group.key: value_of(group, metric) for group in answer.by_time.rows}
        is_alone = not answer.is_by_time and answer.by not in STACKS
        self._parts = {
            key: {when: value_of(group, metric) for when, group in groups.items()}
            for key, groups in answer.parts.items()
            if key == picked or not is_alone
        }
        weights = {key: sum(values.values()) for key, values in self._parts.items()}
        ranked = sorted(weights, key=lambda key: (-weights[key], key))
        largest = [key for key in ranked if weights[key] > 0][: len(OWN)]
        self.looks = dict(zip(largest, OWN, strict=False))
        """By key of a part; all other parts have `OTHERS`."""
        if picked in weights:
            self.looks = {picked: self.looks.get(picked, PICKED)} | self.looks
        self._others = len(answer.parts) - len(self.looks)

    def at(self, when: str) -> list[Part]:
        """Return the parts of one column by its key, lowest first, which add up to its sum.

        A session that used several models counts for each of them but once for the sum, so parts
        are scaled down if they exceed it.
        """
        whole = self._whole.get(when, 0.0)
        if not self._parts:
            return [(OWN[0], whole)]
        values = {key: part.get(when, 0.0) for key, part in self._parts.items()}
        every = sum(values.values())
        share = min(1.0, whole / every) if every > 0 else 0.0
        parts = [(look, values[key] * share) for key, look in self.looks.items()]
        return [*parts, (OTHERS, max(0.0, whole - sum(value for _look, value in parts)))]

    def legend(
        self, columns: Sequence[Sequence[Part]], name_of: Callable[[str], str] | None = None
    ) -> list[tuple[str, str]]:
        """Return look and name of each kind of part that columns have, lowest first.

        `name_of` returns the name of a part; without it the name is made of its key.
        """
        if not self._parts:
            return []
        keys = list(self.looks)
        names = [one_line(name_of(key), _NAME) for key in keys] if name_of else _short(keys)
        rest = ngettext("1 other", "{count:,} others", self._others, count=self._others)
        kinds = [*zip(self.looks.values(), names, strict=True), (OTHERS, rest)]
        there = {look for parts in columns for look, value in parts if value > _LEAST}
        return [kind for kind in kinds if kind[0] in there] or kinds[:1]


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
    columns = list(map(stacking.at, keys))
    return Chart(
        labels=[tick(unit, key, this_year) for key in keys],
        columns=columns,
        legend=stacking.legend(columns, name_of if answer.by == "conversation" else None),
        chosen=keys.index(current) if is_column and current in keys else None,
        form=partial(printed, metric=metric),
        title=_("{metric} by {unit}", metric=_(metric), unit=by_name(unit)),
        keys=keys if is_column else (),
    )
