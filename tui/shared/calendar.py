"""Days and months of a calendar as short as the sums over them want it."""

from __future__ import annotations

from datetime import date

from hermes_browse.store.wording import N_, _

from ..formats import month_name

_WEEKDAYS = (N_("Mon"), N_("Tue"), N_("Wed"), N_("Thu"), N_("Fri"), N_("Sat"), N_("Sun"))
MONTHS = (
    N_("Jan"), N_("Feb"), N_("Mar"), N_("Apr"), N_("May"), N_("Jun"), N_("Jul"), N_("Aug"), N_("Sep"), N_("Oct"),
    N_("Nov"), N_("Dec"),
)  # fmt: skip
"""To be shown through `_`."""


def weekday(number: int) -> str:
    """`Mon`, from 0 for Monday; at most four cells in every language."""
    return _(_WEEKDAYS[number])


def short_day(day: date) -> str:
    """`Thu 5 Mar 2026`."""
    return _("{weekday} {day} {month} {year}").format(
        weekday=weekday(day.weekday()), day=day.day, month=_(MONTHS[day.month - 1]), year=day.year
    )


def short_date(day: date) -> str:
    """`5 Mar`."""
    return _("{day} {month}").format(day=day.day, month=_(MONTHS[day.month - 1]))


def short_month(day: date) -> str:
    """`Mar 26`."""
    return day.strftime(_("%b %y"))


def month(day: date) -> str:
    """`March 2026`."""
    return _("{month} {year}").format(month=month_name(day.month), year=day.year)
