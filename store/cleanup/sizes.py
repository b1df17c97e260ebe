"""How many bytes a session holds, by kind; read in slices, so that no statement holds its lock for long.

The bytes of texts, tool calls, reasoning and images in `messages`, and of a prompt in the session's own row, are exact.
Those of the search index are an estimate: FTS5 does not say which of its bytes belong to which row. What rows and
indexes cost beyond their content (about a sixth, measured) is left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import NamedTuple

from ..connection.connect import Reader
from ..connection.schema import FtsKind, Schema
from ..errors import QueryInterruptedError
from ..messages.transcript import count_rows
from ..sessions.session import Session
from ..text import as_text
from ..wording import N_, _

COUNTED = N_(
    "Bytes are those of texts, tool calls, images, reasoning and system prompts, plus an estimate of what the search "
    "index keeps of them."
)

REASONING = ("reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items", "codex_message_items")
"""Columns of `messages` with what a model thought, one for each form in which providers send it (0.19)."""

# Bytes in a table per byte indexed, by dbstat, in stores of 10,000 and 100,000 messages that the real 0.19 wrote.
_COPY, _WORDS, _TRIGRAMS = 1.1, 0.4, 2.4
_CUT = 8192
"""Characters of a tool output that a fresh index of 0.22 holds."""
_SLICE = 4000
"""Messages a statement looks at: some ten milliseconds."""
_CHUNK = 400
_BATCH = 200
"""Sessions of a statement that reads their messages."""
_UNINDEXED_SOURCES = ("cron", "subagent")

Stopped = Callable[[], bool]


def never() -> bool:
    """A `stopped` for work nobody cancels."""
    return False


def check(stopped: Stopped) -> None:
    """End the work if it was cancelled.

    Raises:
        QueryInterruptedError: `stopped` said so.
    """
    if stopped():
        raise QueryInterruptedError(_("Measuring was interrupted."))


class Sizes(NamedTuple):
    """Bytes by kind, and how many rows of `messages` they are in."""

    rows: int = 0
    """Rows of `messages`, shown or not."""
    shown: int = 0
    """Those that are shown by default: what every screen calls the messages of a conversation (`count_rows`)."""
    text: int = 0
    """What was said, with the forms that were sent to the model."""
    tool_output: int = 0
    tool_calls: int = 0
    images: int = 0
    """Messages with embedded images: the rows hold them as text."""
    reasoning: int = 0
    prompts: int = 0
    """System prompts in the session's own row; since 0.20 prompts are shared and count for no session."""
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
    return f"COALESCE(length(CAST({expression} AS BLOB)), 0)"  # not shown


def _embedded(content: str) -> str:
    """SQL condition: a content is multimodal with data in it. The NUL it begins with saves looking into the others."""
    return (
        f"{content} < char(1) AND typeof({content}) = 'text' AND {content} <> '' "
        f"AND instr(CAST({content} AS BLOB), CAST(';base64,' AS BLOB)) > 0"
    )


def _sums(schema: Schema) -> str:
    """SQL for the sums over rows of `messages`, in the order of `_Sum`.

    SQLite adds up, since handing a row to Python costs more than counting its bytes. Conditions come before the values
    they can save, since each use of a column reads its value again.
    """
    content = schema.message("content")
    size, embedded = bytes_sql(content), _embedded(content)
    output = (
        f"CASE WHEN CAST({schema.message('role')} AS TEXT) = 'tool' THEN CASE WHEN {embedded} THEN 0 ELSE "  # not shown
    )
    thoughts = [name for name in map(schema.message, REASONING) if name != "NULL"]
    reasoning = " + ".join(map(bytes_sql, thoughts))
    if len(thoughts) > 1:
        reasoning = f"CASE WHEN COALESCE({', '.join(thoughts)}) IS NULL THEN 0 ELSE {reasoning} END"  # not shown
    each = (
        size,
        f"CASE WHEN {embedded} THEN {size} ELSE 0 END",  # not shown
        f"{output} {size} END ELSE 0 END",  # not shown
        f"{output} min({size}, {_CUT}) END ELSE 0 END" if _cuts(schema) else "0",  # not shown
        bytes_sql(schema.message("tool_calls")),
        reasoning or "0",
        bytes_sql(schema.message("api_content")),
        bytes_sql(schema.message("tool_name")),
    )
    return f"count(*), {', '.join(f'sum({one})' for one in each)}"


class _Sum(NamedTuple):
    """What is added up over rows of one session."""

    rows: int = 0
    content: int = 0
    images: int = 0
    output: int = 0
    """Content of tools, without images."""
    cut: int = 0
    """The part of `output` that a fresh index of 0.22 holds."""
    calls: int = 0
    reasoning: int = 0
    sent: int = 0
    """`api_content`."""
    names: int = 0

    @property
    def text(self) -> int:
        """What was said, and the forms that were sent."""
        return self.content - self.images - self.output + self.sent


def _cuts(schema: Schema) -> bool:
    """Tell whether the word index holds only the beginning of long tool output."""
    return schema.fts is not None and schema.fts.kind is not FtsKind.INLINE and str(_CUT) in schema.fts.definition


