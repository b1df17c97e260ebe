"""Rows of `messages` as a search reads them, and a cache of them for the next search.

The expensive part of a row is its text: reading it from pages of its own, folding it, parsing the
JSON of a message with images. Each is done once while the store stays unchanged: the next keystroke
needs most of the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from sys import getsizeof

from ..connection.reader import Reader, Row
from ..connection.schema import Schema
from ..connection.store_cache import StoreCache
from ..connection.stored_values import as_int, as_time
from ..messages.chat_message import State
from ..messages.decode import SENTINEL, decode_content, decode_tool_calls, state_of
from ..text import as_text, text_of
from .query import CompiledQuery
from .terms import fold

_ROW_BYTES = 1000
"""Memory that a row takes besides its texts."""
_COLUMNS = ("session_id", "role", "content", "tool_calls", "tool_name", "timestamp", "reasoning", "reasoning_content",
            "display_kind", "display_metadata")  # fmt: skip

SHOWN = (
    "m.role IS NOT 'session_meta' AND m.display_kind IS NOT 'hidden' AND (m.display_metadata IS NULL OR NOT "
    "CASE WHEN json_valid(m.display_metadata) THEN json_type(m.display_metadata, '$.model_only') IS 'true' ELSE 0 END)"
)
"""Whether a row of `messages m` is for people; see `decode.is_hidden`."""

IS_JSON = re.compile(r'\{\s*"|\[\s*["\[{]|"')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def rows_sql(schema: Schema) -> str:
    """Return SQL for `messages m` with all columns that conditions name; those that a store lacks
    are NULL."""
    columns = ", ".join(f"{schema.message(name)} AS {name}" for name in _COLUMNS)
    return f"(SELECT m.id, {columns}, {schema.active()} AS active, {schema.compacted()} AS compacted FROM messages m) m"


def unescaped(json_text: str) -> str:
    """Return JSON text with the escapes in it resolved, also where it is cut short."""

    def letter(escape: re.Match[str]) -> str:
        return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])

    text = _ESCAPE.sub(letter, json_text)
    # joins surrogate pairs
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class StoredRow:
    """A row of `messages` with the texts that are searched."""

    def __init__(self, row: Row) -> None:
        message_id, session_id, role, timestamp, active, compacted, *texts = row
        self.id = as_int(message_id)
        self.session_id = text_of(session_id)
        self.role = as_text(role) or "unknown"
        self.moment: float | None = as_time(timestamp)
        self.state: State = state_of(active, compacted)
        self.stored, self.tool_name, self.tool_calls = map(text_of, texts)
        texts_size = getsizeof(self.stored) + getsizeof(self.tool_calls)
        self.size = _ROW_BYTES + 2 * texts_size
        """Bytes of memory, with the texts counted twice: as stored and folded."""

    @property
    def content(self) -> str:
        """The content as stored, without the mark of a multimodal one, which nobody wrote."""
        return self.stored.removeprefix(SENTINEL)

    @cached_property
    def spoken(self) -> str:
        """The content, or the texts in the parts of a multimodal one."""
        if not self.stored.startswith(SENTINEL):
            return self.stored
        return decode_content(self.stored)[0].removeprefix(SENTINEL)

    @cached_property
    def _folded(self) -> str:
        """All searched texts."""
        return fold(" ".join(self.texts()))

    def texts(self) -> list[str]:
        """Return the searched texts: the spoken one first, then those stored, and the JSON of a
        tool's result and of its calls without escapes, where there are some."""
        texts = [self.spoken, self.content, self.tool_name, self.tool_calls]
        if "\\" in self.stored and IS_JSON.match(self.stored):
            texts.append(unescaped(self.stored))
        if "\\" in self.tool_calls:  # the arguments of a call are JSON in JSON
            texts.append(unescaped(unescaped(self.tool_calls)))
        return list(dict.fromkeys(texts))

    def is_accepted(self, compiled: CompiledQuery) -> bool:
        """Whether the row contains the terms of a query, and none that it excludes."""
        is_asked = bool(compiled.groups or compiled.excluded)
        return not is_asked or compiled.accepts(self._folded)


_CHANGES = re.compile(r"write|edit|patch|create|replace|append|insert|delete|remove|rename|move")
"""Parts of the names of tools that change files: `write_file` and `patch` are Hermes' own
(0.22)."""


def edits_file(tool_calls: str, needle: str) -> bool:
    """Whether tool calls, as stored, change files and name a folded path."""
    if needle not in fold(tool_calls):
        return False
    return any(
        _CHANGES.search(call.name.lower()) and needle in fold(call.arguments)
        for call in decode_tool_calls(tool_calls)
    )


def read_rows(reader: Reader, ids: Sequence[int], *, in_reasoning: bool = False) -> list[StoredRow]:
    """Return rows in the order of their ids; those that are cached are not read again.

    `in_reasoning` reads their reasoning instead of their texts; those rows are not cached.
    """
    cache = StoreCache().rows if in_reasoning else reader.cache().rows
    known = {key: row for key in ids if (row := cache.get(key)) is not None}
    texts = "m.content, m.tool_name, m.tool_calls"
    if in_reasoning:
        texts = "COALESCE(NULLIF(m.reasoning, ''), m.reasoning_content, ''), '', ''"
    sql = (
        f"SELECT m.id, m.session_id, m.role, m.timestamp, m.active, m.compacted, {texts} "
        f"FROM {rows_sql(reader.schema)} WHERE m.id IN ({{keys}})"
    )
    for row in map(StoredRow, reader.rows_in(sql, [key for key in ids if key not in known])):
        known[row.id] = row
        cache.add(row)
    return [known[key] for key in ids if key in known]
