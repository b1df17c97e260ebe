"""A bundle: an SQLite file of deleted conversations, which opens as the store it is from.

The file has the tables of the store with those rows that belong to the conversations, under their
rowids. Columns have no types, so that no affinity changes a value, and no value passes through
Python. Beside them are `bundle` (facts), `bundle_sessions`, `bundle_conversations`,
`bundle_dangling` (references that led nowhere before the delete), `bundle_files` (transcripts),
`bundle_tags`, and `tables.CHILDREN` (sessions that stayed and lost their parent). The SHA-256 of the
file stands beside it: SQLite does not notice a flipped byte
(https://sqlite.org/pragma.html#pragma_integrity_check).
`links.db` is one file for all bundles of a trash.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from ..connection.connect import OWN, Origin
from ..connection.failures import SQLITE_ERRORS, opened, own_file, uri_of
from ..connection.reader import Row, grouped, rows_in
from ..connection.stored_values import as_int, first_texts
from ..errors import BrowseError, NotFoundError
from ..files import open_regular, read_regular
from ..progress import NOBODY, Progress
from ..text import as_text
from ..wording import _
from .tables import Query

SUFFIX, SUM, PARTIAL = ".db", ".sha256", ".partial-"
"""Endings of a bundle and its checksum, and the prefix of one that is being written."""
FORMAT = 2
"""Increased when older programs can no longer read a bundle; 1 were folders (0.1.0)."""
_CHUNK = 1 << 20
_LONGEST_SUM = 200
_TITLE = 300
READ_ONLY = "ro&immutable=1"
"""Mode of a bundle that is opened: nothing beside it is looked for, and none is made."""
LINKS = "links.db"
"""Which session was whose child, over all bundles of a trash; see `record_links`."""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS links (store, instance, child, parent, PRIMARY KEY (store, child))",
    "CREATE INDEX IF NOT EXISTS links_parent ON links (parent)",
)


class TrashError(BrowseError):
    """The trash cannot take, read or remove a bundle, as for lack of space or permission."""

    exit_code = 5


class BundleDamagedError(BrowseError):
    """A bundle differs from its checksum, or is none."""


class BundleNotFoundError(NotFoundError):
    """There is no bundle with that name."""


class SavedConversation(NamedTuple):
    """A conversation to write into a bundle."""

    id: str
    """Its tip."""
    title: str | None
    """Or its first words."""
    sessions: tuple[str, ...]
    """With those of its subagents."""
    messages: int


class BundleFacts(NamedTuple):
    """What a bundle says of itself."""

    name: str
    created_at: float
    """Unix seconds."""
    origin: Origin
    conversations: tuple[SavedConversation, ...]

    @property
    def sessions(self) -> tuple[str, ...]:
        """Ids of all its sessions."""
        return tuple(session for each in self.conversations for session in each.sessions)

    @property
    def messages(self) -> int:
        return sum(each.messages for each in self.conversations)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a bundle to read it.

    Raises:
        BundleDamagedError: It cannot be read.
    """
    try:
        open_regular(path).close()  # no pipe and no device, which SQLite would wait for
        with closing(opened(path, READ_ONLY, 0)) as connection:
            yield connection
    except (OSError, *SQLITE_ERRORS) as error:
        raise BundleDamagedError(_("It cannot be read ({reason}).", reason=error)) from error


def attach(query: Query, path: Path) -> None:
    """Attach a bundle to a store to be read, outside a transaction.

    Attached to be written, SQLite would lock it with the store, and put a journal for both into
    Hermes' home.
    """
    if "bundle" not in [row[1] for row in query("PRAGMA database_list")]:
        query("ATTACH ? AS bundle", [uri_of(path, READ_ONLY)])


def choose(
    query: Query, sessions: Sequence[str], table: str = "chosen", schema: str = "bundle"
) -> None:
    """Fill a TEMP table with those of some ids that the attached bundle has, or the store."""
    query(f"CREATE TEMP TABLE IF NOT EXISTS {table} (id PRIMARY KEY)")
    query(f"DELETE FROM temp.{table}")
    own = f"SELECT id FROM {schema}.sessions WHERE id IN ({{keys}})"
    rows_in(query, f"INSERT OR IGNORE INTO temp.{table} {own}", sessions)


