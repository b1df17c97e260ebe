"""A plan as a screen shows it, worked out beside the screen's thread: rows, sums, what goes of the map."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.wording import ngettext

from .clean_rows import PlanOrder
from .list_model import Details, job_name
from .plan_rows import JobSum, LeftOut, PlanRows, freed_by
from .plan_words import along_line, spared_line, totals_line

if TYPE_CHECKING:
    from hermes_browse.store.catalog import Catalog
    from hermes_browse.store.cleanup.plan import Plan
    from hermes_browse.store.cleanup.protection import Why


class PlanLooks(NamedTuple):
    """How a plan is to be shown."""

    details: Details
    """Previews read so far."""
    left_out: LeftOut
    """What stays by hand; the rows look at it when they are drawn."""
    empty: str
    """A sentence for a plan in which nothing goes."""
    opened: frozenset[str]
    """Keys of jobs whose runs are shown."""


class PlanView(NamedTuple):
    """What a screen shows of a plan; nothing in it needs a look at every conversation any more."""

    rows: PlanRows | None
    """None where the rows stay as they are laid out."""
    plan: Plan
    """In the order of the rows."""
    sums: dict[str, JobSum]
    """Of the jobs, for rows that stay."""
    goes: int
    """Conversations."""
    bytes: int
    totals: str
    stays: str
    is_measured: bool
    freed: dict[str, int]
    """Bytes that go, by the tip of each conversation."""
    roots: frozenset[str]
    """All the plan means, what is left out by hand included."""
    spared: dict[str, Why]
    """Why others stay, by root."""
    goes_of: frozenset[str]
    """All sessions that go."""
    gone: tuple[str, ...]
    """Left out by hand once, and in this plan no more."""


def look_at(
    plan: Plan,
    catalog: Catalog,
    left_out: frozenset[str],
    rows: PlanRows | PlanLooks,
    marks: frozenset[str],
    order: PlanOrder,
) -> PlanView:
    """What a screen shows of a plan.

    Args:
        plan: By the rules.
        catalog: It was made from.
        left_out: Roots that stay by hand, at this moment.
        rows: Those that stay as they are laid out, or how they are to be.
        marks: Tips of what was marked by hand.
        order: Of rows that are laid out now; those that stay keep theirs.
    """
    if not isinstance(rows, PlanRows):
        plan = plan._replace(would=order.sorted(plan.would))
    laid_out = rows if isinstance(rows, PlanRows) else PlanRows(plan, *rows)
    taken = plan.narrowed(catalog, left_out)
    roots = frozenset(each.conversation.root_id for each in plan.would)
    stays = [told for told in (along_line(plan, marks), spared_line(plan)) if told]
    cut = len(taken.reparented)
    if cut:
        told = ngettext("1 loses its parent and stays", "{count:,} lose their parent and stay", cut)
        stays.append(told.format(count=cut))
    return PlanView(
        rows=laid_out if laid_out is not rows else None,
        plan=plan,
        sums=laid_out.job_sums(plan),
        goes=len(taken.would),
        bytes=taken.totals().bytes,
        totals=totals_line(taken),
        stays=" · ".join(stays),
        is_measured=plan.is_measured,
        freed=freed_by(taken, catalog),
        roots=roots,
        spared={each.conversation.root_id: each.why for each in plan.spared},
        goes_of=frozenset(session_id for each in taken.would for session_id in each.session_ids),
        gone=tuple(left_out - roots),
    )


def jobs_of(plan: Plan, meant: Container[str]) -> list[tuple[str, str | None]]:
    """Some conversations of a plan by their roots, each with its job where it is a cron run.

    Args:
        plan: Any.
        meant: Tips or roots.
    """
    return [
        (each.conversation.root_id, job_name(each.conversation.root))
        for each in plan.would
        if each.conversation.id in meant or each.conversation.root_id in meant
    ]
