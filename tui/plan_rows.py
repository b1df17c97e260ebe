"""A plan as rows: laid out once beside the screen's thread, each row made as it is asked for, whatever their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.sessions.session import Session
from hermes_browse.store.wording import _

from .clean_rows import PlanJobRow, PlanRow, SparedJobRow, SparedRow
from .list.rows import ListRow, NoteRow
from .list_model import job_name
from .plan_words import spared_kinds

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.plan import Plan, Spared
    from hermes_browse.store.sessions.catalog import Catalog

    from .list_model import Details


class LeftOut:
    """Roots of conversations that stay after all, counted by cron job too; added to on the screen's thread alone."""

    def __init__(self, roots: Iterable[str] = ()) -> None:
        self._roots: set[str] = set()
        self._jobs: Counter[str] = Counter()
        self._job_of: dict[str, str] = {}
        self.changes = 0
        """How often it has been changed."""
        self.leave((root, None) for root in roots)

    def __contains__(self, root: object) -> bool:
        return root in self._roots

    def __len__(self) -> int:
        return len(self._roots)

    @property
    def roots(self) -> frozenset[str]:
        """As they are now; may be asked for on any thread."""
        return frozenset(self._roots)

    def toggled(self, meant: Sequence[tuple[str, str | None]]) -> LeftOut:
        """Another one that has all of these as well, or where it had some of them, none; on any thread.

        Args:
            meant: Roots, each with its job where it is a cron run.
        """
        made = LeftOut()
        made._roots, made._jobs, made._job_of = set(self._roots), self._jobs.copy(), self._job_of.copy()
        if any(root in made for root, _ in meant):
            made.take(root for root, _ in meant)
        else:
            made.leave(meant)
        return made

    def of_job(self, job: str) -> int:
        """How many runs of a job are among them."""
        return self._jobs[job]

    def leave(self, meant: Iterable[tuple[str, str | None]]) -> None:
        """These stay.

        Args:
            meant: Roots, each with its job where it is a cron run.
        """
        self.changes += 1
        for root, job in meant:
            if root not in self._roots:
                self._roots.add(root)
                if job is not None:
                    self._job_of[root] = job
                    self._jobs[job] += 1

    def take(self, roots: Iterable[str]) -> None:
        """These go after all."""
        self.changes += 1
        for root in roots:
            if root in self._roots:
                self._roots.remove(root)
                job = self._job_of.pop(root, None)
                if job is not None:
                    self._jobs[job] -= 1

    def clear(self) -> None:
        """All of them go after all."""
        self.changes += 1
        self._roots.clear()
        self._jobs.clear()
        self._job_of.clear()


class JobSum(NamedTuple):
    """All runs of a job that would go, added up."""

    messages: int
    bytes: int | None
    """None until all of them are measured."""
    cost_usd: float


def _fold(
    roots: Sequence[Session], opened: Container[str], mark: str
) -> tuple[list[int | str], dict[str, tuple[int, ...]]]:
    """Places, and names of jobs, in the order of the lines; a job stands where its first run would."""
    lines: list[int | str] = []
    jobs: dict[str, list[int]] = {}
    for index, root in enumerate(roots):
        job = job_name(root)
        if job is None:
            lines.append(index)
            continue
        if job not in jobs:
            lines.append(job)
        jobs.setdefault(job, []).append(index)
    unfolded: list[int | str] = []
    for line in lines:
        unfolded.append(line)
        if isinstance(line, str) and f"{mark}{line}" in opened:
            unfolded += jobs[line]
    return unfolded, {job: tuple(places) for job, places in jobs.items()}


def _reasons(runs: Sequence[Spared]) -> str:
    """Why they stay: the words where all are alike, else how many there are of each kind."""
    if len({each.why.words for each in runs}) == 1:
        return runs[0].why.words
    return spared_kinds(Counter(each.why.code for each in runs))


