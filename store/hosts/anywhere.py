"""Change conversations on the machine of their store, this one or another.

Arguments and errors are those of the functions of the same name in `store.edit` and `store.cleanup.bulk`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..cleanup import bulk
from ..cleanup.plan import Plan, Planned
from ..connection.connect import Store
from ..edit import flags, titles
from ..edit import restore as restoring
from ..edit.delete import Deleted
from ..edit.flags import Change
from ..sessions.catalog import Catalog
from ..trash.progress import Tell, never, quiet
from . import edits
from .remote import RemoteStore

Flagging = Callable[[Store, Sequence[str]], Change]


def _flagging(command: str, here: Callable[..., Change]) -> Flagging:
    def change(store: Store, ids: Sequence[str]) -> Change:
        return edits.set_flag(store, ids, command) if isinstance(store, RemoteStore) else here(store, ids)

    return change


archive = _flagging("archive", flags.archive)
unarchive = _flagging("unarchive", flags.unarchive)
pin = _flagging("pin", flags.pin)
unpin = _flagging("unpin", flags.unpin)


def rename(store: Store, session_id: str, typed: str) -> titles.Renamed:
    """As `titles.rename`."""
    if isinstance(store, RemoteStore):
        return edits.rename(store, session_id, typed)
    return titles.rename(store, session_id, typed)


def undo(store: Store, change: Change) -> Change:
    """As `flags.undo`."""
    return edits.undo(store, change) if isinstance(store, RemoteStore) and change.rows else flags.undo(store, change)


def restore(store: Store, trash: Path, deleted: Deleted, files: Path | None, *, check: bool) -> restoring.Restored:
    """Undo a delete, as `restore.restore`."""
    if isinstance(store, RemoteStore):
        return edits.restore(store, deleted.bundle.name, deleted.sessions)
    return restoring.restore(store, trash, deleted.bundle.name, sessions_folder=files, check=check)


def archive_unit(store: Store, plan: Plan) -> bulk.Unit[Change]:
    """As `bulk.archive_unit`; elsewhere the guards of that machine decide about relatives."""
    if not isinstance(store, RemoteStore):
        return bulk.archive_unit(store, plan)
    return lambda planned: edits.set_flag(store, [each.conversation.id for each in planned], "archive")


def delete_unit(
    store: Store,
    catalog: Catalog,
    trash: Path,
    files: Path | None,
    *,
    stop: Callable[[], bool] = never,
    tell: Tell = quiet,
) -> bulk.Unit[Deleted]:
    """As `bulk.delete_unit`."""
    if not isinstance(store, RemoteStore):
        return bulk.delete_unit(store, catalog, trash, files, stop=stop, tell=tell)

    def unit(planned: Sequence[Planned]) -> Deleted:
        return edits.delete(store, [each.conversation.id for each in planned])

    return unit


def check_index(store: Store) -> tuple[str, ...]:
    """As `restore.check_index`; a machine checks its own with each restore."""
    return () if isinstance(store, RemoteStore) else restoring.check_index(store)
