"""Sessions that are back tied to each other, to what stayed, and to what came back from other bundles."""

from __future__ import annotations

from ..trash.kin import Known, loose_children
from ..trash.layout import Link, Tables
from ..trash.manifest import Manifest
from ..trash.values import Encoded, bind, bound, encode_row, quoted, reading, text_of
from ..wording import _
from .unit import Unit

_PARENT = "parent_session_id"


class Tying:
    """The ties of one bundle in one transaction.

    Args:
        unit: The transaction, with all rows in.
        tables: Of the store.
        manifest: Of the bundle.
        known: What the trash knows of its family.
        back: Sessions of the bundle that are in the store now.
    """

    def __init__(self, unit: Unit, tables: Tables, manifest: Manifest, known: Known, back: frozenset[str]) -> None:
        self._unit = unit
        self._tables = tables
        self._manifest = manifest
        self._known = known
        self._back = back
        self.changed: dict[str, dict[str, Encoded]] = {}
        """By session: columns that are not as the bundle has them."""
        self.dangling: list[tuple[str, Encoded]] = []
        """Sessions whose parent was in no store when they went, with the parent they name: see `dangling.py`."""
        self.notes: list[str] = []

    def run(self, parents: list[tuple[str, str, Encoded]]) -> None:
        """Tie all.

        Args:
            parents: What the rows of the bundle name: session, column, parent.
        """
        for session, column, parent in parents:
            self._to_parent(session, column, parent)
        if _PARENT in self._tables.columns["sessions"]:
            named = {session for session, column, _was in parents if column == _PARENT}
            for session in sorted(self._back - named):
                if session in self._known.parents:
                    self._to_known(session, self._known.parents[session])
        for link in self._manifest.links:
            self._put_link(link)
        if _PARENT in self._tables.columns["sessions"]:
            for child, parent in loose_children(self._unit, self._known, sorted(self._back)):
                if child not in self._back:
                    self._set(child, _PARENT, parent)

    def _set(self, session: str, column: str, parent: Encoded) -> bool:
        """Name a parent where there is none and it is in the store; False where nothing was done."""
        mark, value = bound(parent)
        done = self._unit.execute(
            f"UPDATE sessions SET {quoted(column)} = {mark} WHERE id = ? AND {quoted(column)} IS NULL "
            f"AND EXISTS (SELECT 1 FROM sessions p WHERE p.id = {mark})",
            [value, session, value],
        )
        return done == 1

    def _to_parent(self, session: str, column: str, parent: Encoded) -> None:
        """Give a session the parent that its row names."""
        if self._set(session, column, parent):
            return
        found = self._unit.rows(f"SELECT {reading([column])} FROM sessions WHERE id = ?", [session])
        now = encode_row([column], found[0])[column]
        if now is not None:  # it was there before
            if now != parent:
                self._note_elsewhere(session, parent)
            return
        self.changed.setdefault(session, {})[column] = None
        if session in self._manifest.orphans and column == _PARENT:
            self.dangling.append((session, parent))
        elif not self._note_waiting(session, parent):
            self.notes.append(
                _("{session} has no parent: {parent}, which it names, is by now in no store.").format(
                    session=session, parent=text_of(parent)
                )
            )

    def _to_known(self, session: str, parent: str) -> None:
        """Give a session the parent that was cut from it before it went; without one it is as it was when it went."""
        if self._set(session, _PARENT, parent):
            self.changed.setdefault(session, {})[_PARENT] = parent

    def _note_waiting(self, session: str, parent: Encoded) -> bool:
        """Say where the parent is, where it is in the trash."""
        bundle = self._known.bundles.get(text_of(parent) or "")
        if bundle is None or text_of(parent) in self._manifest.sessions:
            return False
        waiting = _(
            "{session} has no parent for now: {parent} is in the trash. Restoring {bundle} ties them together again."
        )
        self.notes.append(waiting.format(session=session, parent=text_of(parent), bundle=bundle))
        return True

    def _note_elsewhere(self, key: str, parent: Encoded) -> None:
        elsewhere = _("{key} hung on {parent} and is gone or hangs elsewhere by now.")
        self.notes.append(elsewhere.format(key=key, parent=text_of(parent)))

    def _put_link(self, link: Link) -> None:
        """Have a row that stayed refer to what is back, unless it refers to something else by now."""
        columns = self._tables.columns.get(link.table, ())
        if link.column not in columns or not set(link.key) <= set(columns):
            return
        target = bound(link.was)
        if link.table == "sessions" and target[1] not in self._back:
            return
        marks, values = bind(link.key)
        where = " AND ".join(f"{quoted(name)} IS {mark}" for name, mark in zip(link.key, marks, strict=True))
        done = self._unit.execute(
            f"UPDATE {quoted(link.table)} SET {quoted(link.column)} = {target[0]} "
            f"WHERE {where} AND {quoted(link.column)} IS NULL",
            [target[1], *values],
        )
        if done:
            return
        there = self._unit.rows(
            f"SELECT {quoted(link.column)} IS {target[0]} FROM {quoted(link.table)} WHERE {where}",
            [target[1], *values],
        )
        if there and there[0][0]:  # tied again before
            return
        key = ", ".join(text_of(value) or "" for value in link.key.values())
        bundle = self._known.bundles.get(key) if link.table == "sessions" and not there else None
        if bundle is not None:
            waiting = _("{key}, a child of {parent}, is in the trash. Restoring {bundle} ties them together again.")
            self.notes.append(waiting.format(key=key, parent=text_of(link.was), bundle=bundle))
        else:
            self._note_elsewhere(key, link.was)
