"""Triggers of Hermes that no store at hand holds, built from those that one does hold.

Hermes 0.20 to 0.22 keep the two search indexes in one of two ways: a store of 0.19 that was opened
later keeps the copies of its texts, with other triggers; a new store reads the texts from
`messages`. Which rows an index holds while it is rebuilt is noted in `state_meta`, and each trigger
asks for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

WORDS, TRIGRAM = "messages_fts", "messages_fts_trigram"
COLUMNS = ("content", "tool_name", "tool_calls")

_FIRST_LETTERS = "CASE WHEN new.role = 'tool' THEN substr(COALESCE(new.content, ''), 1, 8192) ELSE new.content END"
"""What 0.22 indexes of a message."""


def _is_indexed(row: str) -> str:
    """Whether a row is in an index that may be under way."""
    number = (
        "COALESCE((SELECT CAST(value AS INTEGER) FROM state_meta WHERE key = 'fts_rebuild_{}'), -1)"
    )
    return f"({row}.id > {number.format('high_water')} OR {row}.id <= {number.format('progress')})"


def of_6_to_10(name: str) -> dict[str, str]:
    """The triggers of an index over the content alone."""
    put = f"INSERT INTO {name}(rowid, content) VALUES (new.id, new.content);"
    take = f"INSERT INTO {name}({name}, rowid, content) VALUES('delete', old.id, old.content);"
    bodies = {"insert": put, "delete": take, "update": f"{take} {put}"}
    return {
        f"{name}_{event}": f"CREATE TRIGGER {name}_{event} AFTER {event.upper()} ON messages BEGIN {body} END"
        for event, body in bodies.items()
    }


def of_23_to_26(name: str, *, narrow: bool = True) -> dict[str, str]:
    """The triggers of an index that reads `messages`; the substring index leaves out what tools
    said.

    Args:
        name: Of the index.
        narrow: Whether an update of other columns passes it by, as since schema 26.
    """
    is_trigram = name == TRIGRAM
    changing: Sequence[str] = (*COLUMNS, "role") if is_trigram else COLUMNS
    listed = ", ".join(COLUMNS)

    def values(row: str) -> str:
        return ", ".join(f"{row}.{column}" for column in ("id", *COLUMNS))

    def when(row: str) -> str:
        return f"{row}.role <> 'tool' AND {_is_indexed(row)}" if is_trigram else _is_indexed(row)

    put, take = (
        f"INSERT INTO {name}(rowid, {listed})",
        f"INSERT INTO {name}({name}, rowid, {listed})",
    )
    differs = " OR ".join(f"old.{column} IS NOT new.{column}" for column in changing)
    if is_trigram:
        changed = (
            f"{take} SELECT 'delete', {values('old')} WHERE old.role <> 'tool'; "
            f"{put} SELECT {values('new')} WHERE new.role <> 'tool';"
        )
    else:
        changed = f"{take} VALUES ('delete', {values('old')}); {put} VALUES ({values('new')});"
    of = f" OF {', '.join(changing)}" if narrow else ""
    return {
        f"{name}_insert": f"CREATE TRIGGER {name}_insert AFTER INSERT ON messages WHEN {when('new')} "
        f"BEGIN {put} VALUES ({values('new')}); END",
        f"{name}_delete": f"CREATE TRIGGER {name}_delete AFTER DELETE ON messages WHEN {when('old')} "
        f"BEGIN {take} VALUES ('delete', {values('old')}); END",
        f"{name}_update": f"CREATE TRIGGER {name}_update AFTER UPDATE{of} ON messages "
        f"WHEN ({differs}) AND {_is_indexed('old')} BEGIN {changed} END",
    }


def upgraded(triggers: Mapping[str, str], release: str) -> dict[str, str]:
    """The triggers of a store of 0.19 after a later release has opened it.

    Args:
        triggers: Those that 0.19 made.
        release: `0.20` or `0.22`.
    """
    if release == "0.20":
        narrow = "AFTER UPDATE OF content, tool_name, tool_calls ON messages"
        return {
            name: sql.replace("AFTER UPDATE ON messages", narrow) for name, sql in triggers.items()
        }
    narrow = "AFTER UPDATE OF content, tool_name, tool_calls, role ON messages"
    return {
        name: sql.replace("AFTER UPDATE ON messages", narrow).replace(
            "new.content", _FIRST_LETTERS, 1
        )
        if name.endswith(("_insert", "_update"))
        else sql
        for name, sql in triggers.items()
    }
