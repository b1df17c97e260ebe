"""Plan a delete: which sessions it would remove, and which it would leave without a parent.

Hermes deletes one session with its marked subagents and sets the parent of every other child to
NULL (0.17 to 0.22). A conversation is more: all its segments, and siblings that lost a race to
continue it. Unlike Hermes, a branch or a segment of a conversation that stays is never deleted
because of an inherited marker.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from ..connection.reader import Reader
from ..errors import RefusedError, no_session
from ..messages.transcript import count_stored_rows
from ..sessions.catalog import Catalog, read_catalog, why_protected
from ..sessions.models import Conversation, Relation, Session
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


class DeletePlan(NamedTuple):
    """The delete of one conversation."""

    conversation: Conversation
    dependent: tuple[Conversation, ...]
    """Deleted with it: subagents, nested ones too, and stale siblings."""
    sessions: tuple[str, ...]
    """Ids of all segments of both."""
    reparented: tuple[Session, ...]
    """Sessions that stay and lose their parent."""
    messages: int = 0
    """Rows of `messages` that go, shown or not; filled in by `divide`."""


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
    if session_id not in catalog.sessions:
        raise no_session(session_id)
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
    children_left = (child for session in sessions for child in catalog.children_of(session))
    return DeletePlan(
        conversation=going[0],
        dependent=tuple(going[1:]),
        sessions=sessions,
        reparented=tuple(child for child in children_left if child.id not in deleted),
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
    return tuple(session for plan in plans for session in plan.sessions)


def divide(reader: Reader, plans: Sequence[DeletePlan]) -> Iterator[DeletePlan]:
    """Count the messages of plans; what would go with several of them goes with the first."""
    sessions = [session for plan in plans for session in plan.sessions]
    left = dict.fromkeys(sessions, 0) | count_stored_rows(reader, sessions)
    for plan in plans:
        own = tuple(filter(left.__contains__, plan.sessions))
        yield plan._replace(sessions=own, messages=sum(map(left.pop, own)))


def sort_deletes(
    reader: Reader, catalog: Catalog, session_ids: Iterable[str], now: float
) -> tuple[list[DeletePlan], dict[str, str]]:
    """Plan a delete of the conversations that some sessions belong to; return the plans, and for
    each protected conversation, by its id, why it stays.

    The catalog has just been read; `now` is in Unix seconds. Errors as of `affected_by_delete`.
    """
    plans = plans_of(catalog, session_ids)
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
        for member in (plan.conversation, *plan.dependent):
            if member.root_id not in catalog.sessions:  # Hermes has deleted it meanwhile
                continue
            present = catalog.conversation(member.root_id)
            if why := why_protected(catalog, present, busy, now):
                name = present.id
                if present.title:
                    name = f"“{one_line(present.title, PREVIEW)}” ({name})"
                sentence = _("{conversation} stays: {reason}.", conversation=name, reason=why.words)
                kept.setdefault(plan.conversation.id, sentence)
    return kept


def plan_delete(reader: Reader, session_ids: Sequence[str], now: float) -> list[DeletePlan]:
    """Plan a delete of all the conversations or none; as `sort_deletes`.

    Raises:
        RefusedError: One of the conversations is protected.
    """
    plans, kept = sort_deletes(reader, read_catalog(reader, now), session_ids, now)
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
