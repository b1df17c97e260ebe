"""What one write did to rows of `sessions`, value for value, so that it can be told and undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..connect import Reader, Store
from ..errors import RefusedError, WriteUnverifiedError
from ..trash.values import Encoded, bind, bound, encode_row, reading, text_of
from ..wording import _
from .unit import PATIENCE, Needs, Unit, write

Values = Mapping[str, Encoded]
"""Values by column, with their storage class: text that is no UTF-8 comes back byte for byte too."""


class RowChange(NamedTuple):
    """Columns of one session before and after."""

    session_id: str
    before: Values
    after: Values


class Change(NamedTuple):
    """One write."""

    sentence: str
    """What was done, in the past tense; empty when nothing had to be done."""
    rows: tuple[RowChange, ...]
    """In the order they were changed."""

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The sessions that were changed."""
        return tuple(row.session_id for row in self.rows)


def _read(source: Unit | Reader, session_id: str, columns: Sequence[str]) -> list[dict[str, Encoded]]:
    rows = source.rows(f"SELECT {reading(columns)} FROM sessions WHERE id = ?", [session_id])
    return [encode_row(columns, row) for row in rows]


def apply(unit: Unit, session_id: str, after: Values) -> RowChange | None:
    """Set columns of one session, where they are not so already.

    Args:
        unit: The transaction.
        session_id: Of a row; others are not touched, whatever the id holds.
        after: Values by column.

    Returns:
        What was changed; None when there was nothing to change.

    Raises:
        RefusedError: There is no such row, or more than one.
    """
    found = _read(unit, session_id, list(after))
    if len(found) != 1:
        raise RefusedError(
            _("The session {session} is not there any more. Nothing was changed.").format(session=session_id)
        )
    wanted = {column: value for column, value in after.items() if found[0][column] != value}
    if not wanted:
        return None
    marks, values = bind(wanted)
    sets = ", ".join(f"{column} = {mark}" for column, mark in zip(wanted, marks, strict=True))
    if unit.execute(f"UPDATE sessions SET {sets} WHERE id = ?", [*values, session_id]) != 1:
        raise RefusedError(
            _("The session {session} could not be changed alone. Nothing was changed.").format(session=session_id)
        )
    return RowChange(session_id, {column: found[0][column] for column in wanted}, wanted)


def check(reader: Reader, rows: Sequence[RowChange]) -> None:
    """Read rows back.

    Args:
        reader: An open reader.
        rows: What was changed.

    Raises:
        WriteUnverifiedError: One of them is not as it was left; says what was found.
    """
    for row in rows:
        found = _read(reader, row.session_id, list(row.after))
        if found == [dict(row.after)]:
            continue
        if len(found) != 1:
            raise WriteUnverifiedError(
                _("{session} was changed, but is not there any more.").format(session=row.session_id)
            )
        column = next(name for name in row.after if found[0][name] != row.after[name])
        raise WriteUnverifiedError(
            _("{session} was changed, but does not read back as it was left: {column} is {found}, not {left}.").format(
                session=row.session_id, column=column, found=_shown(found[0][column]), left=_shown(row.after[column])
            ),
            remedy=_("Another program may have written it in the same moment."),
        )


def _shown(value: Encoded) -> str:
    text = text_of(value)
    return "NULL" if text is None else f"“{text}”"


def undo(store: Store, change: Change, *, patience: float = PATIENCE) -> Change:
    """Put back what a change found, all of it or nothing.

    Args:
        store: The store.
        change: What was done.
        patience: Seconds to wait for other writers.

    Returns:
        What this did, which can be undone in turn.

    Raises:
        RefusedError: A row has been changed again since, or its title is another's by now; nothing was changed.
        StoreBusyError: Others wrote all the time.
    """

    def work(unit: Unit) -> tuple[RowChange, ...]:
        done: list[RowChange] = []
        for row in reversed(change.rows):
            found = _read(unit, row.session_id, list(row.after))
            if not found:
                raise RefusedError(
                    _("{session} is not there any more. Nothing was changed.").format(session=row.session_id)
                )
            if found != [dict(row.after)]:
                raise RefusedError(
                    _("{session} has been changed since, so it is left as it is. Nothing was changed.").format(
                        session=row.session_id
                    )
                )
            _check_free(unit, row)
            back = apply(unit, row.session_id, row.before)
            done += [back] if back is not None else []
        return tuple(done)

    if not change.rows:
        return Change("", ())
    columns = frozenset(f"sessions.{column}" for row in change.rows for column in row.after)
    rows = write(store, work, check, needs=Needs(frozenset({"sessions"}), columns), patience=patience)
    return Change(_("undone: {done}").format(done=change.sentence), rows)


def _check_free(unit: Unit, row: RowChange) -> None:
    """Whether a title that is to come back is still free; not every store has the index that would say so."""
    title = row.before.get("title")
    if title is None:
        return
    mark, value = bound(title)
    holders = unit.rows(f"SELECT id FROM sessions WHERE title = {mark} AND id <> ?", [value, row.session_id])
    if holders:
        raise RefusedError(
            _("The title {title} of {session} has been given to {other} since. Nothing was changed.").format(
                title=_shown(title), session=row.session_id, other=holders[0][0]
            )
        )
