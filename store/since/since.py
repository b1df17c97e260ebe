"""What happened since the user looked, in four lanes; and which messages are new, by conversation:
each once, however often Hermes has written it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from ..compression.compactions import is_compressed, read_history
from ..connection.reader import Reader
from ..connection.stored_values import as_int, as_time
from ..messages.preview import with_names
from ..messages.transcript import branched_off
from ..notes.notes_file import NotesError, ReadMarks, no_marks, read_marks
from ..sessions.catalog import Catalog
from ..sessions.models import FAR_PAST, Conversation, Status, View
from ..sessions.relations import STALE_AFTER, is_ended
from ..text import one_line, text_of
from ..wording import _, ngettext
from . import Attention, Unread
from .cron_runs import CronRun, Runs, read_cron_runs, with_sessions
from .ends import SinceFact, find_waiting, find_wrong, is_error, pending, read_turn

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
    """Why some places did not answer, or that the read marks cannot be read: then nothing is
    new."""

    def lane(self, name: str) -> tuple[SinceItem, ...]:
        """Return the items of a lane."""
        return tuple(item for item in self.items if item.lane == name)


def order(item: SinceItem) -> tuple[int, float]:
    """Sort items lane by lane, the newest first in each."""
    return LANES.index(item.lane), -(FAR_PAST if item.at is None else item.at)


def read_attention(reader: Reader, catalog: Catalog, now: float) -> Attention:
    """Read what is new, and what waits, for the rows of a list; those that were silent for a
    week are left out, so that it takes milliseconds."""
    newest_first = map(catalog.conversation, catalog.listed(View.ALL))
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
    notes: list[str] = []
    if after is None:
        try:
            marks = read_marks(reader, now)
        except NotesError as error:
            marks = no_marks(reader, now)
            notes.append(str(error))
        since, unread = marks.at, find_unread(reader, catalog, marks)
    else:
        since, unread = after, find_written(reader, catalog, after)
    runs = with_sessions(read_cron_runs(reader.path.parent), catalog)
    # Those that were never ended, of all that a list shows and that were not put away.
    oldest_first = map(catalog.conversation, reversed(catalog.listed(View.ALL)))
    shown = filter(_is_shown, oldest_first)
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
    items = [
        SinceItem(
            lane=lane,
            session_id=conversation.id,
            title=conversation.title or conversation.preview,
            message_id=fact.message_id,
            at=fact.at if fact.at is not None else conversation.last_active,
            why=fact.why,
            certain=fact.certain,
            source=conversation.source,
        )
        for (lane, fact), conversation in named
    ]
    items += _of_jobs(runs, since)
    return Since(since, tuple(sorted(items, key=order)), tuple(notes))


def _is_shown(conversation: Conversation) -> bool:
    return conversation.view not in (None, View.ARCHIVED)


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
        for each in catalog.conversations()
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


# Which messages are new

_NEWEST = "newest"
"""Keys in the facts about a file."""
_UNREAD = "unread"


_Rows = Iterator[tuple[str, int, float | None]]
"""Rows of messages: the root id of the conversation, the id, and the time."""


def find_written(reader: Reader, catalog: Catalog, after: float) -> Mapping[str, Unread]:
    """Find the messages since a time, in Unix seconds; returns as `find_unread`."""
    sessions = catalog.sessions.values()
    recent = [each.id for each in sessions if (each.last_active or FAR_PAST) >= after]
    # To SQLite a time that is a text is later than any number.
    rows = _shown_rows(reader, catalog, recent, "m.timestamp >= ?", after)
    return _count(reader, catalog, (row for row in rows if row[2] is None or row[2] >= after))


def find_unread(reader: Reader, catalog: Catalog, marks: ReadMarks) -> Mapping[str, Unread]:
    """Find the messages behind the read marks, of all listed conversations.

    Returns:
        By root id; conversations without new messages are left out.
    """
    newest: dict[str, int] = {}
    for session, id in _newest_ids(reader, marks.floor).items():
        if root := _listed(catalog, session):
            newest[root] = max(newest.get(root, 0), id)
    keys: dict[str, tuple[int, object, object, object]] = {}
    for root, id in newest.items():
        conversation = catalog.conversation(root)
        mark = marks.of(conversation.segments)
        if id > mark:  # a rewind shows in the counter of Hermes
            keys[root] = mark, id, conversation.last_active, conversation.message_count
    known = reader.of_file.others.get(_UNREAD, {})
    chosen = [root for root, key in keys.items() if (root, key) not in known]
    sessions = [id for root in chosen for id in catalog.conversation(root).session_ids]
    rows = _shown_rows(reader, catalog, sessions, "m.id > ?", marks.floor)
    counted = _count(reader, catalog, (row for row in rows if row[1] > keys[row[0]][0]))
    known = known | {(root, keys[root]): counted.get(root) for root in chosen}
    found = {key: known[key] for key in keys.items()}
    reader.of_file.others[_UNREAD] = found
    return {root: unread for (root, _key), unread in found.items() if unread is not None}


def _listed(catalog: Catalog, session_id: str) -> str | None:
    """Return the root id of a session's conversation; None if no view of its own lists it."""
    conversation = catalog.of_session(session_id)
    is_listed = conversation is not None and conversation.view is not None
    return catalog.root_of(session_id) if is_listed else None


def _newest_ids(reader: Reader, floor: int) -> Mapping[str, int]:
    """Return the newest id of each session with messages behind a floor; only what was written
    since the last call is read."""
    floor_before, known = reader.of_file.others.get(_NEWEST, (floor, {}))
    if floor_before != floor:
        known = {}
    rows = reader.rows(
        "SELECT session_id, max(id) FROM messages NOT INDEXED WHERE id > ? GROUP BY session_id",
        [max(known.values(), default=floor)],
    )
    newest = {**known, **{text_of(session): as_int(id) for session, id in rows}}
    reader.of_file.others[_NEWEST] = floor, newest
    return newest


def _shown_rows(
    reader: Reader, catalog: Catalog, session_ids: Sequence[str], condition: str, value: object
) -> _Rows:
    """Yield the rows that people see, of listed conversations."""
    for session, id, time in reader.rows_in(
        "SELECT m.session_id, m.id, m.timestamp FROM message_rows m "
        f"WHERE {condition} AND m.state <> 'rewound' AND NOT m.hidden AND m.session_id IN ({{keys}})",
        session_ids,
        [value],
    ):
        if root := _listed(catalog, text_of(session)):
            yield root, as_int(id), as_time(time)


def _count(reader: Reader, catalog: Catalog, rows: _Rows) -> Mapping[str, Unread]:
    """Count rows by the root id of their conversations, without those that Hermes wrote again."""
    by_root: defaultdict[str, dict[int, float | None]] = defaultdict(dict)
    for root, id, at in rows:
        by_root[root][id] = at
    unread: dict[str, Unread] = {}
    for root, times in by_root.items():
        new = times.keys() - _written_again(reader, catalog, catalog.conversation(root))
        if new:
            newest = max((at for id in new if (at := times[id]) is not None), default=None)
            unread[root] = Unread(len(new), min(new), newest)
    return unread


def _written_again(reader: Reader, catalog: Catalog, conversation: Conversation) -> set[int]:
    """Return the rows that are no messages of their own: copies and summaries of compressions, and
    what a branch has from the conversation that it left."""
    again: set[int] = set()
    if is_compressed(reader, conversation.segments):
        history = read_history(reader, conversation.segments)
        again.update(history.copies)
        again.update(row.id for row in history.rows if row.summary_text)
    again.update(branched_off(reader, catalog, conversation))
    return again
