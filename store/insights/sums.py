"""Add up sessions, messages, tokens, cost and tool calls over a period, by time, model, source, project and more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import add
from typing import NamedTuple

from ..connection.reader import Reader
from ..sessions.catalog import Catalog
from ..sessions.session import Session, Tokens
from ..trash.progress import never
from .facts import UNKNOWN, Facts, Stopped, ToolFacts, as_a_whole, by_model, check, read_facts, read_tools
from .periods import QUARTER, UNITS, begin_of, first_day, key_of

_SEPARATOR = "\n"
"""Joins the two keys of split sums; no key of a time has it."""
_CHECK_EVERY = 2000
"""Sessions between two checks whether the work was cancelled."""


@dataclass(slots=True)
class Group:
    """The sums of one key."""

    key: str
    conversations: set[str] = field(default_factory=set)
    """Root ids of the conversations with a part in it."""
    sessions: int = 0
    """Sessions that began in it; by tool, those that used it."""
    messages: int = 0
    """Rows in it, shown or not; by tool, its answers."""
    tokens: Tokens = field(default_factory=Tokens)
    """Of the sessions that began in it: Hermes does not record when tokens were spent."""
    estimated_usd: float = 0.0
    """Cost of the sessions with an estimate and no actual cost."""
    actual_usd: float = 0.0
    unknown: int = 0
    """Sessions with tokens and no cost."""
    included: int = 0
    """Sessions whose cost is included in a subscription, according to Hermes."""
    archived: int = 0
    """Number of archived sessions; `hermes sessions stats` (0.19) counts only the others."""
    bytes: int = 0
    """Bytes of the messages without the search index; 0 if not read."""
    calls: int = 0
    """By tool: number of calls."""
    failed: int = 0
    """By tool: number of answers that report a failure."""

    @property
    def cost_usd(self) -> float:
        """Known cost: the actual one, else the estimate of each session."""
        return self.estimated_usd + self.actual_usd

    @property
    def failure_rate(self) -> float | None:
        """Share of failed answers of a tool, 0 to 1; None without an answer."""
        return self.failed / self.messages if self.messages else None

    def add_use(self, tokens: Tokens, estimated: float, actual: float) -> None:
        """Add tokens and cost in USD."""
        self.tokens = Tokens(*map(add, self.tokens, tokens))
        self.estimated_usd += estimated
        self.actual_usd += actual

    def add_session(self, is_archived: bool, is_unknown: bool, is_included: bool) -> None:
        self.sessions += 1
        self.archived += is_archived
        self.unknown += is_unknown
        self.included += is_included


class Report(NamedTuple):
    """Sums over a period."""

    by: str
    total: Group
    rows: tuple[Group, ...]
    """Times in order; other keys unordered, except from `read_statistics`."""


def _key_function(facts: Facts, by: str) -> Callable[[Session, str], str]:
    """Return a function from session and model to their key, in any grouping but by time."""
    root_of, projects = facts.catalog.forest.root_of, facts.projects
    keys: dict[str, Callable[[Session, str], str]] = {
        "model": lambda session, model: model,
        "source": lambda session, model: session.source,
        "project": lambda session, model: projects.get(session.id, UNKNOWN),
        "conversation": lambda session, model: root_of(session.id) or session.id,
    }
    return keys[by]


class _Times:
    """Maps quarters of an hour to keys; None before the period, and for an unknown time unless the period is all."""

    def __init__(self, by: str, period: str, now: float) -> None:
        day = first_day(period, now)
        self._by, self._since = by, begin_of(day) if day is not None else None
        self._keys: dict[int | None, str | None] = {None: UNKNOWN if day is None else None}

    def key(self, quarter: int | None) -> str | None:
        """Return the key of a quarter of an hour, numbered from 1970."""
        if quarter not in self._keys and quarter is not None:
            moment = quarter * float(QUARTER)
            is_before = self._since is not None and moment < self._since
            self._keys[quarter] = None if is_before else key_of(moment, self._by)
        return self._keys[quarter]


class _Sums:
    """The groups and the total of a report while they are added up."""

    def __init__(self, facts: Facts, by: str, times: _Times, *, whole: bool = False, split: str = "") -> None:
        self._facts, self._times = facts, times
        self.groups: dict[str, Group] = {}
        self.total = Group("")
        self._key = None if by in (*UNITS, "hour") else _key_function(facts, by)
        self._split_key = _key_function(facts, split) if split else None
        self._is_by_model = "model" in (by, split)
        # A conversation counts in each group it has a part in; in sums of a whole store, only in the group of its root.
        self._is_whole, self._is_once = whole, whole and not self._is_by_model

    def _group(self, key: str, root: str | None) -> Group:
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = Group(key)
        if root is not None:
            group.conversations.add(root)
        return group

    def add_all(self, stopped: Stopped) -> None:
        """Add all sessions with their messages; `stopped` is polled regularly."""
        root_of = self._facts.catalog.forest.root_of
        for number, session in enumerate(self._facts.catalog.forest.sessions.values()):
            if number % _CHECK_EVERY == 0:
                check(stopped)
            root = root_of(session.id) or session.id
            began = session.started_at
            start = self._times.key(None if began is None else int(began // QUARTER))
            if start is not None:
                self._add_session(session, start, None if self._is_once and session.id != root else root)
            model = session.model or UNKNOWN
            key = None if self._key is None else self._key(session, model)
            self.add_messages(session.id, key, start, None if self._is_whole else root, self._suffix(session, model))

    def _add_session(self, session: Session, start: str, root: str | None) -> None:
        parts = list(by_model(self._facts, session)) if self._is_by_model else [as_a_whole(self._facts, session)]
        for part in parts:
            key = start if self._key is None else self._key(session, part.model)
            group = self._group(key + self._suffix(session, part.model), root)
            group.add_use(part.tokens, part.estimated, part.actual)
            group.add_session(session.archived, part.is_unknown, part.is_included)
        # In the total, a session of several models counts once.
        unknown, included = any(part.is_unknown for part in parts), any(part.is_included for part in parts)
        self.total.add_session(session.archived, unknown, included)

    def _suffix(self, session: Session, model: str) -> str:
        return "" if self._split_key is None else _SEPARATOR + self._split_key(session, model)

    def add_messages(
        self, session_id: str, key: str | None, start: str | None, root: str | None, suffix: str = ""
    ) -> None:
        """Add the messages of a session to the group of `key` and `suffix`; without a key group them by their time.

        `start` is the key of the session's start, for messages without a time; `root` is the root id of the
        conversation to count in the groups, if any.
        """
        for quarter, messages, size in self._facts.moments.get(session_id, ()):
            time_key = self._times.key(quarter) if quarter is not None else start
            if time_key is not None:
                group = self._group((time_key if key is None else key) + suffix, root)
                group.messages += messages
                group.bytes += size

    def report(self, by: str, keys: Iterable[str]) -> Report:
        """Add the groups to the total; return the report with groups in the order of `keys`."""
        for group in self.groups.values():
            self.total.conversations |= group.conversations
            self.total.messages += group.messages
            self.total.bytes += group.bytes
            self.total.add_use(group.tokens, group.estimated_usd, group.actual_usd)
        return Report(by, self.total, tuple(self.groups[key] for key in keys))


def make_report(
    facts: Facts,
    by: str,
    period: str,
    now: float,
    *,
    whole: bool = False,
    stopped: Stopped = never,
) -> Report:
    """Add up a period.

    A session, with its tokens and cost, counts at its start; messages count at their own time. A conversation counts in
    every group it has a part in. Whatever has no time counts only in the period `all`.

    Args:
        facts: From `read_facts`.
        by: One of `periods.UNITS`, `hour` (of the week), `model`, `source`, `project` or `conversation`.
        period: One of `periods.PERIODS`.
        now: Unix seconds.
        whole: Count as `read_statistics` does: messages without a session too, and, unless by model, a conversation
            only in the group of its root.
        stopped: Polled regularly.

    Raises:
        QueryInterruptedError: `stopped` returned True.
    """
    is_timed = by in (*UNITS, "hour")
    # Other groupings need times only to tell what is in the period: any unit does.
    sums = _Sums(facts, by, _Times(by if is_timed else "day", period, now), whole=whole)
    sums.add_all(stopped)
    for stray in facts.moments.keys() - facts.catalog.forest.sessions.keys() if whole else ():
        sums.add_messages(stray, None if is_timed else UNKNOWN, UNKNOWN, None)
    return sums.report(by, sorted(sums.groups) if is_timed else sums.groups)


def split_report(
    facts: Facts, unit: str, split: str, period: str, now: float, *, stopped: Stopped = never
) -> dict[str, dict[str, Group]]:
    """Add up by time and by another grouping, as `make_report` does.

    Returns:
        Sums by the key of `split`, and in them by the key of `unit`, one of `periods.UNITS`.

    Raises:
        QueryInterruptedError: `stopped` returned True.
    """
    sums = _Sums(facts, unit, _Times(unit, period, now), split=split)
    sums.add_all(stopped)
    return _nested(sums.groups)


def _nested(groups: Mapping[str, Group]) -> dict[str, dict[str, Group]]:
    """Split joined keys: nest groups by the second key, and in it by the first."""
    nested: dict[str, dict[str, Group]] = {}
    for both, group in groups.items():
        first, _, second = both.partition(_SEPARATOR)
        nested.setdefault(second, {})[first] = group
    return nested


def tool_report(facts: ToolFacts, period: str, now: float, unit: str = "") -> Report:
    """Add up calls, answers and failures over a period by tool, or for all tools by one of `periods.UNITS`."""
    groups, total = _add_tools(facts, period, now, unit, lambda time_key, tool: time_key if unit else tool)
    return Report(unit or "tool", total, tuple(groups[key] for key in (sorted(groups) if unit else groups)))


def split_tools(facts: ToolFacts, unit: str, period: str, now: float) -> dict[str, dict[str, Group]]:
    """Add up calls, answers and failures by tool, and in it by the key of `unit`."""
    return _nested(_add_tools(facts, period, now, unit, lambda time_key, tool: time_key + _SEPARATOR + tool)[0])


def _add_tools(
    facts: ToolFacts, period: str, now: float, unit: str, key_from: Callable[[str, str], str]
) -> tuple[dict[str, Group], Group]:
    forest, times = facts.catalog.forest, _Times(unit or "day", period, now)
    groups: dict[str, Group] = {}
    total = Group("")
    sessions: dict[str, set[str]] = {}
    for (session_id, quarter, tool), counts in facts.counts.items():
        time_key = times.key(quarter)
        if time_key is None:
            continue
        key = key_from(time_key, tool)
        for group in (groups.setdefault(key, Group(key)), total):
            group.calls, group.messages = group.calls + counts[0], group.messages + counts[1]
            group.failed, group.bytes = group.failed + counts[2], group.bytes + counts[3]
            sessions.setdefault(group.key, set()).add(session_id)
    for group in (*groups.values(), total):
        ids = sessions.get(group.key, set())
        group.sessions = len(ids)
        group.conversations = {root for each in ids if (root := forest.root_of(each)) is not None}
        group.archived = sum(forest.sessions[each].archived for each in ids if each in forest.sessions)
    return groups, total


def read_statistics(reader: Reader, catalog: Catalog, by: str = "source") -> Report:
    """Add up a whole store, with the bytes of its messages.

    By source and model, messages and bytes count for the source and model of their session; by day for the local day
    of the message, and sessions, tokens and cost for the day of the session's start. By tool, messages and bytes are
    those of its answers; tokens and cost are not recorded by tool, so they are 0.

    Returns:
        By `model`, `source`, `day` or `tool`: days in order, other keys by calls, messages and bytes, most first. The
        total is the same for each grouping.
    """
    facts = read_facts(reader, catalog, sizes=True)
    report = by_source = make_report(facts, "source", "all", 0.0, whole=True)
    if by == "tool":
        report = tool_report(read_tools(reader, catalog, as_stored=True), "all", 0.0)
    elif by != "source":
        report = make_report(facts, by, "all", 0.0, whole=True)
    rows = report.rows
    if by != "day":
        rows = tuple(sorted(rows, key=lambda each: (-each.calls, -each.messages, -each.bytes, each.key)))
    return Report(by, by_source.total, rows)
