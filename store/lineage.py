"""The family tree around a session, what to resume, and what Hermes will really open."""

from __future__ import annotations

from .catalog import read_neighbourhood
from .chain import Chain
from .connect import Reader
from .errors import NotFoundError
from .forest import ORPHANED, Forest, status
from .models import Conversation, Lineage, Node, Relation, ResumeTarget, Session
from .transcript import count_rows
from .wording import _

_RESUME_BOUND = 32
_FAR_PAST = float("-inf")


def predict_resume(forest: Forest, session_id: str) -> str:
    """The session `hermes --resume=ID` opens by its own rules (`resolve_resume_session_id`, 0.18 to 0.22).

    Hermes first follows the compression chain to its tip, then goes on to the newest child of any
    kind that carries no branch or delegate marker, and opens the deepest session with messages on
    that walk. An unmarked branch, or a chat after a reset, is so opened in place of what was chosen.

    Args:
        forest: Must hold the descendants of the session.
        session_id: What would be given to Hermes.
    """
    chain = forest.chain_of.get(session_id)
    if chain is None:
        return session_id
    current = chain.tip
    seen = {current.id}
    best: str | None = None
    for _step in range(_RESUME_BOUND):
        if current.has_messages:
            best = current.id
        children = [child for child in forest.children.get(current.id, ()) if _walks_on_to(child, current)]
        if not children:
            break
        current = max(children, key=lambda child: (child.started_at or _FAR_PAST, child.id))
        if current.id in seen:
            break
        seen.add(current.id)
    return best if best is not None else chain.tip.id


def _walks_on_to(child: Session, parent: Session) -> bool:
    if child.branched_from is not None or child.delegate_from is not None or child.source == "tool":
        return False
    # Hermes 0.20 and later leave out resets that are marked or share their parent's key.
    if child.reset_from is not None:
        return False
    return not (child.session_key and child.session_key == parent.session_key)


def resume_target(conversation: Conversation) -> ResumeTarget:
    """The tip, and why it is the one."""
    count = len(conversation.segments)
    reason = _("the tip of {count} segments").format(count=count) if count > 1 else _("the only segment")
    return ResumeTarget(conversation.id, reason)


def read_lineage(reader: Reader, session_id: str, now: float) -> Lineage:
    """The whole family of a session: everything above it, and everything below what is above it.

    Args:
        reader: An open reader.
        session_id: An exact id.
        now: Unix seconds.

    Raises:
        NotFoundError: There is no such session.
    """
    catalog = read_neighbourhood(reader, [session_id], now)
    forest = catalog.forest
    if session_id not in forest.sessions:
        raise NotFoundError(_("There is no session {session} in this store.").format(session=session_id))
    focus = forest.chain_of[session_id]
    top, seen = focus, {focus.root.id}
    while (above := forest.parent_chain(top)) is not None and above.root.id not in seen:
        seen.add(above.root.id)
        top = above
    counts = count_rows(reader, list(forest.sessions))
    nodes: list[Node] = []
    _add_nodes(forest, top, None, focus, counts, now, nodes, set())
    target = resume_target(catalog.conversation(focus.root.id))
    return Lineage(session_id, target, predict_resume(forest, target.id), tuple(nodes))


def _add_nodes(
    forest: Forest,
    chain: Chain,
    parent_id: str | None,
    focus: Chain,
    counts: dict[str, int],
    now: float,
    nodes: list[Node],
    seen: set[str],
) -> None:
    """Append the nodes of a chain and of everything below it, parents before children."""
    stack = [(chain, parent_id)]
    while stack:
        current, above = stack.pop()
        if current.root.id in seen:
            continue
        seen.add(current.root.id)
        for index, session in enumerate(current.segments):
            first = index == 0
            note = current.note if first else ""
            if first and session.delegate_from == ORPHANED:
                note = _("possibly a subagent")
            nodes.append(
                Node(
                    session=session,
                    parent_id=above if first else current.segments[index - 1].id,
                    relation=current.relation if first else Relation.CONTINUED,
                    on_path=current.root.id == focus.root.id,
                    status=status([session], now),
                    rows=counts.get(session.id, 0),
                    note=note,
                )
            )
        # The stack turns the order round, so the oldest child goes on last.
        for child in reversed(forest.child_chains(current)):
            stack.append((child, child.root.parent_id))
