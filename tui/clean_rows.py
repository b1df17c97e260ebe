"""Rows of the screens for cleaning up: what would go or is spared, where the bytes are, bundles, what Hermes deletes.

Each draws itself in exactly the width it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from hermes_browse.store.cleanup.protection import Standing, idle_seconds
from hermes_browse.store.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, pgettext

from . import formats

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.plan import Planned, Spared
    from hermes_browse.store.cleanup.retention import Fate
    from hermes_browse.store.cleanup.space_map import Space
    from hermes_browse.store.trash.shelf import Bundle

Span = tuple[str, str]

_STANDINGS = {
    Standing.ENDED: lambda: pgettext("standing", "ended"),
    Standing.OPEN: lambda: pgettext("standing", "open"),
    Standing.STALE: lambda: pgettext("standing", "stale"),
}
"""In five cells."""
_BAR = "▏▎▍▌▋▊▉█"
_BAR_WIDTH = 8
_BAR_FROM = 48
"""Cells of a row from which on it has a bar."""


class PlanOrder(StrEnum):
    """What a plan can be sorted by; the most comes first, titles by the alphabet."""

    IDLE = "idle"
    SIZE = "size"
    COST = "cost"
    MESSAGES = "messages"
    TITLE = "title"

    @property
    def following(self) -> PlanOrder:
        """The next one, round and round."""
        every = list(PlanOrder)
        return every[(every.index(self) + 1) % len(every)]

    def sorted(self, would: Iterable[Planned]) -> tuple[Planned, ...]:
        """What would go, in this order.

        Args:
            would: Longest idle first.
        """
        if self is PlanOrder.IDLE:
            return tuple(would)
        if self is PlanOrder.TITLE:
            return tuple(sorted(would, key=lambda each: formats.name(each.conversation).casefold()))
        return tuple(sorted(would, key=_AMOUNTS[self], reverse=True))


_AMOUNTS: dict[PlanOrder, Callable[[Planned], float]] = {
    PlanOrder.SIZE: lambda each: each.own.total + each.along.total,
    PlanOrder.COST: lambda each: each.cost_usd,
    PlanOrder.MESSAGES: lambda each: each.own.rows + each.along.rows,
}
_HEADS = {
    PlanOrder.IDLE: N_("idle"),
    PlanOrder.SIZE: N_("bytes"),
    PlanOrder.COST: N_("cost"),
    PlanOrder.MESSAGES: N_("msgs"),
    PlanOrder.TITLE: N_("conversation"),
}


def _line(lead: Span, name: Span, columns: str, width: int) -> list[Span]:
    """A mark, a name that takes the room there is, columns on the right."""
    columns = formats.clip(columns, width - cell_len(lead[0]) - 2)
    room = width - cell_len(lead[0]) - cell_len(columns) - 2
    return [lead, (formats.fit(name[0], room), name[1]), (f" {columns} ", "dim")]


def _idle(conversation: Conversation, now: float) -> str:
    idle = idle_seconds(conversation, now)
    return formats.age(now - idle, now) if idle is not None else "?"


def _plan_columns(
    width: int,
    *,
    idle: str,
    state: str = "",
    source: str = "",
    messages: str = "",
    cost: str = "",
    size: str = "",
) -> str:
    """The columns of a plan that a width has room for.

    Args:
        width: Cells of the whole row.
        idle: And the other columns: what stands in them.
    """
    columns = formats.fit(idle, 6, right=True)
    if width >= 52:
        columns += f" {formats.fit(source, 6)}"
    if width >= 84:
        columns += f" {formats.fit(state, 5)}"
    if width >= 60:
        columns += formats.fit(messages, 6, right=True)
    if width >= 76:
        columns += formats.fit(cost, 8, right=True)
    return columns + formats.fit(size, 9, right=True)


def _room(width: int) -> int:
    """Cells of a row of a plan before its bar."""
    return width - _BAR_WIDTH if width >= _BAR_FROM else width


def _bar_of(size: int | None, biggest: int, width: int, look: str) -> list[Span]:
    """The bar behind a row of a plan, where there is room."""
    share = size / biggest if size and biggest else 0.0
    return [(bar(share, _BAR_WIDTH), look)] if _room(width) < width else []


def plan_head(width: int, order: PlanOrder) -> str:
    """The names of the columns of a plan, with an arrow at the one it is sorted by.

    Args:
        width: Cells.
        order: Of the rows.
    """
    named = {each: _(words) + ("▼" if each is order else "") for each, words in _HEADS.items()}
    width, bars = _room(width), " " * (width - _room(width))
    columns = _plan_columns(
        width,
        idle=named[PlanOrder.IDLE],
        state=_("state"),
        source=_("source"),
        messages=named[PlanOrder.MESSAGES],
        cost=named[PlanOrder.COST],
        size=named[PlanOrder.SIZE],
    )
    line = _line(("   ", "dim"), (named[PlanOrder.TITLE], "dim"), columns, width)
    return "".join(text for text, _look in line) + bars


class PlanRow(NamedTuple):
    """A conversation that would go; `goes` is false where it was unmarked by hand."""

    planned: Planned
    goes: bool
    biggest: int = 0
    """Bytes of the biggest of the plan, for the bar."""

    @property
    def key(self) -> str:
        """The root."""
        return f"p{self.planned.conversation.root_id}"

    def spans(self, width: int, now: float) -> list[Span]:
        """In exactly so many cells."""
        each, conversation = self.planned, self.planned.conversation
        size = formats.size(each.own.total + each.along.total) if each.is_measured else "…"
        room, known = _room(width), each.own.total + each.along.total if each.is_measured else None
        columns = _plan_columns(
            room,
            idle=_idle(conversation, now),
            state=_STANDINGS[each.standing](),
            source=formats.source(conversation.source),
            messages=formats.number(each.own.rows + each.along.rows),
            cost=formats.money(each.cost_usd),
            size=size,
        )
        extra = f"  ⊕{len(each.subagents)}" if each.subagents else ""
        name = one_line(formats.name(conversation), 300) + extra
        lead = (" ✓ ", "mark") if self.goes else (" · ", "dim")
        line = _line(lead, (name, "title" if self.goes else "dim"), columns, room)
        return [*line, *_bar_of(known, self.biggest, width, "accent" if self.goes else "dim")]


class PlanJobRow(NamedTuple):
    """All runs of a cron job that would go."""

    name: str
    runs: tuple[Planned, ...]
    goes: int
    """How many of them were not unmarked by hand."""
    messages: int
    bytes: int | None
    """Of all runs; None until they are measured."""
    cost_usd: float
    is_open: bool
    biggest: int = 0
    """Bytes of the biggest of the plan, for the bar."""

    @property
    def key(self) -> str:
        """The job."""
        return f"j{self.name}"

    def spans(self, width: int, now: float) -> list[Span]:
        """In exactly so many cells."""
        room = _room(width)
        columns = _plan_columns(
            room,
            idle=_idle(self.runs[-1].conversation, now),
            source="cron",
            messages=formats.number(self.messages),
            cost=formats.money(self.cost_usd),
            size=formats.size(self.bytes) if self.bytes is not None else "…",
        )
        all_go = self.goes == len(self.runs)
        mark = "✓" if all_go else "−" if self.goes else "·"
        runs = formats.counted(len(self.runs), "run")
        count = runs if all_go or not self.goes else _("{count:,} of {runs}").format(count=self.goes, runs=runs)
        name = f"{'▾' if self.is_open else '▸'} {one_line(self.name, 200)} · {count}"
        look = "title" if self.goes else "dim"
        line = _line((f" {mark} ", "mark" if self.goes else "dim"), (name, look), columns, room)
        return [*line, *_bar_of(self.bytes, self.biggest, width, "accent" if self.goes else "dim")]


class SparedRow(NamedTuple):
    """A conversation that the rules mean and that stays, with the reason."""

    spared: Spared

    @property
    def key(self) -> str:
        """The root."""
        return f"s{self.spared.conversation.root_id}"

    def spans(self, width: int, now: float) -> list[Span]:
        """In exactly so many cells."""
        name = one_line(formats.name(self.spared.conversation), 300)
        why = formats.clip(one_line(self.spared.why.words), max(width // 2, 12))
        return _line((" ⊘ ", "dim"), (name, "dim"), why, width)


class SparedJobRow(NamedTuple):
    """All runs of a cron job that the rules mean and that stay, with the reasons."""

    name: str
    runs: tuple[Spared, ...]
    words: str
    """The reason, or how many runs there are of each."""
    is_open: bool

    @property
    def key(self) -> str:
        """The job."""
        return f"z{self.name}"

    def spans(self, width: int, now: float) -> list[Span]:
        """In exactly so many cells."""
        count = formats.counted(len(self.runs), "run")
        name = f"{'▾' if self.is_open else '▸'} {one_line(self.name, 200)} · {count}"
        why = formats.clip(one_line(self.words), max(width // 2, 12))
        return _line((" ⊘ ", "dim"), (name, "dim"), why, width)


class SpaceRow(NamedTuple):
    """A line of the space map."""

    space: Space
    depth: int
    is_open: bool
    whole: int
    """Bytes of the store, for the share."""
    freed: int
    """Bytes of it that the plan takes."""
    name: str

    @property
    def key(self) -> str:
        """Its place in the map."""
        return self.key_of(self.space, self.depth)

    @staticmethod
    def key_of(space: Space, depth: int) -> str:
        """The key of the row of a line of the map."""
        return f"m{depth}{space.level}{space.name}"

    def spans(self, width: int, now: float) -> list[Span]:
        """In exactly so many cells."""
        total = self.space.sizes.total
        arrow = "▾" if self.is_open else "▸"
        freed = f"−{formats.size(self.freed)}" if self.freed else ""
        columns = formats.fit(formats.size(total), 9, right=True)
        if width >= 40:
            columns = formats.fit(freed, 10, right=True) + columns
        lead = " " + "  " * self.depth + arrow + " "
        look = "title" if self.depth == 0 else "plain"
        if width < 40:
            return _line((lead, "dim"), (one_line(self.name, 300), look), columns, width)
        size = 10 if width >= 56 else 6
        full = min(max(1, round(total / self.whole * size)), size) if self.whole and total else 0
        goes = min(full, max(1, round(self.freed / total * full))) if self.freed and total else 0
        line = _line((lead, "dim"), (one_line(self.name, 300), look), columns, width - size - 1)
        return [*line, ("█" * goes, "accent"), ("█" * (full - goes), "dim"), (" " * (size - full + 1), "dim")]


class KindRow(NamedTuple):
    """What the bytes of a line of the map are: text, tool output, images, index."""

    name: str
    bytes: int
    whole: int
    depth: int
    under: str

    @property
    def key(self) -> str:
        """Its place in the map."""
        return f"k{self.under}{self.name}"

    def spans(self, width: int, now: float) -> list[Span]:
        """In exactly so many cells."""
        columns = formats.fit(formats.size(self.bytes), 9, right=True)
        if width >= 56:
            columns += " " + bar(self.bytes / self.whole if self.whole else 0.0, 10)
        return _line((" " + "  " * self.depth + "  ", "dim"), (self.name, "note"), columns, width)


def bar(share: float, width: int) -> str:
    """A share of one as a bar, in eighths of a cell."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_BAR[rest - 1] if rest else "")).ljust(width)


