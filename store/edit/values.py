"""Stored values in Python with their storage class, so that they can be written back unchanged.

SQLite does not enforce column types: text may be invalid UTF-8, a text column may hold a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..connection.schema import sql_name
from ..text import as_text


class InvalidText(NamedTuple):
    """Text that is not valid UTF-8."""

    raw: bytes


Value = None | int | float | str | bytes | InvalidText
"""A stored value; bytes are a blob."""


def select_values(columns: Sequence[str]) -> str:
    """Return SQL that selects the storage class and the value of each column, text as bytes; see
    `read_row`."""
    names = map(sql_name, columns)
    return ", ".join(
        f"typeof({name}), CASE WHEN typeof({name}) = 'text' THEN CAST({name} AS BLOB) ELSE {name} END"
        for name in names
    )


def read_row(columns: Sequence[str], values: Sequence[object]) -> dict[str, Value]:
    """Return a row that was selected by `select_values` of the same columns."""
    return {name: _value(values[2 * at], values[2 * at + 1]) for at, name in enumerate(columns)}


def _value(kind: object, value: object) -> Value:
    if kind == "text" and isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return InvalidText(value)
    assert value is None or isinstance(value, int | float | bytes)
    return value


def bound(value: Value) -> tuple[str, object]:
    """Return a placeholder and the value to bind, so that SQLite stores what was read."""
    if isinstance(value, InvalidText):
        # Bytes are bound as a blob; casting a blob to text does not change the bytes.
        return "CAST(? AS TEXT)", value.raw
    return "?", value


def text_of(value: Value) -> str | None:
    """Return a value as text, to show it."""
    return as_text(value.raw if isinstance(value, InvalidText) else value)
