"""The family tree of a conversation with its compressions, as it has been read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.sessions.models import Lineage, Node

if TYPE_CHECKING:
    from hermes_browse.store.compression.compactions import Compaction


class SessionEntry(NamedTuple):
    node: Node
    is_target: bool
    """Whether a resume opens this session."""

    @property
    def session_id(self) -> str:
        return self.node.session.id

    @property
    def key(self) -> str:
        return session_key(self.session_id)


class CompactionEntry(NamedTuple):
    number: int
    """Among those of its conversation, counted from 0."""
    compaction: Compaction
    outcome: str
    """`27 messages became a summary`."""
    tokens: str
    """The size of the context before and after: `~1.7k → 198 tokens`."""

    @property
    def session_id(self) -> str:
        """The session whose messages were replaced."""
        return self.compaction.session_id

    @property
    def key(self) -> str:
        return compaction_key(self.compaction, self.number)


Entry = SessionEntry | CompactionEntry
Entries = Mapping[str | None, Sequence[Entry]]
"""Entries by the session that they stand under, top to bottom; by None those at the top."""


class Family(NamedTuple):
    lineage: Lineage
    entries: Entries
    compactions: Sequence[Compaction]
    """Of the conversation of the focus, oldest first."""
    lost: Mapping[str, str] = {}
    """How much a compression lost, in words, by the key of its entry; others are not known."""


def session_key(session_id: str) -> str:
    """Return the key of a session's entry, which stays when the tree is read again."""
    return f"l{session_id}"


def compaction_key(compaction: Compaction, number: int) -> str:
    """Return the key of a compression's entry, given its number in its conversation."""
    return f"x{compaction.session_id} {number}"
