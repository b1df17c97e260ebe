"""Values of filters: dates and numbers as people write them, and what a filter cannot mean."""

from __future__ import annotations

import math
import re
import time
from datetime import date, datetime, timedelta

from ..wording import _

DATE_KEYS = ("before", "after", "on")
NUMBER_KEYS = ("cost", "msgs", "tokens")
"""Filters written `key>value`, also with `<`, `>=`, `<=`."""
IS_VALUES = (
    *("live", "open", "stale", "ended", "empty", "archived", "pinned", "hidden"),
    *("chat", "automation", "subagent", "branch", "compacted", "rewound"),
)
"""What `is:` knows."""
IN_VALUES = ("reasoning",)
"""What `in:` knows."""
HAS_VALUES = ("image", "error", "reasoning", "code", "tool", "branch", "subagent")
"""What `has:` knows."""

_AGE = re.compile(r"([0-9]+)(h|d|w|mo|m|y)")
_AGE_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "mo": 30.0, "m": 30.0, "y": 365.0}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {"k": 1e3, "m": 1e6}


def _moment(day: date) -> float:
    return datetime(day.year, day.month, day.day).timestamp()


def day_of(moment: float) -> tuple[float, float]:
    """The local day a moment falls in, as a half-open span of Unix seconds.

    Raises:
        ValueError, OverflowError, OSError: The calendar does not reach so far.
    """
    return _day(datetime.fromtimestamp(moment).date())


def _day(day: date) -> tuple[float, float]:
    return _moment(day), _moment(day + timedelta(days=1))


def parse_date(text: str, now: float) -> tuple[float, float] | None:
    """The span of time a person means, local: `2026`, `2026-03`, `2026-03-05`, `today`, `mon`, `3d`.

    Args:
        text: As typed.
        now: Unix seconds.

    Returns:
        Half-open span; for an age (`3d`) the moment that long ago, twice. None when it is no date.
    """
    word = text.strip().lower()
    try:
        today = datetime.fromtimestamp(now).date()
        if word in ("today", "yesterday"):
            return _day(today - timedelta(days=word == "yesterday"))
        for number, name in enumerate(_DAYS):
            if len(word) >= 3 and name.startswith(word):
                return _day(today - timedelta(days=(today.weekday() - number) % 7))
        if age := _AGE.fullmatch(word):
            moment = now - int(age[1]) * _AGE_DAYS[age[2]] * 86400
            datetime.fromtimestamp(moment)  # an age the calendar does not reach is no date
            return moment, moment
        if re.fullmatch(r"[0-9]{4}", word):
            year = int(word)
            return _moment(date(year, 1, 1)), _moment(date(year + 1, 1, 1))
        if re.fullmatch(r"[0-9]{4}-[0-9]{1,2}", word):
            year, month = map(int, word.split("-"))
            return _moment(date(year, month, 1)), _moment(date(year + month // 12, month % 12 + 1, 1))
        return _day(date.fromisoformat(word))
    except (ValueError, OverflowError, OSError):
        return None


def parse_number(text: str) -> float | None:
    """A finite amount as typed: `5`, `$0.50`, `20k`, `1.5M`; None for anything else."""
    word = text.strip().lower().removeprefix("$")
    unit = _UNITS.get(word[-1:], 1.0)
    try:
        number = float(word.rstrip("km") if unit != 1.0 else word) * unit
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def reason_against(key: str, value: str, now: float | None = None, op: str = ":") -> str:
    """Why a filter cannot mean anything with this value; empty when it can.

    Args:
        key: A known filter.
        value: As typed.
        now: Unix seconds, for dates.
        op: What stands between the two.
    """
    if key in NUMBER_KEYS and parse_number(value) is None:
        return _("{filter} needs a number, e.g. {filter}1").format(filter=f"{key}{op}")
    if not value.strip():
        return _("{key}: wants a value").format(key=key)
    if key == "is" and value.lower() not in IS_VALUES:
        return _("{key}: knows {values}").format(key=key, values=", ".join(IS_VALUES))
    if key == "has" and value.lower() not in HAS_VALUES:
        return _("{key}: knows {values}").format(key=key, values=", ".join(HAS_VALUES))
    if key == "in" and value.lower() not in IN_VALUES:
        return _("{key}: knows {values}").format(key=key, values=", ".join(IN_VALUES))
    if key in DATE_KEYS and parse_date(value, time.time() if now is None else now) is None:
        return _("{filter} needs a date, e.g. {filter}2026-03-05, {filter}today or {filter}3d").format(filter=f"{key}:")
    return ""
