"""Plan a delete: which sessions it would remove, and which it would leave without a parent.

Hermes deletes one session with its marked subagents and sets the parent of every other child to
NULL (0.17 to 0.22). A conversation is more: all its segments, and siblings that lost a race to
continue it. Unlike Hermes, a branch or a segment of a conversation that stays is never deleted
because of an inherited marker.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..cleanup.sizes import Sizes, added
from ..connection.reader import Reader
from ..errors import RefusedError
from ..messages.transcript import count_stored_rows
from ..sessions.catalog import Catalog, read_catalog, why_protected
from ..sessions.models import Conversation, Relation, Session, known_sum
from ..sessions.relations import is_ended
from ..sessions.session_rows import read_busy, resolve_session
from ..text import one_line
from ..wording import _

PREVIEW = 60
"""Length of a title or first words in a sentence."""
_AUTOMATIC_SOURCES = ("subagent", "tool")
"""Sources of child sessions that nobody typed into (0.19)."""
_DELETED_PER_SECOND = 1500
"""Messages; most of the time goes to the two search indexes (0.19)."""
_LOCK_PATIENCE = 10.0
"""Seconds that Hermes surely waits for the write lock: it gives up after some 16 (0.19) or 20
(0.22)."""


class Expected(NamedTuple):
    """A conversation as a plan knows it: one that is different by now stays, as carrying out a plan
    of thousands takes minutes, in which a chat can be resumed."""

    id: str
    sessions: tuple[str, ...]
    """Its segments and subagents."""
    are_open: frozenset[str]
    """Those of them that have not ended."""
    rows: int
    """Their stored messages."""


class DeletePlan(NamedTuple):
    """The delete of one conversation, alone or in a clean-up."""

    conversation: Conversation
    """In a clean-up its `size` includes what goes with it; None until all of that is measured."""
    dependent: tuple[Conversation, ...]
    """Deleted with it: subagents, nested ones too, and stale siblings; an archive leaves them
    alone."""
    session_ids: tuple[str, ...]
    """Ids of all segments of both."""
    reparented: tuple[Session, ...]
    """Sessions that stay and lose their parent."""
    own: Sizes = Sizes()
    """Sizes of its segments; only their rows until they are measured. `own.shown` is its number of
    messages."""
    sizes: Sizes = Sizes()
    """Likewise, with those of what goes with it."""

    @property
    def is_measured(self) -> bool:
        """Whether its bytes are known."""
        return self.conversation.size is not None

    @property
    def standing(self) -> str:
        """`ended`, or `stale-open` if no end is recorded: one in use is never planned."""
        return "ended" if is_ended(self.conversation.segments) else "stale-open"

    @property
    def messages(self) -> int:
        """Rows of `messages` that go, shown or not."""
        return self.sizes.rows

    @property
    def subagents(self) -> tuple[Session, ...]:
        """The sessions that go with it."""
        return tuple(segment for other in self.dependent for segment in other.segments)

    @property
    def sessions(self) -> tuple[Session, ...]:
        """Its segments and subagents."""
        return (*self.conversation.segments, *self.subagents)

    @property
    def cost_usd(self) -> float | None:
        """Cost of its segments and subagents; None if none is known."""
        return known_sum(session.cost_usd for session in self.sessions)

    @property
    def expected(self) -> Expected:
        """What must still be so when it goes."""
        are_open = frozenset(session.id for session in self.sessions if session.ended_at is None)
        return Expected(self.conversation.id, self.session_ids, are_open, self.messages)

    def alone(self) -> DeletePlan:
        """Return it without what goes with it."""
        size = self.own.total if self.is_measured else None
        conversation = self.conversation._replace(size=size)
        return DeletePlan(conversation, (), tuple(conversation.session_ids), (), self.own, self.own)

    def counted(self, counts: Mapping[str, int]) -> DeletePlan:
        """Fill in the stored messages, given by session id."""
        own, whole = (
            Sizes(rows=sum(counts.get(id, 0) for id in ids))
            for ids in (self.conversation.session_ids, self.session_ids)
        )
        return DeletePlan(*self[:4], own, whole)

    def measured(self, sizes: Mapping[str, Sizes]) -> DeletePlan:
        """Fill in sizes, given by session id; unchanged if one is missing."""
        if not all(id in sizes for id in self.session_ids):
            return self
        own, whole = (
            added(sizes[id] for id in ids)
            for ids in (self.conversation.session_ids, self.session_ids)
        )
        conversation = self.conversation._replace(size=whole.total)
        return self._replace(conversation=conversation, own=own, sizes=whole)


def _is_dependent(conversation: Conversation, deleted: Container[str | None]) -> bool:
    """Tell whether a conversation is deleted because the session it belongs to is."""
    root = conversation.root
    is_child = root.parent_id in deleted
    if conversation.relation in (Relation.BRANCHED, Relation.RESET):
        return False
    if conversation.relation is Relation.CONTINUED:
        return is_child  # it lost a race, and only its sibling's conversation leads to it
    if root.delegate_from is not None:
        return is_child or root.delegate_from in deleted
    # A child without a marker that started while its parent was live may be a person's chat: it
    # stays.
    is_automatic = conversation.relation is Relation.DELEGATED and root.source in _AUTOMATIC_SOURCES
    return is_child and is_automatic


def _children_by_session(catalog: Catalog) -> dict[str, list[str]]:
    """Return the root ids of child conversations by session id; a clean-up looks up thousands."""
    children: dict[str, list[str]] = {}
    for conversation in catalog.conversations():
        # Only the marker of a root counts: a continuation inherits it with the settings.
        for parent in {conversation.root.delegate_from, conversation.root.parent_id} - {None}:
            children.setdefault(str(parent), []).append(conversation.root.id)
    return children


def affected_by_delete(catalog: Catalog, session_id: str) -> DeletePlan:
    """Find all sessions of a delete of the conversation that a session belongs to.

    The catalog must have all sessions of the store: a subagent is found by its marker, wherever its
    parent link leads.

    Raises:
        NotFoundError: There is no such session.
    """
    children = catalog.kept(_children_by_session)
    going = [catalog.conversation(session_id)]
    deleted: set[str | None] = set(going[0].session_ids)
    for conversation in going:  # it grows
        for session in conversation.session_ids:
            for child in map(catalog.conversation, children.get(session, ())):
                if child.root.id not in deleted and _is_dependent(child, deleted):
                    going.append(child)
                    deleted.update(child.session_ids)
    sessions = tuple(session for each in going for session in each.session_ids)
    return DeletePlan(
        conversation=going[0],
        dependent=tuple(going[1:]),
        session_ids=sessions,
        reparented=tuple(
            child
            for session in sessions
            for child in catalog.children_of(session)
            if child.id not in deleted
        ),
    )


def plans_of(catalog: Catalog, session_ids: Iterable[str]) -> list[DeletePlan]:
    """Return the plan for each of the conversations that some sessions belong to; errors as of
    `affected_by_delete`."""
    plans = (affected_by_delete(catalog, session) for session in session_ids)
    return list({plan.conversation.root.id: plan for plan in plans}.values())


def sessions_with(reader: Reader, texts: Iterable[str], now: float) -> tuple[str, ...]:
    """Return the sessions of conversations, named as for `resolve_session`, and of what would be
    deleted with them."""
    session_ids = [resolve_session(reader, text) for text in texts]
    plans = plans_of(read_catalog(reader, now), session_ids)
    return tuple(id for plan in plans for id in plan.session_ids)


def divide(reader: Reader, plans: Sequence[DeletePlan]) -> Iterator[DeletePlan]:
    """Count the messages of plans; what would go with several of them goes with the first."""
    left = {id for plan in plans for id in plan.session_ids}
    counts = count_stored_rows(reader, list(left))
    for plan in plans:
        own = tuple(filter(left.__contains__, plan.session_ids))
        left.difference_update(own)
        yield plan._replace(session_ids=own).counted(counts)


def sort_deletes(
    reader: Reader, catalog: Catalog, plans: Sequence[DeletePlan], now: float
) -> tuple[list[DeletePlan], dict[str, str]]:
    """Return the plans that can be carried out, counted, and for each protected conversation, by its
    id, why it stays.

    The catalog has just been read; `now` is in Unix seconds.
    """
    kept = refusals(reader, catalog, plans, now)
    going = [plan for plan in plans if plan.conversation.id not in kept]
    return list(divide(reader, going)), kept


def refusals(
    reader: Reader, catalog: Catalog, plans: Iterable[DeletePlan], now: float
) -> dict[str, str]:
    """Return why conversations of plans stay, by their ids: they, or what would go with them, are
    protected.

    The catalog has just been read, and has them with all above them; `now` is in Unix seconds.
    """
    busy = read_busy(reader, now)
    kept: dict[str, str] = {}
    for plan in plans:
        members = (each.root_id for each in (plan.conversation, *plan.dependent))
        # Hermes may have deleted some of them meanwhile.
        for present in map(catalog.conversation, filter(catalog.sessions.__contains__, members)):
            if why := why_protected(catalog, present, busy, now):
                name = present.id
                if present.title:
                    name = f"“{one_line(present.title, PREVIEW)}” ({name})"
                sentence = _("{conversation} stays: {reason}.", conversation=name, reason=why.words)
                kept.setdefault(plan.conversation.id, sentence)
    return kept


def plan_delete(reader: Reader, session_ids: Sequence[str], now: float) -> list[DeletePlan]:
    """Plan a delete of all the conversations of sessions or none; errors as of `affected_by_delete`.

    Raises:
        RefusedError: One of the conversations is protected.
    """
    catalog = read_catalog(reader, now)
    plans, kept = sort_deletes(reader, catalog, plans_of(catalog, session_ids), now)
    if kept:
        raise RefusedError(next(iter(kept.values())), is_unchanged=True)
    return plans


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
        "write, so let no chat be at work.",
        messages=messages,
        seconds=seconds,
    )
