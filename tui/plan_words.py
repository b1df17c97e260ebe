"""A plan in a line of words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from . import formats
from .formats import counted

if TYPE_CHECKING:
    from hermes_browse.store.prune.plan import Plan


def totals_line(plan: Plan, *, archive: bool = False) -> str:
    """`14 sessions · 1,204 messages · 4.1 MB · $1.20`; looks at every conversation of the plan.

    Args:
        plan: Any.
        archive: Without the subagents, which an archive leaves alone.
    """
    totals = plan.totals(subagents=not archive)
    parts = [
        counted(totals.sessions, "session"),
        counted(totals.messages, "message"),
        ("" if plan.is_measured else "measuring, so far ") + formats.size(totals.bytes),
        formats.money(totals.cost_usd),
    ]
    return " · ".join(part for part in parts if part)


def spared_line(plan: Plan) -> str:
    """`3 spared: 2 pinned, 1 live`; empty when none is."""
    counts = Counter(each.why.code for each in plan.spared)
    kinds = ", ".join(f"{count:,} {code}" for code, count in counts.most_common())
    return f"{len(plan.spared):,} spared: {kinds}" if plan.spared else ""
