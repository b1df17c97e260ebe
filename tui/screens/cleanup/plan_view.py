"""A plan as the screen shows it: rows, sums and words, computed on a reading thread.

Laying out visits every conversation of the plan; making a row visits that row only.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content

from hermes_browse.store.cleanup.plan import Plan, Planned, Totals
from hermes_browse.store.cleanup.sizes import FileSpace, SpaceMap
from hermes_browse.store.sessions.catalog import Catalog, SpareReason, rank
from hermes_browse.store.sessions.relations import job_of
from hermes_browse.store.wording import _, ngettext

from ...browser.edit.deleting import PreparedPlan
from ...browser.list.list_model import NamedRows, RowDetails
from ...text import formats
from ...text.sentences import along_line, spared_line, totals_line
from ...widgets.list_rows import HeadRow, ListRow, NoteRow
from .plan_rows import PlanOrder, PlanRow, SparedRow, sums_of


def _by_job(plan: Plan) -> list[tuple[str, list[Planned]]]:
    """Put the runs of each cron job together, in the place of the first one; the job of any other
    conversation is empty."""
    jobs: dict[tuple[str, str], list[Planned]] = {}
    for planned in plan.selected:
        job = job_of(planned.conversation.root) or ""
        key = job, "" if job else planned.conversation.root_id
        jobs.setdefault(key, []).append(planned)
    return [(job, runs) for (job, _root), runs in jobs.items()]


_SORTED_BY: Mapping[PlanOrder, Callable[[PlanRow], tuple[object, ...]]] = {
    PlanOrder.IDLE: lambda row: rank(row.conversation),
    PlanOrder.SIZE: lambda row: (-row.sums.bytes,),
    PlanOrder.COST: lambda row: (-(row.sums.cost_usd or 0.0),),
    PlanOrder.MESSAGES: lambda row: (-row.sums.messages,),
    PlanOrder.TITLE: lambda row: (not row.title, row.title.casefold()),
}


def rows_of(
    plan: Plan,
    details: RowDetails,
    left_out: Container[str],
    empty: str,
    opened: Container[str],
    order: PlanOrder,
) -> NamedRows:
    """Return the rows of a plan: what would go, then what is spared; the runs of a cron job that go
    are one line until it is opened.

    Args:
        details: Previews read so far.
        left_out: Roots of conversations that the user leaves out.
        empty: A sentence for a plan in which nothing goes.
        opened: Keys of jobs whose runs are shown.
        order: A job is sorted by the sums of its runs, and by the idle time of its oldest run.
    """

    def going(runs: Sequence[Planned], job: str = "") -> PlanRow:
        goes = sum(run.conversation.root_id not in left_out for run in runs)
        first = runs[0].conversation
        return PlanRow(first, runs, sums_of(runs), goes, details, job, f"j{job}" in opened)

    lines = [going(runs, job) for job, runs in _by_job(plan)]
    lines.sort(key=_SORTED_BY[order])
    rows: list[ListRow] = []
    for line in lines:
        rows.append(line)
        rows += [going([run]) for run in line.runs if line.is_open]
    rows = rows or [NoteRow(empty)]
    if plan.spared:
        rows.append(HeadRow(_("matched but kept ({count:,}):", count=len(plan.spared))))
        rows += [SparedRow(*spared) for spared in plan.spared]
    return NamedRows(rows, details)


def freed_by(plan: Plan, catalog: Catalog) -> dict[str, int]:
    """Return the bytes that a narrowed plan frees, by the tip of each conversation; subagents have
    their own tips."""
    freed = {}
    for planned in plan.selected:
        freed[planned.conversation.id] = planned.own.total
        for session in planned.subagents:
            tip = catalog.conversation(session.id).tip.id
            share = planned.of_subagents.total // len(planned.subagents)
            freed[tip] = freed.get(tip, 0) + share
    return freed


class PlanView(NamedTuple):
    """What the screen shows of a plan, computed so that the screen need not visit every
    conversation."""

    rows: NamedRows
    order: PlanOrder
    """That of its rows."""
    plan: Plan
    """What goes: without what the user leaves out."""
    is_measured: bool
    totals: Totals
    sentence: str
    """The totals in words; empty if there is no plan."""
    stays: str
    freed: dict[str, int]
    """Bytes that go, by the tip of each conversation."""
    roots: frozenset[str]
    """All conversations of the plan, including those that the user leaves out."""
    spared: dict[str, SpareReason]
    """Why others stay, by root."""
    sessions: frozenset[str]
    """All sessions that go."""


NO_PLAN = PlanView(
    rows=NamedRows((), RowDetails()),
    order=PlanOrder.IDLE,
    plan=Plan(),
    is_measured=True,
    totals=Plan().totals(),
    sentence="",
    stays="",
    freed={},
    roots=frozenset(),
    spared={},
    sessions=frozenset(),
)
"""What is shown of no plan."""


def make_view(
    planned: PreparedPlan, rows: NamedRows, order: PlanOrder, left_out: Container[str]
) -> PlanView:
    """Compute what the screen shows of a plan, as rows in an order; `left_out` are the roots that
    the user leaves out."""
    plan = planned.plan
    narrowed = plan.narrowed(left_out)
    orphans = len(narrowed.reparented)
    without_parent = ngettext(
        "1 related conversation loses its parent",
        "{count:,} related conversations lose their parent",
        orphans,
    )
    return PlanView(
        rows=rows,
        order=order,
        plan=narrowed,
        is_measured=plan.is_measured,
        totals=narrowed.totals(),
        sentence=totals_line(narrowed),
        stays=formats.joined(
            along_line(plan, planned.selection.marks),
            spared_line(plan),
            without_parent if orphans else "",
        ),
        freed=freed_by(narrowed, planned.catalog),
        roots=plan.roots(),
        spared={spared.conversation.root_id: spared.why for spared in plan.spared},
        sessions=frozenset(
            session_id for each in narrowed.selected for session_id in each.session_ids
        ),
    )


def what_goes(view: PlanView, space: SpaceMap | None, width: int, *, is_old: bool) -> Content:
    """Say what a plan deletes, as far as it fits; `is_old` if another plan is being made."""
    totals = view.totals
    if not view.sentence:
        return Content("")
    if not totals.conversations:
        return Content.styled(" " + _("nothing to clean up"), "dim")
    parts = [formats.counted(totals.conversations, "conversation")]
    share = totals.bytes / space.total if space is not None and space.total else 0.0
    if 0.005 <= share <= 1:  # less would be "0%", and what is more was deleted by now
        parts.append(_("{share:.0%} of the store", share=share))
    line = Content(formats.fitting(f" ✓ {' · '.join([*parts, view.sentence])}", width))
    return line.stylize("dim") if is_old else line.stylize("bold $accent", 0, len(parts[0]) + 3)


def file_line(name: str, file: FileSpace, totals: Totals, width: int, *, no_color: bool) -> Content:
    """Draw the file as a bar of what stays, what goes by a plan and what is free already, then its
    sizes as far as they fit.

    `name` is printable, `totals` are those of the plan; `width` is in cells.
    """
    used, whole = file.file_bytes - file.free_bytes, max(file.file_bytes, 1)
    goes, given_back = min(totals.free_bytes, used), min(totals.given_back_bytes, used)
    size = max(min(width // 5, 40), 8)
    free = min(round(file.free_bytes / whole * size), size)
    freed = min(max(round(goes / whole * size), 1 if goes else 0), size - free)
    stays, going, empty = "░█·" if no_color else "██░"
    parts = [
        (f" {name} {formats.size(file.file_bytes)} ", ""),
        (stays * (size - freed - free), "$secondary-muted"),
        (going * freed, "$warning"),
        (empty * free, "dim"),
    ]
    room = width - 1 - sum(cell_len(text) for text, _look in parts)
    sizes = {
        _("{size} freed at once"): goes,
        _("{size} free already"): file.free_bytes,
        _("v shrinks the file by {size}"): given_back + file.free_bytes,
        _("log {size}"): file.wal_bytes,
    }
    told = (text.format(size=formats.size(count)) for text, count in sizes.items() if count)
    words = formats.fitting(" · ".join(told), room)
    return Content.assemble(*parts, (f" {words if cell_len(words) <= room else ''}", "dim"))
