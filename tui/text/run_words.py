"""How a conversation went, in words."""

from __future__ import annotations

from hermes_browse.store.run.run import Run, Stretch
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from .formats import cost_below, counted, dollars, joined, timestamp


def facts(run: Run) -> str:
    """Return when it went, its turns and calls, and its cost without and with all subagents."""
    conversation = run.conversation
    cost, tree_cost = conversation.cost_usd, conversation.tree_cost_usd
    parts = joined(
        span(conversation.root.started_at, conversation.last_active),
        counted(len(run.turns), "turn"),
        counted(len(run.tools), "call"),
        f"{dollars(cost)} {cost_below(cost, tree_cost, dollars)}".strip(),
    )
    return one_line(parts)


def span(start: float | None, end: float | None) -> str:
    return f"{timestamp(start, seconds=True)} – {timestamp(end, seconds=True)}"


def cache_share(part: Stretch) -> str:
    """Return how much came from the cache; empty if that is not stored."""
    share = part.cache_share
    return "" if share is None else _("cache {share} %", share=round(100 * share))


def ended_at(subagent: Conversation) -> float | None:
    """Return when a subagent ended, or was last active."""
    return subagent.tip.ended_at or subagent.last_active


def has_tokens(run: Run) -> bool:
    """Whether Hermes stored tokens for single messages."""
    return any(row.tokens for row in run.rows)
