"""Rows of the inspector's list of compactions, each with a bar of its context before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hermes_browse.store.compression.compactions import (
    Compaction,
    CompactionNote,
)
from hermes_browse.store.wording import _, ngettext

from ...text import formats
from ...text.styled import Line, tailed
from .inspection import WAYS

_BAR = 16
_BAR_FROM, _WAY_FROM, _LOST_FROM = 79, 92, 104
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
        line = [_mark(compaction), (formats.fit(when, 18), "title")]
        if width >= _WAY_FROM:
            line.append((formats.fit(_(WAYS[compaction.kind]), 13), "dim"))
        line.append((formats.fit(outcome(compaction), 20), "plain"))
        if width >= _BAR_FROM:
            line += [*_bar(compaction, self.most, _BAR), ("  ", "dim")]
        line.append((formats.fit(_tokens(compaction), 20), "plain"))
        if width >= _LOST_FROM:
            line.append((self.lost, "accent"))
        return tailed(line, "", width)


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
    before = formats.number(formats.tokens(compaction.bytes_before))
    after = formats.number(formats.tokens(compaction.bytes_after))
    return _("~{before} ▸ {after} tok", before=before, after=after)


def outcome(compaction: Compaction) -> str:
    """Return how many messages became what: `27 msgs ▸ summary`."""
    if CompactionNote.ABORTED in compaction.notes:
        count, what = len(compaction.before), _("aborted")
    else:
        count = len(compaction.gone)
        what = _("nothing") if compaction.summary is None else _("summary")
    return ngettext("1 msg ▸ {what}", "{count:,} msgs ▸ {what}", count, count=count, what=what)


def compaction_rows(
    compactions: Sequence[Compaction], lost: Mapping[int, str]
) -> list[CompactionRow]:
    """Return the rows of a list, oldest first.

    `lost` says by number how much was lost, as far as it is known; "…" stands for the others.
    """
    most = max((max(each.bytes_before, each.bytes_after) for each in compactions), default=0)
    return [
        CompactionRow(number, compaction, most, lost.get(number, "…"))
        for number, compaction in enumerate(compactions)
    ]
