"""Immutable data classes: sessions, and the conversations that they make.

Times are Unix seconds (float) or None; money is USD; sizes are bytes. Text is as stored (see
`text.as_text`): callers must pass it through `printable` before they print it.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import fsum
from typing import NamedTuple

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


class Tokens(NamedTuple):
    """Token counts as Hermes counted them; cache reads are not part of `input`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """Input, output and both cache counts; reasoning is part of the output."""
        return sum(self[:4])


class Session(NamedTuple):
    """One row of `sessions`, without its large columns; columns that a store lacks are None or 0.

    No dataclass: importing `dataclasses` alone would delay the first rows by a tenth, and 100,000
    frozen objects take more than twice as long to build and four times as long to compare.
    """

    id: str
    source: str
    parent_id: str | None = None
    title: str | None = None
    model: str | None = None
    cwd: str | None = None
    """The working directory."""
    git_branch: str | None = None
    end_reason: str | None = None
    session_key: str | None = None
    """Key of a chat that came through a gateway."""
    started_at: float | None = None
    ended_at: float | None = None
    archived: bool = False
    pinned: bool = False
    """Protected from pruning (0.20 and later)."""
    hidden: bool = False
    """Hidden by Hermes (0.20 and later)."""
    message_count: int = 0
    """The stored counter: a hint, not a count of rows."""
    tool_call_count: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None
    """Actual cost, else the estimate of Hermes."""
    last_active: float | None = None
    """Time of the newest message or recorded activity, else the start."""
    branched_from: str | None = None
    """The `_branched_from` marker of `model_config` (0.16 and later)."""
    delegate_from: str | None = None
    """The `_delegate_from` marker (0.17 and later), `__orphaned__` where a migration guessed."""
    reset_from: str | None = None
    """The `_reset_from` marker (0.20 and later)."""
    busy: bool = False
    """Whether a live turn lease or compression lock names it."""
    has_messages: bool = True
    """Whether it has any row in `messages`."""
    tags: tuple[str, ...] = ()
    """Those of the user, in order (`notes/notes_file.py`)."""

    @property
    def tokens(self) -> Tokens:
        """The five counts as one value."""
        return Tokens(
            self.input_tokens,
            self.output_tokens,
            self.cache_read_tokens,
            self.cache_write_tokens,
            self.reasoning_tokens,
        )


def known_sum(amounts: Iterable[float | None]) -> float | None:
    """Add up the known amounts, in any order with the same result; None if none is known."""
    known = [amount for amount in amounts if amount is not None]
    return fsum(known) if known else None


def newest_of(segments: Sequence[Session], field: str) -> str | None:
    """Return a field of the newest segment that has one."""
    values = (getattr(segment, field) for segment in reversed(segments))
    return next(filter(None, values), None)


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
    shown_count: int | None = None
    """Chat messages shown by default over all segments; None until counted."""
    size: int | None = None
    """Bytes that deleting it frees, with its subagents and its share of the search index, or those
    of message content (`list --sort size`); None until measured."""
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
    def session_ids(self) -> list[str]:
        """Ids of all segments."""
        return [segment.id for segment in self.segments]

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

    @property
    def model(self) -> str | None:
        """Model of the newest segment that names one."""
        return newest_of(self.segments, "model")

    @property
    def cwd(self) -> str | None:
        """Working directory of the newest segment that names one."""
        return newest_of(self.segments, "cwd")

    @property
    def git_branch(self) -> str | None:
        """Git branch of the newest segment that names one."""
        return newest_of(self.segments, "git_branch")

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
        """`shown_count`, or the sum of the stored counters until they have been counted."""
        if self.shown_count is not None:
            return self.shown_count
        return sum(segment.message_count for segment in self.segments)


class Node(NamedTuple):
    """One session in a lineage tree."""

    session: Session
    above: str | None
    """Id of the session that it stands under in a tree: all parts of a conversation stand under the
    parent of the first one, and what is nested too deep under the deepest session."""
    relation: Relation
    on_path: bool
    """Whether it is a segment of the chain of `Lineage.focus`."""
    status: Status
    shown_count: int = 0
    """Chat messages shown by default in this session alone."""
    note: str = ""
    name: str = ""
    """Its title, else its first request, else a note that there is no text."""
    tree_cost_usd: float | None = None
    """Cost of this session, of those that continue it, and of all their subagents."""


class Lineage(NamedTuple):
    """The family tree around one session."""

    focus: str
    target: str
    """Id of the session that a resume should open: the tip of the conversation of the focus."""
    reason: str
    """Why that one."""
    predicted: str
    """Id of the session that `hermes --resume=<target>` opens by its own rules (0.18)."""
    nodes: tuple[Node, ...]
    """Parents before children."""
