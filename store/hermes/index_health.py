"""Check the search index of a store, for `doctor`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..connection.reader import Reader
from ..connection.schema import FtsIndex
from ..connection.stored_values import as_int
from ..errors import StoreDamagedError
from ..search.coverage import STALE, Damage, damage_of, remedy
from ..text import text_of
from ..wording import _

_WORD = re.compile(r"[^\W_]+")
_SAMPLE, _SAMPLE_TEXT = 20, 400
"""Number of newest messages, and code points of each, whose words are looked up."""


@dataclass(frozen=True, slots=True)
class SearchHealth:
    """The state of the search index."""

    fts: bool
    trigram: bool
    indexed: int
    """Rows in the word index."""
    messages: int
    failure: str = ""
    """SQLite's reason why the word index cannot be used; empty if it can."""
    remedy: str = ""
    """How to repair it; empty if it is complete."""


def search_health(reader: Reader) -> SearchHealth:
    """Check whether the word index works, and how many of the messages it holds."""
    schema = reader.schema
    messages = as_int(reader.value("SELECT count(*) FROM messages"))
    index = schema.fts
    trigram = schema.trigram is not None
    if index is None:
        return SearchHealth(
            False, trigram, 0, messages, remedy=remedy(schema, Damage.MISSING, reader.path)
        )
    if f"{index.name}_docsize" not in schema.tables:
        missing = _("{table} is missing.", table=f"{index.name}_docsize")
        return SearchHealth(
            True, trigram, 0, messages, missing, remedy(schema, Damage.BROKEN, reader.path)
        )
    indexed = as_int(reader.value(f"SELECT count(*) FROM {index.name}_docsize"))
    try:
        _try_index(reader, index)
    except StoreDamagedError as error:
        repair = remedy(schema, damage_of(schema, error), reader.path)
        return SearchHealth(True, trigram, indexed, messages, error.sentence, repair)
    repair = remedy(schema, Damage.GAPS, reader.path) if indexed < messages else ""
    if schema.is_index_stale:
        repair = _(STALE)
    return SearchHealth(True, trigram, indexed, messages, remedy=repair)


def _try_index(reader: Reader, index: FtsIndex) -> None:
    """Look up words of the newest messages: StoreDamagedError comes only when the pages of the
    index are read."""
    content = reader.schema.message("content")
    rows = reader.rows(f"SELECT {content} FROM messages m ORDER BY m.id DESC LIMIT ?", [_SAMPLE])
    words = {word for row in rows for word in _WORD.findall((text_of(row[0]))[:_SAMPLE_TEXT])}
    for word in sorted(words)[:_SAMPLE]:
        reader.rows(
            f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? LIMIT 1", [f'"{word}"']
        )
