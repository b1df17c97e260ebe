"""How many bytes a session holds, by kind; read in slices, so that no statement holds its lock for long.

Counted exactly: the bytes of texts, tool calls, reasoning and images in `messages`, and of a prompt kept in its own
`sessions` row. The search index is an estimate from these: FTS5 does not say which of its bytes belong to which row.
What rows and indexes cost beyond their content (about a sixth, measured) is left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import NamedTuple

from ..connect import Reader, Row
from ..errors import QueryInterruptedError
from ..models import Session
from ..schema import FtsKind, Schema
from ..text import as_text

COUNTED = (
    "Bytes are those of texts, tool calls, images, reasoning and system prompts, plus an estimate of what the search "
    "index keeps of them."
)

REASONING = ("reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items", "codex_message_items")
"""Columns of `messages` with what a model thought, in the forms its makers send it (0.19)."""

# Of stores of 10,000 and 100,000 messages that the real 0.19 wrote, by dbstat: bytes in a table per byte indexed.
_COPY, _WORDS, _TRIGRAMS = 1.1, 0.4, 2.4
_CUT = 8192
"""Characters of tool output that a fresh index of 0.22 takes."""
_SLICE = 1000
_CHUNK = 400
_MANY = 2000
_UNINDEXED_SOURCES = ("cron", "subagent")

Stopped = Callable[[], bool]


def never() -> bool:
    """A `stopped` for work nobody cancels."""
    return False


def check(stopped: Stopped) -> None:
    """End the work when it was cancelled.

    Raises:
        QueryInterruptedError: It was.
    """
    if stopped():
        raise QueryInterruptedError("Measuring was interrupted.")


class Sizes(NamedTuple):
    """Bytes by kind, and how many rows of `messages` they are in."""

    rows: int = 0
    """Rows of `messages`, shown or not."""
    text: int = 0
    """What was said, with the forms that were sent to the model."""
    tool_output: int = 0
    tool_calls: int = 0
    images: int = 0
    """Messages with embedded images: the rows hold them as text."""
    reasoning: int = 0
    prompts: int = 0
    """System prompts in the session's own row; since 0.20 they are shared and belong to nobody."""
    search: int = 0
    """Estimated share of the search indexes."""

    @property
    def content(self) -> int:
        """All that is counted exactly."""
        return self.text + self.tool_output + self.tool_calls + self.images + self.reasoning + self.prompts

    @property
    def total(self) -> int:
        """Content and search index."""
        return self.content + self.search


def added(sizes: Iterable[Sizes]) -> Sizes:
    """The sum of many."""
    sums = [0] * len(Sizes._fields)
    for each in sizes:
        for index, value in enumerate(each):
            sums[index] += value
    return Sizes(*sums)


def bytes_sql(expression: str) -> str:
    """SQL for the bytes of a value; 0 for NULL. SQLite 3.43 can tell without reading the value."""
    if expression == "NULL":
        return "0"
    if sqlite3.sqlite_version_info >= (3, 43, 0):
        return f"COALESCE(octet_length({expression}), 0)"
    return f"COALESCE(length(CAST({expression} AS BLOB)), 0)"


class MessageRow(NamedTuple):
    """The bytes of one row of `messages`."""

    id: int
    session_id: str
    role: str
    content: int
    kind: int
    """0 text, 1 multimodal, 2 multimodal with embedded data."""
    calls: int
    reasoning: int
    sent: int
    """`api_content`."""
    tool_name: str | None
    timestamp: object

    @property
    def total(self) -> int:
        """All bytes of the row that are counted."""
        return self.content + self.calls + self.reasoning + self.sent


def _columns(schema: Schema) -> str:
    content = schema.message("content")
    # SQLite's text functions end at a NUL: a text that begins with one has no first letter (Hermes' multimodal mark).
    kind = (
        f"CASE WHEN typeof({content}) = 'text' AND {content} <> '' AND substr({content}, 1, 1) = '' "
        f"THEN 1 + (instr(CAST({content} AS BLOB), CAST(';base64,' AS BLOB)) > 0) ELSE 0 END"
    )
    reasoning = " + ".join(bytes_sql(schema.message(name)) for name in REASONING)
    return (
        f"m.id, m.session_id, {schema.message('role')}, {bytes_sql(content)}, {kind if content != 'NULL' else '0'}, "
        f"{bytes_sql(schema.message('tool_calls'))}, {reasoning}, {bytes_sql(schema.message('api_content'))}, "
        f"{schema.message('tool_name')}, {schema.message('timestamp')}"
    )


def _decode(rows: Iterable[Row]) -> list[MessageRow]:
    return [
        MessageRow(
            int(str(row[0])),
            as_text(row[1]) or "",
            as_text(row[2]) or "",
            int(str(row[3])),
            int(str(row[4])),
            int(str(row[5])),
            int(str(row[6])),
            int(str(row[7])),
            as_text(row[8]),
            row[9],
        )
        for row in rows
    ]


