"""A plan and a space map as rows; made as they are asked for, whatever their number."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from hermes_browse.store.models import Conversation

from . import formats
from .clean_rows import KindRow, PlanJobRow, PlanRow, SpaceRow, SparedRow
from .list_model import job_name
from .rows import ListRow, NoteRow

if TYPE_CHECKING:
    from hermes_browse.store.catalog import Catalog
    from hermes_browse.store.prune.plan import Plan
    from hermes_browse.store.prune.spacemap import Space, SpaceMap

    from .list_model import Details

_MOST_BELOW = 100
"""Conversations shown of one source or job: the biggest."""
_KINDS = (
    ("tool output", "tool_output"),
    ("said", "text"),
    ("tool calls", "tool_calls"),
    ("reasoning", "reasoning"),
    ("images", "images"),
    ("system prompts", "prompts"),
    ("search index, estimated", "search"),
)


class PlanRows:
    """What would go, the runs of a cron job as one line until it is opened; then what is spared.

    Args:
        plan: Any.
        details: Previews read so far.
        unmarked: Roots that stay after all.
        empty: A sentence for a plan in which nothing goes.
        opened: Keys of jobs whose runs are shown.
    """

    def __init__(
        self, plan: Plan, details: Details, unmarked: Container[str], empty: str, opened: Container[str] = ()
    ) -> None:
        self._plan, self._details, self._unmarked, self._opened = plan, details, unmarked, opened
        self._jobs: dict[str, list[int]] = {}
        self._sums: dict[str, tuple[int, int | None]] = {}
        self._places = self._lay_out()
        self._note = NoteRow(f"{len(plan.spared):,} more that the rules mean, and that stay:") if plan.spared else None
        self._empty = NoteRow(empty)
        self._first_spared = max(len(self._places), 1) + 1
        self._index: dict[str, int] | None = None

    def _lay_out(self) -> list[int | str]:
        """Places in the plan, and names of jobs, in the order of the lines; a job stands where its first run would."""
        lines: list[int | str] = []
        for index, each in enumerate(self._plan.would):
            job = job_name(each.conversation.root)
            if job is None:
                lines.append(index)
                continue
            if job not in self._jobs:
                lines.append(job)
            self._jobs.setdefault(job, []).append(index)
        if not any(f"j{job}" in self._opened for job in self._jobs):
            return lines
        opened: list[int | str] = []
        for line in lines:
            opened.append(line)
            if isinstance(line, str) and f"j{line}" in self._opened:
                opened += self._jobs[line]
        return opened

    def __len__(self) -> int:
        return max(len(self._places), 1) + (1 + len(self._plan.spared) if self._note is not None else 0)

    def take(self, plan: Plan) -> None:
        """The same plan with more of its sizes.

        Args:
            plan: With the same conversations in the same order.
        """
        self._plan = plan
        self._sums.clear()

    def _known(self, conversation: Conversation) -> Conversation:
        return self._details.complete(conversation)[0]

    def _job(self, job: str) -> PlanJobRow:
        runs = tuple(self._plan.would[index] for index in self._jobs[job])
        if job not in self._sums:
            measured = all(each.is_measured for each in runs)
            size = sum(each.own.total + each.along.total for each in runs) if measured else None
            self._sums[job] = sum(each.own.rows + each.along.rows for each in runs), size
        goes = sum(each.conversation.root_id not in self._unmarked for each in runs)
        return PlanJobRow(job, runs, goes, *self._sums[job], f"j{job}" in self._opened)

    def row(self, index: int) -> ListRow:
        """The row at an index."""
        if index < len(self._places):
            place = self._places[index]
            if isinstance(place, str):
                return self._job(place)
            each = self._plan.would[place]
            known = self._known(each.conversation)._replace(size=each.conversation.size)
            return PlanRow(each._replace(conversation=known), each.conversation.root_id not in self._unmarked)
        if index >= self._first_spared:
            spared = self._plan.spared[index - self._first_spared]
            return SparedRow(spared._replace(conversation=self._known(spared.conversation)))
        return self._note if self._note is not None and index == self._first_spared - 1 else self._empty

    def index_of(self, key: str) -> int | None:
        """Where the row with a key is."""
        if self._index is None:
            would, spared = self._plan.would, self._plan.spared
            self._index = {
                f"j{place}" if isinstance(place, str) else f"p{would[place].conversation.root_id}": index
                for index, place in enumerate(self._places)
            }
            for index, stays in enumerate(spared, self._first_spared):
                self._index[f"s{stays.conversation.root_id}"] = index
        return self._index.get(key)

    def nameless(self, first: int, last: int) -> list[Conversation]:
        """Conversations of some rows that have no title and whose beginning has not been read."""
        rows = (self.row(index) for index in range(first, min(last + 1, len(self))))
        found = [row.planned.conversation for row in rows if isinstance(row, PlanRow)]
        return [each for each in found if not each.title and not each.preview]


def _freed(plan: Plan | None, catalog: Catalog, unmarked: Container[str]) -> dict[str, int]:
    """Bytes that go, by the tip of each conversation, subagents by their own tips."""
    freed: dict[str, int] = {}
    for each in plan.would if plan is not None else ():
        if each.conversation.root_id in unmarked:
            continue
        freed[each.conversation.id] = each.own.total
        if each.subagents:
            share = each.along.total // len(each.subagents)
            for session in each.subagents:
                tip = catalog.forest.chain_of[session.id].tip.id
                freed[tip] = freed.get(tip, 0) + share
    return freed


def space_rows(
    space_map: SpaceMap,
    plan: Plan | None,
    catalog: Catalog,
    details: Details,
    opened: Container[str],
    unmarked: Container[str],
) -> list[ListRow]:
    """The map line by line: sources, and of those that are open their kinds of content, jobs and conversations.

    Args:
        space_map: Any.
        plan: For what goes of each; None where there is none.
        catalog: For names.
        details: Previews read so far.
        opened: Keys of rows that are open.
        unmarked: Roots that stay after all.
    """
    freed = _freed(plan, catalog, unmarked)
    sums: dict[int, int] = {}

    def sum_of(space: Space) -> int:
        known = sums.get(id(space))
        if known is None:
            known = freed.get(space.name, 0) if space.level == "conversation" else sum(map(sum_of, space.below))
            sums[id(space)] = known
        return known

    def name_of(space: Space) -> str:
        if space.level != "conversation":
            count = f" · {space.conversations:,}" if space.level == "source" else f" · {space.conversations:,} runs"
            return f"{formats.source(space.name) if space.level == 'source' else space.name}{count}"
        conversation = catalog.of_session(space.name)
        return formats.name(details.complete(conversation)[0]) if conversation is not None else space.name

    rows: list[ListRow] = []

    def add(space: Space, depth: int) -> None:
        row = SpaceRow(space, depth, False, space_map.total.total, sum_of(space), name_of(space))
        is_open = row.key in opened
        rows.append(row._replace(is_open=is_open))
        if not is_open:
            return
        if depth == 0:
            kinds = [(name, getattr(space.sizes, field)) for name, field in _KINDS]
            whole = space_map.total.total
            rows.extend(KindRow(name, size, whole, 1, space.name) for name, size in kinds if size)
        for below in space.below[:_MOST_BELOW]:
            add(below, depth + 1)
        if len(space.below) > _MOST_BELOW:
            rows.append(NoteRow(f"{'  ' * (depth + 1)}  … and {len(space.below) - _MOST_BELOW:,} smaller ones"))

    for source in space_map.sources:
        add(source, 0)
    return rows or [NoteRow("This store has no sessions.")]
