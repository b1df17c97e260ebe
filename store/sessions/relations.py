"""Rules that classify a session: the meaning of its parent link, whether it is automation, whether
it is live.

The rules are those of Hermes (0.19 `get_compression_tip`, `_LISTABLE_CHILD_SQL`; 0.20 resets).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ages import DAY
from .models import FAR_PAST, Conversation, Relation, Status, start_key
from .session import Session

# fmt: off
AUTOMATION_SOURCES = frozenset((
    "cron", "tool", "subagent", "batch", "webhook", "api", "api_server", "api-server", "kanban",
    "oneshot", "eval",
    "benchmark", "rl", "trajectory", "job",
))
# fmt: on
"""Sources without a human user. Unknown sources count as chats.

Hermes stores `api_server`; its guide writes `api-server`.
"""

RESET_REASONS = frozenset(
    ["session_reset", "session_switch", "idle", "daily", "suspended", "resume_pending_expired"]
)
"""End reasons of a gateway's chat that continues in a new session (0.20)."""

ORPHANED = "__orphaned__"
"""Marker set by the migration to schema 16, which guesses which untitled roots are subagents."""

LIVE_SECONDS = 300.0
"""An open session with a message this recent counts as live: Hermes stores no heartbeat."""

STALE_AFTER = 7 * DAY
"""Seconds without activity after which an open conversation counts as stale, in a search and in a
clean-up alike.

Hermes does not end a chat that is left open in a terminal, and the user goes back to it after a
weekend. After a week its process has most likely died. A shorter span would be a risk in a
clean-up, which deletes.
"""


def edge(child: Session, parent: Session | None) -> Relation:
    """Return the meaning of the link from a session to its parent, None if that does not exist.

    Of several continuations of one session, each counts as one.
    """
    if child.parent_id is None:
        return Relation.ROOT
    if parent is None or parent.id == child.id:
        return Relation.ORPHAN
    compressed = parent.end_reason == "compression"
    marks = (
        (child.branched_from, Relation.BRANCHED),
        (child.delegate_from, Relation.DELEGATED),
        (child.reset_from, Relation.RESET),
    )
    for marker, relation in marks:
        # A continuation inherits markers from its parent; its own ones name the parent.
        if marker is not None and (marker == parent.id or not compressed):
            return relation
    if compressed and child.source != "tool":
        return Relation.CONTINUED
    if child.source in ("subagent", "tool"):
        return Relation.DELEGATED
    after_end = parent.ended_at is not None and start_key(child)[0] >= parent.ended_at
    if parent.end_reason == "branched" and after_end:
        return Relation.BRANCHED
    if is_reset(child, parent):
        return Relation.RESET
    # Before markers (0.16 and older) a child that started while its parent was live was a subagent.
    return Relation.UNKNOWN if after_end else Relation.DELEGATED


def is_reset(child: Session, parent: Session) -> bool:
    """Return whether Hermes treats a child as the chat after a reset (0.20.1 to 0.22,
    `_RESET_CHILD_SQL`).

    It does if the child has a reset marker for any session, or the key of a parent that ended by a
    reset.
    """
    if child.reset_from is not None:
        return True
    has_key = bool(child.session_key) and child.session_key == parent.session_key
    return has_key and parent.end_reason in RESET_REASONS


def continuation_rank(child: Session) -> tuple[int, float, float, str]:
    """Sort key among several continuations of one session, the best one last (0.19
    `get_compression_tip`)."""
    rank = 2 if child.end_reason == "compression" else int(child.ended_at is None)
    newest = child.last_active if child.last_active is not None else FAR_PAST
    return rank, newest, *start_key(child)


def status(segments: Sequence[Session], now: float) -> Status:
    """Return the state of a session or of a conversation, as segments, root first; `now` is in Unix
    seconds."""
    newest = segments[-1].last_active
    if any(segment.busy for segment in segments):
        return Status.LIVE
    if not any(segment.has_messages for segment in segments):
        return Status.EMPTY
    if is_ended(segments):
        return Status.ENDED
    is_recent = newest is not None and abs(now - newest) < LIVE_SECONDS
    return Status.LIVE if is_recent else Status.OPEN


def is_ended(segments: Sequence[Session]) -> bool:
    """Return whether Hermes has recorded the end of a conversation, by the last of its segments."""
    tip = segments[-1]
    return tip.ended_at is not None or tip.end_reason is not None


def idle_seconds(conversation: Conversation, now: float) -> float | None:
    """Return the seconds since the last activity of any segment; None if the store has no time for
    it."""
    newest = conversation.last_active
    moment = conversation.root.started_at if newest is None else newest
    return None if moment is None else now - moment


def is_stale(conversation: Conversation, now: float, after: float = STALE_AFTER) -> bool:
    """Return whether a conversation was never ended and has been idle for so long, in seconds;
    leases are ignored.

    `now` is in Unix seconds. A conversation without any time is never stale.
    """
    if is_ended(conversation.segments) or conversation.status is Status.LIVE:
        return False
    idle = idle_seconds(conversation, now)
    return idle is not None and idle >= after
