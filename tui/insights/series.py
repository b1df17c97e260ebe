"""The parts of columns and bars: the largest models or sources in colours of their own, all others
in one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from hermes_browse.store.insights.sums import Group
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, ngettext

from ..shared.stacked_columns import Part
from .words import value_of

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


class Stacking:
    """Splits sums by time into parts.

    Args:
        whole: The sums by time.
        parts: The sums by part and time; empty for one part.
        metric: Which value of the sums.
        picked: The key of the lowest part.
        alone: All parts but the picked one are one.
    """

    def __init__(
        self,
        whole: Iterable[Group],
        parts: Mapping[str, Mapping[str, Group]],
        metric: str,
        picked: str = "",
        *,
        alone: bool = False,
    ) -> None:
        self._whole = {each.key: value_of(each, metric) for each in whole}
        self._parts, self._metric, self._is_alone = parts, metric, alone
        self.looks: dict[str, str] = {}
        """By key of a part; all other parts have `OTHERS`."""
        if not alone:
            weights = {
                key: sum(value_of(each, metric) for each in own.values())
                for key, own in parts.items()
            }
            ranked = sorted(weights, key=lambda key: (-weights[key], key))
            self.looks = dict(zip((key for key in ranked if weights[key] > 0), OWN, strict=False))
        elif picked in parts:
            self.looks = {picked: OWN[0]}
        self._order = list(self.looks)
        if picked in parts:
            self.looks.setdefault(picked, PICKED)
            self._order = [picked, *(key for key in self._order if key != picked)]
        self._others = len(parts) - len(self._order)

    def at(self, when: str) -> list[Part]:
        """Return the parts of one column by its key, lowest first, which add up to its sum.

        A session that used several models counts for each of them but once for the sum, so parts
        are scaled down if they exceed it.
        """
        whole = self._whole.get(when, 0.0)
        if not self._parts:
            return [(OWN[0], whole)]
        own = [self._value(key, when) for key in self._order]
        every = sum(own) if self._is_alone else sum(self._value(key, when) for key in self._parts)
        share = min(1.0, whole / every) if every > 0 else 0.0
        parts = [
            (self.looks[key], value * share) for key, value in zip(self._order, own, strict=True)
        ]
        return [*parts, (OTHERS, max(0.0, whole - sum(value for _look, value in parts)))]

    def _value(self, key: str, when: str) -> float:
        group = self._parts[key].get(when)
        return value_of(group, self._metric) if group is not None else 0.0

    def series(
        self, keys: Sequence[str], name_of: Callable[[str], str] | None = None
    ) -> list[Series]:
        """Return the parts of several columns by their keys, lowest first, without empty ones.

        `name_of` returns the name of a part; without it the name is made of its key.
        """
        columns = [self.at(key) for key in keys]
        if not self._parts:
            return [Series("", OWN[0], [each[0][1] for each in columns])]
        rest = ngettext("1 other", "{count:,} others", self._others).format(count=self._others)
        own = (
            [one_line(name_of(key), _NAME) for key in self._order]
            if name_of
            else _short(self._order)
        )
        names = [*own, rest]
        looks = [*(self.looks[key] for key in self._order), OTHERS]
        series = [
            Series(name, look, [each[place][1] for each in columns])
            for place, (name, look) in enumerate(zip(names, looks, strict=True))
        ]
        # Rounding errors are no part.
        return [each for each in series if max(each.values, default=0.0) > 1e-9] or series[:1]


def _short(keys: Sequence[str]) -> list[str]:
    """Return names for the legend: the part after the last slash (`gpt-5` of `openai/gpt-5`) if
    these are unique."""
    names = [one_line(key.rstrip("/").rpartition("/")[2] or key, 100) for key in keys]
    return names if len(set(names)) == len(names) else [one_line(key, 100) for key in keys]
