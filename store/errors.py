"""What can go wrong with a store, each with a sentence for a person and a remedy.

Exit codes are the command line's contract: 3 a store that is missing or cannot be read,
4 not found or ambiguous, 5 refused. Everything the package raises on purpose is a
[`BrowseError`][hermes_browse.store.errors.BrowseError]; raw `sqlite3` and `OSError` never leave it.
"""

from __future__ import annotations


class BrowseError(Exception):
    """An error with a sentence for a person; the base of all of ours."""

    exit_code = 1
    """The exit code a command ends with."""

    code = "error"
    """A stable word for scripts and tests."""

    def __init__(self, sentence: str, *, remedy: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        """What happened, in one sentence."""
        self.remedy = remedy
        """What to do about it; empty when there is nothing to do."""

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}".rstrip()


class StoreError(BrowseError):
    """The store is missing or cannot be read."""

    exit_code = 3
    code = "store"


class StoreMissingError(StoreError):
    """There is no file at the path."""

    code = "store-missing"


class StoreEmptyError(StoreError):
    """The file has no bytes, or no tables yet: Hermes has not written to it."""

    code = "store-empty"


class NotAStoreError(StoreError):
    """The file is not an SQLite database, is encrypted, or holds another program's tables."""

    code = "store-foreign"


class StoreUnreadableError(StoreError):
    """SQLite or the file system refuses to let us read."""

    code = "store-unreadable"


class StoreDamagedError(StoreError):
    """SQLite finds the file malformed."""

    code = "store-damaged"


class StoreBusyError(StoreError):
    """Someone holds the store locked for longer than we wait."""

    code = "store-busy"


class QueryInterruptedError(BrowseError):
    """A newer question made this one stale and it was interrupted."""

    exit_code = 130
    code = "interrupted"


class NotFoundError(BrowseError):
    """No session answers to the given id, prefix or title."""

    exit_code = 4
    code = "not-found"


class AmbiguousError(NotFoundError):
    """Several sessions answer to the given prefix."""

    code = "ambiguous"

    def __init__(self, sentence: str, candidates: list[str], *, remedy: str = "") -> None:
        super().__init__(sentence, remedy=remedy)
        self.candidates = candidates
        """The ids that would fit, newest first."""


class RefusedError(BrowseError):
    """We will not do it: unsafe, protected, or not confirmed."""

    exit_code = 5
    code = "refused"


class WriteFailedError(BrowseError):
    """SQLite could not carry out a write; it was taken back, nothing was changed."""

    code = "write-failed"


class WriteUnverifiedError(BrowseError):
    """A write was committed, and does not read back as it should."""

    code = "write-unverified"


class WriteInDoubtError(BrowseError):
    """A commit failed: the change may be in the store or not, and the sentence says what was found there."""

    code = "write-in-doubt"