def read_bundle_facts(path: Path) -> BundleFacts:
    """Read what a bundle says of itself, without its checksum.

    Raises:
        BundleDamagedError: With the reason.
    """
    try:
        with reading(path) as connection:
            odd = "type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'"
            if connection.execute(f"SELECT 1 FROM sqlite_master WHERE {odd}").fetchone():
                raise BundleDamagedError(_("It has more in it than tables."))
            facts = dict(connection.execute("SELECT key, value FROM bundle LIMIT 100").fetchall())
            if facts.get("format") != FORMAT:
                raise BundleDamagedError(
                    _(
                        "It is of format {found}, and this program reads format {known}.",
                        found=str(facts.get("format"))[:20],
                        known=FORMAT,
                    ),
                    remedy=_("A newer hermes-browse wrote it; update."),
                )
            listed = connection.execute(
                f"SELECT c.id, substr(c.title, 1, {_TITLE}), s.id, "
                "(SELECT count(*) FROM messages WHERE session_id = s.id) "
                "FROM bundle_conversations AS c LEFT JOIN bundle_sessions AS s "
                "ON s.conversation = c.id ORDER BY c.rowid, s.rowid"
            ).fetchall()
        if facts["name"] != path.stem:
            raise BundleDamagedError(_("It has been renamed."))
        conversations = tuple(
            SavedConversation(
                str(tip),
                as_text(title),
                tuple(first_texts(row[2:] for row in rows)),
                sum(as_int(row[3]) for row in rows),
            )
            for (tip, title), rows in grouped(listed, itemgetter(0, 1)).items()
        )
        origin = Origin(str(facts["store"]), as_text(facts["instance"]))
        return BundleFacts(path.stem, float(facts["created_at"]), origin, conversations)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BundleDamagedError(_("Its facts are broken.")) from error


def verify(path: Path, progress: Progress = NOBODY) -> BundleFacts:
    """Read a whole bundle and compare it with its checksum.

    Raises:
        BundleDamagedError: With the reason.
        QueryInterruptedError: `progress`, which is checked between reads, was asked to stop.
    """
    digest = hashlib.sha256()
    try:
        wanted = read_regular(path.with_suffix(SUM), _LONGEST_SUM).decode("ascii").split()
        with open_regular(path) as file:
            while data := file.read(_CHUNK):
                progress.check()
                digest.update(data)
    except (OSError, ValueError) as error:
        raise BundleDamagedError(
            _("It cannot be read in full ({reason}).", reason=error)
        ) from error
    if wanted != [digest.hexdigest(), path.name]:
        raise BundleDamagedError(_("It differs from its SHA-256: it is damaged."))
    return read_bundle_facts(path)


def record_links(connection: sqlite3.Connection, trash: Path, origin: Origin) -> None:
    """Record the links of the sessions of a bundle that is about to be deleted from a store.

    A delete sets the parent of remaining children to NULL, and a child that is deleted later no
    longer names its parent. Of two sessions that are linked here, whichever is restored second is
    linked to the first again, in any order, even if the other bundle has been removed since.

    Args:
        connection: Has the store as `main`, and the sessions in `temp.chosen`.
        trash: The folder of the bundles.
        origin: The store.

    Raises:
        TrashError: They cannot be written.
    """
    store = origin.values()
    own = "(child IN (SELECT id FROM chosen) OR parent IN (SELECT id FROM chosen))"
    in_store = "(SELECT id FROM main.sessions)"
    with own_file(trash / LINKS, _TABLES, TrashError):
        connection.execute("ATTACH ? AS family", [uri_of(trash / LINKS, "rw")])
        # Of two sessions that are both there, the store knows better.
        connection.execute(
            f"DELETE FROM family.links WHERE {OWN} AND {own} "
            f"AND child IN {in_store} AND parent IN {in_store}",
            store,
        )
        connection.execute(
            "INSERT OR REPLACE INTO family.links SELECT ?1, ?2, id, parent_session_id "
            "FROM main.sessions WHERE parent_session_id IN (SELECT id FROM chosen) "
            "OR (id IN (SELECT id FROM chosen) AND parent_session_id IS NOT NULL)",
            store,
        )


def read_links(trash: Path, origin: Origin) -> list[Row]:
    """Return all recorded pairs of child and parent of a store.

    Raises:
        TrashError: The file cannot be read.
    """
    with own_file(trash / LINKS, _TABLES, TrashError) as connection:
        own = f"SELECT child, parent FROM links WHERE {OWN}"
        return connection.execute(own, origin.values()).fetchall()
