"""The conversations of a catalog as a table in memory, so that a filter is one condition in SQL wherever it is used.

A store has no row for a conversation: Hermes' rules fold sessions into one (`sessions/conversations.py`). The table
holds what filters ask of it. Texts are folded; those of all segments stand in one column, a line each.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ..connection.reader import Reader
from ..messages.transcript import count_rows
from ..sessions.catalog import Catalog
from ..sessions.models import View
from ..sessions.relations import is_stale
from .fold import fold

_COLUMNS = (
    "root TEXT PRIMARY KEY", "view", "kind", "status", "relation", "archived", "pinned", "hidden", "automation",
    "empty", "stale", "branches", "subagents", "last_active", "cost", "tokens", "messages", "sources", "titles", "ids",
    "folders", "models",
)  # fmt: skip
_BATCH = 200
"""Conversations whose messages are counted at a time."""


class Condition(NamedTuple):
    """A condition in SQL, with the values for its placeholders."""

    sql: str
    values: tuple[object, ...] = ()


EVERYTHING = Condition("1")


def all_of(conditions: Iterable[Condition]) -> Condition:
    """Return a condition that is true where all of these are."""
    given = [each for each in conditions if each != EVERYTHING]
    if not given:
        return EVERYTHING
    return Condition(" AND ".join(f"({each.sql})" for each in given), sum((each.values for each in given), ()))


def any_of(conditions: Sequence[Condition]) -> Condition:
    """Return a condition that is true where one of these is."""
    return Condition(" OR ".join(f"({each.sql})" for each in conditions), sum((each.values for each in conditions), ()))


def without(condition: Condition) -> Condition:
    """Return a condition that is true where another one is false or unknown."""
    return Condition(f"CASE WHEN {condition.sql} THEN 0 ELSE 1 END", condition.values)


class ConversationTable:
    """The table `conversations c` of one catalog; used by any thread."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = threading.Lock()
        self._is_counted = False
        self._table = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._table.execute(f"CREATE TABLE conversations ({', '.join(_COLUMNS)})")
        marks = ", ".join("?" * len(_COLUMNS))
        rows = (_row(catalog, root) for root in catalog.forest.listed(View.ALL))
        self._table.execute("BEGIN")
        self._table.executemany(f"INSERT OR REPLACE INTO conversations VALUES ({marks})", rows)
        self._table.execute("COMMIT")

    def roots(self, condition: Condition, reader: Reader) -> list[str]:
        """Return the root ids of the conversations that meet a condition on `conversations c`.

        The reader counts messages, once, where the condition compares their number.
        """
        with self._lock:
            if "c.messages" in condition.sql and not self._is_counted:
                self._count(reader)
            found = self._table.execute(f"SELECT root FROM conversations c WHERE {condition.sql}", condition.values)
            return [row[0] for row in found.fetchall()]

    def _count(self, reader: Reader) -> None:
        forest = self._catalog.forest
        roots = list(forest.listed(View.ALL))
        for start in range(0, len(roots), _BATCH):
            chains = [forest.chain_of(root).segments for root in roots[start : start + _BATCH]]
            counts = count_rows(reader, [segment.id for chain in chains for segment in chain])
            sums = [(sum(counts.get(segment.id, 0) for segment in chain), chain[0].id) for chain in chains]
            self._table.executemany("UPDATE conversations SET messages = ? WHERE root = ?", sums)
        self._is_counted = True


def _lines(texts: Iterable[str | None]) -> str:
    """Return texts as lines, each between two line ends."""
    return "\n".join(["", *(fold(text) for text in texts if text), ""])


def _row(catalog: Catalog, root: str) -> tuple[object, ...]:
    chat = catalog.forest.chain_of(root)
    segments = chat.segments
    return (
        root,
        chat.view,
        chat.kind,
        chat.status,
        chat.relation,
        chat.archived,
        chat.pinned,
        chat.hidden,
        chat.is_automation,
        chat.is_empty,
        is_stale(chat, catalog.forest.now),
        chat.branches,
        chat.subagents,
        chat.last_active,
        chat.tree_cost_usd,
        float(chat.tokens.total),
        None,
        _lines(each.source for each in segments),
        _lines(each.title for each in segments),
        _lines(each.id for each in segments),
        _lines(each.cwd for each in segments),
        _lines(each.model for each in segments),
    )


_tables: WeakKeyDictionary[Catalog, ConversationTable] = WeakKeyDictionary()
_lock = threading.Lock()


def table_of(catalog: Catalog) -> ConversationTable:
    """Return the table of a catalog, made at the first call."""
    with _lock:
        table = _tables.get(catalog)
        if table is None:
            table = _tables[catalog] = ConversationTable(catalog)
        return table
