"""What happened since the user looked, in four lanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import NamedTuple

from ..connection.reader import Reader
from ..messages.preview import with_names
from ..notes.notes_file import NotesError, no_marks, read_marks
from ..sessions.catalog import Catalog
from ..sessions.models import FAR_PAST, Conversation, Status, View
from ..sessions.relations import STALE_AFTER, is_ended
from ..text import one_line
from ..wording import _, ngettext
from . import Attention, Unread
from .cron_runs import CronRun, Runs, read_cron_runs, with_sessions
from .ends import SinceFact, find_waiting, find_wrong, is_error, pending, read_turn
from .unread import find_unread, find_written

LANES = ("waiting", "wrong", "new", "running")
_SHOWN = 200


class SinceItem(NamedTuple):
    """One thing that happened."""

    lane: str
    """One of `LANES`."""
    session_id: str | None
    """The tip of its conversation; None for a cron job without a session."""
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
    # Those that were never ended, of all that a list shows and that were not put away.
    shown = filter(_is_shown, map(catalog.conversation, catalog.listed(View.ALL)))
    opened = [each for each in shown if not is_ended(each.segments)]
    waiting = list(find_waiting(reader, opened, now))
    asked = {catalog.conversation(fact.session_id).id for fact in waiting}
    lanes = {
        "waiting": waiting,
        "wrong": _wrong(reader, catalog, runs, unread, since),
        "new": _new(unread),
        "running": _running(reader, [each for each in opened if each.id not in asked], runs),
    }
    facts = [(lane, fact) for lane, found in lanes.items() for fact in found]
    conversations = [catalog.conversation(fact.session_id) for _lane, fact in facts]
    named = zip(facts, with_names(reader, conversations), strict=True)
    items = [_item(lane, fact, conversation) for (lane, fact), conversation in named]
    return Since(since, tuple(sorted([*items, *_of_jobs(runs, since)], key=order)))


def _is_shown(conversation: Conversation) -> bool:
    return conversation.view not in (None, View.ARCHIVED)


def _item(lane: str, fact: SinceFact, conversation: Conversation) -> SinceItem:
    """Return the item of a fact about a conversation, which has its name."""
    title = conversation.title or conversation.preview
    at = fact.at if fact.at is not None else conversation.last_active
    return SinceItem(
        lane, conversation.id, title, fact.message_id, at, fact.why, fact.certain,
        conversation.source,
    )  # fmt: skip


def _of_jobs(runs: Runs, since: float) -> Iterator[SinceItem]:
    """Yield the runs without a session that failed since, or are running."""
    for run, conversation in runs:
        if conversation is None and (run.is_running or run.has_failed_since(since)):
            lane = "running" if run.is_running else "wrong"
            why = _("a cron job, without a session") if run.is_running else _failure(run)
            yield SinceItem(lane, None, run.name, None, run.at, why, True, "cron", run.job)


def _failure(run: CronRun) -> str:
    return _("the job failed: {error}", error=one_line(run.error, _SHOWN))


def _wrong(
    reader: Reader, catalog: Catalog, runs: Runs, unread: Iterable[str], since: float
) -> Iterator[SinceFact]:
    """Yield what went wrong in conversations with new messages, what was ended by an error since,
    and the runs of jobs that failed since."""
    failed = {
        conversation.id: SinceFact(conversation.id, None, run.at, _failure(run))
        for run, conversation in runs
        if conversation is not None and run.has_failed_since(since)
    }
    broken = (
        each
        for each in catalog.chains()
        if is_error(each.tip.end_reason)
        if (each.tip.ended_at or FAR_PAST) >= since and _is_shown(each)
    )
    suspects = {each.id: each for each in (*map(catalog.conversation, unread), *broken)}
    yield from failed.values()
    yield from find_wrong(reader, [suspects[id] for id in suspects if id not in failed])


def _new(unread: Mapping[str, Unread]) -> Iterator[SinceFact]:
    for root, new in unread.items():
        why = ngettext("1 new message", "{count:,} new messages", new.amount, count=new.amount)
        yield SinceFact(root, new.first_message_id, new.at, why)


def _running(reader: Reader, opened: Iterable[Conversation], runs: Runs) -> Iterator[SinceFact]:
    """Yield what is live, and what a run of a job is in, however long it is silent."""
    of_runs = {each.id for run, each in runs if each is not None and run.is_running}
    for conversation in opened:
        if conversation.status is not Status.LIVE and conversation.id not in of_runs:
            continue
        turn = read_turn(reader, conversation.id)
        tools = pending(turn)
        why = _("in {tool}", tool=tools[-1].name) if tools else _("at work, or just done")
        is_busy = conversation.id in of_runs or any(each.busy for each in conversation.segments)
        began, last = (turn[0].timestamp, turn[-1].id) if turn else (None, None)
        yield SinceFact(conversation.id, last, began, why, is_busy)
