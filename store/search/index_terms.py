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
    """What one connection has asked since the store changed."""

    def __init__(self) -> None:
        self.tables: set[str] = set()
        self.terms: dict[tuple[str, Range, int], list[str]] = {}
        self.has_terms: dict[tuple[str, Range], bool] = {}

    def table(self, reader: Reader, index: FtsIndex, kind: str) -> str:
        """Return the name of the virtual table of a kind (`row`, `instance`) over an index; create it at first."""
        name = f"temp.{kind}s_of_{index.name}"
        if name not in self.tables:
            for statement in (
                "PRAGMA temp_store=MEMORY",
                "PRAGMA query_only=0",
                f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5vocab('main', '{index.name}', '{kind}')",
                "PRAGMA query_only=1",
            ):
                reader.rows(statement)
            self.tables.add(name)
        return name


def read_terms(reader: Reader, index: FtsIndex, between: Range, most: int) -> list[str]:
    """Return the terms of an index in a range, in order, `most` at the most.

    Raises:
        StoreError: The index cannot be read.
    """
    answers, key = reader.cached(_Answers), (index.name, between, most)
    if key not in answers.terms:
        sql = f"SELECT term FROM {answers.table(reader, index, 'row')} WHERE term >= ? AND term < ? LIMIT ?"
        answers.terms[key] = [str(row[0]) for row in reader.rows(sql, [*between, most])]
    return answers.terms[key]


def ranges_with_terms(
    reader: Reader, index: FtsIndex, ranges: Sequence[Range], within: Sequence[Range] = ()
) -> set[Range]:
    """Return the ranges in which an index has a term.

    `within` has wider ranges that are tested first: ranges inside one that has no term are not tested.

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
    answers = reader.cached(_Answers)
    table, known = answers.table(reader, index, "instance"), answers.has_terms
    unknown = [each for each in dict.fromkeys(ranges) if (index.name, each) not in known]
    for start in range(0, len(unknown), _CHUNK):
        chunk = unknown[start : start + _CHUNK]
        exists = ", ".join([f"EXISTS (SELECT 1 FROM {table} WHERE term >= ? AND term < ?)"] * len(chunk))
        row = reader.rows(f"SELECT {exists}", [bound for each in chunk for bound in each])[0]
        known.update({(index.name, each): bool(answer) for each, answer in zip(chunk, row, strict=True)})
    return {each for each in ranges if known[index.name, each]}
