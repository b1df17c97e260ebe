"""`stats` over a period, or by what only insights know: estimated and actual cost apart, failures of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_browse.store.wording import _, pgettext

from .columns import money, note, print_table, short_number
from .jsonform import Json
from .naming import grouping_name
from .run import Context, print_json

if TYPE_CHECKING:
    from hermes_browse.store.insights.sums import Group, Report

BYTES = ("model", "source", "day", "tool")
"""What bytes are counted by as well, over all time: those are `store.statistics`."""


def costs_json(group: Group) -> Json:
    """What is known of a cost, and what is not."""
    return {
        "cost_estimated_usd": group.estimated_usd,
        "cost_actual_usd": group.actual_usd,
        "cost_unknown_sessions": group.unknown,
        "cost_included_sessions": group.included,
    }


def _json(group: Group, by: str) -> Json:
    tokens = group.tokens
    found: Json = {
        "key": group.key,
        "conversations": len(group.conversations),
        "sessions": group.sessions,
        "messages": group.messages,
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
        "reasoning_tokens": tokens.reasoning,
        "cost_usd": group.cost_usd,
        "bytes": None,
        **costs_json(group),
    }
    if by == "tool":
        found |= {"calls": group.calls, "answers": group.results, "failed": group.failed}
    return found


def _row(group: Group, by: str) -> list[str]:
    tokens = group.tokens
    start = [group.key, f"{len(group.conversations):,}", f"{group.sessions:,}"]
    if by == "tool":
        rate = "" if group.failure_rate is None else f"{group.failure_rate:.1%}"
        return [*start, f"{group.calls:,}", f"{group.results:,}", f"{group.failed:,}", rate]
    counts = (tokens.input, tokens.output, tokens.cache_read + tokens.cache_write, tokens.reasoning)
    guessed, unknown = "~" if group.estimated_usd else "", "?" if group.unknown else ""
    return [
        *start, f"{group.messages:,}", *map(short_number, counts), f"{guessed}{money(group.cost_usd)}{unknown}"
    ]  # fmt: skip


def read_report(context: Context, by: str, period: str) -> Report:
    """The sums of the store.

    Args:
        context: Of the command.
        by: `tool`, or one of `groups.GROUPINGS`.
        period: One of `periods.PERIODS`.
    """
    from hermes_browse.store.insights.facts import read_facts
    from hermes_browse.store.insights.groups import make_report
    from hermes_browse.store.insights.periods import UNITS
    from hermes_browse.store.insights.tools import read_tools, tool_report
    from hermes_browse.store.sessions.catalog import read_catalog

    with context.store.reader() as reader:
        catalog = read_catalog(reader, context.now)
        if by == "tool":
            found = tool_report(read_tools(reader, catalog), period, context.now)
        else:
            found = make_report(read_facts(reader, catalog), by, period, context.now)
    if by in (*UNITS, "hour"):
        return found
    ordered = sorted(found.rows, key=lambda each: (-each.calls, -each.tokens.total, -each.messages, each.key))
    return found._replace(rows=tuple(ordered))


def show_insights(context: Context, by: str, period: str) -> int:
    """`stats` over a period, or by week, month, hour of the week, project or conversation."""
    from hermes_browse.store.insights.periods import first_day

    found = read_report(context, by, period)
    day = first_day(period, context.now)
    since = day.isoformat() if day is not None else None
    if context.json:
        total = _json(found.total, by)
        del total["key"]
        rows = [_json(each, by) for each in found.rows]
        print_json({"total": total, "grouped_by": by, "period": period, "since": since, "by": rows})
        return 0
    if by == "tool":
        sums = [_("calls"), _("answers"), _("failed"), pgettext("column", "rate")]
    else:
        sums = [
            _("msgs"),
            pgettext("column", "in"),
            pgettext("column", "out"),
            _("cache"),
            pgettext("column", "thought"),
            _("cost"),
        ]
    headers = [grouping_name(by), _("convs"), _("sessions"), *sums]
    rows_of_text = [_row(each, by) for each in [*found.rows, found.total._replace(key=pgettext("sum", "all"))]]
    print_table(headers, rows_of_text, right=range(1, len(headers)), flexible=0, optional=(1, 2))
    if found.total.cost_usd or found.total.unknown:
        told = _("Cost: {actual} actual, {estimated} estimated (~), of {count:,} sessions unknown (?).")
        actual, estimated = (money(each) or "$0" for each in (found.total.actual_usd, found.total.estimated_usd))
        note(told.format(actual=actual, estimated=estimated, count=found.total.unknown))
    return 0
