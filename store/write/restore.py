"""A bundle put back into its store, row by row, and read back; what cannot be put back without loss stays out.

The store may have moved on: columns may have come or gone, ids and titles may be taken, parents may be gone. Each such
thing has a sentence in the result, and the bundle stays in the trash.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..connect import Store
from ..errors import BrowseError, RefusedError
from ..reader import Reader
from ..trash import transcripts
from ..trash.bundle import verify
from ..trash.kin import of_bundle
from ..trash.manifest import Manifest
from ..trash.origin import instance_of
from ..trash.shelf import find, mark_restored
from ..trash.slices import never
from ..trash.stages import Tell, quiet
from ..wording import _, ngettext
from .dangling import name_again
from .guards import check_writable
from .indexing import Indexing
from .putting import Putting
from .readback import Standing, check_back, standing
from .unit import Needs, Unit, write

NEEDS = Needs(tables=frozenset({"sessions", "messages"}))


class Restored(NamedTuple):
    """What a restore did."""

    name: str
    """Of the bundle."""
    sessions: tuple[str, ...]
    messages: int
    files: int
    verified: bool
    """Every row was read back and is as it was, or as `notes` say; the search indexes agree, every file is there."""
    notes: tuple[str, ...]
    there: frozenset[str] = frozenset()
    """Those of the sessions that were in the store already, as the bundle has them."""

    @property
    def sentence(self) -> str:
        """What was done, in the past tense."""
        count = len(self.sessions)
        return _("restored {sessions}, {messages}").format(
            sessions=ngettext("1 session", "{count:,} sessions", count).format(count=count),
            messages=ngettext("1 message", "{count:,} messages", self.messages).format(count=self.messages),
        )


def restore(
    store: Store,
    trash: Path,
    name: str,
    *,
    now: float | None = None,
    sessions_folder: Path | None = None,
    any_store: bool = False,
    patience: float = 5.0,
    stop: Callable[[], bool] = never,
    tell: Tell = quiet,
    check: bool = True,
) -> Restored:
    """Put a bundle back, in one transaction; a second one has sessions name a parent again that was missing before.

    It can be done again: what is in the store as the bundle has it counts as restored, and what is missing is put back.

    Args:
        store: The store.
        trash: The folder of the bundles.
        name: Of the bundle.
        now: Unix seconds; the clock's where not given.
        sessions_folder: Where Hermes keeps files of sessions; None where there is none.
        any_store: Whether it may go into another store than it is from.
        patience: Seconds to wait for other writers.
        stop: Looked at between rows until all are in.
        tell: Is told how far it is.
        check: Whether the search index is compared with the rows; of several bundles once for all, by `check_index`.

    Raises:
        BundleNotFoundError: There is no such bundle.
        BundleDamagedError: It is not what its sums say; nothing was changed.
        RefusedError: None of it can be put back; nothing was changed.
        StoreError: The store cannot be read or written, or is busy.
        WriteUnverifiedError: It was put back, and does not read back as it should.
        WriteInDoubtError: The commit failed; the sentence says what the store holds now, and it can be tried again.
    """
    folder = find(trash, name)
    manifest = verify(folder, None, stop, tell)
    with store.reader() as reader:
        notes = _check_store(reader, store, manifest, any_store=any_store)
        check_writable(store, reader, NEEDS)
        found = standing(reader, folder, manifest, stop)
    if len(found.refused) == len(manifest.sessions):
        return _files_alone(manifest, folder, sessions_folder, found, notes)
    putting = Putting(folder, manifest, of_bundle(trash, manifest), found.refused, found.there, stop, tell)
    wrong: list[str] = []

    def work(unit: Unit) -> None:
        putting.run(unit)
        if check:
            wrong.extend(Indexing(unit).compare())

    write(store, work, lambda again, _done: check_back(again, putting), needs=NEEDS, patience=patience)
    unnamed = name_again(store, putting.dangling, NEEDS, patience)
    back = frozenset(manifest.sessions) - found.refused.keys()
    files = transcripts.put_back(manifest.files, folder, sessions_folder, back | found.theirs)
    if not found.refused:
        mark_restored(folder, now if now is not None else time.time())
    return Restored(
        manifest.name,
        tuple(each for each in manifest.sessions if each in back),
        putting.messages + found.messages,
        files.there,
        not (wrong or unnamed or files.notes),
        (*notes, *_left_out(found), *putting.notes, *wrong, *unnamed, *files.notes),
        found.there,
    )


def _left_out(found: Standing) -> list[str]:
    out = _("Session {session} was not put back: {reason}.")
    return [out.format(session=session, reason=reason) for session, reason in found.refused.items()]


def _files_alone(
    manifest: Manifest, folder: Path, sessions_folder: Path | None, found: Standing, notes: list[str]
) -> Restored:
    """Put back the files that are missing of sessions none of which is put back: a cut restore may have left them out.

    Raises:
        RefusedError: None is missing.
    """
    files = transcripts.put_back(manifest.files, folder, sessions_folder, found.theirs)
    if not files.written:
        session, reason = next(iter(found.refused.items()))
        raise RefusedError(
            _("Session {session} is not put back: {reason}. Nothing was changed.").format(
                session=session, reason=reason
            )
        )
    return Restored(manifest.name, (), 0, files.there, False, (*notes, *_left_out(found), *files.notes))


def _check_store(reader: Reader, store: Store, manifest: Manifest, *, any_store: bool) -> list[str]:
    """Whether this is the store a bundle is from; a sentence where it may be another one."""
    origin = manifest.origin
    instance = instance_of(reader, reader.schema.tables)
    if origin.instance is not None and instance is not None:
        same = origin.instance == instance
    else:
        same = os.path.realpath(origin.path) == os.path.realpath(store.path)
    if same:
        return []
    if not any_store and os.path.exists(origin.path) and not os.path.samefile(origin.path, store.path):
        raise RefusedError(
            _("This bundle is from another store, {path}. Nothing was changed.").format(path=origin.path),
            remedy=_("Name that one with --home, --profile or --db."),
        )
    return [_("The bundle is from {path}.").format(path=origin.path)]


def check_index(store: Store, patience: float = 5.0) -> tuple[str, ...]:
    """Compare the search indexes with the rows after several restores: the whole store is read, so once is enough.

    Args:
        store: The store.
        patience: Seconds to wait for other writers.

    Returns:
        What is wrong, in sentences; what was put back stays.
    """
    try:
        return write(
            store, lambda unit: Indexing(unit).compare(), lambda reader, notes: None, needs=NEEDS, patience=patience
        )
    except BrowseError as error:
        return (_("The search index was not compared with the messages: {reason}").format(reason=error.sentence),)
