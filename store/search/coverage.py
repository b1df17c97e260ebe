"""What Hermes' search indexes hold and leave out, and how to repair them: rows that are not indexed
must be scanned.

Each remedy was tried with Hermes 0.13, 0.16 and 0.19 on copies of stores of schema 11, 14 and 22,
and with SQLite alone on one of schema 31:

- `hermes sessions repair` (0.17 and later) repairs tables that cannot be opened. It calls
  everything else clean: missing tables, missing rows, damaged pages that it does not happen to
  read.
- Any start of Hermes (0.16 and later, not 0.13) creates missing tables and fills them, but only
  where the trigger `messages_fts_insert` is missing too: Hermes takes the trigger for a sign that
  all is well.
- FTS5's own `rebuild` repairs damaged pages, and in an index without a copy of its own missing rows
  too (https://sqlite.org/fts5.html#the_rebuild_command).
- `hermes sessions optimize` merges and repairs nothing.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.schema import FtsIndex, Schema
from ..connection.stored_values import as_int, bytes_sql
from ..errors import (
    NotAStoreError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreUnreadableError,
)
from ..wording import N_, _

LOW = -(2**62)
"""Smaller than any id of a message."""

ASK_DOCTOR = N_("`hermes-browse doctor` says how to repair it")


class Damage(StrEnum):
    """What can be wrong with the word index."""

    MISSING = "missing"
    """There is no such table."""
    BROKEN = "broken"
    """The table cannot be opened: parts of it are missing."""
    MALFORMED = "malformed"
    """It opens, but its pages cannot be read."""
    STALE = "stale"
    """Hermes has marked it so, until it has rebuilt it (`fts_stale`, 0.22)."""
    GAPS = "gaps"
    """Messages are missing from it."""


def _sqlite(path: Path, statement: str) -> str:
    return f"sqlite3 {shlex.quote(str(path))} {shlex.quote(statement)}"


def rebuild_command(path: Path, index: str) -> str:
    """Return the command that has SQLite write an index of a store anew."""
    return _sqlite(path, f"INSERT INTO {index}({index}) VALUES ('rebuild')")


def remedy(schema: Schema, damage: Damage, path: Path | None = None) -> str:
    """Return how to repair the index: a whole command if the path of the store is given, else a few
    words."""
    is_inline = schema.fts is None or schema.fts.is_inline
    is_refilled = is_inline and "messages_fts_insert" not in schema.triggers
    if damage is Damage.STALE:
        return _("Hermes rebuilds it when it starts and no other program has the store open")
    if damage is Damage.BROKEN:
        return _("`hermes sessions repair` rebuilds it (Hermes 0.17 and later)")
    if is_refilled and damage in (Damage.MISSING, Damage.GAPS):
        return _("Hermes fills it on its next start (0.16 and later)")
    if path is None:
        return _(ASK_DOCTOR)
    rebuild = rebuild_command(path, "messages_fts")
    if damage is Damage.MALFORMED or not is_inline:
        return _("End Hermes and run: {command}", command=rebuild)
    drop = _sqlite(path, "DROP TRIGGER messages_fts_insert")
    return _("End Hermes and run: {command} ; then start Hermes: it fills the index", command=drop)


_SLICE = 2000
"""Rows whose length is read in one statement: some milliseconds of a lock."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Whether the word index holds all chat messages."""

    messages: int
    reason: str = ""
    """Why it is not used, or does not hold all, and what to do; empty when it holds all."""


_REASONS = N_(
    {
        Damage.MISSING: "no search index: {count:,} messages are scanned; {remedy}",
        Damage.BROKEN: "search index broken, {count:,} messages are scanned; {remedy}",
        Damage.MALFORMED: "search index broken, {count:,} messages are scanned; {remedy}",
        Damage.STALE: "search index marked stale, {count:,} messages are scanned; {remedy}",
        Damage.GAPS: "{held:,} of {count:,} messages indexed, the rest is scanned; {remedy}",
    }
)


def index_state(reader: Reader) -> tuple[int, int, Damage | None]:
    """Return the number of chat messages, how many of them the word index holds, and what is wrong
    with it."""
    schema, index = reader.schema, reader.schema.fts
    newest, messages = map(as_int, reader.rows("SELECT max(id), count(*) FROM messages")[0])
    if index is None:
        return messages, 0, Damage(reader.index_damage or Damage.MISSING)
    if f"{index.name}_docsize" not in schema.tables:
        return messages, 0, Damage.BROKEN
    held = messages - gaps_of(reader, index, newest).missing
    if schema.is_index_stale:
        return messages, held, Damage.STALE
    return messages, held, Damage.GAPS if held < messages else None


