"""A parent that was in no store when its child went to the trash: the child names it again when it is put back.

Such rows are in stores that something changed with foreign keys off, which is what SQLite does unless it is told
otherwise; Hermes lists them as any other (0.13 to 0.22). With foreign keys on SQLite takes no reference to what is not
there, neither at once nor at the commit, and inside of a transaction they cannot be turned off
(https://sqlite.org/foreignkeys.html). So all rows come back with them on, and then these alone are named again in a
transaction without: nothing in it is inserted or deleted, and only a column that is empty, of a session that came back
just now, is set to what stands in the bundle.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..connect import Store
from ..errors import BrowseError, WriteInDoubtError, WriteUnverifiedError
from ..reader import Reader
from ..trash.values import Encoded, bound, encode_row, reading, text_of
from ..wording import _
from .unit import Needs, Unit, write

_COLUMN = "parent_session_id"


def name_again(store: Store, found: Sequence[tuple[str, Encoded]], needs: Needs, patience: float) -> list[str]:
    """Have sessions name the parents they named before.

    Args:
        store: The store.
        found: Sessions that are back, each with the parent that is in no store.
        needs: What the store must have.
        patience: Seconds to wait for other writers.

    Returns:
        A sentence for each that has no parent now.
    """
    if not found:
        return []

    def work(unit: Unit) -> list[tuple[str, Encoded]]:
        done: list[tuple[str, Encoded]] = []
        for session, parent in found:
            mark, value = bound(parent)
            count = unit.execute(
                f"UPDATE sessions SET {_COLUMN} = {mark} WHERE id = ? AND {_COLUMN} IS NULL", [value, session]
            )
            if count == 1:
                done.append((session, parent))
        return done

    def check(reader: Reader, done: list[tuple[str, Encoded]]) -> None:
        for session, parent in done:
            rows = reader.rows(f"SELECT {reading([_COLUMN])} FROM sessions WHERE id = ?", [session])
            if not rows or encode_row([_COLUMN], rows[0])[_COLUMN] != parent:
                raise WriteUnverifiedError(
                    _("The parent of {session} does not read back as it stands in the bundle.").format(session=session)
                )

    try:
        done = write(store, work, check, needs=needs, patience=patience, foreign_keys=False)
    except WriteUnverifiedError:
        raise
    except WriteInDoubtError as error:
        doubt = _("Whether {session} names its parent {parent} again is not known: {reason}")
        return [
            doubt.format(session=session, parent=text_of(parent), reason=error.sentence) for session, parent in found
        ]
    except BrowseError as error:
        lost = _("{session} has no parent: {parent} ({reason})")
        return [
            lost.format(session=session, parent=text_of(parent), reason=error.sentence) for session, parent in found
        ]
    back = {session for session, _parent in done}
    other = _("{session} has another parent by now than {parent}, which was in no store.")
    return [other.format(session=session, parent=text_of(parent)) for session, parent in found if session not in back]
