"""Reads a family tree, and puts the compressions between the parts of their conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from hermes_browse.store.api import OpenStore
from hermes_browse.store.compression.compactions import (
    Compaction,
    CompactionKind,
    CompactionNote,
)
from hermes_browse.store.compression.losses import Losses
from hermes_browse.store.sessions.lineage import children_of
from hermes_browse.store.sessions.models import Lineage
from hermes_browse.store.wording import _, ngettext

from . import formats
from .family import CompactionEntry, Entries, Entry, Family, SessionEntry


def read_family(store: OpenStore, session_id: str, now: float) -> Family:
    """Read the family tree of a session, given by its exact id, and its compressions."""
    lineage = store.lineage(session_id, now)
    compactions = read_compactions(store, lineage)
    return Family(lineage, entries_of(lineage, compactions), compactions)


def read_compactions(store: OpenStore, lineage: Lineage) -> Sequence[Compaction]:
    """Read the compressions of the conversation that a tree was asked for."""
    segments = [node.session for node in lineage.nodes if node.on_path]
    return store.compactions(segments).compactions if store.is_compressed(segments) else ()


def entries_of(lineage: Lineage, compactions: Sequence[Compaction]) -> Entries:
    """Return what stands in a tree, and where: a compression stands between the parts of its
    conversation, in place after its part."""
    before: dict[str, list[Entry]] = defaultdict(list)
    after: dict[str, list[Entry]] = defaultdict(list)
    for number, compaction in enumerate(compactions):
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
    return _("~{before} → {after} tokens").format(before=before, after=after)


def count_lost(losses: Losses) -> str:
    """Say how much a compression lost."""
    count = len(losses.terms)
    words = ngettext("1 detail lost", "{count:,} details lost", count).format(count=count)
    return words if losses.is_complete else _("{count} or more").format(count=words)
