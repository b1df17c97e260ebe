"""Rows of `messages` as a search reads them, and a cache of them for the next search.

The expensive part of a row is its text: reading it from pages of its own, folding it, parsing the
JSON of a message with images. Each is done once while the store stays unchanged: the next keystroke
needs most of the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from sys import getsizeof

from ..connection.reader import Reader, Row
from ..connection.schema import Schema
from ..connection.store_cache import StoreCache
from ..connection.stored_values import as_int, as_time, read_json
from ..messages.chat_message import State
from ..messages.decode import SENTINEL, decode_content, decode_tool_calls, state_of
from ..text import as_text, text_of
from .fold import fold, has_marks
from .terms import CompiledQuery

_ROW_BYTES = 1000
"""Memory that a row takes besides its texts."""
_COLUMNS = ("session_id", "role", "content", "tool_calls", "tool_name", "timestamp", "reasoning", "reasoning_content",
            "display_kind", "display_metadata")  # fmt: skip

SHOWN = (
    "m.role IS NOT 'session_meta' AND m.display_kind IS NOT 'hidden' AND (m.display_metadata IS NULL OR NOT "
    "CASE WHEN json_valid(m.display_metadata) THEN json_type(m.display_metadata, '$.model_only') IS 'true' ELSE 0 END)"
)
"""Whether a row of `messages m` is for people; see `decode.is_hidden`."""


def rows_sql(schema: Schema) -> str:
    """Return SQL for `messages m` with all columns that conditions name; those that a store lacks
    are NULL."""
    columns = ", ".join(f"{schema.message(name)} AS {name}" for name in _COLUMNS)
    return f"(SELECT m.id, {columns}, {schema.active()} AS active, {schema.compacted()} AS compacted FROM messages m) m"


_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
IS_JSON = re.compile(r'\{\s*"|\[\s*["\[{]|"')


def stored_text(value: object) -> str:
    """Return a stored value as the text that is searched."""
    return value if type(value) is str else text_of(value)


def unescaped(json_text: str) -> str:
    """Return JSON text with the escapes in it resolved, also where it is cut short."""

    def letter(escape: re.Match[str]) -> str:
        return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])

    text = _ESCAPE.sub(letter, json_text)
    return text.encode("utf-16", "surrogatepass").decode(
        "utf-16", "replace"
    )  # joins surrogate pairs


class RowText:
    """The searched texts of a row, and what is derived from them."""

    def __init__(self, content: object, tool_name: object = "", tool_calls: object = "") -> None:
        self.stored = stored_text(content)
        """The content as stored, multimodal JSON included."""
        self.tool_name = stored_text(tool_name)
        self.tool_calls = stored_text(tool_calls)

    @cached_property
    def content(self) -> str:
        """The content as stored, without the mark of a multimodal one, which nobody wrote."""
        return self.stored.removeprefix(SENTINEL)

    def is_accepted(self, compiled: CompiledQuery) -> bool:
        """Whether the row contains the terms of a query, and none that it excludes."""
        if not compiled.groups and not compiled.excluded:
            return True
        # Most rows have the terms as they are stored, and their JSON need not be read.
        if not compiled.excluded and compiled.accepts_folded(self.folded, self.is_marked):
            return True
        return bool(self.unescaped or compiled.excluded) and compiled.accepts_folded(
            self.folded_all
        )

    @property
    def _is_multimodal(self) -> bool:
        return self.stored.startswith(SENTINEL)

    @cached_property
    def spoken(self) -> str:
        """The content, or the texts in the parts of a multimodal one."""
        return (
            decode_content(self.stored)[0].removeprefix(SENTINEL)
            if self._is_multimodal
            else self.stored
        )

    @cached_property
    def folded(self) -> str:
        """The three texts as Hermes indexes them (0.13 and later), and `spoken` of a multimodal
        content; folded."""
        texts = [self.content, self.tool_name, self.tool_calls]
        if self._is_multimodal:
            texts.append(self.spoken)
        return fold(" ".join(texts))

    @cached_property
    def is_marked(self) -> bool:
        """Whether `folded` has combining marks."""
        return has_marks(self.folded)

    @cached_property
    def unescaped(self) -> tuple[str, ...]:
        """The JSON of a tool's result and of its calls without escapes, where there are some."""
        texts: list[str] = []
        if "\\" in self.stored and not self._is_multimodal and IS_JSON.match(self.stored):
            texts.append(unescaped(self.stored))
        if (
            "\\" in self.tool_calls
        ):  # JSON with the arguments of each call in it, which are JSON themselves
            calls = decode_tool_calls(self.tool_calls)
            texts += [unescaped(each.arguments) for each in calls] or [
                unescaped(unescaped(self.tool_calls))
            ]
        return tuple(texts)

    @cached_property
    def folded_all(self) -> str:
        """All that is searched: `folded` and `unescaped`."""
        return " ".join([self.folded, *map(fold, self.unescaped)])

    def parts(self) -> Iterator[str]:
        """Yield each searched text: the spoken one of a multimodal content first, then those
        stored."""
        yield from dict.fromkeys(
            [self.spoken, self.content, self.tool_name, self.tool_calls, *self.unescaped]
        )


