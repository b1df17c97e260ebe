"""What Hermes' search indexes hold, and what they leave out: rows not indexed must be scanned."""

from __future__ import annotations

from dataclasses import dataclass

from ..connect import Reader
from ..schema import FtsIndex, FtsKind, Schema
from ..wording import _
from .remedies import STALE, Damage, remedy


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
    sizes = f"{index.name}_docsize"
    if sizes not in schema.tables:
        return Coverage(messages, 0, _broken(messages, remedy(schema, Damage.BROKEN)))
    missing = min(sum(high - low + 1 for low, high in unindexed(reader, index)), messages)
    rows = int(str(reader.value(f"SELECT count(*) FROM {sizes}") or 0))
    held = min(rows, messages - missing)
    if held >= messages:
        return Coverage(messages, messages)
    high = _number(schema.note("fts_rebuild_high_water"), 0)
    if high > _number(schema.note("fts_rebuild_progress"), 0):
        reason = _("{held:,} of {count:,} messages indexed, Hermes is making the index anew, the rest is scanned")
        return Coverage(messages, held, reason.format(held=held, count=messages))
    # Behind the last row it holds, rows are scanned; between those it holds they cannot be told apart.
    lost, mends = messages - missing - held, remedy(schema, Damage.HOLES)
    if lost:
        reason = _("{held:,} of {count:,} messages indexed, {lost:,} are in none and not found; {remedy}")
        return Coverage(messages, held, reason.format(held=held, count=messages, lost=lost, remedy=mends))
    reason = _("{held:,} of {count:,} messages indexed, the rest is scanned; {remedy}")
    return Coverage(messages, held, reason.format(held=held, count=messages, remedy=mends))


def _broken(messages: int, mends: str) -> str:
    """That the index cannot be used."""
    reason = _("search index broken, {count:,} messages are scanned; {remedy}")
    return reason.format(count=messages, remedy=mends)


def covers_all(reader: Reader, index: FtsIndex) -> bool:
    """Whether an index may be asked alone: it is not stale, and no row is known to be missing in it."""
    return reader.schema.note("fts_stale") is None and not unindexed(reader, index)


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


def unindexed(reader: Reader, index: FtsIndex, newest: int | None = None) -> list[tuple[int, int]]:
    """Ranges of ids that an index does not hold.

    A rebuild in the background (0.20 and later) has reached `fts_rebuild_progress` of
    `fts_rebuild_high_water`; newer rows are indexed as they come. Where the triggers are gone, what
    was written since is behind the last indexed row.

    Args:
        reader: An open reader.
        index: The one that is asked.
        newest: The largest id there is, where that is known.

    Returns:
        Inclusive ranges, none of them empty; they may overlap.
    """
    found: list[tuple[int, int]] = []
    high = _number(reader.schema.note("fts_rebuild_high_water"), 0)
    done = _number(reader.schema.note("fts_rebuild_progress"), 0)
    if high > done:
        found.append((done + 1, high))
    sizes = f"{index.name}_docsize"
    # An index that leaves rows out may end before the newest row and be whole, as long as it is written to.
    may_end = bool(left_out_of_trigram(reader.schema, index)) and f"{index.name}_insert" in reader.schema.triggers
    if sizes in reader.schema.tables and not may_end:
        if newest is None:
            newest = int(str(reader.value("SELECT max(id) FROM messages") or 0))
        last = int(str(reader.value(f"SELECT max(id) FROM {sizes}") or 0))
        if newest > last:
            found.append((last + 1, newest))
    return found


def partly_indexed(schema: Schema) -> str:
    """What of an indexed row the word index does not hold, in a sentence; empty when it holds all that is searched."""
    index = schema.fts
    if index is None or index.kind is not FtsKind.EXTERNAL:
        return ""
    if "8192" in index.definition:
        return _("Tool output past 8,192 characters is not in Hermes' index.")
    if index.columns == ("content",) and {"tool_name", "tool_calls"} & schema.message_columns:
        return _("Tool names and arguments are not in this store's index.")
    return ""
