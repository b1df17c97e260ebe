"""Which session was whose child, over all bundles of a trash: `links.db`.

A delete sets the parent of remaining children to NULL, and a child that is deleted later no longer
names its parent. So each delete records the links of its sessions here, and each restore reads
them: of two linked sessions, whichever is restored second is linked to the first again, in any
order, even if the other bundle has been removed since.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..connection.failures import SQLITE_ERRORS
from ..connection.reader import Reader, Row, rows_in
from ..files import open_regular
from ..text import as_text
from ..wording import _
from .bundle import SUFFIX, BundleFacts, Origin, TrashError, origin_of
from .shelf import LINKS

_PARENT = "parent_session_id"
_TABLES = {"links": ("child", "parent"), "deleted": ("session", "bundle")}
_OWN = "CASE WHEN instance IS NULL OR ?2 IS NULL THEN store = ?1 ELSE instance = ?2 END"
"""Rows of one store: see `Origin.is_same`."""


@contextlib.contextmanager
def _opened(trash: Path) -> Iterator[sqlite3.Connection]:
    """Open the file in a transaction; it may be new, or have been left by a killed process."""
    path = trash / LINKS
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    with open_regular(path):  # no pipe, which SQLite would wait for
        pass
    uri = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(uri, uri=True, timeout=10)
    with contextlib.closing(connection), connection:
        for name, (key, value) in _TABLES.items():
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {name} "
                f"(store, instance, {key}, {value}, PRIMARY KEY (store, {key}))"
            )
        connection.execute("CREATE INDEX IF NOT EXISTS links_parent ON links (parent)")
        yield connection


def record(trash: Path, reader: Reader, facts: BundleFacts) -> None:
    """Record the links of the sessions of a bundle that is about to be deleted from a store.

    Raises:
        TrashError: They cannot be written.
    """
    origin, sessions = origin_of(reader), facts.sessions
    store = [os.path.realpath(origin.path), origin.instance]
    try:
        with _opened(trash) as connection:
            known = _read(connection, origin, sessions)
            added, cut = _current(reader, sessions, known)
            connection.executemany(
                "INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?)",
                [(*store, child, parent) for child, parent in added.items()],
            )
            connection.executemany(
                f"DELETE FROM links WHERE {_OWN} AND child = ?3", [(*store, c) for c in cut]
            )
            connection.executemany(
                "INSERT OR REPLACE INTO deleted VALUES (?, ?, ?, ?)",
                [(*store, session, facts.name) for session in sessions],
            )
    except (OSError, *SQLITE_ERRORS) as error:
        raise TrashError(
            _("The links of its conversations cannot be recorded in {trash} ({reason}).").format(
                trash=trash, reason=error
            ),
            remedy=_("Free disk space, or check its permissions."),
            is_unchanged=True,
        ) from error


def _current(
    reader: Reader, sessions: Sequence[str], known: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Return the links that the store has now, and the children of recorded links that it does not
    have, though both are there: there the store is right."""
    if _PARENT not in reader.schema.session_columns:
        return {}, []

    def parents(column: str, ids: Sequence[str]) -> dict[str, str | None]:
        select = f"SELECT id, {_PARENT} FROM sessions WHERE {column} IN ({{keys}})"
        return {str(id): as_text(parent) for id, parent in reader.rows_in(select, ids)}

    stored = parents("id", sorted({*known.keys(), *known.values(), *sessions}))
    links = {id: stored.get(id) for id in sessions} | parents(_PARENT, sessions)
    added = {child: parent for child, parent in links.items() if parent is not None}
    cut = [
        child
        for child, parent in known.items()
        if child in stored and parent in stored and stored[child] != parent and child not in added
    ]
    return added, cut


def read_links(trash: Path, origin: Origin, sessions: Sequence[str]) -> dict[str, str]:
    """Return the recorded parents by child, where one of both is among the sessions.

    Raises:
        TrashError: The file cannot be read.
    """
    try:
        with _opened(trash) as connection:
            return _read(connection, origin, sessions)
    except (OSError, *SQLITE_ERRORS) as error:
        sentence = _("{file} in the trash cannot be read ({reason}).")
        raise TrashError(
            sentence.format(file=LINKS, reason=error),
            remedy=_("If it is damaged, move it away: then families are not linked again."),
            is_unchanged=True,
        ) from error


def bundles_of(trash: Path, origin: Origin, sessions: Sequence[str]) -> dict[str, str]:
    """Return which bundle holds each of some sessions, of those that are there and known."""
    select = f"SELECT session, bundle FROM deleted WHERE {_OWN} AND session IN ({{keys}})"
    try:
        with _opened(trash) as connection:
            found = _select(connection, select, origin, sessions)
    except (OSError, *SQLITE_ERRORS):
        return {}  # a sentence does not name a bundle then
    return {id: name for id, name in found.items() if (trash / f"{name}{SUFFIX}").exists()}


def _read(
    connection: sqlite3.Connection, origin: Origin, sessions: Sequence[str]
) -> dict[str, str]:
    """Return parents by child; one of both is among the sessions."""
    found: dict[str, str] = {}
    for column in ("child", "parent"):
        select = f"SELECT child, parent FROM links WHERE {_OWN} AND {column} IN ({{keys}})"
        found |= _select(connection, select, origin, sessions)
    return found


def _select(
    connection: sqlite3.Connection, sql: str, origin: Origin, keys: Sequence[str]
) -> dict[str, str]:
    def rows(statement: str, parameters: Sequence[object]) -> list[Row]:
        return connection.execute(statement, parameters).fetchall()

    store = [os.path.realpath(origin.path), origin.instance]
    return {str(one): str(other) for one, other in rows_in(rows, sql, list(keys), store)}
