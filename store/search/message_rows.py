"""Rows of `messages` as a search reads them, and a cache of them for the next search.

The expensive part of a row is its text: reading it from pages of its own, folding it, parsing the JSON of a message
with images. Each is done once while the store stays unchanged: the next keystroke needs most of the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from sys import getsizeof

from ..connection.reader import Reader, Row
from ..connection.schema import FtsIndex
from ..connection.stored_values import as_int, as_time
from ..messages.chat_message import State
from ..messages.decode import SENTINEL, decode_content, decode_tool_calls, is_hidden, state_of
from ..text import as_text
from .coverage import Holes, find_holes
from .fold import fold, has_marks
from .terms import CompiledQuery
from .times import TimeOrder, read_edges, time_order

MOST_BYTES = 8_000_000
"""Memory that the texts of cached rows take at most, stored and folded."""
_ROW_BYTES = 1000
"""Memory that a row takes besides its texts."""

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
IS_JSON = re.compile(r'\{\s*"|\[\s*["\[{]|"')


def stored_text(value: object) -> str:
    """Return a stored value as the text that is searched."""
    return value if type(value) is str else as_text(value) or ""


def unescaped(json_text: str) -> str:
    """Return JSON text with the escapes in it resolved, also where it is cut short."""

    def letter(escape: re.Match[str]) -> str:
        return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])

    text = _ESCAPE.sub(letter, json_text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins surrogate pairs


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
        # Most rows have the terms as they are stored, and their JSON need not be read.
        if not compiled.excluded and compiled.accepts_folded(self.folded, self.is_marked):
            return True
        return bool(self.unescaped or compiled.excluded) and compiled.accepts_folded(self.folded_all)

    @property
    def _is_multimodal(self) -> bool:
        return self.stored.startswith(SENTINEL)

    @cached_property
    def spoken(self) -> str:
        """The content, or the texts in the parts of a multimodal one."""
        return decode_content(self.stored)[0].removeprefix(SENTINEL) if self._is_multimodal else self.stored

    @cached_property
    def folded(self) -> str:
        """The three texts as Hermes indexes them (0.13 and later), and `spoken` of a multimodal content; folded."""
        texts = [self.content, self.tool_name, self.tool_calls]
        if self._is_multimodal:
            texts.append(self.spoken)
        return fold(" ".join(texts))

    @cached_property
    def unescaped(self) -> tuple[str, ...]:
        """The JSON of a tool's result and of its calls without escapes, where there are some."""
        texts: list[str] = []
        if "\\" in self.stored and not self._is_multimodal and IS_JSON.match(self.stored):
            texts.append(unescaped(self.stored))
        if "\\" in self.tool_calls:  # JSON with the arguments of each call in it, which are JSON themselves
            calls = decode_tool_calls(self.tool_calls)
            texts += [unescaped(each.arguments) for each in calls] or [unescaped(unescaped(self.tool_calls))]
        return tuple(texts)

    @cached_property
    def folded_all(self) -> str:
        """All that is searched: `folded` and `unescaped`."""
        return " ".join([self.folded, *map(fold, self.unescaped)])

    @cached_property
    def is_marked(self) -> bool:
        """Whether there are combining marks in the folded text."""
        return has_marks(self.folded)

    def parts(self) -> Iterable[tuple[str, str]]:
        """Yield the texts a snippet may show, each with its folded text: spoken, content, tool name, tool calls, and
        last the JSON without escapes."""
        name_at = len(self.content) + 1
        calls_at = name_at + len(self.tool_name) + 1
        if self._is_multimodal:
            yield self.spoken, self.folded[calls_at + len(self.tool_calls) + 1 :]
        yield self.content, self.folded[: len(self.content)]
        yield self.tool_name, self.folded[name_at : calls_at - 1]
        yield self.tool_calls, self.folded[calls_at : calls_at + len(self.tool_calls)]
        yield from ((text, fold(text)) for text in self.unescaped)


