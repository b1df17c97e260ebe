"""The triggers that Hermes itself makes, known by their SQL; a store with any other one is not
written to.

A trigger changes rows that no statement of ours names: a delete of one conversation could take
others along, and a bundle would not have them. Hermes' own only keep its search index and the order
of display. `known_triggers.json` holds a digest of each, with the releases it was seen in;
`tests/record_triggers.py` wrote it, and says how.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from ..connection.reader import Row
from ..errors import StoreRefusedError
from ..text import as_text, one_line
from ..wording import _

RECORD = Path(__file__).with_name("known_triggers.json")
"""A list of objects with `table`, `name`, `sha256` and `releases`."""

_LONGEST_NAME = 100
_TOKEN = re.compile(
    r"""
    (?P<space> \s+ | --[^\n]* | /\*.*?\*/ )
    | (?P<text> '(?:[^']|'')*' )
    | (?P<quoted> "(?P<bare>\w+)" )
    | (?P<word> \w+ )
    | (?P<sign> . )
    """,
    re.VERBOSE | re.DOTALL,
)


def normalised(sql: str) -> str:
    """Return the SQL of a trigger without comments and differences of case, white space and
    needless quotes."""
    words: list[str] = []
    for match in _TOKEN.finditer(sql):
        if match["space"]:
            continue
        plain = match["bare"] or match["word"]
        words.append(plain.lower() if plain else match[0])
    if words[2:5] == ["if", "not", "exists"]:
        del words[2:5]
    return " ".join(words)


def digest(sql: str) -> str:
    """Return the SHA-256 of the normalised SQL of a trigger, as hexadecimal digits."""
    return hashlib.sha256(normalised(sql).encode("utf-8", "replace")).hexdigest()


@cache
def _known() -> frozenset[tuple[str, str]]:
    """Return the table, in lower case, and the digest of each trigger of Hermes."""
    record = json.loads(RECORD.read_text(encoding="ascii"))
    return frozenset((each["table"], each["sha256"]) for each in record)


def check_triggers(rows: Callable[[str], list[Row]], tables: Iterable[str]) -> None:
    """Refuse to write to tables of a store if one of them has a trigger that is not Hermes' own.

    Args:
        rows: Runs a SELECT in the store and returns all its rows.
        tables: Those that will be written to. With `messages`, the tables that hold a search index
            count as well.

    Raises:
        StoreRefusedError: There is one; the sentence names it and its table.
    """
    written = {table.lower() for table in tables}
    for name, table, sql in rows(
        "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
    ):
        target = (as_text(table) or "").lower()
        is_index = target.startswith("messages_fts") and "messages" in written
        if not is_index and target not in written:
            continue
        if (target, digest(as_text(sql) or "")) in _known():
            continue
        raise StoreRefusedError(
            _(
                "The table {table} has a trigger that is not one of Hermes' own, {trigger}: what it would do besides "
                "could not be undone.",
                table=one_line(as_text(table) or "", _LONGEST_NAME),
                trigger=one_line(as_text(name) or "", _LONGEST_NAME),
            ),
            remedy=_(
                "Remove the trigger if you know what made it, or use Hermes' own commands for this store."
            ),
        )
