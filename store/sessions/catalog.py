"""The list of conversations: order, counts, titles and ids, and what has changed since it was read.

A `Catalog` is immutable data built from all sessions of a store (`read_catalog`), from an earlier catalog and what has
changed since (`read_increment`), or from the newest sessions (`first_page.read_first_page`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_int, first_texts
from .conversations import Forest
from .models import FAR_PAST, Chain, Conversation, Hidden, Sort, View, newest_activity, title_of
from .session import Session
from .session_rows import read_all, read_busy, read_sessions
from .title_index import NameIndex, TitleIndex

_MAX_CHANGED_NAMES = 2000
"""If more names than this have changed, the index of names is rebuilt."""
_MAX_CACHED = 2000
"""Conversations that are cached: a few screens."""
_REREAD = 200
"""Most recently used conversations whose sessions an increment always reads again."""
_MAX_MESSAGES = 20_000
"""If there are more new messages than this (an import), everything is read again."""


def sort_key(
    sort: Sort, amounts: Mapping[str, int], tree_cost: Callable[[Sequence[Session]], float | None]
) -> Callable[[Sequence[Session]], float | str]:
    """Return the sort key function of conversations, which takes their segments.

    `amounts` are values that sessions do not hold, by root id: bytes for `Sort.SIZE` (default 0), chat messages for
    `Sort.MESSAGES` (default: the stored counters). `tree_cost` returns the cost with all subagents.
    """

    def started(segments: Sequence[Session]) -> float:
        moment = segments[0].started_at
        return FAR_PAST if moment is None else moment

    def cost(segments: Sequence[Session]) -> float:
        paid = tree_cost(segments)
        return FAR_PAST if paid is None else paid

    def messages(segments: Sequence[Session]) -> float:
        counted = amounts.get(segments[0].id)
        return sum(segment.message_count for segment in segments) if counted is None else counted

    def title(segments: Sequence[Session]) -> str:
        text = title_of(segments)
        return f"0{text.casefold()}" if text else "1"  # untitled conversations come last

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
    """All conversations of a store at one moment."""

    def __init__(self, forest: Forest, now: float, *, exact: bool = True, names: NameIndex | None = None) -> None:
        self.forest = forest
        """All sessions, or those of a neighbourhood."""
        self.now = now
        """Unix seconds when it was read; determines what is live."""
        self.exact = exact
        """Whether it holds all conversations of the store; False for a first page."""
        self._cache: dict[str, Conversation] = {}
        self._names = names

    def conversation(self, root_id: str) -> Conversation:
        """Return the conversation with this root id; cached."""
        conversation = self._cache.get(root_id)
        return conversation if conversation is not None else self.of_chain(self.forest.chain_of(root_id))

    def of_chain(self, chain: Chain) -> Conversation:
        """Return the conversation of a chain; cached."""
        root_id = chain.root.id
        conversation = self._cache.get(root_id)
        if conversation is None:
            conversation = self.forest.conversation(chain, self.now)
            if len(self._cache) >= _MAX_CACHED:  # filled by an iteration over all conversations
                self._cache.clear()
            self._cache[root_id] = conversation
        return conversation

    def of_session(self, session_id: str) -> Conversation | None:
        """Return the conversation that a session is a segment of; None if there is no such session."""
        root = self.forest.root_of(session_id)
        return self.conversation(root) if root is not None else None

    def named(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the root ids of conversations whose titles or ids contain all of these words, newest first."""
        names = self._names
        if names is None:
            names = self._names = NameIndex(self._index_names(reversed(self.forest.listed(View.ALL))))
        found = (key for key in names.whole.find(words) if key not in names.hidden)
        return merge(names.fresh.find(words), found, key=self.forest.rank, reverse=True) if names.fresh else found

    def _index_names(self, roots: Iterable[str]) -> TitleIndex:
        keys, sessions, segments = list(roots), self.forest.sessions, self.forest.segments
        chains = (segments(sessions[root]) for root in keys)
        return TitleIndex(keys, (" ".join([f"{each.title or ''} {each.id}" for each in chain]) for chain in chains))

    def updated(self, fresh: Collection[Session], gone: Collection[str], now: float) -> Catalog:
        """Return a catalog with some sessions added, replaced or removed; arguments as of `Forest.updated`."""
        if not fresh and not gone:
            return Catalog(self.forest, now, names=self._names)
        updated = Catalog(self.forest.updated(fresh, gone), now)
        if self._names is not None:
            changed = self._names.hidden | updated.forest.renewed
            if len(changed) < _MAX_CHANGED_NAMES:
                roots = sorted(filter(updated.forest.is_root, changed), key=updated.forest.rank, reverse=True)
                updated._names = NameIndex(self._names.whole, updated._index_names(roots), changed)
        return updated

    def hidden(self, view: View, shown: int) -> Hidden:
        """Count the conversations that are not on screen: with the `shown` ones of a view they sum up to all."""
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
        """Return the root ids of a view in order, without building conversations.

        Newest, most or biggest come first, titles A to Z, ties by last activity. Only roots of these `sources` are
        returned; empty means any. `amounts` are those of `sort_key`.
        """
        sessions, segments = self.forest.sessions, self.forest.segments
        roots = list(self.forest.listed(view))
        if sources:
            roots = [root for root in roots if sessions[root].source in sources]
        if sort is not Sort.ACTIVITY:
            roots.reverse()
            key = sort_key(sort, amounts or {}, self.forest.tree_cost)
            keys = [key(segments(sessions[root])) for root in roots]
            indexes = sorted(range(len(roots)), key=keys.__getitem__, reverse=reverse is (sort is Sort.TITLE))
            return [roots[index] for index in indexes]
        if not reverse:
            roots.reverse()
        return roots

    def select(
        self,
        view: View = View.CHATS,
        *,
        sort: Sort = Sort.ACTIVITY,
        reverse: bool = False,
        amounts: Mapping[str, int] | None = None,
    ) -> list[Conversation]:
        """Return the conversations of a view in order; arguments as of `order`."""
        return [self.conversation(root) for root in self.order(view, sort=sort, reverse=reverse, amounts=amounts)]


