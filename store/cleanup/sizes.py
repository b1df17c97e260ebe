"""Measure the bytes of sessions, some at a time, so that no statement holds its lock for long.

The bytes of texts, tool calls, reasoning and images in `messages`, and of a prompt in the session's
own row, are exact. Those of the search index are an estimate: FTS5 does not tell which of its bytes
belong to which row.

SQLite keeps freed pages for new rows: deleting makes room inside the file, and only a VACUUM
shrinks the file (https://sqlite.org/lang_vacuum.html).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import NamedTuple

from ..connection.connect import Store
from ..connection.reader import Reader
from ..connection.schema import FtsIndex, Schema
from ..connection.stored_values import IS_EMBEDDED, as_int, bytes_sql
from ..messages.transcript import count_rows, count_stored_rows
from ..progress import batches
from ..sessions.catalog import Catalog
from ..sessions.models import Session
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
"""Messages per statement, by the counters of the sessions: some 10 ms."""
_UNINDEXED_SOURCES = ("'cron'", "'subagent'")


class Sizes(NamedTuple):
    """What sessions take of a store, in bytes unless named otherwise."""

    rows: int = 0
    """Number of rows of `messages`, shown or not."""
    shown: int = 0
    """Rows shown by default: what every screen calls the messages of a conversation
    (`count_rows`)."""
    content: int = 0
    """Texts, the forms of them sent to the model, tool calls, images embedded as text, reasoning,
    and system prompts in the session's own row; since 0.20 prompts are shared and count for no
    session."""
    indexed: int = 0
    """Estimated: copies of texts that the search indexes keep."""
    terms: int = 0
    """Estimated: words and trigrams in the search indexes."""
    overhead: int = 0
    """Estimated: ids, times and the like, and entries in other indexes."""

    @property
    def total(self) -> int:
        """Content and search index."""
        return self.content + self.indexed + self.terms

    @property
    def free_bytes(self) -> int:
        """Estimated: what deleting them makes free for new rows at once. That is less than `total`:
        FTS5 only marks deleted terms."""
        share = _MARKS if self.terms < _MERGED_FROM else _MERGED_MARKS
        return max(0, self._in_tables + self.indexed - round(self.terms * share))

    @property
    def given_back_bytes(self) -> int:
        """Estimated: by how much the file shrinks after deleting them, optimizing the search
        indexes and a VACUUM."""
        return self._in_tables + self.indexed + self.terms

    @property
    def _in_tables(self) -> int:
        return round(self.content * _IN_PAGES) + self.overhead


KnownSizes = MutableMapping[str, Sizes]
"""A cache of sizes by session id, which is added to."""


def added(sizes: Iterable[Sizes]) -> Sizes:
    """Add up sizes."""
    return Sizes(*map(sum, zip(*sizes, strict=True)))


def _sums(schema: Schema) -> str:
    """Return SQL for sums over the messages of a session: rows, content, copies in the search
    indexes, and what of it the word index and the trigram index hold.

    SQLite adds up, since passing a row to Python takes longer than counting its bytes.
    """
    content, calls, sent, name, *reasoning = (
        bytes_sql(f"m.{column}")
        for column in ("content", "tool_calls", "api_content", "tool_name", *REASONING)
    )
    copied = ["0"]

    def indexed(index: FtsIndex | None, mark: str, output: str) -> str:
        """Return SQL for the bytes of the messages in an index; where its definition has a mark,
        less is in it of the output of a tool."""
        if index is None:
            return "0"
        shown = content
        if mark in index.definition:
            is_output = f"m.role = 'tool' AND NOT ({IS_EMBEDDED})"
            shown = f"CASE WHEN {is_output} THEN {output} ELSE {content} END"
        has_calls = index.is_inline or "tool_calls" in index.sql
        total = f"sum({' + '.join([shown, sent, name, calls if has_calls else '0'])})"
        left_out = ", ".join(each for each in _UNINDEXED_SOURCES if each in index.definition)
        total = f"CASE WHEN s.source IN ({left_out}) THEN 0 ELSE {total} END"
        if index.is_inline:
            copied.append(total)
        return total

    values = " + ".join([content, calls, sent, *reasoning])
    words = indexed(schema.fts, str(_CUT), f"min({content}, {_CUT})")
    trigrams = indexed(schema.trigram, "'tool'", "0")
    return f"count(m.id), sum({values}), {' + '.join(copied)}, {words}, {trigrams}"


def content_bytes(reader: Reader, session_ids: Sequence[str]) -> dict[str, int]:
    """Return the bytes of message content of these sessions, by id."""
    rows = reader.rows_in(
        f"SELECT session_id, sum({bytes_sql('content')}) FROM message_rows "
        "WHERE session_id IN ({keys}) GROUP BY 1",
        session_ids,
    )
    return {str(key): as_int(size) for key, size in rows}


def _measure(reader: Reader, sessions: Sequence[Session]) -> Iterator[tuple[str, Sizes]]:
    ids = [session.id for session in sessions]
    statement = (
        f"SELECT s.id, {bytes_sql('s.system_prompt')}, {_sums(reader.schema)} FROM session_rows s "
        "LEFT JOIN message_rows m ON m.session_id = s.id WHERE s.id IN ({keys}) GROUP BY s.id"
    )
    sums = {str(id): map(as_int, values) for id, *values in reader.rows_in(statement, ids)}
    shown = count_rows(reader, ids)
    per_row = _ROW + _INDEX_ENTRY * as_int(reader.value(_INDEXES))
    for id in ids:
        own, rows, content, copied, words, trigrams = sums.get(id, (0, 0, 0, 0, 0, 0))
        yield (
            id,
            Sizes(
                rows=rows,
                shown=shown.get(id, 0),
                content=content + own,
                indexed=round(copied * _COPY),
                terms=round(words * _WORD_TERMS + trigrams * _TRIGRAM_TERMS),
                overhead=rows * per_row,
            ),
        )


def measure(
    reader: Reader,
    sessions: Iterable[Session],
    *,
    known: KnownSizes | None = None,
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
    for batch in batches(missing.values(), lambda session: session.message_count, _SLICE):
        if most is not None and rows >= most:
            break
        sizes.update(_measure(reader, batch))
        rows += sum(sizes[session.id].rows for session in batch)
    return sizes


def forget_changed(
    reader: Reader, sessions: Iterable[Session], known: KnownSizes
) -> Mapping[str, int]:
    """Count the stored messages of sessions, and drop known sizes with another number of rows."""
    ids = [session.id for session in sessions]
    counts = dict.fromkeys(ids, 0) | count_stored_rows(reader, ids)
    for id, count in counts.items():
        if id in known and known[id].rows != count:
            known.pop(id, None)  # another thread may have done so
    return counts


class FileSpace(NamedTuple):
    """Used and free space of the file."""

    file_bytes: int
    """The database without its log."""
    free_bytes: int
    """Unused pages: Hermes fills them first, and a VACUUM returns them."""
    wal_bytes: int


class SpaceMap(NamedTuple):
    """The bytes of a store."""

    conversations: tuple[tuple[str, int], ...]
    """The tip of each, and its bytes, the search index included; largest first."""
    total: int
    file: FileSpace


def read_file_space(reader: Reader) -> FileSpace:
    """Read used and free space of the file, and the bytes of its log."""
    pages_sql = "SELECT * FROM pragma_page_size, pragma_page_count, pragma_freelist_count"
    page, pages, free = map(as_int, reader.rows(pages_sql)[0])
    return FileSpace(page * pages, page * free, Store(reader.path).sizes()[1])


def read_space_map(reader: Reader, catalog: Catalog, known: KnownSizes | None = None) -> SpaceMap:
    """Measure the whole store by conversation; `catalog` has all of its sessions, and sizes that are
    measured are added to those `known`."""
    sessions = catalog.sessions.values()
    if known:
        forget_changed(reader, sessions, known)
    sizes = measure(reader, sessions, known=known)
    taken = {
        each.id: sum(sizes[segment].total for segment in each.session_ids)
        for each in catalog.conversations()
    }
    largest_first = sorted(taken.items(), key=lambda each: (-each[1], each[0]))
    return SpaceMap(tuple(largest_first), sum(taken.values()), read_file_space(reader))
