"""The family tree of a conversation, with the compressions between the parts of theirs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.connection.reader import grouped
from hermes_browse.store.sessions.models import Lineage, Node, Relation
from hermes_browse.store.wording import _, ngettext

from . import formats

if TYPE_CHECKING:  # the first frame does without compressions
    from hermes_browse.store.api import OpenStore
    from hermes_browse.store.compression.compactions import Compaction
    from hermes_browse.store.compression.losses import Losses


class SessionEntry(NamedTuple):
    node: Node
    is_target: bool
    """Whether a resume opens this session."""

    @property
    def session_id(self) -> str:
        return self.node.session.id

    @property
    def key(self) -> str:
        return session_key(self.session_id)


class CompactionEntry(NamedTuple):
    number: int
    """Among those of its conversation, counted from 0."""
    compaction: Compaction
    outcome: str
    """`27 messages became a summary`."""
    tokens: str
    """The size of the context before and after: `~1.7k → 198 tokens`."""

    @property
    def session_id(self) -> str:
        """The session whose messages were replaced."""
        return self.compaction.session_id

    @property
    def key(self) -> str:
        return compaction_key(self.compaction, self.number)


Entry = SessionEntry | CompactionEntry
Entries = Mapping[str | None, Sequence[Entry]]
"""Entries by the session that they stand under, top to bottom; by None those at the top."""


class Family(NamedTuple):
    lineage: Lineage
    entries: Entries
    compactions: Sequence[Compaction]
    """Of the conversation of the focus, oldest first."""
    lost: Mapping[str, str] = {}
    """How much a compression lost, in words, by the key of its entry; others are not known."""


NO_FAMILY = Family(Lineage("", "", "", "", ()), {}, ())
"""In place of one that has not been read."""


def session_key(session_id: str) -> str:
    """Return the key of a session's entry, which stays when the tree is read again."""
    return f"l{session_id}"


def compaction_key(compaction: Compaction, number: int) -> str:
    """Return the key of a compression's entry, given its number in its conversation."""
    return f"x{compaction.session_id} {number}"


def read_family(store: OpenStore, session_id: str, now: float) -> Family:
    """Read the family tree of a session, given by its exact id, and its compressions."""
    lineage = store.lineage(session_id, now)
    every = read_compactions(store, lineage)
    path = {node.session.id for node in lineage.nodes if node.on_path}
    own = next((each for each in every if each[0].session_id in path), ())
    return Family(lineage, entries_of(lineage, every), own)


def read_compactions(store: OpenStore, lineage: Lineage) -> list[Sequence[Compaction]]:
    """Read the compressions of the conversations in a tree, of each that has any.

    Of those that the tree was not asked for, only a conversation of several parts is looked at.
    """
    read = (nodes for nodes in _conversations(lineage) if len(nodes) > 1 or nodes[0].on_path)
    chains = ([node.session for node in nodes] for nodes in read)
    found = (store.compactions(each).compactions for each in chains if store.is_compressed(each))
    return [each for each in found if each]


def _conversations(lineage: Lineage) -> Iterator[list[Node]]:
    """Yield the parts of each conversation in a tree: they stand below each other."""
    for siblings in grouped(lineage.nodes, attrgetter("above")).values():
        parts: list[Node] = []
        for node in siblings:
            if parts and not (node.relation is Relation.CONTINUED and not node.note):
                yield parts
                parts = []
            parts.append(node)
        yield parts


def entries_of(lineage: Lineage, compactions: Iterable[Sequence[Compaction]]) -> Entries:
    """Return what stands in a tree, and where: a compression stands between the parts of its
    conversation, in place after its part."""
    before: dict[str, list[Entry]] = defaultdict(list)
    after: dict[str, list[Entry]] = defaultdict(list)
    for number, compaction in chain.from_iterable(map(enumerate, compactions)):
        entry = CompactionEntry(number, compaction, outcome(compaction), context_sizes(compaction))
        here, there = compaction.session_id, compaction.into_session_id
        if there is None or there == here:
            after[here].append(entry)
        else:
            before[next(iter(compaction.empty_sessions), there)].append(entry)
    entries: dict[str | None, list[Entry]] = defaultdict(list)
    for above, nodes in grouped(lineage.nodes, attrgetter("above")).items():
        for node in nodes:
            session_id = node.session.id
            entry_of_session = SessionEntry(node, session_id == lineage.target)
            entries[above] += [*before[session_id], entry_of_session, *after[session_id]]
    return dict(entries)


def with_guides(entries: Entries, folded: Container[str] = ()) -> Iterator[tuple[Entry, str]]:
    """Yield what stands in a tree, top to bottom, each with the lines that lead to it; what stands
    under a folded entry, given by its key, is left out."""
    left = [(entry, "") for entry in reversed(entries.get(None, ()))]
    while left:
        entry, guides = left.pop()
        yield entry, guides
        if isinstance(entry, CompactionEntry) or entry.key in folded:
            continue
        guides = guides.replace("├", "│").replace("└", " ")
        branch = "└ "
        for child in reversed(entries.get(entry.session_id, ())):
            left.append((child, guides + branch))
            branch = "├ "


def outcome(compaction: Compaction) -> str:
    """Say what became of how many messages."""
    if compaction.is_aborted:
        return ngettext(
            "compressing 1 message was aborted",
            "compressing {count:,} messages was aborted",
            len(compaction.before),
        )
    count = len(compaction.gone)
    if compaction.summary is None:
        return ngettext(
            "1 message was left behind without a summary",
            "{count:,} messages were left behind without a summary",
            count,
        )
    return ngettext("1 message became a summary", "{count:,} messages became a summary", count)


def context_sizes(compaction: Compaction) -> str:
    """Say how large the context was before and after."""
    before = formats.number(formats.tokens(compaction.bytes_before))
    after = formats.number(formats.tokens(compaction.bytes_after))
    return _("~{before} → {after} tokens", before=before, after=after)


def count_lost(losses: Losses) -> str:
    """Say how much a compression lost."""
    count = len(losses.terms)
    words = ngettext("1 detail lost", "{count:,} details lost", count)
    return words if losses.is_complete else _("{count} or more", count=words)
