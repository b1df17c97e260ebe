"""The list of conversations: sessions folded into compression chains, with order, counts and names;
which of them have changed, and which nothing may delete."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from functools import partial
from heapq import merge
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, cast

from ..connection.reader import Reader, chunks, grouped
from ..errors import no_session
from ..wording import N_, _
from .models import (
    Conversation,
    Relation,
    Session,
    Sort,
    Status,
    View,
    known_sum,
    newest_of,
)
from .relations import (
    LIVE_SECONDS,
    ParentLinks,
    idle_seconds,
    ids_of,
    kind_of,
    newest_activity,
    or_past,
    source_names,
    start_key,
    status,
)
from .session_rows import StoreState, read_all, read_portion

_T = TypeVar("_T")
_REREAD = 200
"""Most recently used conversations whose sessions an increment always reads again."""
_PIECE = 5000
"""Items sorted in one go: a few milliseconds."""


def sort_in_pieces(
    items: Sequence[_T], key: Callable[[_T], Any], *, reverse: bool = False
) -> list[_T]:
    """Return the items as `sorted` does, equal ones in their order; other threads run in between.

    One `sorted` of 100,000 keys holds Python's lock, and the screen, for a tenth of a second.
    """
    pieces = [sorted(piece, key=key, reverse=reverse) for piece in chunks(items, _PIECE)]
    return list(merge(*pieces, key=key, reverse=reverse))


def rank(conversation: Conversation) -> tuple[float, str]:
    """Sort key: the newest activity of a conversation, then the id of its tip."""
    return or_past(conversation.last_active), conversation.id


_SORTED_BY = {
    Sort.ACTIVITY: "last_active",
    Sort.STARTED: "root.started_at",
    Sort.MESSAGES: "message_count",
    Sort.TOKENS: "tokens.total",
    Sort.COST: "tree_cost_usd",
    Sort.SIZE: "size",
}
"""Fields of a `Conversation`."""


def is_descending(sort: Sort, *, reverse: bool) -> bool:
    """Whether the newest, most or biggest come first; titles begin at A, unless in reverse."""
    return reverse is (sort is Sort.TITLE)


def sort_key(sort: Sort, amounts: Mapping[str, int]) -> Callable[[Conversation], float | str]:
    """Return the sort key function of conversations.

    `amounts` are values that sessions do not hold, by root id: bytes for `Sort.SIZE`, chat messages
    for `Sort.MESSAGES` (default: the stored counters).
    """
    if sort is Sort.TITLE:  # untitled conversations come last
        return lambda each: f"0{each.title.casefold()}" if each.title else "1"
    measured = amounts if sort in (Sort.MESSAGES, Sort.SIZE) else {}
    stored = attrgetter(_SORTED_BY[sort])

    def key(conversation: Conversation) -> float:
        return or_past(measured.get(conversation.root_id, stored(conversation)))

    return key


class Catalog(ParentLinks):
    """All sessions of a store at one moment, or those of a neighbourhood, folded into
    conversations, each built once.

    Immutable data, without access to the store. Of sessions with the same id the last one counts.

    Args:
        now: Unix seconds when it was read; determines what is live.
        exact: It holds all conversations of the store.
    """

    def __init__(
        self, sessions: Iterable[Session], now: float = 0.0, *, exact: bool = True
    ) -> None:
        super().__init__({session.id: session for session in sessions})
        self.now, self.exact = now, exact
        chains = {segments[0].id: segments for segments in self.chains()}
        self._root_ids = {
            segment.id: root for root, (_root, *others) in chains.items() for segment in others
        }
        """Of the sessions that continue another."""
        self._conversations = {root: self._alone(segments) for root, segments in chains.items()}
        self._below = grouped(
            self._conversations, lambda root: self._conversations[root].parent_root_id
        )
        """Root ids of the conversations whose parent is a segment of one, by its root id; by None
        those at the top."""
        self._count_children()
        self._kept: dict[object, Any] = {}

    def _alone(self, segments: tuple[Session, ...]) -> Conversation:
        """Build a conversation as if it had no children; nearly all have none."""
        root = segments[0]
        relation, note = self.relation(root)
        above = None if root.id in self.cycle_roots else root.parent_id
        if root.hidden:
            note = _("hidden by Hermes, {note}", note=note) if note else _("hidden by Hermes")
        return Conversation(
            segments=segments,
            relation=relation,
            kind=kind_of(root, relation),
            status=status(segments, self.now),
            title=newest_of(segments, "title"),
            last_active=newest_activity(segments),
            note=note,
            tree_cost_usd=known_sum(segment.cost_usd for segment in segments),
            parent_root_id=self.root_of(above) if above is not None else None,
        )

    def _count_children(self) -> None:
        """Count branches and subagents of each conversation, and add the costs of its subagents."""
        conversations, children = self._conversations, self._below
        parents_first = list(children.get(None, ()))
        for root in parents_first:  # it grows while it is read
            parents_first += children.get(root, ())
        for root in filter(children.__contains__, reversed(parents_first)):
            whole = conversations[root]
            below = [conversations[child] for child in children[root]]
            agents = [child for child in below if child.relation is Relation.DELEGATED]
            costs = [whole.tree_cost_usd, *(agent.tree_cost_usd for agent in agents)]
            conversations[root] = whole._replace(
                branches=sum(child.relation is Relation.BRANCHED for child in below),
                subagents=sum(1 + agent.subagents for agent in agents),
                tree_cost_usd=known_sum(costs),
            )

    def kept(self, make: Callable[[Catalog], _T]) -> _T:
        """Return what a function makes of the catalog; made once."""
        if make not in self._kept:
            self._kept[make] = make(self)
        return cast("_T", self._kept[make])

    def root_of(self, session_id: str) -> str | None:
        """Return the root id of a session's conversation; None if there is no such session."""
        return self._root_ids.get(session_id, session_id) if session_id in self.sessions else None

    def conversation(self, session_id: str) -> Conversation:
        """Return the conversation that a session is a segment of.

        Raises:
            NotFoundError: There is no such session.
        """
        try:
            return self._conversations[self._root_ids.get(session_id, session_id)]
        except KeyError:
            raise no_session(session_id) from None

    def of_session(self, session_id: str) -> Conversation | None:
        """Return the conversation that a session is a segment of; None without such a session."""
        return self._conversations.get(self._root_ids.get(session_id, session_id))

    def conversations(self) -> Iterable[Conversation]:
        """Return all conversations, subagents included, in the order of the sessions."""
        return self._conversations.values()

    def parent_conversation(self, conversation: Conversation) -> Conversation | None:
        """Return the conversation that this one is a child of; None at the top."""
        above = conversation.parent_root_id
        return self._conversations[above] if above is not None else None

    def top_conversation(self, conversation: Conversation) -> Conversation:
        """Return the topmost conversation above another, or that itself."""
        while (above := self.parent_conversation(conversation)) is not None:
            conversation = above
        return conversation

    def child_conversations(self, conversation: Conversation) -> list[Conversation]:
        """Return the conversations whose parent is a segment of this one, oldest first."""
        below = map(self.conversation, self._below.get(conversation.root_id, ()))
        return sorted(below, key=lambda child: start_key(child.root))

    def listed(self, view: View | None) -> Sequence[str]:
        """Return the root ids of a view, the newest first by `rank`; for None, those that only
        `View.ALL` shows."""
        return self.kept(_lists)[view]

    def counts(self) -> dict[View, int]:
        """Return the number of conversations in each view."""
        return {view: len(self.listed(view)) for view in View}

    def order(
        self,
        view: View = View.CHATS,
        *,
        sort: Sort = Sort.ACTIVITY,
        reverse: bool = False,
        sources: Collection[str] = (),
        amounts: Mapping[str, int] = {},
    ) -> list[str]:
        """Return the root ids of a view in order.

        Newest, most or biggest come first, titles A to Z, ties by last activity. Only roots of
        these `sources` are returned, as `source_names` takes them; empty means any. `amounts` are
        those of `sort_key`.
        """
        names = source_names(sources)
        roots = [
            each.root_id
            for each in self.select(view)
            if not names or each.source.casefold() in names
        ]
        if sort is Sort.ACTIVITY:
            return roots[::-1] if reverse else roots
        key = sort_key(sort, amounts)
        keys = {root: key(self.conversation(root)) for root in roots}
        return sort_in_pieces(roots, keys.__getitem__, reverse=is_descending(sort, reverse=reverse))

    def select(self, view: View = View.CHATS) -> list[Conversation]:
        """Return the conversations of a view, the newest first."""
        return [self.conversation(root) for root in self.listed(view)]


