"""Rows for compactions, in the inspector's list and in the lineage: each with a bar of its context
before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.compression.compactions import (
    Compaction,
    CompactionKind,
    CompactionNote,
)
from hermes_browse.store.sessions.models import Lineage
from hermes_browse.store.wording import N_, _, ngettext

from .. import formats
from ..list.lineage_rows import LineageRow, lineage_rows
from ..list.list_rows import ListRow
from ..shared.styled import Line, line_width, tailed
from .inspection import WAYS, tokens

_BAR, _TREE_BAR = 16, 8
_BAR_FROM, _WAY_FROM, _LOST_FROM, _TREE_BAR_FROM = 79, 92, 104, 56
"""The narrowest rows, in cells, that have a column."""


class CompactionRow(NamedTuple):
    """One compaction."""

    number: int
    """Counted from 0."""
    compaction: Compaction
    most: int
    """Bytes of the biggest context of the list, for the bar."""
    lost: str
    """How much it lost, in words."""

    @property
    def key(self) -> str:
        return f"c{self.number}"

    def spans(self, width: int, now: float) -> Line:
        compaction = self.compaction
        when = formats.timestamp(compaction.at) or _("unknown time")
        line: Line = [_mark(compaction), (formats.fit(when, 18), "title")]
        if width >= _WAY_FROM:
            line.append((formats.fit(_(WAYS[compaction.kind]), 13), "dim"))
        line.append((formats.fit(outcome(compaction), 20), "plain"))
        if width >= _BAR_FROM:
            line += [*_bar(compaction, self.most, _BAR), ("  ", "dim")]
        line.append((formats.fit(_tokens(compaction), 20), "plain"))
        if width >= _LOST_FROM:
            line.append((self.lost, "accent"))
        return tailed(line, "", width)


class TreeRow(NamedTuple):
    """One compaction in the lineage tree."""

    number: int
    """Counted from 0."""
    compaction: Compaction
    most: int
    """Bytes of the biggest context of the conversation, for the bar."""
    guides: str
    """Tree lines before it."""

    @property
    def enter(self) -> str:
        return N_("open")

    @property
    def key(self) -> str:
        return f"x{self.number}"

    def spans(self, width: int, now: float) -> Line:
        line: Line = [(f" {self.guides}", "dim")]
        if width >= _TREE_BAR_FROM:
            line += [*_bar(self.compaction, self.most, _TREE_BAR), (" ", "dim")]
        line += [
            ("! " if self.compaction.is_broken else "", "accent"),
            (_("compressed:") + " ", "dim"),
            (outcome(self.compaction), "plain"),
        ]
        when = f" {formats.age(self.compaction.at, now)} "
        room = width - line_width([(when, "dim")])
        whole: Line = [*line, (f"  {_tokens(self.compaction)}", "dim")]
        return tailed(whole if line_width(whole) <= room else line, when, width)


def _mark(compaction: Compaction) -> tuple[str, str]:
    if compaction.is_broken:
        return " ! ", "accent"
    return (" · ", "dim") if compaction.is_known else (" ? ", "accent")


def _bar(compaction: Compaction, most: int, width: int) -> Line:
    before = round(width * compaction.bytes_before / max(most, 1))
    after = round(width * compaction.bytes_after / max(most, 1))
    after = min(max(after, 1 if compaction.bytes_after else 0), width)
    gone = max(before - after, 0)
    return [("█" * after, "accent"), ("░" * gone, "dim"), (" " * (width - after - gone), "dim")]


def _tokens(compaction: Compaction) -> str:
    before = formats.number(tokens(compaction.bytes_before))
    after = formats.number(tokens(compaction.bytes_after))
    return _("~{before} ▸ {after} tok").format(before=before, after=after)


def _most(compactions: Sequence[Compaction]) -> int:
    return max((max(each.bytes_before, each.bytes_after) for each in compactions), default=0)


def outcome(compaction: Compaction) -> str:
    """Return how many messages became what: `27 msgs ▸ summary`."""
    if CompactionNote.ABORTED in compaction.notes:
        count, what = len(compaction.before), _("aborted")
    else:
        count = len(compaction.gone)
        what = _("nothing") if compaction.summary is None else _("summary")
    words = ngettext("1 msg ▸ {what}", "{count:,} msgs ▸ {what}", count)
    return words.format(count=count, what=what)


def compaction_rows(
    compactions: Sequence[Compaction], lost: Mapping[int, str]
) -> list[CompactionRow]:
    """Return the rows of a list, oldest first.

    `lost` says by number how much was lost, as far as it is known; "…" stands for the others.
    """
    most = _most(compactions)
    return [
        CompactionRow(number, compaction, most, lost.get(number, "…"))
        for number, compaction in enumerate(compactions)
    ]


def read_tree(
    store: OpenStore, session_id: str, now: float
) -> tuple[Lineage, Sequence[Compaction], list[ListRow]]:
    """Read the family tree of a session, given by its exact id, its compactions, and the rows for
    both."""
    lineage = store.lineage(session_id, now)
    segments = [node.session for node in lineage.nodes if node.on_path]
    compactions = store.compactions(segments).compactions if store.is_compressed(segments) else ()
    return lineage, compactions, tree_rows(lineage_rows(lineage), compactions)


def tree_rows(sessions: Sequence[LineageRow], compactions: Sequence[Compaction]) -> list[ListRow]:
    """Put the compactions of a conversation between the sessions of its family tree, in the order
    of events."""
    most = _most(compactions)
    places = [_place(compaction) for compaction in compactions]
    rows: list[ListRow] = []
    for session in sessions:
        below = session.guides.replace("├ ", "│ ").replace("└ ", "  ")
        around = [
            (place[1], TreeRow(number, compactions[number], most, below))
            for number, place in enumerate(places)
            if place[0] == session.node.session.id
        ]
        rows += [row for is_before, row in around if is_before]
        rows.append(session)
        rows += [row for is_before, row in around if not is_before]
    return rows


def _place(compaction: Compaction) -> tuple[str, bool]:
    """Return the session next to which a compaction stands in the tree, and whether before it."""
    following = next(iter(compaction.empty_sessions), compaction.into_session_id)
    if compaction.kind is CompactionKind.ROTATION and following is not None:
        return following, True
    return compaction.session_id, False
