"""The list of conversations: views, order, counts, and the quick first page.

A `Catalog` is pure data made from all sessions of a store (`read_catalog`, exact) or from the
neighbourhood of the newest ones (`read_first_page`, the same at 300 and at 100,000 sessions).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import merge
from itertools import pairwise

from .chain import Chain
from .connect import Reader
from .forest import AUTOMATION_SOURCES, Forest
from .models import Conversation, Hidden, Session, Sort, View
from .ordering import Asked, names_of
from .sessions import newest_message_sql, read_busy, read_child_ids, read_sessions, read_table
from .text import as_text
from .titles_index import NameIndex, TitleIndex
from .values import as_time

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


class Catalog:
    """All conversations of a store at one moment.

    Args:
        forest: All sessions, or those of a neighbourhood.
        now: Unix seconds at the reading; decides what is live.
        exact: False for a first page: there is more than this.
    """

    def __init__(self, forest: Forest, now: float, *, exact: bool = True) -> None:
        self.forest = forest
        self.now = now
        """Unix seconds at the reading."""
        self.exact = exact
        """Whether this is all there is."""
        self._made: dict[str, Conversation] = {}
        self._names: NameIndex | None = None

    @property
    def chains(self) -> Collection[Chain]:
        """One for each conversation, subagents included."""
        return self.forest.chains.values()

    def conversation(self, root_id: str) -> Conversation:
        """The conversation whose root segment this is; made on first use."""
        made = self._made.get(root_id)
        return made if made is not None else self.of_chain(self.forest.chains[root_id])

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

    def named(self, words: Sequence[str]) -> Iterator[str]:
        """Root ids of the conversations whose titles or ids contain all of these words, newest first."""
        index, active = self._name_index(), self.forest.last_active
        fresh, others = index.find(words)
        return merge(fresh, others, key=lambda root: -active(root)) if len(index.fresh) else others

    def take_names(self, earlier: Catalog) -> None:
        """Go on with what an earlier catalog of the same store has put together of the names.

        Args:
            earlier: Most of its chains are chains of this one too.
        """
        index, chains = earlier._names, self.forest.chains
        if index is None or self.forest is earlier.forest:
            self._names = index
            return
        changed = self.forest.changed_since(earlier.forest)
        if changed is None:
            return
        hidden = index.hidden | changed
        if len(hidden) < _MOST_FRESH_NAMES:
            fresh = self._named(root for root in hidden if root in chains)
            self._names = NameIndex(index.whole, fresh, hidden)

    def _name_index(self) -> NameIndex:
        if self._names is None:
            self._names = NameIndex(TitleIndex(*self.forest.names()))
        return self._names

    def _named(self, roots: Iterable[str]) -> TitleIndex:
        return TitleIndex(*names_of(self.forest.chains[root] for root in roots))

    def of_session(self, session_id: str) -> Conversation | None:
        """The conversation any segment belongs to."""
        chain = self.forest.chain_of.get(session_id)
        return self.conversation(chain.root.id) if chain is not None else None

    def view_of(self, chain: Chain) -> View | None:
        """The narrow view a conversation is in; None for what only the view of all shows."""
        return self.forest.view_of(chain)

    def in_view(self, view: View) -> Iterable[Chain]:
        """The conversations of a view, in no order."""
        return self.forest.in_view(view)

    def counts(self) -> dict[View, int]:
        """Conversations in each view."""
        return self.forest.counts()

    def hidden(self, view: View, shown: int) -> Hidden:
        """What is not on screen, so that shown and hidden sum up to all conversations.

        Args:
            view: The view on screen.
            shown: Rows of it that are shown.
        """
        counts = self.counts()
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
        sizes: dict[str, int] | None = None,
    ) -> Sequence[str]:
        """Root ids of the conversations of a view in order; makes none of them.

        Args:
            view: Which.
            sort: By what; newest, most or biggest first, titles A to Z.
            reverse: The other way round.
            sources: Only these sources (of the root segment); empty means any.
            sizes: Bytes by session id, for `Sort.SIZE`.
        """
        return self.forest.order(view, Asked(sort, reverse, frozenset(sources), sizes or {}))

    def select(
        self,
        view: View = View.CHATS,
        *,
        sort: Sort = Sort.ACTIVITY,
        reverse: bool = False,
        sources: Collection[str] = (),
        sizes: dict[str, int] | None = None,
    ) -> list[Conversation]:
        """The conversations of a view in order; arguments as `order`."""
        ordered = self.order(view, sort=sort, reverse=reverse, sources=sources, sizes=sizes)
        return [self.conversation(root) for root in ordered]


def read_catalog(reader: Reader, now: float) -> Catalog:
    """Every conversation of the store, exactly; reads each session row once.

    Args:
        reader: An open reader.
        now: Unix seconds.
    """
    from .packed import packed  # the first page, which is to be there at once, goes without

    return Catalog(packed(read_table(reader)), now)


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
        if catalog.exact or catalog.counts()[view] >= limit or len(known) > _MOST_CANDIDATES:
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
    if condition is None:
        return frozenset(catalog.forest.sessions_in(view, sources))
    found: set[str] = set()
    for chain in catalog.in_view(view):
        if (not sources or chain.root.source in sources) and condition(catalog.of_chain(chain)):
            found.update(segment.id for segment in chain.segments)
    return frozenset(found)


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