def _lists(catalog: Catalog) -> dict[View | None, list[str]]:
    """Return the root ids of each view."""
    lists: dict[View | None, list[str]] = {each: [] for each in (*View, None)}
    for conversation in sort_in_pieces(list(catalog.conversations()), rank, reverse=True):
        for shown in (conversation.view, View.ALL):
            lists[shown].append(conversation.root_id)
    return lists


UNREAD = Catalog((), exact=False)
"""That of a store whose sessions have not been read."""


def read_catalog(reader: Reader, now: float) -> Catalog:
    """Read all conversations of a store; `now` is in Unix seconds."""
    return Catalog(read_all(partial(read_portion, reader)), now)


def catalog_of(sessions: Iterable[Session], now: float, known: Catalog | None = None) -> Catalog:
    """Return the catalog of all sessions of a store.

    Sessions of the `known` catalog that have not changed are used again, so that two catalogs need
    not be in memory.
    """
    earlier = known.sessions if known is not None else {}
    again = (before if (before := earlier.get(each.id)) == each else each for each in sessions)
    return Catalog(again, now)


def unseen(catalog: Catalog, touched: Collection[str]) -> list[str]:
    """Return the ids of sessions whose changes leave no trace: the most recently used, those that
    were touched, and their children."""
    ids = ids_of(map(catalog.conversation, catalog.listed(View.ALL)[:_REREAD]))
    for each in touched:
        ids += [each, *(child.id for child in catalog.children_of(each))]
    return list(dict.fromkeys(ids))


