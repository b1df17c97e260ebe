"""Plan a delete: which sessions it would remove, and which it would leave without a parent.

Hermes deletes one session with its marked subagents and sets the parent of every other child to
NULL (0.17 to 0.22). A conversation is more: all its segments, and siblings that lost a race to
continue it. Unlike Hermes, a branch or a segment of a conversation that stays is never deleted
because of an inherited marker.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ..connection.reader import Reader
from ..errors import NotFoundError, RefusedError
from ..messages.transcript import count_stored_rows
from ..sessions.catalog import Catalog, read_catalog
from ..sessions.conversations import Forest
from ..sessions.models import Conversation, Relation
from ..sessions.resolve import resolve_session
from ..sessions.session import Session
from ..sessions.session_rows import read_busy, read_sessions
from ..text import one_line
from ..wording import _
from .guards import protected

PREVIEW = 60
"""Length of a title or first words in a sentence."""
_AUTOMATIC_SOURCES = ("subagent", "tool")
"""Sources of child sessions that nobody typed into (0.19)."""
_DELETED_PER_SECOND = 1500
"""Messages; most of the time goes to the two search indexes (0.19)."""
_LOCK_PATIENCE = 10.0
"""Seconds that Hermes surely waits for the write lock: it gives up after some 16 (0.19) or 20
(0.22)."""
_children: WeakKeyDictionary[Forest, dict[str, list[str]]] = WeakKeyDictionary()
"""Cache by forest and session id: root ids of its child conversations; a clean-up looks up
thousands."""


class Affected(NamedTuple):
    """The sessions of a delete."""

    requested: tuple[Conversation, ...]
    """The requested conversations."""
    dependent: tuple[Conversation, ...]
    """Deleted with them: subagents, nested ones too, and stale siblings."""
    sessions: tuple[str, ...]
    """Ids of all segments of both."""
    orphaned: tuple[Session, ...]
    """Sessions that stay and lose their parent."""
    family_roots: tuple[str, ...]
    """Ids of the topmost sessions above these conversations. Hermes stores a turn lease under that
    id (0.20)."""


def _is_dependent(chain: Conversation, deleted: Container[str | None]) -> bool:
    """Tell whether a conversation is deleted because the session it belongs to is."""
    root = chain.root
    is_child = root.parent_id in deleted
    if chain.relation in (Relation.BRANCHED, Relation.RESET):
        return False
    if chain.relation is Relation.CONTINUED:
        return is_child  # it lost a race, and only its sibling's conversation leads to it
    if root.delegate_from is not None:
        return is_child or root.delegate_from in deleted
    # A child without a marker that started while its parent was live may be a person's chat: it
    # stays.
    is_automatic = chain.relation is Relation.DELEGATED and root.source in _AUTOMATIC_SOURCES
    return is_child and is_automatic


def _children_by_session(forest: Forest) -> dict[str, list[str]]:
    children = _children.get(forest)
    if children is None:
        children = _children[forest] = {}
        for chain in forest.chains():
            # Only the marker of a root counts: a continuation inherits it with the settings.
            for parent in {chain.root.delegate_from, chain.root.parent_id} - {None}:
                children.setdefault(str(parent), []).append(chain.root.id)
    return children


def affected_by_delete(forest: Forest, session_ids: Iterable[str]) -> Affected:
    """Find all sessions of a delete of the conversations that some sessions belong to.

    The forest must have all sessions of the store: a subagent is found by its marker, wherever its
    parent link leads.

    Raises:
        KeyError: A session is not in the forest.
    """
    children = _children_by_session(forest)
    chains = {chain.root.id: chain for chain in map(forest.chain_of, session_ids)}
    requested, found = tuple(chains.values()), list(chains.values())
    deleted: set[str | None] = {segment.id for chain in found for segment in chain.segments}
    for segment in (segment for chain in found for segment in chain.segments):  # `found` grows
        for root in children.get(segment.id, ()):
            child = forest.chain_of(root)
            if root not in chains and _is_dependent(child, deleted):
                chains[root] = child
                found.append(child)
                deleted.update(each.id for each in child.segments)
    sessions = tuple(segment.id for chain in found for segment in chain.segments)
    children_left = (child for session in sessions for child in forest.children_of(session))
    return Affected(
        requested=requested,
        dependent=tuple(found[len(requested) :]),
        sessions=sessions,
        orphaned=tuple(child for child in children_left if child.id not in deleted),
        family_roots=tuple(sorted({forest.top_chain(chain).root.id for chain in found})),
    )


def sessions_with(reader: Reader, texts: Iterable[str], now: float) -> tuple[str, ...]:
    """Return the sessions of conversations, named as for `resolve_session`, and of what would be
    deleted with them."""
    session_ids = [resolve_session(reader, text) for text in texts]
    return affected_by_delete(read_catalog(reader, now).forest, session_ids).sessions


class DeletePlan(NamedTuple):
    """The delete of one conversation."""

    conversation: Conversation
    sessions: tuple[str, ...]
    """Those that go: its own and those of what depends on it."""
    orphaned: tuple[Session, ...]
    """See `Affected`, also the next."""
    family_roots: tuple[str, ...]
    messages: int
    """Rows of `messages` that go, shown or not."""


def divide(reader: Reader, forest: Forest, session_ids: Iterable[str]) -> list[DeletePlan]:
    """Find what goes with each of the conversations that some sessions belong to; what would go
    with several of them goes with the first.

    Raises:
        NotFoundError: There is no such session.
    """
    plans: dict[str, DeletePlan] = {}
    taken: set[str] = set()
    for session in session_ids:
        if session not in forest.sessions:
            sentence = _("There is no session {session} in this store.")
            raise NotFoundError(sentence.format(session=session))
        affected = affected_by_delete(forest, [session])
        (conversation,) = affected.requested
        if conversation.root.id in plans:
            continue
        sessions = tuple(each for each in affected.sessions if each not in taken)
        taken.update(sessions)
        plans[conversation.root.id] = DeletePlan(
            conversation, sessions, affected.orphaned, affected.family_roots, 0
        )
    counts = count_stored_rows(reader, list(taken))
    return [
        plan._replace(messages=sum(counts.get(session, 0) for session in plan.sessions))
        for plan in plans.values()
    ]


def plan_delete(
    reader: Reader, catalog: Catalog, session_ids: Sequence[str], now: float
) -> list[DeletePlan]:
    """Plan a delete of the conversations that some sessions belong to, by a catalog of the whole
    store.

    `now` is in Unix seconds.

    Raises:
        NotFoundError: There is no such session.
        RefusedError: One of the conversations is protected.
    """
    plans = divide(reader, catalog.forest, session_ids)
    sessions = [session for plan in plans for session in plan.sessions]
    busy = read_busy(reader)
    # Read again: the catalog may be a minute old and lack a pin or a turn since then.
    present = Forest(read_sessions(reader, sessions, busy=busy), now)
    fresh = Catalog(present, exact=False)
    for root, reason in protected(reader, fresh, now).items():
        raise _refusal(catalog, present.chain_of(root).tip.id, reason)
    for plan in plans:
        for root in busy.intersection(plan.family_roots):
            leased = _("a turn is running in its family ({root})")
            raise _refusal(catalog, plan.conversation.tip.id, leased.format(root=root))
    return [_without_gone(plan, present.sessions) for plan in plans]


def _without_gone(plan: DeletePlan, present: Container[str]) -> DeletePlan:
    """Leave out dependent sessions that were deleted since the catalog was read, as in a
    clean-up."""
    own = {segment.id for segment in plan.conversation.segments}
    kept = tuple(each for each in plan.sessions if each in present or each in own)
    return plan._replace(sessions=kept)


def _refusal(catalog: Catalog, tip: str, reason: str) -> RefusedError:
    conversation = catalog.of_session(tip)
    title = conversation.title if conversation is not None else None
    named = f"“{one_line(title, PREVIEW)}” ({tip})" if title else tip
    sentence = _("{conversation} stays: {reason}.")
    return RefusedError(sentence.format(conversation=named, reason=reason), is_unchanged=True)


def long_lock_warning(messages: int) -> str | None:
    """Return a warning if deleting a conversation would block Hermes' writes for longer than it may
    wait.

    `messages` counts the rows of the largest conversation, which is deleted in one transaction.
    """
    seconds = messages / _DELETED_PER_SECOND
    if seconds < _LOCK_PATIENCE:
        return None
    return _(
        "The largest has {messages:,} messages and goes in one piece: for about {seconds:,.0f} seconds Hermes cannot "
        "write, so let no chat be at work."
    ).format(messages=messages, seconds=seconds)
