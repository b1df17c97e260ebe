"""What Hermes' search indexes hold and leave out, and what mends them: rows not indexed must be scanned.

Each remedy was tried on copies of stores, with Hermes' own commands.

Seen with Hermes 0.13, 0.16 and 0.19 on stores of schema 11, 14 and 22, and with SQLite alone on one of schema 31:

- `hermes sessions repair` (0.17 and later) mends what keeps the tables from being opened. Everything else it calls
  clean: missing tables, missing rows, damaged pages that it does not happen to read.
- Any start of Hermes (0.16 and later; 0.13 does not) makes missing tables and fills them, but only where
  the trigger `messages_fts_insert` is missing too: Hermes takes the trigger for a sign that all is well.
- FTS5's own `rebuild` mends damaged pages, and in an index without a copy of its own missing rows too
  (https://sqlite.org/fts5.html#the_rebuild_command).
- `hermes sessions optimize` merges and mends nothing.
"""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ..connection.connect import Reader
from ..connection.schema import FtsIndex, FtsKind, Schema
from ..wording import N_, _

REPAIR = N_("`hermes sessions repair` makes it anew (Hermes 0.17 and later)")
START = N_("Hermes makes it anew when it is next started (0.16 and later)")
START_FILLS = N_("Hermes fills it when it is next started (0.16 and later)")
ASK_DOCTOR = N_("`hermes-browse doctor` says what mends it")
STALE = N_("Hermes makes it anew when it starts and no other program has the store open")
"""For the mark `fts_stale` of Hermes 0.22."""


class Damage(StrEnum):
    """What can be wrong with the word index."""

    MISSING = "missing"
    """There is no such table."""
    BROKEN = "broken"
    """The table cannot be opened: parts of it are gone."""
    MALFORMED = "malformed"
    """It opens, and fails when its pages are read."""
    HOLES = "holes"
    """Messages are missing in it."""


def _sqlite(path: Path, statement: str) -> str:
    return f"sqlite3 {shlex.quote(str(path))} {shlex.quote(statement)}"


def remedy(schema: Schema, damage: Damage, path: Path | None = None) -> str:
    """What mends the index.

    Args:
        schema: Of the store.
        damage: What is wrong.
        path: The store, where there is room for a whole command; None asks for a few words.
    """
    has_trigger = "messages_fts_insert" in schema.triggers
    if damage is Damage.BROKEN:
        return _(REPAIR)
    if damage is Damage.MISSING and not has_trigger:
        return _(START)
    if damage is Damage.HOLES and not has_trigger and (schema.fts is None or schema.fts.kind is FtsKind.INLINE):
        return _(START_FILLS)
    if path is None:
        return _(ASK_DOCTOR)
    rebuild = _sqlite(path, "INSERT INTO messages_fts(messages_fts) VALUES ('rebuild')")
    if damage is Damage.MALFORMED or (schema.fts is not None and schema.fts.kind is FtsKind.EXTERNAL):
        return _("End Hermes and run: {command}").format(command=rebuild)
    drop = _sqlite(path, "DROP TRIGGER messages_fts_insert")  # not shown
    return _("End Hermes and run: {command} ; then start Hermes: it fills the index").format(command=drop)


