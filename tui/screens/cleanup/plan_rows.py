"""A plan as the screen shows it: rows of what would go and what is spared, one by one or by cron
job, and its sums.

Laying out visits every conversation of the plan, on a reading thread; making a row visits that row
only.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from hermes_browse.store.cleanup.plan import Plan, Totals
from hermes_browse.store.cleanup.selection import Selection
from hermes_browse.store.edit.delete_plan import DeletePlan
from hermes_browse.store.sessions.catalog import Catalog, SpareReason, rank
from hermes_browse.store.sessions.models import Conversation, known_sum
from hermes_browse.store.sessions.relations import job_of
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ...browser.edit.deleting import PreparedPlan
from ...browser.list.list_model import NamedRows, RowDetails
from ...text import formats, sentences
from ...text.styled import Line, row_line
from ...widgets.list_rows import Column, Columns, HeadRow, ListRow, NoteRow

BY_HAND = frozenset(["open", "hidden"])
"""Reasons for sparing that a mark by hand overrides."""


class PlanOrder(StrEnum):
    """The columns that can sort a plan: largest first, titles by the alphabet; the value is the
    heading, to be translated."""

    IDLE = N_("idle")
    SIZE = N_("bytes")
    COST = N_("cost")
    MESSAGES = N_("msgs")
    TITLE = N_("conversation")


class Sums(NamedTuple):
    """The sums over what would go: one conversation, or all runs of a job."""

    messages: int
    bytes: int
    is_measured: bool
    """Whether the bytes of all of them are known."""
    cost_usd: float | None
    """None if no cost is known."""


def sums_of(runs: Sequence[DeletePlan]) -> Sums:
    """Add up what would go."""
    return Sums(
        messages=sum(run.own.shown for run in runs),
        bytes=sum(run.sizes.total for run in runs),
        is_measured=all(run.is_measured for run in runs),
        cost_usd=known_sum(run.cost_usd for run in runs),
    )


def _key(conversation: Conversation) -> str:
    return f"p{conversation.root_id}"


def key_in_plan(conversation: Conversation) -> str:
    """Return the key of the row of a conversation, or that of the job that it is a run of."""
    job = job_of(conversation.root)
    return _key(conversation) if job is None else f"j{job}"


def idle_age(conversation: Conversation, now: float) -> str:
    """Return how long a conversation has been idle, as `3d`; `?` if unknown."""
    return formats.age(conversation.last_active, now) or "?"


class PlanRow(NamedTuple):
    """A conversation that would go, or all runs of a cron job."""

    conversation: Conversation
    """That of the first run."""
    runs: Sequence[DeletePlan]
    """One for a conversation; longest idle first."""
    sums: Sums
    goes: int
    """How many the user did not leave out."""
    job_title: str | None = None
    """What the job is called, printable; None for a conversation."""
    is_open: bool = False
    """Whether the runs of the job are shown below."""

    @property
    def is_job(self) -> bool:
        return self.job_title is not None

    @property
    def key(self) -> str:
        return key_in_plan(self.conversation) if self.is_job else _key(self.conversation)

    @property
    def title(self) -> str:
        """What it is sorted by."""
        return self.job_title or self.conversation.title or ""

    def _name(self) -> str:
        """Return what it is called; a job with how many runs it has."""
        if not self.is_job:
            along = len(self.runs[0].subagents)
            name = one_line(formats.name_so_far(self.conversation), 300)
            return f"{name}  ⊕{along}" if along else name
        runs = formats.counted(len(self.runs), "run")
        if 0 < self.goes < len(self.runs):
            runs = _("{count:,} of {runs}", count=self.goes, runs=runs)
        return f"{'▾' if self.is_open else '▸'} {self.job_title} · {runs}"

    def spans(self, width: int, now: float) -> Line:
        mark = "✓" if self.goes == len(self.runs) else "−" if self.goes else "·"
        lead = (f" {mark} ", "mark" if self.goes else "dim")
        title = (self._name(), "title" if self.goes else "dim")
        return row_line(lead, title, PLAN_COLUMNS.text(self, width, now), width)

    @property
    def about(self) -> str:
        """Say what it has no room for, and which keys work on it."""
        if self.is_job:
            return _("Enter shows the runs of this job · Space removes or adds all of them")
        planned = self.runs[0]
        goes = _("D deletes every ✓ · Space keeps it")
        stays = _("kept, as you removed it · Space adds it again")
        along = len(planned.subagents)
        subagents = ngettext(
            "1 subagent session along in a delete",
            "{count:,} subagent sessions along in a delete",
            along,
        )
        costs = formats.own_and_tree(planned.conversation.cost_usd, planned.cost_usd)
        return formats.joined(
            goes if self.goes else stays,
            _("Enter reads it"),
            *([subagents, costs] if along else ()),
            planned.conversation.id,
        )


PLAN_COLUMNS: Columns[PlanRow] = Columns(
    Column(
        PlanOrder.IDLE,
        6,
        lambda row, now: idle_age(row.conversation, now),
        order=PlanOrder.IDLE,
    ),
    Column(
        N_("source"),
        7,
        lambda row, now: formats.source(row.conversation.source),
        least=52,
        lead=1,
    ),
    Column(
        N_("state"),
        7,
        lambda row, now: "" if row.is_job else sentences.status(row.runs[0].standing),
        least=84,
        lead=1,
    ),
    Column(
        PlanOrder.MESSAGES,
        6,
        lambda row, now: formats.number(row.sums.messages) if row.sums.is_measured else "…",
        least=60,
        order=PlanOrder.MESSAGES,
    ),
    Column(
        PlanOrder.COST,
        8,
        lambda row, now: formats.money(row.sums.cost_usd),
        least=70,
        order=PlanOrder.COST,
    ),
    Column(
        PlanOrder.SIZE,
        9,
        lambda row, now: formats.size(row.sums.bytes) if row.sums.is_measured else "…",
        order=PlanOrder.SIZE,
    ),
)


class SparedRow(NamedTuple):
    """What matches the rules and stays."""

    conversation: Conversation
    why: SpareReason

    @property
    def key(self) -> str:
        return f"s{self.conversation.root_id}"

    def spans(self, width: int, now: float) -> Line:
        name = one_line(formats.name_so_far(self.conversation), 300)
        reason = formats.clip(one_line(self.why.words), max(width // 2, 12))
        return row_line((" ⊘ ", "dim"), (name, "dim"), reason, width)

    @property
    def about(self) -> str:
        """Say what it has no room for, and which keys work on it."""
        by_hand = _("Space takes it all the same") if self.why.code in BY_HAND else ""
        stale = _("6 includes stale open ones") if self.why.code == "open" else ""
        return formats.joined(self.why.words, by_hand, stale)


class PlanRows(NamedRows):
    """The rows of a plan: jobs are called as they are by now, too."""

    def row(self, index: int) -> ListRow:
        row = super().row(index)
        if isinstance(row, PlanRow) and row.is_job:
            return row._replace(job_title=self._details.job_title(row.conversation))
        return row


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
) -> PlanRows:
    """Return the rows of a plan: what would go, then what is spared; the runs of a cron job that go
    are one line until it is opened.

    Args:
        details: Previews read so far.
        left_out: Roots of conversations that the user leaves out.
        empty: A sentence for a plan in which nothing goes.
        opened: Keys of jobs whose runs are shown.
        order: A job is sorted by the sums of its runs, and by the idle time of its oldest run.
    """

    def going(key: str, runs: Sequence[DeletePlan]) -> PlanRow:
        goes = sum(run.conversation.root_id not in left_out for run in runs)
        first = runs[0].conversation
        title = None if key == _key(first) else details.job_title(first)
        return PlanRow(first, runs, sums_of(runs), goes, title, key in opened)

    by_key: dict[str, list[DeletePlan]] = {}
    for planned in plan.selected:
        by_key.setdefault(key_in_plan(planned.conversation), []).append(planned)
    rows: list[ListRow] = []
    for line in sorted(itertools.starmap(going, by_key.items()), key=_SORTED_BY[order]):
        rows.append(line)
        if line.is_open:
            rows += [going(_key(run.conversation), [run]) for run in line.runs]
    rows = rows or [NoteRow(empty)]
    if plan.spared:
        rows.append(HeadRow(_("matched but kept ({count:,}):", count=len(plan.spared))))
        rows += [SparedRow(*spared) for spared in plan.spared]
    return PlanRows(rows, details)


def freed_by(plan: Plan, catalog: Catalog) -> dict[str, int]:
    """Return the bytes that a narrowed plan frees, by the tip of each conversation; subagents have
    their own tips."""
    freed = {}
    for planned in plan.selected:
        freed[planned.conversation.id] = planned.own.total
        for session in planned.subagents:
            tip = catalog.conversation(session.id).tip.id
            share = (planned.sizes.total - planned.own.total) // len(planned.subagents)
            freed[tip] = freed.get(tip, 0) + share
    return freed


class PlanView(NamedTuple):
    """What the screen shows of a plan, computed so that the screen need not visit every
    conversation; by default of no plan."""

    rows: PlanRows
    order: PlanOrder = PlanOrder.IDLE
    """That of its rows."""
    selection: Selection = Selection()
    """What chose it."""
    plan: Plan = Plan()
    """What goes: without what the user leaves out."""
    is_measured: bool = True
    totals: Totals = Plan().totals()
    sentence: str = ""
    """The totals in words; empty if there is no plan."""
    stays: str = ""
    freed: Mapping[str, int] = MappingProxyType({})
    """Bytes that go, by the tip of each conversation."""
    roots: frozenset[str] = frozenset()
    """All conversations of the plan, including those that the user leaves out."""
    spared: Mapping[str, SpareReason] = MappingProxyType({})
    """Why others stay, by root."""
    sessions: frozenset[str] = frozenset()
    """All sessions that go."""


def make_view(
    planned: PreparedPlan, rows: PlanRows, order: PlanOrder, left_out: Container[str]
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
        selection=planned.selection,
        plan=narrowed,
        is_measured=plan.is_measured,
        totals=narrowed.totals(),
        sentence=sentences.totals_line(narrowed),
        stays=formats.joined(
            sentences.along_line(plan, planned.selection.marks),
            sentences.spared_line(plan),
            without_parent if orphans else "",
        ),
        freed=freed_by(narrowed, planned.catalog),
        roots=plan.roots(),
        spared={spared.conversation.root_id: spared.why for spared in plan.spared},
        sessions=frozenset(
            session_id for each in narrowed.selected for session_id in each.session_ids
        ),
    )
