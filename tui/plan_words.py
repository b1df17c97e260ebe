"""A plan in a line of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container
from typing import TYPE_CHECKING

from hermes_browse.store.wording import _, ngettext, pgettext

from . import formats
from .formats import counted

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.plan import Plan


_KINDS: dict[str, Callable[[], str]] = {
    "pinned": lambda: pgettext("spared", "{count:,} pinned"),
    "live": lambda: pgettext("spared", "{count:,} live"),
    "leased": lambda: pgettext("spared", "{count:,} leased"),
    "recent": lambda: pgettext("spared", "{count:,} recent"),
    "open": lambda: pgettext("spared", "{count:,} open"),
    "hidden": lambda: pgettext("spared", "{count:,} hidden"),
    "unmarked": lambda: pgettext("spared", "{count:,} unmarked"),
    "subagent": lambda: pgettext("spared", "{count:,} subagent"),
}


def spared_kinds(counts: Counter[str]) -> str:
    """`2 pinned, 1 live`.

    Args:
        counts: By the code of the reason.
    """
    told = (
        (_KINDS[code]() if code in _KINDS else f"{{count:,}} {code}", count) for code, count in counts.most_common()
    )
    return _(", ").join(words.format(count=count) for words, count in told)


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
        ("{size}" if plan.is_measured else _("measuring, so far {size}")).format(size=formats.size(totals.bytes)),
        formats.money(totals.cost_usd),
    ]
    return " · ".join(part for part in parts if part)


def along_line(plan: Plan, marks: Container[str]) -> str:
    """`1 marked subagent goes along with its parent`: marked, and no conversation of the plan; empty when none is."""
    count = sum(session.id in marks for each in plan.would for session in each.subagents)
    if not count:
        return ""
    told = ngettext(
        "1 marked subagent goes along with its parent", "{count:,} marked subagents go along with their parents", count
    )
    return told.format(count=count)


def spared_line(plan: Plan) -> str:
    """`3 spared: 2 pinned, 1 live`; empty when none is."""
    if not plan.spared:
        return ""
    kinds = spared_kinds(Counter(each.why.code for each in plan.spared))
    return _("{count:,} spared: {kinds}").format(count=len(plan.spared), kinds=kinds)
