"""Ages, dates, counts, sizes and money as people write them, read in one way by searches, clean-up
rules, options and settings.

An age is a number with a unit: `30min`, `5h`, `3d`, `2w`, `6mo`, `1y`, or a sum of these, `1w 2d`.
Hermes' own `prune` also takes a bare number, which is days, and a time as in ISO 8601; both are
read here as well. Hermes reads `m` as minutes, and earlier searches of ours read it as months: it
is refused, as a clean-up must not have to guess.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from math import nan
from typing import NamedTuple

from .connection.stored_values import MOST_MONEY
from .wording import N_, _, ngettext

MINUTE, HOUR, DAY, WEEK = 60.0, 3600.0, 86_400.0, 604_800.0
"""Seconds."""
MONTH, YEAR = 30 * DAY, 365 * DAY
"""Seconds; as ages they have one length each."""
_UNITS = {"min": MINUTE, "h": HOUR, "d": DAY, "w": WEEK, "mo": MONTH, "y": YEAR}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_YEAR_AND_MONTH = re.compile(r"([0-9]{4})-([0-9]{1,2})")
WEEKDAYS = N_(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"))
"""To be translated through `_`."""
_DAYS = tuple(map(str.lower, WEEKDAYS))
_MAX_SECONDS = 1e11  # three thousand years


class AmbiguousUnitError(ValueError):
    """The unit is `m`, minutes to Hermes and months to others."""


class When(NamedTuple):
    """A span of time as somebody wrote it."""

    start: float
    """Unix seconds."""
    end: float
    """Unix seconds, exclusive; an age or a time is one moment, at which it ends as well."""
    age: float | None = None
    """Seconds, if an age was written: it moves on with the clock."""


def parse_age(text: str) -> float:
    """Parse an age, in seconds.

    Raises:
        ValueError: It is not an age; the message is a sentence for the user.
    """
    word = text.strip().lower()
    if _NUMBER.fullmatch(word):
        word += "d"
    parts = _PART.findall(word)
    for number, unit in parts:
        if unit == "m":
            raise AmbiguousUnitError(
                _(
                    "{number}m could be minutes or months: write {number}min or {number}mo",
                    number=number,
                )
            )
    seconds = sum(float(number) * _UNITS.get(unit, nan) for number, unit in parts)
    if not parts or _PART.sub("", word).strip() or not seconds <= _MAX_SECONDS:
        raise ValueError(
            _(
                "{text!r} is no age such as 30min, 5h, 3d, 2w, 6mo or 1y (a bare number is days)",
                text=text,
            )
        )
    return seconds


def parse_when(text: str, now: float) -> When:
    """Parse an age, or a local date or time: `3d`, `2026`, `2026-03`, `2026-03-05`, `2026-03-05
    14:30`, `today`, `mon`.

    A number of four digits that begins with 19 or 20 is a year, any other bare number an age in
    days. `now` is in Unix seconds.

    Raises:
        ValueError: It is neither; the message is a sentence for the user.
    """
    word = text.strip().lower()
    try:
        span = _parse_date(word, now)
        if span is not None:
            return span
        age = parse_age(word)
        datetime.fromtimestamp(now - age)  # raises for an age beyond the calendar
        return When(now - age, now - age, age)
    except AmbiguousUnitError:
        raise
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(
            _(
                "{text!r} is no age (30min 5h 3d 2w 6mo 1y) and no date (2026-03-05, today, mon)",
                text=text,
            )
        ) from error


def _parse_date(word: str, now: float) -> When | None:
    """Parse a date or time; None for what looks like neither.

    Raises:
        ValueError, OverflowError, OSError: It is beyond the calendar.
    """
    today = datetime.fromtimestamp(now).date()
    if word in ("today", "yesterday"):
        return _day(today - timedelta(days=word == "yesterday"))
    for number, name in enumerate(_DAYS):
        if len(word) >= 3 and name.startswith(word):
            return _day(today - timedelta(days=(today.weekday() - number) % 7))
    if _YEAR.fullmatch(word):
        return _span(date(int(word), 1, 1), date(int(word) + 1, 1, 1))
    if match := _YEAR_AND_MONTH.fullmatch(word):
        first = date(int(match[1]), int(match[2]), 1)
        return _span(first, month_after(first))
    if not re.match(r"[0-9]{4}-|[0-9]{8}(?:t|$)", word):
        return None
    if len(word) <= len("2026-03-05"):
        return _day(date.fromisoformat(word))
    moment = datetime.fromisoformat(word.upper()).timestamp()
    return When(moment, moment)


def day_of(moment: float) -> When:
    """Return the local day of a moment in Unix seconds.

    Raises:
        ValueError, OverflowError, OSError: The moment is beyond the calendar.
    """
    return _day(datetime.fromtimestamp(moment).date())


def _day(day: date) -> When:
    return _span(day, day + timedelta(days=1))


def _span(first: date, beyond: date) -> When:
    return When(begin_of(first), begin_of(beyond))


def local_time(moment: float | None) -> datetime | None:
    """Return the local time of Unix seconds; None if it is not known or no date."""
    if moment is None:
        return None
    try:
        return datetime.fromtimestamp(moment)
    except (ValueError, OverflowError, OSError):
        return None


def begin_of(day: date) -> float:
    """Return the Unix seconds at which a local day begins."""
    return datetime(day.year, day.month, day.day).timestamp()


def month_after(day: date) -> date:
    """Return the first day of the month after that of a day."""
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def age_words(seconds: float) -> str:
    """Return an age in its largest unit: `90 days`, `5 hours`, `30 minutes`."""
    days, hours, minutes = (round(seconds / unit) for unit in (DAY, HOUR, MINUTE))
    if seconds >= DAY:
        return ngettext("1 day", "{count:,} days", days)
    if seconds >= HOUR:
        return ngettext("1 hour", "{count:,} hours", hours)
    return ngettext("1 minute", "{count:,} minutes", max(minutes, 0))


# Counts, sizes and money

_COUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?|[0-9]{1,3}(?:,[0-9]{3})+)([km]?)")
_BYTES = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(|[kmgt]i?)b?")
_MONEY = re.compile(r"\$?([0-9]+\.?[0-9]*|\.[0-9]+)([km]?)")
_POWERS = ("", "k", "m", "g", "t")
_MAX_COUNT = 10**15 - 1
"""Of a count: more is a typing error, and too much for some readers of JSON."""
_MAX_BYTES = 2**53


def parse_count(text: str) -> int:
    """Parse a count: `5`, `1,000`, `20k`, `1.5M`.

    Raises:
        ValueError: It is not a count; the message is a sentence for the user.
    """
    wants = N_("wants a whole number such as 5, 1,000 or 20k, not {text!r}")
    return int(_amount(_COUNT, text, _MAX_COUNT, wants, is_whole=True))


def parse_bytes(text: str) -> int:
    """Parse a size in bytes: `10M`, `1.5GB`, `512k`, `4MiB`. Units are powers of 1000, with an `i`
    of 1024.

    Raises:
        ValueError: It is not a size, or more than a disk holds; the message is a sentence for the
            user.
    """
    wants = N_("wants a size such as 10M, 1.5G or 512k, not {text!r}")
    return int(_amount(_BYTES, text, _MAX_BYTES, wants))


def parse_money(text: str) -> float:
    """Parse an amount in US dollars: `5`, `$0.50`, `.5`, `2k`.

    Raises:
        ValueError: It is not an amount; the message is a sentence for the user.
    """
    return _amount(_MONEY, text, MOST_MONEY, N_("wants an amount in dollars, not {text!r}"))


def _amount(
    pattern: re.Pattern[str], text: str, most: float, wants: str, *, is_whole: bool = False
) -> float:
    """Return the number that a text is, with a unit perhaps. ValueError with what is wanted, if it
    is none, or too large."""
    if match := pattern.fullmatch(text.strip().lower()):
        number, unit = match.groups()
        base = 1024.0 if unit.endswith("i") else 1000.0
        amount = float(number.replace(",", "")) * base ** _POWERS.index(unit.rstrip("i"))
        if amount <= most and not (is_whole and amount % 1):
            return amount
    raise ValueError(_(wants, text=text))


def size(count: float) -> str:
    """Format a number of bytes: `480 B`, `12 KB`, `1.2 GB`."""
    power = sum(count >= 999.5 * one for one in (1, 1e3, 1e6, 1e9))
    value, unit = count / 1000**power, ("B", "KB", "MB", "GB", "TB")[power]
    return f"{value:.0f} {unit}" if power < 2 or value >= 99.95 else f"{value:.1f} {unit}"


def bytes_to_free(goal: str, used: int) -> int:
    """Return the bytes that a goal means: a size such as `2GB`, or a share such as `50%` of the
    used bytes.

    Raises:
        ValueError: It is neither, or the share is not between 0 and 100 per cent.
    """
    if not goal.endswith("%"):
        return parse_bytes(goal)
    share = parse_money(goal[:-1]) / 100
    if not 0 < share <= 1:
        raise ValueError(goal)
    return round(used * share)
