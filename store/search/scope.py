"""Which rows may be hits, apart from the words: the filters of a query, and a view.

A store has no row for a conversation: Hermes' rules fold sessions into one
(`sessions/catalog.py`). So the conversations of a catalog become a table in memory, and a
filter is one condition in SQL wherever it is used.
"""

from __future__ import annotations

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
from ..sessions.catalog import Catalog
from ..sessions.list_page import sum_of
from ..sessions.models import Conversation, View
from ..sessions.relations import SHORT_SOURCES, ids_of, is_stale
from ..since.since import read_attention
from ..text import text_of
from .conditions import EVERYTHING, Condition, all_of, any_of
from .filters import BY_KEY, FACETS
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
"""Columns that are counted or measured when a filter asks for them, of few conversations at once."""
_CHANGING = ("unread", "waiting", "tags")
"""Columns that are read each time a filter asks for them, as they change without the store."""
_LATER = ("users", "chats", "providers", *_CHANGING, *_COUNTED)
"""Columns that are NULL until a filter asks for them."""
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
    rows: defaultdict[object, list[Condition]] = defaultdict(list)
    conversations: defaultdict[object, list[Condition]] = defaultdict(list)
    for each in query.filters:
        kind = BY_KEY[each.key]
        if kind.is_cleanup_only:
            continue
        condition = kind.condition(each, now)
        group: object = each
        if each.negated:  # what is unknown is not excluded
            condition = condition._replace(sql=f"CASE WHEN {condition.sql} THEN 0 ELSE 1 END")
        elif each.op in (":", "=") and not kind.is_limit:
            value = each.value.lower() if each.key == "is" else ""
            group = (each.key, FACETS.get(value, value))
        groups = conversations if "c." in condition.sql else rows
        groups[group].append(condition)
    if view is not View.ALL:
        conversations["view"] = [Condition("c.view = ?", (view.value,))]
    return Conditions(
        all_of(map(any_of, rows.values())), all_of(map(any_of, conversations.values()))
    )


def roots_in(
    reader: Reader, conditions: Conditions, catalog: Catalog, *, known: KnownSizes | None = None
) -> list[str]:
    """Return the root ids of the conversations that meet some conditions.

    What is not in their table yet is read once, and only of conversations that may meet them; what
    was counted or measured stays if it is interrupted. `known` is a cache of sizes by session id,
    and is added to where a filter is on bytes.
    """
    condition = conditions.conversations
    conversations = catalog.kept(ConversationTable)
    sizes = {} if known is None else known
    with conversations.lock:
        for column in (each for each in _LATER if f"c.{each}" in condition.sql):
            if column in _CHANGING:
                conversations.table.execute(f"UPDATE conversations SET {column} = NULL")
            # What is compared with NULL is neither true nor false.
            sql = f"c.{column} IS NULL AND ({condition.sql}) IS NOT 0"
            unknown = conversations.select(condition._replace(sql=sql))
            for batch in chunks(unknown, _BATCH if column in _COUNTED else len(unknown) or 1):
                values = _read_column(reader, catalog, column, batch, sizes)
                conversations.table.executemany(
                    f"UPDATE conversations SET {column} = ? WHERE root = ?",
                    [(value, root) for root, value in values.items()],
                )
        return conversations.select(condition)


class ConversationTable:
    """The table `conversations c` of one catalog; used by any thread that has its lock."""

    def __init__(self, catalog: Catalog) -> None:
        self.lock = threading.Lock()
        # Never committed: nobody else sees it.
        self.table = sqlite3.connect(":memory:", check_same_thread=False)
        finalize(self, self.table.close)
        columns = (*_OWN, *_PLAIN, *_TEXTS, *_LATER)
        self.table.execute(f"CREATE TABLE conversations ({', '.join(columns)}, PRIMARY KEY (root))")
        values = ", ".join(f":{column}" for column in columns)
        self.table.executemany(
            f"INSERT INTO conversations VALUES ({values})",
            [_row(each, catalog.now) for each in catalog.select(View.ALL)],
        )

    def select(self, condition: Condition) -> list[str]:
        """Return the root ids of the conversations that meet a condition."""
        sql = f"SELECT root FROM conversations c WHERE {condition.sql}"
        return [row[0] for row in self.table.execute(sql, condition.values).fetchall()]


def _row(chat: Conversation, now: float) -> dict[str, object]:
    """Return the values of a conversation by column."""
    segments = chat.segments
    sources = [each.source for each in segments]
    return {
        **dict.fromkeys(_LATER),
        **{name: getattr(chat, name) for name in _PLAIN},
        **{name: _lines(getattr(each, name) for each in segments) for name in _TEXTS},
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


def _read_column(
    reader: Reader, catalog: Catalog, column: str, roots: Sequence[str], known: KnownSizes
) -> Mapping[str, object]:
    """Return a column by root id, of some conversations at least."""
    if column == "unread":
        read_marks(reader, catalog.now)  # raises: without them nothing would be new
    if column in ("unread", "waiting"):
        attention = read_attention(reader, catalog, catalog.now)
        return dict.fromkeys(getattr(attention, column), True)
    chats = list(map(catalog.conversation, roots))
    if column in _COUNTED:
        if column == "messages":
            counts = count_rows(reader, ids_of(chats))
        else:
            segments = [each for chat in chats for each in chat.segments]
            forget_changed(reader, segments, known)
            measured = measure(reader, segments, known=known)
            counts = {each.id: measured[each.id].total for each in segments}
        return {chat.root_id: sum_of(counts, chat) for chat in chats}
    texts: Mapping[str, Sequence[object]] = (
        read_tags(reader)
        if column == "tags"
        else {text_of(key): values for key, *values in reader.rows(_STORED[column])}
    )
    return {
        chat.root_id: _lines(text for id in chat.session_ids for text in texts.get(id, ()))
        for chat in chats
    }


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