def _index_bytes(schema: Schema, source: str, found: _Sum) -> int:
    """Estimated bytes of one session in the search indexes of this file."""
    total = 0.0
    if (words := schema.fts) is not None:
        own = words.kind is FtsKind.INLINE
        calls = found.calls if own or "tool_calls" in words.columns else 0
        output = found.cut if _cuts(schema) else found.output
        total += (found.text + found.images + found.names + calls + output) * (_WORDS + _COPY * own)
    if (trigram := schema.trigram) is not None:
        own = trigram.kind is FtsKind.INLINE
        if own or not (source in _UNINDEXED_SOURCES and f"'{source}'" in trigram.definition):
            calls = found.calls if own or "tool_calls" in trigram.columns else 0
            output = 0 if not own and "'tool'" in trigram.definition else found.output
            total += (found.text + found.images + found.names + calls + output) * (_TRIGRAMS + _COPY * own)
    return round(total)


def count_messages(reader: Reader, session_ids: Sequence[str], stopped: Stopped = never) -> dict[str, int]:
    """Count the rows of `messages` by session, shown or not, from an index.

    Args:
        reader: An open reader.
        session_ids: Any number of ids; the answer leaves out sessions without rows.
        stopped: Looked at between chunks.

    Raises:
        QueryInterruptedError: Cancelled.
    """
    statement = "SELECT session_id, count(*) FROM messages WHERE session_id IN ({keys}) GROUP BY 1"
    found: dict[str, int] = {}
    for start in range(0, len(session_ids), _CHUNK):
        check(stopped)
        rows = reader.rows_in(statement, session_ids[start : start + _CHUNK])
        found.update((as_text(key) or "", int(str(count))) for key, count in rows)
    return found


def _prompt_bytes(reader: Reader, ids: Sequence[str]) -> dict[str, int]:
    prompt = reader.schema.session("system_prompt")
    if prompt == "NULL":
        return {}
    statement = f"SELECT s.id, {bytes_sql(prompt)} FROM sessions s WHERE s.id IN ({{keys}})"
    return {as_text(key) or "": int(str(size)) for key, size in reader.rows_in(statement, ids)}


def batches(ids: Sequence[str], counts: Mapping[str, int], most: int) -> Iterator[list[str]]:
    """Split sessions into batches of few messages for one statement each, a session at least.

    Args:
        ids: Of sessions.
        counts: How many messages each of them has, by id.
        most: Messages of a batch.
    """
    group: list[str] = []
    rows = 0
    for each in ids:
        more = counts.get(each, 0)
        if group and (rows + more > most or len(group) >= _BATCH):
            yield group
            group, rows = [], 0
        group.append(each)
        rows += more
    if group:
        yield group


def _add_up(reader: Reader, ids: Sequence[str], rows: int, stopped: Stopped) -> dict[str, _Sum]:
    """Add up the rows of sessions in one statement, or of one long session in several."""
    sums = _sums(reader.schema)
    if rows <= _SLICE:
        statement = f"SELECT m.session_id, {sums} FROM messages m WHERE m.session_id IN ({{keys}}) GROUP BY 1"
        found = reader.rows_in(statement, ids)
        return {as_text(row[0]) or "": _Sum(*(int(str(value)) for value in row[1:])) for row in found}
    (session_id,) = ids
    places = [row[0] for row in reader.rows("SELECT id FROM messages WHERE session_id = ? ORDER BY id", ids)]
    # The plus makes SQLite use the index by session: the rest of the store may lie between two ids.
    statement = f"SELECT {sums} FROM messages m WHERE m.session_id = ? AND +m.id BETWEEN ? AND ?"
    total = _Sum()
    for start in range(0, len(places), _SLICE):
        check(stopped)
        part = places[start : start + _SLICE]
        (row,) = reader.rows(statement, [session_id, part[0], part[-1]])
        total = _Sum(*(have + int(str(more or 0)) for have, more in zip(total, row, strict=True)))
    return {session_id: total}


def _measured(reader: Reader, sessions: Sequence[Session], stopped: Stopped) -> Iterator[dict[str, Sizes]]:
    """Measure sessions, some at a time."""
    for start in range(0, len(sessions), _CHUNK):
        check(stopped)
        chunk = {session.id: session for session in sessions[start : start + _CHUNK]}
        counts = count_messages(reader, list(chunk))
        prompts = _prompt_bytes(reader, list(chunk))
        for ids in batches(list(chunk), counts, _SLICE):
            check(stopped)
            sums = _add_up(reader, ids, sum(counts.get(each, 0) for each in ids), stopped)
            shown = count_rows(reader, ids)
            found: dict[str, Sizes] = {}
            for key in ids:
                each = sums.get(key, _Sum())
                found[key] = Sizes(
                    rows=each.rows,
                    shown=shown.get(key, 0),
                    text=each.text,
                    tool_output=each.output,
                    tool_calls=each.calls,
                    images=each.images,
                    reasoning=each.reasoning,
                    prompts=prompts.get(key, 0),
                    search=_index_bytes(reader.schema, chunk[key].source, each),
                )
            yield found


def measure(
    reader: Reader,
    sessions: Iterable[Session],
    *,
    known: MutableMapping[str, Sizes] | None = None,
    most: int | None = None,
    stopped: Stopped = never,
) -> Mapping[str, Sizes]:
    """Measure the bytes of sessions, by id; memory grows with the sessions, never with the messages.

    Args:
        reader: An open reader.
        sessions: Any number of them.
        known: Sizes by session id, which are not measured again; each session that is measured is added at once.
        most: Stop after so many messages, and at least one session; another call goes on.
        stopped: Looked at between slices.

    Raises:
        QueryInterruptedError: `stopped` said so; `known` has what was measured until then.
    """
    found = known if known is not None else {}
    wanted = {session.id: session for session in sessions if session.id not in found}
    rows = 0
    for some in _measured(reader, list(wanted.values()), stopped):
        found.update(some)
        rows += sum(each.rows for each in some.values())
        if most is not None and rows >= most:
            break
    return found
