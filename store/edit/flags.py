"""Archive, pin, and undo: set columns of sessions in one transaction and record the values before
and after.

As in Hermes (`set_session_archived`), a flag is set on every row of a compression lineage.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ..connection.connect import Store
from ..connection.reader import Reader
from ..errors import NotFoundError, RefusedError, WriteUnverifiedError
from ..text import as_text, one_line
from ..wording import N_, _, ngettext
from .guards import Needs
from .transaction import Transaction, write
from .values import Value, bound, read_row, select_values, text_of

_TITLE = 60
Values = Mapping[str, Value]
"""Values by column with their storage class, so that text that is not UTF-8 is restored byte for
byte too."""


COMPRESSED_ANCESTORS = (
    "up(id) AS (SELECT ?1 UNION SELECT p.id FROM up "
    "JOIN sessions c ON c.id = up.id JOIN sessions p ON p.id = c.parent_session_id "
    "WHERE p.end_reason = 'compression')"
)
"""For WITH RECURSIVE: a session and the compressed sessions it continues. UNION ends a cycle of
parents too."""


class RowChange(NamedTuple):
    """Columns of one session before and after."""

    session_id: str
    before: Values
    after: Values


class Change(NamedTuple):
    """One write."""

    sentence: str
    """What was done, in the past tense; empty if nothing was."""
    rows: tuple[RowChange, ...]
    """In the order they were changed."""

    @property
    def session_ids(self) -> tuple[str, ...]:
        """Ids of the changed sessions."""
        return tuple(row.session_id for row in self.rows)


def read_columns(
    source: Reader | Transaction, session_id: object, columns: Sequence[str]
) -> list[dict[str, Value]]:
    """Return columns of the sessions with an id: of one, unless it is gone or the store is
    damaged."""
    select = f"SELECT {select_values(columns)} FROM sessions WHERE id = ?"
    return [read_row(columns, row) for row in source.rows(select, [session_id])]


def set_columns(tx: Transaction, session_id: str, after: Values) -> RowChange | None:
    """Set those columns of one session that differ from `after`; return None if none does.

    Raises:
        RefusedError: There is no such row, or more than one.
    """
    rows = read_columns(tx, session_id, list(after))
    if len(rows) != 1:
        raise RefusedError(
            _("The session {session} is not there any more.").format(session=session_id),
            is_unchanged=True,
        )
    changes = {column: value for column, value in after.items() if rows[0][column] != value}
    if not changes:
        return None
    pairs = {column: bound(value) for column, value in changes.items()}
    assignments = ", ".join(f"{column} = {mark}" for column, (mark, _value) in pairs.items())
    values = [value for _mark, value in pairs.values()]
    if tx.execute(f"UPDATE sessions SET {assignments} WHERE id = ?", [*values, session_id]) != 1:
        raise RefusedError(
            _("The session {session} could not be changed alone.").format(session=session_id),
            is_unchanged=True,
        )
    return RowChange(session_id, {column: rows[0][column] for column in changes}, changes)


def check_changes(reader: Reader, changes: Sequence[RowChange]) -> None:
    """Read changed rows back.

    Raises:
        WriteUnverifiedError: One of them does not have the new values.
    """
    for row in changes:
        stored = read_columns(reader, row.session_id, list(row.after))
        if stored == [dict(row.after)]:
            continue
        if len(stored) != 1:
            raise WriteUnverifiedError(
                _("{session} was changed, but is not there any more.").format(
                    session=row.session_id
                )
            )
        column = next(name for name in row.after if stored[0][name] != row.after[name])
        raise WriteUnverifiedError(
            _(
                "{session} was changed, but does not read back as it was left: {column} is {found}, not {left}."
            ).format(
                session=row.session_id,
                column=column,
                found=_shown(stored[0][column]),
                left=_shown(row.after[column]),
            ),
            remedy=_("Another program may have written it at the same moment."),
        )


def _shown(value: Value) -> str:
    text = text_of(value)
    return "NULL" if text is None else f"“{text}”"


def undo(store: Store, change: Change) -> Change:
    """Restore the values that a change has overwritten, all of them or none; the result can be
    undone in turn.

    Raises:
        RefusedError: A row has been changed again since, or another session has its title; nothing
            was changed.
        StoreBusyError: Others did not release the store in time.
    """

    def work(tx: Transaction) -> tuple[RowChange, ...]:
        undone: list[RowChange] = []
        for row in reversed(change.rows):
            stored = read_columns(tx, row.session_id, list(row.after))
            if not stored:
                raise RefusedError(
                    _("{session} is not there any more.").format(session=row.session_id),
                    is_unchanged=True,
                )
            if stored != [dict(row.after)]:
                raise RefusedError(
                    _("{session} has been changed since, so it is left as it is.").format(
                        session=row.session_id
                    ),
                    is_unchanged=True,
                )
            _check_title_is_free(tx, row)
            back = set_columns(tx, row.session_id, row.before)
            if back is not None:
                undone.append(back)
        return tuple(undone)

    if not change.rows:
        return Change("", ())
    columns = frozenset(column for row in change.rows for column in row.after)
    rows = write(store, work, check_changes, needs=Needs(frozenset({"sessions"}), columns))
    return Change(_("undone: {done}").format(done=change.sentence), rows)


def _check_title_is_free(tx: Transaction, row: RowChange) -> None:
    """Refuse to restore a title that another session has by now; not every store has a unique index
    on titles."""
    title = row.before.get("title")
    if title is None:
        return
    mark, value = bound(title)
    holders = tx.rows(
        f"SELECT id FROM sessions WHERE title = {mark} AND id <> ?", [value, row.session_id]
    )
    if holders:
        raise RefusedError(
            _("The title {title} of {session} has been given to {other} since.").format(
                title=_shown(title), session=row.session_id, other=holders[0][0]
            ),
            is_unchanged=True,
        )


def lineage(tx: Transaction, session_id: str) -> list[str]:
    """Return the ids of all sessions linked with one, up and down, by a compressed parent.

    These include branches and subagents of a compressed session, as in Hermes (0.17 to 0.22).

    Raises:
        NotFoundError: There is no such session.
    """
    if not tx.rows("SELECT 1 FROM sessions WHERE id = ?", [session_id]):
        raise NotFoundError(
            _("There is no session {session} in this store.").format(session=session_id),
            is_unchanged=True,
        )
    rows = tx.rows(
        f"WITH RECURSIVE {COMPRESSED_ANCESTORS}, "
        "down(id) AS (SELECT ?1 UNION SELECT c.id FROM down "
        "JOIN sessions p ON p.id = down.id JOIN sessions c ON c.parent_session_id = p.id "
        "WHERE p.end_reason = 'compression') "
        "SELECT id FROM up UNION SELECT id FROM down",
        [session_id],
    )
    return [str(row[0]) for row in rows]


def _name_conversations(tx: Transaction, session_ids: Sequence[str]) -> str:
    """Return the title of a single conversation, or the number of them."""
    ids = list(dict.fromkeys(session_ids))
    if len(ids) != 1:
        return ngettext("1 conversation", "{count:,} conversations", len(ids)).format(
            count=len(ids)
        )
    title = tx.schema.session("title")
    rows = tx.rows(f"SELECT {title} FROM sessions s WHERE s.id = ?", ids)
    text = as_text(rows[0][0]) if rows else None
    return f"“{one_line(text, _TITLE)}”" if text else ids[0]


def _set_flag(
    store: Store,
    session_ids: Sequence[str],
    column: str,
    value: int,
    sentence: str,
    spared: Collection[str] = (),
) -> Change:
    def work(tx: Transaction) -> tuple[str, tuple[RowChange, ...]]:
        columns = tx.schema.session_columns
        after: dict[str, Value] = {column: value}
        if column == "archived" and "auto_archived" in columns:
            after["auto_archived"] = (
                0  # otherwise a resume undoes it as an archive of Hermes' own (0.22)
            )
        if column == "pinned" and value and {"auto_archived", "hidden"} <= columns:
            after["hidden"] = 0  # since 0.22 a pin unhides
        changed: dict[str, RowChange] = {}
        for session_id in session_ids:
            for relative in lineage(tx, session_id):
                row = set_columns(tx, relative, after) if relative not in spared else None
                if row is not None:
                    changed[relative] = row
        return _name_conversations(tx, session_ids), tuple(changed.values())

    name, rows = write(
        store,
        work,
        lambda reader, result: check_changes(reader, result[1]),
        needs=Needs(
            frozenset({"sessions"}), frozenset({"end_reason", "parent_session_id", column})
        ),
    )
    return Change(_(sentence).format(conversation=name) if rows else "", rows)


def archive(store: Store, session_ids: Sequence[str], *, spared: Collection[str] = ()) -> Change:
    """Hide conversations from lists, in one transaction; `unarchive` shows them again.

    The sessions are any segments: the flag is set on their whole lineages, except on those members
    that are `spared`, though Hermes would archive these too.

    Raises:
        NotFoundError: There is no such session; nothing was changed.
        RefusedError: The store must not be written to, or has no archive (before 0.16).
        StoreBusyError: Others did not release the store in time.
    """
    return _set_flag(store, session_ids, "archived", 1, N_("archived {conversation}"), spared)


def unarchive(store: Store, session_ids: Sequence[str]) -> Change:
    """Show archived conversations in lists again; arguments and errors as of `archive`."""
    return _set_flag(store, session_ids, "archived", 0, N_("brought back {conversation}"))


def pin(store: Store, session_ids: Sequence[str]) -> Change:
    """Protect conversations from what Hermes deletes by itself (0.20); arguments and errors as of
    `archive`."""
    return _set_flag(store, session_ids, "pinned", 1, N_("pinned {conversation}"))


def unpin(store: Store, session_ids: Sequence[str]) -> Change:
    """Remove pins; arguments and errors as of `archive`."""
    return _set_flag(store, session_ids, "pinned", 0, N_("unpinned {conversation}"))
