"""What tools were called, and how often their answers tell of a failure."""

from __future__ import annotations

from typing import NamedTuple

from ..connect import Reader
from ..messages import decode_content, decode_tool_calls
from ..outcomes import LIMIT, has_failed
from ..prune.sizes import Stopped, check, never
from ..sessions.catalog import Catalog
from ..text import as_text
from ..values import as_time
from .facts import Tell, silent
from .periods import QUARTER, begin_of, first_day
from .sums import Group, Report
from .usage import UNKNOWN

_SLICE = 400


class ToolFacts(NamedTuple):
    """Calls, answers and failures."""

    catalog: Catalog
    counts: dict[tuple[str, int | None, str], tuple[int, int, int]]
    """By session id, quarter of an hour since 1970 and tool: calls, answers, failed answers."""


def read_tools(reader: Reader, catalog: Catalog, *, stopped: Stopped = never, tell: Tell = silent) -> ToolFacts:
    """Look through all calls and answers, a slice by id at a time.

    An answer without a name (Hermes before 0.16 left it out at times) has that of the call it belongs to.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        stopped: Looked at between slices.
        tell: Takes how far it is.

    Raises:
        QueryInterruptedError: Cancelled.
    """
    schema, sessions = reader.schema, catalog.forest.sessions
    columns = [schema.message(name) for name in ("role", "tool_calls", "tool_call_id", "tool_name", "timestamp")]
    content = schema.message("content")
    # A long text is cut as bytes: SQLite's text functions end at a NUL, with which multimodal content begins.
    cut = (
        f"CASE WHEN {schema.message('role')} = 'tool' "  # not shown
        f"THEN CASE WHEN length(CAST({content} AS BLOB)) > {4 * LIMIT} "
        f"THEN substr(CAST({content} AS BLOB), 1, {4 * LIMIT}) ELSE {content} END END"
    )
    statement = (
        f"SELECT m.id, m.session_id, {', '.join(columns)}, {cut}, {schema.message('effect_disposition')} "
        f"FROM messages m WHERE m.id > ? ORDER BY m.id LIMIT {_SLICE}"
    )
    counts: dict[tuple[str, int | None, str], tuple[int, int, int]] = {}
    asked: dict[tuple[str, str], str] = {}
    end = int(str(reader.value("SELECT max(id) FROM messages") or 0))
    last = -(2**63)

    def add(session_id: str, moment: object, tool: str, more: tuple[int, int, int]) -> None:
        when = as_time(moment)
        when = sessions[session_id].started_at if when is None else when
        key = session_id, int(when // QUARTER) if when is not None else None, tool
        have = counts.get(key, (0, 0, 0))
        counts[key] = have[0] + more[0], have[1] + more[1], have[2] + more[2]

    while True:
        check(stopped)
        rows = reader.rows(statement, [last])
        for number, stored, role, calls, call_id, name, moment, text, effect in rows:
            last = int(str(number))
            session_id = as_text(stored) or ""
            if session_id not in sessions:
                continue
            if calls is not None:
                for call in decode_tool_calls(calls):
                    asked[session_id, call.id] = call.name
                    add(session_id, moment, call.name or UNKNOWN, (1, 0, 0))
            if role == "tool":
                called = asked.pop((session_id, as_text(call_id) or ""), "")
                failed = has_failed(decode_content(text)[0], as_text(effect))
                add(session_id, moment, as_text(name) or called or UNKNOWN, (0, 1, int(failed)))
        tell(min(1.0, last / end) if end > 0 else 1.0)
        if len(rows) < _SLICE:
            return ToolFacts(catalog, counts)


def tool_report(facts: ToolFacts, period: str, now: float, only: str | None = None, unit: str = "") -> Report:
    """Calls, answers and failures over a period, by tool; or those of one tool by time.

    Args:
        facts: What there is.
        period: One of `periods.PERIODS`.
        now: Unix seconds.
        only: This tool alone, by `unit`.
        unit: One of `periods.UNITS`.
    """
    from .periods import Calendar

    day = first_day(period, now)
    since = begin_of(day) if day is not None else None
    sums: dict[str, list[int]] = {}
    roots: dict[str, set[str]] = {}
    used: dict[str, set[str]] = {}
    calendar = Calendar()
    for (session_id, quarter, tool), more in facts.counts.items():
        moment = quarter * float(QUARTER) if quarter is not None else None
        if (since is not None and (moment is None or moment < since)) or (only is not None and tool != only):
            continue
        key = tool if not unit else UNKNOWN if moment is None else calendar.key(moment, unit)
        have = sums.setdefault(key, [0, 0, 0])
        for place, count in enumerate(more):
            have[place] += count
        roots.setdefault(key, set()).add(facts.catalog.forest.root_of(session_id) or session_id)
        used.setdefault(key, set()).add(session_id)

    def group(key: str, counts: list[int], chains: set[str], count: int) -> Group:
        return Group(
            key, frozenset(chains), count, calls=counts[0], results=counts[1], failed=counts[2], messages=counts[1]
        )

    keys = sorted(sums) if unit else list(sums)
    rows = tuple(group(key, sums[key], roots[key], len(used[key])) for key in keys)
    whole = [sum(each[place] for each in sums.values()) for place in range(3)]
    every = set().union(*used.values())
    total = group("", whole, set().union(*roots.values()), len(every))
    return Report(unit or "tool", period, total, rows)
