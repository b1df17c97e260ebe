"""Stores full of text that tries to act on a terminal."""

from __future__ import annotations

import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path

ATTACK = (
    "\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b[2J\x1b[31m\x9b31m\x90q\x9c[bold]x[/] \u202eevil\u2066 a\rb\x08\x00\x7f"
    "\u2028line\u200e\ufeff\u2069\U000e0041 tab\there\nnext \r\nlast :smile: %s {0}"
)


_LINKS = {"id", "session_id", "parent_session_id", "conversation_id", "version", "key"}


def poison(store: Path, value: object, *, ids: bool = False) -> None:
    """Write a value into every column of every row that no link needs.

    Args:
        store: A copy.
        value: The text, or another type where text belongs.
        ids: Also hang the attack on every session id.
    """
    with closing(sqlite3.connect(store)) as connection, connection:
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _made in triggers:
            connection.execute(f'DROP TRIGGER "{name}"')
        for table in ("sessions", "messages"):
            columns = connection.execute(
                f"SELECT name, type FROM pragma_table_info('{table}')"
            ).fetchall()
            for name, kind in columns:
                if name in _LINKS or (isinstance(value, str) and kind.upper() != "TEXT"):
                    continue
                if name == "title":  # unique where there is one
                    connection.execute(
                        f"UPDATE {table} SET title = id || ? WHERE title IS NOT NULL", [str(value)]
                    )
                else:
                    connection.execute(f"UPDATE OR IGNORE {table} SET {name} = ?", [value])
        if ids:
            connection.execute("UPDATE messages SET session_id = session_id || ?", [ATTACK])
            connection.execute(
                "UPDATE sessions SET parent_session_id = parent_session_id || ?", [ATTACK]
            )
            connection.execute("UPDATE sessions SET id = id || ?", [ATTACK])
        for name, made in connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql LIKE '%fts5%'"
        ).fetchall():
            if "content=" in made:
                connection.execute(f"INSERT INTO {name} ({name}) VALUES ('rebuild')")
            elif isinstance(value, str):
                connection.execute(f"UPDATE {name} SET content = ?", [value])
        for _name, made in triggers:
            connection.execute(made)


def acting(text: str, *, allowed: str = "\n") -> set[str]:
    """Characters that could act on a terminal: controls, bidi controls, separators; tabs only where
    allowed."""
    return {
        letter
        for letter in text
        if letter not in allowed
        and (
            unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")
            or letter in "\u061c\u200e\u200f"
        )
    }
