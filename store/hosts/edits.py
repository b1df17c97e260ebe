"""Change conversations on the machine of their store, this one or another.

Arguments and errors are those of the functions of the same name in `store.edit` and
`store.cleanup.bulk`, which change a store of this machine. On another one its hermes-browse does
it, with all of its guards. If the connection is lost before the answer, the store there is asked
what was done before anything is said; nothing is sent twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

from ..api import open_store
from ..cleanup import bulk
from ..cleanup.plan import Plan, Planned
from ..connection.connect import Store
from ..connection.stored_values import Json
from ..edit import flags, titles
from ..edit import restore as restoring
from ..edit.delete import Deleted
from ..edit.flags import Change, RowChange
from ..errors import BrowseError, WriteInDoubtError
from ..sessions.catalog import Catalog
from ..sessions.session import Session
from ..text import one_line
from ..trash.progress import Tell, quiet
from ..trash.shelf import Bundle
from ..wording import N_, _, ngettext
from .faults import HostError, fault
from .link import CHANGE_SECONDS
from .remote import RemoteStore
from .running import document_of

_SOON = 1.0
"""Seconds after which whoever waits for a change is told so."""
_COMMANDS: Mapping[str, tuple[str, int, str, Callable[..., Change]]] = {
    "archive": ("archived", 1, N_("archived {conversations}"), flags.archive),
    "unarchive": ("archived", 0, N_("brought back {conversations}"), flags.unarchive),
    "pin": ("pinned", 1, N_("pinned {conversations}"), flags.pin),
    "unpin": ("pinned", 0, N_("unpinned {conversations}"), flags.unpin),
}
"""Calls that set a flag: its column, its value, the sentence, and what sets it here."""


def _run(
    store: RemoteStore, call: str, values: Mapping[str, object], is_done: Callable[[], bool]
) -> Json | None:
    """Ask for a change; None if the connection was lost but the store shows that it is done."""
    link = store.link
    if "change" not in link.open().rights:  # what fails here has sent nothing
        raise fault(link.host, "host-rights")
    waiting = threading.Timer(_SOON, store.on_wait)
    waiting.daemon = True
    waiting.start()
    try:
        return document_of(link.host, link.call(call, values, seconds=CHANGE_SECONDS))
    except HostError as lost:
        if lost.code not in ("host-lost", "host-silent"):
            raise
        try:
            link.reconnect()
            done = is_done()
        except BrowseError:
            text = _(
                "{name}: the connection was lost while it changed the store, so nobody knows whether it was done."
            )
            remedy = _("Look at the list once {name} is back: nothing is sent again.")
            name = link.host.name
            raise WriteInDoubtError(
                text.format(name=name), remedy=remedy.format(name=name)
            ) from lost
        if done:
            return None
        sentence = _("{name}: the connection was lost. So far nothing is changed there.")
        remedy = _("Look at the list before you do it again.")
        raise WriteInDoubtError(sentence.format(name=link.host.name), remedy=remedy) from lost
    finally:
        waiting.cancel()


def _texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _sessions_of(store: RemoteStore, ids: Sequence[str]) -> dict[str, Session]:
    """Return sessions by id; those that are gone are missing."""
    with open_store(store) as opened:
        sessions = opened.neighbourhood(ids, 0.0).forest.sessions
    return {each: sessions[each] for each in ids if each in sessions}


def _set_flag(command: str, store: Store, ids: Sequence[str]) -> Change:
    column, value, sentence, set_here = _COMMANDS[command]
    if not isinstance(store, RemoteStore):
        return set_here(store, ids)

    def is_done() -> bool:
        return {getattr(each, column) for each in _sessions_of(store, ids).values()} == {
            bool(value)
        }

    document = _run(store, command, {"ids": list(ids)}, is_done)
    touched = tuple(ids) if document is None else _texts(document.get("sessions"))
    rows = tuple(RowChange(each, {column: 1 - value}, {column: value}) for each in touched)
    count = len(ids)
    conversations = ngettext("1 conversation", "{count:,} conversations", count).format(count=count)
    text = _("{done} on {name}").format(
        done=_(sentence).format(conversations=conversations), name=store.link.host.name
    )
    return Change(text if rows else "", rows)


archive, unarchive = partial(_set_flag, "archive"), partial(_set_flag, "unarchive")
pin, unpin = partial(_set_flag, "pin"), partial(_set_flag, "unpin")


def rename(store: Store, session_id: str, typed: str) -> titles.Renamed:
    """Rename a conversation."""
    if not isinstance(store, RemoteStore):
        return titles.rename(store, session_id, typed)

    def title() -> str | None:
        session = _sessions_of(store, [session_id]).get(session_id)
        return session.title if session is not None else None

    before = title()
    document = _run(
        store, "rename", {"id": session_id, "title": [typed]}, lambda: title() != before
    )
    after = title() if document is None else document.get("title")
    after = after if isinstance(after, str) else None
    rows = (RowChange(session_id, {"title": before}, {"title": after}),) if after != before else ()
    name = f"“{one_line(after, 60)}”" if after else one_line(session_id)
    text = _("renamed {title} on {name}").format(title=name, name=store.link.host.name)
    return titles.Renamed(Change(text if rows else "", rows), after, (after or "") != typed)


def undo(store: Store, change: Change) -> Change:
    """Undo a change of flags or of a title; elsewhere flags are set on whole lineages again, as the
    commands do."""
    if not isinstance(store, RemoteStore) or not change.rows:
        return flags.undo(store, change)
    first = change.rows[0]
    done = _("undone: {done}").format(done=change.sentence)
    if "title" in first.before:
        title = first.before["title"]
        renamed = rename(store, first.session_id, title if isinstance(title, str) else "")
        return Change(done, renamed.change.rows)
    wanted = next(iter(first.before.items()))
    command = next(
        name for name, (column, value, *_rest) in _COMMANDS.items() if (column, value) == wanted
    )
    return Change(done, _set_flag(command, store, change.session_ids).rows)


def archive_planned(store: Store, plan: Plan, **how: Unpack[bulk.Carrying]) -> bulk.Outcome[Change]:
    """Archive the conversations of a plan; elsewhere the guards of that machine decide about
    relatives."""
    unit = bulk.archive_unit(store, plan)
    if isinstance(store, RemoteStore):

        def unit(planned: Sequence[Planned]) -> Change:
            return archive(store, [each.conversation.id for each in planned])

    return bulk.carry_out(store, plan, unit, **how)


def delete_planned(
    store: Store,
    plan: Plan,
    catalog: Catalog,
    trash: Path,
    files: Path | None,
    **how: Unpack[bulk.Carrying],
) -> bulk.Outcome[Deleted]:
    """Move the conversations of a plan to the trash of their machine."""
    if not isinstance(store, RemoteStore):
        return bulk.delete_planned(store, plan, catalog, trash, files, **how)

    def unit(planned: Sequence[Planned]) -> Deleted:
        return delete(store, [each.conversation.id for each in planned])

    return bulk.carry_out(store, plan, unit, **how)


def delete(store: RemoteStore, ids: Sequence[str]) -> Deleted:
    """Move conversations to the trash of their machine, all of them or none.

    Raises:
        RefusedError: One of them is protected, by the rules of the machine.
        BrowseError: Another reason; nothing was deleted.
        WriteInDoubtError: The connection was lost, and the machine does not answer any more.
    """
    document = _run(
        store,
        "delete",
        {"ids": list(ids), "yes": True},
        lambda: not _sessions_of(store, ids),
    )
    if document is None:  # the answer was lost, so the bundle is looked for
        listed = document_of(store.link.host, store.link.call("trash")).get("bundles")
        bundles = listed if isinstance(listed, list) else []
        bundle: object = next(
            (each for each in bundles if set(ids) <= set(_texts(_get(each, "sessions")))), None
        )
        document = {
            "bundle": bundle,
            "deleted": _get(bundle, "sessions"),
            "messages": _get(bundle, "messages"),
        }
    bundle = document.get("bundle")
    name = _get(bundle, "name")
    sessions, messages = _texts(document.get("deleted")), _number(document.get("messages"))
    return Deleted(
        Bundle(
            name if isinstance(name, str) else "",
            Path(),
            0.0,
            tuple(ids),
            sessions,
            messages,
            _number(_get(bundle, "bytes")),
            None,
            str(store.path),
        ),
        tuple(ids),
        sessions,
        _texts(document.get("reparented")),
        messages,
        _texts(document.get("files")),
        _texts(document.get("notes")),
    )


def restore(
    store: Store,
    trash: Path,
    deleted: Deleted,
    files: Path | None,
    *,
    check: bool,
    tell: Tell = quiet,
) -> restoring.Restored:
    """Undo a delete, from the trash of the machine."""
    bundle, ids = deleted.bundle.name, list(deleted.sessions)
    if not isinstance(store, RemoteStore):
        return restoring.restore(
            store, trash, bundle, sessions_folder=files, check=check, tell=tell
        )
    document = _run(
        store,
        "restore",
        {"bundles": [bundle]},
        lambda: len(_sessions_of(store, ids)) == len(ids) > 0,
    )
    if document is None:
        document = {"restored": ids, "verified": False}
    return restoring.Restored(
        bundle,
        _texts(document.get("restored")),
        _number(document.get("messages")),
        _number(document.get("files")),
        bool(document.get("verified")),
        _texts(document.get("notes")),
    )


def check_index(store: Store) -> tuple[str, ...]:
    """Check the search index after several restores; another machine checks its own with each."""
    return () if isinstance(store, RemoteStore) else restoring.check_index(store)


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None
