"""The bundles of a trash: listed, verified, dropped, and what they know together of families.

None is dropped by itself unless the user has set an age.

A delete sets the parent of what stays to NULL, and a session that is deleted later no longer names its parent. So a
bundle keeps, beside its rows and the references it set to NULL, every tie between its own sessions and others that
neither of these shows; it finds them in the bundles that are there when it is written. Whichever of two sessions comes
back second is tied to the first then, in any order, and also when the other bundle has been dropped since.
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
from .bundle import PARTIAL, is_same_store, load, origin_of, read_lines, verify
from .files import remove_folder, sync_folder, write_file
from .format import MANIFEST, RESTORED, BundleDamagedError, BundleNotFoundError, Manifest, Origin, TrashError
from .tables import Rows

_NAME = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
_DROPPED = ".dropped-"
_OLD = 86_400.0
_KEPT = 10_000
_PARENT = "parent_session_id"


class Bundle(NamedTuple):
    """A bundle as the trash lists it."""

    name: str
    path: Path
    created_at: float
    """Unix seconds; for a damaged bundle, when its folder was made."""
    conversations: tuple[str, ...]
    """Their tips."""
    sessions: tuple[str, ...]
    messages: int
    bytes: int
    """On disk."""
    title: str | None
    """Of the only conversation, or of the first with the number of others."""
    store: str
    """Path of the store it is from."""
    restored_at: float | None = None
    """When it was put back last."""
    damage: str = ""
    """Why it cannot be used; empty for a sound one."""
    titles: tuple[str | None, ...] = ()
    """Titles of the conversations, in the same order."""
    back: frozenset[str] = frozenset()
    """Sessions that were restored without the rest."""


class Known(NamedTuple):
    """What the bundles of one store say of families."""

    parents: dict[str, str]
    """The parent of each session that had one, by the newest bundle that says so."""
    bundles: dict[str, str]
    """The newest bundle that holds each session."""


class _Bundle(NamedTuple):
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
    return _("{title} and {count:,} more").format(title=first or manifest.conversations[0], count=more)


def _marks(folder: Path) -> tuple[float | None, dict[str, float]]:
    """Return when the whole bundle was restored last, and when each session that was restored without the rest."""
    try:
        marked = json.loads((folder / RESTORED).read_bytes())
        moments, parts = marked.get("at") or [None], marked.get("sessions") or {}
        whole = float(moments[-1]) if isinstance(moments[-1], int | float) else None
        return whole, {str(session): float(moment) for session, moment in parts.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None, {}


def describe(folder: Path) -> Bundle:
    """Sum up a bundle; a damaged one says why it cannot be used."""
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
    restored_at, parts = _marks(folder)
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
        back=frozenset(parts).intersection(manifest.sessions),
    )


def _folders(trash: Path) -> list[Path]:
    try:
        found = [entry.name for entry in os.scandir(trash) if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    except OSError as error:
        sentence = _("The trash at {trash} cannot be read ({reason}).").format(trash=trash, reason=error.strerror)
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
    """Find the folder of a bundle by its name, or by a beginning that no other has.

    Raises:
        BundleNotFoundError: There is none, or several.
    """
    names = [folder.name for folder in _folders(trash)]
    fitting = [name] if name in names else [each for each in names if name and each.startswith(name)]
    if len(fitting) != 1:
        several, none = _("Several bundles begin with “{name}”."), _("There is no bundle “{name}” in {trash}.")
        raise BundleNotFoundError(
            (several if fitting else none).format(name=name, trash=trash),
            remedy=_("`hermes-browse trash list` shows their names."),
        )
    return trash / fitting[0]


def check(trash: Path, name: str) -> Manifest:
    """Read a whole bundle and compare it with its sums.

    Raises:
        BundleNotFoundError: There is none of that name.
        BundleDamagedError: With what is wrong.
    """
    return verify(find(trash, name))


def drop(trash: Path, name: str) -> Bundle:
    """Remove a bundle for good.

    Raises:
        BundleNotFoundError: There is none of that name.
        TrashError: It cannot be removed.
    """
    sweep(trash, time.time())  # also what an earlier one could not remove to the end
    folder = find(trash, name)
    bundle = describe(folder)
    discard(folder)
    return bundle


def expire(trash: Path, older_than: float, now: float) -> list[Bundle]:
    """Remove the bundles of the age that the user has set for good; damaged ones stay, for somebody to look at.

    Args:
        trash: The folder of the bundles.
        older_than: Seconds.
        now: Unix seconds.

    Returns:
        What was removed.

    Raises:
        BrowseError: The trash cannot be read, or one of them cannot be removed.
    """
    old = [each for each in list_bundles(trash) if not each.damage and 0 < each.created_at < now - older_than]
    for each in old:
        discard(each.path)
    return old


def discard(folder: Path) -> None:
    """Remove the folder of a bundle; after a crash what is left of it is no bundle any more.

    Raises:
        TrashError: It cannot be removed, or not to the end.
    """
    away = folder.with_name(f"{_DROPPED}{folder.name}")
    try:
        os.rename(folder, away)
    except OSError as error:
        sentence = _("{path} cannot be removed ({reason}).").format(path=folder, reason=error.strerror)
        raise TrashError(sentence) from error
    with contextlib.suppress(OSError):  # then it may be there again after a power cut
        sync_folder(folder.parent)
    remove_folder(away)
    if away.exists():
        raise TrashError(
            _("{name} is out of the trash, but some of its files are still on the disk, in {path}.").format(
                name=folder.name, path=away
            ),
            remedy=_("The next delete, or the next bundle that is dropped, removes them too."),
        )


def sweep(trash: Path, now: float) -> int:
    """Remove what interrupted work left behind: unfinished bundles a day old, and dropped ones.

    An unfinished bundle holds nothing that is not in the store: rows are deleted only once it is whole.

    Returns:
        How many folders went.
    """
    count = 0
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(trash)):
            left = entry.name.startswith(_DROPPED)
            if entry.name.startswith(PARTIAL):
                left = now - entry.stat(follow_symlinks=False).st_mtime > _OLD
            if left and entry.is_dir(follow_symlinks=False):
                remove_folder(Path(entry.path))
                count += 1
    return count


def mark_restored(folder: Path, manifest: Manifest, now: float, sessions: Collection[str]) -> None:
    """Record in a bundle which sessions were restored; a failure to do so is harmless.

    Args:
        folder: Of the bundle.
        manifest: Of the same bundle.
        now: Unix seconds.
        sessions: Those that were restored now.
    """
    whole, parts = _marks(folder)
    parts |= dict.fromkeys(sessions, now)
    if parts.keys() >= set(manifest.sessions):
        whole, parts = now, {}
    marks = ({"at": [whole]} if whole is not None else {}) | ({"sessions": parts} if parts else {})
    temporary = folder / f".{RESTORED}"
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)
        write_file(temporary, json.dumps(marks).encode("ascii"))
        os.replace(temporary, folder / RESTORED)


def known(trash: Path, origin: Origin) -> Known:
    """Return what all sound bundles of a store say of families.

    Args:
        trash: The folder of the bundles; may be missing.
        origin: Of the store.
    """
    found: list[_Bundle] = []
    try:
        names = [entry.name for entry in os.scandir(trash) if not entry.name.startswith(".")]
    except OSError:
        names = []  # what is wrong with the folder is said by whatever reads or writes a bundle there
    for name in names:
        try:
            bundle = _read(trash / name, os.stat(trash / name / MANIFEST).st_mtime_ns)
        except (OSError, BundleDamagedError):
            continue  # the list of the trash says so; what it knew is lost with it
        if is_same_store(bundle.origin, origin):
            found.append(bundle)
    found.sort()
    return Known(
        {child: parent for bundle in found for child, parent in bundle.ties},
        {session: bundle.name for bundle in found for session in bundle.sessions},
    )


@lru_cache(maxsize=_KEPT)
def _read(folder: Path, _written: int) -> _Bundle:
    """Read one bundle; a clean-up writes thousands, and each of them asks all that are there."""
    manifest = load(folder)
    ties = [
        (str(link.key.get("id")), str(link.was))
        for link in manifest.links
        if (link.table, link.column) == ("sessions", _PARENT) and isinstance(link.was, str)
    ]
    ties += _in_rows(folder) if manifest.kin is None else manifest.kin
    return _Bundle(manifest.created_at, manifest.name, manifest.origin, manifest.sessions, tuple(ties))


def _in_rows(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield child and parent from the rows of an older bundle, whose manifest does not name them."""
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
    """Return the ties of some sessions to others that the manifest would not show without them.

    Args:
        reader: An open reader of the store.
        trash: The folder of the bundles.
        ids: Of the sessions.

    Returns:
        Child and parent, of which one is among the sessions.
    """
    if _PARENT not in reader.schema.session_columns:
        return []
    own = set(ids)
    kept = known(trash, origin_of(reader)).parents
    named = _parents(reader, ids)
    ties = {child: parent for child, parent in named.items() if parent is not None and parent not in own}
    up = {child: kept[child] for child in ids if child in kept and named.get(child) is None and kept[child] not in own}
    down = {child: parent for child, parent in kept.items() if parent in own and child not in own}
    others = list(dict.fromkeys([*up.values(), *down]))
    there = {str(row[0]) for row in reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", others)}
    # Where both are in the store, the store is right.
    ties |= {child: parent for child, parent in up.items() if parent not in there}
    return sorted([*ties.items(), *((child, parent) for child, parent in down.items() if child not in there)])


def _parents(source: Rows, ids: Sequence[str]) -> dict[str, str | None]:
    """Return the parents that the store names for those of some sessions that are in it."""
    rows = source.rows_in(f"SELECT id, {_PARENT} FROM sessions WHERE id IN ({{keys}})", ids)
    return {str(child): None if parent is None else str(parent) for child, parent in rows}


def loose_children(source: Rows, known_ties: Known, parents: Sequence[str]) -> list[tuple[str, str]]:
    """Return the sessions in the store that lost their parent when it was deleted, each with that parent.

    Args:
        source: A transaction.
        known_ties: From `family_of`.
        parents: Ids of sessions that are there again.
    """
    wanted = set(parents)
    children = [child for child, parent in known_ties.parents.items() if parent in wanted]
    now = _parents(source, children)
    return [(each, known_ties.parents[each]) for each in children if each in now and now[each] is None]


def family_of(trash: Path, manifest: Manifest) -> Known:
    """Return what is known of the family of a bundle's sessions.

    A bundle that asked the others when it was written knows best; for an older one they are asked now. The parents
    in its own rows count too: of two sessions in one bundle, either may be restored without the other.
    """
    found = known(trash, manifest.origin)
    if manifest.kin is None:
        return found
    return found._replace(parents=dict(_in_rows(trash / manifest.name)) | dict(manifest.kin))
