"""The shapes of a plan: what would go, what is spared and why, and the sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..sessions.models import Conversation
from ..sessions.session import Session
from ..wording import _
from .rules import Standing
from .sizes import COUNTED, Sizes, added
from .spare import Why


class Planned(NamedTuple):
    """A conversation that would go."""

    conversation: Conversation
    """Its `size` is what it would free, its subagents included; None until all of them are measured."""
    standing: Standing
    subagents: tuple[Session, ...]
    """Sessions that a delete takes along, an archive not."""
    own: Sizes
    """Of its segments; where they are not measured yet, their rows alone."""
    along: Sizes
    """Of the subagents, likewise."""

    @property
    def is_measured(self) -> bool:
        """Whether its bytes are known."""
        return self.conversation.size is not None

    @property
    def sessions(self) -> tuple[Session, ...]:
        """Segments and subagents."""
        return (*self.conversation.segments, *self.subagents)

    @property
    def session_ids(self) -> tuple[str, ...]:
        """Segments and subagents."""
        return tuple(session.id for session in self.sessions)

    def measured(self, sizes: Mapping[str, Sizes]) -> Planned:
        """The same with its sizes; as it is, where one of them is missing.

        Args:
            sizes: By session id.
        """
        if not all(session.id in sizes for session in self.sessions):
            return self
        own = added(sizes[segment.id] for segment in self.conversation.segments)
        along = added(sizes[segment.id] for segment in self.subagents)
        return self._replace(
            conversation=self.conversation._replace(size=own.total + along.total), own=own, along=along
        )

    @property
    def cost_usd(self) -> float:
        """Of segments and subagents; unknown costs count as none."""
        return (self.conversation.cost_usd or 0.0) + sum(s.cost_usd or 0.0 for s in self.subagents)


class Spared(NamedTuple):
    """A conversation that the rules mean and that stays all the same."""

    conversation: Conversation
    why: Why


class Totals(NamedTuple):
    """A plan in numbers."""

    conversations: int
    sessions: int
    messages: int
    """Rows of `messages`, shown or not."""
    bytes: int
    """Of what is measured."""
    cost_usd: float


class Plan(NamedTuple):
    """What would happen."""

    would: tuple[Planned, ...]
    """Longest idle first."""
    spared: tuple[Spared, ...]
    reparented: tuple[Session, ...]
    """Sessions that stay and lose their parent in a delete."""

    @property
    def counted(self) -> str:
        """What the bytes are, in a sentence."""
        return _(COUNTED)

    @property
    def is_measured(self) -> bool:
        """Whether the bytes of all that would go are known."""
        return all(each.is_measured for each in self.would)

    def totals(self, *, subagents: bool = True) -> Totals:
        """The sums over what would go.

        Args:
            subagents: False for an archive, which leaves subagents alone.
        """
        sizes = added(each.own for each in self.would)
        sessions = sum(len(each.conversation.segments) for each in self.would)
        cost = sum(each.conversation.cost_usd or 0.0 for each in self.would)
        if subagents:
            sizes = added([sizes, *(each.along for each in self.would)])
            sessions += sum(len(each.subagents) for each in self.would)
            cost = sum(each.cost_usd for each in self.would)
        return Totals(len(self.would), sessions, sizes.rows, sizes.total, cost)
