"""Sums of what a store was used for, over a period, by time, model, source, project, conversation or tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import add
from typing import NamedTuple

from ..cleanup.sizes import Stopped, check, never
from ..connection.connect import Reader
from ..sessions.catalog import Catalog
from ..sessions.session import Session, Tokens
from .facts import NO_MONEY, UNKNOWN, Facts, ToolFacts, read_facts, read_tools
from .periods import QUARTER, UNITS, begin_of, first_day, key_of

GROUPINGS = (*UNITS, "hour", "model", "source", "project", "conversation")
"""What `make_report` groups by; `hour` is the hour of the week."""
BY = ("model", "source", "day", "tool")
"""What `read_statistics` groups by."""

_LOOKS = 2000
"""Sessions between two looks at whether the sums are still wanted."""


class Only(NamedTuple):
    """Restricts sums to one key of another grouping, by anything but time."""

    by: str
    key: str


class _Part(NamedTuple):
    """What a session, or its use of one model, comes to."""

    model: str
    tokens: Tokens
    estimated: float
    actual: float
    is_unknown: bool
    is_included: bool


@dataclass(slots=True)
class Group:
    """The sums of one key."""

    key: str
    conversations: set[str] = field(default_factory=set)
    """Ids of the root segments of those that have a part in it."""
    sessions: int = 0
    """Sessions that began in it; by tool, those that used it."""
    messages: int = 0
    """Rows, shown or not, that came in it; by tool, its answers."""
    tokens: Tokens = field(default_factory=Tokens)
    """Tokens of the sessions that began in it: nobody recorded when each was spent."""
    estimated_usd: float = 0.0
    """Cost of the sessions that have an estimate and no actual cost."""
    actual_usd: float = 0.0
    unknown: int = 0
    """Sessions that used tokens and have no cost at all."""
    included: int = 0
    """Sessions whose cost a subscription includes, as Hermes says."""
    archived: int = 0
    """How many of the sessions are archived; `hermes sessions stats` (0.19) counts the others alone."""
    bytes: int = 0
    """Bytes of the messages without the search index; 0 where they were not read."""
    calls: int = 0
    """By tool: how often it was called."""
    failed: int = 0
    """By tool: how many of the answers tell of a failure."""

    @property
    def cost_usd(self) -> float:
        """What is known of the cost: the actual one where there is one, else the estimate."""
        return self.estimated_usd + self.actual_usd

    @property
    def failure_rate(self) -> float | None:
        """Failed answers of a tool among all, from 0 to 1; None without an answer."""
        return self.failed / self.messages if self.messages else None

    def use(self, tokens: Tokens, estimated: float, actual: float) -> None:
        """Add tokens and cost."""
        self.tokens = Tokens(*map(add, self.tokens, tokens))
        self.estimated_usd += estimated
        self.actual_usd += actual

    def begin(self, is_archived: bool, is_unknown: bool, is_included: bool) -> None:
        """Add a session."""
        self.sessions += 1
        self.archived += is_archived
        self.unknown += is_unknown
        self.included += is_included


class Report(NamedTuple):
    """Sums over a period."""

    by: str
    period: str
    total: Group
    rows: tuple[Group, ...]
    """Times in order; anything else in no order, unless `read_statistics` sorted it."""


def _whole(facts: Facts, session: Session) -> _Part:
    """A session by its own counters."""
    estimated, actual, status = facts.money.get(session.id, NO_MONEY)
    tokens, is_included = session.tokens, status == "included"
    cost = actual if actual is not None else estimated
    unpriced = cost is None or (not cost and status == "unknown")
    is_unknown = bool(tokens.total) and unpriced and not is_included
    guess = (estimated or 0.0) if actual is None else 0.0
    return _Part(session.model or UNKNOWN, tokens, guess, actual or 0.0, is_unknown, is_included)


def _by_model(facts: Facts, session: Session) -> Iterator[_Part]:
    """Split a session by model; what the rows per model leave of its own counters goes to the model it names."""
    whole, used = _whole(facts, session), facts.usage.get(session.id)
    if not used:
        yield whole
        return
    one, cost = used[0], whole.estimated + whole.actual
    if (
        len(used) == 1
        and one.tokens == whole.tokens
        and abs(one.cost_usd - cost) <= 1e-9
        and (one.actual_usd > 0) == (whole.actual > 0)
        and whole.is_unknown == (not one.cost_usd and bool(one.tokens.total) and not whole.is_included)
    ):  # the row has all there is, as for most sessions
        yield whole._replace(model=one.model)
        return
    parts: dict[str, _Part] = {}

    def take(model: str, tokens: Tokens, estimated: float, actual: float, unpriced: bool) -> None:
        have = parts.get(model) or _Part(model, Tokens(), 0.0, 0.0, True, whole.is_included)
        sums = Tokens(*map(add, have.tokens, tokens)), have.estimated + estimated, have.actual + actual
        parts[model] = _Part(model, *sums, have.is_unknown and unpriced, have.is_included)

    left = list(whole.tokens)
    for each in used:
        estimated = 0.0 if each.actual_usd else each.estimated_usd
        take(each.model, each.tokens, estimated, each.actual_usd, not each.cost_usd)
        left = [max(0, have - gone) for have, gone in zip(left, each.tokens, strict=True)]
        cost = max(0.0, cost - each.cost_usd)
    cost = cost if cost > 1e-9 else 0.0
    if any(left) or cost:
        is_actual = facts.money.get(session.id, NO_MONEY).actual_usd is not None
        estimated, actual = (0.0, cost) if is_actual else (cost, 0.0)
        take(whole.model, Tokens(*left), estimated, actual, whole.is_unknown)
    for part in parts.values():
        yield part._replace(is_unknown=part.is_unknown and bool(part.tokens.total) and not part.is_included)


def _key(facts: Facts, by: str) -> Callable[[Session, str], str]:
    """A function from a session and a model to the key they count for, in a grouping by anything but time."""
    root_of, projects = facts.catalog.forest.root_of, facts.projects
    keys: dict[str, Callable[[Session, str], str]] = {
        "model": lambda session, model: model,
        "source": lambda session, model: session.source,
        "project": lambda session, model: projects.get(session.id, UNKNOWN),
        "conversation": lambda session, model: root_of(session.id) or session.id,
    }
    return keys[by]


class _Times:
    """From a quarter of an hour to the key it counts for; None for what lies before the period."""

    def __init__(self, by: str, period: str, now: float) -> None:
        day = first_day(period, now)
        self._by, self._since = by, begin_of(day) if day is not None else None
        self._known: dict[int | None, str | None] = {None: UNKNOWN if day is None else None}

    def key(self, moment: float | None) -> str | None:
        """The key of a moment in Unix seconds, or of none."""
        return self.of(None if moment is None else int(moment // QUARTER))

    def of(self, quarter: int | None) -> str | None:
        """The key of a quarter, or of none."""
        if quarter not in self._known and quarter is not None:
            moment = quarter * float(QUARTER)
            is_before = self._since is not None and moment < self._since
            self._known[quarter] = None if is_before else key_of(moment, self._by)
        return self._known[quarter]


class _Adding:
    """A report in the making."""

    def __init__(self, facts: Facts, by: str, times: _Times, only: Only | None, *, whole: bool) -> None:
        self._facts, self._only, self._times = facts, only, times
        self.groups: dict[str, Group] = {}
        self.total = Group("")
        self._key = None if by in (*UNITS, "hour") else _key(facts, by)
        self._wanted = _key(facts, only.by) if only is not None else None
        self._is_split = "model" in (by, only.by if only is not None else "")
        # A conversation counts where it has a part; in the sums of a whole store it counts once, where its root does.
        self._is_whole, self._is_once = whole, whole and not self._is_split

    def _group(self, key: str, root: str | None) -> Group:
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = Group(key)
        if root is not None:
            group.conversations.add(root)
        return group

    def _leaves_out(self, session: Session, model: str) -> bool:
        return self._only is not None and self._wanted is not None and self._wanted(session, model) != self._only.key

    def add(self, session: Session, root: str) -> None:
        """Add a session and its messages."""
        when = self._times.key(session.started_at)
        if when is not None:
            self._begin(session, when, None if self._is_once and session.id != root else root)
        model = session.model or UNKNOWN
        if not self._leaves_out(session, model):
            key = None if self._key is None else self._key(session, model)
            self.count(session.id, key, when, None if self._is_whole else root)

    def _begin(self, session: Session, when: str, root: str | None) -> None:
        split = _by_model(self._facts, session) if self._is_split else [_whole(self._facts, session)]
        parts = [part for part in split if not self._leaves_out(session, part.model)]
        for part in parts:
            group = self._group(when if self._key is None else self._key(session, part.model), root)
            group.use(part.tokens, part.estimated, part.actual)
            group.begin(session.archived, part.is_unknown, part.is_included)
        if parts:  # a session of several models is one session of the total
            unknown, included = any(part.is_unknown for part in parts), any(part.is_included for part in parts)
            self.total.begin(session.archived, unknown, included)

    def count(self, session_id: str, key: str | None, began: str | None, root: str | None) -> None:
        """Add messages.

        Args:
            session_id: Whose.
            key: Of the group; None for that of the time they came at.
            began: The group of the session's beginning, for messages without a time.
            root: The conversation that counts where they came, if one does.
        """
        for quarter, messages, size in self._facts.moments.get(session_id, ()):
            when = self._times.of(quarter) if quarter is not None else began
            if when is not None:
                group = self._group(when if key is None else key, root)
                group.messages += messages
                group.bytes += size

    def report(self, by: str, period: str, keys: Iterable[str]) -> Report:
        """Add up the groups."""
        for group in self.groups.values():
            self.total.conversations |= group.conversations
            self.total.messages += group.messages
            self.total.bytes += group.bytes
            self.total.use(group.tokens, group.estimated_usd, group.actual_usd)
        return Report(by, period, self.total, tuple(self.groups[key] for key in keys))


def make_report(
    facts: Facts,
    by: str,
    period: str,
    now: float,
    only: Only | None = None,
    *,
    whole: bool = False,
    stopped: Stopped = never,
) -> Report:
    """Add up.

    A session counts, with its tokens and its cost, where it began; messages count where they came. A conversation
    counts in every group it has a part in. What has no time counts in no period but that of all.

    Args:
        facts: What there is.
        by: One of `GROUPINGS`.
        period: One of `periods.PERIODS`.
        now: Unix seconds.
        only: Nothing but what counts for this.
        whole: As `read_statistics` counts: messages of no session too, and by anything but the model a conversation
            only where its root counts.
        stopped: Looked at now and then.

    Raises:
        QueryInterruptedError: `stopped` said so.
    """
    is_timed = by in (*UNITS, "hour")
    # What is not grouped by time has to be looked at for the period all the same: any unit tells.
    adding = _Adding(facts, by, _Times(by if is_timed else "day", period, now), only, whole=whole)
    sessions, root_of = facts.catalog.forest.sessions, facts.catalog.forest.root_of
    for number, session in enumerate(sessions.values()):
        if number % _LOOKS == 0:
            check(stopped)
        adding.add(session, root_of(session.id) or session.id)
    for stray in facts.moments.keys() - sessions.keys() if whole else ():
        adding.count(stray, None if is_timed else UNKNOWN, UNKNOWN, None)
    return adding.report(by, period, sorted(adding.groups) if is_timed else adding.groups)


def tool_report(facts: ToolFacts, period: str, now: float, only: str | None = None, unit: str = "") -> Report:
    """Calls, answers and failures over a period, by tool; or those of one tool by time.

    Args:
        facts: What there is.
        period: One of `periods.PERIODS`.
        now: Unix seconds.
        only: Count this tool alone.
        unit: Group by this one of `periods.UNITS` instead of by tool.
    """
    forest, times = facts.catalog.forest, _Times(unit or "day", period, now)
    groups: dict[str, Group] = {}
    used: dict[str, set[str]] = {}
    total = Group("")
    for (session_id, quarter, tool), counts in facts.counts.items():
        when = times.of(quarter)
        if when is None or (only is not None and tool != only):
            continue
        key = when if unit else tool
        for group in (groups.setdefault(key, Group(key)), total):
            group.calls, group.messages = group.calls + counts[0], group.messages + counts[1]
            group.failed, group.bytes = group.failed + counts[2], group.bytes + counts[3]
            used.setdefault(group.key, set()).add(session_id)
    for group in (*groups.values(), total):
        sessions = used.get(group.key, set())
        group.sessions = len(sessions)
        group.conversations = {root for each in sessions if (root := forest.root_of(each)) is not None}
        group.archived = sum(forest.sessions[each].archived for each in sessions if each in forest.sessions)
    return Report(unit or "tool", period, total, tuple(groups[key] for key in (sorted(groups) if unit else groups)))


def read_statistics(reader: Reader, catalog: Catalog, by: str = "source", *, stopped: Stopped = never) -> Report:
    """Add up a whole store, with the bytes of its messages.

    By source and model, messages and bytes count for those of their session; by day for the local day of the message,
    and sessions, tokens and cost for the day the session began. By tool, messages and bytes are those of its answers;
    nobody recorded tokens and cost by tool, so they are 0.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        by: One of `BY`.
        stopped: Looked at between slices.

    Returns:
        Days in order, anything else by calls, messages and bytes, most first. The total is that of the whole store,
        however it is grouped.

    Raises:
        QueryInterruptedError: `stopped` said so.
    """
    facts = read_facts(reader, catalog, sizes=True, stopped=stopped)
    found = by_source = make_report(facts, "source", "all", 0.0, whole=True, stopped=stopped)
    if by == "tool":
        found = tool_report(read_tools(reader, catalog, as_stored=True, stopped=stopped), "all", 0.0)
    elif by != "source":
        found = make_report(facts, by, "all", 0.0, whole=True, stopped=stopped)
    rows = found.rows
    if by != "day":
        rows = tuple(sorted(rows, key=lambda each: (-each.calls, -each.messages, -each.bytes, each.key)))
    return Report(by, "all", by_source.total, rows)
