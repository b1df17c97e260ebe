"""The list of conversations: order, counts, titles and ids, and what has changed since it was read.

A `Catalog` is immutable data built from all sessions of a store (`read_catalog`), from an earlier
catalog and what has changed since (`updated`), or from the newest sessions
(`first_page.read_first_page`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_int, first_texts
from .conversations import Forest, sort_in_pieces
from .models import FAR_PAST, Conversation, Hidden, Sort, View
from .session import Session
from .session_rows import read_all, read_busy, read_sessions

_REREAD = 200
"""Most recently used conversations whose sessions an increment always reads again."""
_MAX_MESSAGES = 20_000
"""If there are more new messages than this (an import), everything is read again."""


def sort_key(sort: Sort, amounts: Mapping[str, int]) -> Callable[[Conversation], float | str]:
    """Return the sort key function of conversations.

    `amounts` are values that sessions do not hold, by root id: bytes for `Sort.SIZE` (default 0),
    chat messages for `Sort.MESSAGES` (default: the stored counters).
    """
    keys: dict[Sort, Callable[[Conversation], float | str | None]] = {
        Sort.ACTIVITY: lambda each: each.last_active,
        Sort.STARTED: lambda each: each.root.started_at,
        Sort.MESSAGES: lambda each: amounts.get(each.root_id, each.message_count),
        Sort.TOKENS: lambda each: each.tokens.total,
        Sort.COST: lambda each: each.tree_cost_usd,
        Sort.SIZE: lambda each: amounts.get(each.root_id, 0),
        # Untitled conversations come last.
        Sort.TITLE: lambda each: f"0{each.title.casefold()}" if each.title else "1",
    }

    def key(conversation: Conversation) -> float | str:
        value = keys[sort](conversation)
        return FAR_PAST if value is None else value

    return key


class Catalog:
    """All conversations of a store at one moment."""

    def __init__(self, forest: Forest, *, exact: bool = True) -> None:
        self.forest = forest
        """All sessions, or those of a neighbourhood."""
        self.exact = exact
        """Whether it holds all conversations of the store; False for a first page."""
        self._names: dict[str, str] = {}
        """Folded name of each conversation by root id, newest first; empty until asked for."""

    @property
    def now(self) -> float:
        """Unix seconds when it was read; determines what is live."""
        return self.forest.now

    def conversation(self, session_id: str) -> Conversation:
        """Return the conversation that a session is a segment of.

        Raises:
            KeyError: There is no such session.
        """
        return self.forest.chain_of(session_id)

    def of_session(self, session_id: str) -> Conversation | None:
        """Return the conversation that a session is a segment of; None without such a session."""
        return self.forest.chain_of(session_id) if session_id in self.forest.sessions else None

    def named(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the root ids of conversations whose titles or ids contain all of these words.

        Case is ignored; the newest come first. The first call folds all names: call it on a worker.
        """
        if not self._names:
            newest_first = reversed(list(self.forest.in_view(View.ALL)))
            self._names = {each.root_id: _folded_name(each) for each in newest_first}
        folded = [word.casefold() for word in words]
        return (root for root, name in self._names.items() if all(word in name for word in folded))

    def hidden(self, view: View, shown: int) -> Hidden:
        """Count the conversations that are not on screen: with the `shown` ones of a view they sum
        up to all."""
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
        """Return the root ids of a view in order.

        Newest, most or biggest come first, titles A to Z, ties by last activity. Only roots of
        these `sources` are returned; empty means any. `amounts` are those of `sort_key`.
        """
        roots = [
            root
            for root in reversed(self.forest.listed(view))
            if not sources or self.conversation(root).source in sources
        ]
        if sort is Sort.ACTIVITY:
            return roots[::-1] if reverse else roots
        key = sort_key(sort, amounts or {})
        keys = {root: key(self.conversation(root)) for root in roots}
        return sort_in_pieces(roots, keys.__getitem__, reverse=reverse is (sort is Sort.TITLE))

    def select(self, view: View = View.CHATS, *, sort: Sort = Sort.ACTIVITY) -> list[Conversation]:
        """Return the conversations of a view in order; see `order`."""
        return [self.conversation(root) for root in self.order(view, sort=sort)]


