"""A bundle held against a store: what stands in the way of its rows, and whether they are back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from ..errors import QueryInterruptedError, WriteUnverifiedError
from ..reader import Reader
from ..trash.bundle import read_lines
from ..trash.layout import Tables
from ..trash.manifest import Manifest
from ..trash.slices import never
from ..trash.values import Line, bind, encode_row, quoted, reading, text_of, write_line
from ..wording import _
from .putting import Putting

_AT_ONCE = 400


def _batches(lines: Iterator[Line], size: int) -> Iterator[list[Line]]:
    while batch := list(islice(lines, size)):
        yield batch


def conflicts(reader: Reader, folder: Path, manifest: Manifest, stop: Callable[[], bool] = never) -> dict[str, str]:
    """Sessions of a bundle that cannot be put back, each with the reason.

    Args:
        reader: An open reader of the store.
        folder: Of the bundle.
        manifest: Of the same bundle.
        stop: Looked at between statements.
    """
    ids = list(manifest.sessions)
    found = reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", ids)
    there = _("a session of that id is in the store")
    refused = {str(row[0]): there for row in found}
    messages = (line for line in read_lines(folder) if line.table == "messages")
    for batch in _batches(messages, _AT_ONCE):
        if stop():
            raise QueryInterruptedError(_("Stopped; nothing was changed."))
        owners = {line.row["id"]: str(line.row["session_id"]) for line in batch if isinstance(line.row["id"], int)}
        taken = reader.rows_in("SELECT id FROM messages WHERE id IN ({keys})", list(owners))
        for (number,) in taken:
            if isinstance(number, int):
                refused.setdefault(owners[number], _("message {id} is another one's by now").format(id=number))
    return refused


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
