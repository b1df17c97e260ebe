"""The family tree of a session, the session to resume, and the session that Hermes opens for it."""

from __future__ import annotations

from collections.abc import Iterator

from ..connection.reader import Reader
from ..messages.decode import read_previews
from ..messages.transcript import count_rows
from ..wording import _, ngettext
from .catalog import Catalog
from .first_page import read_neighbourhood
from .models import (
    Conversation,
    Lineage,
    Node,
    Relation,
    Session,
    known_sum,
)
from .relations import continuation_rank, is_reset, start_key, status

_WALKS_ON = 17
"""First schema whose Hermes goes on from a session with messages to a newer child (0.18.0; 0.17
stays)."""
_WALKS_PAST_RESETS = 26
"""First schema whose Hermes does not resume into a chat after a reset (0.20.1; 0.20.0, schema 25,
does)."""
_CHAINS_END_AT_RESETS = 30
"""First schema whose Hermes does not count such a chat as a continuation (0.21.4 and 0.21.5; 0.21.3
does)."""


DEEPEST = 12
"""Levels of a family tree; only a damaged store has more."""


def predict_resume(catalog: Catalog, session_id: str, schema_version: int | None) -> str:
    """Return the session that `hermes --resume=ID` opens (`resolve_resume_session_id`, 0.13 to
    0.22).

    Hermes follows the compression chain to its tip. From there 0.18 and later, and older releases
    where the tip is empty, go repeatedly to the newest child without a branch or delegate marker,
    and open the deepest session with messages on that path. So they open an unmarked branch instead
    of the requested session, and up to 0.20.0 also a chat after a reset. Hermes does not check
    whether a marker names the parent.

    The catalog must hold the descendants of the session. The schema version of the store implies
    that of Hermes; None means the newest.
    """
    session = catalog.sessions[session_id]
    version = _CHAINS_END_AT_RESETS if schema_version is None else schema_version
    *_before, tip = _follow(catalog, session, version >= _CHAINS_END_AT_RESETS, is_chain=True)
    if version < _WALKS_ON and tip.has_messages:
        return tip.id
    walk = list(_follow(catalog, tip, version >= _WALKS_PAST_RESETS, is_chain=False))
    return next((each.id for each in reversed(walk) if each.has_messages), tip.id)


def _follow(
    catalog: Catalog, first: Session, skips_resets: bool, *, is_chain: bool
) -> Iterator[Session]:
    """Yield the path of Hermes from a session on: along compressions, or from each session to its
    newest child."""
    order = continuation_rank if is_chain else start_key
    seen: set[str] = set()
    session: Session | None = first
    while session is not None and session.id not in seen:
        yield session
        seen.add(session.id)
        children = [
            child
            for child in catalog.children_of(session.id)
            if child.branched_from is None
            and child.delegate_from is None
            and child.source != "tool"
            and not (skips_resets and is_reset(child, session))
        ]
        ends = is_chain and session.end_reason != "compression"
        session = None if ends else max(children, key=order, default=None)


def resume_reason(conversation: Conversation) -> str:
    """Return why its tip is the session to resume."""
    return ngettext("the only part", "newest of {count:,} parts", len(conversation.segments))


def read_lineage(reader: Reader, session_id: str, now: float) -> Lineage:
    """Read the family tree of a session, by its exact id: its topmost ancestor with all
    descendants.

    `now` is in Unix seconds.

    Raises:
        NotFoundError: There is no such session.
    """
    catalog = read_neighbourhood(reader, [session_id], now)
    focus = catalog.conversation(session_id)
    predicted = predict_resume(catalog, focus.id, reader.schema.version)
    counts = count_rows(reader, list(catalog.sessions))
    untitled = {key: [each] for key, each in catalog.sessions.items() if not each.title}
    previews = read_previews(reader, untitled)
    nothing = {True: _("no text"), False: _("no messages")}
    nodes: list[Node] = []
    for conversation, above in _family(catalog, catalog.top_conversation(focus)):
        segments = conversation.segments
        relation, note = catalog.relation(conversation.root)
        children = catalog.child_conversations(conversation)
        agents = [child for child in children if child.relation is Relation.DELEGATED]
        for at, session in enumerate(segments):
            later = {each.id: each.cost_usd for each in segments[at:]}
            below = [each.tree_cost_usd for each in agents if each.root.parent_id in later]
            nodes.append(
                Node(
                    session=session,
                    above=above,
                    relation=relation,
                    on_path=conversation is focus,
                    status=status([session], now),
                    shown_count=counts.get(session.id, 0),
                    note=note,
                    name=session.title or previews[session.id] or nothing[session.has_messages],
                    tree_cost_usd=known_sum([*later.values(), *below]),
                )
            )
            relation, note = Relation.CONTINUED, ""
    return Lineage(session_id, focus.id, resume_reason(focus), predicted, tuple(nodes))


def _family(catalog: Catalog, top: Conversation) -> Iterator[tuple[Conversation, str | None]]:
    """Yield a conversation and everything below it, parents before children, oldest first, each
    with the session that it stands under."""
    stack: list[tuple[Conversation, str | None, int]] = [(top, None, 1)]
    while stack:
        conversation, above, depth = stack.pop()
        yield conversation, above
        # The oldest child is pushed last, because it is to be popped first.
        for child in reversed(catalog.child_conversations(conversation)):
            under = above if depth > DEEPEST else child.root.parent_id
            stack.append((child, under, depth + 1))
