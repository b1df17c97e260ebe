"""Which rows may be hits, apart from the words: the filters of a query, and a view.

A store has no row for a conversation: Hermes' rules fold sessions into one
(`sessions/catalog.py`). So the conversations of a catalog become a table in memory, and a
filter is one condition in SQL wherever it is used.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from weakref import finalize

from ..cleanup.sizes import KnownSizes, forget_changed, measure
from ..connection.reader import Reader, chunks
from ..messages.transcript import count_rows
from ..notes.notes_file import read_marks, read_tags
from ..sessions.catalog import UNREAD, Catalog, read_catalog
from ..sessions.models import Conversation, View
from ..sessions.relations import SHORT_SOURCES, is_stale
from ..since.since import read_attention
from ..text import text_of
from .conditions import EVERYTHING, Condition, all_of, any_of
from .filters import BY_KEY
from .query import Query
from .terms import fold_composed

_PLAIN = (
    "view", "kind", "status", "relation", "archived", "pinned", "hidden", "is_automation", "is_empty",
    "branches", "subagents", "tree_cost_usd", "tool_call_count", "last_active",
)  # fmt: skip
"""Columns of the table that are fields of a `Conversation`."""
_TEXTS = ("title", "id", "model", "git_branch")
"""Columns that are fields of all its sessions: folded, a line each."""
_COUNTED = ("messages", "size")
"""Columns that are counted or measured when a filter asks for them."""
_LATER = ("users", "chats", "providers", "unread", "waiting", "tags")
"""Columns that are read from the store when a filter asks for them."""
_OWN = ("root", "stale", "tokens", "source", "folders", "ended")
"""Columns that only this table has."""
_BATCH = 200
"""Conversations whose messages are counted at a time."""


class Conditions(NamedTuple):
    """The filters of a query as two conditions."""

    rows: Condition
    """On `message_rows m`."""
    conversations: Condition
    """On `conversations c`."""

    @property
    def needs_catalog(self) -> bool:
        """Whether conversations are tested, so that all of them must have been read."""
        return self.conversations != EVERYTHING


def compile_filters(query: Query, now: float, view: View = View.ALL) -> Conditions:
    """Return the conditions for the filters of a query, in a view; `now` is in Unix seconds, for
    dates.

    Filters of one key are alternatives (`source:cli source:tui`), and so are states of one kind
    (`is:live is:open`). Filters of different keys and negated filters (`-source:cron -source:tool`)
    must all hold.
    """
    # Alternatives share a group; a limit or an exclusion is a group of its own.
    groups: defaultdict[object, list[Condition]] = defaultdict(list)
    for each in query.filters:
        kind = BY_KEY[each.key]
        if kind.is_cleanup_only:
            continue
        condition = kind.condition(each, now)
        group: object = each
        if each.negated:  # what is unknown is not excluded
            condition = condition._replace(sql=f"CASE WHEN {condition.sql} THEN 0 ELSE 1 END")
        elif each.op in (":", "=") and not kind.is_limit:
            group = (each.key, kind.facet(each.value), _is_of_conversations(condition))
        groups[group].append(condition)
    conditions = list(map(any_of, groups.values()))
    if view is not View.ALL:
        conditions.append(Condition("c.view = ?", (view.value,)))
    return Conditions(
        all_of(each for each in conditions if not _is_of_conversations(each)),
        all_of(filter(_is_of_conversations, conditions)),
    )


def _is_of_conversations(condition: Condition) -> bool:
    return "c." in condition.sql


class Scope(NamedTuple):
    """Which rows may be hits, apart from the words."""

    rows: Condition = EVERYTHING
    """On `message_rows m`."""
    roots: frozenset[str] | None = None
    """Ids of the roots of the conversations they are in; None for all."""
    catalog: Catalog = UNREAD
    """Of the whole store if `roots` are named, else as far as it was known."""


def make_scope(
    reader: Reader,
    query: Query,
    now: float,
    catalog: Catalog = UNREAD,
    view: View = View.ALL,
) -> Scope:
    """Return the scope of a query in a view; `now` is in Unix seconds, for dates.

    The whole catalog is read if conversations are tested and it is not known.
    """
    conditions = compile_filters(query, now, view)
    if not conditions.needs_catalog:
        return Scope(conditions.rows, None, catalog)
    if not catalog.exact:
        catalog = read_catalog(reader, now)
    roots = roots_in(reader, conditions, catalog)
    ids = [id for root in roots for id in catalog.conversation(root).session_ids]
    inside = Condition("m.session_id IN (SELECT value FROM json_each(?))", (json.dumps(ids),))
    return Scope(all_of([conditions.rows, inside]), frozenset(roots), catalog)


def roots_in(
    reader: Reader, conditions: Conditions, catalog: Catalog, *, known: KnownSizes | None = None
) -> list[str]:
    """Return the root ids of the conversations that meet some conditions.

    `known` is a cache of sizes by session id, and is added to where a filter is on bytes.
    """
    return catalog.kept(ConversationTable).roots(reader, catalog, conditions, known)


class ConversationTable:
    """The table `conversations c` of one catalog; used by any thread."""

    def __init__(self, catalog: Catalog) -> None:
        self._lock = threading.Lock()
        self._filled: set[str] = set()
        """Columns that need not be read again."""
        # Never committed: nobody else sees it.
        self._table = sqlite3.connect(":memory:", check_same_thread=False)
        finalize(self, self._table.close)
        made = (*_OWN, *_PLAIN, *_TEXTS)
        columns = ", ".join((*made, *_COUNTED, *_LATER, "PRIMARY KEY (root)"))
        self._table.execute(f"CREATE TABLE conversations ({columns})")
        values = ", ".join(f":{column}" for column in made)
        self._table.executemany(
            f"INSERT INTO conversations ({', '.join(made)}) VALUES ({values})",
            [_row(each, catalog.now) for each in catalog.select(View.ALL)],
        )

    def roots(
        self, reader: Reader, catalog: Catalog, conditions: Conditions, known: KnownSizes | None
    ) -> list[str]:
        """Return the root ids of the conversations that meet some conditions.

        Messages are counted, and bytes measured, where they are compared: once, and only of
        conversations that may meet the conditions. `known` is a cache of sizes by session id, and
        is added to.
        """
        condition = conditions.conversations
        with self._lock:
            for column in _LATER:
                if f"c.{column}" in condition.sql and column not in self._filled:
                    self._table.execute(f"UPDATE conversations SET {column} = NULL")
                    self._fill(column, _read_column(reader, catalog, column))
                    if column in _STORED:
                        self._filled.add(column)
            for column in _COUNTED:
                if f"c.{column}" in condition.sql:
                    # What is compared with NULL is neither true nor false.
                    sql = f"c.{column} IS NULL AND ({condition.sql}) IS NOT 0"
                    unknown = self._select(condition._replace(sql=sql))
                    self._count(column, list(map(catalog.conversation, unknown)), reader, known)
            return self._select(condition)

    def _select(self, condition: Condition) -> list[str]:
        sql = f"SELECT root FROM conversations c WHERE {condition.sql}"
        return [row[0] for row in self._table.execute(sql, condition.values).fetchall()]

    def _count(
        self,
        column: str,
        conversations: Sequence[Conversation],
        reader: Reader,
        known: KnownSizes | None,
    ) -> None:
        """Count or measure some conversations; what was done stays if it is interrupted."""
        sizes: KnownSizes = {} if known is None else known
        for batch in chunks(conversations, _BATCH):
            segments = [segment for each in batch for segment in each.segments]
            if column == "messages":
                counted = count_rows(reader, [segment.id for segment in segments])
            else:
                if sizes:
                    forget_changed(reader, segments, sizes)
                measured = measure(reader, segments, known=sizes)
                counted = {segment.id: measured[segment.id].total for segment in segments}
            sums = {
                each.root_id: sum(counted.get(id, 0) for id in each.session_ids) for each in batch
            }
            self._fill(column, sums)

    def _fill(self, column: str, values: Mapping[str, object]) -> None:
        """Set a column, by root id."""
        sql = f"UPDATE conversations SET {column} = ? WHERE root = ?"
        self._table.executemany(sql, [(value, root) for root, value in values.items()])


def _row(chat: Conversation, now: float) -> dict[str, object]:
    """Return the values of a conversation by column."""
    segments = chat.segments
    sources = [each.source for each in segments]
    row: dict[str, object] = {name: getattr(chat, name) for name in _PLAIN}
    row |= {name: _lines(getattr(each, name) for each in segments) for name in _TEXTS}
    return row | {
        "root": chat.root_id,
        "stale": is_stale(chat, now),
        "tokens": float(chat.tokens.total),
        "source": _lines([*sources, *map(SHORT_SOURCES.get, sources)]),
        "folders": _lines(_folder(each.cwd) for each in segments if each.cwd),
        "ended": _lines([chat.tip.end_reason]),
    }


_STORED = {
    "users": "SELECT id, user_id FROM session_rows",
    "chats": "SELECT id, chat_id, chat_type FROM session_rows",
    "providers": "SELECT id, billing_provider FROM session_rows",
}
"""Columns of `sessions` that only these filters ask for: a `Session` has no field for them."""


def _read_column(reader: Reader, catalog: Catalog, column: str) -> dict[str, object]:
    """Return a column by root id; unread, waiting and tags are read each time, as they change without
    the store."""
    if column == "unread":
        read_marks(reader, catalog.now)  # raises: without them nothing would be new
    if column in ("unread", "waiting"):
        attention = read_attention(reader, catalog, catalog.now)
        return dict.fromkeys(getattr(attention, column), True)
    if column == "tags":
        named: Iterable[tuple[str, Sequence[object]]] = read_tags(reader).items()
    else:
        rows = reader.rows(_STORED[column])
        named = ((text_of(key), values) for key, *values in rows)
    texts: defaultdict[str, list[object]] = defaultdict(list)
    for session, values in named:
        texts[catalog.root_of(session) or ""] += values
    return {root: _lines(each) for root, each in texts.items()}


def _lines(texts: Iterable[object]) -> str:
    """Return folded texts as lines, each between two line ends."""
    return "\n".join(
        ["", *(fold_composed(text_of(text)) for text in texts if text is not None), ""]
    )


def _folder(path: str) -> str:
    """Return a path with a slash at its end, so that a folder is told from one whose name begins
    alike."""
    slash = "\\" if "\\" in path and "/" not in path else "/"
    return path if path.endswith(slash) else path + slash