def read_catalog(reader: Reader, now: float, known: Catalog | None = None) -> Catalog:
    """Read all conversations of a store, each row of `sessions` once; unchanged parts of a `known` catalog are reused.

    `now` is in Unix seconds.
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
            fresh.pop(session.id, None)  # if an id occurs twice, the later row counts
    return known.updated(fresh.values(), gone, now)


class StoreState(NamedTuple):
    """The state of a store when it was read, to find later changes."""

    message: int
    """The largest message id."""
    session: int
    """The largest rowid of a session."""
    sessions: int
    """Number of sessions."""
    busy: frozenset[str]
    """Ids named by live leases and locks, see `read_busy`."""


def read_state(reader: Reader) -> StoreState:
    """Read the state of a store; call it before reading the catalog, so that no change is missed between the two."""
    row = reader.rows(
        "SELECT (SELECT max(id) FROM messages), (SELECT max(rowid) FROM sessions), (SELECT count(*) FROM sessions)"
    )[0]
    message, session, sessions = (as_int(value) for value in row)
    return StoreState(message, session, sessions, read_busy(reader))


def read_increment(
    reader: Reader, catalog: Catalog, state: StoreState, now: float, touched: Collection[str] = ()
) -> tuple[Catalog, StoreState] | None:
    """Bring a catalog up to date by reading only what has changed.

    Reading a catalog of 100,000 sessions takes a second, and a gateway writes several times per second. New messages
    and sessions are found by id and rowid. Changes without such a trace (a title, an end, an archiving by another
    program) are found only among the most recently used sessions; others need `read_catalog`.

    Args:
        reader: An open reader.
        catalog: An exact catalog.
        state: Read before that catalog.
        now: Unix seconds.
        touched: Ids of sessions that are known to have been changed, deleted or restored since.

    Returns:
        The new catalog and its state; None if everything must be read again, because sessions are missing or the
        ids started over.
    """
    new = read_state(reader)
    if new.message < state.message or new.session < state.session or new.message - state.message > _MAX_MESSAGES:
        return None
    rows = reader.rows("SELECT DISTINCT session_id FROM messages WHERE id > ?", [state.message])
    added = reader.rows("SELECT id FROM sessions WHERE rowid > ?", [state.session])
    known = catalog.forest.sessions
    ids = dict.fromkeys(first_texts((*rows, *added)))
    in_new_rows = set(ids)
    for chain in catalog.forest.newest(_REREAD):
        ids.update(dict.fromkeys(segment.id for segment in chain.segments))
    ids.update(dict.fromkeys(state.busy ^ new.busy))
    for each in touched:
        ids[each] = None
        ids.update(dict.fromkeys(child.id for child in catalog.forest.children_of(each)))
    sessions = read_sessions(reader, list(ids), busy=new.busy)
    existing = {each.id for each in sessions}
    gone = {each for each in touched if each in known and each not in existing}
    restored = {each for each in touched if each not in known and each in existing and each not in in_new_rows}
    if state.sessions + len(added) + len(restored) - len(gone) != new.sessions:
        return None
    fresh = [each for each in sessions if known.get(each.id) != each]
    return catalog.updated(fresh, gone, now), new
