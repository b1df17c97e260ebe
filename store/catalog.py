"""The list of conversations: views, order, counts, and the quick first page.

A `Catalog` is pure data made from all sessions of a store (`read_catalog`, exact) or from the
neighbourhood of the newest ones (`read_first_page`, the same at 300 and at 100,000 sessions).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import merge

from .chain import FAR_PAST, Chain
from .connect import Reader
from .forest import AUTOMATION_SOURCES, Forest
from .models import Conversation, Hidden, Kind, Relation, Session, Sort, View
from .sessions import read_all_sessions, read_busy, read_child_ids, read_sessions
from .text import as_text
from .titles_index import NameIndex, TitleIndex

_ROUNDS = ((200, 2, 8), (800, 6, 60), (3200, 20, 200))
"""A try after another: newest messages whose sessions are candidates, newest-started sessions that are, and among
how many these are looked for; the last two times the size of a page."""
_PAGE = 50
_MOST_CANDIDATES = 3000
_MOST_FRESH_NAMES = 2000
"""With more names than this that have changed, all are put together again."""


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
        self._views: dict[View | None, list[Chain]] = {}
        self._names: NameIndex | None = None

    @property
    def chains(self) -> Collection[Chain]:
        """One for each conversation, subagents included."""
        return self.forest.chains.values()

    def conversation(self, root_id: str) -> Conversation:
        """The conversation whose root segment this is; made on first use."""
        made = self._made.get(root_id)
        if made is None:
            made = self.forest.conversation(self.forest.chains[root_id], self.now)
            self._made[root_id] = made
        return made

    def named(self, words: Sequence[str]) -> Iterator[str]:
        """Root ids of the conversations whose titles or ids contain all of these words, newest first."""
        chains = self.forest.chains
        return merge(*self._name_index().find(words), key=lambda root: -chains[root].last_active)

    def take_names(self, earlier: Catalog) -> None:
        """Go on with what an earlier catalog of the same store has put together of the names.

        Args:
            earlier: Most of its chains are chains of this one too.
        """
        index, chains, before = earlier._names, self.forest.chains, earlier.forest.chains
        if index is None or chains is before:
            self._names = index
            return
        changed = {root for root, chain in chains.items() if before.get(root) is not chain}
        hidden = index.hidden | changed | (before.keys() - chains.keys())
        if len(hidden) < _MOST_FRESH_NAMES:
            self._names = NameIndex(index.whole, self._named(root for root in hidden if root in chains), hidden)

    def _name_index(self) -> NameIndex:
        if self._names is None:
            self._names = NameIndex(self._named(self.forest.chains))
        return self._names

    def _named(self, roots: Iterable[str]) -> TitleIndex:
        chains = sorted((self.forest.chains[root] for root in roots), key=lambda each: each.last_active, reverse=True)
        return TitleIndex(
            (chain.root.id, " ".join(f"{segment.title or ''} {segment.id}" for segment in chain.segments))
            for chain in chains
        )

    def of_session(self, session_id: str) -> Conversation | None:
        """The conversation any segment belongs to."""
        chain = self.forest.chain_of.get(session_id)
        return self.conversation(chain.root.id) if chain is not None else None

    def view_of(self, chain: Chain) -> View | None:
        """The narrow view a conversation is in; None for what only the view of all shows."""
        marks = chain.root.shared
        if marks.hidden or (chain.relation is Relation.DELEGATED and self.forest.is_attached_subagent(chain)):
            return None
        if marks.archived:
            return View.ARCHIVED
        return View.CHATS if self.forest.kind(chain) is Kind.CHAT else View.AUTOMATION

    def in_view(self, view: View) -> list[Chain]:
        """The conversations of a view, in no order."""
        if view is View.ALL:
            return list(self.chains)
        return list(self._parted().get(view, ()))

    def _parted(self) -> dict[View | None, list[Chain]]:
        """The conversations by narrow view; looked at once, for counts are asked for with every change on screen."""
        if not self._views:
            parted: dict[View | None, list[Chain]] = {view: [] for view in (*View, None)}
            for chain in self.chains:
                parted[self.view_of(chain)].append(chain)
            self._views = parted
        return self._views

    def counts(self) -> dict[View, int]:
        """Conversations in each view."""
        parted = self._parted()
        return {view: len(parted[view]) for view in View} | {View.ALL: len(self.chains)}

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
    ) -> list[str]:
        """Root ids of the conversations of a view in order; makes none of them.

        Args:
            view: Which.
            sort: By what; newest, most or biggest first, titles A to Z.
            reverse: The other way round.
            sources: Only these sources (of the root segment); empty means any.
            sizes: Bytes by session id, for `Sort.SIZE`.
        """
        wanted = frozenset(sources)
        chains = [chain for chain in self.in_view(view) if not wanted or chain.root.source in wanted]
        chains.sort(key=lambda chain: (chain.last_active, chain.tip.id), reverse=True)
        if sort is not Sort.ACTIVITY:
            chains.sort(key=_sort_key(sort, sizes or {}), reverse=reverse is (sort is Sort.TITLE))
        elif reverse:
            chains.reverse()
        return [chain.root.id for chain in chains]

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


def _sort_key(sort: Sort, sizes: dict[str, int]) -> Callable[[Chain], tuple[float, str]]:
    def summed(read: Callable[[Session], float]) -> Callable[[Chain], tuple[float, str]]:
        return lambda chain: (sum(map(read, chain.segments)), "")

    def started(chain: Chain) -> tuple[float, str]:
        return (chain.root.started_at if chain.root.started_at is not None else FAR_PAST, "")

    def cost(chain: Chain) -> tuple[float, str]:
        known = [paid for segment in chain.segments if (paid := segment.cost_usd) is not None]
        return (sum(known) if known else FAR_PAST, "")

    def title(chain: Chain) -> tuple[float, str]:
        return (0.0, chain.title.casefold()) if chain.title else (1.0, "")

    keys: dict[Sort, Callable[[Chain], tuple[float, str]]] = {
        Sort.ACTIVITY: lambda chain: (chain.last_active, ""),
        Sort.STARTED: started,
        Sort.MESSAGES: summed(lambda segment: segment.message_count),
        Sort.TOKENS: summed(lambda segment: segment.tokens.total),
        Sort.COST: cost,
        Sort.SIZE: summed(lambda segment: sizes.get(segment.id, 0)),
        Sort.TITLE: title,
    }
    return keys[sort]


def read_catalog(reader: Reader, now: float) -> Catalog:
    """Every conversation of the store, exactly; reads each session row once.

    Args:
        reader: An open reader.
        now: Unix seconds.
    """
    return Catalog(Forest(read_all_sessions(reader)), now)


def _newest_candidates(reader: Reader, view: View, tail: int, started: int, among: int) -> list[str]:
    """Ids of the sessions of the newest messages and of the newest-started ones, both by index."""
    sql = "SELECT session_id FROM (SELECT session_id FROM messages ORDER BY id DESC LIMIT ?)"
    values: list[object] = [tail]
    if {"started_at", "source"} <= reader.schema.session_columns:
        # Where cron jobs start a session a minute, the newest sixty hold no chat. The source stands early in a row,
        # so that passing over them is cheap.
        passed = sorted(AUTOMATION_SOURCES) if view is View.CHATS else []
        sql += (
            " UNION SELECT id FROM (SELECT id FROM "
            "(SELECT id, source FROM sessions ORDER BY started_at DESC LIMIT ?) "
            f"WHERE source IS NULL OR source NOT IN ({','.join('?' * len(passed))}) LIMIT ?)"
        )
        values += [among, *passed, started]
    return [text for text in (as_text(row[0]) for row in reader.rows(sql, values)) if text is not None]


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
    for tail, started, among in _ROUNDS:
        _gather(reader, known, _newest_candidates(reader, view, tail, started * limit, among * limit), busy)
        beyond = reader.value("SELECT count(*) FROM (SELECT 1 FROM sessions LIMIT ?)", [len(known) + 1])
        catalog = Catalog(Forest(known.values()), now, exact=beyond == len(known))
        if catalog.exact or len(catalog.in_view(view)) >= limit or len(known) > _MOST_CANDIDATES:
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
    wanted = frozenset(sources)
    found: set[str] = set()
    for chain in catalog.in_view(view):
        if wanted and chain.root.source not in wanted:
            continue
        if condition is None or condition(catalog.conversation(chain.root.id)):
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
