"""The rows of a delete inside its transaction: held once more against the bundle, deleted, looked for afterwards."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..errors import QueryInterruptedError, RefusedError, WriteUnverifiedError
from ..reader import Reader
from ..text import as_text
from ..trash.bundle import Written, taken_sum
from ..trash.layout import Fate, Layout, Loose, Part, prompt_columns
from ..trash.slices import chunks, fill, read_links
from ..trash.stages import EVERY, Stage, Tell, quiet
from ..trash.values import quoted
from ..wording import _
from .closure import Closure
from .indexing import Indexing
from .unit import Unit

_SESSIONS_AT_ONCE = 50


def place_of(path: Path) -> tuple[int, int]:
    """Device and inode of a file, zeros where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def recheck(
    unit: Unit, path: Path, place: tuple[int, int], closure: Closure, written: Written, *, unchanged: bool
) -> None:
    """Hold what is in the store, now that nobody else can write, against what is in the bundle.

    Args:
        unit: The transaction.
        path: The store.
        place: Its device and inode when the bundle was begun.
        closure: What goes.
        written: The bundle.
        unchanged: Nobody has committed anything since the bundle was begun: then rows need not be read again.
    """
    if place_of(path) != place:
        raise RefusedError(_("{path} was replaced by another file meanwhile. Nothing was changed.").format(path=path))
    busy = _busy(unit, (*closure.sessions, *closure.above))
    if busy is not None:
        begun = _("{session} is being written to: a turn or a compression has begun. Nothing was changed.")
        raise RefusedError(begun.format(session=busy))
    if unchanged:
        return
    ids, layout = closure.sessions, written.layout
    if tuple(read_links(unit, layout, ids)) != written.manifest.links:
        raise RefusedError(_("The conversation has changed meanwhile: it has other children. Nothing was changed."))
    if taken_sum(unit, layout, ids) != written.manifest.taken:
        raise RefusedError(_("The conversation is being written to: it has changed meanwhile. Nothing was changed."))


def _busy(source: Unit, ids: Sequence[str]) -> str | None:
    """A session that a live lease or lock names."""
    now = time.time()
    for table, column in (("session_turn_leases", "conversation_id"), ("compression_locks", "session_id")):
        if table in source.schema.tables:
            for chunk in chunks(ids):
                marks = ",".join("?" * len(chunk))
                found = source.rows(
                    f"SELECT {column} FROM {table} WHERE {column} IN ({marks}) AND expires_at > ?", [*chunk, now]
                )
                if found:
                    return as_text(found[0][0])
    return None


def _cut(unit: Unit, loose: Loose, ids: Sequence[str]) -> None:
    for chunk in chunks(ids):
        unit.execute(
            f"UPDATE {quoted(loose.table)} SET {quoted(loose.column)} = NULL WHERE {fill(loose.condition, len(chunk))}",
            chunk,
        )


def delete_rows(
    unit: Unit,
    closure: Closure,
    layout: Layout,
    stop: Callable[[], bool],
    *,
    messages: int = 0,
    tell: Tell = quiet,
) -> int:
    """Delete all that the layout says is taken.

    Args:
        unit: The transaction.
        closure: What goes.
        layout: Of the store.
        stop: Looked at between statements.
        messages: How many there are, for `tell` alone.
        tell: Is told how far it is.

    Returns:
        How many rows went.

    Raises:
        QueryInterruptedError: It was stopped; the transaction is to be taken back.
    """
    ids = closure.sessions
    prompts = _prompts(unit, ids)
    gone = 0
    for loose in layout.loose:  # among themselves too: then the order of sessions does not matter, not even in a ring
        _cut(unit, loose, ids)
    count = 0
    indexing = Indexing(unit)
    # Backwards: what refers to others first, and messages before sessions, whose rows the triggers of the substring
    # index read (0.22).
    for part in reversed([part for part in layout.parts if part.fate is Fate.TAKEN]):
        for chunk in chunks(ids, _SESSIONS_AT_ONCE):
            if stop():
                raise QueryInterruptedError(_("Stopped; nothing was changed."))
            if part.table == "messages" and part.rowid:
                for done in _delete_messages(unit, indexing, part, chunk):
                    count += done
                    gone += done
                    tell(Stage("deleting", gone, messages))
                    if stop():
                        raise QueryInterruptedError(_("Stopped; nothing was changed."))
            else:
                condition = fill(part.condition, len(chunk))
                count += unit.execute(f"DELETE FROM {quoted(part.table)} WHERE {condition}", chunk)
    columns = prompt_columns(sorted(unit.schema.session_columns))
    unused = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.{column} = system_prompts.hash)" for column in columns
    )
    for prompt in prompts:
        count += unit.execute(f"DELETE FROM system_prompts WHERE hash = CAST(? AS TEXT) AND {unused}", [prompt])
    return count


def _delete_messages(unit: Unit, indexing: Indexing, part: Part, ids: Sequence[str]) -> Iterator[int]:
    """Delete the messages of some sessions a portion at a time, all within the transaction; yields how many each."""
    condition = fill(part.condition, len(ids))
    some = f"SELECT {part.rowid} FROM {quoted(part.table)} WHERE {condition} LIMIT {EVERY}"
    statement = f"DELETE FROM {quoted(part.table)} WHERE {part.rowid} IN ({some})"
    if not indexing.is_ours:
        while done := unit.execute(statement, ids):
            yield done
        return
    while numbers := [row[0] for row in unit.rows(some, ids)]:
        indexing.before_delete(numbers)
        marks = ",".join("?" * len(numbers))
        yield unit.execute(f"DELETE FROM {quoted(part.table)} WHERE {part.rowid} IN ({marks})", numbers)


def _prompts(unit: Unit, ids: Sequence[str]) -> list[bytes]:
    """Hashes of prompts that the sessions use, as bytes: a damaged one may be no proper text."""
    if "system_prompts" not in unit.schema.tables:
        return []
    found: set[bytes] = set()
    for column in prompt_columns(sorted(unit.schema.session_columns)):
        for chunk in chunks(ids):
            marks = ",".join("?" * len(chunk))
            named = f"typeof({column}) = 'text' AND id IN ({marks})"
            rows = unit.rows(f"SELECT DISTINCT CAST({column} AS BLOB) FROM sessions WHERE {named}", chunk)
            found.update(bytes(row[0]) for row in rows if isinstance(row[0], bytes))
    return sorted(found)


def check_gone(reader: Reader, closure: Closure, written: Written) -> None:
    """Read back that all of it is gone.

    Raises:
        WriteUnverifiedError: Something is still there.
    """
    for part in written.layout.parts:
        if part.fate is Fate.TAKEN:
            for chunk in chunks(closure.sessions):
                select = f"SELECT 1 FROM {quoted(part.table)} WHERE {fill(part.condition, len(chunk))} LIMIT 1"
                if reader.rows(select, chunk):
                    raise WriteUnverifiedError(
                        _("Rows of {table} are still there, though they were deleted.").format(table=part.table),
                        remedy=_("The bundle {name} in the trash holds all of them.").format(
                            name=written.manifest.name
                        ),
                    )
