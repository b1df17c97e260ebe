"""Keeping the search indexes of a store in step with its messages where no trigger does so.

Hermes has triggers for it (0.13 to 0.22). A store may lack them: a salvaged one, one that something else made, or one
whose Hermes has detached the index. Then a delete removes the words from the index itself, and a restore adds them, as
the columns of the index say: an inline index has a text of its own, an external one reads `messages` or a view over it
(https://sqlite.org/fts5.html#external_content_tables).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..connection.schema import FtsIndex, FtsKind
from ..errors import StoreDamagedError
from ..trash.format import Encoded, quoted
from ..trash.tables import chunks
from ..wording import _
from .transaction import Transaction

_CHECKED = 256 * 1024 * 1024
"""Bytes of a store up to which its search index is compared whole; a larger one would keep Hermes waiting."""
_EVENT = re.compile(r"\b(INSERT|DELETE|UPDATE)\b.*?\bON\b", re.IGNORECASE | re.DOTALL)
_JOINED = ("content", "tool_name", "tool_calls")
"""What an inline index of one column holds, joined by spaces (schema 11 to 22, and upgraded files)."""


def _marks(count: int) -> str:
    return ",".join(f"?{number}" for number in range(1, count + 1))


class SearchIndexes:
    """The search indexes of one store in one transaction.

    Args:
        tx: The transaction.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        found = (tx.schema.fts, tx.schema.trigram)
        self._indexes = [each for each in found if each is not None]
        self._is_stale = tx.schema.note("fts_stale") is not None
        rows = tx.rows("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = 'messages'")
        tended = {(event, name) for (sql,) in rows for event, name in self._tends(str(sql))}
        self._unfilled = [each for each in self._indexes if ("INSERT", each.name) not in tended]
        self._uncleared = [each for each in self._indexes if ("DELETE", each.name) not in tended]
        self.is_ours = bool(self._unfilled or self._uncleared)
        """Whether a trigger is missing, so that we must keep an index in step."""

    def _tends(self, sql: str) -> list[tuple[str, str]]:
        """Return the event of a trigger with each index that its body names."""
        header, _begin, body = re.sub(r"--[^\n]*", "", sql).partition("BEGIN")
        event = _EVENT.search(header)
        if event is None:
            return []
        return [
            (event[1].upper(), each.name) for each in self._indexes if re.search(rf"\b{re.escape(each.name)}\b", body)
        ]

    def before_delete(self, ids: Sequence[object]) -> None:
        """Remove messages from indexes that have no trigger for it, while the rows are still there.

        Args:
            ids: Of messages.
        """
        if self._is_stale:  # Hermes will rebuild it
            return
        for some in chunks(ids):
            for index in self._uncleared:
                if index.kind is not FtsKind.CONTENTLESS:
                    # What is not in it must not be removed: FTS5 would still subtract it from its counts.
                    held = [row[0] for row in self._tx.rows(self._held(index, len(some)), some)]
                    self._tx.execute(f"DELETE FROM {quoted(index.name)} WHERE rowid IN ({_marks(len(held))})", held)
            for index in self._unfilled:  # a delete trigger that removes what was never added breaks the index
                if index not in self._uncleared and index.kind is FtsKind.EXTERNAL:
                    self._fill(index, some)

    def before_insert(self, ids: Sequence[Encoded]) -> None:
        """Remove what an index still holds of messages that were deleted while it had no delete trigger.

        This matters only for an index with a text of its own, where the insert trigger would find the rowid in use.

        Args:
            ids: Of messages.
        """
        for index in self._indexes:
            if index.kind is FtsKind.INLINE:
                for row in self._tx.rows(self._held(index, len(ids)), ids):
                    self._tx.execute(f"DELETE FROM {quoted(index.name)} WHERE rowid = ?", row)

    def after_insert(self, ids: Sequence[Encoded]) -> None:
        """Add messages to indexes that have no trigger for it.

        Args:
            ids: Of messages that are in the store.
        """
        if not self._is_stale:
            for index in self._unfilled:
                self._fill(index, ids)

    def _held(self, index: FtsIndex, count: int) -> str:
        """Return SQL for those of `count` messages that an index has; an external one must find them where it reads."""
        shadow = f"{index.name}_{'content' if index.kind is FtsKind.INLINE else 'docsize'}"
        held = f"SELECT id FROM {quoted(shadow)} WHERE id IN ({_marks(count)})"
        if shadow not in self._tx.schema.tables:  # made without (`columnsize=0`): nothing tells what it holds
            held = f"SELECT id FROM messages WHERE id IN ({_marks(count)})"
        if index.kind is FtsKind.EXTERNAL:
            read = f"SELECT {index.rowid} FROM {quoted(index.content)} WHERE {index.rowid} IN ({_marks(count)})"
            held += f" AND id IN ({read})"
        return held

    def _fill(self, index: FtsIndex, ids: Sequence[object]) -> None:
        """Add to an index those of some messages that it does not have."""
        if index.kind is FtsKind.CONTENTLESS:
            return
        held = {row[0] for row in self._tx.rows(self._held(index, len(ids)), ids)}
        missing = [each for each in ids if each not in held]
        if index.kind is FtsKind.EXTERNAL:
            source, key = index.content, index.rowid
            values = [quoted(column) for column in index.columns]
        else:
            source, key = "messages", "id"
            values = [self._text(index, column) for column in index.columns]
        self._tx.execute(
            f"INSERT INTO {quoted(index.name)} (rowid, {', '.join(map(quoted, index.columns))}) "
            f"SELECT {key}, {', '.join(values)} FROM {quoted(source)} WHERE {key} IN ({_marks(len(missing))})",
            missing,
        )

    def _text(self, index: FtsIndex, column: str) -> str:
        """Return SQL for what an inline index holds in a column."""
        wanted = _JOINED if index.columns == ("content",) else (column,)
        parts = [f"COALESCE({quoted(name)}, '')" for name in wanted if name in self._tx.schema.message_columns]
        return " || ' ' || ".join(parts) or "''"

    def compare(self) -> tuple[str, ...]:
        """Let SQLite compare the search indexes with the rows, where that does not take long.

        An index that does not agree is no reason to take rows back: Hermes can rebuild it.

        Returns:
            A sentence for each that does not agree.
        """
        if self._is_stale and self._unfilled:
            return (_("The search index is out of date until Hermes rebuilds it."),)
        if self._is_stale or self._tx.schema.note("fts_rebuild_high_water") is not None:
            return ()
        pages, size = (int(str(self._tx.rows(f"PRAGMA {name}")[0][0])) for name in ("page_count", "page_size"))
        if pages * size > _CHECKED:
            return ()
        notes: list[str] = []
        for index in self._indexes:
            try:
                self._tx.execute(f"INSERT INTO {index.name}({index.name}, rank) VALUES ('integrity-check', 1)")
            except StoreDamagedError:
                broken = _(
                    "The search index {name} does not agree with the messages; `hermes sessions repair` rebuilds it."
                )
                notes.append(broken.format(name=index.name))
        return tuple(notes)
