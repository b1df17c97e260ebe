"""Plan a clean-up: which conversations would go, with their bytes, cost and subagents, and which
stay, and why.

A plan has only whole conversations. As in a delete of one conversation, subagents go with their
parents, and branches stay and lose their parent.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from ..amounts import bytes_to_free
from ..connection.reader import Reader
from ..edit.delete_plan import DeletePlan, affected_by_delete
from ..messages.transcript import count_stored_rows
from ..search.scope import compile_filters, roots_in
from ..search.terms import fold
from ..sessions.catalog import Catalog, SpareReason, rank
from ..sessions.models import Conversation, Session, known_sum
from ..sessions.relations import is_ended
from ..sessions.session_rows import read_busy
from .selection import Selection, why_spared
from .sizes import KnownSizes, Sizes, added, forget_changed, measure, read_file_space


class Expected(NamedTuple):
    """A conversation as a plan knows it: one that is different by now stays, as carrying out a plan
    of thousands takes minutes, in which a chat can be resumed."""

    id: str
    sessions: tuple[str, ...]
    """Its segments and subagents."""
    are_open: frozenset[str]
    """Those of them that have not ended."""
    rows: int
    """Their stored messages."""


class Planned(NamedTuple):
    """A conversation that would go."""

    conversation: Conversation
    """`size` includes the subagents; None until all of them are measured."""
    subagents: tuple[Session, ...]
    """Sessions that a delete removes with it; an archive leaves them alone."""
    reparented: tuple[Session, ...]
    """Sessions that a delete leaves without a parent."""
    own: Sizes
    """Sizes of its segments; only their rows until they are measured. `own.shown` is its number of
    messages."""
    sizes: Sizes
    """Likewise, with those of its subagents."""

    @property
    def is_measured(self) -> bool:
        """Whether its bytes are known."""
        return self.conversation.size is not None

    @property
    def standing(self) -> str:
        """`ended`, or `stale-open` if no end is recorded: one in use is never planned."""
        return "ended" if is_ended(self.conversation.segments) else "stale-open"

    @property
    def rows(self) -> int:
        """Stored messages, those of its subagents included."""
        return self.sizes.rows

    @property
    def bytes(self) -> int:
        """Bytes of its rows and their share of the search index, with its subagents."""
        return self.sizes.total

    @property
    def sessions(self) -> tuple[Session, ...]:
        """Its segments and subagents."""
        return (*self.conversation.segments, *self.subagents)

    @property
    def session_ids(self) -> tuple[str, ...]:
        return tuple(session.id for session in self.sessions)

    @property
    def cost_usd(self) -> float | None:
        """Cost of its segments and subagents; None if none is known."""
        return known_sum(session.cost_usd for session in self.sessions)

    @property
    def expected(self) -> Expected:
        """What must still be so when it goes."""
        are_open = frozenset(session.id for session in self.sessions if session.ended_at is None)
        return Expected(self.conversation.id, self.session_ids, are_open, self.rows)

    def alone(self) -> Planned:
        """Return it without its subagents."""
        size = self.own.total if self.is_measured else None
        conversation = self.conversation._replace(size=size)
        return Planned(conversation, (), (), self.own, self.own)

    def measured(self, sizes: Mapping[str, Sizes]) -> Planned:
        """Fill in sizes, given by session id; unchanged if one is missing."""
        if not all(session.id in sizes for session in self.sessions):
            return self
        own = added(sizes[segment.id] for segment in self.conversation.segments)
        whole = added(sizes[session.id] for session in self.sessions)
        conversation = self.conversation._replace(size=whole.total)
        return self._replace(conversation=conversation, own=own, sizes=whole)


class Spared(NamedTuple):
    """A conversation that was chosen and stays all the same."""

    conversation: Conversation
    why: SpareReason


Entry = TypeVar("Entry", Planned, Spared)


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

    selected: tuple[Planned, ...] = ()
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
        that are spared; `read` adds them."""
        shown: list[Planned | Spared] = [*self.selected[:selected], *self.spared[:spared]]
        detailed = {each.root_id: each for each in read([each.conversation for each in shown])}

        def completed(each: Entry) -> Entry:
            known = detailed.get(each.conversation.root_id, each.conversation)
            return each._replace(conversation=known)

        return self._replace(
            selected=tuple(map(completed, self.selected)), spared=tuple(map(completed, self.spared))
        )

    def narrowed(self, left_out: Container[str]) -> Plan:
        """Leave out conversations, given by the ids of their root segments."""
        selected = (each for each in self.selected if each.conversation.root_id not in left_out)
        return Plan(tuple(selected), self.spared)

    def totals(self) -> Totals:
        """Add up the conversations that would go."""
        sizes = added(planned.sizes for planned in self.selected)
        return Totals(
            conversations=len(self.selected),
            sessions=sum(len(planned.sessions) for planned in self.selected),
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
    now: float,
    known: KnownSizes,
) -> tuple[list[Conversation], frozenset[str]]:
    """Return the chosen conversations, and the ids of the roots of those that were marked.

    Archived ones, and subagents that go with their parent, are left out unless a filter names them
    or they are marked.
    """
    marked = frozenset(filter(None, map(catalog.root_of, selection.marks)))
    chosen = [catalog.conversation(root) for root in sorted(marked)]
    if not selection.has_filters:
        return chosen, marked
    states, sources = selection.states, selection.sources
    for root in roots_in(reader, compile_filters(selection.query, now), catalog, known=known):
        found = catalog.conversation(root)
        is_named = "subagent" in states or fold(found.root.source) in sources
        is_wanted = is_named or not found.is_attached_subagent
        if root not in marked and is_wanted and ("archived" in states or not found.root.archived):
            chosen.append(found)
    return chosen, marked


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
    going: dict[str, DeletePlan] = {}
    along: set[str] = set()
    spared: list[Spared] = []
    chosen, marked = _candidates(reader, catalog, selection, now, sizes)
    for conversation in chosen:
        root = conversation.root_id
        delete = affected_by_delete(catalog, root)
        why = why_spared(
            conversation, delete.dependent, selection, catalog, busy, now,
            is_marked=root in marked,
        )  # fmt: skip
        if why is None:
            going[root] = delete
            along.update(dependent.root_id for dependent in delete.dependent)
        else:
            spared.append(Spared(conversation, why))
    # Dependents have no entry of their own.
    deletes = [delete for root, delete in going.items() if root not in along]
    sessions = [catalog.sessions[id] for delete in deletes for id in delete.sessions]
    counts = forget_changed(reader, sessions, sizes)
    if measure_sizes or selection.goals:
        measure(reader, sessions, known=sizes)
    selected = [_planned(delete, counts).measured(sizes) for delete in deletes]
    selected.sort(key=lambda each: rank(each.conversation))
    if selection.goals:
        file = read_file_space(reader)
        used = file.file_bytes - file.free_bytes
        goal = min(bytes_to_free(each, used) for each in selection.goals)
        selected = [*_until_freed(selected, goal, marked)]
    spared.sort(key=lambda each: rank(each.conversation))
    return Plan(tuple(selected), tuple(spared))


