"""Rows collected and written as a store of any shape.

Columns a shape lacks are left out, so one list of rows serves all shapes; a column no shape has
raises.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import shapes

from hermes_browse.store.demo import Value, insert, new_store

T0 = 1_767_258_000.0
"""2026-01-01 09:00 UTC, where the stores in `tests/data` begin too."""


class StoreBuilder:
    """Collects rows and writes them as a store of one shape."""

    def __init__(
        self,
        path: Path,
        shape: str = "22",
        *,
        journal: str = "wal",
        without: Iterable[str] = (),
        fts: bool = True,
    ) -> None:
        """
        Args:
            path: A path that is free.
            shape: One of `shapes.NAMES`.
            journal: `wal` or `delete`.
            without: As for `Shape.without`.
            fts: False leaves out all of full-text search.
        """
        self.path = path
        self.journal = journal
        found = shapes.shape(shape)
        self.shape = (found if fts else found.without_search()).without(without)
        self.version: int | None = self.shape.version
        """What `schema_version` says; None leaves the table empty."""
        self.tables: dict[str, list[dict[str, Value]]] = {}
        self._message_id = 0

    def session(self, id: str, **columns: object) -> str:
        """Add a session; it is `cli` and starts a minute after the one before unless told
        otherwise. Returns its id."""
        rows = self.tables.setdefault("sessions", [])
        self._add(
            "sessions", {"id": id, "source": "cli", "started_at": T0 + 60 * len(rows)} | columns
        )
        return id

    def message(
        self, session_id: str, role: str = "user", content: object = None, **columns: object
    ) -> int:
        """Add a message; lists and dicts as content are stored multimodal. Returns its id."""
        self._message_id = int(str(columns.get("id", self._message_id + 1)))
        number = self._message_id
        row: dict[str, object] = {
            "id": number,
            "session_id": session_id,
            "role": role,
            "content": content,
        }
        row |= {"timestamp": T0 + number}
        if self.shape.version >= 31:
            row |= {"message_uid": f"{number:032x}"}
            if (
                self.shape.name == "31"
            ):  # an upgraded file holds NULL until Hermes shows the session
                row |= {"display_order": number}
        self._add("messages", row | columns)
        return number

    def row(self, table: str, **columns: object) -> None:
        """Add a row to any other table."""
        self._add(table, columns)

    def _add(self, table: str, columns: Mapping[str, object]) -> None:
        unknown = set(columns) - shapes.known_columns(table)
        if unknown:
            raise ValueError(f"no store has {table}.{min(unknown)}")
        have = set(self.shape.columns(table))
        row = {name: _stored(name, value) for name, value in columns.items() if name in have}
        if row:
            self.tables.setdefault(table, []).append(row)

    def _count(self) -> None:
        """Fill the counters of sessions that were not given any."""
        counts: dict[object, list[int]] = {}
        for message in self.tables.get("messages", ()):
            counted = counts.setdefault(message["session_id"], [0, 0])
            counted[0] += 1
            counted[1] += _calls(message.get("tool_calls"))
        for session in self.tables.get("sessions", ()):
            messages, calls = counts.get(session.get("id"), (0, 0))
            session.setdefault("message_count", messages)
            session.setdefault("tool_call_count", calls)

    def write(self) -> Path:
        """Write the store; returns its path."""
        self._count()
        shape = self.shape
        with new_store(self.path, journal=self.journal) as connection:
            for table, lines in shape.tables.items():
                connection.execute(f"CREATE TABLE {table} ({', '.join(lines)})")
            if self.version is not None and "schema_version" in shape.tables:
                insert(connection, "schema_version", [{"version": self.version}])
            if "state_meta" in shape.tables:
                given = {row["key"] for row in self.tables.get("state_meta", ())}
                meta = [
                    {"key": key, "value": value}
                    for key, value in shape.meta.items()
                    if key not in given
                ]
                insert(connection, "state_meta", meta)
            for table, rows in self.tables.items():
                insert(connection, table, rows)
            for statement in (*shape.indexes.values(), *shape.search.values()):
                connection.execute(statement)
            for statement in (*shape.fill.values(), *shape.triggers.values()):
                connection.execute(statement)
        return self.path


def _stored(column: str, value: object) -> Value:
    if isinstance(value, dict | list):
        text = json.dumps(value)
        return f"\x00json:{text}" if column == "content" else text
    if value is None or isinstance(value, str | bytes | int | float):
        return value
    raise TypeError(f"{column}: a store holds no {type(value).__name__}")


def _calls(stored: Value) -> int:
    try:
        loaded = json.loads(stored) if isinstance(stored, str) else []
    except ValueError:
        return 0  # a broken list, as hostile stores hold; Hermes counts none either
    return len(loaded) if isinstance(loaded, list) else 1


def tool_call(name: str, arguments: object = None, *, id: str = "call_1") -> dict[str, object]:
    """One item of `tool_calls` as Hermes stores it; arguments that are no text become JSON."""
    given = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {
        "id": id,
        "call_id": id,
        "type": "function",
        "function": {"name": name, "arguments": given},
    }


def add_tool_use(
    builder: StoreBuilder,
    call_id: str,
    name: str,
    arguments: object,
    result: object,
    session: str = "s",
    **columns: object,
) -> int:
    """Add a tool call of a session and its result; return the id of the message with the call.
    `columns` are those of both messages."""
    call = tool_call(name, arguments, id=call_id)
    message = builder.message(session, "assistant", "", tool_calls=[call], **columns)
    text = result if isinstance(result, str) else json.dumps(result)
    builder.message(session, "tool", text, tool_call_id=call_id, tool_name=name, **columns)
    return message
