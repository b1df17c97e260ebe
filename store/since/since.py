"""What happened since the user looked, in four lanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import NamedTuple

from ..connection.reader import Reader
from ..messages.preview import with_names
from ..notes.notes_file import NotesError
from ..notes.read_marks import no_marks, read_marks
from ..sessions.catalog import Catalog
from ..sessions.models import FAR_PAST, Conversation, Status, View
from ..sessions.relations import STALE_AFTER, is_ended
from ..text import one_line
from ..wording import _, ngettext
from .attention import Attention, Unread
from .cron_runs import CronRun, CronSessions, read_cron_runs
from .last_turn import read_turn
from .unread import find_unread, find_written
from .waiting import find_waiting
from .wrong import find_wrong, is_error

LANES = ("waiting", "wrong", "new", "running")
_SHOWN = 200


class SinceItem(NamedTuple):
    """One thing that happened."""

    lane: str
    """One of `LANES`."""
    session_id: str | None
    """None for a cron job without a session."""
    conversation_id: str | None
    """The tip of its conversation."""
    title: str
    message_id: int | None
    at: float | None
    why: str
    certain: bool
    """False if it is inferred from what was said or done."""
    source: str
    job: str = ""
    """The id of a cron job without a session."""
    place: str = ""
    """The profile or host, among several."""


class Since(NamedTuple):
    """All that happened since a time."""

    since: float
    """Unix seconds: when all was read, when the marks began, or as asked."""
    items: tuple[SinceItem, ...]
    """Lane by lane, the newest first in each."""
    notes: tuple[str, ...] = ()
    """Why some places did not answer."""

    def lane(self, name: str) -> tuple[SinceItem, ...]:
        """Return the items of a lane."""
        return tuple(item for item in self.items if item.lane == name)


def order(item: SinceItem) -> tuple[int, float]:
    """Sort items lane by lane, the newest first in each."""
    return LANES.index(item.lane), -(FAR_PAST if item.at is None else item.at)


def read_attention(reader: Reader, catalog: Catalog, now: float) -> Attention:
    """Read what is new, and what waits, for the rows of a list; those that were silent for a
    week are left out, so that it takes milliseconds."""
    newest_first = map(catalog.conversation, reversed(catalog.listed(View.ALL)))
    used = takewhile(lambda each: (each.last_active or FAR_PAST) > now - STALE_AFTER, newest_first)
    recent = [each for each in used if _is_shown(each)]
    waiting = (catalog.root_of(each.session_id) for each in find_waiting(reader, recent, now))
    try:
        marks = read_marks(reader, now)
    except NotesError:  # whoever begins them then is told, and the health check tells too
        marks = no_marks(reader, now)
    return Attention(
        find_unread(reader, catalog, marks),
        frozenset(root for root in waiting if root is not None),
        sum(1 for _run in _failed_runs(reader, marks.at)),
        marks.have_begun,
    )


def read_since(reader: Reader, catalog: Catalog, now: float, after: float | None = None) -> Since:
    """Read what happened since the read marks, or since a time.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        now: Unix seconds.
        after: Take this time instead of the marks.
    """
    if after is None:
        marks = read_marks(reader, now)
        since, unread = marks.at, find_unread(reader, catalog, marks)
    else:
        since, unread = after, find_written(reader, catalog, after)
    fresh = [catalog.conversation(root) for root in unread]
    opened = _open(catalog)
    found = [
        *_waiting(reader, catalog, opened, now),
        *_wrong(reader, catalog, fresh, since),
        *_new(catalog, unread),
    ]
    asked = {item.conversation_id for item in found if item.lane == "waiting"}
    found += [
        item for item in _running(reader, catalog, opened) if item.conversation_id not in asked
    ]
    found.sort(key=order)
    return Since(since, tuple(_named(reader, catalog, found)))


def _open(catalog: Catalog) -> list[Conversation]:
    """Return the conversations that were never ended, of those that a list shows and that were not
    put away."""
    every = map(catalog.conversation, catalog.listed(View.ALL))
    return [each for each in every if not is_ended(each.segments) and _is_shown(each)]


def _is_shown(conversation: Conversation) -> bool:
    return conversation.view not in (None, View.ARCHIVED)


def _item(
    lane: str,
    conversation: Conversation,
    message_id: int | None,
    at: float | None,
    why: str,
    *,
    certain: bool = True,
) -> SinceItem:
    tip = conversation.id
    source = conversation.source
    return SinceItem(lane, tip, tip, conversation.title or "", message_id, at, why, certain, source)


def _of_job(lane: str, run: CronRun, why: str) -> SinceItem:
    """Return the item of a run without a session."""
    return SinceItem(lane, None, None, run.name, None, run.at, why, True, "cron", run.job)


def _failed_runs(reader: Reader, since: float) -> Iterator[CronRun]:
    for run in read_cron_runs(reader.path.parent):
        if not run.is_running and (run.at or FAR_PAST) >= since:
            yield run


def _waiting(
    reader: Reader, catalog: Catalog, opened: Iterable[Conversation], now: float
) -> Iterator[SinceItem]:
    for each in find_waiting(reader, opened, now):
        conversation = catalog.conversation(each.session_id)
        at = each.at if each.at is not None else conversation.last_active
        yield _item("waiting", conversation, each.message_id, at, each.why, certain=each.certain)


def _wrong(
    reader: Reader, catalog: Catalog, fresh: Iterable[Conversation], since: float
) -> Iterator[SinceItem]:
    """Yield what went wrong in conversations with new messages, what was ended by an error since,
    and the runs of jobs that failed since."""
    failed: set[str] = set()
    sessions = CronSessions(catalog)
    for run in _failed_runs(reader, since):
        why = _("the job failed: {error}", error=one_line(run.error, _SHOWN))
        conversation = sessions.of(run)
        if conversation is None:
            yield _of_job("wrong", run, why)
        else:
            failed.add(conversation.id)
            yield _item("wrong", conversation, None, run.at, why)
    broken = (
        each
        for each in catalog.chains()
        if is_error(each.tip.end_reason)
        if (each.tip.ended_at or FAR_PAST) >= since and _is_shown(each)
    )
    suspects = {each.id: each for each in (*fresh, *broken) if each.id not in failed}
    for each in find_wrong(reader, suspects.values()):
        conversation = catalog.conversation(each.session_id)
        yield _item("wrong", conversation, each.message_id, each.at, each.why, certain=each.certain)


def _new(catalog: Catalog, unread: Mapping[str, Unread]) -> Iterator[SinceItem]:
    for root, new in unread.items():
        why = ngettext("1 new message", "{count:,} new messages", new.amount, count=new.amount)
        yield _item("new", catalog.conversation(root), new.first_message_id, new.at, why)


def _running(
    reader: Reader, catalog: Catalog, opened: Iterable[Conversation]
) -> Iterator[SinceItem]:
    for conversation in opened:
        if conversation.status is not Status.LIVE:
            continue
        turn = read_turn(reader, conversation.id)
        began = turn.rows[0].at if turn.rows else conversation.last_active
        tools = turn.pending
        why = _("in {tool}", tool=tools[-1].name) if tools else _("at work, or just done")
        is_busy = any(segment.busy for segment in conversation.segments)
        last = turn.rows[-1].id if turn.rows else None
        yield _item("running", conversation, last, began, why, certain=is_busy)
    sessions = CronSessions(catalog)
    for run in read_cron_runs(reader.path.parent):
        if run.is_running and sessions.of(run) is None:
            why = _("a cron job, without a session")
            yield _of_job("running", run, why)


def _named(reader: Reader, catalog: Catalog, items: Iterable[SinceItem]) -> Iterator[SinceItem]:
    """Yield items whose untitled conversations have the name that lists show."""
    found = list(items)
    untitled = {item.session_id for item in found if item.session_id is not None and not item.title}
    names = {
        each.id: each.preview
        for each in with_names(reader, [catalog.conversation(id) for id in untitled])
    }
    for item in found:
        yield item._replace(title=item.title or names.get(item.session_id or "", ""))