def _folded_name(conversation: Conversation) -> str:
    """Return the titles and ids of all segments, for a search."""
    return " ".join(f"{each.title or ''} {each.id}" for each in conversation.segments).casefold()


def read_catalog(reader: Reader, now: float) -> Catalog:
    """Read all conversations of a store; `now` is in Unix seconds."""
    return Catalog(Forest(read_all(reader), now))


def catalog_of(sessions: Iterable[Session], now: float, known: Catalog | None = None) -> Catalog:
    """Return the catalog of all sessions of a store.

    Sessions of the `known` catalog that have not changed are used again, so that two catalogs need
    not be in memory.
    """
    earlier = known.forest.sessions if known is not None else {}
    again = (before if (before := earlier.get(each.id)) == each else each for each in sessions)
    return Catalog(Forest(again, now))


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
    """Read the state of a store; call it before reading the catalog, so that no change is missed
    between the two."""
    row = reader.rows(
        "SELECT (SELECT max(id) FROM messages), (SELECT max(rowid) FROM sessions), "
        "(SELECT count(id) FROM sessions)"
    )[0]
    message, session, sessions = map(as_int, row)
    return StoreState(message, session, sessions, read_busy(reader))


class StoreChanges(NamedTuple):
    """What a store has that a catalog may not have."""

    state: StoreState
    sessions: list[Session]
    """Those with new messages, new ones, and those that were asked for."""


def read_changes(
    reader: Reader, state: StoreState, session_ids: Sequence[str]
) -> StoreChanges | None:
    """Read what has changed since a state, and some sessions again; None if the ids started over,
    or too much has changed.

    Reading a catalog of 100,000 sessions takes a second, and a gateway writes several times per
    second. New messages and sessions are found by id and rowid. Changes without such a trace (a
    title, an end, an archiving by another program) are found only in the sessions asked for, see
    `unseen`; others need a new catalog.
    """
    new = read_state(reader)
    is_older = new.message < state.message or new.session < state.session
    if is_older or new.message - state.message > _MAX_MESSAGES:
        return None
    rows = reader.rows("SELECT DISTINCT session_id FROM messages WHERE id > ?", [state.message])
    rows += reader.rows("SELECT id FROM sessions WHERE rowid > ?", [state.session])
    ids = dict.fromkeys([*first_texts(rows), *(state.busy ^ new.busy), *session_ids])
    return StoreChanges(new, read_sessions(reader, list(ids), busy=new.busy))


def unseen(catalog: Catalog, touched: Collection[str]) -> list[str]:
    """Return the ids of sessions whose changes leave no trace: the most recently used, those that
    were touched, and their children."""
    forest = catalog.forest
    recent = map(forest.chain_of, forest.listed(View.ALL)[-_REREAD:])
    ids = [session.id for conversation in recent for session in conversation.segments]
    for each in touched:
        ids += [each, *(child.id for child in forest.children_of(each))]
    return list(dict.fromkeys(ids))


def updated(
    catalog: Catalog, changes: StoreChanges, now: float, touched: Collection[str]
) -> tuple[Catalog, StoreState] | None:
    """Return a catalog with changes, and its state; None if sessions are missing.

    `touched` are the ids of sessions that are known to have been changed, deleted or restored.
    """
    read = {session.id: session for session in changes.sessions}
    known = catalog.forest.sessions
    kept = {key: each for key, each in known.items() if key in read or key not in touched}
    kept |= {key: each for key, each in read.items() if known.get(key) != each}
    if len(kept) != changes.state.sessions:
        return None
    return Catalog(Forest(kept.values(), now)), changes.state
