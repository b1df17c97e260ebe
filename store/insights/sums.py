"""Sums as data: of one key, and of a period."""

from __future__ import annotations

from typing import NamedTuple

from ..sessions.session import Tokens


class Group(NamedTuple):
    """The sums of one key."""

    key: str
    conversations: frozenset[str] = frozenset()
    """Root ids of those that have a part in it."""
    sessions: int = 0
    """Begun in it."""
    messages: int = 0
    """Rows, shown or not, that came in it."""
    tokens: Tokens = Tokens()
    """Of the sessions begun in it: nobody recorded when each was spent."""
    estimated_usd: float = 0.0
    """Of those that have an estimate and no actual cost."""
    actual_usd: float = 0.0
    """Of those that have an actual cost."""
    unknown: int = 0
    """Sessions that used tokens and have no cost at all."""
    included: int = 0
    """Sessions whose cost a subscription includes, as Hermes says."""
    calls: int = 0
    """By tool: how often it was called."""
    results: int = 0
    """By tool: how often it answered."""
    failed: int = 0
    """By tool: how many of the answers tell of a failure."""

    @property
    def cost_usd(self) -> float:
        """What is known of the cost: actual where there is one, else estimated."""
        return self.estimated_usd + self.actual_usd

    @property
    def failure_rate(self) -> float | None:
        """Failed answers among all, from 0 to 1; None without an answer."""
        return self.failed / self.results if self.results else None


class Report(NamedTuple):
    """Sums over a period."""

    by: str
    period: str
    total: Group
    rows: tuple[Group, ...]
    """Times in order, all else in none."""
