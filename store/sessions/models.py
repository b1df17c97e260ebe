"""Immutable data classes of conversations and their lineage.

Times are Unix seconds (float) or None; money is USD; sizes are bytes. Text is as stored (see
`text.as_text`): callers must pass it through `printable` before they print it.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import fsum
from typing import NamedTuple

from .session import Session, Tokens

FAR_PAST = float("-inf")
"""Sort value of an unknown time."""


class View(StrEnum):
    """A selection of conversations that a list shows."""

    CHATS = "chats"
    AUTOMATION = "automation"
    ARCHIVED = "archived"
    ALL = "all"


class Sort(StrEnum):
    """The order of a list: newest, most or biggest first, titles A to Z."""

    ACTIVITY = "activity"
    STARTED = "started"
    MESSAGES = "messages"
    TOKENS = "tokens"
    COST = "cost"
    SIZE = "size"
    TITLE = "title"


class ConversationKind(StrEnum):
    """Kind of a conversation."""

    CHAT = "chat"
    AUTOMATION = "automation"
    SUBAGENT = "subagent"


class Status(StrEnum):
    """State of a session or conversation."""

    LIVE = "live"
    OPEN = "open"
    ENDED = "ended"
    EMPTY = "empty"


class Relation(StrEnum):
    """Meaning of the link from a session to its parent."""

    ROOT = "root"
    CONTINUED = "continued"
    BRANCHED = "branched"
    DELEGATED = "delegated"
    RESET = "reset"
    UNKNOWN = "unknown"
    ORPHAN = "orphan"


def newest_activity(segments: Sequence[Session]) -> float:
    """Return the newest activity of any segment; `FAR_PAST` if none is known."""
    moments = (segment.last_active for segment in segments)
    return max((moment for moment in moments if moment is not None), default=FAR_PAST)


def known_sum(amounts: Iterable[float | None]) -> float | None:
    """Add up the known amounts, in any order with the same result; None if none is known."""
    known = [amount for amount in amounts if amount is not None]
    return fsum(known) if known else None


def start_key(session: Session) -> tuple[float, str]:
    """Sort key: the start, an unknown one first, then the id."""
    return FAR_PAST if session.started_at is None else session.started_at, session.id


class Conversation(NamedTuple):
    """One entry of the list: a whole compression chain."""

    segments: tuple[Session, ...]
    """Root first; never empty."""
    relation: Relation
    """Relation of the root to its parent."""
    kind: ConversationKind
    status: Status
    title: str | None
    """That of the tip, else of the newest segment that has one (Hermes 0.22 falls back to the
    root's)."""
    last_active: float | None
    branches: int = 0
    subagents: int = 0
    """All delegated descendants, nested ones too."""
    preview: str = ""
    """First real user text on one line; empty until read, and without any text."""
    rows: int | None = None
    """Chat messages shown by default over all segments; None until counted."""
    size: int | None = None
    """Bytes that deleting it frees, with its subagents and its share of the search index; None
    until measured.

    `list --sort size` of the command line puts the bytes of message content here.
    """
    note: str = ""
    """A peculiarity, in a few words: "possibly a subagent", "its parent is gone" …"""
    tree_cost_usd: float | None = None
    """Cost with all subagents, nested ones too, whose rows Hermes bills apart; None if none of them
    has a known cost. Branches are conversations of their own."""
    parent_root_id: str | None = None
    """Root id of the conversation that it is a child of; None at the top, or if that is gone."""
    new_messages: int = 0
    """Messages that are new to the user, as far as they have been looked for."""
    first_new: int | None = None
    """The id of the first of them."""
    waits: bool = False
    """Whether it waits for the user."""

    @property
    def id(self) -> str:
        """Id of the tip, which a resume opens."""
        return self.segments[-1].id

    @property
    def root(self) -> Session:
        """The first segment."""
        return self.segments[0]

    @property
    def tip(self) -> Session:
        """The last segment."""
        return self.segments[-1]

    @property
    def root_id(self) -> str:
        """Id of the first segment."""
        return self.segments[0].id

    @property
    def source(self) -> str:
        """Source of the root; a continuation may have another one."""
        return self.root.source

    @property
    def archived(self) -> bool:
        """Whether it is archived: Hermes checks the root alone (0.22, observed)."""
        return self.root.archived

    @property
    def hidden(self) -> bool:
        """Whether Hermes hides it (0.20 and later), also by the root alone."""
        return self.root.hidden

    @property
    def pinned(self) -> bool:
        """Whether any segment is pinned."""
        return any(segment.pinned for segment in self.segments)

    def _newest(self, field: str) -> str | None:
        values = (getattr(segment, field) for segment in reversed(self.segments))
        return next(filter(None, values), None)

    @property
    def model(self) -> str | None:
        """Model of the newest segment that names one."""
        return self._newest("model")

    @property
    def cwd(self) -> str | None:
        """Working directory of the newest segment that names one."""
        return self._newest("cwd")

    @property
    def git_branch(self) -> str | None:
        """Git branch of the newest segment that names one."""
        return self._newest("git_branch")

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags of any segment, in order."""
        return tuple(sorted({tag for segment in self.segments for tag in segment.tags}))

    @property
    def tokens(self) -> Tokens:
        """Sum over the segments."""
        return Tokens(*map(sum, zip(*(segment.tokens for segment in self.segments), strict=True)))

    @property
    def cost_usd(self) -> float | None:
        """Its own cost, without its subagents; see `known_sum`."""
        return known_sum(segment.cost_usd for segment in self.segments)

    @property
    def is_empty(self) -> bool:
        """Whether no segment has a message."""
        return not any(segment.has_messages for segment in self.segments)

    @property
    def is_attached_subagent(self) -> bool:
        """Whether it is a subagent whose parent exists, so that it is listed under that."""
        return self.relation is Relation.DELEGATED and self.parent_root_id is not None

    @property
    def view(self) -> View | None:
        """The view that lists it; None if only `View.ALL` does."""
        if self.hidden or self.is_attached_subagent:
            return None
        if self.archived:
            return View.ARCHIVED
        return View.CHATS if self.kind is ConversationKind.CHAT else View.AUTOMATION

    @property
    def is_automation(self) -> bool:
        """Whether nobody typed into it: what the view of that name lists, archived ones too."""
        return self.kind is not ConversationKind.CHAT and self.relation is not Relation.DELEGATED

    @property
    def tool_call_count(self) -> int:
        """Sum of the stored counters."""
        return sum(s.tool_call_count for s in self.segments)

    @property
    def message_count(self) -> int:
        """`rows`, or the sum of the stored counters until they have been counted."""
        return self.rows if self.rows is not None else sum(s.message_count for s in self.segments)


class Node(NamedTuple):
    """One session in a lineage tree."""

    session: Session
    parent_id: str | None
    """Id of the parent node; None for the top one."""
    relation: Relation
    on_path: bool
    """Whether it is a segment of the chain of `Lineage.focus`."""
    status: Status
    rows: int = 0
    """Chat messages shown by default in this session alone."""
    note: str = ""
    name: str = ""
    """Its title, else its first request (of a subagent: the task), else a note that there is no
    text."""
    tree_cost_usd: float | None = None
    """Cost of this session, of those that continue it, and of all their subagents; None if none is
    known."""


class ResumeTarget(NamedTuple):
    """The session that a resume should open."""

    id: str
    reason: str


class Lineage(NamedTuple):
    """The family tree around one session."""

    focus: str
    resume: ResumeTarget
    """The tip of the conversation of the focus."""
    predicted: str
    """Id of the session that `hermes --resume=<resume.id>` opens by its own rules (0.18 and
    later)."""
    nodes: tuple[Node, ...]
    """Parents before children."""


class Hidden(NamedTuple):
    """Number of conversations that are not on screen, by reason."""

    automation: int = 0
    archived: int = 0
    other: int = 0
