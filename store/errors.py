"""The errors of the package, each with a sentence for a person and a remedy.

Everything the package raises on purpose is a `BrowseError`; raw `sqlite3.Error` and `OSError` never
leave it. The exit codes are the command line's contract: 3 for a store that is missing or cannot be
read, 4 not found or ambiguous, 5 refused.
"""

from __future__ import annotations

import re
from enum import StrEnum

from .wording import _

_NAMED_COMMAND = re.compile(
    r"`hermes-browse (?=(?:archive|delete|doctor|list|pin|prune|resume|search|show|tag|trash|unarchive"
    r"|unpin|untag)\b)"
)
"""The beginning of a command for a store, as sentences name it."""


def with_options(sentence: str, options: str) -> str:
    """Return a sentence with the commands in it as they are typed for the store of some options."""
    return _NAMED_COMMAND.sub(lambda found: f"{found[0]}{options} ", sentence)


class Advice(StrEnum):
    """What helps against an error, where a command line has an option for it."""

    NONE = ""
    OPEN_ANOTHER = "open-another"
    """There is no store."""
    START_CHAT = "start-chat"
    """The store is empty."""
    NAME_FILE_OR_ROOT = "name-file-or-root"
    """What was named is no file."""
    NAME_STORE = "name-store"
    """What was named is no store of Hermes."""
    OPEN_COPY = "open-copy"
    OPEN_ORIGIN = "open-origin"
    """The bundle is from another store."""
    LIST_OR_SEARCH = "list-or-search"
    """No session matches."""
    NAME_OTHER_OR_REPLACE = "name-other-or-replace"
    """The file to write exists."""
    PLAN_CLEAN_UP = "plan-clean-up"
    """The store is large."""


class BrowseError(Exception):
    """The base class: an error with a sentence for a person."""

    exit_code = 1
    """The exit code a command ends with."""

    is_unchanged = False
    """Whether the sentence says that nothing was changed: not so once other parts of the work are
    done."""

    def __init__(
        self,
        sentence: str,
        *,
        remedy: str = "",
        advice: Advice = Advice.NONE,
        is_unchanged: bool = False,
    ) -> None:
        super().__init__(sentence)
        self._happened = sentence
        self.is_unchanged |= is_unchanged
        self.remedy = remedy
        """What to do about it; empty when there is nothing to do."""
        self.advice = advice
        """The command line has a sentence of its own for it (`tui/cli/output.py`)."""

    @property
    def sentence(self) -> str:
        """What happened."""
        if not self.is_unchanged:
            return self._happened
        return _("{sentence} Nothing was changed.", sentence=self._happened)

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}".rstrip()


class StoreError(BrowseError):
    """The store is missing or cannot be read."""

    exit_code = 3
    code = "store"
    """A stable word for the JSON of `doctor`."""


class StoreMissingError(StoreError):
    """There is no file at the path."""

    code = "store-missing"


class StoreEmptyError(StoreError):
    """The file has no bytes, or no tables yet: Hermes has not written to it."""

    code = "store-empty"


class ValueTooLongError(StoreError):
    """A value, or an answer with it, is longer than a host sends."""


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
    """Another process holds the store locked for longer than we wait."""

    code = "store-busy"


class QueryInterruptedError(BrowseError):
    """The query was interrupted, mostly because a newer one replaced it."""

    exit_code = 130


class NotFoundError(BrowseError):
    """No session matches the given id, prefix or title."""

    exit_code = 4


def no_session(session_id: str) -> NotFoundError:
    """Return the error for an id that no session has."""
    return NotFoundError(_("There is no session {session} in this store.", session=session_id))


class RefusedError(BrowseError):
    """The action is unsafe, the session protected, or the action not confirmed."""

    exit_code = 5


class StoreRefusedError(RefusedError):
    """The whole store is not written to, whatever is asked for: another conversation would be
    refused as well.

    The transaction has not begun, or is rolled back.
    """

    is_unchanged = True


class WriteFailedError(BrowseError):
    """SQLite could not carry out a write; it was rolled back."""


class WriteUnverifiedError(BrowseError):
    """A write was committed but does not read back as expected."""


class WriteInDoubtError(BrowseError):
    """A commit failed: the change may be in the store or not; the sentence says what was found
    there."""
