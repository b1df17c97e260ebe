"""Whether the search index can be used, what it holds, and what mends it: for `doctor`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..connection.connect import Reader
from ..connection.schema import FtsIndex
from ..errors import StoreDamagedError
from ..search.coverage import STALE, Damage, remedy
from ..search.engine import damage_of
from ..text import as_text
from ..wording import _

_WORD = re.compile(r"[^\W_]+")
_TRIED, _TRIED_TEXT = 20, 400
"""The index is tried with words from so many of the newest messages, and so many code points of each."""


@dataclass(frozen=True, slots=True)
class SearchHealth:
    """What the search index holds."""

    fts: bool
    trigram: bool
    indexed: int
    """Rows in the word index."""
    messages: int
    failure: str = ""
    """Why the word index cannot be used, in SQLite's words; empty if it can."""
    remedy: str = ""
    """What mends it; empty if all is well."""


def search_health(reader: Reader) -> SearchHealth:
    """Tell whether the word index can be used, and how many of the messages it holds."""
    schema = reader.schema
    messages = int(str(reader.value("SELECT count(*) FROM messages") or 0))
    index = schema.fts
    trigram = schema.trigram is not None
    if index is None:
        return SearchHealth(False, trigram, 0, messages, remedy=remedy(schema, Damage.MISSING, reader.path))
    if f"{index.name}_docsize" not in schema.tables:
        gone = _("{table} is missing.").format(table=f"{index.name}_docsize")
        return SearchHealth(True, trigram, 0, messages, gone, remedy(schema, Damage.BROKEN, reader.path))
    indexed = int(str(reader.value(f"SELECT count(*) FROM {index.name}_docsize") or 0))
    try:
        _try_index(reader, index)
    except StoreDamagedError as error:
        return SearchHealth(
            True, trigram, indexed, messages, error.sentence, remedy(schema, damage_of(error), reader.path)
        )
    mends = remedy(schema, Damage.HOLES, reader.path) if indexed < messages else ""
    if schema.note("fts_stale") is not None:
        mends = _(STALE)
    return SearchHealth(True, trigram, indexed, messages, remedy=mends)


def _try_index(reader: Reader, index: FtsIndex) -> None:
    """Look up some words that the word index should hold, as damage shows only when its pages are read.

    Raises:
        StoreDamagedError: The index cannot be used.
    """
    rows = reader.rows(
        f"SELECT {reader.schema.message('content')} FROM messages m ORDER BY m.id DESC LIMIT ?", [_TRIED]
    )
    words = {word for row in rows for word in _WORD.findall((as_text(row[0]) or "")[:_TRIED_TEXT])}
    for word in sorted(words)[:_TRIED]:
        reader.rows(f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? LIMIT 1", [f'"{word}"'])
