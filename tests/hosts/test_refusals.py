"""What a command on a host says when it fails is raised here, as the error that it was there."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_browse.store.connection.failures import translate
from hermes_browse.store.edit.transaction import failure
from hermes_browse.store.errors import BrowseError, NotFoundError, StoreBusyError, StoreError
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.link import Reply
from hermes_browse.store.hosts.running import document_of

VPS = Host("vps", "me@vps")


@pytest.mark.parametrize("of", [translate, failure])
def test_a_busy_store_there_is_told_from_a_broken_one(
    of: Callable[[sqlite3.Error, Path], BrowseError],
) -> None:
    """By its sentence, of reading or of writing, as both have one exit code: a clean-up tries again
    then."""
    locked = sqlite3.OperationalError("database is locked")
    locked.sqlite_errorcode = sqlite3.SQLITE_BUSY
    said = of(locked, Path("/home/me/.hermes/state.db"))
    with pytest.raises(StoreBusyError, match=r"^vps: /home"):
        document_of(VPS, Reply(said.exit_code, "", f"hermes-browse: {said}\n"))


@pytest.mark.parametrize(
    ("reply", "kind", "sentence"),
    [
        (Reply(3, "", "some noise\nhermes-browse: no such store\n"), StoreError, "no such store"),
        (Reply(4, "", ""), NotFoundError, ""),
    ],
)
def test_what_a_command_says_is_passed_on(
    reply: Reply, kind: type[BrowseError], sentence: str
) -> None:
    """With the name of the host."""
    with pytest.raises(kind, match=f"^vps: .*{sentence}"):
        document_of(VPS, reply)
