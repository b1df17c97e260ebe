"""What forbids a write: to a store as a whole, and to conversations that are protected; each with its reason."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..connection.connect import Reader, Store
from ..connection.schema import NEWEST_KNOWN
from ..errors import RefusedError, StoreBusyError, StoreDamagedError, StoreError
from ..sessions.catalog import Catalog
from ..sessions.conversations import Forest
from ..sessions.models import Chain, Status
from ..sessions.relations import status
from ..sessions.rows import read_busy
from ..trash.format import quoted
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
"""File systems whose locks another machine, or the host, may not see (https://sqlite.org/useovernet.html)."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a store must have for an operation."""

    tables: frozenset[str] = frozenset()
    """Tables that are written to; their triggers must be able to run here."""
    columns: frozenset[str] = frozenset()
    """Columns, as `table.column`."""


def check_writable(store: Store, reader: Reader, needs: Needs) -> None:
    """Refuse to write where that is not safe.

    Args:
        store: The store.
        reader: An open reader of it.
        needs: What the operation needs.

    Raises:
        RefusedError: With the reason.
        StoreDamagedError: SQLite finds the file malformed.
    """
    _check_file(store, reader)
    _check_schema(reader, needs)
    _check_triggers(reader, needs.tables)


def _check_file(store: Store, reader: Reader) -> None:
    path = store.path
    if reader.snapshot:
        raise RefusedError(
            _("{path} can only be read, because its folder takes no files. Nothing was changed.").format(path=path),
            remedy=_("Check the permissions of the folder."),
        )
    target = Path(os.path.realpath(path))  # a link may lead into another folder, and the log is beside the target
    for place, sentence in (
        (target, _("{path} cannot be written to: the file is read-only. Nothing was changed.")),
        (target.parent, _("{path} cannot be written to: its folder is read-only. Nothing was changed.")),
    ):
        # Root may write anywhere; even so a file that nobody is allowed to write to is meant to stay as it is.
        if not os.access(place, os.W_OK) or not place.stat().st_mode & 0o222:
            raise RefusedError(sentence.format(path=path), remedy=_("Check the permissions."))
    system = _file_system(target)
    if system in _NETWORK:
        raise RefusedError(
            _(
                "{path} lies on a file system ({system}) where locks of other machines may not be seen, so that two "
                "could write at once. Nothing was changed."
            ).format(path=path, system=system),
            remedy=_("Run hermes-browse on the machine whose disk it is."),
        )


def _file_system(path: Path) -> str:
    """Return the type of the file system of a file, empty where that cannot be told, as on other systems than Linux."""
    if not sys.platform.startswith("linux"):
        return ""
    try:
        device = os.stat(path).st_dev
        lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in lines:  # "36 35 98:0 / /mnt rw - ext4 /dev/root rw": proc_pid_mountinfo(5)
        fields, _dash, rest = line.partition(" - ")
        if fields.split(" ")[2:3] == [wanted]:
            return rest.split(" ")[0]
    return ""


def _check_schema(reader: Reader, needs: Needs) -> None:
    schema = reader.schema
    if schema.is_newer:
        raise RefusedError(
            _(
                "This store has schema {version}, newer than any this version knows how to write to ({known}). "
                "Nothing was changed."
            ).format(version=schema.version, known=NEWEST_KNOWN),
            remedy=_("Update hermes-browse; reading works meanwhile."),
        )
    missing = sorted(needs.tables - schema.tables)
    missing += sorted(column for column in needs.columns if not _has(reader, column))
    if missing:
        raise RefusedError(
            _("This store has no {name}, which this needs: its Hermes is too old. Nothing was changed.").format(
                name=missing[0]
            ),
            remedy=_("A newer Hermes adds it when it is started."),
        )


def _has(reader: Reader, dotted: str) -> bool:
    table, _dot, column = dotted.partition(".")
    return column in {row[0] for row in reader.rows("SELECT name FROM pragma_table_info(?)", [table])}


def _check_triggers(reader: Reader, tables: Iterable[str]) -> None:
    """Refuse to write where triggers of the tables cannot run, because they need a tokenizer that only Hermes loads.

    A trigger that fails makes the write fail with an error that nobody understands, and to drop the trigger would leave
    the search index behind.
    """
    wanted = {table.lower() for table in tables}
    found = reader.rows("SELECT tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
    bodies = [str(sql) for table, sql in found if str(table).lower() in wanted]
    if not bodies:
        return
    words = set(re.findall(r"\w+", " ".join(bodies).lower()))
    virtual = reader.rows("SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'")
    for name, sql in ((str(name), str(sql)) for name, sql in virtual):
        if name.lower() in words:
            match = f"WHERE {quoted(name)} MATCH 'a' " if "fts5" in sql.lower() else ""
            # SQLite 3.47 and later make a tokenizer on first use, so that a prepared statement proves nothing.
            _probe(reader, f"{name[:1].upper()}{name[1:]}", f"SELECT rowid FROM {quoted(name)} {match}LIMIT 1")
    for table in sorted(wanted):
        columns = [str(row[0]) for row in reader.rows("SELECT name FROM pragma_table_info(?)", [table])]
        settings = ", ".join(f"{quoted(column)} = {quoted(column)}" for column in columns)
        trigger = _("A trigger of {table}").format(table=table)
        # Compiled, not run: SQLite reads the triggers for it and looks for all they refer to.
        _probe(reader, trigger, f"EXPLAIN UPDATE {quoted(table)} SET {settings}")
        _probe(reader, trigger, f"EXPLAIN DELETE FROM {quoted(table)}")
        _probe(
            reader,
            trigger,
            f"EXPLAIN INSERT INTO {quoted(table)} ({', '.join(map(quoted, columns))}) "
            f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(table)}",
        )


def _probe(reader: Reader, what: str, sql: str) -> None:
    try:
        reader.rows(sql)
    except (StoreDamagedError, StoreBusyError):
        raise
    except StoreError as error:
        said = error.__cause__
        raise RefusedError(
            _(
                "{what} needs something this SQLite does not have ({said}), and a write must keep it true. "
                "Nothing was changed."
            ).format(what=what, said=said),
            remedy=_("Use Hermes' own commands for this store."),
        ) from error


def family_root(forest: Forest, chain: Chain) -> str:
    """Return the root segment of the conversation that is reached from another over all parent links."""
    seen = {chain.root.id}
    while (above := forest.parent_chain(chain)) is not None and above.root.id not in seen:
        seen.add(above.root.id)
        chain = above
    return chain.root.id


def protected(reader: Reader, catalog: Catalog, now: float) -> dict[str, str]:
    """Return the conversations that no bulk write touches, by the id of their root segment, each with the reason.

    Args:
        reader: An open reader; leases and locks are read again, since they come and go within a turn.
        catalog: The conversations.
        now: Unix seconds.
    """
    busy = read_busy(reader, now)
    found: dict[str, str] = {}
    for chain in catalog.forest.chains():
        reason = _reason(catalog.forest, chain, busy, now)
        if reason:
            found[chain.root.id] = reason
    return found


def _reason(forest: Forest, chain: Chain, busy: frozenset[str], now: float) -> str:
    if any(segment.pinned for segment in chain.segments):
        return _("it is pinned")
    if any(segment.id in busy for segment in chain.segments):
        return _("a turn or a compression is running in it")
    if busy:
        # Hermes keys a turn lease by the root it reaches over parent links (0.20): that may be another conversation.
        root = family_root(forest, chain)
        if root in busy:
            return _("a turn is running in its family ({root})").format(root=root)
    if status(chain.segments, now) is Status.LIVE:
        return _("it is live")
    return ""
