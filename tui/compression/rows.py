"""Rows of the inspector's list: a compaction each, with a bar of its context before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hermes_browse.store.compression.compactions import Compaction, Note
from hermes_browse.store.wording import _, ngettext

from .. import formats
from ..shared.styled import Line, clip_line, line_width
from .inspection import WAYS, tokens

_BAR = 16
_BAR_FROM, _WAY_FROM, _LOST_FROM = 79, 92, 104
"""The narrowest rows, in cells, that have a column."""


class CompactionRow(NamedTuple):
    """One compaction."""

    number: int
    """Counted from 0."""
    one: Compaction
    most: int
    """Bytes of the biggest context of the list, for the bar."""
    lost: str = ""
    """How much it lost, in words; empty until that is known."""

    @property
    def key(self) -> str:
        """Made of the position."""
        return f"c{self.number}"

    def spans(self, width: int, now: float) -> Line:
        """Draw the row in exactly `width` cells."""
        one = self.one
        mark = (" ! ", "accent") if one.is_broken else (" · ", "dim") if one.is_known else (" ? ", "accent")
        line: Line = [mark, (formats.fit(formats.timestamp(one.at) or _("unknown time"), 18), "title")]
        if width >= _WAY_FROM:
            line.append((formats.fit(_(WAYS[one.kind]), 13), "dim"))
        line.append((formats.fit(outcome(one), 20), "plain"))
        if width >= _BAR_FROM:
            line += [*self._bar(), ("  ", "dim")]
        before, after = (formats.number(tokens(each)) for each in (one.bytes_before, one.bytes_after))
        line.append((formats.fit(_("~{before} ▸ {after} tok").format(before=before, after=after), 20), "plain"))
        if width >= _LOST_FROM:
            line.append((self.lost, "accent"))
        line = clip_line(line, width)
        return [*line, (" " * (width - line_width(line)), "dim")]

    def _bar(self) -> Line:
        before = round(_BAR * self.one.bytes_before / max(self.most, 1))
        after = round(_BAR * self.one.bytes_after / max(self.most, 1))
        after = min(max(after, 1 if self.one.bytes_after else 0), _BAR)
        gone = max(before - after, 0)
        return [("█" * after, "accent"), ("░" * gone, "dim"), (" " * (_BAR - after - gone), "dim")]


def outcome(one: Compaction) -> str:
    """Return how many messages became what: `27 msgs ▸ summary`."""
    if Note.ABORTED in one.notes:
        count, what = len(one.before), _("aborted")
    else:
        count, what = len(one.gone), _("summary") if one.summary is not None else _("nothing")
    words = ngettext("1 msg ▸ {what}", "{count:,} msgs ▸ {what}", count)
    return words.format(count=count, what=what)


def compaction_rows(compactions: Sequence[Compaction], lost: dict[int, str]) -> list[CompactionRow]:
    """Return the rows of a list, oldest first.

    Args:
        compactions: Of a conversation.
        lost: By number, in words, as far as it is known.
    """
    most = max((max(each.bytes_before, each.bytes_after) for each in compactions), default=0)
    return [CompactionRow(number, one, most, lost.get(number, "")) for number, one in enumerate(compactions)]