class BundleRow(NamedTuple):
    """A bundle in the trash."""

    bundle: Bundle
    is_marked: bool

    @property
    def key(self) -> str:
        """Its name."""
        return f"b{self.bundle.name}"

    def spans(self, width: int, now: float) -> list[Span]:
        """In exactly so many cells."""
        each = self.bundle
        columns = formats.fit(formats.age(each.created_at, now), 6, right=True)
        if width >= 50:
            columns += formats.fit(formats.messages(each.messages), 12, right=True)
        columns += formats.fit(formats.size(each.bytes), 9, right=True)
        state = _("damaged") if each.damage else _("put back") if each.restored_at is not None else ""
        state = state and f"  {state}"
        name = one_line(each.title or (each.conversations[0] if each.conversations else each.name), 200)
        look = "note" if each.damage else "dim" if each.restored_at is not None else "title"
        lead = (" ✓ ", "mark") if self.is_marked else (" ! ", "accent") if each.damage else (" · ", "dim")
        return _line(lead, (name + state, look), columns, width)


class FateRow(NamedTuple):
    """A conversation that Hermes will delete by itself, and when."""

    conversation: Conversation
    fate: Fate

    @property
    def key(self) -> str:
        """The root."""
        return f"f{self.conversation.root_id}"

    def spans(self, width: int, now: float) -> list[Span]:
        """In exactly so many cells."""
        days = self.fate.prune_in_days
        if days is None or days < 1:
            when = _("never") if days is None else pgettext("deadline", "now")
        else:
            when = _("{days:,.0f} d").format(days=days)
        urgent = days is not None and days < 7
        mark = ("★", "accent") if self.conversation.pinned else ("!" if urgent else "·", "accent" if urgent else "dim")
        columns = formats.fit(_idle(self.conversation, now), 6, right=True)
        if width >= 50:
            columns += " " + formats.fit(formats.source(self.conversation.source), 6)
        if width >= 60:
            columns += formats.fit(formats.number(self.conversation.message_count), 6, right=True)
        archived = f"  {_('archived')}" if self.conversation.archived else ""
        name = one_line(formats.name(self.conversation), 300) + archived
        lead = f" {mark[0]} {formats.fit(when, 6, right=True)}  "
        return _line((lead, mark[1]), (name, "title"), columns, width)
