"""Plan a clean-up: which conversations would go, with their bytes, cost and subagents, and which
stay, and why.

A plan has only whole conversations. As in a delete of one conversation, subagents go with their
parents, and branches stay and lose their parent.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Container,
    Iterable,
    Mapping,
    MutableMapping,
    Sequence,
)
from typing import NamedTuple

from ..connection.reader import Reader
from ..edit.delete_plan import affected_by_delete
from ..messages.transcript import count_stored_rows
from ..search.scope import compile_filters, roots_in
from ..search.terms import fold
from ..sessions.catalog import Catalog
from ..sessions.models import Conversation, known_sum
from ..sessions.protection import SpareReason
from ..sessions.session import Session
from ..sessions.session_rows import read_busy
from ..wording import _
from .selection import Selection
from .sizes import Sizes, added, batches, forget_changed, measure
from .space_map import read_file_space
from .spared import Standing, last_use, standing, why_spared

PIECE = 20_000
"""Messages that `measure_more` measures: some 30 ms, a delay acceptable for a rule typed
meanwhile."""


class Planned(NamedTuple):
    """A conversation that would go."""

    conversation: Conversation
    """`size` includes the subagents; None until all of them are measured."""
    standing: Standing
    subagents: tuple[Session, ...]
    """Sessions that a delete removes with it; an archive leaves them alone."""
    own: Sizes
    """Sizes of its segments; only their rows until they are measured. `own.shown` is its number of
    messages."""
    of_subagents: Sizes
    """Sizes of the subagents, likewise."""

    @property
    def is_measured(self) -> bool:
        """Whether its bytes are known."""
        return self.conversation.size is not None

    @property
    def rows(self) -> int:
        """Stored messages, those of its subagents included."""
        return self.own.rows + self.of_subagents.rows

    @property
    def bytes(self) -> int:
        """Bytes of its rows and their share of the search index, with its subagents."""
        return self.own.total + self.of_subagents.total

    @property
    def given_back_bytes(self) -> int:
        """Estimated: by how much the file shrinks when it is deleted with its subagents, the search
        index is optimized and a VACUUM has run."""
        return self.own.given_back_bytes + self.of_subagents.given_back_bytes

    @property
    def sessions(self) -> tuple[Session, ...]:
        """Its segments and subagents."""
        return (*self.conversation.segments, *self.subagents)

    @property
    def session_ids(self) -> tuple[str, ...]:
        return tuple(session.id for session in self.sessions)

    def measured(self, sizes: Mapping[str, Sizes]) -> Planned:
        """Fill in sizes, given by session id; unchanged if one is missing."""
        if not all(session.id in sizes for session in self.sessions):
            return self
        own = added(sizes[segment.id] for segment in self.conversation.segments)
        of_subagents = added(sizes[segment.id] for segment in self.subagents)
        conversation = self.conversation._replace(size=own.total + of_subagents.total)
        return self._replace(conversation=conversation, own=own, of_subagents=of_subagents)

    @property
    def cost_usd(self) -> float | None:
        """Cost of its segments and subagents; None if none is known."""
        return known_sum(session.cost_usd for session in self.sessions)


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
    deleted terms. 0 if nothing is deleted."""
    given_back_bytes: int
    """Estimated: by how much the file shrinks after `sessions optimize`. 0 if nothing is
    deleted."""


