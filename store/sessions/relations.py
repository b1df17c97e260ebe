"""Rules that classify a session: the meaning of its parent link, whether it is automation and of
which job, whether it is live; and the links between the sessions of a store by these rules.

The rules are those of Hermes (0.19 `get_compression_tip`, `_LISTABLE_CHILD_SQL`; 0.20 resets), with
two differences: a marker that a continuation inherited is ignored, and a damaged file (cycles,
missing parents, two children of one compression) loses nothing: every session is in exactly one
conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from operator import attrgetter

from ..amounts import DAY
from ..connection.reader import grouped
from ..wording import N_, _
from .models import (
    FAR_PAST,
    Conversation,
    ConversationKind,
    Relation,
    Session,
    Status,
)

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

SHORT_SOURCES = {
    "telegram": "tele",
    "discord": "disc",
    "whatsapp": "wa",
    "api_server": "api",
    "api-server": "api",
    "webhook": "hook",
}
"""What lists call a source; filters take both."""


def source_names(sources: Iterable[str]) -> frozenset[str]:
    """Return what sources may be called in a store, in lower case; each is given by its name, or by
    the short one, in any case."""
    names = frozenset(name.casefold() for name in sources)
    return names.union(name for name, short in SHORT_SOURCES.items() if short in names)


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

_RACE_SECONDS = 10.0
"""A child that began so shortly before the end of a compressed parent is another process's
continuation: 0.18 and later write the child first."""


def or_past(time: float | None) -> float:
    """Return a time to sort by: an unknown one is before all others."""
    return FAR_PAST if time is None else time


def start_key(session: Session) -> tuple[float, str]:
    """Sort key: the start, an unknown one first, then the id."""
    return or_past(session.started_at), session.id


def ids_of(conversations: Iterable[Conversation]) -> list[str]:
    """Return the ids of all segments of conversations."""
    return [id for each in conversations for id in each.session_ids]


_MARKED = (Relation.BRANCHED, Relation.DELEGATED, Relation.RESET)
"""What the markers of a session mean."""


def edge(child: Session, parent: Session | None) -> Relation:
    """Return the meaning of the link from a session to its parent, None if that does not exist.

    Of several continuations of one session, each counts as one.
    """
    if child.parent_id is None:
        return Relation.ROOT
    if parent is None or parent.id == child.id:
        return Relation.ORPHAN
    compressed = parent.end_reason == "compression"
    markers = child.branched_from, child.delegate_from, child.reset_from
    for marker, relation in zip(markers, _MARKED, strict=True):
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
    has_key = bool(child.session_key) and child.session_key == parent.session_key
    return child.reset_from is not None or (has_key and parent.end_reason in RESET_REASONS)


def continuation_rank(child: Session) -> tuple[int, float, float, str]:
    """Sort key among several continuations of one session, the best one last (0.19
    `get_compression_tip`)."""
    rank = 2 if child.end_reason == "compression" else int(child.ended_at is None)
    return rank, or_past(child.last_active), *start_key(child)


def kind_of(root: Session, relation: Relation) -> ConversationKind:
    """Return the kind of a conversation, by its first session and its relation to its parent."""
    is_lost = relation in (Relation.ROOT, Relation.ORPHAN)  # maybe an agent whose parent is gone
    was_delegated = is_lost and root.delegate_from not in (None, ORPHANED)
    if was_delegated or relation is Relation.DELEGATED or root.source == "subagent":
        return ConversationKind.SUBAGENT
    if root.source in AUTOMATION_SOURCES:
        return ConversationKind.AUTOMATION
    return ConversationKind.CHAT


def status(segments: Sequence[Session], now: float) -> Status:
    """Return the state of a session or of a conversation, as segments, root first; `now` is in Unix
    seconds."""
    if any(segment.busy for segment in segments):
        return Status.LIVE
    if not any(segment.has_messages for segment in segments):
        return Status.EMPTY
    if is_ended(segments):
        return Status.ENDED
    if abs(now - or_past(segments[-1].last_active)) < LIVE_SECONDS:
        return Status.LIVE
    return Status.OPEN


def newest_activity(segments: Sequence[Session]) -> float | None:
    """Return the newest activity of any segment; None if none is known."""
    moments = (segment.last_active for segment in segments)
    return max((moment for moment in moments if moment is not None), default=None)


def is_ended(segments: Sequence[Session]) -> bool:
    """Return whether Hermes has recorded the end of a conversation, by the last of its segments."""
    tip = segments[-1]
    return tip.ended_at is not None or tip.end_reason is not None


def idle_seconds(conversation: Conversation, now: float) -> float:
    """Return the seconds since the last activity of any segment; infinity if the store has no time
    for it."""
    return now - or_past(conversation.last_active)


def is_stale(conversation: Conversation, now: float) -> bool:
    """Return whether a conversation was never ended and has been idle for `STALE_AFTER`; leases are
    ignored.

    `now` is in Unix seconds. A conversation without any time is never stale.
    """
    is_open = not is_ended(conversation.segments) and conversation.status is not Status.LIVE
    return is_open and STALE_AFTER <= idle_seconds(conversation, now) < inf


# Cron jobs: the store has no table of them (0.19, `cron/scheduler.py`)

# `cron_<job>_20241206_175337`; a suffix distinguishes runs that began in the same second, and a
# name after a space says in which of several stores the run is.
_RUN = re.compile(r"cron_(.+)_\d{8}_\d{6}(?:[_ ].*)?")
# `Morning paper · Nov 22 07:00`, followed by ` #2` if another run has that title.
_TITLE = re.compile(r"(.+) · \S+ \d\d \d\d:\d\d(?: #\d+)?", re.DOTALL)


def job_of(root: Session) -> str | None:
    """Return the id of the cron job that a conversation is a run of, by its first session; else
    None."""
    match = _RUN.fullmatch(root.id) if root.source == "cron" else None
    return match[1] if match else None


def name_in_title(title: str | None) -> str:
    """Return the name of the job from the title of a run, as stored; empty if Hermes has not
    written the title."""
    match = _TITLE.fullmatch(title or "")
    return match[1] if match else ""


_NOTES = {
    Relation.ROOT: N_("a subagent whose parent is gone"),  # it has a marker of a subagent
    Relation.ORPHAN: N_("its parent is gone"),
    Relation.UNKNOWN: N_("listed nowhere in Hermes"),
}


class ParentLinks:
    """The links between some sessions, given by id: immutable data."""

    def __init__(self, sessions: Mapping[str, Session]) -> None:
        self.sessions = sessions
        """By id."""
        parent_id = attrgetter("parent_id")
        linked = [each for each in sessions.values() if each.parent_id is not None]
        self._children: dict[str, list[Session]] = grouped(linked, parent_id)
        going_on = (each for each in linked if edge(each, self.parent(each)) is Relation.CONTINUED)
        self._continuations: dict[str, Session] = {
            id: max(candidates, key=continuation_rank)
            for id, candidates in grouped(going_on, parent_id).items()
        }
        """The best continuation of each compressed session, by the id of that session."""
        self.cycle_roots = frozenset(self._find_cycle_roots())
        """The oldest session of each cycle of parents (a damaged file), which no list would reach
        otherwise; one that is its own parent is a cycle, too."""

    def _find_cycle_roots(self) -> Iterator[str]:
        visited: set[str] = set()
        for first in chain.from_iterable(self._children.values()):
            path: list[Session] = []
            current: Session | None = first
            while current is not None and current.id not in visited:
                visited.add(current.id)
                path.append(current)
                current = self.parent(current)
            if current is not None and current in path:
                yield min(path[path.index(current) :], key=start_key).id

    def parent(self, session: Session) -> Session | None:
        """Return the parent of a session; None if it does not exist."""
        return None if session.parent_id is None else self.sessions.get(session.parent_id)

    def children_of(self, session_id: str) -> Sequence[Session]:
        """Return the sessions with this parent id, whether or not the parent exists."""
        return self._children.get(session_id, ())

    def chains(self) -> Iterator[tuple[Session, ...]]:
        """Yield the segments of each conversation, root first."""
        continuing = {each.id for each in self._continuations.values()} - self.cycle_roots
        for root in self.sessions.values():
            if root.id not in continuing:
                segments = [root]
                for segment in segments:  # it grows while it is read
                    following = self._continuations.get(segment.id)
                    if following is not None and following.id in continuing:
                        segments.append(following)
                yield tuple(segments)

    def relation(self, root: Session) -> tuple[Relation, str]:
        """Return the relation of a conversation, given by its root, to its parent, and what is
        peculiar about it, in words."""
        if root.parent_id is None and root.delegate_from is None:
            return Relation.ROOT, ""  # the usual case
        parent = self.parent(root)
        relation = edge(root, parent)
        if root.id in self.cycle_roots:
            return Relation.ORPHAN, _("its parents form a cycle")
        if relation is Relation.CONTINUED and parent is not None:
            return self._stale_sibling(root, parent)
        if relation is Relation.ROOT and root.delegate_from == ORPHANED:
            return relation, _("possibly a subagent")
        return relation, _(_NOTES.get(relation, ""))

    def _stale_sibling(self, root: Session, parent: Session) -> tuple[Relation, str]:
        """Return the relation of a child that could continue a compressed session, but lost to
        another."""
        winner = self._continuations[parent.id]
        early = parent.ended_at is not None and start_key(root)[0] < parent.ended_at - _RACE_SECONDS
        if early and root.ended_at is not None and winner.end_reason == "compression":
            return Relation.DELEGATED, ""  # an unmarked subagent of a session compressed later
        return Relation.CONTINUED, _("a stale sibling of {session}", session=winner.id)
