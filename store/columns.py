"""Sessions field by field, as they are read and packed, and as objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .session import NUMBERS_SIZE, Session, Shared

Texts = Sequence[str | None]
Times = Sequence[float | None]


class Mark(NamedTuple):
    """What a great many sessions have in common: one object for all that say the same."""

    source: str
    end_reason: str | None
    model: str | None
    archived: bool
    pinned: bool
    hidden: bool
    busy: bool
    has_messages: bool


Marking = tuple[str, str | None, str | None, bool, bool, bool, bool, bool]
"""The fields of a `Mark`."""


class Columns(NamedTuple):
    """Some sessions, field by field; all columns are of one length."""

    ids: Sequence[str]
    parents: Texts
    titles: Texts
    started: Times
    ended: Times
    active: Times
    cwds: Texts
    branches: Texts
    branched: Texts
    delegated: Texts
    reset: Texts
    keys: Texts
    marks: Sequence[Marking]
    numbers: bytes
    """Of `pack_numbers`, one after another."""

    def sessions(self) -> list[Session]:
        """The same as objects."""
        size, numbers = NUMBERS_SIZE, self.numbers
        rows = zip(*self[:-2], strict=True)
        return [
            make_session(row, mark, numbers[at * size : at * size + size])
            for at, (row, mark) in enumerate(zip(rows, self.marks, strict=True))
        ]


_new = tuple.__new__
"""What `_make` of a named tuple comes to, at half the cost: sessions are made by the hundred thousand."""


def make_session(row: Sequence[Any], mark: Marking, numbers: bytes) -> Session:
    """The session of a row of columns."""
    session_id, parent_id, title, started, ended, active, cwd, branch, branched, delegated, reset, key = row
    source, reason, model, archived, pinned, hidden, busy, spoken = mark
    shared = _new(Shared, (model, cwd, branch, branched, delegated, reset, key, archived, pinned, hidden, busy, spoken))
    return _new(Session, (session_id, source, parent_id, title, started, ended, reason, active, shared, numbers))


def columns_of(sessions: Sequence[Session]) -> Columns:
    """Sessions that are objects, as columns."""
    shared = [each.shared for each in sessions]
    return Columns(
        [each.id for each in sessions],
        [each.parent_id for each in sessions],
        [each.title for each in sessions],
        [each.started_at for each in sessions],
        [each.ended_at for each in sessions],
        [each.last_active for each in sessions],
        [each.cwd for each in shared],
        [each.git_branch for each in shared],
        [each.branched_from for each in shared],
        [each.delegate_from for each in shared],
        [each.reset_from for each in shared],
        [each.session_key for each in shared],
        [
            Mark(
                each.source,
                each.end_reason,
                own.model,
                own.archived,
                own.pinned,
                own.hidden,
                own.busy,
                own.has_messages,
            )
            for each, own in zip(sessions, shared, strict=True)
        ],
        b"".join(each.numbers for each in sessions),
    )
