"""Dates in words: long for sentences, short for columns, where a year must not look like a day."""

from __future__ import annotations

from datetime import date

from hermes_browse.store.wording import N_, _

_LONG_WEEKDAYS = N_((
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
))  # fmt: skip
_LONG_MONTHS = N_((
    "January", "February", "March", "April", "May", "June", "July", "August",
    "September", "October", "November", "December",
))  # fmt: skip
_WEEKDAYS = N_(("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))
MONTHS = N_((
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct",
    "Nov", "Dec",
))  # fmt: skip
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
