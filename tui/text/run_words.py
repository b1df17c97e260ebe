"""Words that screen and command line use alike for the run of a conversation."""

from __future__ import annotations

from collections.abc import Iterator

from hermes_browse.store.changes.run import Run, RunMark, RunRow, Stretch
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from .formats import counted, dollars, duration, joined, name, own_and_tree, timestamp


def facts(run: Run) -> str:
    """Return when it went, its turns and calls, and its cost without and with all subagents."""
    conversation = run.conversation
    begin = timestamp(conversation.root.started_at, seconds=True)
    end = timestamp(conversation.last_active, seconds=True)
    return joined(
        f"{begin} – {end}",
        counted(len(run.turns), "turn"),
        counted(len(run.tools), "call"),
        own_and_tree(conversation.cost_usd, conversation.tree_cost_usd, dollars),
    )


def run_events(run: Run) -> Iterator[RunMark]:
    """Yield what stands out, then the parts, then the subagents."""
    yield from run.marks
    for part in run.stretches:
        told = joined(part.model, cache_share(part))
        if told or part.cost_usd is not None:  # else as of an old transcript
            words = _("part: {facts}", facts=told) if told else _("part")
            yield RunMark("part", part.first, words, part.cost_usd)
    for subagent in run.subagents:
        begin, end = subagent.root.started_at, ended_at(subagent)
        took = duration(end - begin) if begin is not None and end is not None else ""
        words = _("subagent: {facts}", facts=joined(took, name(subagent)))
        yield RunMark("subagent", RunRow(subagent.id, at=begin), words, subagent.cost_usd)


def cache_share(part: Stretch) -> str:
    """Return how much came from the cache; empty if that is not stored."""
    share = part.cache_share
    return "" if share is None else _("cache {share}%", share=round(100 * share))


def ended_at(subagent: Conversation) -> float | None:
    """Return when a subagent ended, or was last active."""
    return subagent.tip.ended_at or subagent.last_active
