"""What is said of a write that failed: that nothing was changed where that is certain, else what the store holds now.

A commit that fails is not a commit that did nothing. In WAL mode the frames may be in the log before the sync fails
(observed, SQLite 3.40, EIO from `fdatasync`): the next process that opens the store finds a whole transaction there. So
an error in COMMIT is told apart from all others: the store is read again, and the sentence says what was found.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ..connect import Reader, Store
from ..errors import (
    BrowseError,
    RefusedError,
    StoreBusyError,
    WriteFailedError,
    WriteInDoubtError,
    WriteUnverifiedError,
)
from ..reader import translate
from ..wording import _

T = TypeVar("T")


def failure(error: sqlite3.Error, path: Path) -> BrowseError:
    """The sentence for a write that did not happen.

    Args:
        error: What SQLite raised.
        path: The store.
    """
    code, said = getattr(error, "sqlite_errorcode", 0) & 0xFF, str(error)
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusyError(
                _("{path} is busy: another process is using it; nothing was changed.").format(path=path),
                remedy=_("Try again in a moment."),
            )
        case sqlite3.SQLITE_FULL:
            return WriteFailedError(
                _("There is no room left on the disk of {path}. Nothing was changed.").format(path=path),
                remedy=_("Make some room and try again."),
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return RefusedError(
                _("{path} cannot be written to: SQLite says “{said}”. Nothing was changed.").format(
                    path=path, said=said
                ),
                remedy=_("Check the permissions of the file, of its folder, and of the -wal and -shm files beside it."),
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_INTERRUPT:
            return and_nothing_changed(translate(error, path))
        case _:
            sentence = _("{path} could not be written to: SQLite says “{said}”. Nothing was changed.")
            return WriteFailedError(sentence.format(path=path, said=said))


def and_nothing_changed(error: BrowseError) -> BrowseError:
    error.sentence = _("{sentence} Nothing was changed.").format(sentence=error.sentence)
    return error


class CommitFailedError(Exception):
    """COMMIT raised, and the transaction is over: nobody knows yet how it ended. Never leaves this package.

    Args:
        result: What the work returned.
        reason: What was raised, in a few words.
    """

    def __init__(self, result: object, reason: str) -> None:
        super().__init__(reason)
        self.result = result
        self.reason = reason


def settle(
    store: Store, failed: CommitFailedError, verify: Callable[[Reader, T], None], remedy: str = ""
) -> WriteInDoubtError:
    """What to say of a commit that failed: the store is read again, through a connection of its own.

    Args:
        store: The store. Where no other connection is open, opening it decides what becomes of a log that was not
            synced; where one is, that may happen later.
        failed: What was raised.
        verify: As it was given with the work.
        remedy: What to do; a general one where not given.
    """
    told = {"path": store.path, "said": failed.reason}
    try:
        with store.reader() as reader:
            verify(reader, failed.result)  # type: ignore[arg-type]
    except WriteUnverifiedError:
        sentence = _(
            "The last step of writing to {path} failed (“{said}”). Read again, the store does not have the change, "
            "but it may still appear when the store is next opened."
        )
    except BrowseError as error:
        told["reason"] = error.sentence
        sentence = _(
            "The last step of writing to {path} failed (“{said}”). The store could not be read again, so it is not "
            "known whether it has the change: {reason}"
        )
    else:
        sentence = _(
            "The last step of writing to {path} failed (“{said}”). Read again, the store has the change, but the disk "
            "may not keep it."
        )
    return WriteInDoubtError(
        sentence.format(**told),
        remedy=remedy or _("Check the disk, then look at the store again before you repeat this."),
    )
