"""What a delete of conversations would remove, and what it would leave without a parent.

Hermes deletes one session with its marked subagents and sets the parent of every other child to NULL (0.17 to 0.22).
A conversation is more: all its segments, and siblings that lost a race to continue it. Unlike Hermes we never delete a
branch, or a segment of a conversation that stays, because of a marker it has inherited.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ..connection.reader import Reader
from ..errors import NotFoundError, RefusedError
from ..sessions.catalog import Catalog
from ..sessions.conversations import Forest
from ..sessions.models import Chain, Conversation, Relation
from ..sessions.rows import read_busy, read_sessions
from ..sessions.session import Session
from ..text import one_line
from ..wording import _
from .guards import family_root, protected

PREVIEW = 60
"""Letters of a title, or of how a conversation begins, in a sentence."""
_SURE_SOURCES = ("subagent", "tool")
"""Sources of sessions that nobody typed into and that hang on a parent (0.19)."""
_A_SECOND = 1500
"""Messages deleted in a second, mostly from the two search indexes (0.19)."""
_PATIENT = 10.0
"""Seconds that Hermes waits for the write lock at least: it gives up after some 16 (0.19) or 20 (0.22)."""
_STANDS_ALONE = (Relation.BRANCHED, Relation.RESET)
_below: WeakKeyDictionary[Forest, dict[str, list[str]]] = WeakKeyDictionary()
"""By forest and session: roots of the conversations below it. A clean-up asks thousands of times."""


class Affected(NamedTuple):
    """The sessions of a delete."""

    asked: tuple[Chain, ...]
    """The conversations that were asked for."""
    along: tuple[Chain, ...]
    """What is deleted with them: subagents, nested ones too, and stale siblings."""
    sessions: tuple[str, ...]
    """Ids of all segments of both."""
    orphaned: tuple[Session, ...]
    """Sessions that stay and lose their parent."""
    above: tuple[str, ...]
    """Roots of the families they are in, by which Hermes keys a turn lease (0.20)."""

    def without_gone(self, present: Container[str]) -> Affected:
        """Leave out what is deleted along and has been deleted before, as in a clean-up of many conversations.

        Args:
            present: Ids of sessions that are in the store.
        """
        along = tuple(c for c in self.along if any(segment.id in present for segment in c.segments))
        sessions = tuple(segment.id for chain in (*self.asked, *along) for segment in chain.segments)
        return self._replace(along=along, sessions=sessions)


def _goes_along(chain: Chain, taken: frozenset[str] | set[str]) -> bool:
    """Tell whether a conversation is deleted with its parent."""
    root = chain.root
    if chain.relation in _STANDS_ALONE:
        return False
    if chain.relation is Relation.CONTINUED:  # it lost a race, and only its sibling's conversation leads to it
        return root.parent_id in taken
    marked = root.delegate_from is not None and (root.delegate_from in taken or root.parent_id in taken)
    # A child without a marker that started while its parent was live may be a person's chat: it stays.
    sure = chain.relation is Relation.DELEGATED and root.source in _SURE_SOURCES and root.parent_id in taken
    return marked or sure


def _hanging(forest: Forest) -> dict[str, list[str]]:
    known = _below.get(forest)
    if known is None:
        known = {}
        for chain in forest.chains():
            # Only the marker of a root counts: a continuation inherits it with the settings.
            for parent in {chain.root.delegate_from, chain.root.parent_id} - {None}:
                known.setdefault(str(parent), []).append(chain.root.id)
        _below[forest] = known
    return known


def affected_by_delete(forest: Forest, session_ids: Iterable[str]) -> Affected:
    """Find all sessions of a delete; any segment stands for its conversation.

    Args:
        forest: All sessions of the store: a subagent is found by its marker, wherever its parent link leads.
        session_ids: Of sessions in it.

    Raises:
        KeyError: One is not in it.
    """
    hanging = _hanging(forest)
    asked = {chain.root.id: chain for chain in (forest.chain_of(each) for each in session_ids)}
    found, stack = dict(asked), list(asked.values())
    taken = {segment.id for chain in asked.values() for segment in chain.segments}
    while stack:
        for segment in stack.pop().segments:
            for root in hanging.get(segment.id, ()):
                below = forest.chain_of(root)
                if root not in found and _goes_along(below, taken):
                    found[root] = below
                    taken.update(each.id for each in below.segments)
                    stack.append(below)
    sessions = tuple(segment.id for chain in found.values() for segment in chain.segments)
    orphaned = [child for each in sessions for child in forest.children_of(each) if child.id not in taken]
    return Affected(
        asked=tuple(asked.values()),
        along=tuple(chain for root, chain in found.items() if root not in asked),
        sessions=sessions,
        orphaned=tuple(orphaned),
        above=tuple(sorted({family_root(forest, chain) for chain in found.values()})),
    )


class Doomed(NamedTuple):
    """What a delete would remove."""

    affected: Affected
    conversations: tuple[Conversation, ...]
    protected: tuple[tuple[str, str], ...]
    """Tips of conversations that must stay, each with the reason."""
    messages: int
    """Rows of `messages` that would be deleted, shown or not."""


def plan_delete(reader: Reader, catalog: Catalog, session_ids: Sequence[str], now: float) -> Doomed:
    """Find what a delete of the conversations of some sessions would remove.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        session_ids: Any segments.
        now: Unix seconds.

    Raises:
        NotFoundError: There is no such session.
    """
    missing = [each for each in session_ids if each not in catalog.forest.sessions]
    if missing:
        raise NotFoundError(_("There is no session {session} in this store.").format(session=missing[0]))
    affected = affected_by_delete(catalog.forest, session_ids)
    busy = read_busy(reader)
    # Read again: the catalog may be a minute old and not know of a pin, or of a turn, since then.
    fresh = Catalog(Forest(read_sessions(reader, affected.sessions, busy=busy)), now, exact=False)
    affected = affected.without_gone(fresh.forest.sessions)
    kept = [(fresh.forest.chain_of(root).tip.id, reason) for root, reason in protected(reader, fresh, now).items()]
    tip = affected.asked[0].tip.id
    leased = _("a turn is running in its family ({root})")
    kept += [(tip, leased.format(root=top)) for top in affected.above if top in busy]
    conversations = tuple(catalog.conversation(chain.root.id) for chain in affected.asked)
    counts = reader.rows_in("SELECT count(*) FROM messages WHERE session_id IN ({keys})", affected.sessions)
    return Doomed(affected, conversations, tuple(kept), sum(int(str(row[0])) for row in counts))


def refuse_protected(catalog: Catalog, doomed: Doomed) -> None:
    """Refuse a delete that would remove something protected.

    Raises:
        RefusedError: Names the first conversation that is protected, and why.
    """
    if doomed.protected:
        tip, reason = doomed.protected[0]
        conversation = catalog.of_session(tip)
        title = conversation.title if conversation is not None else None
        named = f"“{one_line(title, PREVIEW)}” ({tip})" if title else tip
        raise RefusedError(
            _("{conversation} stays: {reason}. Nothing was changed.").format(conversation=named, reason=reason)
        )


def hold_up(messages: int) -> str | None:
    """Warn where deleting one conversation keeps Hermes from writing for longer than it may wait.

    Args:
        messages: Rows of the largest conversation, which is deleted in one transaction.

    Returns:
        A sentence; None where it is short.
    """
    seconds = messages / _A_SECOND
    if seconds < _PATIENT:
        return None
    return _(
        "The largest has {messages:,} messages and goes in one piece: for about {seconds:,.0f} seconds Hermes cannot "
        "write, so let no chat be at work."
    ).format(messages=messages, seconds=seconds)
