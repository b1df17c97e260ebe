"""A plan as the screen shows it: rows, sums and words, computed on a worker thread.

Laying out visits every conversation of the plan; making a row visits that row only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.cleanup.protection import count_reasons
from hermes_browse.store.sessions.models import Conversation, known_sum
from hermes_browse.store.wording import _, ngettext

from .. import formats
from ..list.list_model import RowDetails
from ..list.list_rows import ListRow, NoteRow
from .plan_rows import (
    AMOUNTS,
    JobSum,
    Lines,
    PlanJobRow,
    PlanOrder,
    PlanRow,
    SparedJobRow,
    SparedRow,
    fold,
    title_key,
    unfold,
)

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.plan import Plan, Planned, Spared
    from hermes_browse.store.cleanup.protection import SpareReason
    from hermes_browse.store.sessions.catalog import Catalog


class LeftOut:
    """Roots of conversations that the user leaves out of a plan, counted by cron job; safe on any
    thread.

    It never changes. `job_of` has the job of each root, None for what is no cron run.
    """

    def __init__(self, job_of: Mapping[str, str | None] | None = None) -> None:
        self._job_of = job_of or {}
        self._runs = Counter(self._job_of.values())

    @property
    def roots(self) -> Set[str]:
        return self._job_of.keys()

    def of_job(self, job: str) -> int:
        """Return the number of runs of a job that are left out."""
        return self._runs[job]

    def toggled(self, roots: Mapping[str, str | None]) -> LeftOut:
        """Leave out all of these roots, given with their jobs, or none of them if some were left
        out."""
        some = any(root in self._job_of for root in roots)
        return self.without(roots) if some else LeftOut({**self._job_of, **roots})

    def without(self, roots: Iterable[str]) -> LeftOut:
        """Take conversations back into the plan."""
        job_of = dict(self._job_of)
        for root in roots:
            job_of.pop(root, None)
        return LeftOut(job_of)


def _reasons(runs: Sequence[Spared]) -> str:
    """Return the reason if all runs have the same one, else the number of runs by reason."""
    if len({each.why.words for each in runs}) == 1:
        return runs[0].why.words
    return count_reasons(each.why for each in runs)


class PlanRows:
    """Rows of a plan: what would go, then what is spared; the runs of a cron job are one line until
    it is opened.

    Args:
        plan: In the order of the rows.
        details: Previews read so far.
        left_out: Returns what the user leaves out, each time a row is made.
        empty: A sentence for a plan in which nothing goes.
        opened: Keys of jobs whose runs are shown.
        order: The order of the plan, in which the sums of a job have their place.
    """

    def __init__(
        self,
        plan: Plan,
        details: RowDetails,
        left_out: Callable[[], LeftOut],
        empty: str,
        opened: Container[str] = frozenset(),
        order: PlanOrder = PlanOrder.IDLE,
    ) -> None:
        self._plan, self._details, self._left_out, self._opened = plan, details, left_out, opened
        self.was_measured = plan.is_measured
        """All sizes were known when the rows were put in order."""
        lines, self._jobs = fold([each.conversation.root for each in plan.selected])
        stays, spared_jobs = fold([each.conversation.root for each in plan.spared])
        self._stays = unfold(stays, spared_jobs, opened, "z")
        self._runs = {
            job: tuple(plan.selected[place] for place in places)
            for job, places in self._jobs.items()
        }
        self._spared_runs = {
            job: tuple(plan.spared[place] for place in places)
            for job, places in spared_jobs.items()
        }
        self._reasons = {job: _reasons(runs) for job, runs in self._spared_runs.items()}
        self._sums = self.job_sums(plan)
        self._goes = unfold(self._in_order(lines, order), self._jobs, opened, "j")
        self._biggest = self.biggest(plan, self._sums)
        stay = _("matched but kept ({count:,}):").format(count=len(plan.spared))
        self._note = NoteRow(stay) if plan.spared else None
        self._empty = NoteRow(empty)
        self._first_spared = max(len(self._goes), 1) + 1
        self._index = {
            f"j{place}"
            if isinstance(place, str)
            else f"p{plan.selected[place].conversation.root_id}": line
            for line, place in enumerate(self._goes)
        }
        for line, place in enumerate(self._stays, self._first_spared):
            key = (
                f"z{place}"
                if isinstance(place, str)
                else f"s{plan.spared[place].conversation.root_id}"
            )
            self._index[key] = line

    def __len__(self) -> int:
        return max(len(self._goes), 1) + (1 + len(self._stays) if self._note is not None else 0)

    def _in_order(self, lines: Lines, order: PlanOrder) -> Lines:
        """Sort lines by what they show: a job has the sums of its runs, and the idle time of its
        oldest run."""
        selected = self._plan.selected

        def runs(line: int | str) -> tuple[Planned, ...]:
            return self._runs[line] if isinstance(line, str) else (selected[line],)

        def title(line: int | str) -> tuple[bool, str]:
            first = runs(line)[0].conversation
            return title_key(
                self._details.job_title(first) if isinstance(line, str) else first.title
            )

        if order is PlanOrder.IDLE:
            return lines
        if order is PlanOrder.TITLE:
            return sorted(lines, key=title)
        return sorted(lines, key=lambda line: sum(map(AMOUNTS[order], runs(line))), reverse=True)

    def job_sums(self, plan: Plan) -> dict[str, JobSum]:
        """Add up the runs of each job of the same plan, of which more sizes may be known."""
        sums: dict[str, JobSum] = {}
        for job, places in self._jobs.items():
            runs = [plan.selected[place] for place in places]
            size = sum(each.bytes for each in runs)
            sums[job] = JobSum(
                sum(each.own.shown for each in runs),
                size if all(each.is_measured for each in runs) else None,
                known_sum(each.cost_usd for each in runs),
                min(runs, key=lambda each: each.conversation.last_active or 0.0),
            )
        return sums

    def take(self, plan: Plan, sums: dict[str, JobSum], biggest: int) -> None:
        """Show the same plan with more of its sizes."""
        self._plan, self._sums, self._biggest = plan, sums, biggest

    def biggest(self, plan: Plan, sums: dict[str, JobSum]) -> int:
        """Return the bytes of the biggest row; a job counts with all of its runs. Visits every
        conversation."""
        single = [plan.selected[place] for place in self._goes if isinstance(place, int)]
        sizes = [each.bytes for each in single]
        return max([*sizes, *(each.bytes or 0 for each in sums.values())], default=0)

    def _completed(self, conversation: Conversation) -> Conversation:
        return self._details.complete(conversation)[0]

    def row(self, index: int) -> ListRow:
        if index < len(self._goes):
            place = self._goes[index]
            if isinstance(place, str):
                runs = self._runs[place]
                goes = max(0, len(runs) - self._left_out().of_job(place))
                is_open = f"j{place}" in self._opened
                title = self._details.job_title(runs[0].conversation)
                return PlanJobRow(
                    place, runs, goes, self._sums[place], is_open, self._biggest, title
                )
            each = self._plan.selected[place]
            completed = self._completed(each.conversation)._replace(size=each.conversation.size)
            goes_too = each.conversation.root_id not in self._left_out().roots
            return PlanRow(each._replace(conversation=completed), goes_too, self._biggest)
        if index >= self._first_spared:
            place = self._stays[index - self._first_spared]
            if isinstance(place, str):
                spared_runs, is_open = self._spared_runs[place], f"z{place}" in self._opened
                title = self._details.job_title(spared_runs[0].conversation)
                return SparedJobRow(place, spared_runs, self._reasons[place], is_open, title)
            spared = self._plan.spared[place]
            return SparedRow(spared._replace(conversation=self._completed(spared.conversation)))
        return (
            self._note
            if self._note is not None and index == self._first_spared - 1
            else self._empty
        )

    def index_of(self, key: str) -> int | None:
        return self._index.get(key)

    def nameless(self, first: int, last: int) -> list[Conversation]:
        """Return conversations of some rows that have no title and no preview yet."""
        rows = [self.row(index) for index in range(first, min(last + 1, len(self)))]
        conversations = [row.planned.conversation for row in rows if isinstance(row, PlanRow)]
        conversations += [row.spared.conversation for row in rows if isinstance(row, SparedRow)]
        jobs = (row for row in rows if isinstance(row, PlanJobRow | SparedJobRow))
        conversations += [self._completed(job.runs[0].conversation) for job in jobs]
        return [each for each in conversations if not each.title and not each.preview]


def freed_by(plan: Plan, catalog: Catalog) -> dict[str, int]:
    """Return the bytes that a narrowed plan frees, by the tip of each conversation; subagents have
    their own tips."""
    freed: dict[str, int] = {}
    for each in plan.selected:
        freed[each.conversation.id] = each.own.total
        if each.subagents:
            share = each.of_subagents.total // len(each.subagents)
            for session in each.subagents:
                tip = catalog.forest.chain_of(session.id).tip.id
                freed[tip] = freed.get(tip, 0) + share
    return freed


class PlanView(NamedTuple):
    """What the screen shows of a plan, computed so that the screen need not visit every
    conversation."""

    rows: PlanRows
    plan: Plan
    """In the order of the rows."""
    sums: dict[str, JobSum]
    """Of each job, for rows that were laid out before, as is `biggest`."""
    biggest: int
    """Bytes of the biggest row, for the bars."""
    goes: int
    """Conversations."""
    bytes: int
    totals: str
    stays: str
    is_measured: bool
    freed: dict[str, int]
    """Bytes that go, by the tip of each conversation."""
    roots: frozenset[str]
    """All conversations of the plan, including those that the user leaves out."""
    spared: dict[str, SpareReason]
    """Why others stay, by root."""
    sessions: frozenset[str]
    """All sessions that go."""
    gone: tuple[str, ...]
    """Roots that the user left out and this plan no longer has."""


def make_view(
    plan: Plan, rows: PlanRows, catalog: Catalog, left_out: Set[str], marks: frozenset[str]
) -> PlanView:
    """Compute what the screen shows of a plan, given in the order of its rows.

    `left_out` are the roots that the user leaves out, `marks` the tips of conversations that were
    marked by hand.
    """
    narrowed = plan.narrowed(catalog, left_out)
    roots = frozenset(each.conversation.root_id for each in plan.selected)
    stays = [line for line in (along_line(plan, marks), spared_line(plan)) if line]
    orphans = len(narrowed.reparented)
    if orphans:
        sentence = ngettext(
            "1 related conversation is kept and becomes standalone",
            "{count:,} related conversations are kept and become standalone",
            orphans,
        )
        stays.append(sentence.format(count=orphans))
    sums = rows.job_sums(plan)
    return PlanView(
        rows=rows,
        plan=plan,
        sums=sums,
        biggest=rows.biggest(plan, sums),
        goes=len(narrowed.selected),
        bytes=narrowed.totals().bytes,
        totals=totals_line(narrowed),
        stays=" · ".join(stays),
        is_measured=plan.is_measured,
        freed=freed_by(narrowed, catalog),
        roots=roots,
        spared={each.conversation.root_id: each.why for each in plan.spared},
        sessions=frozenset(
            session_id for each in narrowed.selected for session_id in each.session_ids
        ),
        gone=tuple(left_out - roots),
    )


def totals_line(plan: Plan) -> str:
    """`1,204 messages · 4.1 MB · $3.40 with subagents · 14 sessions`; visits every conversation of
    the plan."""
    totals = plan.totals()
    cost = formats.money(totals.cost_usd)
    if cost and totals.cost_usd != plan.totals(subagents=False).cost_usd:
        cost = _("{cost} with subagents").format(cost=cost)
    hidden = totals.messages - totals.messages_shown if plan.is_measured else 0
    along = ngettext("with 1 hidden message", "with {count:,} hidden messages", hidden).format(
        count=hidden
    )
    parts = [
        formats.counted(totals.messages - hidden, "message"),
        ("{size}" if plan.is_measured else _("measuring, so far {size}")).format(
            size=formats.size(totals.bytes)
        ),
        cost,
        along if hidden else "",
        formats.counted(totals.sessions, "session"),
    ]
    return " · ".join(part for part in parts if part)


def along_line(plan: Plan, marks: Container[str]) -> str:
    """`1 marked subagent goes along with its parent`; empty if none does."""
    count = sum(session.id in marks for each in plan.selected for session in each.subagents)
    if not count:
        return ""
    return ngettext(
        "1 marked subagent goes along with its parent",
        "{count:,} marked subagents go along with their parents",
        count,
    ).format(count=count)


def spared_line(plan: Plan) -> str:
    """`3 spared: 2 pinned, 1 live`; empty if none is."""
    if not plan.spared:
        return ""
    kinds = count_reasons(each.why for each in plan.spared)
    return _("{count:,} spared: {kinds}").format(count=len(plan.spared), kinds=kinds)
