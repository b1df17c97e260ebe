"""Reads a family tree, and puts the compressions between the parts of their conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from hermes_browse.store.api import OpenStore
from hermes_browse.store.compression.compactions import (
    Compaction,
    CompactionKind,
    CompactionNote,
)
from hermes_browse.store.compression.losses import Losses
from hermes_browse.store.sessions.lineage import children_of
from hermes_browse.store.sessions.models import Lineage, Node, Relation
from hermes_browse.store.wording import _, ngettext

from . import formats
from .family import CompactionEntry, Entries, Entry, Family, SessionEntry


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
    found: list[Sequence[Compaction]] = []
    for nodes in _conversations(lineage):
        segments = [node.session for node in nodes]
        is_read = len(nodes) > 1 or nodes[0].on_path
        if is_read and store.is_compressed(segments):
            found.append(store.compactions(segments).compactions)
    return [each for each in found if each]


def _conversations(lineage: Lineage) -> Iterator[list[Node]]:
    """Yield the parts of each conversation in a tree: they stand below each other."""
    for siblings in children_of(lineage.nodes).values():
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
        entry = CompactionEntry(number, compaction, _outcome(compaction), _tokens(compaction))
        following = next(iter(compaction.empty_sessions), compaction.into_session_id)
        if compaction.kind is CompactionKind.ROTATION and following is not None:
            before[following].append(entry)
        else:
            after[compaction.session_id].append(entry)
    entries: dict[str | None, list[Entry]] = defaultdict(list)
    for above, nodes in children_of(lineage.nodes).items():
        for node in nodes:
            session_id = node.session.id
            entry_of_session = SessionEntry(node, session_id == lineage.resume.id)
            entries[above] += [*before[session_id], entry_of_session, *after[session_id]]
    return dict(entries)


def _outcome(compaction: Compaction) -> str:
    """Say what became of how many messages."""
    count = len(compaction.gone)
    if CompactionNote.ABORTED in compaction.notes:
        count = len(compaction.before)
        words = ngettext(
            "compressing 1 message was aborted", "compressing {count:,} messages was aborted", count
        )
    elif compaction.summary is None:
        words = ngettext(
            "1 message was left behind without a summary",
            "{count:,} messages were left behind without a summary",
            count,
        )
    else:
        words = ngettext("1 message became a summary", "{count:,} messages became a summary", count)
    return words.format(count=count)


def _tokens(compaction: Compaction) -> str:
    before = formats.number(formats.tokens(compaction.bytes_before))
    after = formats.number(formats.tokens(compaction.bytes_after))
    return _("~{before} → {after} tokens", before=before, after=after)


def count_lost(losses: Losses) -> str:
    """Say how much a compression lost."""
    count = len(losses.terms)
    words = ngettext("1 detail lost", "{count:,} details lost", count, count=count)
    return words if losses.is_complete else _("{count} or more", count=words)
