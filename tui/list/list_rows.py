"""Rows of lists: conversations, hits, sessions, notes. The key of a row survives a re-read of the
list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hermes_browse.store.messages.chat_message import Hit, State
from hermes_browse.store.sessions.lineage import draw_tree
from hermes_browse.store.sessions.models import Conversation, Lineage, Node, View


class ConversationRow(NamedTuple):
    """A conversation; in a search it is above its hits, which `hits` counts."""

    conversation: Conversation
    hits: int = 0
    complete: bool = True
    """Whether preview and count have been read."""
    is_named: bool = False
    """Whether a search found it by its title or id."""

    @property
    def key(self) -> str:
        """By root, which stays when a chain grows."""
        return f"c{self.conversation.root_id}"


class JobRow(NamedTuple):
    """All runs of one cron job."""

    name: str
    """Its identity (see `list_model.job_key`)."""
    runs: Sequence[Conversation]
    """In the order of the list."""
    total: Conversation
    """Of all runs: sums of messages, tokens, cost and bytes; the rest is that of the newest run."""
    expanded: bool = False
    title: str = ""
    """Printable."""

    @property
    def key(self) -> str:
        """By job."""
        return f"j{self.name}"


class HitRow(NamedTuple):
    """A matching chat message, below its conversation."""

    hit: Hit
    conversation: Conversation | None

    @property
    def key(self) -> str:
        """By message."""
        return f"h{self.hit.message_id}"

    @property
    def state(self) -> State:
        """The state of the message; compacted also where a compression ended its session, as with
        `is:forgotten`."""
        segments = self.conversation.segments if self.conversation is not None else ()
        is_before = any(each.id == self.hit.session_id for each in segments[:-1])
        return State.COMPACTED if is_before and self.hit.state is State.LIVE else self.hit.state


class LineageRow(NamedTuple):
    """A session in the lineage tree."""

    node: Node
    guides: str
    """Tree lines before it."""
    is_target: bool
    """Whether a resume opens this session."""

    @property
    def key(self) -> str:
        """By session."""
        return f"l{self.node.session.id}"


class NoteRow(NamedTuple):
    """A sentence instead of rows."""

    text: str

    @property
    def key(self) -> str:
        """By sentence."""
        return f"n{self.text}"


class DrawnRow(Protocol):
    """A row of another screen, which formats itself."""

    @property
    def key(self) -> str:
        """Identifies the row when the list is read again."""
        ...

    def spans(self, width: int, now: float) -> list[tuple[str, str]]:
        """Return text and look of each part, exactly `width` cells together."""
        ...


class MoreRow(NamedTuple):
    """Placeholder for the hidden hits of a conversation."""

    root_id: str
    hidden: int
    conversation: Conversation | None = None

    @property
    def key(self) -> str:
        """By conversation."""
        return f"m{self.root_id}"


class SuggestionRow(NamedTuple):
    """Another search that has results, offered when this one has none."""

    text: str
    """Its description in a few words."""
    query: str
    view: View
    """The view it searches."""
    hits: int
    at_least: bool = False
    of_list: bool = False
    """Whether `hits` counts conversations."""
    profile: str = ""
    """The profile it searches; empty for this one."""

    @property
    def key(self) -> str:
        """By search."""
        return f"s{self.view.value} {self.profile} {self.query}"


ListRow = (
    ConversationRow | JobRow | HitRow | LineageRow | NoteRow | MoreRow | SuggestionRow | DrawnRow
)


class RowSource(Protocol):
    """Rows by index; a list requests only those on screen."""

    def __len__(self) -> int: ...

    def row(self, index: int) -> ListRow:
        """Return the row at an index."""
        ...

    def index_of(self, key: str) -> int | None:
        """Return the index of the row with a key; None if there is none."""
        ...


class FixedRows:
    """A `RowSource` that stores its rows."""

    def __init__(self, rows: Sequence[ListRow]) -> None:
        self._rows = list(rows)
        self._index = {row.key: index for index, row in enumerate(self._rows)}

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> ListRow:
        return self._rows[index]

    def index_of(self, key: str) -> int | None:
        return self._index.get(key)


def lineage_rows(lineage: Lineage) -> list[LineageRow]:
    """Build the rows of a lineage tree."""
    target = lineage.resume.id
    return [
        LineageRow(node, guides, node.session.id == target)
        for node, guides in draw_tree(lineage.nodes)
    ]