def updated(
    catalog: Catalog,
    state: StoreState,
    changed: Iterable[Session],
    now: float,
    touched: Collection[str],
) -> tuple[Catalog, StoreState] | None:
    """Return a catalog with what `read_changes` has read, and its state; None if sessions are
    missing.

    `touched` are the ids of sessions that are known to have been changed, deleted or restored.
    """
    kept = {key: each for key, each in catalog.sessions.items() if key not in touched}
    kept |= {session.id: session for session in changed}
    return (Catalog(kept.values(), now), state) if len(kept) == state.sessions else None


class SpareReason(NamedTuple):
    """Why a conversation stays."""

    code: str
    """`pinned`, `live`, `leased` or `recent`; in a clean-up also `open`, `hidden`, `subagent` or
    `changed`."""
    words: str


def why_protected(
    catalog: Catalog, conversation: Conversation, busy: Set[str], now: float
) -> SpareReason | None:
    """Return why a conversation is protected; None if it is not.

    Args:
        catalog: Has its family.
        conversation: One of it.
        busy: From `read_busy`, just read: leases and locks come and go within a turn.
        now: Unix seconds.
    """
    # Hermes keys a turn lease by the topmost session over all parent links (0.20), branches and
    # subagents included.
    root = catalog.top_conversation(conversation).root_id
    age = idle_seconds(conversation, now)
    seconds = round(min(max(age, 0), LIVE_SECONDS))  # it may be infinite
    for is_so, code, words in (
        (conversation.pinned, "pinned", N_("pinned")),
        (
            any(segment.busy or segment.id in busy for segment in conversation.segments),
            "leased",
            N_("a turn or a compression is running in it"),
        ),
        (
            root in busy,
            "leased",
            N_("a turn is running in its family (the lease names {root})"),
        ),
        (
            age < -LIVE_SECONDS,
            "recent",
            N_("its last activity lies in the future: clocks disagree"),
        ),
        (age < LIVE_SECONDS, "recent", N_("in use, last write {count} seconds ago")),
        (conversation.status is Status.LIVE, "live", N_("live")),
    ):
        if is_so:
            return SpareReason(code, _(words, root=root, count=seconds))
    return None