def scan_messages(reader: Reader, stopped: Stopped = never) -> Iterator[list[MessageRow]]:
    """The bytes of every message of the store, a slice by id at a time.

    Args:
        reader: An open reader.
        stopped: Looked at between slices.

    Raises:
        QueryInterruptedError: Cancelled.
    """
    statement = f"SELECT {_columns(reader.schema)} FROM messages m WHERE m.id > ? ORDER BY m.id LIMIT {_SLICE}"
    last = -(2**63)
    while True:
        check(stopped)
        rows = _decode(reader.rows(statement, [last]))
        yield rows
        if len(rows) < _SLICE:
            return
        last = rows[-1].id


def _scan_sessions(reader: Reader, ids: Sequence[str], stopped: Stopped) -> Iterator[list[MessageRow]]:
    """The same for some sessions: their ids from an index first, then the rows in chunks of ids."""
    statement = f"SELECT {_columns(reader.schema)} FROM messages m WHERE m.id IN ({{keys}})"
    waiting: list[object] = []
    for session_id in ids:
        check(stopped)
        waiting += [row[0] for row in reader.rows("SELECT id FROM messages WHERE session_id = ?", [session_id])]
        while len(waiting) >= _CHUNK:
            check(stopped)
            yield _decode(reader.rows_in(statement, waiting[:_CHUNK]))
            del waiting[:_CHUNK]
    if waiting:
        yield _decode(reader.rows_in(statement, waiting))


class _Sum:
    """What is added up for one session."""

    __slots__ = ("calls", "cut", "images", "names", "output", "reasoning", "rows", "text")

    def __init__(self) -> None:
        self.rows = self.text = self.output = self.cut = self.calls = self.images = self.reasoning = self.names = 0

    def add(self, row: MessageRow) -> None:
        """Take a row into account."""
        self.rows += 1
        self.text += row.sent
        if row.kind == 2:
            self.images += row.content
        elif row.role == "tool":
            self.output += row.content
            self.cut += min(row.content, _CUT)
        else:
            self.text += row.content
        self.calls += row.calls
        self.reasoning += row.reasoning
        self.names += len(row.tool_name or "")


def _index_bytes(schema: Schema, source: str, found: _Sum) -> int:
    """Estimated bytes of one session in the search indexes of this file."""
    total = 0.0
    if (words := schema.fts) is not None:
        own = words.kind is FtsKind.INLINE
        calls = found.calls if own or "tool_calls" in words.columns else 0
        output = found.cut if not own and str(_CUT) in words.definition else found.output
        total += (found.text + found.images + found.names + calls + output) * (_WORDS + _COPY * own)
    if (trigram := schema.trigram) is not None:
        own = trigram.kind is FtsKind.INLINE
        if own or not (source in _UNINDEXED_SOURCES and f"'{source}'" in trigram.definition):
            calls = found.calls if own or "tool_calls" in trigram.columns else 0
            output = 0 if not own and "'tool'" in trigram.definition else found.output
            total += (found.text + found.images + found.names + calls + output) * (_TRIGRAMS + _COPY * own)
    return round(total)


def _prompt_bytes(reader: Reader, ids: Sequence[str], stopped: Stopped) -> dict[str, int]:
    prompt = reader.schema.session("system_prompt")
    if prompt == "NULL":
        return {}
    found: dict[str, int] = {}
    for start in range(0, len(ids), _CHUNK):
        check(stopped)
        chunk = ids[start : start + _CHUNK]
        statement = f"SELECT s.id, {bytes_sql(prompt)} FROM sessions s WHERE s.id IN ({{keys}})"
        found.update((as_text(key) or "", int(str(size))) for key, size in reader.rows_in(statement, chunk))
    return found


def measure(
    reader: Reader,
    sessions: Iterable[Session],
    *,
    known: MutableMapping[str, Sizes] | None = None,
    stopped: Stopped = never,
) -> Mapping[str, Sizes]:
    """The bytes of sessions, by id; memory grows with the sessions, never with the messages.

    Args:
        reader: An open reader.
        sessions: Any number of them.
        known: What was measured before; these are not measured again, and what is measured is put there.
        stopped: Looked at between slices.

    Raises:
        QueryInterruptedError: Cancelled; `known` is as it was.
    """
    found = known if known is not None else {}
    wanted = {session.id: session for session in sessions if session.id not in found}
    if not wanted:
        return found
    total = int(str(reader.value("SELECT count(*) FROM sessions") or 0))
    whole = len(wanted) > _MANY or len(wanted) * 3 > total
    sums = {key: _Sum() for key in wanted}
    for rows in scan_messages(reader, stopped) if whole else _scan_sessions(reader, list(wanted), stopped):
        for row in rows:
            if (into := sums.get(row.session_id)) is not None:
                into.add(row)
    prompts = _prompt_bytes(reader, list(wanted), stopped)
    for key, each in sums.items():
        found[key] = Sizes(
            rows=each.rows,
            text=each.text,
            tool_output=each.output,
            tool_calls=each.calls,
            images=each.images,
            reasoning=each.reasoning,
            prompts=prompts.get(key, 0),
            search=_index_bytes(reader.schema, wanted[key].source, each),
        )
    return found
