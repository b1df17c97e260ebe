"""Sentences that screens and command line say alike: of a plan to clean up, of changes of files, of
a run, and of what happened since the user looked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from .formats import cost_below, counted, dollars, joined, money, size, timestamp

if TYPE_CHECKING:
    from hermes_browse.store.changes.changes import Changes, FileChange
    from hermes_browse.store.cleanup.plan import Plan
    from hermes_browse.store.run.run import Run, Stretch
    from hermes_browse.store.sessions.catalog import SpareReason
    from hermes_browse.store.sessions.models import Conversation
    from hermes_browse.store.since.since import SinceItem

# A plan


def totals_line(plan: Plan) -> str:
    """`1,204 messages · 4.1 MB · $3.40 with subagents · 14 sessions`; visits every conversation of
    the plan."""
    totals = plan.totals()
    cost = money(totals.cost_usd)
    if cost and totals.cost_usd != plan.totals(is_archive=True).cost_usd:
        cost = _("{cost} with subagents", cost=cost)
    hidden = totals.messages - totals.messages_shown if plan.is_measured else 0
    along = ngettext(
        "with 1 hidden message", "with {count:,} hidden messages", hidden, count=hidden
    )
    return joined(
        counted(totals.messages - hidden, "message"),
        ("{size}" if plan.is_measured else _("measuring, so far {size}")).format(
            size=size(totals.bytes)
        ),
        cost,
        along if hidden else "",
        counted(totals.sessions, "session"),
    )


def along_line(plan: Plan, marks: Container[str]) -> str:
    """`1 marked subagent goes along with its parent`; empty if none does."""
    count = sum(session.id in marks for planned in plan.selected for session in planned.subagents)
    if not count:
        return ""
    return ngettext(
        "1 marked subagent goes along with its parent",
        "{count:,} marked subagents go along with their parents",
        count,
        count=count,
    )


def spared_line(plan: Plan) -> str:
    """`3 spared: 2 pinned, 1 live`; empty if none is."""
    if not plan.spared:
        return ""
    kinds = count_reasons(each.why for each in plan.spared)
    return _("{count:,} protected: {kinds}", count=len(plan.spared), kinds=kinds)


def count_reasons(reasons: Iterable[SpareReason]) -> str:
    """Return the number of each kind of reason, the most frequent first: `2 pinned, 1 live`."""
    texts = {
        "pinned": pgettext("spared", "{count:,} pinned"),
        "live": pgettext("spared", "{count:,} live"),
        "leased": pgettext("spared", "{count:,} leased"),
        "recent": pgettext("spared", "{count:,} recent"),
        "open": pgettext("spared", "{count:,} open"),
        "hidden": pgettext("spared", "{count:,} hidden"),
        "subagent": pgettext("spared", "{count:,} subagent"),
        "changed": pgettext("spared", "{count:,} changed"),
    }
    counts = Counter(each.code for each in reasons).most_common()
    return pgettext("list", ", ").join(texts[code].format(count=count) for code, count in counts)


# Changes and runs

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


# Since the user looked

LANE_NAMES: Mapping[str, Callable[[], str]] = {
    "waiting": lambda: _("waits for you"),
    "wrong": lambda: _("went wrong"),
    "new": lambda: _("new"),
    "running": lambda: _("running"),
}


def why(item: SinceItem) -> str:
    """Return why an item is there; what is inferred says so."""
    text = one_line(item.why, 300)
    return text if item.certain else _("{why} (inferred)", why=text)
