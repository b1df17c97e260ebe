"""Sums of what a store was used for, over a period, by time, model, source, project, conversation or tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import add
from typing import NamedTuple

from ..cleanup.sizes import Stopped, check, never
from ..connection.connect import Reader
from ..sessions.catalog import Catalog
from ..sessions.session import Session, Tokens
from .facts import UNKNOWN, Facts, ToolFacts, as_a_whole, by_model, read_facts, read_tools
from .periods import QUARTER, UNITS, begin_of, first_day, key_of

GROUPINGS = (*UNITS, "hour", "model", "source", "project", "conversation")
"""What `make_report` groups by; `hour` is the hour of the week."""
BY = ("model", "source", "day", "tool")
"""What `read_statistics` groups by."""

_SEPARATOR = "\n"
"""Between the two keys of split sums; no key of a time has it."""
_LOOKS = 2000
"""Sessions between two looks at whether the sums are still wanted."""


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

    def __init__(self, facts: Facts, by: str, times: _Times, *, whole: bool = False, split: str = "") -> None:
        self._facts, self._times = facts, times
        self.groups: dict[str, Group] = {}
        self.total = Group("")
        self._key = None if by in (*UNITS, "hour") else _key(facts, by)
        self._second = _key(facts, split) if split else None
        self._is_split = "model" in (by, split)
        # A conversation counts where it has a part; in the sums of a whole store it counts once, where its root does.
        self._is_whole, self._is_once = whole, whole and not self._is_split

    def _group(self, key: str, root: str | None) -> Group:
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = Group(key)
        if root is not None:
            group.conversations.add(root)
        return group

    def add_all(self, stopped: Stopped) -> None:
        """Add all sessions; `stopped` is looked at now and then."""
        root_of = self._facts.catalog.forest.root_of
        for number, session in enumerate(self._facts.catalog.forest.sessions.values()):
            if number % _LOOKS == 0:
                check(stopped)
            self.add(session, root_of(session.id) or session.id)

    def add(self, session: Session, root: str) -> None:
        """Add a session and its messages."""
        when = self._times.key(session.started_at)
        if when is not None:
            self._begin(session, when, None if self._is_once and session.id != root else root)
        model = session.model or UNKNOWN
        key = None if self._key is None else self._key(session, model)
        self.count(session.id, key, when, None if self._is_whole else root, self._behind(session, model))

    def _begin(self, session: Session, when: str, root: str | None) -> None:
        parts = list(by_model(self._facts, session)) if self._is_split else [as_a_whole(self._facts, session)]
        for part in parts:
            key = when if self._key is None else self._key(session, part.model)
            group = self._group(key + self._behind(session, part.model), root)
            group.use(part.tokens, part.estimated, part.actual)
            group.begin(session.archived, part.is_unknown, part.is_included)
        # a session of several models is one session of the total
        unknown, included = any(part.is_unknown for part in parts), any(part.is_included for part in parts)
        self.total.begin(session.archived, unknown, included)

    def _behind(self, session: Session, model: str) -> str:
        """What a key ends with if sums are split by something else as well."""
        return "" if self._second is None else _SEPARATOR + self._second(session, model)

    def count(self, session_id: str, key: str | None, began: str | None, root: str | None, behind: str = "") -> None:
        """Add messages.

        Args:
            session_id: Whose.
            key: Of the group; None for that of the time they came at.
            began: The group of the session's beginning, for messages without a time.
            root: The conversation that counts where they came, if one does.
            behind: What the key ends with.
        """
        for quarter, messages, size in self._facts.moments.get(session_id, ()):
            when = self._times.of(quarter) if quarter is not None else began
            if when is not None:
                group = self._group((when if key is None else key) + behind, root)
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
        whole: As `read_statistics` counts: messages of no session too, and by anything but the model a conversation
            only where its root counts.
        stopped: Looked at now and then.

    Raises:
        QueryInterruptedError: `stopped` said so.
    """
    is_timed = by in (*UNITS, "hour")
    # What is not grouped by time has to be looked at for the period all the same: any unit tells.
    adding = _Adding(facts, by, _Times(by if is_timed else "day", period, now), whole=whole)
    adding.add_all(stopped)
    for stray in facts.moments.keys() - facts.catalog.forest.sessions.keys() if whole else ():
        adding.count(stray, None if is_timed else UNKNOWN, UNKNOWN, None)
    return adding.report(by, period, sorted(adding.groups) if is_timed else adding.groups)


def split_report(
    facts: Facts, unit: str, split: str, period: str, now: float, *, stopped: Stopped = never
) -> dict[str, dict[str, Group]]:
    """Add up by time, and by something else within each stretch of time; counted as in `make_report`.

    Args:
        facts: What there is.
        unit: One of `periods.UNITS`.
        split: One of the other `GROUPINGS`, by anything but time.
        period: One of `periods.PERIODS`.
        now: Unix seconds.
        stopped: Looked at now and then.

    Returns:
        Sums by the key of `split`, and in them by the key of `unit`.

    Raises:
        QueryInterruptedError: `stopped` said so.
    """
    adding = _Adding(facts, unit, _Times(unit, period, now), split=split)
    adding.add_all(stopped)
    return _unfolded(adding.groups)


def _unfolded(groups: Mapping[str, Group]) -> dict[str, dict[str, Group]]:
    """By the second of two keys, and in that by the first."""
    found: dict[str, dict[str, Group]] = {}
    for both, group in groups.items():
        when, _, key = both.partition(_SEPARATOR)
        found.setdefault(key, {})[when] = group
    return found


def tool_report(facts: ToolFacts, period: str, now: float, unit: str = "") -> Report:
    """Calls, answers and failures over a period, by tool; or those of all tools by time.

    Args:
        facts: What there is.
        period: One of `periods.PERIODS`.
        now: Unix seconds.
        unit: Group by this one of `periods.UNITS` instead of by tool.
    """
    groups, total = _add_tools(facts, period, now, unit, lambda when, tool: when if unit else tool)
    return Report(unit or "tool", period, total, tuple(groups[key] for key in (sorted(groups) if unit else groups)))


def split_tools(facts: ToolFacts, unit: str, period: str, now: float) -> dict[str, dict[str, Group]]:
    """The same by tool, and in that by the key of `unit`."""
    return _unfolded(_add_tools(facts, period, now, unit, lambda when, tool: when + _SEPARATOR + tool)[0])


def _add_tools(
    facts: ToolFacts, period: str, now: float, unit: str, key_from: Callable[[str, str], str]
) -> tuple[dict[str, Group], Group]:
    forest, times = facts.catalog.forest, _Times(unit or "day", period, now)
    groups: dict[str, Group] = {}
    total = Group("")
    used: dict[str, set[str]] = {}
    for (session_id, quarter, tool), counts in facts.counts.items():
        when = times.of(quarter)
        if when is None:
            continue
        key = key_from(when, tool)
        for group in (groups.setdefault(key, Group(key)), total):
            group.calls, group.messages = group.calls + counts[0], group.messages + counts[1]
            group.failed, group.bytes = group.failed + counts[2], group.bytes + counts[3]
            used.setdefault(group.key, set()).add(session_id)
    for group in (*groups.values(), total):
        sessions = used.get(group.key, set())
        group.sessions = len(sessions)
        group.conversations = {root for each in sessions if (root := forest.root_of(each)) is not None}
        group.archived = sum(forest.sessions[each].archived for each in sessions if each in forest.sessions)
    return groups, total


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
