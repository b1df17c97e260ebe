"""The bundles in the trash: listed, summed up, verified, dropped. None is dropped by itself unless an age is set."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from pathlib import Path
from typing import NamedTuple

from ..errors import BrowseError
from ..wording import _
from .bundle import PARTIAL, load, verify
from .folders import remove_folder, sync_folder, write_file
from .manifest import RESTORED, BundleDamagedError, BundleNotFoundError, Manifest, TrashError

_NAME = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
_DROPPED = ".dropped-"
_OLD = 86_400.0


class Bundle(NamedTuple):
    """One line of the trash."""

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
    """Of the only conversation, or of the first and how many more there are."""
    store: str
    """Path of the store it is from."""
    restored_at: float | None = None
    """When it was put back last."""
    damage: str = ""
    """Why it cannot be used; empty for a sound one."""


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


def _restored_at(folder: Path) -> float | None:
    try:
        marked = json.loads((folder / RESTORED).read_bytes())
        moment = marked["at"][-1]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return float(moment) if isinstance(moment, int | float) else None


def describe(folder: Path) -> Bundle:
    """A bundle as one line; a damaged one says why it cannot be used."""
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
        _restored_at(folder),
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
    """All bundles, newest first.

    Raises:
        BrowseError: The folder cannot be read.
    """
    found = [describe(folder) for folder in _folders(trash)]
    return sorted(found, key=lambda each: (each.created_at, each.name), reverse=True)


def find(trash: Path, name: str) -> Path:
    """The folder of a bundle by its name, or by a beginning that only one has.

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
    """Read a whole bundle against its sums.

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
    """Remove the bundles of an age for good, as the user has set it; damaged ones stay, for somebody to look at.

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
    """Remove a bundle's folder; what is left of it after a crash is no bundle any more.

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
    """Remove what broken-off work left behind: unfinished bundles a day old, and dropped ones.

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


def mark_restored(folder: Path, now: float | None = None) -> None:
    """Note in a bundle that it has been put back; that this fails is no harm."""
    temporary = folder / f".{RESTORED}"
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)
        write_file(temporary, json.dumps({"at": [time.time() if now is None else now]}).encode("ascii"))
        os.replace(temporary, folder / RESTORED)
