"""Rows for compactions, in the inspector's list and in the lineage: each with a bar of its context
before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hermes_browse.store.compression.compactions import (
    Compaction,
    CompactionKind,
    CompactionNote,
    is_compressed,
    read_history,
)
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.sessions.lineage import read_lineage
from hermes_browse.store.sessions.models import Lineage
from hermes_browse.store.wording import _, ngettext

from .. import formats
from ..list.list_rows import LineageRow, ListRow, lineage_rows
from ..shared.styled import Line, clip_line, line_width
from .inspection import WAYS, tokens

_BAR, _TREE_BAR = 16, 8
_BAR_FROM, _WAY_FROM, _LOST_FROM, _TREE_BAR_FROM = 79, 92, 104, 56
"""The narrowest rows, in cells, that have a column."""


class CompactionRow(NamedTuple):
    """One compaction."""

    number: int
    """Counted from 0."""
    one: Compaction
    most: int
    """Bytes of the biggest context of the list, for the bar."""
    lost: str
    """How much it lost, in words."""

    @property
    def key(self) -> str:
        """Made of the position."""
        return f"c{self.number}"

    def spans(self, width: int, now: float) -> Line:
        """Draw the row in exactly `width` cells."""
        one = self.one
        mark = (
            (" ! ", "accent")
            if one.is_broken
            else (" · ", "dim")
            if one.is_known
            else (" ? ", "accent")
        )
        line: Line = [
            mark,
            (formats.fit(formats.timestamp(one.at) or _("unknown time"), 18), "title"),
        ]
        if width >= _WAY_FROM:
            line.append((formats.fit(_(WAYS[one.kind]), 13), "dim"))
        line.append((formats.fit(outcome(one), 20), "plain"))
        if width >= _BAR_FROM:
            line += [*_bar(one, self.most, _BAR), ("  ", "dim")]
        line.append((formats.fit(_tokens(one), 20), "plain"))
        if width >= _LOST_FROM:
            line.append((self.lost, "accent"))
        line = clip_line(line, width)
        return [*line, (" " * (width - line_width(line)), "dim")]


class TreeRow(NamedTuple):
    """One compaction in the lineage tree."""

    number: int
    """Counted from 0."""
    one: Compaction
    most: int
    """Bytes of the biggest context of the conversation, for the bar."""
    guides: str
    """Tree lines before it."""

    @property
    def key(self) -> str:
        """Made of the position."""
        return f"x{self.number}"

    def spans(self, width: int, now: float) -> Line:
        """Draw the row in exactly `width` cells."""
        line: Line = [(f" {self.guides}", "dim")]
        if width >= _TREE_BAR_FROM:
            line += [*_bar(self.one, self.most, _TREE_BAR), (" ", "dim")]
        line += [("! " if self.one.is_broken else "", "accent"), (_("compressed:") + " ", "dim")]
        line.append((outcome(self.one), "plain"))
        when = f" {formats.age(self.one.at, now)} "
        room = width - line_width([(when, "dim")])
        sizes: Line = [("  ", "dim"), (_tokens(self.one), "dim")]
        line = clip_line([*line, *sizes] if line_width([*line, *sizes]) <= room else line, room)
        return [*line, (" " * (room - line_width(line)), "dim"), (when, "dim")]


def _bar(one: Compaction, most: int, width: int) -> Line:
    before = round(width * one.bytes_before / max(most, 1))
    after = round(width * one.bytes_after / max(most, 1))
    after = min(max(after, 1 if one.bytes_after else 0), width)
    gone = max(before - after, 0)
    return [("█" * after, "accent"), ("░" * gone, "dim"), (" " * (width - after - gone), "dim")]


def _tokens(one: Compaction) -> str:
    before, after = (formats.number(tokens(each)) for each in (one.bytes_before, one.bytes_after))
    return _("~{before} ▸ {after} tok").format(before=before, after=after)


def _most(compactions: Sequence[Compaction]) -> int:
    return max((max(each.bytes_before, each.bytes_after) for each in compactions), default=0)


def outcome(one: Compaction) -> str:
    """Return how many messages became what: `27 msgs ▸ summary`."""
    if CompactionNote.ABORTED in one.notes:
        count, what = len(one.before), _("aborted")
    else:
        count, what = len(one.gone), _("summary") if one.summary is not None else _("nothing")
    words = ngettext("1 msg ▸ {what}", "{count:,} msgs ▸ {what}", count)
    return words.format(count=count, what=what)


def compaction_rows(compactions: Sequence[Compaction], lost: dict[int, str]) -> list[CompactionRow]:
    """Return the rows of a list, oldest first.

    `lost` says by number how much was lost, as far as it is known; "…" stands for the others.
    """
    most = _most(compactions)
    return [
        CompactionRow(number, one, most, lost.get(number, "…"))
        for number, one in enumerate(compactions)
    ]


def read_tree(
    reader: Reader, session_id: str, now: float
) -> tuple[Lineage, Sequence[Compaction], list[ListRow]]:
    """Read the family tree of a session, given by its exact id, its compactions, and the rows for
    both."""
    lineage = read_lineage(reader, session_id, now)
    segments = [node.session for node in lineage.nodes if node.on_path]
    compactions = (
        read_history(reader, segments).compactions if is_compressed(reader, segments) else ()
    )
    return lineage, compactions, tree_rows(lineage_rows(lineage), compactions)


def tree_rows(sessions: Sequence[LineageRow], compactions: Sequence[Compaction]) -> list[ListRow]:
    """Put the compactions of a conversation between the sessions of its family tree, in the order
    of events."""
    most = _most(compactions)
    before: dict[str, list[int]] = {}
    after: dict[str, list[int]] = {}
    for number, one in enumerate(compactions):
        following = one.shells[0] if one.shells else one.into_session_id
        if one.kind is CompactionKind.ROTATION and following is not None:
            before.setdefault(following, []).append(number)
        else:
            after.setdefault(one.session_id, []).append(number)
    rows: list[ListRow] = []
    for each in sessions:
        session, below = each.node.session.id, each.guides.replace("├ ", "│ ").replace("└ ", "  ")
        rows += [
            TreeRow(number, compactions[number], most, below) for number in before.get(session, ())
        ]
        rows.append(each)
        rows += [
            TreeRow(number, compactions[number], most, below) for number in after.get(session, ())
        ]
    return rows
