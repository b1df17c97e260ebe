"""The conversations of a catalog as a table in memory, so that a filter is one condition in SQL
wherever it is used.

A store has no row for a conversation: Hermes' rules fold sessions into one
(`sessions/conversations.py`). The table holds what filters ask of it. Texts are folded; those of
all segments stand in one column, a line each.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ..cleanup.sizes import Sizes, forget_changed, measure
from ..connection.reader import Reader, chunks
from ..messages.transcript import count_rows
from ..sessions.catalog import Catalog
from ..sessions.models import View
from ..sessions.relations import is_stale
from ..sessions.session import Session
from ..text import as_text, text_of
from .fold import fold

_COLUMNS = (
    "root TEXT PRIMARY KEY", "view", "kind", "status", "relation", "archived", "pinned", "hidden", "automation",
    "empty", "stale", "branches", "subagents", "used", "cost", "tokens", "tools", "messages",
    "size", "sources", "titles", "ids", "folders", "models", "branch_names", "ended", "users", "chats", "providers",
)  # fmt: skip
_GATEWAY = ("users", "chats", "providers")
"""Read from the store when a filter asks for them: a `Session` has no field for them."""
_BATCH = 200
"""Conversations whose messages are counted at a time."""
Known = MutableMapping[str, Sizes]


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
    return Condition(
        " AND ".join(f"({each.sql})" for each in given), sum((each.values for each in given), ())
    )


def any_of(conditions: Sequence[Condition]) -> Condition:
    """Return a condition that is true where one of these is."""
    return Condition(
        " OR ".join(f"({each.sql})" for each in conditions),
        sum((each.values for each in conditions), ()),
    )


def without(condition: Condition) -> Condition:
    """Return a condition that is true where another one is false or unknown."""
    return Condition(f"CASE WHEN {condition.sql} THEN 0 ELSE 1 END", condition.values)


class ConversationTable:
    """The table `conversations c` of one catalog; used by any thread."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = threading.Lock()
        self._has_gateway = False
        self._table = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._table.execute(f"CREATE TABLE conversations ({', '.join(_COLUMNS)})")
        marks = ", ".join("?" * len(_COLUMNS))
        rows = (_row(catalog, root) for root in catalog.forest.listed(View.ALL))
        self._table.execute("BEGIN")
        self._table.executemany(f"INSERT OR REPLACE INTO conversations VALUES ({marks})", rows)
        self._table.execute("COMMIT")

    def roots(
        self,
        condition: Condition,
        reader: Reader,
        *,
        costly: Condition = EVERYTHING,
        known: Known | None = None,
    ) -> list[str]:
        """Return the root ids of the conversations that meet two conditions on `conversations c`.

        Messages are counted, and bytes measured, where `costly` compares them: once, and only of
        conversations that meet the other condition. `known` is a cache of sizes by session id, and
        is added to.
        """
        with self._lock:
            self._read_gateway(condition, reader)
            if costly != EVERYTHING:
                self._fill(condition, costly, reader, {} if known is None else known)
            return self._select("root", all_of([condition, costly]))

    def _select(self, column: str, condition: Condition) -> list[str]:
        found = self._table.execute(
            f"SELECT {column} FROM conversations c WHERE {condition.sql}", condition.values
        )
        return [row[0] for row in found.fetchall()]

    def _fill(self, condition: Condition, costly: Condition, reader: Reader, known: Known) -> None:
        """Count or measure what is unknown; what was done stays if it is interrupted."""
        forest = self._catalog.forest
        for column, numbers in (("messages", _counts), ("size", _sizes)):
            if f"c.{column}" not in costly.sql:
                continue
            roots = self._select("root", all_of([condition, Condition(f"c.{column} IS NULL")]))
            for batch in chunks(roots, _BATCH):
                chains = [forest.chain_of(root).segments for root in batch]
                counted = numbers(reader, [segment for chain in chains for segment in chain], known)
                sums = [
                    (sum(counted.get(segment.id, 0) for segment in chain), chain[0].id)
                    for chain in chains
                ]
                self._table.executemany(
                    f"UPDATE conversations SET {column} = ? WHERE root = ?", sums
                )

    def _read_gateway(self, condition: Condition, reader: Reader) -> None:
        """Read the columns of `sessions` that only these filters ask for, once."""
        if self._has_gateway or not any(f"c.{column}" in condition.sql for column in _GATEWAY):
            return
        schema, forest = reader.schema, self._catalog.forest
        names = ("user_id", "chat_id", "chat_type", "billing_provider")
        columns = ", ".join(schema.session(name) for name in names)
        texts: dict[str, list[list[str | None]]] = {}
        for key, *values in reader.rows(f"SELECT s.id, {columns} FROM sessions s"):
            root = forest.root_of(text_of(key))
            if root is not None:
                texts.setdefault(root, []).append(list(map(as_text, values)))
        rows = []
        for root, found in texts.items():
            users, chats, kinds, providers = zip(*found, strict=True)
            rows.append((_lines(users), _lines([*chats, *kinds]), _lines(providers), root))
        self._table.executemany(
            "UPDATE conversations SET users = ?, chats = ?, providers = ? WHERE root = ?", rows
        )
        self._has_gateway = True


def _counts(reader: Reader, segments: Sequence[Session], known: Known) -> Mapping[str, int]:
    return count_rows(reader, [segment.id for segment in segments])


def _sizes(reader: Reader, segments: Sequence[Session], known: Known) -> Mapping[str, int]:
    if known:
        forget_changed(reader, segments, known)
    measured = measure(reader, segments, known=known)
    return {segment.id: measured[segment.id].total for segment in segments}


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
        chat.root.started_at if chat.last_active is None else chat.last_active,
        chat.tree_cost_usd,
        float(chat.tokens.total),
        chat.tool_call_count,
        None,
        None,
        _lines(each.source for each in segments),
        _lines(each.title for each in segments),
        _lines(each.id for each in segments),
        _lines(_folder(each.cwd) for each in segments if each.cwd),
        _lines(each.model for each in segments),
        _lines(each.git_branch for each in segments),
        _lines([chat.tip.end_reason]),
        *(None for _column in _GATEWAY),
    )


def _folder(path: str) -> str:
    """Return a path with a slash at its end, so that a folder is told from one whose name begins
    alike."""
    slash = "\\" if "\\" in path and "/" not in path else "/"
    return path if path.endswith(slash) else path + slash


_tables: WeakKeyDictionary[Catalog, ConversationTable] = WeakKeyDictionary()
_lock = threading.Lock()


def table_of(catalog: Catalog) -> ConversationTable:
    """Return the table of a catalog, made at the first call."""
    with _lock:
        table = _tables.get(catalog)
        if table is None:
            table = _tables[catalog] = ConversationTable(catalog)
        return table