class Plan(NamedTuple):
    """The effect of a clean-up."""

    selected: tuple[Planned, ...]
    """Longest idle first."""
    spared: tuple[Spared, ...]
    reparented: tuple[Session, ...]
    """Sessions that stay and lose their parent in a delete."""

    def without_archived(self) -> Plan:
        """Leave out conversations that are archived already: an undo must not unarchive them."""
        return self._replace(
            selected=tuple(each for each in self.selected if not each.conversation.archived)
        )

    @property
    def is_measured(self) -> bool:
        """Whether the bytes of all conversations that would go are known."""
        return all(each.is_measured for each in self.selected)

    def unmeasured(self) -> list[Session]:
        """List the sessions that are not measured, in the order of the plan."""
        return [
            session for each in self.selected if not each.is_measured for session in each.sessions
        ]

    def measured(self, sizes: Mapping[str, Sizes]) -> Plan:
        """Fill in sizes, given by session id; the order stays."""
        return self._replace(
            selected=tuple(
                each if each.is_measured else each.measured(sizes) for each in self.selected
            )
        )

    def with_details(
        self,
        read: Callable[[list[Conversation]], list[Conversation]],
        selected: int | None,
        spared: int = 0,
    ) -> Plan:
        """Add previews and message counts to so many conversations that would go, None for all, and
        that are spared; `read` adds them."""
        shown = [each.conversation for each in self.selected[:selected]]
        shown += [each.conversation for each in self.spared[:spared]]
        detailed = {each.root_id: each for each in read(shown)}

        def completed(conversation: Conversation) -> Conversation:
            return detailed.get(conversation.root_id, conversation)

        return self._replace(
            selected=tuple(
                each._replace(conversation=completed(each.conversation)) for each in self.selected
            ),
            spared=tuple(
                each._replace(conversation=completed(each.conversation)) for each in self.spared
            ),
        )

    def narrowed(self, catalog: Catalog, left_out: Container[str]) -> Plan:
        """Leave out conversations, given by the ids of their root segments."""
        selected = tuple(
            each for each in self.selected if each.conversation.root_id not in left_out
        )
        if len(selected) == len(self.selected):
            return self
        return self._replace(selected=selected, reparented=_reparented(catalog, selected))

    def totals(self, *, is_archive: bool = False) -> Totals:
        """Add up the conversations that would go. An archive leaves subagents alone, and frees
        nothing."""
        sizes = added(each.own for each in self.selected)
        sessions = sum(len(each.conversation.segments) for each in self.selected)
        cost = known_sum(each.conversation.cost_usd for each in self.selected)
        if not is_archive:
            sizes = added([sizes, *(each.of_subagents for each in self.selected)])
            sessions += sum(len(each.subagents) for each in self.selected)
            cost = known_sum(each.cost_usd for each in self.selected)
        return Totals(
            conversations=len(self.selected),
            sessions=sessions,
            messages=sizes.rows,
            bytes=sizes.total,
            cost_usd=cost,
            messages_shown=sizes.shown,
            free_bytes=0 if is_archive or not sizes.total else sizes.free_bytes,
            given_back_bytes=0 if is_archive or not sizes.total else sizes.given_back_bytes,
        )


def _candidates(
    reader: Reader,
    catalog: Catalog,
    selection: Selection,
    now: float,
    known: MutableMapping[str, Sizes],
) -> tuple[list[Conversation], frozenset[str]]:
    """Return the chosen conversations, and the ids of the roots of those that were marked.

    Archived ones, and subagents that go with their parent, are left out unless a filter names them
    or they are marked.
    """
    forest = catalog.forest
    marked = frozenset(
        root for each in selection.marks if (root := forest.root_of(each)) is not None
    )
    chains = [forest.chain_of(root) for root in sorted(marked)]
    if not selection.has_filters:
        return chains, marked
    states, sources = selection.states, selection.sources
    for root in roots_in(reader, compile_filters(selection.query, now), catalog, known=known):
        chain = forest.chain_of(root)
        is_named_subagent = "subagent" in states or fold(chain.root.source) in sources
        if root in marked or (chain.root.archived and "archived" not in states):
            continue
        if chain.is_attached_subagent and not is_named_subagent:
            continue
        chains.append(chain)
    return chains, marked


def make_plan(
    reader: Reader,
    catalog: Catalog,
    selection: Selection,
    now: float,
    *,
    known: MutableMapping[str, Sizes] | None = None,
    measure_sizes: bool = True,
) -> Plan:
    """Plan a clean-up; nothing is written, and nothing is held between statements.

    Measuring is most of the work. A screen skips it at first and then calls `measure_more` for a
    piece at a time.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        selection: May choose nothing; then nothing goes.
        now: Unix seconds.
        known: Cache of sizes by session id, added to. A session with another number of rows by now
            is measured again.
        measure_sizes: False skips measuring, unless a filter on bytes needs it.
    """
    if selection.nothing:
        return Plan((), (), ())
    sizes = known if known is not None else {}
    counts: dict[str, int] = {}
    forest, states = catalog.forest, selection.states
    busy = read_busy(reader, now)
    going: dict[str, tuple[Conversation, Sequence[Conversation]]] = {}
    spared: list[Spared] = []
    chosen, marked = _candidates(reader, catalog, selection, now, sizes)
    for conversation in chosen:
        dependents = affected_by_delete(forest, [conversation.root_id]).dependent
        is_marked = conversation.root_id in marked
        why = why_spared(conversation, dependents, states, forest, busy, now, is_marked=is_marked)
        if why is None:
            going[conversation.root_id] = (conversation, dependents)
        else:
            spared.append(Spared(conversation, why))
    for _conversation, along in list(going.values()):  # dependents have no entry of their own
        for dependent in along:
            going.pop(dependent.root.id, None)
    sessions = [
        segment
        for conversation, dependents in going.values()
        for segments in (conversation.segments, *(each.segments for each in dependents))
        for segment in segments
    ]
    if sizes or not measure_sizes:
        forget_changed(reader, sessions, sizes, counts)
    if measure_sizes:
        measure(reader, sessions, known=sizes)
    planned = (
        _planned(each, dependents, sizes, counts, now) for each, dependents in going.values()
    )
    selected = sorted(planned, key=lambda each: last_use(each.conversation))
    if selection.has_goal:
        file = read_file_space(reader, 0)
        goal = selection.goal(file.file_bytes - file.free_bytes)
        selected = _until_freed(reader, selected, goal, marked, sizes)
    spared.sort(key=lambda each: last_use(each.conversation))
    return Plan(tuple(selected), tuple(spared), _reparented(catalog, selected))


