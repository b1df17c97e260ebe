"""Plan a clean-up: which conversations would go, with their bytes, cost and subagents, and which
stay, and why.

A plan has only whole conversations. As in a delete of one conversation, subagents go with their
parents, and branches stay and lose their parent.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Set
from typing import NamedTuple

from ..amounts import bytes_to_free
from ..connection.reader import Reader
from ..edit.delete_plan import DeletePlan, affected_by_delete
from ..search.scope import compile_filters, roots_in
from ..search.terms import fold
from ..sessions.catalog import Catalog, SpareReason, rank
from ..sessions.models import Conversation, Session, known_sum
from ..sessions.session_rows import read_busy
from .selection import Selection, why_spared
from .sizes import KnownSizes, Sizes, added, forget_changed, measure, read_file_space


class Spared(NamedTuple):
    """A conversation that was chosen and stays all the same."""

    conversation: Conversation
    why: SpareReason


class Totals(NamedTuple):
    """Sums over a plan."""

    conversations: int
    sessions: int
    messages: int
    """Rows of `messages`, shown or not."""
    bytes: int
    """Of the measured conversations."""
    cost_usd: float | None
    """None if no cost is known."""
    messages_shown: int
    """The chat messages among them that are shown by default; of what is measured."""
    free_bytes: int
    """Estimated: free for new rows at once. Deleting frees less than `bytes`: FTS5 only marks
    deleted terms."""
    given_back_bytes: int
    """Estimated: by how much the file shrinks after `sessions optimize`."""


class Plan(NamedTuple):
    """The effect of a clean-up."""

    selected: tuple[DeletePlan, ...] = ()
    """Longest idle first."""
    spared: tuple[Spared, ...] = ()

    @property
    def reparented(self) -> tuple[Session, ...]:
        """Sessions that stay and lose their parent in a delete."""
        reparented = [session for planned in self.selected for session in planned.reparented]
        if not reparented:  # as in most plans, of up to 100,000 conversations
            return ()
        deleted = {session.id for planned in self.selected for session in planned.sessions}
        return tuple(session for session in reparented if session.id not in deleted)

    def tips(self) -> tuple[str, ...]:
        """Return the ids of all conversations that would go."""
        return tuple(each.conversation.id for each in self.selected)

    def roots(self) -> frozenset[str]:
        """Return the roots of all conversations that would go."""
        return frozenset(each.conversation.root_id for each in self.selected)

    def for_archive(self) -> Plan:
        """Leave out what an archive leaves alone: subagents, and conversations that are archived
        already, as an undo must not unarchive them."""
        selected = (each.alone() for each in self.selected if not each.conversation.archived)
        return Plan(tuple(selected), self.spared)

    @property
    def is_measured(self) -> bool:
        """Whether the bytes of all conversations that would go are known."""
        return all(each.is_measured for each in self.selected)

    def unmeasured(self) -> list[Session]:
        """List the sessions that are not measured, in the order of the plan."""
        return [s for each in self.selected if not each.is_measured for s in each.sessions]

    def measured(self, sizes: Mapping[str, Sizes]) -> Plan:
        """Fill in sizes, given by session id; the order stays."""
        selected = (each if each.is_measured else each.measured(sizes) for each in self.selected)
        return Plan(tuple(selected), self.spared)

    def with_details(
        self,
        read: Callable[[list[Conversation]], list[Conversation]],
        selected: int | None,
        spared: int = 0,
    ) -> Plan:
        """Add previews and message counts to so many conversations that would go, None for all, and
        that are spared; `read` adds them, in the same order."""
        going, kept = self.selected[:selected], self.spared[:spared]
        shown: list[DeletePlan | Spared] = [*going, *kept]
        read_ones = iter(read([each.conversation for each in shown]))
        going = tuple(
            each._replace(conversation=next(read_ones, each.conversation)) for each in going
        )
        kept = tuple(
            each._replace(conversation=next(read_ones, each.conversation)) for each in kept
        )
        return Plan(going + self.selected[len(going) :], kept + self.spared[len(kept) :])

    def narrowed(self, left_out: Container[str]) -> Plan:
        """Leave out conversations, given by the ids of their root segments."""
        selected = (each for each in self.selected if each.conversation.root_id not in left_out)
        return Plan(tuple(selected), self.spared)

    def totals(self) -> Totals:
        """Add up the conversations that would go."""
        sizes = added(planned.sizes for planned in self.selected)
        return Totals(
            conversations=len(self.selected),
            sessions=sum(len(planned.session_ids) for planned in self.selected),
            messages=sizes.rows,
            bytes=sizes.total,
            cost_usd=known_sum(planned.cost_usd for planned in self.selected),
            messages_shown=sizes.shown,
            free_bytes=sizes.free_bytes,
            given_back_bytes=sizes.given_back_bytes,
        )


def _candidates(
    reader: Reader,
    catalog: Catalog,
    selection: Selection,
    marked: Set[str],
    now: float,
    known: KnownSizes,
) -> Iterator[Conversation]:
    """Yield the chosen conversations; `marked` are the ids of the roots of those that were marked.

    Archived ones, and subagents that go with their parent, are left out unless a filter names them
    or they are marked.
    """
    yield from map(catalog.conversation, sorted(marked))
    if not selection.has_filters:
        return
    states, sources = selection.states, selection.sources
    for root in roots_in(reader, compile_filters(selection.query, now), catalog, known=known):
        found = catalog.conversation(root)
        is_named = "subagent" in states or fold(found.root.source) in sources
        is_wanted = is_named or not found.is_attached_subagent
        if root not in marked and is_wanted and ("archived" in states or not found.root.archived):
            yield found


def make_plan(
    reader: Reader,
    catalog: Catalog,
    selection: Selection,
    now: float,
    *,
    known: KnownSizes | None = None,
    measure_sizes: bool = True,
) -> Plan:
    """Plan a clean-up; nothing is written, and nothing is held between statements.

    Measuring is most of the work. A screen skips it at first, and then measures a piece of
    `Plan.unmeasured` at a time, with a new reader for each.

    Args:
        catalog: Of the whole store.
        selection: May choose nothing; then nothing goes.
        now: Unix seconds.
        known: Cache of sizes by session id, added to. A session with another number of rows by now
            is measured again.
        measure_sizes: False skips measuring, unless a filter needs it.
    """
    if selection.is_empty:
        return Plan()
    sizes = known if known is not None else {}
    busy = read_busy(reader, now)
    going: list[DeletePlan] = []
    spared: list[Spared] = []
    marked = frozenset(filter(None, map(catalog.root_of, selection.marks)))
    for conversation in _candidates(reader, catalog, selection, marked, now, sizes):
        root = conversation.root_id
        delete = affected_by_delete(catalog, root)
        why = why_spared(
            conversation, delete.dependent, selection, catalog, busy, now,
            is_marked=root in marked,
        )  # fmt: skip
        if why is None:
            going.append(delete)
        else:
            spared.append(Spared(conversation, why))
    # Dependents have no entry of their own.
    along = {dependent.root_id for delete in going for dependent in delete.dependent}
    deletes = [delete for delete in going if delete.conversation.root_id not in along]
    sessions = [catalog.sessions[id] for delete in deletes for id in delete.session_ids]
    counts = forget_changed(reader, sessions, sizes)
    if measure_sizes or selection.goals:
        measure(reader, sessions, known=sizes)
    selected = [delete.counted(counts).measured(sizes) for delete in deletes]
    selected.sort(key=lambda each: rank(each.conversation))
    if selection.goals:
        file = read_file_space(reader)
        used = file.file_bytes - file.free_bytes
        goal = min(bytes_to_free(each, used) for each in selection.goals)
        selected = [*_until_freed(selected, goal, marked)]
    spared.sort(key=lambda each: rank(each.conversation))
    return Plan(tuple(selected), tuple(spared))


def _until_freed(
    selected: Iterable[DeletePlan], goal: int, marked: Container[str]
) -> Iterator[DeletePlan]:
    """Yield the marked ones, and the first ones until so many bytes would be given back."""
    freed = 0
    for each in selected:
        if freed < goal or each.conversation.root_id in marked:
            yield each
            freed += each.sizes.given_back_bytes
