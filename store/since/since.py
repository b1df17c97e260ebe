"""What happened since the user looked, in four lanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from . import Attention, Unread
from .cron_runs import CronRun, Runs, read_cron_runs, with_sessions
from .ends import EndFact, find_waiting, find_wrong, is_error
from .last_turn import read_turn
from .unread import find_unread, find_written

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
    failed = [run for run in read_cron_runs(reader.path.parent) if run.has_failed_since(marks.at)]
    return Attention(
        find_unread(reader, catalog, marks),
        frozenset(root for root in waiting if root is not None),
        len(failed),
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
    runs = with_sessions(read_cron_runs(reader.path.parent), catalog)
    opened = _open(catalog)
    waiting = list(_facts("waiting", catalog, find_waiting(reader, opened, now)))
    asked = {item.conversation_id for item in waiting}
    found = [
        *waiting,
        *_wrong(reader, catalog, runs, unread, since),
        *_new(catalog, unread),
        *_running(reader, runs, [each for each in opened if each.id not in asked]),
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


def _facts(lane: str, catalog: Catalog, facts: Iterable[EndFact]) -> Iterator[SinceItem]:
    """Yield the items of what the ends of conversations show."""
    for each in facts:
        conversation = catalog.conversation(each.session_id)
        at = each.at if each.at is not None else conversation.last_active
        yield _item(lane, conversation, each.message_id, at, each.why, certain=each.certain)


def _wrong(
    reader: Reader, catalog: Catalog, runs: Runs, unread: Iterable[str], since: float
) -> Iterator[SinceItem]:
    """Yield what went wrong in conversations with new messages, what was ended by an error since,
    and the runs of jobs that failed since."""
    failed: set[str] = set()
    for run, conversation in runs:
        if not run.has_failed_since(since):
            continue
        why = _("the job failed: {error}", error=one_line(run.error, _SHOWN))
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
    suspects = {each.id: each for each in (*map(catalog.conversation, unread), *broken)}
    chosen = [each for each in suspects.values() if each.id not in failed]
    yield from _facts("wrong", catalog, find_wrong(reader, chosen))


def _new(catalog: Catalog, unread: Mapping[str, Unread]) -> Iterator[SinceItem]:
    for root, new in unread.items():
        why = ngettext("1 new message", "{count:,} new messages", new.amount, count=new.amount)
        yield _item("new", catalog.conversation(root), new.first_message_id, new.at, why)


def _running(reader: Reader, runs: Runs, opened: Iterable[Conversation]) -> Iterator[SinceItem]:
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
    for run, of_run in runs:
        if run.is_running and of_run is None:
            yield _of_job("running", run, _("a cron job, without a session"))


def _named(reader: Reader, catalog: Catalog, items: Sequence[SinceItem]) -> Iterator[SinceItem]:
    """Yield items whose untitled conversations have the name that lists show."""
    untitled = {item.session_id for item in items if item.session_id is not None and not item.title}
    named = with_names(reader, [catalog.conversation(id) for id in untitled])
    names: dict[str | None, str] = {each.id: each.preview for each in named}
    for item in items:
        yield item._replace(title=item.title or names.get(item.session_id, ""))
