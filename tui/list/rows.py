"""Rows of lists: conversations, hits, sessions, sentences. The key of a row stays when the list is read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hermes_browse.store.messages.models import Hit
from hermes_browse.store.sessions.lineage import draw_tree
from hermes_browse.store.sessions.models import Conversation, Lineage, Node, View


class ConversationRow(NamedTuple):
    """A conversation; in a search it stands above its hits, and `hits` counts them."""

    conversation: Conversation
    hits: int = 0
    complete: bool = True
    """Whether preview and count have been read."""

    @property
    def key(self) -> str:
        """The root: it stays when a chain grows."""
        return f"c{self.conversation.root_id}"


class JobRow(NamedTuple):
    """All runs of one cron job."""

    name: str
    """What identifies the job."""
    runs: Sequence[Conversation]
    """In the order of the list."""
    expanded: bool = False
    title: str = ""
    """What it is called, printable."""

    @property
    def key(self) -> str:
        """The job."""
        return f"j{self.name}"


class HitRow(NamedTuple):
    """A chat message that matched, below its conversation."""

    hit: Hit
    conversation: Conversation | None

    @property
    def key(self) -> str:
        """The message."""
        return f"h{self.hit.message_id}"


class LineageRow(NamedTuple):
    """A session in the family tree."""

    node: Node
    guides: str
    """The tree lines before it."""
    is_target: bool
    """Whether a resume opens this one."""

    @property
    def key(self) -> str:
        """The session."""
        return f"l{self.node.session.id}"


class NoteRow(NamedTuple):
    """A sentence in the place of rows."""

    text: str

    @property
    def key(self) -> str:
        """The sentence."""
        return f"n{self.text}"


class DrawnRow(Protocol):
    """A row of another screen, which draws itself."""

    @property
    def key(self) -> str:
        """Identifies the row when the list is read again."""
        ...

    def spans(self, width: int, now: float) -> list[tuple[str, str]]:
        """Text and look of each part, together exactly `width` cells."""
        ...


class MoreRow(NamedTuple):
    """Hits of a conversation that are not shown."""

    root_id: str
    hidden: int
    conversation: Conversation | None = None

    @property
    def key(self) -> str:
        """The conversation."""
        return f"m{self.root_id}"


class SuggestionRow(NamedTuple):
    """Another search that finds something, offered when this one found nothing."""

    text: str
    """What it is, in a few words."""
    query: str
    view: View
    """Where it looks."""
    hits: int
    at_least: bool = False
    of_list: bool = False
    """Whether `hits` counts conversations."""
    profile: str = ""
    """Another profile it looks in; empty for this one."""

    @property
    def key(self) -> str:
        """The search."""
        return f"s{self.view.value} {self.profile} {self.query}"


ListRow = ConversationRow | JobRow | HitRow | LineageRow | NoteRow | MoreRow | SuggestionRow | DrawnRow


class RowSource(Protocol):
    """Rows by index; only those on screen are asked for."""

    def __len__(self) -> int: ...

    def row(self, index: int) -> ListRow:
        """The row at an index."""
        ...

    def index_of(self, key: str) -> int | None:
        """Where the row with a key is."""
        ...


class FixedRows:
    """A source that holds its rows."""

    def __init__(self, rows: Sequence[ListRow]) -> None:
        self._rows = list(rows)
        self._index = {row.key: index for index, row in enumerate(self._rows)}

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> ListRow:
        """The row at an index."""
        return self._rows[index]

    def index_of(self, key: str) -> int | None:
        """Where the row with a key is."""
        return self._index.get(key)


def lineage_rows(lineage: Lineage) -> list[LineageRow]:
    """The family tree line by line."""
    target = lineage.resume.id
    return [LineageRow(node, guides, node.session.id == target) for node, guides in draw_tree(lineage.nodes)]