def _planned(delete: DeletePlan, counts: Mapping[str, int]) -> Planned:
    """Return what would go, not yet measured; `counts` are the messages by session."""
    subagents = tuple(segment for other in delete.dependent for segment in other.segments)
    own, whole = (
        Sizes(rows=sum(counts.get(id, 0) for id in ids))
        for ids in (delete.conversation.session_ids, delete.sessions)
    )
    return Planned(delete.conversation, subagents, delete.reparented, own, whole)


def read_expected(
    reader: Reader, catalog: Catalog, session_ids: Iterable[str]
) -> dict[str, Expected]:
    """Return what a delete of the conversations of some sessions would take now, by tip; sessions
    that are gone are left out."""
    deletes = [affected_by_delete(catalog, id) for id in session_ids if id in catalog.sessions]
    counts = count_stored_rows(reader, [id for delete in deletes for id in delete.sessions])
    found = (_planned(delete, counts).expected for delete in deletes)
    return {each.id: each for each in found}


def _until_freed(
    selected: Iterable[Planned], goal: int, marked: Container[str]
) -> Iterator[Planned]:
    """Yield the marked ones, and the first ones until so many bytes would be given back."""
    freed = 0
    for each in selected:
        if freed < goal or each.conversation.root_id in marked:
            yield each
            freed += each.sizes.given_back_bytes