class PlanRows:
    """What would go, the runs of a cron job as one line until it is opened; then what is spared, likewise.

    To make one looks at every conversation of the plan, so it is made beside the screen's thread; to ask it for a row
    looks at that row alone.

    Args:
        plan: Any.
        details: Previews read so far.
        left_out: What stays after all; looked at when a row is asked for.
        empty: A sentence for a plan in which nothing goes.
        opened: Keys of jobs whose runs are shown.
    """

    def __init__(
        self, plan: Plan, details: Details, left_out: LeftOut, empty: str, opened: Container[str] = frozenset()
    ) -> None:
        self._plan, self._details, self._opened = plan, details, opened
        self.left_out = left_out
        self._goes, self._jobs = _fold([each.conversation.root for each in plan.would], opened, "j")
        self._stays, self._spared_jobs = _fold([each.conversation.root for each in plan.spared], opened, "z")
        self._runs = {job: tuple(plan.would[place] for place in places) for job, places in self._jobs.items()}
        self._spared_runs = {
            job: tuple(plan.spared[place] for place in places) for job, places in self._spared_jobs.items()
        }
        self._reasons = {job: _reasons(runs) for job, runs in self._spared_runs.items()}
        self._sums = self.job_sums(plan)
        self._biggest = self._find_biggest()
        stay = _("{count:,} more that the rules mean, and that stay:").format(count=len(plan.spared))
        self._note = NoteRow(stay) if plan.spared else None
        self._empty = NoteRow(empty)
        self._first_spared = max(len(self._goes), 1) + 1
        self._index = self._keys()

    def _keys(self) -> dict[str, int]:
        would, spared = self._plan.would, self._plan.spared
        index = {
            f"j{place}" if isinstance(place, str) else f"p{would[place].conversation.root_id}": line
            for line, place in enumerate(self._goes)
        }
        for line, place in enumerate(self._stays, self._first_spared):
            index[f"z{place}" if isinstance(place, str) else f"s{spared[place].conversation.root_id}"] = line
        return index

    def __len__(self) -> int:
        return max(len(self._goes), 1) + (1 + len(self._stays) if self._note is not None else 0)

    def job_sums(self, plan: Plan) -> dict[str, JobSum]:
        """What the runs of each job come to.

        Args:
            plan: With the same conversations in the same order, whatever is known of their sizes.
        """
        found: dict[str, JobSum] = {}
        for job, places in self._jobs.items():
            messages, size, measured, cost = 0, 0, True, 0.0
            for place in places:
                each = plan.would[place]
                messages += each.own.rows + each.along.rows
                size += each.own.total + each.along.total
                measured = measured and each.is_measured
                cost += each.cost_usd
            found[job] = JobSum(messages, size if measured else None, cost)
        return found

    def take(self, plan: Plan, sums: dict[str, JobSum]) -> None:
        """The same plan with more of its sizes.

        Args:
            plan: With the same conversations in the same order.
            sums: From `job_sums`.
        """
        self._plan, self._sums = plan, sums
        self._biggest = self._find_biggest()

    def _find_biggest(self) -> int:
        """Bytes of the biggest line: a job counts with all of its runs."""
        single = [self._plan.would[place] for place in self._goes if isinstance(place, int)]
        sizes = [each.own.total + each.along.total for each in single]
        return max([*sizes, *(each.bytes or 0 for each in self._sums.values())], default=0)

    def _known(self, conversation: Conversation) -> Conversation:
        return self._details.complete(conversation)[0]

    def _job(self, job: str) -> PlanJobRow:
        runs = self._runs[job]
        goes = max(0, len(runs) - self.left_out.of_job(job))
        return PlanJobRow(job, runs, goes, *self._sums[job], f"j{job}" in self._opened, self._biggest)

    def row(self, index: int) -> ListRow:
        """The row at an index."""
        if index < len(self._goes):
            place = self._goes[index]
            if isinstance(place, str):
                return self._job(place)
            each = self._plan.would[place]
            known = self._known(each.conversation)._replace(size=each.conversation.size)
            goes = each.conversation.root_id not in self.left_out
            return PlanRow(each._replace(conversation=known), goes, self._biggest)
        if index >= self._first_spared:
            place = self._stays[index - self._first_spared]
            if isinstance(place, str):
                return SparedJobRow(place, self._spared_runs[place], self._reasons[place], f"z{place}" in self._opened)
            spared = self._plan.spared[place]
            return SparedRow(spared._replace(conversation=self._known(spared.conversation)))
        return self._note if self._note is not None and index == self._first_spared - 1 else self._empty

    def index_of(self, key: str) -> int | None:
        """Where the row with a key is."""
        return self._index.get(key)

    def nameless(self, first: int, last: int) -> list[Conversation]:
        """Conversations of some rows that have no title and whose beginning has not been read."""
        found = []
        for row in (self.row(index) for index in range(first, min(last + 1, len(self)))):
            if isinstance(row, PlanRow):
                found.append(row.planned.conversation)
            elif isinstance(row, SparedRow):
                found.append(row.spared.conversation)
        return [each for each in found if not each.title and not each.preview]


def freed_by(plan: Plan, catalog: Catalog) -> dict[str, int]:
    """Bytes that go, by the tip of each conversation, subagents by their own tips.

    Args:
        plan: Without what is left out by hand.
        catalog: It was made from.
    """
    freed: dict[str, int] = {}
    for each in plan.would:
        freed[each.conversation.id] = each.own.total
        if each.subagents:
            share = each.along.total // len(each.subagents)
            for session in each.subagents:
                tip = catalog.forest.chain_of(session.id).tip.id
                freed[tip] = freed.get(tip, 0) + share
    return freed
