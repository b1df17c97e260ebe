"""Sessions made into conversations: which parent link means what, and which segments form a chain.

The rules are those of Hermes (0.19 `get_compression_tip`, `_LISTABLE_CHILD_SQL`; 0.20 resets), with
two of its traps mended: a continuation inherits the markers of the session it continues, so a marker
counts only when it names the actual parent; and a damaged file (cycles, missing parents, two children
of one compression) loses nothing: every session is in exactly one chain.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence

from .chain import FAR_PAST, Chain, Chains
from .models import Conversation, Kind, Relation, Session, View
from .ordering import Asked, in_order, names_of
from .relations import AUTOMATION_SOURCES as AUTOMATION_SOURCES
from .relations import LIVE_SECONDS as LIVE_SECONDS
from .relations import ORPHANED as ORPHANED
from .relations import RESET_REASONS as RESET_REASONS
from .relations import continuation_rank
from .relations import edge as edge
from .relations import status as status
from .wording import N_, _

_RING = N_("its parents form a ring")


class Forest:
    """All sessions of a store (or of a neighbourhood) with their chains; pure data, no store behind it."""

    def __init__(self, sessions: Iterable[Session]) -> None:
        known = {session.id: session for session in sessions}
        children: dict[str, list[Session]] = {}
        for session in known.values():
            parent_id = session.parent_id
            if parent_id is not None and parent_id != session.id:
                children.setdefault(parent_id, []).append(session)
        self._known, self._below, self._made = known, children, dict[str, Chain]()
        self._next: dict[str, Session] = {}
        self._continues: set[str] = set()
        self._chain_of = Chains(self._made)
        self._views: dict[View | None, list[Chain]] = {}
        self._build(known.values())

    @property
    def sessions(self) -> Mapping[str, Session]:
        """By id."""
        return self._known

    @property
    def children(self) -> Mapping[str, Sequence[Session]]:
        """Sessions by the id of their parent, whether or not that parent exists."""
        return self._below

    @property
    def chains(self) -> Mapping[str, Chain]:
        """By the id of their root segment."""
        return self._made

    @property
    def chain_of(self) -> Mapping[str, Chain]:
        """By the id of any segment; every session has one."""
        return self._chain_of

    def updated(self, fresh: Iterable[Session], gone: Collection[str] = ()) -> Forest:
        """A forest with these sessions new or in the place of older ones; this one stays as it is.

        Only the families they belong to are looked at again.

        Args:
            fresh: Sessions as they are now.
            gone: Ids that are no more; sessions that hung on them are among the fresh ones where they hang no longer.
        """
        other = Forest(())
        other._known, other._below = dict(self._known), dict(self._below)
        other._next, other._continues = dict(self._next), set(self._continues)
        other._made.update(self._made)
        other._chain_of.later.update(self._chain_of.later)
        begun = [each.id for each in other._take_out(gone)] if gone else []
        for each in gone:
            lost = other._known.pop(each, None)
            if lost is not None and lost.parent_id in other._below:
                other._below[lost.parent_id] = [own for own in other._below[lost.parent_id] if own.id != each]
        for session in fresh:
            before = other._known.get(session.id)
            other._known[session.id] = session
            for old in (before, session):
                if old is not None and old.parent_id is not None and old.parent_id != old.id:
                    siblings = [each for each in other._below.get(old.parent_id, ()) if each.id != session.id]
                    other._below[old.parent_id] = [*siblings, session] if old is session else siblings
            begun.append(session.id)
            if before is not None and before.parent_id is not None:
                begun.append(before.parent_id)
        other._build(other._take_out(begun))
        return other

    def _take_out(self, ids: Iterable[str]) -> list[Session]:
        """All sessions of the families of these, their chains forgotten."""
        family: dict[str, Session] = {}
        waiting = list(ids)
        while waiting:
            session = self._known.get(waiting.pop())
            if session is None or session.id in family:
                continue
            family[session.id] = session
            waiting.extend(child.id for child in self._below.get(session.id, ()))
            if session.parent_id is not None:
                waiting.append(session.parent_id)
                waiting.extend(child.id for child in self._below.get(session.parent_id, ()))
        for each in family:
            self._made.pop(each, None)
            self._chain_of.later.pop(each, None)
            self._next.pop(each, None)
            self._continues.discard(each)
        return list(family.values())

    def _build(self, sessions: Collection[Session]) -> None:
        """Chains of whole families."""
        self._choose_continuations(sessions)
        chains, continues, follows = self._made, self._continues, self._next
        hanging: list[Chain] = []
        for session in sessions:
            session_id = session.id
            if session.parent_id is None and session.shared.delegate_from is None:
                if session_id not in follows:  # what most of them are
                    chains[session_id] = Chain(session, Relation.ROOT)
                    continue
            elif session_id in continues:
                continue
            hanging.append(self._add_chain(session, *self._relation(session)))
        # What is left stands in rings of continuations; each is cut at its oldest.
        left = [session for session in sessions if session.id not in self._chain_of] if continues else []
        for session in sorted(left, key=lambda each: (each.started_at or FAR_PAST, each.id)):
            if session.id not in self._chain_of:
                hanging.append(self._add_chain(session, Relation.ORPHAN, _(_RING)))
        self._cut_rings(hanging)

    def _choose_continuations(self, sessions: Iterable[Session]) -> None:
        for parent in sessions:
            if parent.end_reason != "compression":
                continue
            parent_id, children = parent.id, self._below.get(parent.id, ())
            candidates = [child for child in children if edge(child, parent) is Relation.CONTINUED]
            if candidates:
                best = max(candidates, key=continuation_rank)
                self._next[parent_id] = best
                self._continues.add(best.id)

    def _cut_rings(self, chains: Iterable[Chain]) -> None:
        """Give each ring of parents (a damaged file) a top, or its members could not be reached from any list."""
        settled: set[str] = set()
        for chain in chains:
            path: list[Chain] = []
            current: Chain | None = chain
            while current is not None and current.root.id not in settled:
                settled.add(current.root.id)
                path.append(current)
                current = self.parent_chain(current)
            ids = [each.root.id for each in path]
            if current is not None and current.root.id in ids:
                ring = path[ids.index(current.root.id) :]
                top = min(ring, key=lambda each: (each.root.started_at or FAR_PAST, each.root.id))
                top.relation, top.note = Relation.ORPHAN, _(_RING)

    def _add_chain(self, root: Session, relation: Relation, note: str) -> Chain:
        rest: list[Session] = []
        taken, current = {root.id}, root
        while (following := self._next.get(current.id)) is not None:
            if following.id in taken or following.id in self._chain_of:
                break
            taken.add(following.id)
            rest.append(following)
            current = following
        chain = self._made[root.id] = Chain(root, relation, note, tuple(rest))
        self._chain_of.later.update((segment.id, chain) for segment in rest)
        return chain

    def _relation(self, session: Session) -> tuple[Relation, str]:
        parent = self._known.get(session.parent_id) if session.parent_id is not None else None
        relation = edge(session, parent)
        if relation is Relation.CONTINUED and parent is not None:
            winner = self._next[parent.id]
            early = parent.ended_at is not None and (session.started_at or FAR_PAST) < parent.ended_at
            if early and session.ended_at is not None and winner.end_reason == "compression":
                return Relation.DELEGATED, ""  # an unmarked subagent of a session compressed later
            return relation, _("a stale sibling of {session}").format(session=winner.id)
        if relation is Relation.ORPHAN:
            is_own = session.parent_id == session.id
            return relation, _("its parent is itself") if is_own else _("its parent is gone")
        if relation is Relation.UNKNOWN:
            return relation, _("listed nowhere in Hermes")
        if relation is Relation.ROOT and session.delegate_from is not None:
            guessed = session.delegate_from == ORPHANED
            return relation, _("possibly a subagent") if guessed else _("a subagent whose parent is gone")
        return relation, ""

    def parent(self, session: Session) -> Session | None:
        """The session a parent id names, if it exists and is another one."""
        if session.parent_id is None or session.parent_id == session.id:
            return None
        return self.sessions.get(session.parent_id)

    def parent_chain(self, chain: Chain) -> Chain | None:
        """The chain the root of this one hangs on; None at the top and where parents form a ring."""
        parent = self.parent(chain.root)
        above = self.chain_of[parent.id] if parent is not None else None
        return above if above is not None and above.root.id != chain.root.id else None

    def child_chains(self, chain: Chain) -> list[Chain]:
        """Chains that hang on any segment of this one, in order of their start."""
        found = [
            self.chains[child.id]
            for segment in chain.segments
            for child in self.children.get(segment.id, ())
            if child.id in self.chains and child.id != chain.root.id
        ]
        return sorted(found, key=lambda each: (each.root.started_at or FAR_PAST, each.root.id))

    def is_attached_subagent(self, chain: Chain) -> bool:
        """Delegated, and its parent is here to be listed under."""
        return chain.relation is Relation.DELEGATED and self.parent_chain(chain) is not None

    def kind(self, chain: Chain) -> Kind:
        """Chat, automation or subagent."""
        root = chain.root
        if chain.relation is Relation.DELEGATED or root.source == "subagent":
            return Kind.SUBAGENT
        marker = root.shared.delegate_from
        if marker is not None and marker != ORPHANED and chain.relation in (Relation.ROOT, Relation.ORPHAN):
            return Kind.SUBAGENT
        return Kind.AUTOMATION if root.source in AUTOMATION_SOURCES else Kind.CHAT

    def view_of(self, chain: Chain) -> View | None:
        """The narrow view a conversation is in; None for what only the view of all shows."""
        marks = chain.root.shared
        if marks.hidden or self.is_attached_subagent(chain):
            return None
        if marks.archived:
            return View.ARCHIVED
        return View.CHATS if self.kind(chain) is Kind.CHAT else View.AUTOMATION

    def in_view(self, view: View) -> Iterable[Chain]:
        """The conversations of a view, in no order."""
        return self._made.values() if view is View.ALL else self._parted()[view]

    def sessions_in(self, view: View, sources: Collection[str] = ()) -> Iterable[str]:
        """Ids of all sessions of the conversations of a view, or of those of it that began at some sources."""
        chains = (chain for chain in self.in_view(view) if not sources or chain.root.source in sources)
        return (segment.id for chain in chains for segment in chain.segments)

    def is_in(self, session_id: str, view: View) -> bool:
        """Whether a session is part of a conversation of a narrow view."""
        chain = self._chain_of.get(session_id)
        return chain is not None and self.view_of(chain) is view

    def counts(self) -> dict[View, int]:
        """Conversations in each view."""
        return {view: len(chains) for view, chains in self._parted().items() if view} | {View.ALL: len(self._made)}

    def _parted(self) -> dict[View | None, list[Chain]]:
        """The conversations by narrow view; looked at once, for counts are asked for with every change on screen."""
        if not self._views:
            parted: dict[View | None, list[Chain]] = {view: [] for view in (*View, None)}
            for chain in self._made.values():
                parted[self.view_of(chain)].append(chain)
            self._views = parted
        return self._views

    def order(self, view: View, asked: Asked) -> Sequence[str]:
        """Root ids of the conversations of a view, as asked for."""
        return [chain.root.id for chain in in_order(self.in_view(view), asked)]

    def names(self) -> tuple[Sequence[str], Iterable[str]]:
        """Root ids, newest activity first, and of each the titles and ids of all segments as one text."""
        return names_of(self._made.values())

    def root_of(self, session_id: str) -> str | None:
        """The id of the root of a session's conversation; None when there is no such session."""
        chain = self._chain_of.get(session_id)
        return chain.root.id if chain is not None else None

    def last_active(self, root_id: str) -> float:
        """Newest activity of a conversation; the far past when none is known."""
        return self._made[root_id].last_active

    def newest(self, count: int) -> Iterable[Chain]:
        """The conversations used last."""
        return heapq.nlargest(count, self._made.values(), key=lambda chain: chain.last_active)

    def changed_since(self, earlier: Forest) -> set[str] | None:
        """Root ids of conversations that are new, others or no more; None when that cannot be told quickly."""
        if type(earlier) is not Forest:
            return None
        changed = {root for root, chain in self._made.items() if earlier._made.get(root) is not chain}
        return changed | (earlier._made.keys() - self._made.keys())

    def _hanging(self, chain: Chain) -> tuple[int, int]:
        """How many branches hang on a chain, and how many subagents, nested ones too."""
        if chain.is_alone:
            return 0, 0
        if chain.root.id not in self.children and not any(each.id in self.children for each in chain.rest):
            return 0, 0
        subagents, seen = 0, {chain.root.id}
        stack = self.child_chains(chain)
        branches = sum(child.relation is Relation.BRANCHED for child in stack)
        stack = [child for child in stack if child.relation is Relation.DELEGATED]
        while stack:
            child = stack.pop()
            if child.root.id not in seen:
                seen.add(child.root.id)
                subagents += 1
                stack.extend(each for each in self.child_chains(child) if each.relation is Relation.DELEGATED)
        return branches, subagents

    def conversation(self, chain: Chain, now: float) -> Conversation:
        """The chain as one line of the list.

        Args:
            chain: One of `chains`.
            now: Unix seconds; decides what is live.
        """
        branches, subagents = self._hanging(chain)
        segments, active, note = chain.segments, chain.last_active, chain.note
        if chain.root.shared.hidden:
            note = _("hidden by Hermes, {note}").format(note=note) if note else _("hidden by Hermes")
        return Conversation(
            segments=segments,
            relation=chain.relation,
            kind=self.kind(chain),
            status=status(segments, now),
            title=chain.title,
            last_active=active if active != FAR_PAST else None,
            branches=branches,
            subagents=subagents,
            note=note,
        )
