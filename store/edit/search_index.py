"""Update the search indexes of a store together with its messages if no trigger does so.

Hermes has triggers for it (0.13 to 0.22). A salvaged store may lack them, or one made by another
program, or one whose Hermes has detached the index. Then a delete removes the messages from the
index, and a restore adds them: an inline index stores its own text, an external one reads
`messages` or a view over it (https://sqlite.org/fts5.html#external_content_tables).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..connection.schema import FtsIndex, FtsKind, sql_name
from ..connection.stored_values import as_int
from ..errors import StoreDamagedError
from ..trash.format import Encoded
from ..trash.tables import chunks
from ..wording import _
from .transaction import Transaction

_CHECKED = 256 * 1024 * 1024
"""Size in bytes of the largest store whose index is compared as a whole; a larger one would keep
Hermes waiting."""
_EVENT = re.compile(r"\b(INSERT|DELETE|UPDATE)\b.*?\bON\b", re.IGNORECASE | re.DOTALL)
_JOINED = ("content", "tool_name", "tool_calls")
"""Columns in an inline index of one column, joined by spaces (schema 11 to 22, and upgraded
files)."""


def _marks(count: int) -> str:
    return ",".join(f"?{number}" for number in range(1, count + 1))


class SearchIndexes:
    """The search indexes of one store in one transaction; methods take ids of messages."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._indexes = [index for index in (tx.schema.fts, tx.schema.trigram) if index is not None]
        self._is_stale = tx.schema.note("fts_stale") is not None
        rows = tx.rows(
            "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = 'messages'"
        )
        triggers = {pair for (sql,) in rows for pair in self._updated_by(str(sql))}
        self._without_insert = [
            each for each in self._indexes if ("INSERT", each.name) not in triggers
        ]
        self._without_delete = [
            each for each in self._indexes if ("DELETE", each.name) not in triggers
        ]
        self.is_ours = bool(self._without_insert or self._without_delete)
        """Whether a trigger is missing, so that an index must be updated here."""

    def _updated_by(self, sql: str) -> list[tuple[str, str]]:
        """Return the event of a trigger with the name of each index in its body."""
        header, _begin, body = re.sub(r"--[^\n]*", "", sql).partition("BEGIN")
        event = _EVENT.search(header)
        if event is None:
            return []
        return [
            (event[1].upper(), each.name)
            for each in self._indexes
            if re.search(rf"\b{re.escape(each.name)}\b", body)
        ]

    def before_delete(self, ids: Sequence[object]) -> None:
        """Remove messages, whose rows still exist, from indexes without a delete trigger."""
        if self._is_stale:  # Hermes will rebuild it
            return
        for chunk in chunks(ids):
            for index in self._without_delete:
                if index.kind is not FtsKind.CONTENTLESS:
                    # Only what is in the index: FTS5 would subtract anything else from its counts
                    # too.
                    indexed = [
                        row[0]
                        for row in self._tx.rows(self._select_indexed(index, len(chunk)), chunk)
                    ]
                    self._tx.execute(
                        f"DELETE FROM {sql_name(index.name)} WHERE rowid IN ({_marks(len(indexed))})",
                        indexed,
                    )
            for index in (
                self._without_insert
            ):  # a delete trigger that removes what was never added breaks the index
                if index not in self._without_delete and index.kind is FtsKind.EXTERNAL:
                    self._add_missing(index, chunk)

    def before_insert(self, ids: Sequence[Encoded]) -> None:
        """Remove entries of messages that were deleted while an index had no delete trigger.

        This matters only for an inline index, where the insert trigger would find the rowid in use.
        """
        for index in self._indexes:
            if index.kind is FtsKind.INLINE:
                for row in self._tx.rows(self._select_indexed(index, len(ids)), ids):
                    self._tx.execute(f"DELETE FROM {sql_name(index.name)} WHERE rowid = ?", row)

    def after_insert(self, ids: Sequence[Encoded]) -> None:
        """Add messages to indexes without an insert trigger."""
        if not self._is_stale:
            for index in self._without_insert:
                self._add_missing(index, ids)

    def _select_indexed(self, index: FtsIndex, count: int) -> str:
        """Return SQL that selects which of `count` messages are in an index, and for an external
        one in its source."""
        shadow = f"{index.name}_{'content' if index.kind is FtsKind.INLINE else 'docsize'}"
        # Without a shadow table (`columnsize=0`) nothing tells what the index holds: take all
        # messages.
        source = sql_name(shadow) if shadow in self._tx.schema.tables else "messages"
        select = f"SELECT id FROM {source} WHERE id IN ({_marks(count)})"
        if index.kind is FtsKind.EXTERNAL:
            readable = f"SELECT {index.rowid} FROM {sql_name(index.content)} WHERE {index.rowid} IN ({_marks(count)})"
            select += f" AND id IN ({readable})"
        return select

    def _add_missing(self, index: FtsIndex, ids: Sequence[object]) -> None:
        """Add those of some messages to an index that it does not have."""
        if index.kind is FtsKind.CONTENTLESS:
            return
        indexed = {row[0] for row in self._tx.rows(self._select_indexed(index, len(ids)), ids)}
        missing = [each for each in ids if each not in indexed]
        if index.kind is FtsKind.EXTERNAL:
            source, key = index.content, index.rowid
            values = [sql_name(column) for column in index.columns]
        else:
            source, key = "messages", "id"
            values = [self._text_of(index, column) for column in index.columns]
        self._tx.execute(
            f"INSERT INTO {sql_name(index.name)} (rowid, {', '.join(map(sql_name, index.columns))}) "
            f"SELECT {key}, {', '.join(values)} FROM {sql_name(source)} WHERE {key} IN ({_marks(len(missing))})",
            missing,
        )

    def _text_of(self, index: FtsIndex, column: str) -> str:
        """Return SQL for the text in a column of an inline index."""
        names = _JOINED if index.columns == ("content",) else (column,)
        parts = [
            f"COALESCE({sql_name(name)}, '')"
            for name in names
            if name in self._tx.schema.message_columns
        ]
        return " || ' ' || ".join(parts) or "''"

    def compare(self) -> tuple[str, ...]:
        """Let SQLite check the search indexes against the rows, unless that takes long; return a
        sentence per mismatch.

        A mismatch is no reason to roll back: Hermes can rebuild the index.
        """
        if self._is_stale and self._without_insert:
            return (_("The search index is out of date until Hermes rebuilds it."),)
        if self._is_stale or self._tx.schema.note("fts_rebuild_high_water") is not None:
            return ()
        pages, size = (
            as_int(self._tx.rows(f"PRAGMA {name}")[0][0]) for name in ("page_count", "page_size")
        )
        if pages * size > _CHECKED:
            return ()
        notes: list[str] = []
        for index in self._indexes:
            try:
                self._tx.execute(
                    f"INSERT INTO {index.name}({index.name}, rank) VALUES ('integrity-check', 1)"
                )
            except StoreDamagedError:
                broken = _(
                    "The search index {name} does not agree with the messages; `hermes sessions repair` rebuilds it."
                )
                notes.append(broken.format(name=index.name))
        return tuple(notes)
