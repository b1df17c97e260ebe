"""What a conversation changed, and how it went, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from hermes_browse.store.changes.changes import Changes, FileChange
from hermes_browse.store.changes.run import Run, Stretch
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from .formats import cost_below, counted, dollars, joined, timestamp

_DISK = {
    "same": N_("still the same on disk"),
    "changed": N_("changed since"),
    "gone": N_("gone from the disk"),
}


def summary(changes: Changes) -> str:
    """Count the files, and the edits that failed."""
    facts = [counted(len(changes.files), "file")]
    if changes.failed:
        facts.append(
            ngettext(
                "{count:,} edit failed",
                "{count:,} edits failed",
                changes.failed,
                count=changes.failed,
            )
        )
    return " · ".join(facts)


def notes(change: FileChange) -> Iterator[str]:
    """Yield what is not known of a change, and what became of the file since."""
    if not change.is_known_before:
        yield _("what stood there before is not known")
    elif not change.is_exact:
        yield _("not all is known")
    if change.disk is not None:
        yield _(_DISK[change.disk])


def author(session_id: str, own: Collection[str]) -> str:
    """Name who did something: the conversation of the sessions `own`, or a subagent by its id."""
    return _("itself") if session_id in own else f"…{one_line(session_id[-6:])}"


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
