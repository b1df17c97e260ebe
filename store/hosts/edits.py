"""Changes of conversations on another machine, by the command line there, which keeps all of its guards.

The results are those of `store.edit`, so that the screen treats both alike. If the connection is lost before the
answer, the store there is asked what was done before anything is said; nothing is sent twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from ..edit.delete import Deleted
from ..edit.flags import Change, RowChange
from ..edit.restore import Restored
from ..edit.titles import Renamed
from ..errors import BrowseError, NotFoundError, RefusedError, StoreBusyError, StoreError, WriteInDoubtError
from ..text import one_line
from ..trash.shelf import Bundle
from ..wording import N_, _, ngettext
from .faults import HostError, fault
from .link import Json, Link, Reply
from .remote import RemoteStore

_SECONDS = 600.0
"""How long a change may take."""
_ERRORS: Mapping[int, type[BrowseError]] = {3: StoreError, NotFoundError.exit_code: NotFoundError, 5: RefusedError}
_COMMANDS = {
    "archive": ("archived", 1, N_("archived {conversations}")),
    "unarchive": ("archived", 0, N_("brought back {conversations}")),
    "pin": ("pinned", 1, N_("pinned {conversations}")),
    "unpin": ("pinned", 0, N_("unpinned {conversations}")),
}
"""Commands that set a flag: its column, its value, and the sentence."""
_BUSY = (
    N_("{path} is locked by another process."),
    N_("{path} is busy: another process is using it; nothing was changed."),
)
"""The sentences of a `StoreBusyError`, by which it is told from other errors of a store: all end with 3."""


def document_of(link: Link, reply: Reply) -> Json:
    """Return the JSON document a command printed.

    Raises:
        BrowseError: The command failed, with its own sentence.
        HostError: What it printed is no document.
    """
    if reply.code:
        said = [line for line in reply.err.splitlines() if line.strip()]
        sentence = one_line(said[-1] if said else _("it ended with {code}").format(code=reply.code), 600)
        sentence = sentence.removeprefix("hermes-browse: ")
        kind = _ERRORS.get(reply.code, BrowseError)
        if kind is StoreError and any(each.removeprefix("{path}") in sentence for each in _BUSY):
            kind = StoreBusyError
        raise kind(f"{link.host.name}: {sentence}")
    try:
        document = json.loads(reply.out)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise fault(link.host, "host-noise", said=reply.out[:80])
    return document


def _run(store: RemoteStore, arguments: Sequence[str], is_done: Callable[[], bool]) -> Json | None:
    """Run a command that changes the store; None if the connection was lost but the store shows that it is done."""
    link = store.link
    link.open()  # what fails here has sent nothing
    try:
        return document_of(link, link.run(arguments, seconds=_SECONDS))
    except HostError as lost:
        if lost.code not in ("host-lost", "host-silent"):
            raise
        try:
            link.reconnect()
            done = is_done()
        except BrowseError:
            text = _("{name}: the connection was lost while it changed the store, so nobody knows whether it was done.")
            remedy = _("Look at the list once {name} is back: nothing is sent again.")
            name = link.host.name
            raise WriteInDoubtError(text.format(name=name), remedy=remedy.format(name=name)) from lost
        if done:
            return None
        sentence = _("{name}: the connection was lost. So far nothing is changed there.")
        remedy = _("Look at the list before you do it again.")
        raise WriteInDoubtError(sentence.format(name=link.host.name), remedy=remedy) from lost


def _texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _flags_of(store: RemoteStore, ids: Sequence[str], column: str) -> dict[str, int]:
    """Return a flag of sessions, by id; sessions that are gone are missing."""
    with store.reader() as reader:
        own = reader.schema.session(column, default="0")
        rows = reader.rows_in(f"SELECT s.id, {own} FROM sessions s WHERE s.id IN ({{keys}})", list(ids))
    return {str(session): int(bool(value)) for session, value in rows}


def set_flag(store: RemoteStore, ids: Sequence[str], command: str) -> Change:
    """Run `archive`, `unarchive`, `pin` or `unpin`; arguments and errors as of `store.edit.flags`."""
    column, value, sentence = _COMMANDS[command]

    def is_done() -> bool:
        return set(_flags_of(store, ids, column).values()) == {value}

    document = _run(store, [command, "--json", "--", *ids], is_done)
    touched = tuple(ids) if document is None else _texts(document.get("sessions"))
    rows = tuple(RowChange(each, {column: 1 - value}, {column: value}) for each in touched)
    count = len(ids)
    conversations = ngettext("1 conversation", "{count:,} conversations", count).format(count=count)
    text = _("{done} on {name}").format(done=_(sentence).format(conversations=conversations), name=store.link.host.name)
    return Change(text if rows else "", rows)


def rename(store: RemoteStore, session_id: str, typed: str) -> Renamed:
    """Rename a conversation; arguments and errors as of `store.edit.titles`."""

    def title() -> str | None:
        with store.reader() as reader:
            own = reader.schema.session("title")
            value = reader.value(f"SELECT {own} FROM sessions s WHERE s.id = ?", [session_id])
        return value if isinstance(value, str) else None

    before = title()
    document = _run(store, ["rename", "--json", "--", session_id, typed], lambda: title() != before)
    after = title() if document is None else document.get("title")
    after = after if isinstance(after, str) else None
    rows = (RowChange(session_id, {"title": before}, {"title": after}),) if after != before else ()
    name = f"“{one_line(after, 60)}”" if after else one_line(session_id)
    text = _("renamed {title} on {name}").format(title=name, name=store.link.host.name)
    return Renamed(Change(text if rows else "", rows), after, (after or "") != typed)


def undo(store: RemoteStore, change: Change) -> Change:
    """Undo a change that `set_flag` or `rename` made.

    Flags are set on whole lineages again, as the commands do.
    """
    first = change.rows[0]
    done = _("undone: {done}").format(done=change.sentence)
    if "title" in first.before:
        title = first.before["title"]
        renamed = rename(store, first.session_id, title if isinstance(title, str) else "")
        return Change(done, renamed.change.rows)
    wanted = {next(iter(first.before.items()))}
    command = next(name for name, (column, value, _sentence) in _COMMANDS.items() if (column, value) in wanted)
    return Change(done, set_flag(store, change.session_ids, command).rows)


def delete(store: RemoteStore, ids: Sequence[str]) -> Deleted:
    """Move conversations to the trash of their machine, all of them or none.

    Raises:
        RefusedError: One of them is protected, by the rules of the machine.
        BrowseError: Another reason; nothing was deleted.
        WriteInDoubtError: The connection was lost, and the machine does not answer any more.
    """
    document = _run(store, ["delete", "--json", "--yes", "--", *ids], lambda: not _flags_of(store, ids, "archived"))
    if document is None:  # the answer was lost, so the bundle is looked for
        listed = document_of(store.link, store.link.run(["trash", "list", "--json"])).get("bundles")
        bundles = listed if isinstance(listed, list) else []
        bundle: object = next((each for each in bundles if set(ids) <= set(_texts(_get(each, "sessions")))), None)
        document = {"bundle": bundle, "deleted": _get(bundle, "sessions"), "messages": _get(bundle, "messages")}
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


def restore(store: RemoteStore, bundle: str, sessions: Collection[str] = ()) -> Restored:
    """Restore a bundle from the trash of its machine.

    Args:
        store: The store.
        bundle: Name of the bundle.
        sessions: Of the bundle, to find out what was done if the connection is lost.
    """
    ids = list(sessions)
    document = _run(
        store,
        ["trash", "restore", "--json", "--", bundle],
        lambda: len(_flags_of(store, ids, "archived")) == len(ids) > 0,
    )
    if document is None:
        document = {"restored": ids, "verified": False}
    return Restored(
        bundle,
        _texts(document.get("restored")),
        _number(document.get("messages")),
        _number(document.get("files")),
        bool(document.get("verified")),
        _texts(document.get("notes")),
    )


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None
