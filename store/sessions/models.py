"""Conversations as data: frozen, free of SQL and of Textual.

Times are Unix seconds (float) or None; money is USD; sizes are bytes. Text is as stored (see
`text.as_text`), not yet printable: whoever paints it calls `printable`.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from .session import Session, Tokens

FAR_PAST = float("-inf")
"""Stands for a time that is not known."""


class View(StrEnum):
    """Which conversations a list shows."""

    CHATS = "chats"
    AUTOMATION = "automation"
    ARCHIVED = "archived"
    ALL = "all"


class Sort(StrEnum):
    """How a list is ordered; each has its natural direction (newest, most, biggest first; titles A to Z)."""

    ACTIVITY = "activity"
    STARTED = "started"
    MESSAGES = "messages"
    TOKENS = "tokens"
    COST = "cost"
    SIZE = "size"
    TITLE = "title"


class Kind(StrEnum):
    """What a conversation is."""

    CHAT = "chat"
    AUTOMATION = "automation"
    SUBAGENT = "subagent"


class Status(StrEnum):
    """How a session or conversation stands."""

    LIVE = "live"
    OPEN = "open"
    ENDED = "ended"
    EMPTY = "empty"


class Relation(StrEnum):
    """What a parent link means."""

    ROOT = "root"
    CONTINUED = "continued"
    BRANCHED = "branched"
    DELEGATED = "delegated"
    RESET = "reset"
    UNKNOWN = "unknown"
    ORPHAN = "orphan"


class Chain(NamedTuple):
    """The segments of one conversation, and how its root hangs on a parent."""

    segments: tuple[Session, ...]
    """Root first; never empty."""
    relation: Relation
    note: str

    @property
    def root(self) -> Session:
        """The first segment."""
        return self.segments[0]

    @property
    def tip(self) -> Session:
        """The last segment."""
        return self.segments[-1]

    @property
    def last_active(self) -> float:
        """Newest activity of any segment; the far past when none is known."""
        return newest_activity(self.segments)


def title_of(segments: Sequence[Session]) -> str | None:
    """The title of the tip, else the newest one of an earlier segment (0.22 falls back to that of the root)."""
    return next((each.title for each in reversed(segments) if each.title), None)


def newest_activity(segments: Sequence[Session]) -> float:
    """Newest activity of any segment; the far past when none is known."""
    return max(FAR_PAST if (moment := each.last_active) is None else moment for each in segments)


class Conversation(NamedTuple):
    """One line of the list: a whole compression chain, root to tip."""

    segments: tuple[Session, ...]
    """Root first; never empty."""
    relation: Relation
    """How the root hangs on its parent."""
    kind: Kind
    status: Status
    title: str | None
    """The tip's title, else the newest one of an earlier segment."""
    last_active: float | None
    branches: int = 0
    subagents: int = 0
    """All delegated descendants, nested ones too."""
    preview: str = ""
    """First real user text on one line; empty until read, or when there is no text at all."""
    rows: int | None = None
    """Chat messages shown by default over all segments; None until counted."""
    size: int | None = None
    """Bytes of message content; None until measured."""
    note: str = ""
    """What is odd about it, in a few words: "possibly a subagent", "parent is gone" …"""

    @property
    def id(self) -> str:
        """The tip: the segment a resume opens."""
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
        """Where the conversation began; a continuation may say otherwise."""
        return self.root.source

    @property
    def archived(self) -> bool:
        """Put away: Hermes goes by the root alone (0.22, observed)."""
        return self.root.archived

    @property
    def hidden(self) -> bool:
        """Hidden by Hermes (0.20 and later), again by the root."""
        return self.root.hidden

    @property
    def pinned(self) -> bool:
        """Pinned in any segment."""
        return any(segment.pinned for segment in self.segments)

    @property
    def model(self) -> str | None:
        """The newest model named."""
        return next((s.model for s in reversed(self.segments) if s.model), None)

    @property
    def cwd(self) -> str | None:
        """The newest working directory named."""
        return next((s.cwd for s in reversed(self.segments) if s.cwd), None)

    @property
    def git_branch(self) -> str | None:
        """The newest git branch named."""
        return next((s.git_branch for s in reversed(self.segments) if s.git_branch), None)

    @property
    def tokens(self) -> Tokens:
        """Sum over the segments."""
        return Tokens(*map(sum, zip(*(segment.tokens for segment in self.segments), strict=True)))

    @property
    def cost_usd(self) -> float | None:
        """Sum over the segments that know a cost; None when none does."""
        known = [paid for s in self.segments if (paid := s.cost_usd) is not None]
        return sum(known) if known else None

    @property
    def tool_call_count(self) -> int:
        """Sum of the stored counters."""
        return sum(s.tool_call_count for s in self.segments)

    @property
    def message_count(self) -> int:
        """Counted rows, or the stored counters until they have been counted."""
        return self.rows if self.rows is not None else sum(s.message_count for s in self.segments)

    def with_details(self, *, preview: str, rows: int) -> "Conversation":
        """The same conversation with what only its messages can tell."""
        return self._replace(preview=preview, rows=rows)


class Node(NamedTuple):
    """One session in a lineage tree."""

    session: Session
    parent_id: str | None
    """The node it hangs under, None for the top one."""
    relation: Relation
    on_path: bool
    """Part of the focus' own chain."""
    status: Status
    rows: int
    """Chat messages shown by default in this session alone."""
    note: str = ""
    name: str = ""
    """Its title, else its first request (of a subagent: the task), else why there is none."""


class ResumeTarget(NamedTuple):
    """What a resume would open."""

    id: str
    reason: str
    told: str = ""
    """The reason in the words of the screen; `reason` stays as it is for scripts."""


class TreeLine(NamedTuple):
    """A session in a drawn family tree."""

    node: Node
    guides: str
    """The tree lines before it, two cells per level."""


class Lineage(NamedTuple):
    """The family tree around one session."""

    focus: str
    resume: ResumeTarget
    """What we would resume: the tip of the focus' conversation."""
    predicted: str
    """What `hermes --resume=<resume.id>` opens by its own rules (0.18 and later)."""
    nodes: tuple[Node, ...]
    """Parents before children."""


class Hidden(NamedTuple):
    """Why conversations are not on screen: the parts sum up to what is missing."""

    automation: int = 0
    archived: int = 0
    other: int = 0
