"""What Hermes' search indexes hold, and what they leave out: rows not indexed must be scanned."""

from __future__ import annotations

from ..connect import Reader
from ..schema import FtsIndex, FtsKind, Schema


def left_out_of_trigram(schema: Schema, index: FtsIndex) -> str:
    """SQL for the rows a trigram index leaves out, empty when it holds all.

    Fresh files since 0.20 leave out tool output, since 0.22 tool calls and automation too. The SQL
    admits more than that: what is scanned as well as indexed is still given once.
    """
    if index.kind is not FtsKind.EXTERNAL or "where" not in index.definition.lower():
        return ""
    role = schema.message("role")
    parts = [f"{role} IS NULL OR {role} = 'tool'", f"{schema.message('tool_calls')} IS NOT NULL"]
    automation = [f"{schema.session('source')} IS NULL OR {schema.session('source')} IN ('cron', 'subagent')"]
    automation.append(f"instr({schema.session('model_config')}, '_delegate_from') > 0")
    parts.append(f"m.session_id NOT IN (SELECT s.id FROM sessions s WHERE NOT COALESCE({' OR '.join(automation)}, 0))")
    return f"({' OR '.join(parts)})"


def _number(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.lstrip("-").isascii() and text.lstrip("-").isdigit() else default


def unindexed(reader: Reader, index: FtsIndex) -> list[tuple[int, int]]:
    """Ranges of ids that an index does not hold.

    A rebuild in the background (0.20 and later) has reached `fts_rebuild_progress` of
    `fts_rebuild_high_water`; newer rows are indexed as they come. Where the triggers are gone, what
    was written since is behind the last indexed row.

    Args:
        reader: An open reader.
        index: The one that is asked.

    Returns:
        Inclusive ranges, none of them empty; they may overlap.
    """
    found: list[tuple[int, int]] = []
    high = _number(reader.schema.note("fts_rebuild_high_water"), 0)
    done = _number(reader.schema.note("fts_rebuild_progress"), 0)
    if high > done:
        found.append((done + 1, high))
    sizes = f"{index.name}_docsize"
    if sizes in reader.schema.tables and not left_out_of_trigram(reader.schema, index):
        newest = reader.value("SELECT max(id) FROM messages")
        last = reader.value(f"SELECT max(id) FROM {sizes}")
        if newest is not None and int(str(newest)) > int(str(last or 0)):
            found.append((int(str(last or 0)) + 1, int(str(newest))))
    return found


def partly_indexed(schema: Schema) -> str:
    """What of an indexed row the word index does not hold, in a sentence; empty when it holds all that is searched."""
    index = schema.fts
    if index is None or index.kind is not FtsKind.EXTERNAL:
        return ""
    if "8192" in index.definition:
        return "Tool output past 8,192 characters is not in Hermes' index."
    if index.columns == ("content",) and {"tool_name", "tool_calls"} & schema.message_columns:
        return "Tool names and arguments are not in this store's index."
    return ""
