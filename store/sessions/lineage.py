"""The family tree of a session, the session to resume, and the session that Hermes opens for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..connection.reader import Reader
from ..errors import NotFoundError
from ..messages.preview import read_previews
from ..messages.transcript import count_rows
from ..wording import _, ngettext
from .conversations import Forest
from .first_page import read_neighbourhood
from .models import (
    Conversation,
    Lineage,
    Node,
    Relation,
    ResumeTarget,
    TreeLine,
    known_sum,
    start_key,
)
from .relations import ORPHANED, continuation_rank, is_reset, status
from .session import Session

_RESUME_BOUND = 32
_CHAIN_BOUND = 1000
_WALKS_PAST_RESETS = 26
"""First schema whose Hermes does not resume into a chat after a reset (0.20.1; 0.20.0, schema 25,
does)."""
_CHAINS_END_AT_RESETS = 30
"""First schema whose Hermes does not count such a chat as a continuation (0.21.4 and 0.21.5; 0.21.3
does)."""


def predict_resume(forest: Forest, session_id: str, schema_version: int | None) -> str:
    """Return the session that `hermes --resume=ID` opens (`resolve_resume_session_id`, 0.18 to
    0.22).

    Hermes follows the compression chain to its tip, then repeatedly the newest child without a
    branch or delegate marker, and opens the deepest session with messages on that path. So it opens
    an unmarked branch instead of the requested session, and up to 0.20.0 also a chat after a reset.
    Hermes does not check whether a marker names the parent.

    The forest must hold the descendants of the session. The schema version of the store implies
    that of Hermes; None means the newest.
    """
    session = forest.sessions.get(session_id)
    if session is None:
        return session_id
    version = _CHAINS_END_AT_RESETS if schema_version is None else schema_version
    tip = _follow(forest, session, _CHAIN_BOUND, version >= _CHAINS_END_AT_RESETS, is_chain=True)[
        -1
    ]
    walk = _follow(forest, tip, _RESUME_BOUND, version >= _WALKS_PAST_RESETS, is_chain=False)[
        :_RESUME_BOUND
    ]
    return next((each.id for each in reversed(walk) if each.has_messages), tip.id)


def _follow(
    forest: Forest, first: Session, bound: int, skips_resets: bool, *, is_chain: bool
) -> list[Session]:
    """Return the path of Hermes from a session on: along compressions, or from each session to its
    newest child."""
    path, seen = [first], {first.id}
    for _step in range(bound):
        parent = path[-1]
        if is_chain and parent.end_reason != "compression":
            break
        children = [
            child
            for child in forest.children_of(parent.id)
            if child.branched_from is None
            and child.delegate_from is None
            and child.source != "tool"
            and not (skips_resets and is_reset(child, parent))
        ]
        if not children:
            break
        newest = max(children, key=continuation_rank if is_chain else start_key)
        if newest.id in seen:
            break
        seen.add(newest.id)
        path.append(newest)
    return path


def resume_target(conversation: Conversation) -> ResumeTarget:
    """Return the tip of a conversation as the session to resume."""
    count = len(conversation.segments)
    reason = (
        _("the tip of {count} segments").format(count=count) if count > 1 else _("the only segment")
    )
    shown_reason = ngettext("the only part", "newest of {count:,} parts", count).format(count=count)
    return ResumeTarget(conversation.id, reason, shown_reason)


def read_lineage(reader: Reader, session_id: str, now: float) -> Lineage:
    """Read the family tree of a session, by its exact id: its topmost ancestor with all
    descendants.

    `now` is in Unix seconds.

    Raises:
        NotFoundError: There is no such session.
    """
    catalog = read_neighbourhood(reader, [session_id], now)
    forest = catalog.forest
    if session_id not in forest.sessions:
        raise NotFoundError(
            _("There is no session {session} in this store.").format(session=session_id)
        )
    focus = forest.chain_of(session_id)
    counts = count_rows(reader, list(forest.sessions))
    nodes = _with_tree_costs(_nodes(forest, forest.top_chain(focus), focus, counts, now), forest)
    previews = read_previews(
        reader, {each.session.id: [each.session] for each in nodes if not each.session.title}
    )
    named = tuple(
        each._replace(name=_name(each.session, previews.get(each.session.id, ""))) for each in nodes
    )
    target = resume_target(catalog.conversation(focus.root.id))
    return Lineage(
        session_id, target, predict_resume(forest, target.id, reader.schema.version), named
    )


def _with_tree_costs(nodes: Iterable[Node], forest: Forest) -> list[Node]:
    """Add to each node the cost of all below it: later segments of its conversation, and subagents
    of these."""
    listed = list(nodes)
    below: dict[str, list[float | None]] = {}
    for index in reversed(range(len(listed))):  # children before their parents
        node = listed[index]
        session = node.session
        cost = known_sum([session.cost_usd, *below.get(session.id, ())])
        listed[index] = node._replace(tree_cost_usd=cost)
        is_part = node.relation is Relation.DELEGATED or not forest.is_root(session.id)
        if node.parent_id is not None and is_part:
            below.setdefault(node.parent_id, []).append(cost)
    return listed


def _name(session: Session, preview: str) -> str:
    return session.title or preview or (_("no text") if session.has_messages else _("no messages"))


def draw_tree(nodes: Sequence[Node]) -> list[TreeLine]:
    """Return the lines of a family tree, top to bottom, from nodes in the order of a `Lineage`.

    All segments of a conversation have the same indent. The children of a segment follow it,
    indented by one more step.
    """
    heads: dict[str, str] = {}
    segments: dict[str, list[Node]] = {}
    children: dict[str, list[str]] = {}
    tops: list[str] = []
    for node in nodes:
        above, id = node.parent_id, node.session.id
        if above in heads and node.relation is Relation.CONTINUED and not node.note:
            heads[id] = heads[above]
            segments[heads[id]].append(node)
            continue
        heads[id] = id
        segments[id] = [node]
        (children.setdefault(above, []) if above in heads else tops).append(id)
    lines: list[TreeLine] = []
    # A chain to draw (its head, the guides of its first line and of the lines below), or a finished
    # line.
    stack: list[tuple[str, str, str] | TreeLine] = [(each, "", "") for each in reversed(tops)]
    while stack:
        each = stack.pop()
        if isinstance(each, TreeLine):
            lines.append(each)
            continue
        head, first, below = each
        parts: list[Node | str] = []
        for segment in segments[head]:
            parts += [segment, *children.get(segment.session.id, ())]
        drawn: list[tuple[str, str, str] | TreeLine] = []
        for number, part in enumerate(parts, 1):
            if isinstance(part, Node):
                drawn.append(TreeLine(part, below if number > 1 else first))
            elif number < len(parts):
                drawn.append((part, f"{below}├ ", f"{below}│ "))
            else:
                drawn.append((part, f"{below}└ ", f"{below}  "))
        stack += reversed(drawn)
    return lines


def _nodes(
    forest: Forest, top: Conversation, focus: Conversation, counts: dict[str, int], now: float
) -> Iterator[Node]:
    """Yield the nodes of a conversation and of everything below it, parents before children; names
    are missing."""
    seen: set[str] = set()
    stack: list[tuple[Conversation, str | None]] = [(top, None)]
    while stack:
        conversation, above = stack.pop()
        if conversation.root.id in seen:
            continue
        seen.add(conversation.root.id)
        relation, note = conversation.relation, forest.relation_note(conversation)
        if conversation.root.delegate_from == ORPHANED:
            note = _("possibly a subagent")
        for session in conversation.segments:
            yield Node(
                session=session,
                parent_id=above,
                relation=relation,
                on_path=conversation.root.id == focus.root.id,
                status=status([session], now),
                rows=counts.get(session.id, 0),
                note=note,
            )
            above, relation, note = session.id, Relation.CONTINUED, ""
        # The oldest child is pushed last, because it is to be popped first.
        stack += [
            (child, child.root.parent_id) for child in reversed(forest.child_chains(conversation))
        ]
