"""Dates in words: long for sentences, short for columns, where a year must not look like a day."""

from __future__ import annotations

from datetime import date

from hermes_browse.store.wording import N_, _

_LONG_WEEKDAYS = (
    N_("Monday"), N_("Tuesday"), N_("Wednesday"), N_("Thursday"), N_("Friday"), N_("Saturday"), N_("Sunday"),
)  # fmt: skip
_LONG_MONTHS = (
    N_("January"), N_("February"), N_("March"), N_("April"), N_("May"), N_("June"), N_("July"), N_("August"),
    N_("September"), N_("October"), N_("November"), N_("December"),
)  # fmt: skip
_WEEKDAYS = (N_("Mon"), N_("Tue"), N_("Wed"), N_("Thu"), N_("Fri"), N_("Sat"), N_("Sun"))
MONTHS = (
    N_("Jan"), N_("Feb"), N_("Mar"), N_("Apr"), N_("May"), N_("Jun"), N_("Jul"), N_("Aug"), N_("Sep"), N_("Oct"),
    N_("Nov"), N_("Dec"),
)  # fmt: skip
"""To be translated through `_`."""


def weekday(number: int) -> str:
    """Return `Mon` for 0; at most four cells in every language."""
    return _(_WEEKDAYS[number])


def short_day(day: date) -> str:
    """Return `Thu 5 Mar 2026`."""
    return _(
        "{weekday} {day} {month} {year}",
        weekday=weekday(day.weekday()),
        day=day.day,
        month=_(MONTHS[day.month - 1]),
        year=day.year,
    )


def short_date(day: date) -> str:
    """Return `5 Mar`; at most eight cells in every language."""
    return day.strftime(_("%-d %b"))


def full_date(day: date) -> str:
    """Return `5 Mar 2026`."""
    return day.strftime(_("%-d %b %Y"))


def short_month(day: date) -> str:
    """Return `Mar 2026`, as a two-digit year would look like a day; at most eight cells in every
    language."""
    return day.strftime(_("%b %Y"))


def month(day: date) -> str:
    """Return `March 2026`."""
    return _("{month} {year}", month=_(_LONG_MONTHS[day.month - 1]), year=day.year)


def long_day(day: date) -> str:
    """Return `Thursday, 5 March 2026`."""
    return _(
        "{weekday}, {day} {month} {year}",
        weekday=_(_LONG_WEEKDAYS[day.weekday()]),
        day=day.day,
        month=_(_LONG_MONTHS[day.month - 1]),
        year=day.year,
    )
