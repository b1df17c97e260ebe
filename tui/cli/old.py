"""`--old`: the old transcripts beside a store as if they were one, for the commands that only read."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hermes_browse.store.connect import Store
from hermes_browse.store.errors import RefusedError, StoreEmptyError, StoreMissingError
from hermes_browse.store.homes import Location
from hermes_browse.store.legacy.finding import known_sessions
from hermes_browse.store.wording import _

from ..store_paths import sessions_folder
from .columns import note

if TYPE_CHECKING:
    pass


def _known(location: Location) -> Collection[str]:
    """Sessions of the store beside the files; none where there has never been a store."""
    try:
        with Store(location.path).reader() as reader:
            return known_sessions(reader)
    except (StoreMissingError, StoreEmptyError):
        return ()


@contextmanager
def opened_transcripts(beside: Location, only: Collection[str] = ()) -> Iterator[Location]:
    """The old transcripts of a home as a store, gone at the end of the block; what is in it is said.

    Args:
        beside: The store of that home.
        only: Beginnings of ids; the other files need not be read. Empty for all.

    Raises:
        RefusedError: The store is no home's own, so nothing lies beside it.
        BrowseError: They cannot be listed.
        StoreError: The store is there and cannot be read: which files are old is not known then.
    """
    from hermes_browse.store.legacy.shelf import Shelf

    folder = sessions_folder(beside)
    if folder is None:
        raise RefusedError(
            _("{path} is not the store of a Hermes home: no old transcripts belong to it.").format(path=beside.path),
            remedy=_("Name a root with --home."),
        )
    with Shelf(folder, _known(beside), only=only) as shelf:
        shelf.fill_all()
        if not only or shelf.notes or shelf.left_out:
            note(shelf.describe())
        yield Location(shelf.path, old_files=folder)
