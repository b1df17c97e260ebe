"""Values of filters: dates and numbers as people write them, and the values that occur in a store."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import first_texts

if TYPE_CHECKING:
    from ..sessions.catalog import Catalog

_AGE = re.compile(r"([0-9]+)(h|d|w|mo|m|y)")
_AGE_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "mo": 30.0, "m": 30.0, "y": 365.0}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {"k": 1e3, "m": 1e6}
_SOURCES = ("cli", "tui", "telegram", "discord", "slack", "whatsapp", "cron", "subagent", "acp", "api_server")
_RECENT = 5000
"""Messages whose tools are read."""
_MOST = 40
"""Values of each kind that are offered: the most frequent."""


def _moment(day: date) -> float:
    return datetime(day.year, day.month, day.day).timestamp()


def day_of(moment: float) -> tuple[float, float]:
    """Return the local day of a moment, as a half-open span of Unix seconds.

    Raises:
        ValueError, OverflowError, OSError: The moment is beyond the calendar.
    """
    return _day(datetime.fromtimestamp(moment).date())


def _day(day: date) -> tuple[float, float]:
    return _moment(day), _moment(day + timedelta(days=1))


def parse_date(text: str, now: float) -> tuple[float, float] | None:
    """Parse a local date or age: `2026`, `2026-03`, `2026-03-05`, `today`, `mon`, `3d`. `now` is in Unix seconds.

    Returns:
        Half-open span of Unix seconds; for an age (`3d`) the moment that long ago, twice. None when it is no date.
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
            datetime.fromtimestamp(moment)  # raises for an age beyond the calendar
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
    """Parse a finite amount: `5`, `$0.50`, `20k`, `1.5M`; None for anything else."""
    word = text.strip().lower().removeprefix("$")
    unit = _UNITS.get(word[-1:], 1.0)
    try:
        number = float(word.rstrip("km") if unit != 1.0 else word) * unit
    except ValueError:
        return None
    return number if math.isfinite(number) else None


class Vocabulary(NamedTuple):
    """The values of filters that occur in a store, the most frequent first."""

    sources: Sequence[str] = _SOURCES
    models: Sequence[str] = ()
    folders: Sequence[str] = ()
    tools: Sequence[str] = ()


def recent_tools(reader: Reader, most: int) -> tuple[str, ...]:
    """Return the names of the tools in the newest messages, the most frequent first, at most so many."""
    tool = reader.schema.message("tool_name")
    rows = reader.rows(f"SELECT {tool} FROM messages m ORDER BY m.id DESC LIMIT ?", [_RECENT])
    counted = Counter(filter(None, first_texts(rows)))
    return tuple(sorted(counted, key=lambda name: (-counted[name], name))[:most])


def read_vocabulary(reader: Reader, catalog: Catalog) -> Vocabulary:
    """Return the values that occur in a store; tools of the newest messages only."""
    sessions = catalog.forest.sessions.values()
    return Vocabulary(
        sources=_frequent(each.source for each in sessions) or _SOURCES,
        models=_frequent((each.model or "").rpartition("/")[2] for each in sessions),
        folders=_frequent(each.cwd for each in sessions),
        tools=recent_tools(reader, _MOST),
    )


def _frequent(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(value for value, count in Counter(values).most_common() if value)[:_MOST]
