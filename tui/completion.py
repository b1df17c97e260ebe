"""What can be typed next in a query: names of filters, and the values this store has for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from hermes_browse.store.connect import Reader
from hermes_browse.store.search import FILTER_KEYS, HAS_VALUES, IN_VALUES, IS_VALUES, NUMBER_KEYS, recent_tools
from hermes_browse.store.search.values import DATE_KEYS
from hermes_browse.store.sessions.catalog import Catalog

_MOST = 40
"""Values kept of each kind: the most frequent."""
_LEAST_NAME = 3
"""Letters of a filter's name before it is offered: shorter ones are mostly words."""
_LAST = re.compile(r"(?:^|(?<=\s))-?(?:([A-Za-z]+)(:))?([^\s\"]*)$")
_ROLES = ("user", "assistant", "tool", "system")
_SOURCES = ("cli", "tui", "telegram", "discord", "slack", "whatsapp", "cron", "subagent", "acp", "api_server")
_DATES = ("today", "yesterday", "3d", "1w", "2w", "1mo", "mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Vocabulary(NamedTuple):
    """Values that filters can have in a store, the most frequent first."""

    sources: Sequence[str] = _SOURCES
    models: Sequence[str] = ()
    folders: Sequence[str] = ()
    tools: Sequence[str] = ()


class Offer(NamedTuple):
    """What the end of a query can be completed to."""

    start: int
    """Where the text that is replaced begins."""
    key: str
    """The filter whose values these are; empty for names of filters."""
    choices: tuple[str, ...]
    """Each in full, the likeliest first; never empty."""

    def apply(self, text: str, choice: int = 0) -> str:
        """The query with a choice taken."""
        return text[: self.start] + self.choices[choice]


def _frequent(counted: Counter[str | None]) -> tuple[str, ...]:
    return tuple(value for value, _ in counted.most_common() if value)[:_MOST]


def read_vocabulary(reader: Reader, catalog: Catalog) -> Vocabulary:
    """The values that occur in a store, on a worker's thread; tools of the newest messages only."""
    sources, models, folders = Counter[str | None](), Counter[str | None](), Counter[str | None]()
    for each in catalog.forest.sessions.values():
        sources[each.source] += 1
        models[(each.model or "").rpartition("/")[2]] += 1
        folders[each.cwd] += 1
    return Vocabulary(
        _frequent(sources) or _SOURCES,
        _frequent(models),
        _frequent(folders),
        recent_tools(reader, _MOST),
    )


def _values(key: str, known: Vocabulary, now: float) -> Sequence[str]:
    if key in DATE_KEYS:
        return (*_DATES, f"{datetime.fromtimestamp(now):%Y-%m}", f"{datetime.fromtimestamp(now):%Y-%m-%d}")
    fixed: dict[str, Sequence[str]] = {
        "role": _ROLES,
        "is": IS_VALUES,
        "has": HAS_VALUES,
        "in": IN_VALUES,
        "source": known.sources,
        "model": known.models,
        "cwd": known.folders,
        "tool": known.tools,
    }
    return fixed.get(key, ())


def complete(text: str, known: Vocabulary, now: float) -> Offer | None:
    """What the word at the end of a query can become; None where nothing is left to say.

    Args:
        text: The query up to the cursor.
        known: The values of the store.
        now: Unix seconds, for dates.
    """
    match = _LAST.search(text)
    if match is None or text.count('"') % 2:
        return None
    key, typed = (match[1] or "").lower(), match[3]
    start = match.start(3) if match[2] else match.end() - len(typed.lstrip("-"))
    if match[2]:
        values = [_quoted(each) for each in _values(key, known, now)]
        choices = [f"{each} " for each in values if each.casefold().startswith(typed.casefold())]
        if choices and choices[0].casefold() == f"{typed.casefold()} ":
            return None
        return Offer(start, key, tuple(choices)) if choices else None
    word = typed.lstrip("-").casefold()
    if len(word) < _LEAST_NAME:
        return None
    names = [*(f"{name}:" for name in FILTER_KEYS), *(f"{name}>" for name in NUMBER_KEYS)]
    found = tuple(name for name in names if name.startswith(word) and name != word)
    return Offer(start, "", found) if found else None


def _quoted(value: str) -> str:
    return f'"{value}"' if any(map(str.isspace, value)) else value
