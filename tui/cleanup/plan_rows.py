"""Rows of a clean-up plan: what would go and what is spared, one by one or by cron job.

Each row draws itself in exactly the width it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.cleanup.protection import Standing, last_use
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.sessions.relations import idle_seconds
from hermes_browse.store.sessions.session import Session
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, pgettext

from .. import formats
from ..list.list_model import job_key_of
from ..shared.styled import Line, bar, line_text, row_line

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.plan import Planned, Spared

_STANDINGS = {
    Standing.ENDED: lambda: pgettext("standing", "ended"),
    Standing.OPEN: lambda: pgettext("standing", "open"),
    Standing.STALE: lambda: pgettext("standing", "stale"),
}
"""The words take five cells at most."""
_BAR_WIDTH = 8
_BAR_FROM = 48
"""The narrowest row that shows a bar, in cells."""


class PlanOrder(StrEnum):
    """The columns that can sort a plan: largest first, titles by the alphabet."""

    IDLE = "idle"
    SIZE = "size"
    COST = "cost"
    MESSAGES = "messages"
    TITLE = "title"

    @property
    def heading(self) -> str:
        """The heading of the column."""
        return _(_HEADS[self])

    def sorted(self, selected: Iterable[Planned]) -> tuple[Planned, ...]:
        """Sort what would go."""
        if self is PlanOrder.IDLE:
            return tuple(sorted(selected, key=lambda each: last_use(each.conversation)))
        if self is PlanOrder.TITLE:
            return tuple(sorted(selected, key=lambda each: title_key(each.conversation.title)))
        return tuple(sorted(selected, key=AMOUNTS[self], reverse=True))


def title_key(title: str | None) -> tuple[bool, str]:
    """Return the sort key of a title: by the alphabet, conversations without one last."""
    return not title, (title or "").casefold()


AMOUNTS: dict[PlanOrder, Callable[[Planned], float]] = {
    PlanOrder.SIZE: lambda each: each.bytes,
    PlanOrder.COST: lambda each: each.cost_usd or 0.0,
    PlanOrder.MESSAGES: lambda each: each.own.shown,
}
_HEADS = {
    PlanOrder.IDLE: N_("idle"),
    PlanOrder.SIZE: N_("bytes"),
    PlanOrder.COST: N_("cost"),
    PlanOrder.MESSAGES: N_("msgs"),
    PlanOrder.TITLE: N_("conversation"),
}


def idle_age(conversation: Conversation, now: float) -> str:
    """Return how long a conversation has been idle, as `3d`; `?` if unknown."""
    idle = idle_seconds(conversation, now)
    return formats.idle(idle) if idle is not None else "?"


def _columns(
    width: int,
    *,
    idle: str,
    state: str = "",
    source: str = "",
    messages: str = "",
    cost: str = "",
    size: str = "",
) -> str:
    """Format the columns that fit into a row of `width` cells without its bar."""
    columns = formats.fit(idle, 6, right=True)
    if width >= 52:
        columns += f" {formats.fit(source, 6)}"
    if width >= 84:
        columns += f" {formats.fit(state, 5)}"
    if width >= 60:
        columns += formats.fit(messages, 6, right=True)
    if width >= 70:
        columns += formats.fit(cost, 8, right=True)
    return columns + formats.fit(size, 9, right=True)


def _without_bar(width: int) -> int:
    """Return the cells of a row before its bar."""
    return width - _BAR_WIDTH if width >= _BAR_FROM else width


def _with_bar(line: Line, size: int | None, biggest: int, width: int, *, goes: bool) -> Line:
    """Add the bar if there is room for it."""
    if _without_bar(width) < width:
        share = size / biggest if size and biggest else 0.0
        line.append((bar(share, _BAR_WIDTH), "accent" if goes else "dim"))
    return line


def plan_head(width: int, order: PlanOrder) -> str:
    """Return the headings of a plan, with an arrow at the column that sorts it."""
    heads = {each: _(words) + ("▼" if each is order else "") for each, words in _HEADS.items()}
    room = _without_bar(width)
    columns = _columns(
        room,
        idle=heads[PlanOrder.IDLE],
        state=_("state"),
        source=_("source"),
        messages=heads[PlanOrder.MESSAGES],
        cost=heads[PlanOrder.COST],
        size=heads[PlanOrder.SIZE],
    )
    line = row_line(("   ", "dim"), (heads[PlanOrder.TITLE], "dim"), columns, room)
    return line_text(line) + " " * (width - room)


class PlanRow(NamedTuple):
    """A conversation that would go; `goes` is false where the user left it out."""

    planned: Planned
    goes: bool
    biggest: int = 0
    """Bytes of the biggest row of the plan, for the bar."""

    @property
    def key(self) -> str:
        """Made of the root."""
        return f"p{self.planned.conversation.root_id}"

    def spans(self, width: int, now: float) -> Line:
        each, conversation, room = self.planned, self.planned.conversation, _without_bar(width)
        size = conversation.size
        columns = _columns(
            room,
            idle=idle_age(conversation, now),
            state=_STANDINGS[each.standing](),
            source=formats.source(conversation.source),
            messages=formats.number(each.own.shown) if size is not None else "…",
            cost=formats.money(each.cost_usd),
            size=formats.size(size) if size is not None else "…",
        )
        name = one_line(formats.name(conversation), 300) + (
            f"  ⊕{len(each.subagents)}" if each.subagents else ""
        )
        lead = (" ✓ ", "mark") if self.goes else (" · ", "dim")
        line = row_line(lead, (name, "title" if self.goes else "dim"), columns, room)
        return _with_bar(line, size, self.biggest, width, goes=self.goes)


class JobSum(NamedTuple):
    """The sums over all runs of a job that would go."""

    messages: int
    bytes: int | None
    """None until all of them are measured."""
    cost_usd: float | None
    """None if no cost is known."""
    oldest: Planned
    """The run that has been idle longest."""


class PlanJobRow(NamedTuple):
    """All runs of a cron job that would go."""

    name: str
    runs: tuple[Planned, ...]
    goes: int
    """How many runs the user did not leave out."""
    sums: JobSum
    is_open: bool
    biggest: int = 0
    """Bytes of the biggest row of the plan, for the bar."""
    title: str = ""
    """What the job is called, printable."""

    @property
    def key(self) -> str:
        """Made of the job."""
        return f"j{self.name}"

    def spans(self, width: int, now: float) -> Line:
        room, size = _without_bar(width), self.sums.bytes
        columns = _columns(
            room,
            idle=idle_age(self.sums.oldest.conversation, now),
            source="cron",
            messages=formats.number(self.sums.messages) if size is not None else "…",
            cost=formats.money(self.sums.cost_usd),
            size=formats.size(size) if size is not None else "…",
        )
        all_go = self.goes == len(self.runs)
        mark = "✓" if all_go else "−" if self.goes else "·"
        count = formats.counted(len(self.runs), "run")
        if self.goes and not all_go:
            count = _("{count:,} of {runs}").format(count=self.goes, runs=count)
        lead = (f" {mark} ", "mark" if self.goes else "dim")
        name = (
            _job_name(self.title or self.name, count, is_open=self.is_open),
            "title" if self.goes else "dim",
        )
        line = row_line(lead, name, columns, room)
        return _with_bar(line, size, self.biggest, width, goes=bool(self.goes))


class SparedRow(NamedTuple):
    """A conversation that matches the rules and stays, with the reason."""

    spared: Spared

    @property
    def key(self) -> str:
        """Made of the root."""
        return f"s{self.spared.conversation.root_id}"

    def spans(self, width: int, now: float) -> Line:
        return _spared_line(
            one_line(formats.name(self.spared.conversation), 300), self.spared.why.words, width
        )


class SparedJobRow(NamedTuple):
    """All runs of a cron job that match the rules and stay, with the reasons."""

    name: str
    runs: tuple[Spared, ...]
    words: str
    """The reason, or how many runs there are of each."""
    is_open: bool
    title: str = ""
    """What the job is called, printable."""

    @property
    def key(self) -> str:
        """Made of the job."""
        return f"z{self.name}"

    def spans(self, width: int, now: float) -> Line:
        count = formats.counted(len(self.runs), "run")
        return _spared_line(
            _job_name(self.title or self.name, count, is_open=self.is_open), self.words, width
        )


def _job_name(name: str, count: str, *, is_open: bool) -> str:
    return f"{'▾' if is_open else '▸'} {one_line(name, 200)} · {count}"


def _spared_line(name: str, why: str, width: int) -> Line:
    why = formats.clip(one_line(why), max(width // 2, 12))
    return row_line((" ⊘ ", "dim"), (name, "dim"), why, width)


Lines = list[int | str]
"""Each an index of conversations, or the name of a job."""


def fold(roots: Sequence[Session]) -> tuple[Lines, dict[str, tuple[int, ...]]]:
    """Fold the runs of each cron job, given by their roots, into one line in the place of the first
    run.

    Returns:
        The lines, and the indexes of the runs of each job.
    """
    lines: Lines = []
    jobs: dict[str, list[int]] = {}
    for index, root in enumerate(roots):
        job = job_key_of(root)
        if job is None:
            lines.append(index)
            continue
        if job not in jobs:
            lines.append(job)
        jobs.setdefault(job, []).append(index)
    return lines, {job: tuple(places) for job, places in jobs.items()}


def unfold(
    lines: Lines, jobs: dict[str, tuple[int, ...]], opened: Container[str], mark: str
) -> Lines:
    """Return lines with the runs of opened jobs below theirs; `mark` is the letter before a job in
    its key."""
    unfolded: Lines = []
    for line in lines:
        unfolded.append(line)
        if isinstance(line, str) and f"{mark}{line}" in opened:
            unfolded += jobs[line]
    return unfolded
