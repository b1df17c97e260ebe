"""Conversations deleted into the trash: first a bundle that is whole on disk, then one transaction.

Stricter than Hermes, which deletes one session at once and for good (0.13 to 0.22): whole conversations, none that is
live or pinned, and only rows that are, in the transaction itself, still those of the bundle.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..connect import Store
from ..errors import BrowseError, NotFoundError, RefusedError, WriteUnverifiedError
from ..preview import with_details
from ..reader import Reader
from ..sessions.catalog import Catalog, read_catalog
from ..sessions.conversations import Forest
from ..sessions.models import Conversation
from ..sessions.rows import read_busy, read_sessions
from ..text import one_line
from ..trash import transcripts
from ..trash.bundle import Contents, Written, write_bundle
from ..trash.kin import ties_of
from ..trash.layout import Rows, discover
from ..trash.shelf import Bundle, describe, discard, sweep
from ..trash.slices import never
from ..trash.stages import Tell, quiet
from ..wording import _, ngettext
from .closure import Closure, close_over
from .failing import CommitFailedError, settle
from .guards import check_writable, protected
from .indexing import Indexing
from .taking import check_gone, delete_rows, place_of, recheck
from .unit import Needs, Unit, attempt

NEEDS = Needs(tables=frozenset({"sessions", "messages"}), columns=frozenset({"sessions.parent_session_id"}))
_PREVIEW = 60


_A_SECOND = 1500
"""Messages that are deleted in a second, mostly from the two search indexes (0.19)."""
_PATIENT = 10.0
"""Seconds that Hermes certainly waits for the write lock: it gives up after some 16 (0.19) or 20 (0.22)."""


def hold_up(messages: int) -> str | None:
    """A sentence where deleting one conversation keeps Hermes from writing for longer than it may wait.

    Args:
        messages: Rows of the largest conversation; it is deleted in one transaction.
    """
    seconds = messages / _A_SECOND
    if seconds < _PATIENT:
        return None
    return _(
        "The largest has {messages:,} messages and goes in one piece: for about {seconds:,.0f} seconds Hermes cannot "
        "write, so let no chat be at work."
    ).format(messages=messages, seconds=seconds)


class Deleted(NamedTuple):
    """What a delete did; restoring the bundle undoes it."""

    bundle: Bundle
    conversations: tuple[str, ...]
    """Tips of what was asked for."""
    sessions: tuple[str, ...]
    """All that went, segments and subagents."""
    reparented: tuple[str, ...]
    """Sessions that stay, without a parent now."""
    messages: int
    files: tuple[str, ...]
    """Names of files of Hermes that went along."""
    notes: tuple[str, ...]
    """Sentences on what did not go as it should."""

    @property
    def sentence(self) -> str:
        """What was done, in the past tense."""
        count = len(self.sessions)
        return _("deleted {sessions}, {messages} to the trash").format(
            sessions=ngettext("1 session", "{count:,} sessions", count).format(count=count),
            messages=ngettext("1 message", "{count:,} messages", self.messages).format(count=self.messages),
        )


class Doomed(NamedTuple):
    """What a delete would take, before it does."""

    closure: Closure
    conversations: tuple[Conversation, ...]
    protected: tuple[tuple[str, str], ...]
    """Tips of conversations that must stay, each with the reason."""
    messages: int
    """Rows of `messages` that would go, shown or not."""


def plan_delete(reader: Reader, catalog: Catalog, session_ids: Sequence[str], now: float) -> Doomed:
    """What a delete of the conversations of some sessions would take.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        session_ids: Any segments.
        now: Unix seconds.

    Raises:
        NotFoundError: There is no such session.
    """
    missing = [each for each in session_ids if each not in catalog.forest.sessions]
    if missing:
        raise NotFoundError(_("There is no session {session} in this store.").format(session=missing[0]))
    closure = close_over(catalog.forest, session_ids)
    busy = read_busy(reader)
    # Read anew: a catalog of a minute ago does not know of a pin, or of a turn, since then.
    fresh = Catalog(Forest(read_sessions(reader, closure.sessions, busy=busy)), now, exact=False)
    closure = closure.without_gone(fresh.forest.sessions)
    kept = [(fresh.forest.chain_of(root).tip.id, reason) for root, reason in protected(reader, fresh, now).items()]
    tip = closure.asked[0].tip.id
    leased = _("a turn is running in its family ({root})")
    kept += [(tip, leased.format(root=top)) for top in closure.above if top in busy]
    conversations = tuple(catalog.conversation(chain.root.id) for chain in closure.asked)
    counts = reader.rows_in("SELECT count(*) FROM messages WHERE session_id IN ({keys})", closure.sessions)
    return Doomed(closure, conversations, tuple(kept), sum(int(str(row[0])) for row in counts))


def refuse_protected(catalog: Catalog, doomed: Doomed) -> None:
    """Stop where something that would go is protected.

    Raises:
        RefusedError: With the first conversation that is, and why.
    """
    if doomed.protected:
        tip, reason = doomed.protected[0]
        conversation = catalog.of_session(tip)
        title = conversation.title if conversation is not None else None
        named = f"“{one_line(title, _PREVIEW)}” ({tip})" if title else tip
        raise RefusedError(
            _("{conversation} stays: {reason}. Nothing was changed.").format(conversation=named, reason=reason)
        )


def delete(
    store: Store,
    session_ids: Sequence[str],
    trash: Path,
    *,
    now: float | None = None,
    catalog: Catalog | None = None,
    sessions_folder: Path | None = None,
    patience: float = 5.0,
    stop: Callable[[], bool] = never,
    tell: Tell = quiet,
) -> Deleted:
    """Move conversations to the trash, all of them in one bundle and one transaction, or none.

    Other writers wait while the transaction lasts, which is mostly the search index: about a second for every 1,500
    messages. A clean-up takes them in portions.

    Args:
        store: The store.
        session_ids: Any segments of the conversations.
        trash: The folder of the bundles.
        now: Unix seconds; the clock's where not given.
        catalog: Of the whole store where one is at hand: it may be a little old, what has changed since is refused.
        sessions_folder: Where Hermes keeps files of sessions; None where there is none.
        patience: Seconds to wait for other writers.
        stop: Looked at between statements until the rows are deleted.
        tell: Is told how far it is.

    Raises:
        RefusedError: Protected, changed meanwhile, or the trash cannot take it; nothing was changed.
        NotFoundError: There is no such session.
        StoreError: The store cannot be read or written, or is busy.
        QueryInterruptedError: It was stopped; nothing was changed.
        WriteUnverifiedError: It was done, and does not read back as it should; the bundle stays.
        WriteInDoubtError: The commit failed; the bundle stays, and the sentence says what the store holds now.
    """
    moment = time.time() if now is None else now
    with store.reader() as reader:
        version, place = _version(reader), place_of(store.path)
        known = read_catalog(reader, moment) if catalog is None else catalog
        doomed = plan_delete(reader, known, session_ids, moment)
        refuse_protected(known, doomed)
        check_writable(store, reader, NEEDS)
        closure, layout = doomed.closure, discover(reader)
        _check_ids(reader, closure)
        found = transcripts.find(reader, sessions_folder, closure.sessions)
        contents = Contents(
            closure.sessions,
            tuple(each.id for each in doomed.conversations),
            _titles(reader, doomed.conversations),
            found,
            ties_of(reader, trash, closure.sessions),
        )
        sweep(trash, moment)
        written = write_bundle(reader, layout, contents, trash, moment, stop, messages=doomed.messages, tell=tell)
        _check_orphans(closure, written)
        wrong: list[str] = []

        def work(unit: Unit) -> int:
            same = version == _version(reader)
            recheck(unit, store.path, place, closure, written, unchanged=same)
            count = delete_rows(unit, closure, layout, stop, messages=doomed.messages, tell=tell)
            indexing = Indexing(unit)
            if indexing.is_ours:
                wrong.extend(indexing.compare())
            return count

        def check(again: Reader, _count: int) -> None:
            check_gone(again, closure, written)

        failed: CommitFailedError | None = None
        try:
            attempt(store, work, check, needs=NEEDS, patience=patience)
        except CommitFailedError as error:
            failed = error
        except WriteUnverifiedError:
            raise
        except BaseException:
            _take_back(reader, closure, written)
            raise
    if failed is not None:  # the bundle stays, whatever the store holds
        holds = _("The bundle {name} in the trash holds everything; `hermes-browse trash restore {name}` puts it back.")
        raise settle(store, failed, check, holds.format(name=written.manifest.name)) from failed
    notes = transcripts.remove(found)
    return Deleted(
        bundle=describe(written.path),
        conversations=contents.conversations,
        sessions=closure.sessions,
        reparented=tuple(each for each in written.cut if each is not None),
        messages=written.manifest.messages,
        files=tuple(each.name for each in written.manifest.files),
        notes=(*wrong, *notes),
    )


def _titles(reader: Reader, conversations: Sequence[Conversation]) -> tuple[str | None, ...]:
    titles = [each.title for each in conversations]
    if titles[0] is None:  # the one that names the bundle: what was asked first is better than nothing
        (first,) = with_details(reader, [conversations[0]])
        titles[0] = one_line(first.preview, _PREVIEW) or None
    return tuple(titles)


def _version(source: Rows) -> object:
    return source.rows("PRAGMA data_version")[0][0]


def _check_ids(reader: Reader, closure: Closure) -> None:
    found = reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys}) AND typeof(id) = 'text'", closure.sessions)
    if {row[0] for row in found} != set(closure.sessions):
        raise RefusedError(
            _("The id of one of its sessions is no proper text, or the session is gone. Nothing was changed."),
            remedy=_("`hermes sessions repair` may help."),
        )


def _check_orphans(closure: Closure, written: Written) -> None:
    """What the bundle says is cut loose must have been shown: a new child may be a continuation."""
    shown = {session.id for session in closure.orphaned}
    if not shown.issuperset(each for each in written.cut if each is not None):  # without an id it is in no list
        discard(written.path)
        raise RefusedError(_("The conversation has changed meanwhile: it has another child. Nothing was changed."))


def _take_back(reader: Reader, closure: Closure, written: Written) -> None:
    """Remove the bundle of a delete that was given up before its commit; where a session is gone all the same, or that
    cannot be told, it stays.
    """
    try:
        found = reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", closure.sessions)
        if len(found) == len(closure.sessions):
            discard(written.path)
    except BrowseError:
        return
