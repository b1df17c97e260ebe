"""A bundle: an SQLite file of deleted conversations, which opens as the store it is from.

The file has the tables of the store with those rows that belong to the conversations, under their
rowids. Columns have no types, so that no affinity changes a value, and no value passes through
Python. Beside them are `bundle` (facts), `bundle_sessions`, `bundle_conversations`,
`bundle_dangling` (references that led nowhere before the delete), `bundle_files` (transcripts), and
a table for each column that the delete sets to NULL. The SHA-256 of the file stands beside it:
SQLite does not notice a flipped byte (https://sqlite.org/pragma.html#pragma_integrity_check).
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..connection.connect import Origin
from ..connection.failures import SQLITE_ERRORS, decode
from ..connection.reader import rows_in
from ..connection.stored_values import as_int
from ..errors import BrowseError, NotFoundError
from ..files import open_regular, read_regular
from ..text import as_text
from ..wording import _
from .progress import NOBODY, Progress

SUFFIX, SUM, PARTIAL = ".db", ".sha256", ".partial-"
"""Endings of a bundle and its checksum, and the prefix of one that is being written."""
FORMAT = 2
"""Increased when older programs can no longer read a bundle; 1 were folders (0.1.0)."""
_CHUNK = 1 << 20
_LONGEST_SUM = 200
_TITLE = 300


class TrashError(BrowseError):
    """The trash cannot store a bundle, for lack of space or permission; nothing was deleted."""

    exit_code = 5
    code = "trash"


class BundleDamagedError(BrowseError):
    """A bundle differs from its checksum, or is none."""

    code = "bundle-damaged"


class BundleNotFoundError(NotFoundError):
    """There is no bundle with that name."""

    code = "bundle-not-found"


class SavedConversation(NamedTuple):
    """A conversation to write into a bundle."""

    id: str
    """Its tip."""
    title: str | None
    sessions: tuple[str, ...]
    """With those of its subagents."""


class BundleFacts(NamedTuple):
    """What a bundle says of itself."""

    name: str
    created_at: float
    """Unix seconds."""
    origin: Origin
    messages: int
    conversations: tuple[SavedConversation, ...]

    @property
    def sessions(self) -> tuple[str, ...]:
        """Ids of all its sessions."""
        return tuple(session for each in self.conversations for session in each.sessions)


def read_only_uri(path: Path) -> str:
    """Return the URI of a bundle for SQLite: nothing beside it is looked for, and none is made."""
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a bundle to read it.

    Raises:
        BundleDamagedError: It cannot be read.
    """
    try:
        with open_regular(path):  # no pipe and no device, which SQLite would wait for
            pass
        with contextlib.closing(sqlite3.connect(read_only_uri(path), uri=True)) as connection:
            connection.text_factory = decode
            yield connection
    except (OSError, *SQLITE_ERRORS) as error:
        sentence = _("It cannot be read ({reason}).", reason=error)
        raise BundleDamagedError(sentence) from error


def read_bundle_facts(path: Path) -> BundleFacts:
    """Read what a bundle says of itself, without its checksum.

    Raises:
        BundleDamagedError: With the reason.
    """
    try:
        with opened(path) as connection:
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
            owners = connection.execute("SELECT conversation, id FROM bundle_sessions").fetchall()
            titles = connection.execute(
                f"SELECT id, substr(title, 1, {_TITLE}) FROM bundle_conversations"
            ).fetchall()
        if facts["name"] != path.stem:
            raise BundleDamagedError(_("It has been renamed."))
        sessions: dict[str, list[str]] = {}
        for tip, session in owners:
            sessions.setdefault(str(tip), []).append(str(session))
        return BundleFacts(
            path.stem,
            float(facts["created_at"]),
            Origin(str(facts["store"]), as_text(facts["instance"])),
            int(facts["messages"]),
            tuple(
                SavedConversation(str(tip), as_text(title), tuple(sessions.get(str(tip), ())))
                for tip, title in titles
            ),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BundleDamagedError(_("Its facts are broken.")) from error


def count_messages(path: Path, sessions: Sequence[str]) -> int:
    """Count the messages of some sessions of a bundle.

    Raises:
        BundleDamagedError: It cannot be read.
    """
    counts = "SELECT count(*) FROM messages WHERE session_id IN ({keys})"
    with opened(path) as connection:
        rows = rows_in(lambda *query: connection.execute(*query).fetchall(), counts, sessions)
        return sum(as_int(count) for (count,) in rows)


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
        sentence = _("It cannot be read in full ({reason}).", reason=error)
        raise BundleDamagedError(sentence) from error
    if wanted != [digest.hexdigest(), path.name]:
        raise BundleDamagedError(_("It differs from its SHA-256: it is damaged."))
    return read_bundle_facts(path)
