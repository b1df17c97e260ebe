"""What mends a search index, by what is wrong with it: each tried on copies of stores, with Hermes' own commands.

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
from enum import StrEnum
from pathlib import Path

from ..schema import FtsKind, Schema
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