def read_coverage(reader: Reader) -> Coverage:
    """Count the chat messages, and say what the word index lacks."""
    schema = reader.schema
    messages, held, damage = index_state(reader)
    if damage is None:
        return Coverage(messages)
    reason = _REASONS[damage]
    done, last = (_number(schema, f"fts_rebuild_{name}") for name in ("progress", "high_water"))
    if damage is Damage.GAPS and done < last:
        reason = N_(
            "{held:,} of {count:,} messages indexed, Hermes is rebuilding the index, the rest is scanned"
        )
    said = _(reason, held=held, count=messages, remedy=remedy(schema, damage))
    return Coverage(messages, said)


def _number(schema: Schema, key: str) -> int:
    text = schema.notes.get(key, "")
    return int(text) if text.isdecimal() else 0


class IndexGaps(NamedTuple):
    """The rows that an index lacks, of those it should hold."""

    newest: int
    """The largest id that has been compared."""
    missing: int = 0
    first: int = 0
    last: int = 0
    """The smallest and the largest id that is missing."""
    sql: str = ""
    """A condition on `messages m` for the missing rows."""
    truncated: tuple[int, ...] = ()
    """Ids of the rows of which it holds only a part, in order."""


def gaps_of(reader: Reader, index: FtsIndex, newest: int) -> IndexGaps:
    """Find the rows that an index lacks: all rows are compared once, and after that new ones only.

    Where rows are missing, or no trigger indexes new ones, all are compared whenever it is asked.
    `newest` is the largest id there is.
    """
    known: IndexGaps = reader.of_file.others.get(index.name, IndexGaps(LOW))
    if newest < known.newest:
        known = IndexGaps(LOW)
    is_kept = f"{index.name}_insert" in reader.schema.triggers and not known.missing
    if is_kept and newest == known.newest:
        return known
    condition = f"m.id NOT IN (SELECT d.id FROM {index.name}_docsize d)"
    after = known.newest if is_kept else LOW
    # Without the plus SQLite would read all rows from the table instead of an index.
    key = "m.id" if after > 0 else "+m.id"
    sql = f"SELECT count(*), min(m.id), max(m.id) FROM messages m WHERE {key} > ? AND {condition}"
    missing, first, last = map(as_int, reader.rows(sql, [after])[0])
    truncated = known.truncated + _truncated(reader, index, known.newest)
    gaps = IndexGaps(newest, missing, first, last, condition, truncated)
    reader.of_file.others[index.name] = gaps
    return gaps


def _truncated(reader: Reader, index: FtsIndex, after: int) -> tuple[int, ...]:
    """Return the ids of the rows after one that an index holds only a part of."""
    if "8192" in index.definition:  # tool output is cut there (0.22)
        condition = f"m.role = 'tool' AND {bytes_sql('m.content')} > 8192"
    elif index.is_inline or "tool_name" in index.sql:
        return ()
    else:
        condition = "COALESCE(m.tool_name, '') || COALESCE(m.tool_calls, '') <> ''"
    sql = f"SELECT m.id, {condition} FROM message_rows m WHERE"
    slices = reader.slices(sql, "m.id", _SLICE, after=after)
    return tuple(as_int(key) for rows in slices for key, is_truncated in rows if is_truncated)


def damage_of(schema: Schema, error: StoreError) -> Damage:
    """Return what is wrong with an index, by its tables and the error of SQLite."""
    indexes = filter(None, (schema.fts, schema.trigram))
    needed = {f"{index.name}_{part}" for index in indexes for part in ("data", "idx")}
    is_malformed = needed <= schema.tables and "malformed" in error.sentence
    return Damage.MALFORMED if is_malformed else Damage.BROKEN


def give_up_index(reader: Reader, error: StoreError) -> str:
    """Let a reader go on without the search index if only that is at fault: missing shadow tables,
    an unknown tokenizer, damage in it.

    Returns:
        A note about it; empty if something else is at fault.
    """
    schema = reader.schema
    has_index = any((schema.fts, schema.trigram))
    if not has_index or isinstance(error, StoreBusyError | StoreUnreadableError | NotAStoreError):
        return ""
    if isinstance(error, StoreDamagedError):
        reader.value("SELECT count(*) FROM sessions")  # raises when more than the index is damaged
    damage = reader.index_damage = damage_of(schema, error)
    reader.schema = schema._replace(fts=None, trigram=None)
    return _(
        "Hermes' search index cannot be used ({reason}): {remedy}.",
        reason=error.sentence,
        remedy=remedy(schema, damage),
    )


def read_gaps(reader: Reader) -> None:
    """Read what the first search of a store needs: what the word index lacks. All readers of the
    `Store` share it.

    Raises:
        StoreError: The store cannot be read.
        QueryInterruptedError: `Reader.interrupt` was called.
    """
    if (index := reader.schema.fts) is not None:
        gaps_of(reader, index, as_int(reader.value("SELECT max(id) FROM messages")))
