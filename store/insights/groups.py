"""Sums of what a store was used for, over a period, by one thing or another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..models import Session, Tokens
from .facts import Facts
from .periods import QUARTER, UNITS, Calendar, begin_of, first_day
from .usage import UNKNOWN

GROUPINGS = (*UNITS, "hour", "model", "source", "project", "conversation")
"""What sums can be grouped by; `hour` is the hour of the week."""


class Group(NamedTuple):
    """The sums of one key."""

    key: str
    conversations: frozenset[str] = frozenset()
    """Root ids of those that have a part in it."""
    sessions: int = 0
    """Begun in it."""
    messages: int = 0
    """Rows, shown or not, that came in it."""
    tokens: Tokens = Tokens()
    """Of the sessions begun in it: nobody recorded when each was spent."""
    estimated_usd: float = 0.0
    """Of those that have an estimate and no actual cost."""
    actual_usd: float = 0.0
    """Of those that have an actual cost."""
    unknown: int = 0
    """Sessions that used tokens and have no cost at all."""
    included: int = 0
    """Sessions whose cost a subscription includes, as Hermes says."""
    calls: int = 0
    """By tool: how often it was called."""
    results: int = 0
    """By tool: how often it answered."""
    failed: int = 0
    """By tool: how many of the answers tell of a failure."""

    @property
    def cost_usd(self) -> float:
        """What is known of the cost: actual where there is one, else estimated."""
        return self.estimated_usd + self.actual_usd

    @property
    def failure_rate(self) -> float | None:
        """Failed answers among all, from 0 to 1; None without an answer."""
        return self.failed / self.results if self.results else None


class Report(NamedTuple):
    """Sums over a period."""

    by: str
    period: str
    total: Group
    rows: tuple[Group, ...]
    """Times in order, all else in none."""


class _Sums:
    """A group in the making."""

    __slots__ = ("actual", "estimated", "included", "messages", "roots", "sessions", "tokens", "unknown")

    def __init__(self) -> None:
        self.roots: set[str] = set()
        self.sessions = self.messages = self.unknown = self.included = 0
        self.tokens = [0, 0, 0, 0, 0]
        self.estimated = self.actual = 0.0

    def take(self, part: _Part) -> None:
        """Add what a session used."""
        self.sessions += 1
        self.tokens = [have + more for have, more in zip(self.tokens, part.tokens, strict=True)]
        self.estimated += part.estimated
        self.actual += part.actual
        self.unknown += part.is_unknown
        self.included += part.is_included

    def group(self, key: str) -> Group:
        """As a line."""
        return Group(
            key,
            frozenset(self.roots),
            self.sessions,
            self.messages,
            Tokens(*self.tokens),
            self.estimated,
            self.actual,
            self.unknown,
            self.included,
        )


class _Part(NamedTuple):
    """What a session, or its use of one model, comes to."""

    model: str
    tokens: Tokens
    estimated: float
    actual: float
    is_unknown: bool
    is_included: bool


def _whole(facts: Facts, session: Session) -> _Part:
    """A session by its own counters."""
    estimated, actual, status = facts.money_of(session.id)
    tokens, is_included = session.tokens, status == "included"
    cost = actual if actual is not None else estimated
    unpriced = cost is None or (not cost and status == "unknown")
    return _Part(
        session.model or UNKNOWN,
        tokens,
        (estimated or 0.0) if actual is None else 0.0,
        actual or 0.0,
        bool(tokens.total) and unpriced and not is_included,
        is_included,
    )


def _by_model(facts: Facts, session: Session) -> Iterator[_Part]:
    """Its parts by model; what the rows per model leave of its own counters goes to the model it names."""
    whole, used = _whole(facts, session), facts.usage.get(session.id)
    if not used:
        yield whole
        return
    parts: dict[str, _Part] = {}

    def add(model: str, tokens: Tokens, estimated: float, actual: float, *, unpriced: bool) -> None:
        have = parts.get(model) or _Part(model, Tokens(), 0.0, 0.0, True, whole.is_included)
        summed = Tokens(*(one + other for one, other in zip(have.tokens, tokens, strict=True)))
        parts[model] = have._replace(
            tokens=summed,
            estimated=have.estimated + estimated,
            actual=have.actual + actual,
            is_unknown=have.is_unknown and unpriced,
        )

    left, cost = list(whole.tokens), whole.estimated + whole.actual
    for each in used:
        estimated = 0.0 if each.actual_usd else each.estimated_usd
        add(each.model, each.tokens, estimated, each.actual_usd, unpriced=not each.cost_usd)
        left = [max(0, have - gone) for have, gone in zip(left, each.tokens, strict=True)]
        cost = max(0.0, cost - each.cost_usd)
    if any(left) or cost > 1e-9:
        is_actual = facts.money_of(session.id).actual_usd is not None
        cost = cost if cost > 1e-9 else 0.0
        add(
            whole.model,
            Tokens(*left),
            0.0 if is_actual else cost,
            cost if is_actual else 0.0,
            unpriced=whole.is_unknown,
        )
    for part in parts.values():
        yield part._replace(is_unknown=part.is_unknown and bool(part.tokens.total) and not part.is_included)


_Key = Callable[[Session, str, float | None], str]


def _key(facts: Facts, by: str, calendar: Calendar) -> _Key:
    """From a session, a model and a moment to the key they count for."""
    chains, projects = facts.catalog.forest.chain_of, facts.projects
    if by == "model":
        return lambda session, model, moment: model
    if by == "source":
        return lambda session, model, moment: session.source
    if by == "project":
        return lambda session, model, moment: projects.get(session.id, UNKNOWN)
    if by == "conversation":
        return lambda session, model, moment: chains[session.id].root.id
    return lambda session, model, moment: UNKNOWN if moment is None else calendar.key(moment, by)


class Only(NamedTuple):
    """A narrowing to one key of another grouping."""

    by: str
    key: str


def make_report(facts: Facts, by: str, period: str, now: float, only: Only | None = None) -> Report:
    """Add up.

    A session counts, with its tokens and its cost, where it began; messages count where they came. A conversation
    counts in every group it has a part in. What names no time counts in no period but that of all.

    Args:
        facts: What there is.
        by: One of `GROUPINGS`.
        period: One of `periods.PERIODS`.
        now: Unix seconds.
        only: Nothing but what counts for this.
    """
    day = first_day(period, now)
    since = begin_of(day) if day is not None else None
    calendar, groups, total = Calendar(), dict[str, _Sums](), _Sums()
    key = _key(facts, by, calendar)
    wanted = _key(facts, only.by, calendar) if only is not None else None
    split = "model" in (by, only.by if only is not None else "")
    chains = facts.catalog.forest.chain_of

    def of(session: Session, model: str, moment: float | None) -> _Sums | None:
        """The sums this counts for."""
        if since is not None and (moment is None or moment < since):
            return None
        if only is not None and wanted is not None and wanted(session, model, moment) != only.key:
            return None
        name = key(session, model, moment)
        sums = groups.get(name)
        if sums is None:
            sums = groups[name] = _Sums()
        root = chains[session.id].root.id
        sums.roots.add(root)
        total.roots.add(root)
        return sums

    for session in facts.catalog.forest.sessions.values():
        start = session.started_at
        counts = total.sessions, total.unknown, total.included
        for part in _by_model(facts, session) if split else (_whole(facts, session),):
            sums = of(session, part.model, start)
            if sums is not None:
                sums.take(part)
                total.take(part)
        # A session of several models is one session of the whole.
        total.sessions, total.unknown, total.included = (
            min(before + 1, after)
            for before, after in zip(counts, (total.sessions, total.unknown, total.included), strict=True)
        )
        model = session.model or UNKNOWN
        for quarter, count in facts.moments.get(session.id, ()):
            sums = of(session, model, quarter * float(QUARTER) if quarter is not None else start)
            if sums is not None:
                sums.messages += count
                total.messages += count
    rows = tuple(groups[name].group(name) for name in (sorted(groups) if by in (*UNITS, "hour") else groups))
    return Report(by, period, total.group(""), rows)
