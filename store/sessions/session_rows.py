"""Read rows of `sessions` without their large columns; find those that have changed, and the one
that a user means.

`system_prompt` (8 to 20 KB, in the middle of a record) is never selected. `model_config` is parsed
in Python: in SQL, `json_extract` of one malformed value would fail the whole statement, as it does
in Hermes 0.19.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain, islice
from sys import intern
from typing import Any, NamedTuple

from ..connection.reader import Reader, Row
from ..connection.stored_values import (
    LAST_TIME,
    as_count,
    as_flag,
    as_int,
    as_mapping,
    as_money,
    as_time,
    first_texts,
)
from ..errors import Advice, NotFoundError
from ..notes.notes_file import tags_if_readable
from ..text import as_text, text_of
from ..wording import _
from .models import Session
from .relations import source_names

MARKERS = ("_branched_from", "_delegate_from", "_reset_from")
_MAX_MESSAGES = 20_000
"""If there are more new messages than this (an import), everything is read again."""
_SLICES = 8
"""Slices of a portion."""
_SLICE = 250
"""Rows that one statement reads.

In DELETE journal mode a read blocks every commit (Hermes 0.20), so many short statements are used
instead of one that takes half a second at 100,000 sessions.
"""


def _shared(value: object) -> str | None:
    """Return a text that many sessions have in common, held once."""
    text = as_text(value)
    return None if text is None else intern(text)


def _source(value: object) -> str:
    return _shared(value) or "unknown"


_DECODERS: Mapping[str, Callable[[object], Any]] = {
    "id": as_text,
    "source": _source,
    "parent_session_id": as_text,
    "title": as_text,
    "model": _shared,
    "cwd": _shared,
    "git_branch": _shared,
    "end_reason": _shared,
    "session_key": _shared,
    "started_at": as_time,
    "ended_at": as_time,
    "archived": as_flag,
    "pinned": as_flag,
    "hidden": as_flag,
    "message_count": as_count,
    "tool_call_count": as_count,
    "input_tokens": as_count,
    "output_tokens": as_count,
    "cache_read_tokens": as_count,
    "cache_write_tokens": as_count,
    "reasoning_tokens": as_count,
    "cost_usd": as_money,
}
"""How columns of `sessions` are decoded, in the order of the fields of `Session`."""
_STARTED = list(_DECODERS).index("started_at")


_NEWEST = (
    "(SELECT max(m.timestamp) FROM message_rows m WHERE m.session_id = s.id AND m.timestamp {})"
)
NEWEST_MESSAGE = _NEWEST.format(f"<= {LAST_TIME}")
"""The newest time of a message of `session_rows s` that is a number: one seek in a covering
index."""
LAST_ACTIVE = (
    f"COALESCE(max({NEWEST_MESSAGE}, s.last_activity_at), {NEWEST_MESSAGE}, s.last_activity_at, "
    "s.started_at)"
)
"""The last activity of a row of `session_rows s`, for an order; texts are not considered."""
_NEWEST_TEXT = _NEWEST.format(f"> {LAST_TIME}")
"""The newest that is a text: SQLite sorts texts after all numbers. Numbers that are no time, as of
milliseconds, stand between."""
_HAS_MESSAGES = "EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)"
_PAID = "typeof(s.actual_cost_usd) IN ('integer', 'real')"
_COST = f"CASE WHEN {_PAID} THEN s.actual_cost_usd ELSE s.estimated_cost_usd END"
_STORED = ", ".join(_COST if name == "cost_usd" else f"s.{name}" for name in _DECODERS)
_STATEMENT = (
    # Most rows have settings without a marker: those are not read.
    "SELECT s.rowid, CASE WHEN instr(s.model_config, '\"_') THEN s.model_config END, "
    # An empty text for messages without a time, NULL without messages.
    f"COALESCE({NEWEST_MESSAGE}, CASE WHEN {_HAS_MESSAGES} THEN '' END), "
    f"{_NEWEST_TEXT}, s.last_activity_at, "
    # Nothing can refer to a row without an id.
    f"{_STORED} FROM session_rows s WHERE s.id IS NOT NULL AND"
)
"""Selects the rowid, what `_session` decodes itself, and the columns of `_DECODERS`."""


def _session(row: Row, busy: frozenset[str], tags: Mapping[str, tuple[str, ...]]) -> Session:
    """Decode a row of `_STATEMENT`; `busy` is from `read_busy`, `tags` from `tags_if_readable`."""
    _rowid, config, newest, newest_text, recorded, *stored = row
    decoded = [decode(value) for decode, value in zip(_DECODERS.values(), stored, strict=True)]
    settings = as_mapping(config)
    times = map(as_time, (newest, newest_text, recorded))
    active = [at for at in times if at is not None]
    return Session._make(
        [
            *decoded,
            max(active, default=decoded[_STARTED]),
            *map(as_text, map(settings.get, MARKERS)),
            decoded[0] in busy,
            newest is not None,
            tags.get(decoded[0], ()),
        ]
    )


_WITHOUT_PARENT = (
    "SELECT id FROM session_rows WHERE parent_session_id IN ({keys}) "
    "AND parent_session_id NOT IN (SELECT id FROM sessions WHERE id IS NOT NULL)"
)


def read_busy(reader: Reader, now: float | None = None) -> frozenset[str]:
    """Read the session ids in live compression locks (0.16 and later) and turn leases (0.20 and
    later).

    A lease names the root of a lineage; the caller applies it to the whole conversation. Of a root
    that is not there (an older Hermes deleted it), its children count as named.
    """
    moment = time.time() if now is None else now
    ids = {
        id
        for table, column in reader.schema.leases
        for id in first_texts(
            reader.rows(f"SELECT {column} FROM {table} WHERE expires_at > ?", [moment])
        )
    }
    children = reader.rows_in(_WITHOUT_PARENT, sorted(ids))
    return frozenset(ids.union(first_texts(children)))


def read_sessions(
    reader: Reader, ids: Sequence[str], *, busy: frozenset[str] = frozenset()
) -> list[Session]:
    """Read the sessions with these ids, any number, as far as they exist, in no order.

    `busy` is from `read_busy`.
    """
    rows = reader.rows_in(f"{_STATEMENT} s.id IN ({{keys}})", ids)
    tags = tags_if_readable(reader)
    return [_session(row, busy, tags) for row in rows]


class SessionsPortion(NamedTuple):
    """Some sessions of a store, by rowid."""

    sessions: list[Session]
    last: int | None
    """The rowid after which the next portion begins; None after the last one."""


def read_portion(reader: Reader, after: int | None) -> SessionsPortion:
    """Read the sessions after a rowid, None for the first, in short statements."""
    busy, tags = read_busy(reader), tags_if_readable(reader)
    slices = reader.slices(_STATEMENT, "s.rowid", _SLICE, after=after)
    rows = list(chain.from_iterable(islice(slices, _SLICES)))
    last = as_int(rows[-1][0]) if len(rows) == _SLICES * _SLICE else None
    return SessionsPortion([_session(row, busy, tags) for row in rows], last)


def read_all(portion_after: Callable[[int | None], SessionsPortion]) -> Iterator[Session]:
    """Read all sessions of a store, in portions."""
    last = None
    while True:
        sessions, last = portion_after(last)
        yield from sessions
        if last is None:
            return


class StoreState(NamedTuple):
    """The state of a store when it was read, to find later changes."""

    message: int
    """The largest message id."""
    session: int
    """The largest rowid of a session."""
    sessions: int
    """Number of sessions."""
    busy: frozenset[str]
    """Ids named by live leases and locks, see `read_busy`."""


def read_state(reader: Reader) -> StoreState:
    """Read the state of a store; call it before reading the catalog, so that no change is missed
    between the two."""
    (row,) = reader.rows(
        "SELECT (SELECT max(id) FROM messages), (SELECT max(rowid) FROM sessions), "
        "(SELECT count(id) FROM sessions)"
    )
    return StoreState._make([*map(as_int, row), read_busy(reader)])


def read_changes(
    reader: Reader, state: StoreState, session_ids: Sequence[str]
) -> tuple[StoreState, list[Session]] | None:
    """Read what has changed since a state, and some sessions again; None if the ids started over,
    or too much has changed.

    Reading a catalog of 100,000 sessions takes a second, and a gateway writes several times per
    second. New messages and sessions are found by id and rowid. Changes without such a trace (a
    title, an end, an archiving by another program) are found only in the sessions asked for, see
    `unseen`; others need a new catalog.

    Returns:
        The new state; the sessions with new messages, new ones, and those that were asked for.
    """
    new = read_state(reader)
    arrived = new.message - state.message
    if not 0 <= arrived <= _MAX_MESSAGES or new.session < state.session:
        return None
    rows = reader.rows(
        "SELECT session_id FROM messages NOT INDEXED WHERE id > ? "
        "UNION SELECT id FROM sessions WHERE rowid > ?",
        [state.message, state.session],
    )
    # A restored session has its children again, which a catalog without it does not know.
    rows += reader.rows_in(
        "SELECT id FROM session_rows WHERE parent_session_id IN ({keys})", session_ids
    )
    ids = dict.fromkeys([*first_texts(rows), *(state.busy ^ new.busy), *session_ids])
    return new, read_sessions(reader, list(ids), busy=new.busy)


# The session that a user means

_CANDIDATES = 10
_MOST_TITLES = 2_000
"""Compared with one that no session has."""
_BY_TITLE = (
    "SELECT id FROM (SELECT id FROM session_rows WHERE title LIKE ? ESCAPE '\\' "
    "ORDER BY started_at DESC LIMIT 1) UNION ALL SELECT id FROM session_rows WHERE title = ?"
)


def resolve_title(reader: Reader, title: str) -> str | None:
    """Return the id of the newest session titled "title #2", "title #3" …, else the one titled
    "title" (0.13 to 0.22).

    As in Hermes, only the match of the plain title is case-sensitive.
    """
    pattern = re.sub(r"([\\%_])", r"\\\1", title) + " #%"
    return as_text(reader.value(_BY_TITLE, [pattern, title]))


def resolve_session(reader: Reader, text: str) -> str:
    """Return the id of the session that a user means by a full id, a unique prefix of one, or a
    title.

    Raises:
        NotFoundError: Nothing matches; or it is a prefix of several ids, and not a title.
    """
    text = text_of(text)  # a lone surrogate (from an argument that is not UTF-8) cannot be bound
    if reader.rows("SELECT 1 FROM sessions WHERE id = ?", [text]):
        return text
    ids: list[str] = []
    if text:
        # Not LIKE, which ignores the case of ASCII letters.
        sql = (
            "SELECT id FROM session_rows WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 "
            f"ORDER BY started_at DESC LIMIT {_CANDIDATES + 1}"
        )
        ids = first_texts(reader.rows(sql, [text]))
        session_id = ids[0] if len(ids) == 1 else resolve_title(reader, text)
        if session_id is not None:
            return session_id
    if ids:
        candidates = ", ".join(ids[:_CANDIDATES]) + (", …" if len(ids) > _CANDIDATES else "")
        raise NotFoundError(
            _("Several sessions begin with “{text}”.", text=text),
            remedy=_("Give more of the id. Candidates: {ids}", ids=candidates),
        )
    near = ", ".join(f"“{title}”" for title in _near_titles(reader, text))
    raise NotFoundError(
        _("No session has the id, prefix or title “{text}”.", text=text),
        remedy=_("Similar titles: {titles}.", titles=near) if near else "",
        advice=Advice.NONE if near else Advice.LIST_OR_SEARCH,
    )


def _near_titles(reader: Reader, text: str) -> list[str]:
    """Return up to three titles of the newest sessions that are spelled like a text, in any
    case."""
    rows = reader.rows(
        "SELECT title FROM session_rows WHERE title <> '' ORDER BY started_at DESC LIMIT ?",
        [_MOST_TITLES],
    )
    titles = {title.casefold(): title for title in first_texts(rows)}
    return [titles[each] for each in get_close_matches(text.casefold(), titles)]


def resolve_last(reader: Reader, source: str = "cli") -> str | None:
    """Return the id of the session that `hermes -c` continues: the last active one of a source, as
    `source_names` takes it, in any state (0.19).

    Hermes takes the source `cli`, or `tui` in its terminal interface, and there `cli` if there is
    none of `tui`: a source that a user names is not exchanged for another one.
    """
    sql = (
        "SELECT s.id FROM session_rows s WHERE lower(s.source) IN (SELECT value FROM json_each(?)) "
        f"ORDER BY {LAST_ACTIVE} DESC, s.started_at DESC, s.id DESC LIMIT 1"
    )
    return as_text(reader.value(sql, [json.dumps([*source_names([source])])]))
