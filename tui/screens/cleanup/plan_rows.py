"""Rows of a clean-up plan: what would go and what is spared, one by one or by cron job."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from hermes_browse.store.cleanup.plan import Planned
from hermes_browse.store.sessions.catalog import SpareReason
from hermes_browse.store.sessions.models import Conversation, known_sum
from hermes_browse.store.sessions.relations import idle_seconds
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ...browser.list.list_model import RowDetails
from ...text import formats, sentences
from ...text.styled import Line, row_line
from ...widgets.list_rows import Column, Columns

BY_HAND = frozenset(["open", "hidden"])
"""Reasons for sparing that a mark by hand overrides."""


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


def sums_of(runs: Sequence[Planned]) -> Sums:
    """Add up what would go."""
    return Sums(
        messages=sum(run.own.shown for run in runs),
        bytes=sum(run.bytes for run in runs),
        is_measured=all(run.is_measured for run in runs),
        cost_usd=known_sum(run.cost_usd for run in runs),
    )


def idle_age(conversation: Conversation, now: float) -> str:
    """Return how long a conversation has been idle, as `3d`; `?` if unknown."""
    idle = idle_seconds(conversation, now)
    return formats.age(0.0, idle) if idle is not None else "?"


class PlanRow(NamedTuple):
    """A conversation that would go, or all runs of a cron job."""

    conversation: Conversation
    """That of the first run."""
    runs: Sequence[Planned]
    """One for a conversation; longest idle first."""
    sums: Sums
    goes: int
    """How many the user did not leave out."""
    details: RowDetails
    """What has been read so far."""
    job: str = ""
    """Empty for a conversation."""
    is_open: bool = False
    """Whether the runs of the job are shown below."""

    @property
    def title(self) -> str:
        """What the job is called, printable; the title of a conversation as it is stored."""
        conversation = self.conversation
        return self.details.job_title(conversation) if self.job else conversation.title or ""

    @property
    def key(self) -> str:
        return f"j{self.job}" if self.job else f"p{self.conversation.root_id}"

    def _name(self) -> str:
        """Return what it is called; a job with how many runs it has."""
        if not self.job:
            along = len(self.runs[0].subagents)
            name = one_line(formats.name_so_far(self.conversation), 300)
            return f"{name}  ⊕{along}" if along else name
        runs = formats.counted(len(self.runs), "run")
        if 0 < self.goes < len(self.runs):
            runs = _("{count:,} of {runs}", count=self.goes, runs=runs)
        sign = "▾" if self.is_open else "▸"
        return f"{sign} {self.title} · {runs}"

    def spans(self, width: int, now: float) -> Line:
        mark = "✓" if self.goes == len(self.runs) else "−" if self.goes else "·"
        lead = (f" {mark} ", "mark" if self.goes else "dim")
        title = (self._name(), "title" if self.goes else "dim")
        return row_line(lead, title, PLAN_COLUMNS.text(self, width, now), width)

    @property
    def about(self) -> str:
        """Say what it has no room for, and which keys work on it."""
        if self.job:
            return _("Enter shows the runs of this job · Space removes or adds all of them")
        planned = self.runs[0]
        goes = _("D deletes every ✓ · Space keeps it")
        stays = _("kept, as you removed it · Space adds it again")
        along = len(planned.subagents)
        subagents = ngettext(
            "1 subagent session along in a delete",
            "{count:,} subagent sessions along in a delete",
            along,
        )
        costs = formats.own_and_tree(planned.conversation.cost_usd, planned.cost_usd)
        return formats.joined(
            goes if self.goes else stays,
            _("Enter reads it"),
            *([subagents, costs] if along else ()),
            planned.conversation.id,
        )


PLAN_COLUMNS: Columns[PlanRow] = Columns(
    Column(
        PlanOrder.IDLE,
        6,
        lambda row, now: idle_age(row.conversation, now),
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
        7,
        lambda row, now: "" if row.job else sentences.status(row.runs[0].standing),
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


class SparedRow(NamedTuple):
    """What matches the rules and stays."""

    conversation: Conversation
    why: SpareReason

    @property
    def key(self) -> str:
        return f"s{self.conversation.root_id}"

    def spans(self, width: int, now: float) -> Line:
        name = one_line(formats.name_so_far(self.conversation), 300)
        reason = formats.clip(one_line(self.why.words), max(width // 2, 12))
        return row_line((" ⊘ ", "dim"), (name, "dim"), reason, width)

    @property
    def about(self) -> str:
        """Say what it has no room for, and which keys work on it."""
        by_hand = _("Space takes it all the same") if self.why.code in BY_HAND else ""
        stale = _("6 includes stale open ones") if self.why.code == "open" else ""
        return formats.joined(self.why.words, by_hand, stale)
