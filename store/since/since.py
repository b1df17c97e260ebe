"""What happened since the user looked, in four lanes; and which messages are new, by conversation:
each once, however often Hermes has written it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import takewhile
from operator import itemgetter
from typing import NamedTuple

from ..compression.compactions import is_compressed, read_history
from ..connection.reader import Reader
from ..connection.stored_values import as_int, as_time
from ..messages.decode import with_names
from ..messages.transcript import branched_off
from ..notes.notes_file import NotesError, ReadMarks, no_marks, read_marks
from ..sessions.catalog import Catalog
from ..sessions.models import FAR_PAST, Conversation, Status, View
from ..sessions.relations import STALE_AFTER, ids_of, is_ended, or_past
from ..text import one_line, text_of
from ..wording import _, ngettext
from . import Attention, SinceItem, Unread
from .cron_runs import Runs, read_cron_runs, with_sessions
from .ends import find_waiting, find_wrong, is_error, pending, read_turn

LANES = ("waiting", "wrong", "new", "running")
_SHOWN = 200


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
    return LANES.index(item.lane), -or_past(item.at)


def read_attention(reader: Reader, catalog: Catalog, now: float) -> Attention:
    """Read what is new, and what waits, for the rows of a list; those that were silent for a
    week are left out, so that it takes milliseconds."""
    newest_first = map(catalog.conversation, catalog.listed(View.ALL))
    used = takewhile(lambda each: (each.last_active or FAR_PAST) > now - STALE_AFTER, newest_first)
    waiting = dict(find_waiting(reader, filter(_is_open, used), now))
    marks, _note = _marks_or_none(reader, now)  # whoever begins them is told, and the health check
    runs = read_cron_runs(reader.path.parent)
    return Attention(
        find_unread(reader, catalog, marks),
        frozenset(waiting),
        sum(run.has_failed_since(marks.at) for run in runs),
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
        marks, notes = _marks_or_none(reader, now)
        since, unread = marks.at, find_unread(reader, catalog, marks)
    else:
        since, unread, notes = after, find_written(reader, catalog, after), ()
    runs = with_sessions(read_cron_runs(reader.path.parent), catalog)
    opened = list(filter(_is_open, reversed(catalog.select(View.ALL))))
    waiting = dict(find_waiting(reader, opened, now))
    silent = [each for each in opened if each.root_id not in waiting]
    of_runs = list(_of_runs(runs, since))
    told = {each.session_id for each in of_runs}
    wrong = _wrong(reader, catalog, unread, since, told)
    items = [*waiting.values(), *of_runs, *wrong, *_new(unread), *_running(reader, silent, runs)]
    return Since(since, tuple(sorted(_named(reader, catalog, items), key=order)), notes)


def _marks_or_none(reader: Reader, now: float) -> tuple[ReadMarks, tuple[str, ...]]:
    """Read the marks; if they cannot be read, return those of a store without any, and why."""
    try:
        return read_marks(reader, now), ()
    except NotesError as error:
        return no_marks(reader, now), (str(error),)


def _is_shown(conversation: Conversation) -> bool:
    return conversation.view not in (None, View.ARCHIVED)


def _is_open(conversation: Conversation) -> bool:
    """Whether a list shows it, and it was neither put away nor ended."""
    return _is_shown(conversation) and not is_ended(conversation.segments)


def _named(reader: Reader, catalog: Catalog, items: Iterable[SinceItem]) -> Iterator[SinceItem]:
    """Yield items with what is known of their conversations."""
    known = {
        each: catalog.conversation(each.session_id) for each in items if each.session_id is not None
    }
    yield from (item for item in items if item not in known)  # jobs without a session
    for item, conversation in zip(known, with_names(reader, list(known.values())), strict=True):
        yield item._replace(
            session_id=conversation.id,
            title=conversation.title or conversation.preview,
            at=item.at if item.at is not None else conversation.last_active,
            source=conversation.source,
        )


def _of_runs(runs: Runs, since: float) -> Iterator[SinceItem]:
    """Yield the runs of jobs that failed since, and those without a session that are running."""
    for run, conversation in runs:
        session_id = conversation.id if conversation is not None else None
        item = SinceItem(
            "wrong", session_id, "", at=run.at, title=run.name, source="cron", job=run.job
        )
        if run.has_failed_since(since):
            error = one_line(run.error, _SHOWN)
            yield item._replace(why=_("the job failed: {error}", error=error))
        elif run.is_running and conversation is None:
            yield item._replace(lane="running", why=_("a cron job, without a session"))


def _wrong(
    reader: Reader,
    catalog: Catalog,
    unread: Iterable[str],
    since: float,
    told: Container[str | None],
) -> Iterator[SinceItem]:
    """Yield what went wrong in conversations with new messages, and what was ended by an error
    since, but of those that are told of already."""
    broken = (
        each
        for each in catalog.conversations()
        if is_error(each.tip.end_reason)
        if (each.tip.ended_at or FAR_PAST) >= since and _is_shown(each)
    )
    suspects = {each.id: each for each in (*map(catalog.conversation, unread), *broken)}
    return find_wrong(reader, [each for id, each in suspects.items() if id not in told])


def _new(unread: Mapping[str, Unread]) -> Iterator[SinceItem]:
    for root, new in unread.items():
        why = ngettext("1 new message", "{count:,} new messages", new.amount)
        yield SinceItem("new", root, why, new.first_message_id, new.at)


def _running(reader: Reader, opened: Iterable[Conversation], runs: Runs) -> Iterator[SinceItem]:
    """Yield what is live, and what a run of a job is in, however long it is silent."""
    of_runs = {each.id for run, each in runs if each is not None and run.is_running}
    at_work = (each for each in opened if each.status is Status.LIVE or each.id in of_runs)
    for conversation in at_work:
        turn = read_turn(reader, conversation.id)
        tools = pending(turn)
        why = _("in {tool}", tool=tools[-1].name) if tools else _("at work, or just done")
        is_busy = conversation.id in of_runs or any(each.busy for each in conversation.segments)
        began, last = (turn[0].timestamp, turn[-1].id) if turn else (None, None)
        yield SinceItem("running", conversation.id, why, last, began, is_busy)


# Which messages are new

_UNREAD = "unread"
"""Key in the facts about a file."""


def find_written(reader: Reader, catalog: Catalog, after: float) -> Mapping[str, Unread]:
    """Find the messages since a time, in Unix seconds; returns as `find_unread`."""
    recent = [each for each in catalog.conversations() if (each.last_active or FAR_PAST) >= after]

    def is_new(_root: str, _id: int, at: float | None) -> bool:
        # To SQLite a time that is a text is later than any number.
        return at is None or at >= after

    return _read_new(reader, catalog, filter(_is_listed, recent), "m.timestamp >= ?", after, is_new)


def find_unread(reader: Reader, catalog: Catalog, marks: ReadMarks) -> Mapping[str, Unread]:
    """Find the messages behind the read marks, of all listed conversations.

    Returns:
        By root id; conversations without new messages are left out.
    """
    keys: dict[str, tuple[int, object, object, object]] = {}
    for session, id in sorted(_newest_ids(reader, marks.floor).items(), key=itemgetter(1)):
        each = catalog.of_session(session)
        if each is not None and _is_listed(each) and id > (mark := marks.of(each.segments)):
            # A rewind shows in the counter of Hermes.
            keys[each.root_id] = mark, id, each.last_active, each.message_count
    known = reader.of_file.others.get(_UNREAD, {})
    chosen = [root for root, key in keys.items() if (root, key) not in known]
    counted = _read_new(
        reader,
        catalog,
        map(catalog.conversation, chosen),
        "m.id > ?",
        marks.floor,
        lambda root, id, _at: id > keys[root][0],
    )
    known = known | {(root, keys[root]): counted.get(root) for root in chosen}
    found = {key: known[key] for key in keys.items()}
    reader.of_file.others[_UNREAD] = found
    return {root: unread for (root, _key), unread in found.items() if unread is not None}


def _is_listed(conversation: Conversation) -> bool:
    """Whether a view of its own lists it."""
    return conversation.view is not None


def _newest_ids(reader: Reader, floor: int) -> Mapping[str, int]:
    """Return the newest id of each session with messages behind a floor; only what was written
    since the last call is read."""
    name = f"newest-ids-{floor}"
    known: dict[str, int] = reader.of_file.others.get(name, {})
    rows = reader.rows(
        "SELECT session_id, max(id) FROM messages NOT INDEXED WHERE id > ? GROUP BY session_id",
        [max(known.values(), default=floor)],
    )
    newest = known | {text_of(session): as_int(id) for session, id in rows}
    reader.of_file.others[name] = newest
    return newest


def _read_new(
    reader: Reader,
    catalog: Catalog,
    conversations: Iterable[Conversation],
    condition: str,
    value: object,
    is_new: Callable[[str, int, float | None], bool],
) -> Mapping[str, Unread]:
    """Count the rows of conversations that people see, without those that Hermes wrote again.

    `is_new` is given the root id of the conversation, the id of the row, and its time.
    """
    sessions = ids_of(conversations)
    by_root: defaultdict[str, dict[int, float | None]] = defaultdict(dict)
    for session, stored_id, time in reader.rows_in(
        "SELECT m.session_id, m.id, m.timestamp FROM message_rows m "
        f"WHERE {condition} AND m.state <> 'rewound' AND NOT m.hidden AND m.session_id IN ({{keys}})",
        sessions,
        [value],
    ):
        root, id, at = str(catalog.root_of(text_of(session))), as_int(stored_id), as_time(time)
        if is_new(root, id, at):
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
    again = set(branched_off(reader, catalog, conversation))
    if is_compressed(reader, conversation.segments):
        history = read_history(reader, conversation.segments)
        again.update(history.copies, (row.id for row in history.rows if row.summary_text))
    return again
