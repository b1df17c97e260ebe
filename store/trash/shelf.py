"""List and remove the bundles of a trash, and collect the parent links that they record.

Bundles expire only if the user has set an age.

A delete sets the parent of remaining children to NULL, and a child that is deleted later no longer
names its parent. So besides its rows and the references set to NULL, a bundle records every other
link between its sessions and others, as found in the existing bundles when it is written. Of two
linked sessions, whichever is restored second is linked to the first again, in any order, even if
the other bundle has been removed since.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..connection.reader import Reader
from ..errors import BrowseError
from ..wording import _
from .bundle import PARTIAL, is_same_store, load, origin_of, read_lines
from .format import (
    MANIFEST,
    RESTORED,
    BundleDamagedError,
    BundleNotFoundError,
    Manifest,
    Origin,
    TrashError,
)
from .session_files import remove_folder, sync_folder, write_file
from .tables import Rows

_NAME = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
_DROPPED = ".dropped-"
_UNFINISHED_AGE = 86_400.0
_CACHED = 10_000
_PARENT = "parent_session_id"


class Bundle(NamedTuple):
    """A bundle as the trash lists it."""

    name: str
    path: Path
    created_at: float
    """Unix seconds; for a damaged bundle, the mtime of its folder."""
    conversations: tuple[str, ...]
    """Their tips."""
    sessions: tuple[str, ...]
    messages: int
    bytes: int
    """Size on disk."""
    title: str | None
    """Of the only conversation, or of the first, with the number of others."""
    store: str
    """Path of the original store."""
    restored_at: float | None = None
    """Unix seconds when the whole bundle was last restored."""
    damage: str = ""
    """Reason why it cannot be used; empty for an intact one."""
    titles: tuple[str | None, ...] = ()
    """Titles of the conversations, in the same order."""
    restored: frozenset[str] = frozenset()
    """Sessions that were restored separately."""


class RecordedLinks(NamedTuple):
    """The parent links and sessions recorded in the bundles of one store."""

    parents: dict[str, str]
    """Child → parent, according to the newest bundle that records it."""
    bundles: dict[str, str]
    """Session → name of the newest bundle that holds it."""


class _BundleLinks(NamedTuple):
    created_at: float
    name: str
    origin: Origin
    sessions: tuple[str, ...]
    ties: tuple[tuple[str, str], ...]


def _disk_bytes(folder: Path) -> int:
    total = 0
    for place, _folders_in, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def _title(manifest: Manifest) -> str | None:
    first = next((title for title in manifest.titles if title), None)
    more = len(manifest.conversations) - 1
    if more < 1:
        return first
    return _("{title} and {count:,} more").format(
        title=first or manifest.conversations[0], count=more
    )


def _restored_times(folder: Path) -> tuple[float | None, dict[str, float]]:
    """Return when the whole bundle was last restored, and when each session was restored
    separately."""
    try:
        marked = json.loads((folder / RESTORED).read_bytes())
        moments, parts = marked.get("at") or [None], marked.get("sessions") or {}
        whole = float(moments[-1]) if isinstance(moments[-1], int | float) else None
        return whole, {str(session): float(moment) for session, moment in parts.items()}
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ):
        return None, {}


def describe(folder: Path) -> Bundle:
    """Summarise a bundle; for a damaged one, with the reason."""
    size = _disk_bytes(folder)
    try:
        manifest = load(folder)
        if manifest.name != folder.name:
            raise BundleDamagedError(_("Its folder has been renamed."))
    except BundleDamagedError as error:
        try:
            made = folder.stat().st_mtime
        except OSError:
            made = 0.0
        return Bundle(folder.name, folder, made, (), (), 0, size, None, "", damage=str(error))
    restored_at, parts = _restored_times(folder)
    return Bundle(
        manifest.name,
        folder,
        manifest.created_at,
        manifest.conversations,
        manifest.sessions,
        manifest.messages,
        size,
        _title(manifest),
        manifest.origin.path,
        restored_at,
        titles=manifest.titles,
        restored=frozenset(parts).intersection(manifest.sessions),
    )


def _folders(trash: Path) -> list[Path]:
    try:
        found = [entry.name for entry in os.scandir(trash) if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    except OSError as error:
        sentence = _("The trash at {trash} cannot be read ({reason}).").format(
            trash=trash, reason=error.strerror
        )
        raise BrowseError(sentence) from error
    return [trash / name for name in found if _NAME.fullmatch(name)]


def list_bundles(trash: Path) -> list[Bundle]:
    """Return all bundles, newest first.

    Raises:
        BrowseError: The folder cannot be read.
    """
    found = [describe(folder) for folder in _folders(trash)]
    return sorted(found, key=lambda each: (each.created_at, each.name), reverse=True)


def find(trash: Path, name: str) -> Path:
    """Find the folder of a bundle by its name or a unique prefix of it.

    Raises:
        BundleNotFoundError: There is none, or several.
    """
    names = [folder.name for folder in _folders(trash)]
    matching = (
        [name] if name in names else [each for each in names if name and each.startswith(name)]
    )
    if len(matching) != 1:
        several, none = (
            _("Several bundles begin with “{name}”."),
            _("There is no bundle “{name}” in {trash}."),
        )
        raise BundleNotFoundError(
            (several if matching else none).format(name=name, trash=trash),
            remedy=_("`hermes-browse trash list` shows their names."),
        )
    return trash / matching[0]


def drop(trash: Path, name: str) -> None:
    """Remove a bundle permanently.

    Raises:
        BundleNotFoundError: There is none with that name.
        TrashError: It cannot be removed.
    """
    sweep(trash, time.time())  # including the remains of an incomplete removal
    discard(find(trash, name))


def expire(trash: Path, older_than: float, now: float) -> list[Bundle]:
    """Permanently remove bundles older than some seconds, except damaged ones, which are kept for
    inspection.

    Returns:
        The removed bundles.

    Raises:
        BrowseError: The trash cannot be read, or one of them cannot be removed.
    """
    old = [
        each
        for each in list_bundles(trash)
        if not each.damage and 0 < each.created_at < now - older_than
    ]
    for each in old:
        discard(each.path)
    return old


def discard(folder: Path) -> None:
    """Remove the folder of a bundle; it is renamed first, so that a crash leaves no incomplete
    bundle.

    Raises:
        TrashError: It cannot be removed, or not completely.
    """
    dropped = folder.with_name(f"{_DROPPED}{folder.name}")
    try:
        os.rename(folder, dropped)
    except OSError as error:
        sentence = _("{path} cannot be removed ({reason}).").format(
            path=folder, reason=error.strerror
        )
        raise TrashError(sentence) from error
    with contextlib.suppress(OSError):  # then it may reappear after a power failure
        sync_folder(folder.parent)
    remove_folder(dropped)
    if dropped.exists():
        raise TrashError(
            _(
                "{name} is out of the trash, but some of its files are still on the disk, in {path}."
            ).format(name=folder.name, path=dropped),
            remedy=_("The next delete, or the next bundle that is dropped, removes them too."),
        )


def sweep(trash: Path, now: float) -> None:
    """Remove the remains of interrupted work: unfinished bundles a day old, and incompletely
    removed ones.

    All rows of an unfinished bundle are still in the store, because they are deleted only once it
    is complete.
    """
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(trash)):
            is_garbage = entry.name.startswith(_DROPPED)
            if entry.name.startswith(PARTIAL):
                is_garbage = now - entry.stat(follow_symlinks=False).st_mtime > _UNFINISHED_AGE
            if is_garbage and entry.is_dir(follow_symlinks=False):
                remove_folder(Path(entry.path))


def mark_restored(folder: Path, manifest: Manifest, now: float, sessions: Collection[str]) -> None:
    """Record in a bundle which of its sessions have just been restored; failures are ignored."""
    whole, parts = _restored_times(folder)
    parts |= dict.fromkeys(sessions, now)
    if parts.keys() >= set(manifest.sessions):
        whole, parts = now, {}
    marks = ({"at": [whole]} if whole is not None else {}) | ({"sessions": parts} if parts else {})
    temporary = folder / f".{RESTORED}"
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)
        write_file(temporary, json.dumps(marks).encode("ascii"))
        os.replace(temporary, folder / RESTORED)


def recorded_links(trash: Path, origin: Origin) -> RecordedLinks:
    """Collect the parent links and sessions of all intact bundles of a store; the trash may be
    missing."""
    bundles: list[_BundleLinks] = []
    try:
        names = [entry.name for entry in os.scandir(trash) if not entry.name.startswith(".")]
    except OSError:
        names = []  # whatever reads or writes a bundle there reports the error
    for name in names:
        try:
            bundle = _read(trash / name, os.stat(trash / name / MANIFEST).st_mtime_ns)
        except (OSError, BundleDamagedError):
            continue  # the list of the trash reports it; its links are lost
        if is_same_store(bundle.origin, origin):
            bundles.append(bundle)
    bundles.sort()
    return RecordedLinks(
        {child: parent for bundle in bundles for child, parent in bundle.ties},
        {session: bundle.name for bundle in bundles for session in bundle.sessions},
    )


@lru_cache(maxsize=_CACHED)
def _read(folder: Path, _written: int) -> _BundleLinks:
    """Read one bundle; cached by mtime, because a clean-up writes thousands and reads all of them
    for each."""
    manifest = load(folder)
    ties = [
        (str(link.key.get("id")), str(link.was))
        for link in manifest.links
        if (link.table, link.column) == ("sessions", _PARENT) and isinstance(link.was, str)
    ]
    ties += _links_in_rows(folder) if manifest.kin is None else manifest.kin
    return _BundleLinks(
        manifest.created_at, manifest.name, manifest.origin, manifest.sessions, tuple(ties)
    )


def _links_in_rows(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield child and parent from the rows of a bundle."""
    seen = False
    for line in read_lines(folder):
        if line.table == "sessions":
            seen = True
            child, parent = line.row.get("id"), line.row.get(_PARENT)
            if isinstance(child, str) and isinstance(parent, str):
                yield child, parent
        elif seen:
            return


