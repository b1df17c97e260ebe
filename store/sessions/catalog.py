"""The list of conversations: views, order, counts; read whole, as a quick first page, or from what has changed.

A `Catalog` is pure data made from all sessions of a store (`read_catalog`, exact) or from the
neighbourhood of the newest ones (`read_first_page`, the same at 300 and at 100,000 sessions).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import NamedTuple

from ..connection.reader import Reader
from ..text import as_text
from .conversations import Forest
from .models import FAR_PAST, Chain, Conversation, Hidden, Sort, View, newest_activity, title_of
from .names import NameIndex, TitleIndex
from .rows import read_all, read_busy, read_sessions
from .session import Session

_MOST_FRESH_NAMES = 2000
"""With more names than this that have changed, all are put together again."""
_MOST_MADE = 2000
"""Conversations that are kept when they have been made: some screens of them."""
_AGAIN = 200
"""Conversations used last, whose sessions are read again in any case."""
_MOST_MESSAGES = 20_000
"""With more new messages than this (an import) all is read again."""


def sort_key(sort: Sort, amounts: Mapping[str, int]) -> Callable[[Sequence[Session]], float | str]:
    """What conversations are ordered by, from their segments; those of one key by their last activity.

    Args:
        sort: By what.
        amounts: What sessions do not say, by the id of the first of a conversation: its bytes for `Sort.SIZE`, 0 where
            they are missing; for `Sort.MESSAGES` its chat messages, where they are missing the stored counters.
    """

    def started(segments: Sequence[Session]) -> float:
        moment = segments[0].started_at
        return FAR_PAST if moment is None else moment

    def cost(segments: Sequence[Session]) -> float:
        known = [paid for segment in segments if (paid := segment.cost_usd) is not None]
        return sum(known) if known else FAR_PAST

    def messages(segments: Sequence[Session]) -> float:
        counted = amounts.get(segments[0].id)
        return sum(segment.message_count for segment in segments) if counted is None else counted

    def title(segments: Sequence[Session]) -> str:
        found = title_of(segments)
        return f"0{found.casefold()}" if found else "1"  # those without a title are last

    keys: dict[Sort, Callable[[Sequence[Session]], float | str]] = {
        Sort.ACTIVITY: newest_activity,
        Sort.STARTED: started,
        Sort.MESSAGES: messages,
        Sort.TOKENS: lambda segments: sum(segment.tokens.total for segment in segments),
        Sort.COST: cost,
        Sort.SIZE: lambda segments: amounts.get(segments[0].id, 0),
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
        amounts: Mapping[str, int] | None = None,
    ) -> list[str]:
        """Root ids of the conversations of a view in order; makes none of them.

        Args:
            view: Which.
            sort: By what; newest, most or biggest first, titles A to Z.
            reverse: The other way round.
            sources: Only these sources (of the root segment); empty means any.
            amounts: As of `sort_key`.
        """
        sessions, segments = self.forest.sessions, self.forest.segments
        found = list(self.forest.listed(view))
        if sources:
            found = [root for root in found if sessions[root].source in sources]
        if sort is not Sort.ACTIVITY:
            found.reverse()
            key = sort_key(sort, amounts or {})
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
        amounts: Mapping[str, int] | None = None,
    ) -> list[Conversation]:
        """The conversations of a view in order; arguments as `order`."""
        ordered = self.order(view, sort=sort, reverse=reverse, sources=sources, amounts=amounts)
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
