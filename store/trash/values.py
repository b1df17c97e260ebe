"""Stored values as JSON that brings back storage class and bytes, and rows as lines of it.

SQLite columns are only advice (https://sqlite.org/datatype3.html): a text may be no UTF-8, a number may stand where
text belongs. NULL, integers, finite reals and proper text are JSON's own; the rest is an object with one key:

    {"text": BASE64}    text whose bytes are no UTF-8
    {"blob": BASE64}    a blob
    {"real": "inf"}     an infinite real, `-inf` the other way

Lines are ASCII, so that no terminal acts on what was said in a chat when a bundle is read by hand.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..text import as_text

Encoded = None | int | float | str | dict[str, str]
"""A stored value as it stands in a line."""

_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


class Line(NamedTuple):
    """One row of any table."""

    table: str
    rowid: int | None
    """None where a column is the rowid, or the table has none."""
    row: dict[str, Encoded]
    """Stored columns in the order of the table."""


def quoted(name: str) -> str:
    """A name of a table or column for SQL."""
    return '"' + name.replace('"', '""') + '"'


def reading(columns: Sequence[str]) -> str:
    """SQL that selects columns for `encode_row`: for each its storage class, and text as its bytes."""
    parts = []
    for name in map(quoted, columns):
        parts += [
            f"typeof({name})",
            f"CASE WHEN typeof({name}) = 'text' THEN CAST({name} AS BLOB) ELSE {name} END",  # not shown
        ]
    return ", ".join(parts)


def encode(kind: object, value: object) -> Encoded:
    """One value for a line.

    Args:
        kind: What `typeof` says.
        value: As read by `reading`: text and blobs as bytes.
    """
    if isinstance(value, bytes):
        if kind == "text":
            try:
                return value.decode("utf-8")
            except UnicodeDecodeError:
                return {"text": base64.b64encode(value).decode("ascii")}
        return {"blob": base64.b64encode(value).decode("ascii")}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"real": "inf" if value > 0 else "-inf"}
    if value is None or isinstance(value, int):
        return value
    raise TypeError(f"SQLite gives no {type(value).__name__}")


def encode_row(columns: Sequence[str], values: Sequence[object]) -> dict[str, Encoded]:
    """A row by column.

    Args:
        columns: As given to `reading`.
        values: What it selected.
    """
    return {name: encode(values[2 * at], values[2 * at + 1]) for at, name in enumerate(columns)}


def bound(value: Encoded) -> tuple[str, object]:
    """The placeholder and the value to bind for it, so that SQLite stores what was read.

    Raises:
        ValueError: It is no value of a line.
    """
    if not isinstance(value, dict):
        return "?", value
    if len(value) == 1:
        ((tag, inner),) = value.items()
        if tag in ("text", "blob"):
            try:
                raw = base64.b64decode(inner, validate=True)
            except binascii.Error as error:
                raise ValueError(f"no base64: {inner[:20]!r}") from error
            # Bound bytes are a blob, and a cast of one to text takes the bytes as they are.
            return ("CAST(? AS TEXT)" if tag == "text" else "?"), raw  # not shown
        if tag == "real" and inner in ("inf", "-inf"):
            return "?", float(inner)
    raise ValueError(f"no stored value: {str(value)[:40]}")


def text_of(value: Encoded) -> str | None:
    """A value as text for a sentence or for comparing with ids as lists have them."""
    return as_text(bound(value)[1])


def write_line(line: Line) -> bytes:
    """A row as one line, newline included; equal rows are equal bytes."""
    document: dict[str, object] = {"table": line.table}
    if line.rowid is not None:
        document["rowid"] = line.rowid
    document["row"] = line.row
    return _ENCODER.encode(document).encode("ascii") + b"\n"


def _is_value(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(each, str) for each in value.values())
    return value is None or (isinstance(value, int | float | str) and not isinstance(value, bool))


def read_line(raw: bytes) -> Line:
    """The row a line holds.

    Raises:
        ValueError: It holds none.
    """
    document = json.loads(raw)
    if isinstance(document, dict):
        table, rowid, row = document.get("table"), document.get("rowid"), document.get("row")
        numbered = rowid is None or type(rowid) is int
        if isinstance(table, str) and numbered and isinstance(row, dict) and all(map(_is_value, row.values())):
            return Line(table, rowid, row)
    raise ValueError("no row of a table")


def bind(row: Mapping[str, Encoded]) -> tuple[list[str], list[object]]:
    """Placeholders and values for all columns of a row, in order."""
    pairs = [bound(value) for value in row.values()]
    return [mark for mark, _ in pairs], [value for _, value in pairs]
