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
from collections.abc import Iterator
from pathlib import Path

from ..connection.connect import OWN, Origin
from ..connection.failures import SQLITE_ERRORS, decode
from ..connection.reader import Row
from ..files import open_regular
from ..wording import _
from .bundle import TrashError
from .tables import CHOSEN, PARENT

LINKS = "links.db"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS links (store, instance, child, parent, PRIMARY KEY (store, child))",
    "CREATE INDEX IF NOT EXISTS links_parent ON links (parent)",
)


@contextlib.contextmanager
def _opened(trash: Path) -> Iterator[sqlite3.Connection]:
    """Open the file, which may be new, or have been left by a killed process."""
    path = trash / LINKS
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    with open_regular(path):  # no pipe, which SQLite would wait for
        pass
    with contextlib.closing(sqlite3.connect(_uri(path), uri=True, timeout=10)) as connection:
        connection.text_factory = decode
        for statement in _TABLES:
            connection.execute(statement)
        yield connection


def _uri(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=rw"


def record_links(connection: sqlite3.Connection, trash: Path, origin: Origin) -> None:
    """Record the links of the sessions of a bundle that is about to be deleted from a store.

    Args:
        connection: Has the store as `main`, and the sessions in `temp.chosen`.
        trash: The folder of the bundles.
        origin: The store.

    Raises:
        TrashError: They cannot be written.
    """
    store = origin.values()
    own = f"(child IN ({CHOSEN}) OR parent IN ({CHOSEN}))"
    in_store = "(SELECT id FROM main.sessions)"
    try:
        with _opened(trash):
            connection.execute("ATTACH ? AS family", [_uri(trash / LINKS)])
        # Of two sessions that are both there, the store knows better.
        connection.execute(
            f"DELETE FROM family.links WHERE {OWN} AND {own} "
            f"AND child IN {in_store} AND parent IN {in_store}",
            store,
        )
        connection.execute(
            f"INSERT OR REPLACE INTO family.links SELECT ?1, ?2, id, {PARENT} "
            f"FROM main.sessions WHERE {PARENT} IN ({CHOSEN}) "
            f"OR (id IN ({CHOSEN}) AND {PARENT} IS NOT NULL)",
            store,
        )
    except (OSError, *SQLITE_ERRORS) as error:
        raise TrashError(
            _(
                "The links of its conversations cannot be recorded in {trash} ({reason}).",
                trash=trash,
                reason=error,
            ),
            remedy=_("Free disk space, or check its permissions."),
            is_unchanged=True,
        ) from error


def read_links(trash: Path, origin: Origin) -> list[Row]:
    """Return all recorded pairs of child and parent of a store.

    Raises:
        TrashError: The file cannot be read.
    """
    try:
        with _opened(trash) as connection:
            own = f"SELECT child, parent FROM links WHERE {OWN}"
            return connection.execute(own, origin.values()).fetchall()
    except (OSError, *SQLITE_ERRORS) as error:
        raise TrashError(
            _("{file} in the trash cannot be read ({reason}).", file=LINKS, reason=error),
            remedy=_("If it is damaged, move it away: then families are not linked again."),
            is_unchanged=True,
        ) from error
