"""What happened since the user looked: what waits, went wrong, is new or is running.

What rows of a list and the head say of it stands here, as data alone, for the first frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class SinceItem(NamedTuple):
    """One thing that happened."""

    lane: str
    """`waiting`, `wrong`, `new` or `running`."""
    session_id: str | None
    """The tip of its conversation, once it is named; None for a cron job without a session."""
    why: str
    message_id: int | None = None
    at: float | None = None
    """Unix seconds."""
    certain: bool = True
    """False if it is inferred from what was said or done."""
    title: str = ""
    source: str = ""
    job: str = ""
    """The id of a cron job whose run it is."""
    place: str = ""
    """The profile or host, among several."""


class Unread(NamedTuple):
    """The new messages of a conversation."""

    amount: int
    """How many."""
    first_message_id: int
    at: float | None
    """Unix seconds of the newest one."""


class Attention(NamedTuple):
    """What the list shows of it in its rows."""

    unread: Mapping[str, Unread] = MappingProxyType({})
    """New messages, by root id."""
    waiting: frozenset[str] = frozenset()
    """Root ids of conversations that wait for the user."""
    failures: int = 0
    """Runs of cron jobs that failed since everything was read."""
    have_marks: bool = True
    """Whether read marks are kept already; without them nothing is new."""
