"""The list of conversations: views, order, counts; read whole, as a quick first page, or from what has changed.

A `Catalog` is pure data made from all sessions of a store (`read_catalog`, exact) or from the
neighbourhood of the newest ones (`read_first_page`, the same at 300 and at 100,000 sessions).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.values import as_time
from ..text import as_text
from .conversations import Forest
from .models import FAR_PAST, Chain, Conversation, Hidden, Sort, View, newest_activity, title_of
from .names import NameIndex, TitleIndex
from .relations import AUTOMATION_SOURCES
from .rows import newest_message_sql, read_all, read_busy, read_child_ids, read_sessions
from .session import Session

_ROUNDS = ((200, 2, 8), (800, 6, 60), (3200, 20, 200))
"""A try after another: newest messages whose sessions are candidates, newest-started sessions that are, and among
how many these are looked for; the last two times the size of a page."""
_LOOKS, _FARTHER = 20, 1.5
"""To see whether ids follow time: messages that are looked at, and how much farther from the end each is."""
_STEP_BACK = 86_400.0
"""Seconds that a later row may be older: a compression writes messages anew with their old times (0.18)."""
_PAGE = 50
_MOST_CANDIDATES = 3000
_MOST_FRESH_NAMES = 2000
"""With more names than this that have changed, all are put together again."""
_MOST_MADE = 2000
"""Conversations that are kept when they have been made: some screens of them."""
_AGAIN = 200
"""Conversations used last, whose sessions are read again in any case."""
_MOST_MESSAGES = 20_000
"""With more new messages than this (an import) all is read again."""


def sort_key(sort: Sort, sizes: Mapping[str, int]) -> Callable[[Sequence[Session]], float | str]:
    """What conversations are ordered by, from their segments; those of one key by their last activity.

    Args:
        sort: By what.
        sizes: Bytes by session id, for `Sort.SIZE`.
    """

    def summed(read: Callable[[Session], float]) -> Callable[[Sequence[Session]], float]:
        return lambda segments: sum(map(read, segments))

    def started(segments: Sequence[Session]) -> float:
        moment = segments[0].started_at
        return FAR_PAST if moment is None else moment

    def cost(segments: Sequence[Session]) -> float:
        known = [paid for segment in segments if (paid := segment.cost_usd) is not None]
        return sum(known) if known else FAR_PAST

    def title(segments: Sequence[Session]) -> str:
        found = title_of(segments)
        return f"0{found.casefold()}" if found else "1"  # those without a title are last

    keys: dict[Sort, Callable[[Sequence[Session]], float | str]] = {
        Sort.ACTIVITY: newest_activity,
        Sort.STARTED: started,
        Sort.MESSAGES: summed(attrgetter("message_count")),
        Sort.TOKENS: summed(lambda segment: segment.tokens.total),
        Sort.COST: cost,
        Sort.SIZE: summed(lambda segment: sizes.get(segment.id, 0)),
        Sort.TITLE: title,
    }
    return keys[sort]


class Catalog:
    """All conversations of a store at one moment.

    Args:
        forest: All sessions, or those of a neighbourhood.
        now: Unix seconds at the reading; decides what is live.
        exact: False for a first page: there is more than this.
        names: What an earlier catalog has put together of the names, brought up to date.
    """

    def __init__(self, forest: Forest, now: float, *, exact: bool = True, names: NameIndex | None = None) -> None:
        self.forest = forest
        self.now = now
        """Unix seconds at the reading."""
        self.exact = exact
        """Whether this is all there is."""
        self._made: dict[str, Conversation] = {}
        self._names = names

    def conversation(self, root_id: str) -> Conversation:
        """The conversation whose root segment this is; made on first use."""
        made = self._made.get(root_id)
        return made if made is not None else self.of_chain(self.forest.chain_of(root_id))

    def of_chain(self, chain: Chain) -> Conversation:
        """The conversation a chain is; for a pass through all of them."""
        root_id = chain.root.id
        made = self._made.get(root_id)
        if made is None:
            made = self.forest.conversation(chain, self.now)
            if len(self._made) >= _MOST_MADE:  # by a pass through all of them
                self._made.clear()
            self._made[root_id] = made
        return made

    def of_session(self, session_id: str) -> Conversation | None:
        """The conversation any segment belongs to."""
        root = self.forest.root_of(session_id)
        return self.conversation(root) if root is not None else None

    def named(self, words: Sequence[str]) -> Iterator[str]:
        """Root ids of the conversations whose titles or ids contain all of these words, newest first."""
        if self._names is None:
            self._names = NameIndex(self._named(reversed(self.forest.listed(View.ALL))))
        fresh, others = self._names.find(words)
        return merge(fresh, others, key=self.forest.rank, reverse=True) if len(self._names.fresh) else others

    def _named(self, roots: Iterable[str]) -> TitleIndex:
        keys, sessions, segments = list(roots), self.forest.sessions, self.forest.segments
        named = (segments(sessions[root]) for root in keys)
        return TitleIndex(keys, (" ".join([f"{each.title or ''} {each.id}" for each in chain]) for chain in named))

    def updated(self, fresh: Collection[Session], gone: Collection[str], now: float) -> Catalog:
        """The catalog with some sessions new, others or gone; arguments as of `Forest.updated`."""
        if not fresh and not gone:
            return Catalog(self.forest, now, names=self._names)
        updated = Catalog(self.forest.updated(fresh, gone), now)
        if self._names is not None:
            changed = self._names.hidden | updated.forest.renewed
            if len(changed) < _MOST_FRESH_NAMES:
                roots = sorted(filter(updated.forest.is_root, changed), key=updated.forest.rank, reverse=True)
                updated._names = NameIndex(self._names.whole, updated._named(roots), changed)
        return updated

    def hidden(self, view: View, shown: int) -> Hidden:
        """What is not on screen, so that shown and hidden sum up to all conversations.

        Args:
            view: The view on screen.
            shown: Rows of it that are shown.
        """
        counts = self.forest.counts()
        automation = 0 if view in (View.ALL, View.AUTOMATION) else counts[View.AUTOMATION]
        archived = 0 if view in (View.ALL, View.ARCHIVED) else counts[View.ARCHIVED]
        return Hidden(automation, archived, counts[View.ALL] - shown - automation - archived)

    def order(
        self,
        view: View = View.CHATS,
        *,
        sort: Sort = Sort.ACTIVITY,
        reverse: bool = False,
        sources: Collection[str] = (),
        sizes: Mapping[str, int] | None = None,
    ) -> list[str]:
        """Root ids of the conversations of a view in order; makes none of them.

        Args:
            view: Which.
            sort: By what; newest, most or biggest first, titles A to Z.
            reverse: The other way round.
            sources: Only these sources (of the root segment); empty means any.
            sizes: Bytes by session id, for `Sort.SIZE`.
        """
        sessions, segments = self.forest.sessions, self.forest.segments
        found = list(self.forest.listed(view))
        if sources:
            found = [root for root in found if sessions[root].source in sources]
        if sort is not Sort.ACTIVITY:
            found.reverse()
            key = sort_key(sort, sizes or {})
            keys = [key(segments(sessions[root])) for root in found]
            places = sorted(range(len(found)), key=keys.__getitem__, reverse=reverse is (sort is Sort.TITLE))
            return [found[place] for place in places]
        if not reverse:
            found.reverse()
        return found

    def select(
        self,
        view: View = View.CHATS,
        *,
        sort: Sort = Sort.ACTIVITY,
        reverse: bool = False,
        sources: Collection[str] = (),
        sizes: Mapping[str, int] | None = None,
    ) -> list[Conversation]:
        """The conversations of a view in order; arguments as `order`."""
        ordered = self.order(view, sort=sort, reverse=reverse, sources=sources, sizes=sizes)
        return [self.conversation(root) for root in ordered]


def read_catalog(reader: Reader, now: float, known: Catalog | None = None) -> Catalog:
    """Every conversation of the store, exactly; reads each session row once.

    Args:
        reader: An open reader.
        now: Unix seconds.
        known: An earlier one, of which is kept what is still so.
    """
    if known is None or not known.exact:
        return Catalog(Forest(read_all(reader, {})), now)
    sessions = known.forest.sessions
    fresh: dict[str, Session] = {}
    gone = set(sessions)
    for session in read_all(reader, sessions):
        gone.discard(session.id)
        if sessions.get(session.id) != session:
            fresh[session.id] = session
        else:
            fresh.pop(session.id, None)  # of two with one id the later one counts
    return known.updated(fresh.values(), gone, now)


def _newest_candidates(reader: Reader, view: View, tail: int, started: int, among: int, *, in_order: bool) -> list[str]:
    """Ids of the sessions of the newest messages and of the newest-started ones, both by index.

    Args:
        reader: An open reader.
        view: Which conversations.
        tail: How many messages.
        started: How many sessions.
        among: How many sessions these are looked for among.
        in_order: From `_ids_follow_time`. Where they do not, no index finds the newest messages: the sessions with the
            latest activity are looked for instead, at the cost of a seek for each session of the store.
    """
    sql = "SELECT session_id FROM (SELECT session_id FROM messages ORDER BY id DESC LIMIT ?)"
    values: list[object] = [tail]
    if {"started_at", "source"} <= reader.schema.session_columns:
        newest, recorded = newest_message_sql(reader.schema, "s.id"), reader.schema.session("last_activity_at")
        active = f"COALESCE(max({newest}, {recorded}), {newest}, {recorded}, s.started_at)"
        # Where cron jobs start a session a minute, the newest sixty hold no chat. The source stands early in a row,
        # so that passing over them is cheap.
        passed = sorted(AUTOMATION_SOURCES) if view is View.CHATS else []
        sql += (
            " UNION SELECT id FROM (SELECT id FROM "
            f"(SELECT id, source FROM sessions s ORDER BY {'started_at' if in_order else active} DESC LIMIT ?) "
            f"WHERE source IS NULL OR source NOT IN ({','.join('?' * len(passed))}) LIMIT ?)"
        )
        values += [among, *passed, started]
    return [text for text in (as_text(row[0]) for row in reader.rows(sql, values)) if text is not None]


def _ids_follow_time(reader: Reader, tail: int, started: int) -> bool:
    """Whether the rows with the largest ids are likely to be the newest ones.

    They are not after an import or a restore into another store, which give new ids to old conversations, nor after a
    clock was set back. An import shows in the sessions: those started last are not those with the largest rowids. A
    clock shows in the times of a few messages, ever farther from the end. What goes unseen is put right when the whole
    catalog has been read.

    Args:
        reader: An open reader.
        tail: How many of the last messages count as newest.
        started: How many of the sessions started last are looked at.
    """
    if "timestamp" not in reader.schema.message_columns or "started_at" not in reader.schema.session_columns:
        return True
    last = "(SELECT rowid AS place FROM sessions ORDER BY started_at DESC LIMIT ?1)"
    behind = f"SELECT 1 FROM sessions WHERE rowid >= (SELECT min(place) FROM {last}) LIMIT ?1 + 1"
    distances = [int(tail * _FARTHER**step) for step in range(_LOOKS)]
    ids = [f"(SELECT max(id) FROM messages) - {distance}" for distance in (0, *distances)]
    moments = [f"(SELECT timestamp FROM messages WHERE id <= {each} ORDER BY id DESC LIMIT 1)" for each in ids]
    count, *found = reader.rows(f"SELECT (SELECT count(*) FROM ({behind})), {', '.join(moments)}", [started])[0]
    times = [moment for moment in map(as_time, found) if moment is not None]
    return int(str(count)) <= started and all(later > earlier - _STEP_BACK for later, earlier in pairwise(times))


def _gather(reader: Reader, known: dict[str, Session], ids: Sequence[str], busy: frozenset[str]) -> None:
    """Add the sessions with all their ancestors, and all children of these: enough to tell chains from the rest."""
    added: list[str] = []
    wanted = [each for each in ids if each not in known]
    for _ in range(100):  # Hermes bounds its own walks so
        if not wanted:
            break
        fresh = read_sessions(reader, wanted, busy=busy)
        known.update((session.id, session) for session in fresh)
        added.extend(session.id for session in fresh)
        wanted = list({s.parent_id: None for s in fresh if s.parent_id is not None and s.parent_id not in known})
    for _ in range(100):
        if not added or len(known) > _MOST_CANDIDATES:
            break
        added = [child for child in dict.fromkeys(read_child_ids(reader, added)) if child not in known]
        known.update((child.id, child) for child in read_sessions(reader, added, busy=busy))


def read_first_page(reader: Reader, now: float, *, view: View = View.CHATS, limit: int = _PAGE) -> Catalog:
    """The newest conversations of a view at a cost that does not grow with the store.

    The tail of the messages and the newest-started sessions give the candidates; when automation
    fills them, both are lengthened until a page is full or enough has been looked at.

    Args:
        reader: An open reader.
        now: Unix seconds.
        view: Which conversations.
        limit: How many make a page.

    Returns:
        A catalog of the neighbourhood, `exact` only when it is the whole store.
    """
    busy = read_busy(reader)
    known: dict[str, Session] = {}
    in_order = _ids_follow_time(reader, _ROUNDS[0][0], _ROUNDS[0][2] * limit)
    for tail, started, among in _ROUNDS:
        newest = _newest_candidates(reader, view, tail, started * limit, among * limit, in_order=in_order)
        _gather(reader, known, newest, busy)
        beyond = reader.value("SELECT count(*) FROM (SELECT 1 FROM sessions LIMIT ?)", [len(known) + 1])
        catalog = Catalog(Forest(known.values()), now, exact=beyond == len(known))
        if catalog.exact or catalog.forest.counts()[view] >= limit or len(known) > _MOST_CANDIDATES:
            break
    return catalog


def read_neighbourhood(reader: Reader, session_ids: Sequence[str], now: float) -> Catalog:
    """The catalog around some sessions: their chains, everything above and below them."""
    known: dict[str, Session] = {}
    _gather(reader, known, session_ids, read_busy(reader))
    return Catalog(Forest(known.values()), now, exact=False)


def allowed_sessions(
    catalog: Catalog,
    view: View,
    sources: Collection[str] = (),
    condition: Callable[[Conversation], bool] | None = None,
) -> frozenset[str]:
    """Ids of all sessions of the conversations that a view, sources and filters admit.

    Args:
        catalog: Of the whole store.
        view: Which conversations.
        sources: Only these sources; empty means any.
        condition: The filters of a query on conversations.
    """
    return frozenset(
        segment.id
        for chain in catalog.forest.in_view(view)
        if (not sources or chain.root.source in sources) and (condition is None or condition(catalog.of_chain(chain)))
        for segment in chain.segments
    )


def read_sizes(reader: Reader, session_ids: Sequence[str]) -> dict[str, int]:
    """Bytes of message content by session, for the named ones."""
    if "content" not in reader.schema.message_columns:
        return {}
    rows = reader.rows_in(
        "SELECT m.session_id, sum(length(CAST(m.content AS BLOB))) FROM messages m "
        "WHERE m.session_id IN ({keys}) GROUP BY 1",
        list(session_ids),
    )
    return {as_text(key) or "": int(str(size or 0)) for key, size in rows}


class Mark(NamedTuple):
    """How far a store has been read."""

    message: int
    """The largest message id."""
    session: int
    """The largest rowid of a session."""
    sessions: int
    """How many there are."""
    busy: frozenset[str]
    """What live leases and locks name."""


def read_mark(reader: Reader) -> Mark:
    """The mark of a store as it is now; taken before a reading, so that nothing falls between the two.

    Args:
        reader: An open reader.
    """
    row = reader.rows(
        "SELECT (SELECT max(id) FROM messages), (SELECT max(rowid) FROM sessions), (SELECT count(*) FROM sessions)"
    )[0]
    message, session, sessions = (int(str(value or 0)) for value in row)
    return Mark(message, session, sessions, read_busy(reader))


def read_increment(
    reader: Reader, catalog: Catalog, mark: Mark, now: float, touched: Collection[str] = ()
) -> tuple[Catalog, Mark] | None:
    """The catalog as it is now, from what has changed alone.

    A catalog of 100,000 sessions takes a second to read, and a gateway writes several times in each. A message or
    a session that is new is found by its number. Changes that leave no such trace (a title, an end, an archiving by
    another program) are looked for among the sessions used last, and found elsewhere when all is read again.

    Args:
        reader: An open reader.
        catalog: An exact one.
        mark: Of the time it was read.
        now: Unix seconds.
        touched: Sessions known to have been changed, deleted or put back meanwhile.

    Returns:
        The new catalog and its mark; None when only reading all of it can tell (sessions are gone, or the
        numbering began anew).
    """
    new = read_mark(reader)
    if new.message < mark.message or new.session < mark.session or new.message - mark.message > _MOST_MESSAGES:
        return None
    rows = reader.rows("SELECT DISTINCT session_id FROM messages WHERE id > ?", [mark.message])
    added = reader.rows("SELECT id FROM sessions WHERE rowid > ?", [mark.session])
    known = catalog.forest.sessions
    ids = {text: None for text in (as_text(row[0]) for row in (*rows, *added)) if text is not None}
    begun = set(ids)
    for chain in catalog.forest.newest(_AGAIN):
        ids.update((segment.id, None) for segment in chain.segments)
    ids.update(dict.fromkeys(mark.busy ^ new.busy))
    for each in touched:
        ids[each] = None
        ids.update((child.id, None) for child in catalog.forest.children_of(each))
    found = read_sessions(reader, list(ids), busy=new.busy)
    there = {each.id for each in found}
    gone = {each for each in touched if each in known and each not in there}
    back = {each for each in touched if each not in known and each in there and each not in begun}
    if mark.sessions + len(added) + len(back) - len(gone) != new.sessions:
        return None
    fresh = [each for each in found if known.get(each.id) != each]
    return catalog.updated(fresh, gone, now), new
