"""Sessions folded into conversations: which segments form a chain, what hangs on what, and in which view it is listed.

The rules are those of Hermes (see `relations`) with two of its traps mended: a marker that a continuation has
inherited does not count, and a damaged file (cycles, missing parents, two children of one compression) loses
nothing: every session is in exactly one conversation.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

from ..wording import N_, _
from .models import FAR_PAST, Chain, Conversation, Kind, Relation, View, newest_activity, title_of
from .relations import AUTOMATION_SOURCES, ORPHANED, continuation_rank, edge, status
from .session import Session

_RING = N_("its parents form a ring")
_FEW = 16
"""What is found among so many is looked for again each time; 100,000 sessions have little of what is worth keeping."""
_MOST_RENEWED = 2000
"""With more sessions than this in families that have changed, all lists are made anew."""
_parent_id = attrgetter("parent_id")


def _hangs(session: Session) -> bool:
    return session.parent_id is not None and session.parent_id != session.id


def _oldest(session: Session) -> tuple[float, str]:
    return session.started_at or FAR_PAST, session.id


class Forest:
    """All sessions of a store (or of a neighbourhood); pure data, no store behind it, and it does not change.

    Chains are worked out when they are asked for and not kept: ids are compared, never chains.

    Args:
        sessions: In the order in which they are to be gone through; of two with one id the later one counts.
    """

    def __init__(self, sessions: Iterable[Session]) -> None:
        self.sessions: Mapping[str, Session] = {session.id: session for session in sessions}
        """By id."""
        self.renewed: frozenset[str] = frozenset()
        """Ids of the sessions, also former ones, of all families that may differ from those of the forest this
        one was made of by `updated`."""
        self._hanging = sorted(filter(_hangs, self.sessions.values()), key=_parent_id)
        """Sessions with a parent, by the id of that."""
        self._winners: dict[str, Session] = {}
        """Continuations by the id of the session that is continued, where many children were to choose from."""
        self._roots: dict[str, Session] = {}
        """Roots of conversations of many segments, by the id of each other segment."""
        self._tops = frozenset[str]()
        self._tops = self._find_tops(self._hanging)
        self._lists: dict[View | None, list[str]] | None = None

    def _find_tops(self, hanging: Iterable[Session]) -> frozenset[str]:
        """Ids of one root for each ring of parents (a damaged file), which no list would reach otherwise."""
        tops: set[str] = set()
        settled: set[str] = set()
        for session in hanging:
            path: list[Session] = []
            current: Session | None = session
            while current is not None and current.id not in settled:
                settled.add(current.id)
                path.append(current)
                current = self.parent(current)
            ids = [each.id for each in path] if current is not None else []
            if current is None or current.id not in ids:
                continue
            ring = path[ids.index(current.id) :]
            roots = [each for each in ring if self._before(each) is None]
            if len(roots) != 1:  # one is a conversation that hangs on itself
                tops.add(min(roots or ring, key=_oldest).id)
        return frozenset(tops)

    def updated(self, fresh: Iterable[Session], gone: Collection[str] = ()) -> Forest:
        """A forest with these sessions new or in the place of older ones; this one stays as it is.

        Only the families they belong to are listed again.

        Args:
            fresh: Sessions as they are now.
            gone: Ids that are no more; sessions that hung on them are among the fresh ones where they hang no longer.
        """
        new = {session.id: session for session in fresh}
        other = Forest(())
        sessions, other._hanging = dict(self.sessions), list(self._hanging)
        other.sessions = sessions
        for each in (*gone, *new):
            other._hang(self.sessions.get(each), new.get(each))
        for each in gone:
            sessions.pop(each, None)
        sessions.update(new)
        changed = self._families((*gone, *new))
        renewed = changed | other._families((*new, *changed))
        family = [session for each in renewed if (session := sessions.get(each)) is not None]
        other.renewed = frozenset(renewed)
        other._tops = self._tops - renewed
        other._tops |= other._find_tops(family)
        if self._lists is not None and len(renewed) < _MOST_RENEWED:
            lists = {view: list(roots) for view, roots in self._lists.items()}
            former = (session for each in renewed if (session := self.sessions.get(each)) is not None)
            for root, view in self._views_of(former):
                del lists[view][bisect_left(lists[view], self.rank(root), key=self.rank)]
            for root, view in other._views_of(family):
                insort(lists[view], root, key=other.rank)
            other._lists = lists
        return other

    def _hang(self, before: Session | None, after: Session | None) -> None:
        """Put a session in the place of another one among those that hang on a parent."""
        hanging, at = self._hanging, -1
        if before is not None and _hangs(before):
            at = bisect_left(hanging, before.parent_id, key=_parent_id)
            while hanging[at].id != before.id:
                at += 1
            if after is not None and after.parent_id == before.parent_id:
                hanging[at] = after
                return
            del hanging[at]
        if after is not None and _hangs(after):
            insort(hanging, after, key=_parent_id)

    def _views_of(self, sessions: Iterable[Session]) -> Iterator[tuple[str, View | None]]:
        """The roots among some sessions, each with every list it stands in."""
        for session in sessions:
            if self._before(session) is None:
                yield session.id, View.ALL
                yield session.id, self.view_of(self._chain(session))

    def _families(self, ids: Iterable[str]) -> set[str]:
        """Ids of all that hang together with these, there or not."""
        found: set[str] = set()
        waiting = list(ids)
        while waiting:
            each = waiting.pop()
            if each not in found:
                found.add(each)
                waiting.extend(child.id for child in self.children_of(each))
                session = self.sessions.get(each)
                if session is not None and session.parent_id is not None:
                    waiting.append(session.parent_id)
        return found

    # Links

    def parent(self, session: Session) -> Session | None:
        """The session a parent id names, if it exists and is another one."""
        parent_id = session.parent_id
        return None if parent_id is None or parent_id == session.id else self.sessions.get(parent_id)

    def children_of(self, session_id: str) -> list[Session]:
        """The sessions that name another one as their parent, whether or not that exists."""
        found = []
        for at in range(bisect_left(self._hanging, session_id, key=_parent_id), len(self._hanging)):
            child = self._hanging[at]
            if child.parent_id != session_id:
                break
            found.append(child)
        return found

    def _best(self, session: Session) -> Session | None:
        """Which of the children of a session is its continuation if it was compressed."""
        best = self._winners.get(session.id)
        if best is None:
            children = self.children_of(session.id)
            candidates = [child for child in children if edge(child, session) is Relation.CONTINUED]
            best = max(candidates, key=continuation_rank) if len(candidates) > 1 else next(iter(candidates), None)
            if best is not None and len(children) > _FEW:
                self._winners[session.id] = best
        return best

    def _after(self, session: Session) -> Session | None:
        """The segment that continues a session."""
        best = self._best(session) if session.end_reason == "compression" else None
        return None if best is None or best.id in self._tops else best

    def _before(self, session: Session) -> Session | None:
        """The segment that a session continues; None for the root of a conversation."""
        parent = self.parent(session)
        after = self._after(parent) if parent is not None else None
        return parent if after is not None and after.id == session.id else None

    def _root(self, session: Session) -> Session:
        passed: list[str] = []
        while (before := self._roots.get(session.id) or self._before(session)) is not None:
            passed.append(session.id)
            session = before
        if len(passed) > _FEW:
            self._roots.update(dict.fromkeys(passed, session))
        return session

    def segments(self, root: Session) -> tuple[Session, ...]:
        """The segments of the conversation that begins with a session."""
        if root.end_reason != "compression":
            return (root,)  # as nearly all
        found, after = [root], self._after(root)
        while after is not None:
            found.append(after)
            after = self._after(after)
        return tuple(found)

    def _chain(self, root: Session) -> Chain:
        return Chain(self.segments(root), *self._relation(root))

    def _relation(self, root: Session) -> tuple[Relation, str]:
        if root.parent_id is None and root.delegate_from is None:
            return Relation.ROOT, ""  # as most
        if root.id in self._tops:
            return Relation.ORPHAN, _(_RING)
        parent = self.parent(root)
        relation = edge(root, parent)
        if relation is Relation.CONTINUED and parent is not None and (winner := self._best(parent)) is not None:
            early = parent.ended_at is not None and (root.started_at or FAR_PAST) < parent.ended_at
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
        """The id of the root of a session's conversation; None when there is no such session."""
        session = self.sessions.get(session_id)
        return None if session is None else session_id if session.parent_id is None else self._root(session).id

    def is_root(self, session_id: str) -> bool:
        """Whether a session is there and the first one of its conversation."""
        return self.root_of(session_id) == session_id

    def chain_of(self, session_id: str) -> Chain:
        """The chain any segment belongs to.

        Raises:
            KeyError: There is no such session.
        """
        return self._chain(self._root(self.sessions[session_id]))

    def chains(self) -> Iterator[Chain]:
        """One for each conversation, subagents included, in the order of the sessions."""
        return (self._chain(each) for each in self.sessions.values() if self._before(each) is None)

    def parent_chain(self, chain: Chain) -> Chain | None:
        """The chain the root of this one hangs on; None at the top, and for one that hangs on itself."""
        root = self._root_above(chain.root)
        return self._chain(root) if root is not None else None

    def _root_above(self, root: Session) -> Session | None:
        parent = self.parent(root)
        above = self._root(parent) if parent is not None else None
        return above if above is not None and above.id != root.id else None

    def child_chains(self, chain: Chain) -> list[Chain]:
        """Chains that hang on any segment of this one, in order of their start."""
        children = [child for segment in chain.segments for child in self.children_of(segment.id)]
        roots = [child for child in children if child.id != chain.root.id and self._before(child) is None]
        return [self._chain(each) for each in sorted(roots, key=_oldest)]

    def is_attached_subagent(self, chain: Chain) -> bool:
        """Delegated, and its parent is here to be listed under."""
        return chain.relation is Relation.DELEGATED and self._root_above(chain.root) is not None

    def kind(self, chain: Chain) -> Kind:
        """Chat, automation or subagent."""
        root = chain.root
        if chain.relation is Relation.DELEGATED or root.source == "subagent":
            return Kind.SUBAGENT
        marker = root.delegate_from
        if marker is not None and marker != ORPHANED and chain.relation in (Relation.ROOT, Relation.ORPHAN):
            return Kind.SUBAGENT
        return Kind.AUTOMATION if root.source in AUTOMATION_SOURCES else Kind.CHAT

    def conversation(self, chain: Chain, now: float) -> Conversation:
        """The chain as one line of the list.

        Args:
            chain: One of this forest.
            now: Unix seconds; decides what is live.
        """
        branches, subagents = self._count_below(chain)
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
            branches=branches,
            subagents=subagents,
            note=note,
        )

    def _count_below(self, chain: Chain) -> tuple[int, int]:
        """How many branches hang on a chain, and how many subagents, nested ones too."""
        subagents, seen = 0, {chain.root.id}
        below = self.child_chains(chain)
        branches = sum(child.relation is Relation.BRANCHED for child in below)
        while below:
            child = below.pop()
            if child.relation is Relation.DELEGATED and child.root.id not in seen:
                seen.add(child.root.id)
                subagents += 1
                below.extend(self.child_chains(child))
        return branches, subagents

    # Views

    def view_of(self, chain: Chain) -> View | None:
        """The narrow view a conversation is in; None for what only the view of all shows."""
        if chain.root.hidden or self.is_attached_subagent(chain):
            return None
        if chain.root.archived:
            return View.ARCHIVED
        return View.CHATS if self.kind(chain) is Kind.CHAT else View.AUTOMATION

    def listed(self, view: View | None) -> Sequence[str]:
        """Root ids of the conversations of a view, the one used last at the end; of none, those in no narrow view."""
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
        for at in order:
            lists[views[at]].append(roots[at])
            lists[View.ALL].append(roots[at])
        return lists

    def rank(self, root_id: str) -> tuple[float, str]:
        """What lists are ordered by: the newest activity of a conversation, then the id of its tip."""
        segments = self.segments(self.sessions[root_id])
        return newest_activity(segments), segments[-1].id

    def newest(self, count: int) -> list[Chain]:
        """The conversations used last, that one first."""
        return [self._chain(self.sessions[root]) for root in self.listed(View.ALL)[: -count - 1 : -1]]

    def counts(self) -> dict[View, int]:
        """Conversations in each view."""
        return {view: len(self.listed(view)) for view in View}

    def in_view(self, view: View) -> Iterator[Chain]:
        """The conversations of a view, the one used last at the end."""
        return (self._chain(self.sessions[root]) for root in self.listed(view))

    def is_in(self, session_id: str, view: View) -> bool:
        """Whether a session is part of a conversation of a narrow view."""
        return session_id in self.sessions and self.view_of(self.chain_of(session_id)) is view
