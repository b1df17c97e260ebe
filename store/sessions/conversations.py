"""Fold sessions into conversations: one for each compression chain, with what lists show of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from typing import Any, TypeVar

from ..connection.reader import chunks
from ..wording import _
from .models import (
    FAR_PAST,
    Conversation,
    ConversationKind,
    Relation,
    View,
    known_sum,
    newest_activity,
    start_key,
)
from .parent_links import ParentLinks
from .relations import AUTOMATION_SOURCES, ORPHANED, status
from .session import Session

_T = TypeVar("_T")
_PIECE = 5000
"""Items sorted in one go: a few milliseconds."""


def sort_in_pieces(
    items: Sequence[_T], key: Callable[[_T], Any], *, reverse: bool = False
) -> list[_T]:
    """Return the items as `sorted` does, equal ones in their order; other threads run in between.

    One `sorted` of 100,000 keys holds Python's lock for a tenth of a second, and the screen with
    it.
    """
    pieces = [sorted(piece, key=key, reverse=reverse) for piece in chunks(items, _PIECE)]
    return list(merge(*pieces, key=key, reverse=reverse))


def rank(conversation: Conversation) -> tuple[float, str]:
    """Sort key: the newest activity of a conversation, then the id of its tip."""
    active = conversation.last_active
    return FAR_PAST if active is None else active, conversation.id


def _kind(root: Session, relation: Relation) -> ConversationKind:
    is_agent = relation is Relation.DELEGATED or root.source == "subagent"
    if relation in (Relation.ROOT, Relation.ORPHAN):  # a subagent whose parent is gone
        is_agent = is_agent or root.delegate_from not in (None, ORPHANED)
    if is_agent:
        return ConversationKind.SUBAGENT
    is_automation = root.source in AUTOMATION_SOURCES
    return ConversationKind.AUTOMATION if is_automation else ConversationKind.CHAT


class Forest(ParentLinks):
    """All sessions of a store or of a neighbourhood, folded into conversations, each built once.

    Immutable data, without access to the store. If an id occurs twice, the later session replaces
    the earlier one.

    Args:
        now: Unix seconds; determines what is live.
    """

    def __init__(self, sessions: Iterable[Session], now: float = 0.0) -> None:
        super().__init__({session.id: session for session in sessions})
        self.now = now
        roots = [session for session in self.sessions.values() if self.previous(session) is None]
        chains = {root.id: self.segments(root) for root in roots}
        self._root_ids = {
            segment.id: root for root, (_root, *others) in chains.items() for segment in others
        }
        """Of the sessions that continue another."""
        self._conversations = {root: self._alone(chains[root]) for root in chains}
        self._count_children()
        self._lists: dict[View | None, list[str]] | None = None

    def _alone(self, segments: tuple[Session, ...]) -> Conversation:
        """Build a conversation as if it had no children; nearly all have none."""
        root, active = segments[0], newest_activity(segments)
        relation, note = self.relation(root)
        above = None if root.id in self.cycle_roots else root.parent_id
        if root.hidden:
            hidden = _("hidden by Hermes, {note}").format(note=note)
            note = hidden if note else _("hidden by Hermes")
        titles = [segment.title for segment in reversed(segments) if segment.title]
        return Conversation(
            segments=segments,
            relation=relation,
            kind=_kind(root, relation),
            status=status(segments, self.now),
            title=titles[0] if titles else None,
            last_active=active if active != FAR_PAST else None,
            note=note,
            tree_cost_usd=known_sum(segment.cost_usd for segment in segments),
            parent_root_id=self.root_of(above) if above not in (None, root.id) else None,
        )

    def _count_children(self) -> None:
        """Count branches and subagents of each conversation, and add the costs of its subagents."""
        conversations = self._conversations
        children: dict[str | None, list[str]] = {}
        for root, conversation in conversations.items():
            children.setdefault(conversation.parent_root_id, []).append(root)
        parents_first = list(children.get(None, ()))
        for root in parents_first:  # it grows while it is read
            parents_first += children.get(root, ())
        for root in reversed(parents_first):
            if root not in children:
                continue
            whole = conversations[root]
            below = [conversations[child] for child in children[root]]
            agents = [child for child in below if child.relation is Relation.DELEGATED]
            costs = [whole.tree_cost_usd, *(agent.tree_cost_usd for agent in agents)]
            conversations[root] = whole._replace(
                branches=sum(child.relation is Relation.BRANCHED for child in below),
                subagents=sum(1 + agent.subagents for agent in agents),
                tree_cost_usd=known_sum(costs),
            )

    # Sessions

    def root_of(self, session_id: str) -> str | None:
        """Return the root id of a session's conversation; None if there is no such session."""
        return self._root_ids.get(session_id, session_id) if session_id in self.sessions else None

    def is_root(self, session_id: str) -> bool:
        """Whether a session exists and is the first of its conversation."""
        return session_id in self._conversations

    # Conversations

    def chain_of(self, session_id: str) -> Conversation:
        """Return the conversation that a session is a segment of.

        Raises:
            KeyError: There is no such session.
        """
        return self._conversations[self._root_ids.get(session_id, session_id)]

    def chains(self) -> Iterable[Conversation]:
        """Return all conversations, subagents included, in the order of the sessions."""
        return self._conversations.values()

    def parent_chain(self, conversation: Conversation) -> Conversation | None:
        """Return the conversation that this one is a child of; None at the top."""
        above = conversation.parent_root_id
        return self._conversations[above] if above is not None else None

    def top_chain(self, conversation: Conversation) -> Conversation:
        """Return the topmost conversation above another, or that itself."""
        while (above := self.parent_chain(conversation)) is not None:
            conversation = above
        return conversation

    def child_chains(self, conversation: Conversation) -> list[Conversation]:
        """Return the conversations whose parent is a segment of this one, oldest first."""
        sessions = [
            child for segment in conversation.segments for child in self.children_of(segment.id)
        ]
        below = [self._conversations[child.id] for child in sessions if self.is_root(child.id)]
        attached = [child for child in below if child.parent_root_id == conversation.root_id]
        return sorted(attached, key=lambda child: start_key(child.root))

    # Views

    def listed(self, view: View | None) -> Sequence[str]:
        """Return the root ids of a view, ordered by `rank`; for None, those that only `View.ALL`
        shows."""
        if self._lists is None:
            lists: dict[View | None, list[str]] = {each: [] for each in (*View, None)}
            for conversation in sort_in_pieces(list(self.chains()), rank):
                for shown in (conversation.view, View.ALL):
                    lists[shown].append(conversation.root_id)
            self._lists = lists
        return self._lists[view]

    def counts(self) -> dict[View, int]:
        """Return the number of conversations in each view."""
        return {view: len(self.listed(view)) for view in View}

    def in_view(self, view: View) -> Iterator[Conversation]:
        """Yield the conversations of a view, the most recently used last."""
        return (self._conversations[root] for root in self.listed(view))
