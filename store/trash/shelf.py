"""List and remove the bundles of a trash, and keep marks beside them.

A bundle never changes. What happens to it later stands in a small JSON file beside it: which
sessions were restored, which conversations are still in the store, because a clean-up spared them
or was killed, and whether the bundle is a copy. Age removes bundles only if the user has set one.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Collection, Container
from contextlib import suppress
from fnmatch import fnmatch
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from ..connection.connect import Store
from ..connection.stored_values import as_time
from ..errors import BrowseError
from ..files import PARTIAL as UNFINISHED
from ..files import read_regular, sync_folder, write_whole
from ..text import text_of
from ..wording import N_, _
from .bundle import (
    LINKS,
    PARTIAL,
    SUFFIX,
    SUM,
    BundleDamagedError,
    BundleFacts,
    BundleNotFoundError,
    TrashError,
    attach,
    read_bundle_facts,
)

MARKS = ".json"
_OLD_FOLDER = N_("it is a folder of hermes-browse 0.1.0, and only 0.1.0 restores it")
_NAME = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}(\.db)?")
_UNFINISHED_AGE = 86_400.0
_LARGEST_MARKS = 64 * 1024 * 1024
_CANDIDATES = 10
"""Names that the error for an ambiguous one lists, the newest first."""


class Bundle(NamedTuple):
    """A bundle as the trash lists it."""

    name: str
    path: Path
    created_at: float
    """Unix seconds; for a damaged bundle, the mtime of its file."""
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
    """Sessions that were restored."""
    is_copy: bool = False
    """Whether it was made without deleting anything."""


class BundleFate(NamedTuple):
    """What has happened to a bundle since it was written."""

    restored_at: float | None = None
    """When some of it was last restored, in Unix seconds."""
    restored: tuple[str, ...] = ()
    """The sessions that were."""
    kept: tuple[str, ...] = ()
    """Conversations that are still in the store, by their tips."""
    deleting: int = 0
    """The process that is deleting them; 0 when it is done."""
    is_copy: bool = False
    """As of `Bundle`."""

    def listed(self, facts: BundleFacts) -> BundleFacts:
        """Return the facts with those conversations that are only in the bundle."""
        listed = tuple(each for each in facts.conversations if each.id not in self.kept)
        return facts._replace(conversations=listed)


def read_fate(path: Path) -> BundleFate:
    """Read the fate of a bundle from the marks beside it; if it has none, or they cannot be read,
    nothing has happened."""
    try:
        document: Any = json.loads(read_regular(path.with_suffix(MARKS), _LARGEST_MARKS))
        return BundleFate(
            as_time(document["restored_at"]),
            tuple(map(str, document["restored"])),
            tuple(map(str, document["kept"])),
            int(document["deleting"]),
            bool(document.get("is_copy")),
        )
    except (OSError, ValueError, TypeError, LookupError, OverflowError, RecursionError):
        return BundleFate()


def write_fate(path: Path, fate: BundleFate) -> None:
    """Mark a bundle with its fate; failures are ignored: marks only tell what the store tells too."""
    beside = path.with_suffix(MARKS)
    with suppress(OSError):
        if fate == BundleFate():
            beside.unlink(missing_ok=True)
        else:
            write_whole(beside, [json.dumps(fate._asdict()).encode("ascii")], replace=True)


def mark_restored(path: Path, now: float, sessions: Collection[str]) -> None:
    """Record which sessions of a bundle have just been restored."""
    fate = read_fate(path)
    restored = tuple(sorted({*fate.restored, *sessions}))
    write_fate(path, fate._replace(restored_at=now, restored=restored))


def mark_kept(path: Path, facts: BundleFacts, gone: Container[str] = ()) -> BundleFate:
    """Mark which conversations a delete that has ended, or was killed, has left in the store.

    Those that are known to be `gone`, or may be, are not looked for.
    """
    fate = read_fate(path)
    asked = [each for each in facts.conversations if each.id not in gone]
    try:
        there = _sessions_left(path, facts) if asked else set()
    except BrowseError:
        return fate  # the next one that looks may find the store again
    kept = tuple(each.id for each in asked if there.issuperset(each.sessions))
    fate = fate._replace(kept=kept, deleting=0)
    write_fate(path, fate)
    return fate


def _sessions_left(path: Path, facts: BundleFacts) -> set[str]:
    """Return which sessions of a bundle were not deleted: they have their start and all their
    messages. An id alone says nothing, as Hermes makes a session of it again when a chat goes on;
    ids of messages are not used twice (AUTOINCREMENT)."""
    with Store(Path(facts.origin.path)).reader() as reader:
        attach(reader.rows, path)
        left = reader.rows(
            "SELECT b.id FROM bundle.sessions AS b JOIN main.sessions AS m "
            "ON m.id = b.id AND m.started_at IS b.started_at WHERE NOT EXISTS ("
            "SELECT 1 FROM bundle.messages AS x WHERE x.session_id = b.id AND NOT EXISTS ("
            "SELECT 1 FROM main.messages AS y WHERE y.id = x.id AND y.session_id = b.id))"
        )
    return {text_of(id) for (id,) in left}


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        pass
    return True


def describe(path: Path) -> Bundle:
    """Summarise a bundle; for a damaged one, with the reason."""
    size, made = 0, 0.0
    with suppress(OSError):
        made = path.lstat().st_mtime
        files = [path, *path.rglob("*")]
        size = sum(each.lstat().st_size for each in files if not each.is_dir())
    bundle = Bundle(path.stem, path, made, (), (), 0, size, None, "")
    if path.suffix != SUFFIX:
        return bundle._replace(damage=_(_OLD_FOLDER))
    try:
        facts = read_bundle_facts(path)
        if not path.with_suffix(SUM).exists():
            raise BundleDamagedError(_("Its checksum is missing."))
    except BundleDamagedError as error:
        return bundle._replace(damage=str(error))
    fate = read_fate(path)
    if fate.deleting and not _is_running(fate.deleting):
        fate = mark_kept(path, facts)
    listed = fate.listed(facts)
    sessions = listed.sessions
    conversations = tuple(each.id for each in listed.conversations)
    titles = tuple(each.title for each in listed.conversations)
    title = next(filter(None, titles), None)
    if others := len(titles[1:]):
        title = _("{title} and {count:,} more", title=title or conversations[0], count=others)
    return bundle._replace(
        created_at=facts.created_at,
        conversations=conversations,
        sessions=sessions,
        messages=listed.messages,
        title=title,
        store=facts.origin.path,
        restored_at=fate.restored_at if set(sessions).issubset(fate.restored) else None,
        titles=titles,
        restored=frozenset(fate.restored).intersection(sessions),
        is_copy=fate.is_copy,
    )


def _paths(trash: Path) -> dict[str, Path]:
    """Return the files of all bundles, and the folders of 0.1.0, by name."""
    try:
        names = os.listdir(trash)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BrowseError(
            _("The trash at {trash} cannot be read ({reason}).", trash=trash, reason=error.strerror)
        ) from error
    return {
        name.removesuffix(SUFFIX): trash / name
        for name in names
        if _NAME.fullmatch(name) and not (trash / name).is_symlink()
    }


def list_bundles(trash: Path) -> list[Bundle]:
    """Return all bundles, newest first, but those of which all conversations are in the store.

    Raises:
        BrowseError: The folder cannot be read.
    """
    bundles = map(describe, _paths(trash).values())
    listed = (each for each in bundles if each.damage or each.conversations)
    return sorted(listed, key=attrgetter("created_at", "name"), reverse=True)


def find(trash: Path, name: str) -> Path:
    """Find the file of a bundle by its name or a unique prefix of it.

    Raises:
        BundleNotFoundError: There is none, or several.
        TrashError: It is a folder of 0.1.0.
    """
    paths = _paths(trash)
    matching = sorted((each for each in paths if name and each.startswith(name)), reverse=True)
    if not matching:
        raise BundleNotFoundError(
            _("There is no deletion “{name}” in {trash}.", name=name, trash=trash),
            remedy=_("`hermes-browse trash list` shows their names."),
        )
    if len(matching) > 1:
        names = ", ".join(matching[:_CANDIDATES]) + (", …" if len(matching) > _CANDIDATES else "")
        raise BundleNotFoundError(
            _("Several deletions begin with “{name}”.", name=name),
            remedy=_("Give more of the name. Candidates: {names}", names=names),
        )
    path = paths[matching[0]]
    _refuse_old(path)
    return path


def _refuse_old(path: Path) -> None:
    """Raise TrashError for a folder of 0.1.0."""
    if path.suffix != SUFFIX:
        raise TrashError(_("{name} cannot be read: {error}", name=path.name, error=_(_OLD_FOLDER)))


def remove_older(trash: Path, older_than: float, now: float) -> list[Bundle]:
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
        remove_bundle(each.path)
    return old


def remove_bundle(path: Path) -> None:
    """Remove a bundle for good, its file first: what is left of it then is no bundle.

    Raises:
        TrashError: It cannot be removed, or is a folder of 0.1.0, which stays.
    """
    _refuse_old(path)
    try:
        path.unlink(missing_ok=True)  # another program may have removed it
    except OSError as error:
        raise TrashError(
            _("{path} cannot be removed ({reason}).", path=path, reason=error.strerror)
        ) from error
    with suppress(OSError):  # then it may reappear after a power failure
        sync_folder(path.parent)
    for suffix in (SUM, MARKS):
        with suppress(OSError):  # no word of a chat is in it
            path.with_suffix(suffix).unlink(missing_ok=True)
    remove_leftovers(path.parent, time.time())


def remove_leftovers(trash: Path, now: float) -> None:
    """Remove unfinished bundles that are a day old, and the links once there is no bundle.

    All rows of an unfinished bundle are still in the store, because they are deleted only once it
    is complete.
    """
    with suppress(OSError):
        names = os.listdir(trash)
        for name in names:
            if name.startswith(PARTIAL) or fnmatch(name, UNFINISHED):
                with suppress(OSError):  # the next time
                    if now - (trash / name).lstat().st_mtime > _UNFINISHED_AGE:
                        (trash / name).unlink()
        if not any(name.endswith(SUFFIX) and name != LINKS for name in names):
            (trash / LINKS).unlink(missing_ok=True)
