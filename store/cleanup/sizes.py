"""Measure the bytes of sessions by kind, in slices, so that no statement holds its lock for long.

The bytes of texts, tool calls, reasoning and images in `messages`, and of a prompt in the session's
own row, are exact. Those of the search index are an estimate: FTS5 does not tell which of its bytes
belong to which row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import NamedTuple, TypeVar

from ..connection.reader import Reader, chunks
from ..connection.schema import FtsKind, Schema
from ..connection.stored_values import as_int, bytes_sql, embedded_sql
from ..messages.transcript import count_rows, count_stored_rows
from ..sessions.session import Session
from ..wording import N_

COUNTED = N_(
    "Bytes count texts, tool calls, images, reasoning and system prompts, plus an estimate of their share of the "
    "search index."
)

REASONING = (
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
)
"""Columns of `messages` with a model's reasoning, one for each form in which providers send it
(0.19)."""

# Bytes in a table per byte indexed, by dbstat, in stores of 10,000 and 100,000 messages that 0.19
# wrote.
_COPY, _WORD_TERMS, _TRIGRAM_TERMS = 1.1, 0.4, 2.4
# Bytes in pages per byte of content; of a row besides, and of its entry in one index of `messages`.
# Measured in stores of 1 MB, 115 MB and 1.2 GB, as are the shares below.
_IN_PAGES, _ROW, _INDEX_ENTRY = 1.15, 100, 45
# FTS5 does not remove the terms of a deleted row: it writes a mark for each, of this share of their
# bytes. Marks of few rows stay as they are, those of many are merged with each other.
_MARKS, _MERGED_MARKS, _MERGED_FROM = 0.75, 0.29, 500_000
_INDEXES = "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'messages'"
_CUT = 8192
"""Characters of a tool output in a new index of 0.22."""
_SLICE = 4000
"""Messages per statement: some 10 ms."""
_CHUNK = 400
_BATCH = 200
"""Sessions per statement that reads their messages."""
_UNINDEXED_SOURCES = ("cron", "subagent")

T = TypeVar("T")


class Sizes(NamedTuple):
    """Bytes by kind."""

    rows: int = 0
    """Number of rows of `messages`, shown or not."""
    shown: int = 0
    """Rows shown by default: what every screen calls the messages of a conversation
    (`count_rows`)."""
    text: int = 0
    """Texts, and the forms of them sent to the model."""
    tool_output: int = 0
    tool_calls: int = 0
    images: int = 0
    """Messages with images embedded as text."""
    reasoning: int = 0
    prompts: int = 0
    """System prompts in the session's own row; since 0.20 prompts are shared and count for no
    session."""
    copies: int = 0
    """Estimated: copies of texts that the search indexes keep."""
    terms: int = 0
    """Estimated: words and trigrams in the search indexes."""
    overhead: int = 0
    """Estimated: ids, times and the like, and entries in other indexes."""

    @property
    def search(self) -> int:
        """Estimated share of the search indexes."""
        return self.copies + self.terms

    @property
    def content(self) -> int:
        """Sum of the exact numbers."""
        return sum(self[2:8])

    @property
    def total(self) -> int:
        """Content and search index."""
        return self.content + self.search

    @property
    def free_bytes(self) -> int:
        """Estimated: what deleting them makes free for new rows at once."""
        share = _MARKS if self.terms < _MERGED_FROM else _MERGED_MARKS
        return max(0, self._in_tables + self.copies - round(self.terms * share))

    @property
    def given_back_bytes(self) -> int:
        """Estimated: by how much the file shrinks after deleting them, optimizing the search
        indexes and a VACUUM."""
        return self._in_tables + self.search

    @property
    def _in_tables(self) -> int:
        return round(self.content * _IN_PAGES) + self.overhead


def added(sizes: Iterable[Sizes]) -> Sizes:
    """Add up sizes."""
    return Sizes(*map(sum, zip(*sizes, strict=True)))


def _sums(schema: Schema) -> str:
    """Return SQL for the sums over rows of `messages`, in the order of `_Sum`.

    SQLite adds up, since passing a row to Python takes longer than counting its bytes. Conditions
    come before the values they can skip, since each use of a column reads its value again.
    """
    content = schema.message("content")
    size, embedded = bytes_sql(content), embedded_sql(content)
    output = f"CASE WHEN CAST({schema.message('role')} AS TEXT) = 'tool' THEN CASE WHEN {embedded} THEN 0 ELSE "
    columns = [name for name in map(schema.message, REASONING) if name != "NULL"]
    reasoning = " + ".join(map(bytes_sql, columns))
    if len(columns) > 1:
        reasoning = f"CASE WHEN COALESCE({', '.join(columns)}) IS NULL THEN 0 ELSE {reasoning} END"
    values = (
        size,
        f"CASE WHEN {embedded} THEN {size} ELSE 0 END",
        f"{output} {size} END ELSE 0 END",
        f"{output} min({size}, {_CUT}) END ELSE 0 END" if _cuts(schema) else "0",
        bytes_sql(schema.message("tool_calls")),
        reasoning or "0",
        bytes_sql(schema.message("api_content")),
        bytes_sql(schema.message("tool_name")),
    )
    return f"count(*), {', '.join(f'sum({value})' for value in values)}"


class _Sum(NamedTuple):
    """Sums over the rows of one session, in bytes."""

    rows: int = 0
    content: int = 0
    images: int = 0
    output: int = 0
    """Content of tools, without images."""
    cut: int = 0
    """The part of `output` that a new index of 0.22 holds."""
    calls: int = 0
    reasoning: int = 0
    sent: int = 0
    """`api_content`."""
    names: int = 0

    @property
    def text(self) -> int:
        """Texts, and the forms of them sent to the model."""
        return self.content - self.images - self.output + self.sent


def _cuts(schema: Schema) -> bool:
    """Tell whether the word index holds only the beginning of long tool output."""
    return (
        schema.fts is not None
        and schema.fts.kind is not FtsKind.INLINE
        and str(_CUT) in schema.fts.definition
    )


def _index_bytes(schema: Schema, source: str, sums: _Sum) -> tuple[int, int]:
    """Estimate the bytes of one session in the search indexes: copies of its texts, and terms."""
    copies = terms = 0.0
    always = sums.text + sums.images + sums.names
    if (words := schema.fts) is not None:
        inline = words.kind is FtsKind.INLINE
        calls = sums.calls if inline or "tool_calls" in words.columns else 0
        indexed = always + calls + (sums.cut if _cuts(schema) else sums.output)
        copies += indexed * _COPY * inline
        terms += indexed * _WORD_TERMS
    if (trigram := schema.trigram) is not None:
        inline = trigram.kind is FtsKind.INLINE
        if inline or not (source in _UNINDEXED_SOURCES and f"'{source}'" in trigram.definition):
            calls = sums.calls if inline or "tool_calls" in trigram.columns else 0
            output = 0 if not inline and "'tool'" in trigram.definition else sums.output
            indexed = always + calls + output
            copies += indexed * _COPY * inline
            terms += indexed * _TRIGRAM_TERMS
    return round(copies), round(terms)


def content_bytes(reader: Reader, session_ids: Sequence[str]) -> dict[str, int]:
    """Return the bytes of message content of these sessions, by id."""
    if "content" not in reader.schema.message_columns:
        return {}
    rows = reader.rows_in(
        f"SELECT m.session_id, sum({bytes_sql('m.content')}) FROM messages m "
        "WHERE m.session_id IN ({keys}) GROUP BY 1",
        list(session_ids),
    )
    return {str(key): as_int(size) for key, size in rows}


def _prompt_bytes(reader: Reader, ids: Sequence[str]) -> dict[str, int]:
    prompt = reader.schema.session("system_prompt")
    if prompt == "NULL":
        return {}
    statement = f"SELECT s.id, {bytes_sql(prompt)} FROM sessions s WHERE s.id IN ({{keys}})"
    return {str(key): as_int(size) for key, size in reader.rows_in(statement, ids)}


def batches(
    items: Iterable[T], rows_of: Callable[[T], int], most_rows: int, most_items: int = _BATCH
) -> Iterator[list[T]]:
    """Split items into batches with limited messages and items, but at least one item each."""
    batch: list[T] = []
    rows = 0
    for item in items:
        more = rows_of(item)
        if batch and (rows + more > most_rows or len(batch) >= most_items):
            yield batch
            batch, rows = [], 0
        batch.append(item)
        rows += more
    if batch:
        yield batch


def _add_up(reader: Reader, ids: Sequence[str], rows: int) -> dict[str, _Sum]:
    """Add up the rows of sessions in one statement, or of one long session in several."""
    sums = _sums(reader.schema)
    if rows <= _SLICE:
        statement = f"SELECT m.session_id, {sums} FROM messages m WHERE m.session_id IN ({{keys}}) GROUP BY 1"
        rows_by_session = reader.rows_in(statement, ids)
        return {str(row[0]): _Sum(*(as_int(value) for value in row[1:])) for row in rows_by_session}
    (session_id,) = ids
    message_ids = [
        row[0]
        for row in reader.rows("SELECT id FROM messages WHERE session_id = ? ORDER BY id", ids)
    ]
    # The plus makes SQLite use the index by session: the rest of the store may lie between two ids.
    statement = f"SELECT {sums} FROM messages m WHERE m.session_id = ? AND +m.id BETWEEN ? AND ?"
    total = _Sum()
    for part in chunks(message_ids, _SLICE):
        (row,) = reader.rows(statement, [session_id, part[0], part[-1]])
        total = _Sum(
            *(sum_so_far + as_int(more) for sum_so_far, more in zip(total, row, strict=True))
        )
    return {session_id: total}


def _measure_batches(reader: Reader, sessions: Sequence[Session]) -> Iterator[dict[str, Sizes]]:
    per_row = _ROW + _INDEX_ENTRY * as_int(reader.value(_INDEXES))
    for some in chunks(sessions, _CHUNK):
        chunk = {session.id: session for session in some}
        counts = dict.fromkeys(chunk, 0) | count_stored_rows(reader, list(chunk))
        prompts = _prompt_bytes(reader, list(chunk))
        for ids in batches(chunk, counts.__getitem__, _SLICE):
            sums = _add_up(reader, ids, sum(counts[id] for id in ids))
            shown = count_rows(reader, ids)
            sizes: dict[str, Sizes] = {}
            for id in ids:
                each = sums.get(id, _Sum())
                copies, terms = _index_bytes(reader.schema, chunk[id].source, each)
                sizes[id] = Sizes(
                    rows=each.rows,
                    shown=shown.get(id, 0),
                    text=each.text,
                    tool_output=each.output,
                    tool_calls=each.calls,
                    images=each.images,
                    reasoning=each.reasoning,
                    prompts=prompts.get(id, 0),
                    copies=copies,
                    terms=terms,
                    overhead=each.rows * per_row,
                )
            yield sizes


def measure(
    reader: Reader,
    sessions: Iterable[Session],
    *,
    known: MutableMapping[str, Sizes] | None = None,
    most: int | None = None,
) -> Mapping[str, Sizes]:
    """Measure the bytes of sessions, by id; memory grows with the sessions, never with the
    messages.

    `known` is a cache of sizes by session id, to which each session is added as soon as it is
    measured. With `most`, stop after this number of messages, and at least one session; another
    call continues.
    """
    sizes = known if known is not None else {}
    missing = {session.id: session for session in sessions if session.id not in sizes}
    rows = 0
    for batch in _measure_batches(reader, list(missing.values())):
        sizes.update(batch)
        rows += sum(each.rows for each in batch.values())
        if most is not None and rows >= most:
            break
    return sizes


def forget_changed(
    reader: Reader,
    sessions: Iterable[Session],
    known: MutableMapping[str, Sizes],
    counts: MutableMapping[str, int],
) -> None:
    """Count the stored messages of sessions into `counts`, and drop known sizes with another number
    of rows."""
    ids = [session.id for session in sessions if session.id not in counts]
    counts.update(dict.fromkeys(ids, 0) | count_stored_rows(reader, ids))
    for each in ids:
        if each in known and known[each].rows != counts[each]:
            del known[each]
