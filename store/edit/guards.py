"""Checks before a write: whether the store may be written to.

A table with a trigger that is not one of Hermes' own is not: a trigger changes rows that no
statement of ours names, so that a delete of one conversation could take others along, and a bundle
would not have them. Hermes' own only keep its search index and the order of display.
`known_triggers.json` holds a digest of each, with the releases it was seen in;
`tests/helpers/record_triggers.py` wrote it, and says how.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ..connection.connect import Store
from ..connection.reader import Reader, Row
from ..connection.schema import NEWEST_KNOWN, Schema, sql_name
from ..errors import StoreBusyError, StoreDamagedError, StoreError, StoreRefusedError
from ..text import one_line, text_of
from ..trash.tables import literal
from ..wording import _

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = frozenset(
    [
        "9p", "afpfs", "afs", "ceph", "cifs", "coda", "davfs", "drvfs", "gfs2", "glusterfs", "lustre", "ncpfs", "nfs",
        "nfs4", "ocfs2", "prl_fs", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs",
        "fuse.davfs2", "fuse.glusterfs", "fuse.gvfsd-fuse", "fuse.rclone", "fuse.s3fs", "fuse.sshfs",
        "fuse.vmhgfs-fuse",
    ]
)  # fmt: skip
"""File systems whose locks another machine, or the host, may not see
(https://sqlite.org/useovernet.html)."""


DELETE_AND_RESTORE = ("sessions", "messages")
"""The tables that a delete and a restore surely write to."""


def check_writable(store: Store, reader: Reader, tables: Iterable[str]) -> None:
    """Refuse to write to a store if that is not safe; see `check_triggers` for `tables`.

    Raises:
        StoreRefusedError: With the reason.
        StoreDamagedError: SQLite finds the file malformed.
    """
    path, target = store.path, Path(store.real_path)
    system = _file_system(target)
    for is_so, sentence, remedy in (
        (
            reader.snapshot,
            _("{path} can only be read, because its folder takes no files."),
            _("Check the permissions of the folder."),
        ),
        (
            _is_read_only(target),
            _("{path} cannot be written to: the file is read-only."),
            _("Check the permissions."),
        ),
        (
            _is_read_only(target.parent),
            _("{path} cannot be written to: its folder is read-only."),
            _("Check the permissions."),
        ),
        (
            # Each name has a log of its own, and no process sees that of another name
            # (https://sqlite.org/howtocorrupt.html, 2.6).
            target.stat().st_nlink > 1,
            _("{path} has a second name (a hard link), under which Hermes may write to it."),
            _("Copy the file, so that each name has its own."),
        ),
        (
            system in _NETWORK,
            _(
                "{path} lies on a file system ({system}) where locks of other machines may not be seen, so that two "
                "could write at once."
            ),
            _("Run hermes-browse on the machine whose disk it is."),
        ),
    ):
        if is_so:
            raise StoreRefusedError(sentence.format(path=path, system=system), remedy=remedy)
    check_version(reader.schema)
    check_triggers(reader.rows, tables)


def _is_read_only(path: Path) -> bool:
    """Return whether a file or folder may not be written to; root may write anywhere, but the mode
    bits show that one is meant to stay as it is."""
    return not os.access(path, os.W_OK) or not path.stat().st_mode & 0o222


def _file_system(path: Path) -> str:
    """Return the file system type of a file; empty if unknown, as on any system but Linux."""
    try:
        device = os.stat(path).st_dev
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # "36 35 98:0 / /mnt rw - ext4 /dev/root rw": proc_pid_mountinfo(5)
    mounted = rf" {os.major(device)}:{os.minor(device)} .* - (\S+)"
    found = re.search(mounted, mounts)
    return found[1] if found else ""


def check_version(schema: Schema) -> None:
    """Refuse to write to a store of a Hermes that this version does not know.

    Raises:
        StoreRefusedError: It is newer.
    """
    if schema.is_newer:
        raise StoreRefusedError(
            _(
                "This store has schema {version}, newer than any this version knows how to write to ({known}).",
                version=schema.version,
                known=NEWEST_KNOWN,
            ),
            remedy=_("Update hermes-browse; reading works meanwhile."),
        )


def check_search_triggers(reader: Reader) -> None:
    """Refuse to delete or restore in a store whose search index does not follow by itself.

    Salvaged stores lack Hermes' triggers. An index that Hermes has detached, it rebuilds as a
    whole.

    Raises:
        StoreRefusedError: A trigger is missing, or cannot run for lack of a tokenizer that only
            Hermes loads.
    """
    schema = reader.schema
    if schema.is_index_stale:
        return
    for index in filter(None, (schema.fts, schema.trigram)):
        name = index.name
        for event in ("INSERT", "DELETE"):
            if f"{name}_{event.lower()}" not in schema.triggers:
                raise StoreRefusedError(
                    _(
                        "The search index {name} has no trigger that follows each {event}.",
                        name=name,
                        event=event,
                    ),
                    remedy=_("Start a chat in Hermes once: it makes the trigger again."),
                )
        try:
            # SQLite 3.47 and later create the tokenizer on first use, so preparing a statement is
            # no proof.
            reader.rows(f"SELECT rowid FROM {name} WHERE {name} MATCH 'a' LIMIT 1")
        except (StoreDamagedError, StoreBusyError):
            raise
        except StoreError as error:
            raise StoreRefusedError(
                _(
                    "{what} needs something this SQLite does not have ({said}), and a write must keep it true.",
                    what=name.capitalize(),
                    said=error.__cause__,
                ),
                remedy=_("Use Hermes' own commands for this store."),
            ) from error


RECORD = Path(__file__).with_name("known_triggers.json")
"""A list of objects with `table`, `name`, `sha256` and `releases`."""

_LONGEST_NAME = 100
_TOKEN = re.compile(
    r"""
    (?P<space> \s+ | --[^\n]* | /\*.*?\*/ )
    | (?P<text> '(?:[^']|'')*' )
    | (?P<quoted> "(?P<bare>\w+)" )
    | (?P<word> \w+ )
    | (?P<sign> . )
    """,
    re.VERBOSE | re.DOTALL,
)


def normalised(sql: str) -> str:
    """Return the SQL of a trigger without comments and differences of case, white space and
    needless quotes."""
    return " ".join(
        (match["bare"] or match["word"] or "").lower() or match[0]
        for match in _TOKEN.finditer(sql)
        if not match["space"]
    )


def digest(sql: str) -> str:
    """Return the SHA-256 of the normalised SQL of a trigger, as hexadecimal digits."""
    return hashlib.sha256(normalised(sql).encode("utf-8", "replace")).hexdigest()


_KNOWN = {(each["table"], each["sha256"]) for each in json.loads(RECORD.read_text("ascii"))}
"""The table, in lower case, and the digest of each trigger of Hermes."""


def check_triggers(rows: Callable[[str], list[Row]], tables: Iterable[str]) -> None:
    """Refuse to write to tables of a store if one of them has a trigger that is not Hermes' own.

    Args:
        rows: Runs a SELECT in the store and returns all its rows.
        tables: Those that will be written to. With `messages`, the tables that hold a search index
            count as well.

    Raises:
        StoreRefusedError: There is one; the sentence names it and its table.
    """
    written = {table.lower() for table in tables}
    for name, table, sql in rows(
        "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
    ):
        target = text_of(table).lower()
        is_index = target.startswith("messages_fts") and "messages" in written
        is_written = is_index or target in written
        if is_written and (target, digest(text_of(sql))) not in _KNOWN:
            raise StoreRefusedError(
                _(
                    "The table {table} has a trigger that is not one of Hermes' own, {trigger}: what it would do besides "
                    "could not be undone.",
                    table=one_line(text_of(table), _LONGEST_NAME),
                    trigger=one_line(text_of(name), _LONGEST_NAME),
                ),
                remedy=_(
                    "Remove the trigger if you know what made it, or use Hermes' own commands for this store."
                ),
            )


def begin_counting(rows: Callable[..., list[Row]], names: Iterable[str]) -> None:
    """Count from now on what a connection deletes from some tables and inserts, by TEMP triggers.

    A delete names the rows it takes, but what else goes with them is decided by the store: by
    triggers and by foreign keys that cascade.
    """
    rows("CREATE TEMP TABLE hermes_browse_changes (name PRIMARY KEY, expected, gone, new)")
    for number, name in enumerate(names):
        rows("INSERT INTO hermes_browse_changes (name) VALUES (?)", [name])
        for event, column in (("DELETE", "gone"), ("INSERT", "new")):
            rows(
                f"CREATE TEMP TRIGGER hermes_browse_{column}_{number} "
                f"AFTER {event} ON main.{sql_name(name)} BEGIN UPDATE hermes_browse_changes "
                f"SET {column} = {column} + 1 WHERE name = {literal(name)}; END"
            )


def check_counted(rows: Callable[[str], list[Row]]) -> None:
    """Refuse a delete that has taken more or less from a table than is expected.

    Raises:
        StoreRefusedError: The sentence names the table.
    """
    for name, expected, gone, new in rows(
        "SELECT * FROM temp.hermes_browse_changes WHERE gone <> expected OR new"
    ):
        raise StoreRefusedError(
            _(
                "The table {table} would lose {found:,} rows and get {new:,}, not lose {expected:,}: the trash "
                "would not have all that is gone, so the delete was taken back.",
                table=one_line(text_of(name), _LONGEST_NAME),
                found=gone,
                new=new,
                expected=expected,
            ),
            remedy=_(
                "Something in this store changes rows by itself. Use Hermes' own commands for it."
            ),
        )
