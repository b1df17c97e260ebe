"""A plan and a space map as rows; made as they are asked for, whatever their number."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from hermes_browse.store.models import Conversation

from . import formats
from .clean_rows import KindRow, PlanRow, SpaceRow, SparedRow
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
    """What would go, then what is spared.

    Args:
        plan: Any.
        details: Previews read so far.
        unmarked: Roots that stay after all.
        empty: A sentence for a plan in which nothing goes.
    """

    def __init__(self, plan: Plan, details: Details, unmarked: Container[str], empty: str) -> None:
        self._plan, self._details, self._unmarked = plan, details, unmarked
        self._note = NoteRow(f"{len(plan.spared):,} more that the rules mean, and that stay:") if plan.spared else None
        self._empty = NoteRow(empty)
        self._first_spared = max(len(plan.would), 1) + 1
        self._index: dict[str, int] | None = None

    def __len__(self) -> int:
        return max(len(self._plan.would), 1) + (1 + len(self._plan.spared) if self._note is not None else 0)

    def take(self, plan: Plan) -> None:
        """The same plan with more of its sizes.

        Args:
            plan: With the same conversations in the same order.
        """
        self._plan = plan

    def _known(self, conversation: Conversation) -> Conversation:
        return self._details.complete(conversation)[0]

    def row(self, index: int) -> ListRow:
        """The row at an index."""
        would = self._plan.would
        if index < len(would):
            each = would[index]
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
            self._index = {f"p{each.conversation.root_id}": index for index, each in enumerate(would)}
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
