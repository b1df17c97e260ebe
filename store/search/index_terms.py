"""The terms of an FTS5 index, read from a virtual table over it.

The virtual table (https://sqlite.org/fts5.html#the_fts5vocab_virtual_table_module) is in the temporary database of the
connection, which is kept in memory; the store is not written to. Answers are cached until the store changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..connection.reader import Reader
from ..connection.schema import FtsIndex

_CHUNK = 400
"""Ranges tested in one statement."""

Range = tuple[str, str]
"""The smallest term of a range, and the first one too large."""


class _Answers:
    """What one connection has asked so far."""

    def __init__(self) -> None:
        self.tables: set[str] = set()
        self.version: object = None
        self.terms: dict[tuple[str, Range, int], list[str]] = {}
        self.has_terms: dict[tuple[str, Range], bool] = {}


def _answers(reader: Reader) -> _Answers:
    answers, version = reader.cached(_Answers), reader.value("PRAGMA data_version")
    if version != answers.version:
        answers.version = version
        answers.terms.clear()
        answers.has_terms.clear()
    return answers


def _table(reader: Reader, index: FtsIndex, kind: str) -> str:
    """Return the name of the virtual table of a kind (`row`, `instance`) over an index; create it at first."""
    name, tables = f"temp.{kind}s_of_{index.name}", reader.cached(_Answers).tables
    if name not in tables:
        for statement in (
            "PRAGMA temp_store=MEMORY",
            "PRAGMA query_only=0",
            f"CREATE VIRTUAL TABLE {name} USING fts5vocab('main', '{index.name}', '{kind}')",
            "PRAGMA query_only=1",
        ):
            reader.rows(statement)
        tables.add(name)
    return name


def read_terms(reader: Reader, index: FtsIndex, between: Range, most: int) -> list[str]:
    """Return the terms of an index in a range, in order, `most` at the most.

    Raises:
        StoreError: The index cannot be read.
    """
    table, terms, key = _table(reader, index, "row"), _answers(reader).terms, (index.name, between, most)
    if key not in terms:
        rows = reader.rows(f"SELECT term FROM {table} WHERE term >= ? AND term < ? LIMIT ?", [*between, most])
        terms[key] = [str(row[0]) for row in rows]
    return terms[key]


def ranges_with_terms(
    reader: Reader, index: FtsIndex, ranges: Sequence[Range], within: Sequence[Range] = ()
) -> set[Range]:
    """Return the ranges in which an index has a term.

    Args:
        reader: An open reader.
        index: The index.
        ranges: The ranges to test.
        within: Wider ranges, tested first; ranges inside one that has no term are not tested.

    Raises:
        StoreError: The index cannot be read.
    """
    if within:
        present = ranges_with_terms(reader, index, within)
        empty = [each for each in within if each not in present]
        ranges = [each for each in ranges if not any(low <= each[0] and each[1] <= high for low, high in empty)]
    if not ranges:
        return set()
    # The table of instances answers from the first of them; that of rows counts all instances of a term first.
    table, known = _table(reader, index, "instance"), _answers(reader).has_terms
    unknown = [each for each in dict.fromkeys(ranges) if (index.name, each) not in known]
    for start in range(0, len(unknown), _CHUNK):
        chunk = unknown[start : start + _CHUNK]
        exists = ", ".join([f"EXISTS (SELECT 1 FROM {table} WHERE term >= ? AND term < ?)"] * len(chunk))
        row = reader.rows(f"SELECT {exists}", [bound for each in chunk for bound in each])[0]
        known.update({(index.name, each): bool(answer) for each, answer in zip(chunk, row, strict=True)})
    return {each for each in ranges if known[index.name, each]}
