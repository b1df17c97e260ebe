"""A bundle held against a store: what stands in the way of its rows, and whether they are back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ..errors import QueryInterruptedError, WriteUnverifiedError
from ..reader import Reader
from ..trash.bundle import read_lines
from ..trash.layout import Tables
from ..trash.manifest import Manifest
from ..trash.slices import never
from ..trash.values import Line, bind, bound, encode_row, quoted, reading, text_of, write_line
from ..wording import _
from .putting import Putting

_AT_ONCE = 400


def _batches(lines: Iterator[Line], size: int) -> Iterator[list[Line]]:
    while batch := list(islice(lines, size)):
        yield batch


class Standing(NamedTuple):
    """How the sessions of a bundle stand in a store."""

    refused: dict[str, str]
    """Those that cannot be put back, each with the reason."""
    there: frozenset[str]
    """Those that are in the store as the bundle has them, as after a restore that was cut short."""
    theirs: frozenset[str]
    """Those whose messages are all there, though something has changed since: files may be theirs."""
    messages: int
    """How many messages those that are there have."""


def standing(reader: Reader, folder: Path, manifest: Manifest, stop: Callable[[], bool] = never) -> Standing:
    """Hold a bundle against a store before it is put back.

    Args:
        reader: An open reader of the store.
        folder: Of the bundle.
        manifest: Of the same bundle.
        stop: Looked at between statements.
    """
    tables = Tables(reader)
    found = reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", list(manifest.sessions))
    present = {str(row[0]) for row in found}
    refused: dict[str, str] = {}
    differing: set[str] = set()
    counts, wanted = Counter[str](), Counter[str]()
    lines = (line for line in read_lines(folder) if line.table in ("sessions", "messages"))
    for batch in _batches(lines, _AT_ONCE):
        if stop():
            raise QueryInterruptedError(_("Stopped; nothing was changed."))
        for line in (each for each in batch if each.table == "sessions"):
            if str(line.row["id"]) in present and not _is_same_session(reader, tables, line):
                differing.add(str(line.row["id"]))
        wanted.update(str(line.row["session_id"]) for line in batch if line.table == "messages")
        messages = {
            number: line for line in batch if line.table == "messages" and type(number := line.row["id"]) is int
        }
        there = _stored(reader, tables, messages)
        for number, line in messages.items():
            owner = str(line.row["session_id"])
            if owner not in present and number in there:
                refused.setdefault(owner, _("message {id} is another one's by now").format(id=number))
            elif owner in present:
                counts[owner] += there.get(number) == write_line(_known_part(tables, line))
    rows = reader.rows_in(
        "SELECT session_id, count(*) FROM messages WHERE session_id IN ({keys}) GROUP BY session_id", sorted(present)
    )
    stored = {str(owner): int(str(count)) for owner, count in rows}
    theirs = {each for each in present if counts[each] == wanted[each]}
    same = {each for each in theirs - differing if stored.get(each, 0) == wanted[each]}
    for each in sorted(present - same):
        refused[each] = (
            _("it is in the store, and has changed since it went to the trash")
            if each in theirs and wanted[each]
            else _("a session of that id is in the store")
        )
    files_of = frozenset(each for each in theirs if each in same or wanted[each])
    return Standing(refused, frozenset(same), files_of, sum(wanted[each] for each in same))


def _known_part(tables: Tables, line: Line) -> Line:
    """A row with the columns alone that the store has."""
    columns = frozenset(tables.columns[line.table])
    return Line(line.table, None, {name: value for name, value in line.row.items() if name in columns})


def _is_same_session(reader: Reader, tables: Tables, line: Line) -> bool:
    """Whether a session stands in the store as in a bundle; but for what a restore itself may have to change."""
    free = {each.column for each in tables.references if each.table == each.target == "sessions"} | {
        "parent_session_id"
    }
    row = {name: value for name, value in _known_part(tables, line).row.items() if name not in free}
    columns = tuple(row)
    found = reader.rows(f"SELECT {reading(columns)} FROM sessions WHERE id = ?", [line.row["id"]])
    now = encode_row(columns, found[0])
    if now.get("title") != row.get("title") and row.get("title") is not None:
        mark, value = bound(row["title"])
        if reader.rows(f"SELECT 1 FROM sessions WHERE title = {mark} AND id IS NOT ?", [value, line.row["id"]]):
            for name in ("title", "title_source"):  # its title is another's by now, so that it got the next number
                row.pop(name, None)
                now.pop(name, None)
    return write_line(Line("sessions", None, now)) == write_line(Line("sessions", None, row))


def _stored(reader: Reader, tables: Tables, messages: Mapping[int, Line]) -> dict[int, bytes]:
    """The messages of these numbers that are in the store, as lines."""
    if not messages:
        return {}
    columns = tuple(_known_part(tables, next(iter(messages.values()))).row)
    rows = reader.rows_in(f"SELECT id, {reading(columns)} FROM messages WHERE id IN ({{keys}})", list(messages))
    return {int(str(row[0])): write_line(Line("messages", None, encode_row(columns, row[1:]))) for row in rows}


def _key_of(tables: Tables, line: Line) -> tuple[str, list[object]]:
    """SQL and values that find a row: by its primary key, else by all its columns."""
    names = tables.keys[line.table] or tuple(line.row)
    marks, values = bind({name: line.row[name] for name in names})
    return " AND ".join(f"{quoted(name)} IS {mark}" for name, mark in zip(names, marks, strict=True)), values


def check_back(reader: Reader, putting: Putting) -> None:
    """Read every row back and compare it with the bundle, value for value and class for class.

    Raises:
        WriteUnverifiedError: With the first row that differs.
    """
    tables = Tables(reader)
    for line in putting.expected(tables):
        columns = tuple(line.row)
        where, values = _key_of(tables, line)
        found = reader.rows(f"SELECT {reading(columns)} FROM {quoted(line.table)} WHERE {where}", values)
        wanted = write_line(line)
        if not any(write_line(line._replace(row=encode_row(columns, each))) == wanted for each in found):
            key = ", ".join(text_of(line.row[name]) or "" for name in tables.keys[line.table])
            raise WriteUnverifiedError(
                _("A row of {table} ({key}) does not read back as it stands in the bundle.").format(
                    table=line.table, key=key
                ),
                remedy=_("The bundle stays in the trash."),
            )
