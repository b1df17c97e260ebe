"""Rows as a search reads them, kept for the next one.

What is dear about a row is its text: to read it from pages of its own, to fold it, to take apart the JSON of a
message with pictures. Each is done once as long as the store stays as it is: the next letter asks for most of the
same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from sys import getsizeof

from ..connection.connect import Reader, Row
from ..connection.schema import FtsIndex
from ..connection.values import as_time
from ..messages.decode import (
    SENTINEL,
    decode_content,
    decode_tool_calls,
    is_hidden,
    state_of,
)
from ..messages.models import State
from ..text import as_text
from .coverage import Holes, find_holes
from .fold import fold, has_marks
from .terms import Plan
from .times import TimeOrder, read_edges, time_order

MOST_BYTES = 8_000_000
"""Memory that the texts of kept rows take at most, the folded ones with them."""
_ROW_BYTES = 1000
"""What a row takes beside its texts."""


def stored_text(value: object) -> str:
    """A stored value as the text that is searched."""
    return value if type(value) is str else as_text(value) or ""


_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
IS_JSON = re.compile(r'\{\s*"|\[\s*["\[{]|"')


def _unescape(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])


def unescaped(json_text: str) -> str:
    """What strings in a JSON text say, with the signs of JSON around them; one that is cut short is read as well.

    Args:
        json_text: `{"output": "one\\ntwo"}` and the like.
    """
    text = _ESCAPE.sub(_unescape, json_text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs become letters


class RowText:
    """What is searched of a row, and what is made of it on the way."""

    def __init__(self, content: object, tool_name: object, tool_calls: object) -> None:
        self.stored = stored_text(content)
        """The content as stored, multimodal JSON included."""
        self.tool_name = stored_text(tool_name)
        self.tool_calls = stored_text(tool_calls)

    @cached_property
    def content(self) -> str:
        """The content as stored, without the mark of a multimodal one, which nobody wrote."""
        return self.stored.removeprefix(SENTINEL)

    def is_accepted(self, plan: Plan) -> bool:
        """Whether the row contains what a plan looks for, and nothing that it leaves out."""
        # Most rows have the words as they are stored, and their JSON need not be read.
        if not plan.excluded and plan.accepts_folded(self.folded, self.is_marked):
            return True
        return bool(self.unescaped or plan.excluded) and plan.accepts_folded(self.folded_all)

    @property
    def _is_multimodal(self) -> bool:
        return self.stored.startswith(SENTINEL)

    @cached_property
    def spoken(self) -> str:
        """What was said: the content, or what the parts of a multimodal one say."""
        return decode_content(self.stored)[0].removeprefix(SENTINEL) if self._is_multimodal else self.stored

    @cached_property
    def folded(self) -> str:
        """The three as Hermes indexes them (0.13 and later), and what a multimodal content says; folded."""
        texts = [self.content, self.tool_name, self.tool_calls]
        if self._is_multimodal:
            texts.append(self.spoken)
        return fold(" ".join(texts))

    @cached_property
    def unescaped(self) -> tuple[str, ...]:
        """What the JSON of a tool's result and of its calls says, where it is spelled otherwise than it is shown."""
        texts: list[str] = []
        if "\\" in self.stored and not self._is_multimodal and IS_JSON.match(self.stored):
            texts.append(unescaped(self.stored))
        if "\\" in self.tool_calls:  # JSON with the arguments of each call in it, which are JSON themselves
            calls = decode_tool_calls(self.tool_calls)
            texts += [unescaped(each.arguments) for each in calls] or [unescaped(unescaped(self.tool_calls))]
        return tuple(texts)

    @cached_property
    def folded_all(self) -> str:
        """All that is searched: `folded`, and what the JSON in it says."""
        return " ".join([self.folded, *map(fold, self.unescaped)])

    @cached_property
    def is_marked(self) -> bool:
        """Whether there are combining marks in the folded text."""
        return has_marks(self.folded)

    def parts(self) -> Iterable[tuple[str, str]]:
        """What may be shown of it, each with its folded text: said, stored, name of the tool, call of the tool, and
        last what stands in JSON."""
        name_at = len(self.content) + 1
        calls_at = name_at + len(self.tool_name) + 1
        if self._is_multimodal:
            yield self.spoken, self.folded[calls_at + len(self.tool_calls) + 1 :]
        yield self.content, self.folded[: len(self.content)]
        yield self.tool_name, self.folded[name_at : calls_at - 1]
        yield self.tool_calls, self.folded[calls_at : calls_at + len(self.tool_calls)]
        yield from ((text, fold(text)) for text in self.unescaped)


