"""One row of `messages` as it is stored, for whoever wants to see behind what is shown."""

from __future__ import annotations

import json

from ..connection.connect import Reader
from ..text import as_text


def _plain(value: object) -> object:
    """A stored value as JSON can hold it; bytes are told from text by what stands around them."""
    if isinstance(value, bytes):
        return {"bytes": len(value), "hex": value.hex()}
    return as_text(value) if isinstance(value, str) else value


def read_raw(reader: Reader, message_id: int) -> str | None:
    """All columns of a message as indented JSON, in the order of the table; None when the row is gone.

    Texts stand there as texts, also where they hold JSON themselves: nothing is decoded.

    Args:
        reader: An open reader.
        message_id: `messages.id`.
    """
    names = [str(row[1]) for row in reader.rows('PRAGMA table_info("messages")')]
    quoted = ", ".join('m."' + name.replace('"', '""') + '"' for name in names)
    rows = reader.rows(f"SELECT {quoted} FROM messages m WHERE m.id = ?", [message_id])
    if not rows:
        return None
    return json.dumps(dict(zip(names, map(_plain, rows[0]), strict=True)), ensure_ascii=False, indent=2)
