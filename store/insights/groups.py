"""Sums of what a store was used for, over a period, by one thing or another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..prune.sizes import Stopped, check, never
from ..sessions.session import Session, Tokens
from .facts import Facts
from .periods import QUARTER, UNITS, Calendar, begin_of, first_day
from .sums import Group, Report
from .usage import UNKNOWN, Used

GROUPINGS = (*UNITS, "hour", "model", "source", "project", "conversation")
"""What sums can be grouped by; `hour` is the hour of the week."""

_LOOKS = 2000
"""Sessions between two looks at whether the sums are still wanted."""


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
        have, more = self.tokens, part.tokens
        for place in range(5):
            have[place] += more[place]
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


def _is_all_of_it(used: Used, whole: _Part) -> bool:
    """Whether one row tells all there is of a session, as it does of most."""
    cost = whole.estimated + whole.actual
    return (
        used.tokens == whole.tokens
        and abs(used.cost_usd - cost) <= 1e-9
        and (used.actual_usd > 0) == (whole.actual > 0)
        and whole.is_unknown == (not used.cost_usd and bool(used.tokens.total) and not whole.is_included)
    )


def _by_model(facts: Facts, session: Session) -> Iterator[_Part]:
    """Its parts by model; what the rows per model leave of its own counters goes to the model it names."""
    whole, used = _whole(facts, session), facts.usage.get(session.id)
    if not used:
        yield whole
        return
    if len(used) == 1 and _is_all_of_it(used[0], whole):
        yield whole._replace(model=used[0].model)
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


_Key = Callable[[Session, str], str]


def _key(facts: Facts, by: str) -> _Key:
    """From a session and a model to the key they count for; of a grouping by anything but time."""
    root_of, projects = facts.catalog.forest.root_of, facts.projects
    keys: dict[str, _Key] = {
        "model": lambda session, model: model,
        "source": lambda session, model: session.source,
        "project": lambda session, model: projects.get(session.id, UNKNOWN),
        "conversation": lambda session, model: root_of(session.id) or session.id,
    }
    return keys[by]


class _Times:
    """From a quarter of an hour to the key it counts for; None before the period."""

    def __init__(self, by: str, since: float | None) -> None:
        self._by, self._since = by, since
        self._calendar = Calendar()
        self._known: dict[int, str | None] = {}

    def key(self, moment: float | None) -> str | None:
        """Of a moment in Unix seconds, or of none."""
        if moment is None:
            return UNKNOWN if self._since is None else None
        return self.of(int(moment // QUARTER))

    def of(self, quarter: int) -> str | None:
        """Of a quarter."""
        if quarter in self._known:
            return self._known[quarter]
        moment = quarter * float(QUARTER)
        is_before = self._since is not None and moment < self._since
        found = None if is_before else self._calendar.key(moment, self._by)
        self._known[quarter] = found
        return found


class Only(NamedTuple):
    """A narrowing to one key of another grouping, by anything but time."""

    by: str
    key: str


class _Adding:
    """A report in the making."""

    def __init__(self, facts: Facts, by: str, since: float | None, only: Only | None) -> None:
        self._facts, self._only = facts, only
        self.groups: dict[str, _Sums] = {}
        self._sessions = self._unknown = self._included = 0
        # What is not grouped by time has to be looked at for the period all the same: any unit tells.
        self._is_timed = by in (*UNITS, "hour")
        self._times = _Times(by if self._is_timed else "day", since)
        self._key = None if self._is_timed else _key(facts, by)
        self._wanted = _key(facts, only.by) if only is not None else None
        self._is_split = "model" in (by, only.by if only is not None else "")

    def _sums(self, name: str, root: str) -> _Sums:
        sums = self.groups.get(name)
        if sums is None:
            sums = self.groups[name] = _Sums()
        sums.roots.add(root)
        return sums

    def _leaves_out(self, session: Session, model: str) -> bool:
        return self._only is not None and self._wanted is not None and self._wanted(session, model) != self._only.key

    def add(self, session: Session, root: str) -> None:
        """Add a session and its messages."""
        self._begun(session, root)
        model, moments = session.model or UNKNOWN, self._facts.moments.get(session.id, ())
        if self._leaves_out(session, model):
            return
        if self._key is None:
            for quarter, count in moments:
                name = self._times.of(quarter) if quarter is not None else self._times.key(session.started_at)
                if name is not None:
                    self._sums(name, root).messages += count
            return
        of, other = self._times.of, self._times.key(session.started_at)
        messages = sum(count for quarter, count in moments if (of(quarter) if quarter is not None else other))
        if messages:
            self._sums(self._key(session, model), root).messages += messages

    def _begun(self, session: Session, root: str) -> None:
        when = self._times.key(session.started_at)
        if when is None:
            return
        is_in = is_unknown = is_included = False
        for part in _by_model(self._facts, session) if self._is_split else (_whole(self._facts, session),):
            if not self._leaves_out(session, part.model):
                self._sums(when if self._key is None else self._key(session, part.model), root).take(part)
                is_in, is_unknown = True, is_unknown or part.is_unknown
                is_included = is_included or part.is_included
        # A session of several models is one session of the whole.
        self._sessions += is_in
        self._unknown += is_unknown
        self._included += is_included

    def total(self) -> Group:
        """The sums of all groups."""
        whole = _Sums()
        for sums in self.groups.values():
            whole.roots |= sums.roots
            whole.messages += sums.messages
            whole.tokens = [have + more for have, more in zip(whole.tokens, sums.tokens, strict=True)]
            whole.estimated += sums.estimated
            whole.actual += sums.actual
        whole.sessions, whole.unknown, whole.included = self._sessions, self._unknown, self._included
        return whole.group("")


def make_report(
    facts: Facts, by: str, period: str, now: float, only: Only | None = None, *, stopped: Stopped = never
) -> Report:
    """Add up.

    A session counts, with its tokens and its cost, where it began; messages count where they came. A conversation
    counts in every group it has a part in. What names no time counts in no period but that of all.

    Args:
        facts: What there is.
        by: One of `GROUPINGS`.
        period: One of `periods.PERIODS`.
        now: Unix seconds.
        only: Nothing but what counts for this.
        stopped: Looked at now and then.

    Raises:
        QueryInterruptedError: Cancelled.
    """
    day = first_day(period, now)
    adding = _Adding(facts, by, begin_of(day) if day is not None else None, only)
    root_of = facts.catalog.forest.root_of
    for number, session in enumerate(facts.catalog.forest.sessions.values()):
        if number % _LOOKS == 0:
            check(stopped)
        adding.add(session, root_of(session.id) or session.id)
    groups = adding.groups
    rows = tuple(groups[name].group(name) for name in (sorted(groups) if by in (*UNITS, "hour") else groups))
    return Report(by, period, adding.total(), rows)