class StoredRow:
    """A row of `messages`, selected by `_columns`."""

    def __init__(self, row: Row) -> None:
        message_id, session, role, timestamp, kind, metadata, active, compacted, *texts = row
        self.id = as_int(message_id)
        self.session_id = as_text(session) or ""
        self.role = as_text(role) or "unknown"
        self.moment: float | None = as_time(timestamp)
        self.state: State = state_of(active, compacted)
        self.is_hidden = is_hidden(self.role, as_text(kind), metadata)
        self.text: RowText | None = None
        """None where the row was read without its texts."""
        self.has_reasoning = False
        self.reasoning: RowText | None = None
        """Searched instead of `text` where it was read."""
        self.size = _ROW_BYTES
        """Bytes of memory, with the texts counted twice: as stored and folded."""
        if texts:
            self.text = RowText(*texts[:3])
            self.has_reasoning = bool(texts[3])
            self.reasoning = RowText(texts[4]) if len(texts) > 4 else None
            self.size += 2 * (getsizeof(self.text.stored) + getsizeof(self.text.tool_calls))

    @property
    def searched(self) -> RowText | None:
        """The text that is searched; None where the row was read without its texts."""
        return self.reasoning or self.text


class SearchCache:
    """What a connection knows of the messages: the rows read last, which ids there are, their order in time, and which
    of them an index lacks. Each search gets it from `Reader.cached`."""

    def __init__(self) -> None:
        self._rows: dict[int, StoredRow] = {}
        self._edges: tuple[int, int] | None = None
        self._holes: dict[str, Holes] = {}
        self._order: TimeOrder | None = None
        self.size = 0
        """Bytes of memory the rows take."""

    def __len__(self) -> int:
        return len(self._rows)

    def edges(self, reader: Reader) -> tuple[int, int]:
        """Return the smallest and the largest id of a message; 0 where there is none."""
        if self._edges is None:
            self._edges = read_edges(reader)
        return self._edges

    def holes(self, reader: Reader, index: FtsIndex) -> Holes:
        """Return what an index lacks."""
        if index.name not in self._holes:
            self._holes[index.name] = find_holes(reader, index, self.edges(reader)[1])
        return self._holes[index.name]

    def order(self, reader: Reader, *, reread: bool = False) -> TimeOrder:
        """Return how ids and times relate; `reread` where the cached answer has proved to be wrong."""
        if self._order is None or reread:
            self._order = time_order(reader, self.edges(reader), reread=reread)
        return self._order

    def get(self, message_id: int) -> StoredRow | None:
        """Return a row if it is cached; it becomes the last to be dropped."""
        row = self._rows.pop(message_id, None)
        if row is not None:
            self._rows[message_id] = row
        return row

    def add(self, row: StoredRow) -> None:
        """Cache a row, and drop those that were not used for longest."""
        before = self._rows.pop(row.id, None)
        self._rows[row.id] = row
        self.size += row.size - (before.size if before is not None else 0)
        while self.size > MOST_BYTES:
            oldest = next(iter(self._rows))
            self.size -= self._rows.pop(oldest).size


def searched_columns(reader: Reader) -> str:
    """Return SQL for the searched columns of a row: content, tool name and tool calls."""
    return ", ".join(reader.schema.message(column) for column in ("content", "tool_name", "tool_calls"))


def _columns(reader: Reader, *, with_texts: bool, in_reasoning: bool) -> str:
    """Return SQL for the columns of a `StoredRow`, of `messages m`."""
    schema = reader.schema
    columns = [schema.message(each) for each in ("session_id", "role", "timestamp", "display_kind", "display_metadata")]
    columns += [schema.active(), schema.compacted()]
    if with_texts:
        columns.append(searched_columns(reader))
        one, other = (schema.message(each, default="''") for each in ("reasoning", "reasoning_content"))
        columns.append(f"COALESCE({one}, '') <> '' OR COALESCE({other}, '') <> ''")
        if in_reasoning:
            columns.append(f"COALESCE(NULLIF({one}, ''), {other})")
    return ", ".join(["m.id", *columns])


def read_rows(
    reader: Reader,
    ids: Sequence[int],
    cache: SearchCache | None,
    *,
    with_texts: bool = True,
    in_reasoning: bool = False,
) -> dict[int, StoredRow]:
    """Read rows by id; those that are cached are not read again, and have their texts in any case.

    Rows with texts are added to the cache, but not those with reasoning.
    """
    rows: dict[int, StoredRow] = {}
    if cache is not None and not in_reasoning:
        rows = {key: row for key in ids if (row := cache.get(key)) is not None}
    columns = _columns(reader, with_texts=with_texts, in_reasoning=in_reasoning)
    sql = f"SELECT {columns} FROM messages m WHERE m.id IN ({{keys}})"
    for row in map(StoredRow, reader.rows_in(sql, [key for key in ids if key not in rows])):
        rows[row.id] = row
        if cache is not None and with_texts and not in_reasoning:
            cache.add(row)
    return rows