_CHANGES = re.compile(r"write|edit|patch|create|replace|append|insert|delete|remove|rename|move")
"""Parts of the names of tools that change files: `write_file` and `patch` are Hermes' own
(0.22)."""
_PATCH_HEADERS = ("*** ", "+++ ", "--- ")
"""How a line of a patch begins that names a file."""


def _names_file(argument: object, needle: str) -> bool:
    """Whether an argument names the file: a bare path, or the headers of a patch, not the text
    written."""
    if not isinstance(argument, str):
        return False
    lines = argument.split("\n")
    return any(
        needle in fold(line) for line in lines if len(lines) == 1 or line.startswith(_PATCH_HEADERS)
    )


def edits_file(tool_calls: str, needle: str) -> bool:
    """Whether tool calls, as stored, change a file whose path contains a folded text."""
    if needle not in fold(tool_calls):
        return False
    for call in decode_tool_calls(tool_calls):
        if not _CHANGES.search(call.name.lower()):
            continue
        try:
            arguments = read_json(call.arguments)
        except ValueError:
            arguments = None
        values = arguments.values() if isinstance(arguments, dict) else [call.arguments]
        if any(_names_file(value, needle) for value in values):
            return True
    return False


class StoredRow:
    """A row of `messages` with its texts."""

    def __init__(self, row: Row) -> None:
        (
            message_id,
            session,
            role,
            timestamp,
            active,
            compacted,
            content,
            tool_name,
            tool_calls,
            reasoning,
        ) = row
        self.id = as_int(message_id)
        self.session_id = text_of(session)
        self.role = as_text(role) or "unknown"
        self.moment: float | None = as_time(timestamp)
        self.state: State = state_of(active, compacted)
        self.text = (
            RowText(content, tool_name, tool_calls) if reasoning is None else RowText(reasoning)
        )
        """What is searched: the messages, or their reasoning."""
        texts = getsizeof(self.text.stored) + getsizeof(self.text.tool_calls)
        self.size = _ROW_BYTES + 2 * texts
        """Bytes of memory, with the texts counted twice: as stored and folded."""


def read_rows(reader: Reader, ids: Sequence[int], *, in_reasoning: bool = False) -> list[StoredRow]:
    """Return rows in the order of their ids; those that are cached are not read again.

    `in_reasoning` reads their reasoning instead of their texts; those rows are not cached.
    """
    cache = StoreCache().rows if in_reasoning else reader.cache().rows
    known = {key: row for key in ids if (row := cache.get(key)) is not None}
    reasoning = (
        "COALESCE(NULLIF(m.reasoning, ''), m.reasoning_content, '')" if in_reasoning else "NULL"
    )
    sql = (
        "SELECT m.id, m.session_id, m.role, m.timestamp, m.active, m.compacted, m.content, m.tool_name, m.tool_calls, "
        f"{reasoning} FROM {rows_sql(reader.schema)} WHERE m.id IN ({{keys}})"
    )
    for row in map(StoredRow, reader.rows_in(sql, [key for key in ids if key not in known])):
        known[row.id] = row
        cache.add(row)
    return [known[key] for key in ids if key in known]