def ties_of(reader: Reader, trash: Path, ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return the parent links between these sessions and others, for `Manifest.kin`: child and
    parent."""
    if _PARENT not in reader.schema.session_columns:
        return []
    own = set(ids)
    recorded = recorded_links(trash, origin_of(reader)).parents
    stored = _parents(reader, ids)
    ties = {
        child: parent
        for child, parent in stored.items()
        if parent is not None and parent not in own
    }
    up = {
        child: recorded[child]
        for child in ids
        if child in recorded and stored.get(child) is None and recorded[child] not in own
    }
    down = {
        child: parent for child, parent in recorded.items() if parent in own and child not in own
    }
    others = list(dict.fromkeys([*up.values(), *down]))
    existing = {
        str(row[0])
        for row in reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", others)
    }
    # If both are in the store, the store is authoritative.
    ties |= {child: parent for child, parent in up.items() if parent not in existing}
    return sorted(
        [
            *ties.items(),
            *((child, parent) for child, parent in down.items() if child not in existing),
        ]
    )


def _parents(source: Rows, ids: Sequence[str]) -> dict[str, str | None]:
    """Read the parents of the sessions that are in the store."""
    rows = source.rows_in(f"SELECT id, {_PARENT} FROM sessions WHERE id IN ({{keys}})", ids)
    return {str(child): None if parent is None else str(parent) for child, parent in rows}


def loose_children(
    source: Rows, recorded: RecordedLinks, parents: Sequence[str]
) -> list[tuple[str, str]]:
    """Return pairs of session and former parent, one of `parents`: sessions in the store whose
    parent is now NULL."""
    restored = set(parents)
    children = [child for child, parent in recorded.parents.items() if parent in restored]
    stored = _parents(source, children)
    return [
        (each, recorded.parents[each])
        for each in children
        if each in stored and stored[each] is None
    ]


def family_of(trash: Path, manifest: Manifest) -> RecordedLinks:
    """Return the parent links that concern the sessions of a bundle.

    `Manifest.kin` takes precedence; a bundle of 0.1.0 lacks it and relies on the other bundles. The
    parents in its own rows count too, because sessions of one bundle may be restored separately.
    """
    found = recorded_links(trash, manifest.origin)
    if manifest.kin is None:
        return found
    return found._replace(parents=dict(_links_in_rows(trash / manifest.name)) | dict(manifest.kin))
