"""Rows of a clean-up plan: what would go and what is spared, one by one or by cron job."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from hermes_browse.store.cleanup.plan import Planned, Spared
from hermes_browse.store.cleanup.selection import Standing
from hermes_browse.store.sessions.catalog import rank
from hermes_browse.store.sessions.models import Conversation, known_sum
from hermes_browse.store.sessions.relations import idle_seconds
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext, pgettext

from ...text import formats
from ...text.styled import Line, bar, line_text, row_line
from ...widgets.columns import Column, Columns, head_of

BY_HAND = frozenset(["open", "hidden"])
"""Reasons for sparing that a mark by hand overrides."""
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
    """The columns that can sort a plan: largest first, titles by the alphabet; the value is the
    heading, to be translated."""

    IDLE = N_("idle")
    SIZE = N_("bytes")
    COST = N_("cost")
    MESSAGES = N_("msgs")
    TITLE = N_("conversation")


class Sums(NamedTuple):
    """The sums over what would go: one conversation, or all runs of a job."""

    messages: int
    bytes: int
    is_measured: bool
    """Whether the bytes of all of them are known."""
    cost_usd: float | None
    """None if no cost is known."""
    oldest: Planned
    """The one that has been idle longest."""


def sums_of(runs: Sequence[Planned]) -> Sums:
    """Add up what would go."""
    return Sums(
        messages=sum(run.own.shown for run in runs),
        bytes=sum(run.bytes for run in runs),
        is_measured=all(run.is_measured for run in runs),
        cost_usd=known_sum(run.cost_usd for run in runs),
        oldest=min(runs, key=lambda run: rank(run.conversation)),
    )


def idle_age(conversation: Conversation, now: float) -> str:
    """Return how long a conversation has been idle, as `3d`; `?` if unknown."""
    idle = idle_seconds(conversation, now)
    return formats.age(0.0, idle) if idle is not None else "?"


class PlanRow(NamedTuple):
    """A conversation that would go, or all runs of a cron job that would."""

    runs: Sequence[Planned]
    """One for a conversation."""
    roots: Sequence[str]
    """Of the runs."""
    sums: Sums
    goes: int
    """How many the user did not leave out."""
    job: str = ""
    """Empty for a conversation."""
    is_open: bool = False
    """Whether the runs of the job are shown below."""
    title: str = ""
    """What the job is called, printable."""
    biggest: int = 0
    """Bytes of the biggest row of the plan, for the bar."""

    @property
    def key(self) -> str:
        return f"j{self.job}" if self.job else f"p{self.roots[0]}"

    @property
    def conversation(self) -> Conversation:
        """The conversation, or the first run of the job."""
        return self.runs[0].conversation

    def _name(self) -> str:
        if not self.job:
            subagents = len(self.runs[0].subagents)
            along = f"  ⊕{subagents}" if subagents else ""
            return one_line(formats.name(self.conversation), 300) + along
        count = formats.counted(len(self.runs), "run")
        if 0 < self.goes < len(self.runs):
            count = _("{count:,} of {runs}", count=self.goes, runs=count)
        return _job_name(self.title or self.job, count, is_open=self.is_open)

    def spans(self, width: int, now: float) -> Line:
        room = _without_bar(width)
        mark = "✓" if self.goes == len(self.runs) else "−" if self.goes else "·"
        lead = (f" {mark} ", "mark" if self.goes else "dim")
        name = (self._name(), "title" if self.goes else "dim")
        line = row_line(lead, name, _COLUMNS.text(self, room, now), room)
        if room < width:
            share = self.sums.bytes / self.biggest if self.biggest else 0.0
            line.append((bar(share, _BAR_WIDTH), "accent" if self.goes else "dim"))
        return line

    def about(self) -> str:
        """Say what it has no room for, and which keys work on it."""
        if self.job:
            return _("Enter shows the runs of this job · Space removes or adds all of them")
        planned = self.runs[0]
        goes = _("D deletes it · Space keeps it")
        stays = _("kept, as you removed it · Space adds it again")
        parts = [goes if self.goes else stays, _("Enter reads it")]
        if along := len(planned.subagents):
            parts.append(
                ngettext(
                    "1 subagent session along in a delete",
                    "{count:,} subagent sessions along in a delete",
                    along,
                    count=along,
                )
            )
            own, whole = planned.conversation.cost_usd, planned.cost_usd
            if own != whole:
                costs = _("{own} without them, {whole} with them")
                if own is None:
                    costs = _("{whole} with them")
                own_words = formats.money(own) or "$0"
                parts.append(costs.format(own=own_words, whole=formats.money(whole)))
        return " · ".join([*parts, planned.conversation.id])


_COLUMNS: Columns[PlanRow] = Columns(
    Column(
        PlanOrder.IDLE,
        6,
        lambda row, now: idle_age(row.sums.oldest.conversation, now),
        order=PlanOrder.IDLE,
    ),
    Column(
        N_("source"),
        7,
        lambda row, now: formats.source(row.conversation.source),
        least=52,
        lead=1,
    ),
    Column(
        N_("state"),
        6,
        lambda row, now: "" if row.job else _STANDINGS[row.runs[0].standing](),
        least=84,
        lead=1,
    ),
    Column(
        PlanOrder.MESSAGES,
        6,
        lambda row, now: formats.number(row.sums.messages) if row.sums.is_measured else "…",
        least=60,
        order=PlanOrder.MESSAGES,
    ),
    Column(
        PlanOrder.COST,
        8,
        lambda row, now: formats.money(row.sums.cost_usd),
        least=70,
        order=PlanOrder.COST,
    ),
    Column(
        PlanOrder.SIZE,
        9,
        lambda row, now: formats.size(row.sums.bytes) if row.sums.is_measured else "…",
        order=PlanOrder.SIZE,
    ),
)


def _without_bar(width: int) -> int:
    """Return the cells of a row before its bar."""
    return width - _BAR_WIDTH if width >= _BAR_FROM else width


def plan_head(width: int, order: PlanOrder) -> str:
    """Return the headings of a plan, with an arrow at the column that sorts it."""
    room = _without_bar(width)
    title = head_of(PlanOrder.TITLE, PlanOrder.TITLE, order)
    line = row_line(("   ", "dim"), (title, "dim"), _COLUMNS.head(room, order), room)
    return line_text(line) + " " * (width - room)


class SparedRow(NamedTuple):
    """A conversation that matches the rules and stays, or all runs of a cron job that do."""

    runs: Sequence[Spared]
    """One for a conversation."""
    reason: str
    """The reason, or how many runs there are of each."""
    job: str = ""
    """Empty for a conversation."""
    title: str = ""
    """What the job is called, printable."""
    is_open: bool = False
    """Whether the runs of the job are shown below."""

    @property
    def key(self) -> str:
        return f"z{self.job}" if self.job else f"s{self.conversation.root_id}"

    @property
    def conversation(self) -> Conversation:
        """The conversation, or the first run of the job."""
        return self.runs[0].conversation

    def spans(self, width: int, now: float) -> Line:
        name = one_line(formats.name(self.conversation), 300)
        if self.job:
            count = formats.counted(len(self.runs), "run")
            name = _job_name(self.title or self.job, count, is_open=self.is_open)
        reason = formats.clip(one_line(self.reason), max(width // 2, 12))
        return row_line((" ⊘ ", "dim"), (name, "dim"), reason, width)

    def about(self) -> str:
        """Say what it has no room for, and which keys work on it."""
        parts = [self.reason]
        code = self.runs[0].why.code
        if self.job:
            parts.append(_("Enter shows the runs of this job"))
        elif code in BY_HAND:
            parts.append(_("Space takes it all the same"))
        if not self.job and code == "open":
            parts.append(_("6 includes stale open ones"))
        return " · ".join(parts)


def _job_name(name: str, count: str, *, is_open: bool) -> str:
    return f"{'▾' if is_open else '▸'} {one_line(name, 200)} · {count}"