_SLICE = 2000
"""Rows whose length is looked at in one statement: some milliseconds of a lock."""
_MOST_RANGES = 64


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the chat messages the word index holds."""

    messages: int
    """Rows there are."""
    indexed: int
    """Rows the index holds."""
    reason: str = ""
    """Why it is not used, or does not hold all, and what to do; empty when all is well."""

    def __str__(self) -> str:
        """For the status line."""
        if self.reason:
            return self.reason
        return _("all {count:,} messages indexed").format(count=self.messages)


def read_coverage(reader: Reader) -> Coverage:
    """What of the store the word index covers; counts two tables.

    Args:
        reader: An open reader.
    """
    schema = reader.schema
    messages = int(str(reader.value("SELECT count(*) FROM messages") or 0))
    index = schema.fts
    if index is None and reader.index_remedy:
        return Coverage(messages, 0, _broken(messages, reader.index_remedy))
    if index is None:
        mends = remedy(schema, Damage.MISSING)
        reason = _("no search index: {count:,} messages are scanned; {remedy}")
        return Coverage(messages, 0, reason.format(count=messages, remedy=mends))
    if schema.note("fts_stale") is not None:
        reason = _("search index marked stale, {count:,} messages are scanned; {remedy}")
        return Coverage(messages, 0, reason.format(count=messages, remedy=_(STALE)))
    if f"{index.name}_docsize" not in schema.tables:
        return Coverage(messages, 0, _broken(messages, remedy(schema, Damage.BROKEN)))
    held = messages - find_holes(reader, index).count
    if held >= messages:
        return Coverage(messages, messages)
    high = _number(schema.note("fts_rebuild_high_water"), 0)
    if high > _number(schema.note("fts_rebuild_progress"), 0):
        reason = _("{held:,} of {count:,} messages indexed, Hermes is making the index anew, the rest is scanned")
        return Coverage(messages, held, reason.format(held=held, count=messages))
    reason = _("{held:,} of {count:,} messages indexed, the rest is scanned; {remedy}")
    return Coverage(messages, held, reason.format(held=held, count=messages, remedy=remedy(schema, Damage.HOLES)))


def _broken(messages: int, mends: str) -> str:
    """That the index cannot be used."""
    reason = _("search index broken, {count:,} messages are scanned; {remedy}")
    return reason.format(count=messages, remedy=mends)


def left_out_of_trigram(schema: Schema, index: FtsIndex) -> str:
    """SQL for the rows a trigram index leaves out, empty when it holds all.

    Fresh files since 0.20 leave out tool output, since 0.22 tool calls and automation too. The SQL
    admits more than that: what is scanned as well as indexed is still given once.
    """
    if index.kind is not FtsKind.EXTERNAL or "where" not in index.definition.lower():
        return ""
    role = schema.message("role")
    parts = [f"{role} IS NULL OR {role} = 'tool'", f"{schema.message('tool_calls')} IS NOT NULL"]  # not shown
    source = schema.session("source")
    automation = [f"{source} IS NULL OR {source} IN ('cron', 'subagent')"]  # not shown
    automation.append(f"instr({schema.session('model_config')}, '_delegate_from') > 0")
    parts.append(f"m.session_id NOT IN (SELECT s.id FROM sessions s WHERE NOT COALESCE({' OR '.join(automation)}, 0))")
    return f"({' OR '.join(parts)})"


def _number(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.lstrip("-").isascii() and text.lstrip("-").isdigit() else default


@dataclass(frozen=True, slots=True)
class Holes:
    """What an index does not hold, as far as it ought to."""

    newest: int
    """The largest id that has been looked at."""
    ranges: tuple[tuple[int, int], ...] = ()
    """Inclusive ranges of ids that hold all rows it lacks; others may stand among them."""
    count: int = 0
    """Rows it lacks."""
    cut: tuple[int, ...] = ()
    """Ids of the rows it holds only a part of, in order."""

    def __bool__(self) -> bool:
        """Whether anything is missing."""
        return bool(self.ranges or self.cut)


def find_holes(reader: Reader, index: FtsIndex, newest: int | None = None) -> Holes:
    """What an index does not hold: all rows are compared once, and after that the new ones only.

    Where rows are missing, or no trigger puts new ones into the index, all are compared whenever the store has changed.

    Args:
        reader: An open reader.
        index: The one that is asked.
        newest: The largest id there is, where that is known.
    """
    by_name = reader.shared.get(_Known, _Known())
    assert isinstance(by_name, _Known)
    if newest is None:
        newest = int(str(reader.value("SELECT max(id) FROM messages") or 0))
    known = by_name.get(index.name)
    if known is None or known.ranges or f"{index.name}_insert" not in reader.schema.triggers or newest < known.newest:
        found = _look(reader, index, newest, known)
    elif newest > known.newest:
        found = _look(reader, index, newest, known, known.newest)
    else:
        return known
    reader.shared[_Known] = _Known(by_name | {index.name: found})
    return found


class _Known(dict[str, Holes]):
    """What is known of the indexes of a store, by their names."""


def _look(reader: Reader, index: FtsIndex, newest: int, known: Holes | None, behind: int = -(2**62)) -> Holes:
    """Compare the rows behind an id with what the index has."""
    ids: list[int] = []
    if f"{index.name}_docsize" in reader.schema.tables:
        # Without the plus all rows would be read from the table instead of an index.
        place = "m.id" if behind > 0 else "+m.id"
        sql = f"SELECT m.id FROM messages m WHERE {place} > ? AND m.id NOT IN (SELECT d.id FROM {index.name}_docsize d)"
        left_out = left_out_of_trigram(reader.schema, index)
        if left_out:
            sql += f" AND NOT COALESCE({left_out}, 0)"
        ids = sorted(int(str(row[0])) for row in reader.rows(sql, [behind]))
    cut = known.cut if known is not None else ()
    last = known.newest if known is not None else -(2**62)
    partly = _partly_indexed(reader.schema, index)
    while partly and last < newest:
        rows = reader.rows("SELECT id FROM messages WHERE id > ? ORDER BY id LIMIT ?", [last, _SLICE])
        if not rows:
            break
        first, last = last, int(str(rows[-1][0]))
        long = reader.rows(f"SELECT m.id FROM messages m WHERE m.id > ? AND m.id <= ? AND {partly}", [first, last])
        cut += tuple(sorted(int(str(row[0])) for row in long))
    return Holes(newest, _ranges(ids), len(ids), cut)


def _ranges(ids: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Sorted ids as ranges; where they would be very many, rows that are not missing are taken along."""
    step, found = 1, list[tuple[int, int]]()
    while not found or len(found) > _MOST_RANGES:
        found = []
        for key in ids:
            if found and key - found[-1][1] <= step:
                found[-1] = (found[-1][0], key)
            else:
                found.append((key, key))
        if not ids:
            break
        step *= 8
    return tuple(found)


def _partly_indexed(schema: Schema, index: FtsIndex) -> str:
    """SQL for the rows of `messages m` that an index holds only a part of; empty when it holds all that is searched."""
    if index.kind is not FtsKind.EXTERNAL:
        return ""
    if "8192" in index.definition:  # tool output is cut there (0.22)
        length = "octet_length" if sqlite3.sqlite_version_info >= (3, 43) else "length"  # the former reads no text
        return f"{schema.message('role')} = 'tool' AND {length}({schema.message('content')}) > 8192"
    beside = [schema.message(column) for column in ("tool_name", "tool_calls") if column in schema.message_columns]
    if index.columns == ("content",) and beside:
        return "(" + " OR ".join(f"COALESCE({column}, '') <> ''" for column in beside) + ")"
    return ""
