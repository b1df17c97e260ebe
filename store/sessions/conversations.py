"""Fold sessions into conversations: the segments of each chain, its parent and children, and the view that lists it.

The rules are those of Hermes (see `relations`), with two differences: a marker that a continuation inherited is
ignored, and a damaged file (cycles, missing parents, two children of one compression) loses nothing: every session is
in exactly one conversation.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from ..wording import N_, _
from .models import (
    FAR_PAST,
    Chain,
    Conversation,
    ConversationKind,
    Relation,
    View,
    known_sum,
    newest_activity,
    start_key,
    title_of,
)
from .relations import AUTOMATION_SOURCES, ORPHANED, continuation_rank, edge, status
from .session import Session

_RING = N_("its parents form a ring")
_CACHE_ABOVE = 16
"""Only results that took more steps than this are cached: caches of 100,000 sessions would be large."""
_MAX_RENEWED = 2000
"""If the changed families have more sessions than this, all lists are rebuilt."""
_parent_id = attrgetter("parent_id")


class SubagentSum(NamedTuple):
    """The subagents of a conversation, nested ones too."""

    number: int = 0
    cost_usd: float | None = None
    """Sum of the known costs; None if there is none."""


_NO_SUBAGENTS = SubagentSum()


def _with_below(segments: Sequence[Session], below: SubagentSum) -> float | None:
    return known_sum([*(session.cost_usd for session in segments), below.cost_usd])


def _has_parent(session: Session) -> bool:
    return session.parent_id is not None and session.parent_id != session.id


class Forest:
    """All sessions of a store or of a neighbourhood: immutable data, without access to the store.

    If an id occurs twice, the later session replaces the earlier one. Chains are computed on request and not cached, so
    compare ids, not chains.
    """

    def __init__(self, sessions: Iterable[Session]) -> None:
        self.sessions: Mapping[str, Session] = {session.id: session for session in sessions}
        """By id."""
        self.renewed: frozenset[str] = frozenset()
        """Ids of all sessions, removed ones included, whose families may differ from those of the forest that
        `updated` was called on."""
        self._by_parent = sorted(filter(_has_parent, self.sessions.values()), key=_parent_id)
        """Sessions with a parent, sorted by its id."""
        self._parents = set(map(_parent_id, self._by_parent))
        """Ids of all sessions that have children, and of some that had; most have none and need no look-up."""
        self._continuations: dict[str, Session] = {}
        """Cached continuations by the id of the continued session, for sessions with many children."""
        self._roots: dict[str, Session] = {}
        """Cached roots of conversations with many segments, by the id of each other segment."""
        self._subagents: dict[str, SubagentSum] = {}
        """Cached sums of conversations that have subagents, by the id of the root."""
        self._ring_roots = frozenset[str]()
        self._ring_roots = self._find_ring_roots(self._by_parent)
        self._lists: dict[View | None, list[str]] | None = None

    def _find_ring_roots(self, sessions: Iterable[Session]) -> frozenset[str]:
        """Return the id of one root per cycle of parents (a damaged file); no list would reach it otherwise."""
        ring_roots: set[str] = set()
        visited: set[str] = set()
        for session in sessions:
            path: list[Session] = []
            current: Session | None = session
            while current is not None and current.id not in visited:
                visited.add(current.id)
                path.append(current)
                current = self.parent(current)
            ids = [each.id for each in path] if current is not None else []
            if current is None or current.id not in ids:
                continue
            ring = path[ids.index(current.id) :]
            roots = [each for each in ring if self._previous_segment(each) is None]
            if len(roots) != 1:  # exactly one: a conversation that is its own child
                ring_roots.add(min(roots or ring, key=start_key).id)
        return frozenset(ring_roots)

    def updated(self, fresh: Iterable[Session], gone: Collection[str] = ()) -> Forest:
        """Return a new forest with `fresh` sessions added or replaced and `gone` ids removed.

        A child of a removed one that has lost its parent id must be in `fresh`. Only families of these are listed anew.
        """
        new = {session.id: session for session in fresh}
        forest = Forest(())
        sessions, forest._by_parent = dict(self.sessions), list(self._by_parent)
        forest._parents = self._parents.union(map(_parent_id, filter(_has_parent, new.values())))
        forest.sessions = sessions
        for each in (*gone, *new):
            forest._replace_child(self.sessions.get(each), new.get(each))
        for each in gone:
            sessions.pop(each, None)
        sessions.update(new)
        changed = self._family_ids((*gone, *new))
        renewed = changed | forest._family_ids((*new, *changed))
        family = [session for each in renewed if (session := sessions.get(each)) is not None]
        forest.renewed = frozenset(renewed)
        forest._subagents = {root: known for root, known in self._subagents.items() if root not in renewed}
        forest._ring_roots = self._ring_roots - renewed
        forest._ring_roots |= forest._find_ring_roots(family)
        if self._lists is not None and len(renewed) < _MAX_RENEWED:
            lists = {view: list(roots) for view, roots in self._lists.items()}
            former = (session for each in renewed if (session := self.sessions.get(each)) is not None)
            for root, view in self._views_of(former):
                del lists[view][bisect_left(lists[view], self.rank(root), key=self.rank)]
            for root, view in forest._views_of(family):
                insort(lists[view], root, key=forest.rank)
            forest._lists = lists
        return forest

    def _replace_child(self, before: Session | None, after: Session | None) -> None:
        """Replace a session in the list sorted by parent id; None stands for one that is not in it."""
        if before is not None and _has_parent(before):
            siblings = bisect_left(self._by_parent, before.parent_id, key=_parent_id)
            del self._by_parent[self._by_parent.index(before, siblings)]
        if after is not None and _has_parent(after):
            insort(self._by_parent, after, key=_parent_id)

    def _views_of(self, sessions: Iterable[Session]) -> Iterator[tuple[str, View | None]]:
        """Yield the roots among some sessions, once for each list they are in."""
        for session in sessions:
            if self._previous_segment(session) is None:
                yield session.id, View.ALL
                yield session.id, self.view_of(self._chain(session))

    def _family_ids(self, ids: Iterable[str]) -> set[str]:
        """Return the ids of all ancestors and descendants of these sessions, existing or not."""
        family: set[str] = set()
        pending = list(ids)
        while pending:
            session_id = pending.pop()
            if session_id not in family:
                family.add(session_id)
                pending.extend(child.id for child in self.children_of(session_id))
                session = self.sessions.get(session_id)
                if session is not None and session.parent_id is not None:
                    pending.append(session.parent_id)
        return family

    # Links

    def parent(self, session: Session) -> Session | None:
        """Return the parent of a session; None if it does not exist or is the session itself."""
        parent_id = session.parent_id
        return None if parent_id is None or parent_id == session.id else self.sessions.get(parent_id)

    def children_of(self, session_id: str) -> list[Session]:
        """Return the sessions with this parent id, whether or not the parent exists."""
        if session_id not in self._parents:
            return []
        first = bisect_left(self._by_parent, session_id, key=_parent_id)
        return self._by_parent[first : bisect_right(self._by_parent, session_id, first, key=_parent_id)]

    def _continuation(self, session: Session) -> Session | None:
        """Return the child that continues a session, provided that it was compressed."""
        best = self._continuations.get(session.id)
        if best is None:
            children = self.children_of(session.id)
            candidates = [child for child in children if edge(child, session) is Relation.CONTINUED]
            best = max(candidates, key=continuation_rank) if len(candidates) > 1 else next(iter(candidates), None)
            if best is not None and len(children) > _CACHE_ABOVE:
                self._continuations[session.id] = best
        return best

    def _next_segment(self, session: Session) -> Session | None:
        """Return the segment that continues a session, if any."""
        best = self._continuation(session) if session.end_reason == "compression" else None
        return None if best is None or best.id in self._ring_roots else best

    def _previous_segment(self, session: Session) -> Session | None:
        """Return the segment that a session continues; None for the root of a conversation."""
        parent = self.parent(session)
        after = self._next_segment(parent) if parent is not None else None
        return parent if after is not None and after.id == session.id else None

    def _root(self, session: Session) -> Session:
        passed: list[str] = []
        while (previous := self._roots.get(session.id) or self._previous_segment(session)) is not None:
            passed.append(session.id)
            session = previous
        if len(passed) > _CACHE_ABOVE:
            self._roots.update(dict.fromkeys(passed, session))
        return session

    def segments(self, root: Session) -> tuple[Session, ...]:
        """Return the segments of the conversation with this root, root first."""
        if root.end_reason != "compression":
            return (root,)  # the usual case
        chain, following = [root], self._next_segment(root)
        while following is not None:
            chain.append(following)
            following = self._next_segment(following)
        return tuple(chain)

    def _chain(self, root: Session) -> Chain:
        return Chain(self.segments(root), *self._relation(root))

    def _relation(self, root: Session) -> tuple[Relation, str]:
        if root.parent_id is None and root.delegate_from is None:
            return Relation.ROOT, ""  # the usual case
        if root.id in self._ring_roots:
            return Relation.ORPHAN, _(_RING)
        parent = self.parent(root)
        relation = edge(root, parent)
        if relation is Relation.CONTINUED and parent is not None and (winner := self._continuation(parent)) is not None:
            early = parent.ended_at is not None and start_key(root)[0] < parent.ended_at
            if early and root.ended_at is not None and winner.end_reason == "compression":
                return Relation.DELEGATED, ""  # an unmarked subagent of a session compressed later
            return relation, _("a stale sibling of {session}").format(session=winner.id)
        if relation is Relation.ORPHAN:
            is_own = root.parent_id == root.id
            return relation, _("its parent is itself") if is_own else _("its parent is gone")
        if relation is Relation.UNKNOWN:
            return relation, _("listed nowhere in Hermes")
        if relation is Relation.ROOT and root.delegate_from is not None:
            guessed = root.delegate_from == ORPHANED
            return relation, _("possibly a subagent") if guessed else _("a subagent whose parent is gone")
        return relation, ""

    # Conversations

    def root_of(self, session_id: str) -> str | None:
        """Return the root id of a session's conversation; None if there is no such session."""
        session = self.sessions.get(session_id)
        return None if session is None else session_id if session.parent_id is None else self._root(session).id

    def is_root(self, session_id: str) -> bool:
        """Whether a session exists and is the first of its conversation."""
        return self.root_of(session_id) == session_id

    def chain_of(self, session_id: str) -> Chain:
        """Return the chain that a session is a segment of; raises KeyError if there is no such session."""
        return self._chain(self._root(self.sessions[session_id]))

    def chains(self) -> Iterator[Chain]:
        """Yield the chain of each conversation, subagents included, in the order of the sessions."""
        return (self._chain(each) for each in self.sessions.values() if self._previous_segment(each) is None)

    def parent_chain(self, chain: Chain) -> Chain | None:
        """Return the chain that this one is a child of; None at the top, and for one that is its own child."""
        root = self._parent_root(chain.root)
        return self._chain(root) if root is not None else None

    def top_chain(self, chain: Chain) -> Chain:
        """Return the topmost conversation above another, or that itself; in a ring, the last one before it repeats."""
        seen = {chain.root.id}
        while (above := self.parent_chain(chain)) is not None and above.root.id not in seen:
            seen.add(above.root.id)
            chain = above
        return chain

    def _parent_root(self, root: Session) -> Session | None:
        parent = self.parent(root)
        above = self._root(parent) if parent is not None else None
        return above if above is not None and above.id != root.id else None

    def child_chains(self, chain: Chain) -> list[Chain]:
        """Return the chains whose parent is a segment of this one, oldest first."""
        return [self._chain(each) for each in sorted(self._child_roots(chain.segments), key=start_key)]

    def _child_roots(self, segments: Sequence[Session]) -> list[Session]:
        """Return the roots of the conversations whose parent is one of these segments, in no order."""
        children = [child for segment in segments for child in self.children_of(segment.id)]
        return [child for child in children if child.id != segments[0].id and self._previous_segment(child) is None]

    def is_attached_subagent(self, chain: Chain) -> bool:
        """Whether a chain is a subagent whose parent exists, so that it is listed under that."""
        return chain.relation is Relation.DELEGATED and self._parent_root(chain.root) is not None

    def kind(self, chain: Chain) -> ConversationKind:
        """Return the kind of a conversation: chat, automation or subagent."""
        root = chain.root
        if chain.relation is Relation.DELEGATED or root.source == "subagent":
            return ConversationKind.SUBAGENT
        marker = root.delegate_from
        if marker is not None and marker != ORPHANED and chain.relation in (Relation.ROOT, Relation.ORPHAN):
            return ConversationKind.SUBAGENT
        return ConversationKind.AUTOMATION if root.source in AUTOMATION_SOURCES else ConversationKind.CHAT

    def conversation(self, chain: Chain, now: float) -> Conversation:
        """Build the list entry of a chain of this forest; `now`, in Unix seconds, determines what is live."""
        children = self._child_roots(chain.segments)
        below = self.subagents(chain.segments) if children else _NO_SUBAGENTS
        active, note = chain.last_active, chain.note
        if chain.root.hidden:
            note = _("hidden by Hermes, {note}").format(note=note) if note else _("hidden by Hermes")
        return Conversation(
            segments=chain.segments,
            relation=chain.relation,
            kind=self.kind(chain),
            status=status(chain.segments, now),
            title=title_of(chain.segments),
            last_active=active if active != FAR_PAST else None,
            branches=sum(self._relation(child)[0] is Relation.BRANCHED for child in children),
            subagents=below.number,
            note=note,
            tree_cost_usd=_with_below(chain.segments, below),
        )

    # Subagents

    def subagents(self, segments: Sequence[Session]) -> SubagentSum:
        """Add up all subagents of a conversation, nested ones too; each of them is visited once per forest."""
        sums = self._subagents
        family: list[tuple[str, list[tuple[Session, ...]]]] = []
        pending: list[Sequence[Session]] = [segments]
        seen = {segments[0].id}
        while pending:
            current = pending.pop()
            root = current[0].id
            children = [] if root in sums else [each for each in self._child_agents(current) if each[0].id not in seen]
            if children:
                seen.update(child[0].id for child in children)
                family.append((root, children))
                pending += children
        for root, children in reversed(family):  # children before their parents
            below = [sums.get(child[0].id, _NO_SUBAGENTS) for child in children]
            costs = [session.cost_usd for child in children for session in child]
            sums[root] = SubagentSum(
                len(children) + sum(each.number for each in below),
                known_sum([*costs, *(each.cost_usd for each in below)]),
            )
        return sums.get(segments[0].id, _NO_SUBAGENTS)

    def _child_agents(self, segments: Sequence[Session]) -> list[tuple[Session, ...]]:
        """Return the segments of each subagent of a conversation, without nested ones."""
        roots = self._child_roots(segments)
        return [self.segments(root) for root in roots if self._relation(root)[0] is Relation.DELEGATED]

    def tree_cost(self, segments: Sequence[Session]) -> float | None:
        """Return the cost of a conversation with all its subagents, in USD; None if none of it is known."""
        return _with_below(segments, self.subagents(segments))

    # Views

    def view_of(self, chain: Chain) -> View | None:
        """Return the view of a conversation; None if only `View.ALL` shows it."""
        if chain.root.hidden or self.is_attached_subagent(chain):
            return None
        if chain.root.archived:
            return View.ARCHIVED
        return View.CHATS if self.kind(chain) is ConversationKind.CHAT else View.AUTOMATION

    def listed(self, view: View | None) -> Sequence[str]:
        """Return the root ids of a view, ordered by `rank`; for None, those that only `View.ALL` shows."""
        if self._lists is None:
            self._lists = self._list()
        return self._lists[view]

    def _list(self) -> dict[View | None, list[str]]:
        roots, tips, views, active = [], [], [], array("d")
        for chain in self.chains():
            roots.append(chain.root.id)
            tips.append(chain.tip.id)
            views.append(self.view_of(chain))
            active.append(chain.last_active)
        order = sorted(range(len(roots)), key=tips.__getitem__)
        order.sort(key=active.__getitem__)
        lists: dict[View | None, list[str]] = {view: [] for view in (*View, None)}
        for index in order:
            lists[views[index]].append(roots[index])
            lists[View.ALL].append(roots[index])
        return lists

    def rank(self, root_id: str) -> tuple[float, str]:
        """Sort key: the newest activity of a conversation, then the id of its tip."""
        segments = self.segments(self.sessions[root_id])
        return newest_activity(segments), segments[-1].id

    def newest(self, count: int) -> list[Chain]:
        """Return the most recently used conversations, newest first."""
        return [self._chain(self.sessions[root]) for root in self.listed(View.ALL)[: -count - 1 : -1]]

    def counts(self) -> dict[View, int]:
        """Return the number of conversations in each view."""
        return {view: len(self.listed(view)) for view in View}

    def in_view(self, view: View) -> Iterator[Chain]:
        """Yield the conversations of a view, the most recently used last."""
        return (self._chain(self.sessions[root]) for root in self.listed(view))

    def is_in(self, session_id: str, view: View) -> bool:
        """Whether the conversation of a session is in a view other than `View.ALL`."""
        return session_id in self.sessions and self.view_of(self.chain_of(session_id)) is view
