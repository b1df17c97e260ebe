"""A plan as the screen shows it: rows, sums and words, computed on a reading thread.

Laying out visits every conversation of the plan; making a row visits that row only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.cleanup.spared import count_reasons
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _, ngettext

from .. import formats
from ..list.list_model import RowDetails, job_key_of
from ..list.list_rows import ListRow, NoteRow
from .plan_rows import AMOUNTS, PlanOrder, PlanRow, SparedRow, sums_of, title_key

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.plan import Plan, Spared
    from hermes_browse.store.sessions.catalog import Catalog
    from hermes_browse.store.sessions.protection import SpareReason


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


Layout = Sequence[tuple[str, Sequence[int]]]
"""The lines of a list: the job or an empty text, and the places of its runs, or of one
conversation."""


def fold(conversations: Iterable[Conversation]) -> Layout:
    """Put the runs of each cron job into one line in the place of the first run."""
    lines: list[tuple[str, list[int]]] = []
    jobs: dict[str, list[int]] = {}
    for place, conversation in enumerate(conversations):
        job = job_key_of(conversation.root) or ""
        if not job:
            lines.append(("", [place]))
        elif job in jobs:
            jobs[job].append(place)
        else:
            jobs[job] = [place]
            lines.append((job, jobs[job]))
    return lines


def unfold(lines: Layout, opened: Container[str], mark: str) -> Layout:
    """Return lines with the runs of opened jobs below theirs; `mark` is the letter before a job in
    its key."""
    unfolded: list[tuple[str, Sequence[int]]] = []
    for job, places in lines:
        unfolded.append((job, places))
        if job and f"{mark}{job}" in opened:
            unfolded += [("", [place]) for place in places]
    return unfolded


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
        self.plan, self._details, self._left_out, self._opened = plan, details, left_out, opened
        self.is_sorted = order is not PlanOrder.SIZE or plan.is_measured
        """What the rows are sorted by was known of all of them."""
        lines = fold(each.conversation for each in plan.selected)
        spared = fold(each.conversation for each in plan.spared)
        self._jobs = {job: places for job, places in lines if job}
        self.roots_of_job: dict[str, dict[str, str | None]] = {
            job: {plan.selected[place].conversation.root_id: job for place in places}
            for job, places in self._jobs.items()
        }
        self._add_up(plan)
        self._goes = unfold(self._in_order(lines, order), opened, "j")
        self._stays = unfold(spared, opened, "z")
        self._spared_runs = {
            job: [plan.spared[place] for place in places] for job, places in spared if job
        }
        self._reasons = {job: _reasons(runs) for job, runs in self._spared_runs.items()}
        stay = _("matched but kept ({count:,}):").format(count=len(plan.spared))
        self._notes = [] if self._goes else [NoteRow(empty)]
        self._notes += [NoteRow(stay)] if plan.spared else []
        self._first_spared = len(self._goes) + len(self._notes)
        self._index = {
            f"j{job}" if job else f"p{plan.selected[places[0]].conversation.root_id}": line
            for line, (job, places) in enumerate(self._goes)
        }
        for line, (job, places) in enumerate(self._stays, self._first_spared):
            key = f"z{job}" if job else f"s{plan.spared[places[0]].conversation.root_id}"
            self._index[key] = line

    def _add_up(self, plan: Plan) -> None:
        self.plan, self.is_measured = plan, plan.is_measured
        self._runs = {
            job: [plan.selected[place] for place in places] for job, places in self._jobs.items()
        }
        self._sums = {job: sums_of(runs) for job, runs in self._runs.items()}
        of_jobs = (each.bytes or 0 for each in self._sums.values())
        self._biggest = max([*(each.bytes for each in plan.selected), *of_jobs], default=0)

    def measured(self, plan: Plan) -> PlanRows:
        """Return the rows of the same plan with more of its sizes; each keeps its place."""
        rows = copy(self)
        rows._add_up(plan)
        return rows

    def _in_order(self, lines: Layout, order: PlanOrder) -> Layout:
        """Sort lines by what they show: a job has the sums of its runs, and the idle time of its
        oldest run."""
        selected = self.plan.selected

        def title(line: tuple[str, Sequence[int]]) -> tuple[bool, str]:
            first = selected[line[1][0]].conversation
            return title_key(self._details.job_title(first) if line[0] else first.title)

        def amount(line: tuple[str, Sequence[int]]) -> float:
            return sum(AMOUNTS[order](selected[place]) for place in line[1])

        if order is PlanOrder.IDLE:
            return lines
        if order is PlanOrder.TITLE:
            return sorted(lines, key=title)
        return sorted(lines, key=amount, reverse=True)

    def __len__(self) -> int:
        return self._first_spared + len(self._stays)

    def row(self, index: int) -> ListRow:
        if index < len(self._goes):
            return self._plan_row(*self._goes[index])
        if index < self._first_spared:
            return self._notes[index - len(self._goes)]
        return self._spared_row(*self._stays[index - self._first_spared])

    def _plan_row(self, job: str, places: Sequence[int]) -> PlanRow:
        left_out = self._left_out()
        if job:
            runs = self._runs[job]
            goes, title = (
                len(runs) - left_out.of_job(job),
                self._details.job_title(runs[0].conversation),
            )
            is_open = f"j{job}" in self._opened
            return PlanRow(runs, self._sums[job], goes, self._biggest, job, title, is_open)
        planned = self.plan.selected[places[0]]
        conversation = self._completed(planned.conversation)
        goes = int(conversation.root_id not in left_out.roots)
        completed = [planned._replace(conversation=conversation)]
        return PlanRow(completed, sums_of([planned]), goes, self._biggest)

    def _spared_row(self, job: str, places: Sequence[int]) -> SparedRow:
        if job:
            runs = self._spared_runs[job]
            title, is_open = (
                self._details.job_title(runs[0].conversation),
                f"z{job}" in self._opened,
            )
            return SparedRow(runs, self._reasons[job], job, title, is_open)
        spared = self.plan.spared[places[0]]
        conversation = self._completed(spared.conversation)
        return SparedRow([spared._replace(conversation=conversation)], spared.why.words)

    def _completed(self, conversation: Conversation) -> Conversation:
        return self._details.complete(conversation)[0]

    def index_of(self, key: str) -> int | None:
        return self._index.get(key)

    def lacking(self, first: int, last: int) -> Sequence[Conversation]:
        rows = [self.row(index) for index in range(first, min(last + 1, len(self)))]
        return self._details.nameless(
            row.conversation for row in rows if isinstance(row, PlanRow | SparedRow)
        )


def freed_by(plan: Plan, catalog: Catalog) -> dict[str, int]:
    """Return the bytes that a narrowed plan frees, by the tip of each conversation; subagents have
    their own tips."""
    freed: dict[str, int] = {}
    for each in plan.selected:
        freed[each.conversation.id] = each.own.total
        if each.subagents:
            share = each.of_subagents.total // len(each.subagents)
            for session in each.subagents:
                tip = catalog.conversation(session.id).tip.id
                freed[tip] = freed.get(tip, 0) + share
    return freed


class PlanView(NamedTuple):
    """What the screen shows of a plan, computed so that the screen need not visit every
    conversation."""

    rows: PlanRows
    goes: int
    """Conversations."""
    bytes: int
    free_bytes: int
    given_back_bytes: int
    """Both as in `Totals`."""
    totals: str
    stays: str
    freed: dict[str, int]
    """Bytes that go, by the tip of each conversation."""
    roots: frozenset[str]
    """All conversations of the plan, including those that the user leaves out."""
    spared: dict[str, SpareReason]
    """Why others stay, by root."""
    sessions: frozenset[str]
    """All sessions that go."""


def make_view(
    rows: PlanRows, catalog: Catalog, left_out: Set[str], marks: frozenset[str]
) -> PlanView:
    """Compute what the screen shows of a plan.

    `left_out` are the roots that the user leaves out, `marks` the tips of conversations that were
    marked by hand.
    """
    plan = rows.plan
    narrowed = plan.narrowed(catalog, left_out)
    stays = [along_line(plan, marks), spared_line(plan)]
    orphans = len(narrowed.reparented)
    if orphans:
        sentence = ngettext(
            "1 related conversation stays, without its parent",
            "{count:,} related conversations stay, without their parent",
            orphans,
        )
        stays.append(sentence.format(count=orphans))
    totals = narrowed.totals()
    return PlanView(
        rows=rows,
        goes=len(narrowed.selected),
        bytes=totals.bytes,
        free_bytes=totals.free_bytes,
        given_back_bytes=totals.given_back_bytes,
        totals=totals_line(narrowed),
        stays=" · ".join(filter(None, stays)),
        freed=freed_by(narrowed, catalog),
        roots=frozenset(each.conversation.root_id for each in plan.selected),
        spared={each.conversation.root_id: each.why for each in plan.spared},
        sessions=frozenset(
            session_id for each in narrowed.selected for session_id in each.session_ids
        ),
    )


def totals_line(plan: Plan) -> str:
    """`1,204 messages · 4.1 MB · $3.40 with subagents · 14 sessions`; visits every conversation of
    the plan."""
    totals = plan.totals()
    cost = formats.money(totals.cost_usd)
    if cost and totals.cost_usd != plan.totals(is_archive=True).cost_usd:
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
    return _("{count:,} protected: {kinds}").format(count=len(plan.spared), kinds=kinds)
