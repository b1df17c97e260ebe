"""Periods that end today, and the local days, weeks and months in them."""

from __future__ import annotations

from datetime import date, datetime, timedelta

QUARTER = 900
"""Seconds. In every time zone, days and hours begin at a full quarter of an hour."""
PERIODS = ("7d", "30d", "90d", "1y", "all")
UNITS = ("day", "week", "month")

_DAYS = {"7d": 7, "30d": 30, "90d": 90, "1y": 365}
NATURAL_UNITS = {"7d": "day", "30d": "day", "90d": "day", "1y": "week", "all": "month"}
"""The unit that divides each period into a readable number of bars."""


def first_day(period: str, now: float) -> date | None:
    """Return the first local day of one of `PERIODS`; None for all time. `now` is in Unix
    seconds."""
    days = _DAYS.get(period)
    return None if days is None else datetime.fromtimestamp(now).date() - timedelta(days=days - 1)


def begin_of(day: date) -> float:
    """Return the Unix seconds at which a local day begins."""
    return datetime(day.year, day.month, day.day).timestamp()


def _day_key(day: date, unit: str) -> str:
    """Return `2026-03-05` for a day, or for a week its Monday; `2026-03` for a month."""
    if unit == "week":
        day = date.fromordinal(max(day.toordinal() - day.weekday(), 1))
    return day.isoformat()[:7] if unit == "month" else day.isoformat()


def key_of(moment: float, unit: str) -> str:
    """Return the key of a moment, in Unix seconds.

    `unit` is one of `UNITS`, or `hour` for the hour of the week: `0-14` is Monday, 14:00 to 15:00.
    """
    local = datetime.fromtimestamp(moment // QUARTER * QUARTER)
    return f"{local.weekday()}-{local.hour:02}" if unit == "hour" else _day_key(local.date(), unit)


def bucket_from(key: str, unit: str) -> date | None:
    """Return the first day of a key's time span; None for a text that is not a key of this unit."""
    try:
        return date.fromisoformat(f"{key}-01" if unit == "month" else key)
    except ValueError:
        return None


def all_buckets(first: str, last: str, unit: str) -> list[str]:
    """List the keys of a unit from one to another, without a gap."""
    day, end = bucket_from(first, unit), bucket_from(last, unit)
    keys: list[str] = []
    while day is not None and end is not None and day <= end:
        keys.append(_day_key(day, unit))
        if unit == "month":
            day = date(day.year + day.month // 12, day.month % 12 + 1, 1)
        else:
            day += timedelta(days=7 if unit == "week" else 1)
    return keys
