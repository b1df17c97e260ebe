"""The values of filters that occur in a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import first_texts

if TYPE_CHECKING:
    from ..sessions.catalog import Catalog

_SOURCES = (
    "cli",
    "tui",
    "telegram",
    "discord",
    "slack",
    "whatsapp",
    "cron",
    "subagent",
    "acp",
    "api_server",
)
_RECENT = 5000
"""Messages whose tools are read."""
_MOST = 40
"""Values of each kind that are offered: the most frequent."""


class Vocabulary(NamedTuple):
    """The values of filters that occur in a store, the most frequent first."""

    sources: tuple[str, ...] = _SOURCES
    models: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


def recent_tools(reader: Reader, most: int) -> tuple[str, ...]:
    """Return the names of the tools in the newest messages, the most frequent first, at most so
    many."""
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
        branches=_frequent(each.git_branch for each in sessions),
        ends=_frequent(each.end_reason for each in sessions),
    )


def _frequent(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(value for value, count in Counter(values).most_common() if value)[:_MOST]
