"""Archiving and pinning: a mark on every row of a compression lineage, as Hermes sets it (`set_session_archived`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..connect import Store
from ..errors import NotFoundError
from ..text import as_text, one_line
from ..trash.values import Encoded
from ..wording import N_, _, ngettext
from .change import Change, RowChange, apply, check
from .unit import PATIENCE, Needs, Unit, write

_TITLE = 60


def lineage(unit: Unit, session_id: str) -> list[str]:
    """The rows that carry a mark together: up and down over compressed parents, whatever the child is.

    So a branch or a subagent of a compressed session goes with it, as in Hermes (0.17 to 0.22).

    Args:
        unit: The transaction.
        session_id: Any segment.

    Raises:
        NotFoundError: There is no such session.
    """
    if not unit.rows("SELECT 1 FROM sessions WHERE id = ?", [session_id]):
        raise NotFoundError(
            _("There is no session {session} in this store. Nothing was changed.").format(session=session_id)
        )
    # UNION drops what it has seen, so that a ring of parents ends too.
    found = unit.rows(
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


def _subject(unit: Unit, session_ids: Sequence[str]) -> str:
    """What was meant, in a few words."""
    ids = list(dict.fromkeys(session_ids))
    if len(ids) != 1:
        return ngettext("1 conversation", "{count:,} conversations", len(ids)).format(count=len(ids))
    title = unit.schema.session("title")
    found = unit.rows(f"SELECT {title} FROM sessions s WHERE s.id = ?", ids)
    text = as_text(found[0][0]) if found else None
    return f"“{one_line(text, _TITLE)}”" if text else ids[0]


def _mark(
    store: Store, session_ids: Sequence[str], column: str, value: int, done: str, spared: Collection[str], wait: float
) -> Change:
    def work(unit: Unit) -> tuple[str, tuple[RowChange, ...]]:
        columns = unit.schema.session_columns
        after: dict[str, Encoded] = {column: value}
        if column == "archived" and "auto_archived" in columns:
            after["auto_archived"] = 0  # else a resume takes it for one that Hermes' own sweep may undo (0.22)
        if column == "pinned" and value and {"auto_archived", "hidden"} <= columns:
            after["hidden"] = 0  # since 0.22 a pin shows what was hidden
        changed: dict[str, RowChange] = {}
        for session_id in session_ids:
            for each in lineage(unit, session_id):
                row = apply(unit, each, after) if each not in spared else None
                if row is not None:
                    changed[each] = row
        return _subject(unit, session_ids), tuple(changed.values())

    needed = frozenset(f"sessions.{name}" for name in ("end_reason", "parent_session_id", column))
    subject, rows = write(
        store,
        work,
        lambda reader, result: check(reader, result[1]),
        needs=Needs(frozenset({"sessions"}), needed),
        patience=wait,
    )
    return Change(_(done).format(conversation=subject) if rows else "", rows)


def archive(
    store: Store, session_ids: Sequence[str], *, spared: Collection[str] = (), patience: float = PATIENCE
) -> Change:
    """Put conversations away: hidden from lists, nothing lost, brought back by `unarchive`.

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
    """Bring conversations back; arguments and errors as of `archive`."""
    return _mark(store, session_ids, "archived", 0, N_("brought back {conversation}"), (), patience)


def pin(store: Store, session_ids: Sequence[str], *, patience: float = PATIENCE) -> Change:
    """Keep conversations from what Hermes deletes by itself (0.20); arguments and errors as of `archive`."""
    return _mark(store, session_ids, "pinned", 1, N_("pinned {conversation}"), (), patience)


def unpin(store: Store, session_ids: Sequence[str], *, patience: float = PATIENCE) -> Change:
    """Let go of pins; arguments and errors as of `archive`."""
    return _mark(store, session_ids, "pinned", 0, N_("unpinned {conversation}"), (), patience)
