"""Changes on another machine, whose connection may be lost before their answer.

The store there is looked at then, before anything is said; nothing is sent twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ..cleanup.bulk import CleanedUp
from ..cleanup.plan import Expected
from ..edit.delete import Deleted
from ..edit.flags import Change, RowChange
from ..edit.restore import Restored
from ..edit.titles import Renamed
from ..errors import BrowseError, WriteInDoubtError
from ..sessions.session import Session
from ..text import one_line
from ..trash.shelf import Bundle
from ..wording import N_, _
from .codec import error_there, failure_of
from .faults import HostError
from .link import Link

_SOON = 1.0
"""Seconds after which whoever waits for a change is told so."""
_FLAGS = {
    "archive": ("archived", 1, N_("archived {conversation}")),
    "unarchive": ("archived", 0, N_("brought back {conversation}")),
    "pin": ("pinned", 1, N_("pinned {conversation}")),
    "unpin": ("pinned", 0, N_("unpinned {conversation}")),
}
"""Calls that set a flag: its column, its value, and what was done."""
_FOUND = {*_FLAGS, "rename", "restore", "delete", "clean_up"}
"""Calls of which the store shows whether they are done."""


class Asked(Protocol):
    """What is needed of a `remote.Lease`."""

    link: Link
    on_wait: Callable[[], object]

    def ask(self, name: str, values: Mapping[str, Any]) -> object: ...


def carry_out(lease: Asked, name: str, values: Mapping[str, Any]) -> object:
    """Return the answer of a change, named as of here.

    Raises:
        WriteInDoubtError: The connection was lost, and it is not done so far, or nobody knows.
        BrowseError: As of the change.
    """
    title = _title(lease, values) if name == "rename" else None
    waiting = threading.Timer(_SOON, lease.on_wait)
    waiting.daemon = True
    waiting.start()
    try:
        answer = lease.ask(name, values)
        if isinstance(answer, CleanedUp) and answer.error is not None:
            error = error_there(lease.link.host, failure_of(answer.error))
            answer = answer._replace(error=error)
    except HostError as lost:
        if lost.code not in ("host-lost", "host-silent"):
            raise
        answer = _recovered(lease, lost, name, values, title)
    finally:
        waiting.cancel()
    return _named(lease.link.host.name, answer)


def _recovered(
    lease: Asked, lost: HostError, call: str, values: Mapping[str, Any], title: str | None
) -> object:
    """Return what was done before the connection was lost."""
    name = lease.link.host.name
    in_doubt = WriteInDoubtError(
        _(
            "{name}: the connection was lost while it changed the store, so nobody knows whether it was done.",
            name=name,
        ),
        remedy=_("Look at the list once {name} is back: nothing is sent again.", name=name),
    )
    if call not in _FOUND:
        raise in_doubt from lost
    try:
        lease.link.reconnect()
        answer = _found(lease, call, values, title)
    except (BrowseError, LookupError):
        raise in_doubt from lost
    if answer is None:
        sentence = _("{name}: the connection was lost. So far nothing is changed there.", name=name)
        remedy = _("Look at the list before you do it again.")
        raise WriteInDoubtError(sentence, remedy=remedy) from lost
    if isinstance(answer, CleanedUp) and answer.doubtful:
        return answer._replace(error=in_doubt)
    return answer


def _sessions(lease: Asked, ids: Sequence[str]) -> dict[str, Session]:
    """Return sessions by id; those that are gone are missing."""
    catalog: Any = lease.ask("neighbourhood", {"session_ids": ids, "now": 0.0})
    sessions = catalog.sessions
    return {each: sessions[each] for each in ids if each in sessions}


def _title(lease: Asked, values: Mapping[str, Any]) -> str | None:
    found = _sessions(lease, [values["session_id"]])
    return next((session.title for session in found.values()), None)


def _found(lease: Asked, name: str, values: Mapping[str, Any], title: str | None) -> object:
    """Return the answer of a change as the store there shows it; None if it is not done."""
    if name == "rename":
        now, session = _title(lease, values), values["session_id"]
        row = RowChange(session, {"title": title}, {"title": now})
        done = _("renamed to “{title}”", title=one_line(now or ""))
        is_same = now == title
        return None if is_same else Renamed(Change(done, (row,)), now, now != values["typed"])
    if name in _FLAGS:
        column, value, sentence = _FLAGS[name]
        found = _sessions(lease, values["session_ids"])
        if {getattr(session, column) for session in found.values()} != {bool(value)}:
            return None
        rows = [RowChange(each, {column: 1 - value}, {column: value}) for each in found]
        done = _(sentence, conversation=one_line(", ".join(found), 60))
        return Change(done, tuple(rows))
    bundles: Any = lease.ask("deletions", {})
    if name == "restore":
        bundle = next((each for each in bundles if each.name == values["name"]), None)
        sessions = values.get("only") or (bundle.sessions if bundle is not None else ())
        is_done = sessions and len(_sessions(lease, sessions)) == len(sessions)
        return Restored(values["name"], tuple(sessions), 0, 0, False, ()) if is_done else None
    if name == "clean_up":
        return _cleaned_up(lease, values["expected"], bundles)
    ids = values["session_ids"]
    if _sessions(lease, ids):
        return None
    return Deleted(_bundle_with(bundles, ids), (), (), ())


def _cleaned_up(
    lease: Asked, expected: Sequence[Expected], bundles: Sequence[Bundle]
) -> CleanedUp | None:
    """Return which conversations are gone; nobody knows what becomes of the others."""
    there = _sessions(lease, [session for each in expected for session in each.sessions])
    gone = [each for each in expected if there.keys().isdisjoint(each.sessions)]
    if not gone:
        return None
    done = tuple(each.id for each in gone)
    deleted = Deleted(_bundle_with(bundles, gone[0].sessions), (), (), ())
    return CleanedUp(deleted, done, doubtful=len(expected) - len(gone))


def _bundle_with(bundles: Sequence[Bundle], ids: Sequence[str]) -> Bundle:
    """Return the newest bundle that has all of some sessions; LookupError if there is none."""
    for bundle in bundles:
        if set(ids) <= set(bundle.sessions):
            return bundle
    raise LookupError(ids)


def _named(host: str, answer: Any) -> Any:
    """Return an answer whose sentence says where that was done."""
    if isinstance(answer, Renamed):
        return answer._replace(change=_named(host, answer.change))
    if not isinstance(answer, Change) or not answer.rows:
        return answer
    return answer._replace(sentence=_("{done} on {name}", done=answer.sentence, name=host))


def undoes(rows: Sequence[RowChange]) -> str:
    """Return the call that sets a flag as it was."""
    before = [item for row in rows for item in row.before.items()]
    found = (name for name, (column, value, _done) in _FLAGS.items() if (column, value) in before)
    return next(found, "archive")