class StoredRow:
    """A row of `messages` as a search sees it."""

    __slots__ = ("has_reasoning", "id", "is_hidden", "moment", "role", "said", "session_id", "size", "state", "thought")

    def __init__(self, row: Row) -> None:
        message_id, session, role, stamp, kind, metadata, active, compacted, *rest = row
        self.id = int(str(message_id))
        self.session_id = as_text(session) or ""
        self.role = as_text(role) or "unknown"
        self.moment: float | None = as_time(stamp)
        self.state: State = state_of(active, compacted)
        self.is_hidden = is_hidden(self.role, as_text(kind), metadata)
        self.said: RowText | None = None
        """None where it was read without its texts."""
        self.has_reasoning = False
        self.size = _ROW_BYTES
        """Bytes it takes, its texts counted twice: as stored and folded."""
        self.thought: RowText | None = None
        """What is searched instead where reasoning is."""
        if len(rest) >= 4:
            self.said = RowText(*rest[:3])
            self.has_reasoning = bool(rest[3])
            self.thought = RowText(rest[4], "", "") if len(rest) > 4 else None
            self.size += 2 * (getsizeof(self.said.stored) + getsizeof(self.said.tool_calls))


class KeptRows:
    """The rows read last on a connection, with their texts, at most `MOST_BYTES` of them, and what ids there are.

    Nothing of it outlives a change of the store: each search says `begin`.
    """

    def __init__(self) -> None:
        self._version: object = None
        self._rows: dict[int, StoredRow] = {}
        self._edges: tuple[int, int] | None = None
        self._holes: dict[str, Holes] = {}
        self._order: TimeOrder | None = None
        self.size = 0
        """Bytes they take."""

    def __len__(self) -> int:
        return len(self._rows)

    def begin(self, reader: Reader) -> None:
        """Drop all of them if anybody has written to the store since the last search."""
        version = reader.value("PRAGMA data_version")
        if version != self._version:
            self._version = version
            self._rows.clear()
            self._holes.clear()
            self._order = None
            self._edges = None
            self.size = 0

    def edges(self, reader: Reader) -> tuple[int, int]:
        """The smallest and the largest id of a message; 0 where there is none."""
        if self._edges is None:
            self._edges = read_edges(reader)
        return self._edges

    def holes(self, reader: Reader, index: FtsIndex) -> Holes:
        """What an index does not hold."""
        if index.name not in self._holes:
            self._holes[index.name] = find_holes(reader, index, self.edges(reader)[1])
        return self._holes[index.name]

    def order(self, reader: Reader, *, anew: bool = False) -> TimeOrder:
        """How rows stand in time; `anew` where what is known of it has proved to be wrong."""
        if self._order is None or anew:
            self._order = time_order(reader, self.edges(reader), anew=anew)
        return self._order

    def get(self, message_id: int) -> StoredRow | None:
        """A row, if it is kept; it is then the last to be let go."""
        row = self._rows.pop(message_id, None)
        if row is not None:
            self._rows[message_id] = row
        return row

    def add(self, row: StoredRow) -> None:
        """Keep a row, and let go of those that have not been asked for longest."""
        before = self._rows.pop(row.id, None)
        self._rows[row.id] = row
        self.size += row.size - (before.size if before is not None else 0)
        while self.size > MOST_BYTES:
            oldest = next(iter(self._rows))
            self.size -= self._rows.pop(oldest).size


def searched_columns(reader: Reader) -> str:
    """SQL for what is searched in a row: content, tool name and tool calls."""
    schema = reader.schema
    return ", ".join(schema.message(column) for column in ("content", "tool_name", "tool_calls"))


def row_columns(reader: Reader, *, with_texts: bool, in_reasoning: bool = False) -> str:
    """SQL for the columns of a `StoredRow`, of `messages m`.

    Args:
        reader: An open reader.
        with_texts: What was said as well.
        in_reasoning: What was thought too.
    """
    schema = reader.schema
    columns = [schema.message(each) for each in ("session_id", "role", "timestamp", "display_kind", "display_metadata")]
    columns += [schema.active(), schema.compacted()]
    if with_texts:
        columns += [schema.message(each) for each in ("content", "tool_name", "tool_calls")]
        thought = [schema.message(each, default="''") for each in ("reasoning", "reasoning_content")]
        columns.append(f"COALESCE({thought[0]}, '') <> '' OR COALESCE({thought[1]}, '') <> ''")  # not shown
        if in_reasoning:
            columns.append(f"COALESCE(NULLIF({thought[0]}, ''), {thought[1]})")
    return ", ".join(["m.id", *columns])


def read_rows(
    reader: Reader, ids: Sequence[int], kept: KeptRows | None, *, with_texts: bool = True, in_reasoning: bool = False
) -> dict[int, StoredRow]:
    """Rows by id; those that are kept are not read again.

    Args:
        reader: An open reader.
        ids: Which.
        kept: Where to look, and what rows with texts are added to; None reads all and keeps none.
        with_texts: Read what was said as well; kept rows have it anyway.
        in_reasoning: What was thought too.
    """
    found: dict[int, StoredRow] = {}
    if kept is not None and not in_reasoning:
        found = {key: row for key in ids if (row := kept.get(key)) is not None}
    columns = row_columns(reader, with_texts=with_texts, in_reasoning=in_reasoning)
    sql = f"SELECT {columns} FROM messages m WHERE m.id IN ({{keys}})"
    for row in map(StoredRow, reader.rows_in(sql, [key for key in ids if key not in found])):
        found[row.id] = row
        if kept is not None and with_texts and not in_reasoning:
            kept.add(row)
    return found
