"""Archiving, pinning, and undoing: columns of sessions set in one transaction, kept value for value, and read back.

Hermes marks every row of a compression lineage (`set_session_archived`), and so do we.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ..connection.connect import Store
from ..errors import NotFoundError, RefusedError, WriteUnverifiedError
from ..text import as_text, one_line
from ..trash.format import Encoded, bind, bound, encode_row, reading, text_of
from ..trash.tables import Rows
from ..wording import N_, _, ngettext
from .transaction import PATIENCE, Needs, Transaction, write

_TITLE = 60
Values = Mapping[str, Encoded]
"""Values by column with their storage class, so that text that is no UTF-8 comes back byte for byte too."""


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


def _read(source: Rows, session_id: str, columns: Sequence[str]) -> list[dict[str, Encoded]]:
    rows = source.rows(f"SELECT {reading(columns)} FROM sessions WHERE id = ?", [session_id])
    return [encode_row(columns, row) for row in rows]


def set_columns(tx: Transaction, session_id: str, after: Values) -> RowChange | None:
    """Set columns of one session where they differ.

    Args:
        tx: The transaction.
        session_id: Of the row; no other is touched, whatever the id holds.
        after: Values by column.

    Returns:
        What was changed; None when there was nothing to change.

    Raises:
        RefusedError: There is no such row, or more than one.
    """
    found = _read(tx, session_id, list(after))
    if len(found) != 1:
        raise RefusedError(
            _("The session {session} is not there any more. Nothing was changed.").format(session=session_id)
        )
    wanted = {column: value for column, value in after.items() if found[0][column] != value}
    if not wanted:
        return None
    marks, values = bind(wanted)
    sets = ", ".join(f"{column} = {mark}" for column, mark in zip(wanted, marks, strict=True))
    if tx.execute(f"UPDATE sessions SET {sets} WHERE id = ?", [*values, session_id]) != 1:
        raise RefusedError(
            _("The session {session} could not be changed alone. Nothing was changed.").format(session=session_id)
        )
    return RowChange(session_id, {column: found[0][column] for column in wanted}, wanted)


def check_changes(reader: Rows, rows: Sequence[RowChange]) -> None:
    """Read changed rows back.

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
    """Put back the values that a change has overwritten, all of them or none.

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

    def work(tx: Transaction) -> tuple[RowChange, ...]:
        done: list[RowChange] = []
        for row in reversed(change.rows):
            found = _read(tx, row.session_id, list(row.after))
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
            _check_free(tx, row)
            back = set_columns(tx, row.session_id, row.before)
            done += [back] if back is not None else []
        return tuple(done)

    if not change.rows:
        return Change("", ())
    columns = frozenset(f"sessions.{column}" for row in change.rows for column in row.after)
    rows = write(store, work, check_changes, needs=Needs(frozenset({"sessions"}), columns), patience=patience)
    return Change(_("undone: {done}").format(done=change.sentence), rows)


def _check_free(tx: Transaction, row: RowChange) -> None:
    """Refuse to bring back a title that another session has by now; not every store has a unique index on titles."""
    title = row.before.get("title")
    if title is None:
        return
    mark, value = bound(title)
    holders = tx.rows(f"SELECT id FROM sessions WHERE title = {mark} AND id <> ?", [value, row.session_id])
    if holders:
        raise RefusedError(
            _("The title {title} of {session} has been given to {other} since. Nothing was changed.").format(
                title=_shown(title), session=row.session_id, other=holders[0][0]
            )
        )


def lineage(tx: Transaction, session_id: str) -> list[str]:
    """Find the rows that are marked together: up and down over compressed parents, whatever the child is.

    So a branch or a subagent of a compressed session is marked with it, as in Hermes (0.17 to 0.22).

    Args:
        tx: The transaction.
        session_id: Any segment.

    Raises:
        NotFoundError: There is no such session.
    """
    if not tx.rows("SELECT 1 FROM sessions WHERE id = ?", [session_id]):
        raise NotFoundError(
            _("There is no session {session} in this store. Nothing was changed.").format(session=session_id)
        )
    # UNION drops what it has seen, so that a ring of parents ends too.
    found = tx.rows(
        "WITH RECURSIVE up(id) AS (SELECT ?1 UNION SELECT p.id FROM up "
        "JOIN sessions c ON c.id = up.id JOIN sessions p ON p.id = c.parent_session_id "
        "WHERE p.end_reason = 'compression'), "
        "down(id) AS (SELECT ?1 UNION SELECT c.id FROM down "
        "JOIN sessions p ON p.id = down.id JOIN sessions c ON c.parent_session_id = p.id "
        "WHERE p.end_reason = 'compression') "
        "SELECT id FROM up UNION SELECT id FROM down",
        [session_id],
    )
    return [str(row[0]) for row in found]


def _subject(tx: Transaction, session_ids: Sequence[str]) -> str:
    """Name the conversations of a write in a few words."""
    ids = list(dict.fromkeys(session_ids))
    if len(ids) != 1:
        return ngettext("1 conversation", "{count:,} conversations", len(ids)).format(count=len(ids))
    title = tx.schema.session("title")
    found = tx.rows(f"SELECT {title} FROM sessions s WHERE s.id = ?", ids)
    text = as_text(found[0][0]) if found else None
    return f"“{one_line(text, _TITLE)}”" if text else ids[0]


def _mark(
    store: Store, session_ids: Sequence[str], column: str, value: int, done: str, spared: Collection[str], wait: float
) -> Change:
    def work(tx: Transaction) -> tuple[str, tuple[RowChange, ...]]:
        columns = tx.schema.session_columns
        after: dict[str, Encoded] = {column: value}
        if column == "archived" and "auto_archived" in columns:
            after["auto_archived"] = 0  # else a resume takes it for archived by Hermes itself, and undoes it (0.22)
        if column == "pinned" and value and {"auto_archived", "hidden"} <= columns:
            after["hidden"] = 0  # since 0.22 a pin shows what was hidden
        changed: dict[str, RowChange] = {}
        for session_id in session_ids:
            for each in lineage(tx, session_id):
                row = set_columns(tx, each, after) if each not in spared else None
                if row is not None:
                    changed[each] = row
        return _subject(tx, session_ids), tuple(changed.values())

    needed = frozenset(f"sessions.{name}" for name in ("end_reason", "parent_session_id", column))
    subject, rows = write(
        store,
        work,
        lambda reader, result: check_changes(reader, result[1]),
        needs=Needs(frozenset({"sessions"}), needed),
        patience=wait,
    )
    return Change(_(done).format(conversation=subject) if rows else "", rows)


def archive(
    store: Store, session_ids: Sequence[str], *, spared: Collection[str] = (), patience: float = PATIENCE
) -> Change:
    """Hide conversations from lists; nothing is lost, and `unarchive` brings them back.

    Args:
        store: The store.
        session_ids: Any segments; their whole lineages are marked, in one transaction.
        spared: Sessions to leave as they are, though Hermes would mark them along: a bulk write names the protected.
        patience: Seconds to wait for other writers.

    Raises:
        NotFoundError: There is no such session; nothing was changed.
        RefusedError: This store is not written to, or knows no archive (before 0.16).
        StoreBusyError: Others wrote all the time.
    """
    return _mark(store, session_ids, "archived", 1, N_("archived {conversation}"), spared, patience)


def unarchive(store: Store, session_ids: Sequence[str], *, patience: float = PATIENCE) -> Change:
    """Bring archived conversations back; arguments and errors as of `archive`."""
    return _mark(store, session_ids, "archived", 0, N_("brought back {conversation}"), (), patience)


def pin(store: Store, session_ids: Sequence[str], *, patience: float = PATIENCE) -> Change:
    """Protect conversations from what Hermes deletes by itself (0.20); arguments and errors as of `archive`."""
    return _mark(store, session_ids, "pinned", 1, N_("pinned {conversation}"), (), patience)


def unpin(store: Store, session_ids: Sequence[str], *, patience: float = PATIENCE) -> Change:
    """Remove pins; arguments and errors as of `archive`."""
    return _mark(store, session_ids, "pinned", 0, N_("unpinned {conversation}"), (), patience)
