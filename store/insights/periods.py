"""Spans of time to look back on, and the local days, weeks and months in them."""

from __future__ import annotations

from datetime import date, datetime, timedelta

QUARTER = 900
"""Seconds: no zone begins its day, or its hour, within a quarter of an hour."""
PERIODS = ("7d", "30d", "90d", "1y", "all")
"""How far to look back."""
UNITS = ("day", "week", "month")
"""What time can be grouped by."""

_DAYS = {"7d": 7, "30d": 30, "90d": 90, "1y": 365}
_NATURAL = {"7d": "day", "30d": "day", "90d": "day", "1y": "week", "all": "month"}


def natural_unit(period: str) -> str:
    """The unit that makes neither too few bars of a period nor too many."""
    return _NATURAL[period]


def first_day(period: str, now: float) -> date | None:
    """The first local day of a period that ends today; None for all time.

    Args:
        period: One of `PERIODS`.
        now: Unix seconds.
    """
    days = _DAYS.get(period)
    return None if days is None else datetime.fromtimestamp(now).date() - timedelta(days=days - 1)


def begin_of(day: date) -> float:
    """Unix seconds at which a local day begins."""
    return datetime(day.year, day.month, day.day).timestamp()


def bucket_of(day: date, unit: str) -> date:
    """The first day of the week (from Monday) or month a day is in; the day itself for days."""
    if unit == "week":
        return date.fromordinal(max(day.toordinal() - day.weekday(), 1))
    return day.replace(day=1) if unit == "month" else day


def next_bucket(day: date, unit: str) -> date:
    """The first day of the next one."""
    if unit == "month":
        return date(day.year + day.month // 12, day.month % 12 + 1, 1)
    return day + timedelta(days=7 if unit == "week" else 1)


def key_of(bucket: date, unit: str) -> str:
    """`2026-03-05` for a day, and for a week that begins with it; `2026-03` for a month."""
    return bucket.isoformat()[:7] if unit == "month" else bucket.isoformat()


def bucket_from(key: str, unit: str) -> date | None:
    """The first day of what a key of `key_of` stands for; None for any other text."""
    try:
        return date.fromisoformat(f"{key}-01" if unit == "month" else key)
    except ValueError:
        return None


def all_buckets(first: str, last: str, unit: str) -> list[str]:
    """Keys from one to another without a gap.

    Args:
        first: Of the earliest.
        last: Of the latest.
        unit: One of `UNITS`.
    """
    bucket, end = bucket_from(first, unit), bucket_from(last, unit)
    found: list[str] = []
    while bucket is not None and end is not None and bucket <= end:
        found.append(key_of(bucket, unit))
        bucket = next_bucket(bucket, unit)
    return found


class Calendar:
    """Local days and hours of moments, looked up once for each quarter of an hour."""

    def __init__(self) -> None:
        self._days: dict[int, tuple[date, int]] = {}
        self._keys: dict[tuple[date, str], str] = {}

    def _look(self, moment: float) -> tuple[date, int]:
        quarter = int(moment // QUARTER)
        found = self._days.get(quarter)
        if found is None:
            local = datetime.fromtimestamp(quarter * QUARTER)
            found = self._days[quarter] = local.date(), local.hour
        return found

    def key(self, moment: float, unit: str) -> str:
        """What a moment is counted in.

        Args:
            moment: Unix seconds.
            unit: One of `UNITS`, or `hour` for the hour of the week: `0-14` is Monday, 14:00 to 15:00.
        """
        day, hour = self._look(moment)
        if unit == "hour":
            return f"{day.weekday()}-{hour:02}"
        key = self._keys.get((day, unit))
        if key is None:
            key = self._keys[day, unit] = key_of(bucket_of(day, unit), unit)
        return key
