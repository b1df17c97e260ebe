"""A plan of a clean-up in words: its totals, what goes along, what is protected."""

from __future__ import annotations

from collections.abc import Container

from hermes_browse.store.cleanup.plan import Plan
from hermes_browse.store.cleanup.selection import count_reasons
from hermes_browse.store.wording import _, ngettext

from . import formats


def totals_line(plan: Plan) -> str:
    """`1,204 messages · 4.1 MB · $3.40 with subagents · 14 sessions`; visits every conversation of
    the plan."""
    totals = plan.totals()
    cost = formats.money(totals.cost_usd)
    if cost and totals.cost_usd != plan.totals(is_archive=True).cost_usd:
        cost = _("{cost} with subagents", cost=cost)
    hidden = totals.messages - totals.messages_shown if plan.is_measured else 0
    along = ngettext(
        "with 1 hidden message", "with {count:,} hidden messages", hidden, count=hidden
    )
    return formats.joined(
        formats.counted(totals.messages - hidden, "message"),
        ("{size}" if plan.is_measured else _("measuring, so far {size}")).format(
            size=formats.size(totals.bytes)
        ),
        cost,
        along if hidden else "",
        formats.counted(totals.sessions, "session"),
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
