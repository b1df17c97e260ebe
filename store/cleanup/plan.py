"""Plan a clean-up: which conversations would go, with their bytes, cost and subagents, and which
stay, and why.

A plan has only whole conversations. As in a delete of one conversation, subagents go with their
parents, and branches stay and lose their parent.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

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

_ReadDetails = Callable[[list[Conversation]], list[Conversation]]


class Spared(NamedTuple):
    """A conversation that was chosen and stays all the same."""

    conversation: Conversation
    why: SpareReason


class Totals(NamedTuple):
    """Sums over a plan."""

    conversations: int
    sessions: int
    cost_usd: float | None
    """None if no cost is known."""
    sizes: Sizes
    """Of what is not measured yet it has the rows alone."""


class Plan(NamedTuple):
    """The effect of a clean-up."""

    selected: tuple[DeletePlan, ...] = ()
    """Longest idle first."""
    spared: tuple[Spared, ...] = ()

    @property
    def reparented(self) -> tuple[Session, ...]:
        """Sessions that stay and lose their parent in a delete."""
        deleted = {id for planned in self.selected for id in planned.session_ids}
        return tuple(
            session
            for planned in self.selected
            for session in planned.reparented
            if session.id not in deleted
        )

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
        return self._replace(selected=tuple(selected))

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
        return self._replace(selected=tuple(selected))

    def with_details(
        self,
        read: _ReadDetails,
        selected: int | None,
        spared: int = 0,
    ) -> Plan:
        """Add previews and message counts to so many conversations that would go, None for all, and
        that are spared; `read` adds them, in the same order."""
        return Plan(_detailed(self.selected, read, selected), _detailed(self.spared, read, spared))

    def narrowed(self, left_out: Container[str]) -> Plan:
        """Leave out conversations, given by the ids of their root segments."""
        selected = (each for each in self.selected if each.conversation.root_id not in left_out)
        return self._replace(selected=tuple(selected))

    def totals(self) -> Totals:
        """Add up the conversations that would go."""
        return Totals(
            conversations=len(self.selected),
            sessions=sum(len(planned.session_ids) for planned in self.selected),
            cost_usd=known_sum(planned.cost_usd for planned in self.selected),
            sizes=added(planned.sizes for planned in self.selected),
        )


def _detailed(entries: tuple[Any, ...], read: _ReadDetails, most: int | None) -> tuple[Any, ...]:
    """Add details to the conversations of the first entries, at most so many."""
    some = entries[:most]
    conversations = read([each.conversation for each in some]) if some else []
    pairs = zip(some, conversations, strict=True)
    return (*(each._replace(conversation=one) for each, one in pairs), *entries[len(some) :])


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
    marked = frozenset(filter(None, map(catalog.root_of, selection.marks)))
    selection = replace(selection, marks=marked)
    chosen = map(catalog.conversation, marked | _filtered(reader, catalog, selection, now, sizes))
    every = (affected_by_delete(catalog, each.id) for each in sorted(chosen, key=rank))
    reasons = [(each, why_spared(each, selection, catalog, busy, now)) for each in every]
    going = [each for each, why in reasons if why is None]
    # Dependents have no entry of their own.
    along = {dependent.root_id for delete in going for dependent in delete.dependent}
    deletes = [delete for delete in going if delete.conversation.root_id not in along]
    sessions = [session for delete in deletes for session in delete.sessions]
    counts = forget_changed(reader, sessions, sizes)
    if measure_sizes or selection.goals:
        measure(reader, sessions, known=sizes)
    selected = [delete.counted(counts).measured(sizes) for delete in deletes]
    if selection.goals:
        file = read_file_space(reader)
        used = file.file_bytes - file.free_bytes
        goal = min(bytes_to_free(each, used) for each in selection.goals)
        freed = accumulate((each.sizes.given_back_bytes for each in selected), initial=0)
        selected = [
            each
            for each, before in zip(selected, freed, strict=False)
            if before < goal or each.conversation.root_id in marked
        ]
    spared = (Spared(each.conversation, why) for each, why in reasons if why is not None)
    return Plan(tuple(selected), tuple(spared))


def _filtered(
    reader: Reader, catalog: Catalog, selection: Selection, now: float, known: KnownSizes
) -> set[str]:
    """Return the root ids of the conversations that the filters choose.

    Archived ones, and subagents that go with their parent, are left out unless a filter names
    them.
    """
    if not selection.has_filters:
        return set()
    states, sources = selection.states, selection.sources

    def is_wanted(root: str) -> bool:
        found = catalog.conversation(root)
        is_named = "subagent" in states or fold(found.source) in sources
        is_there = is_named or not found.is_attached_subagent
        return is_there and ("archived" in states or not found.archived)

    roots = roots_in(reader, compile_filters(selection.query, now), catalog, known=known)
    return set(filter(is_wanted, roots))