def measure_more(
    reader: Reader, plan: Plan, known: MutableMapping[str, Sizes], *, most: int = PIECE
) -> Plan:
    """Measure a piece of a plan, at least one session, longest idle first; call it until
    `Plan.is_measured`.

    Take a new reader for each call, so that the store is not held in between. `known` is the cache
    of sizes that was passed to `make_plan`, and is added to. It stops after `most` messages.
    """
    measure(reader, plan.unmeasured(), known=known, most=most)
    return plan.measured(known)


def _reparented(catalog: Catalog, selected: Iterable[Planned]) -> tuple[Session, ...]:
    """List the sessions that stay and lose their parent, in the order of the plan."""
    deleted = dict.fromkeys(session_id for each in selected for session_id in each.session_ids)
    return tuple(
        child
        for each in deleted
        for child in catalog.forest.children_of(each)
        if child.id not in deleted
    )


def parents_first(catalog: Catalog, selected: Iterable[Planned]) -> list[Planned]:
    """Sort parents before their children, so that the catalog stays valid for those not yet
    deleted."""
    forest = catalog.forest

    def depth(planned: Planned) -> int:
        seen: set[str] = set()  # ends a cycle
        ancestor: Conversation | None = forest.chain_of(planned.conversation.root_id)
        while ancestor is not None and ancestor.root.id not in seen:
            seen.add(ancestor.root.id)
            ancestor = forest.parent_chain(ancestor)
        return len(seen)

    return sorted(selected, key=depth)


def changed_since(reader: Reader, planned: Planned) -> str | None:
    """Return why a planned conversation must not be touched any more; None if it has not changed.

    Carrying out a plan of thousands takes minutes, in which a chat can be resumed.
    """
    ids = list(planned.session_ids)
    if sum(count_stored_rows(reader, ids).values()) != planned.rows:
        return _("written to after the plan was made")
    ended = reader.schema.session("ended_at")
    rows = reader.rows_in(
        f"SELECT s.id, {ended} IS NULL FROM sessions s WHERE s.id IN ({{keys}})", ids
    )
    if len(rows) != len(ids):
        return _("changed after the plan was made: sessions are gone")
    was_open = {session.id for session in planned.sessions if session.ended_at is None}
    if any(is_open and key not in was_open for key, is_open in rows):
        return _("resumed after the plan was made")
    return None


def first_change(reader: Reader, conversations: Sequence[Planned]) -> str | None:
    """Return why one of some planned conversations must not be touched any more."""
    reasons = (changed_since(reader, each) for each in conversations)
    return next((reason for reason in reasons if reason is not None), None)


def _until_freed(
    reader: Reader,
    selected: Iterable[Planned],
    goal: int,
    marked: Container[str],
    sizes: MutableMapping[str, Sizes],
) -> list[Planned]:
    """Return the marked conversations, and the first ones until so many bytes would be given
    back."""
    taken: list[Planned] = []
    freed = 0
    for batch in batches(selected, lambda each: each.rows, PIECE):
        if freed < goal:
            measure(reader, [session for each in batch for session in each.sessions], known=sizes)
        for each in batch:
            measured = each.measured(sizes)
            if freed < goal or measured.conversation.root_id in marked:
                taken.append(measured)
                freed += measured.given_back_bytes
    return taken


def _planned(
    conversation: Conversation,
    dependents: Iterable[Conversation],
    sizes: Mapping[str, Sizes],
    counts: Mapping[str, int],
    now: float,
) -> Planned:
    subagents = tuple(segment for chain in dependents for segment in chain.segments)
    own = Sizes(rows=sum(counts.get(segment.id, 0) for segment in conversation.segments))
    of_subagents = Sizes(rows=sum(counts.get(segment.id, 0) for segment in subagents))
    planned = Planned(
        conversation._replace(size=None),
        standing(conversation, now, 0.0),
        subagents,
        own,
        of_subagents,
    )
    return planned.measured(sizes)
