"""`stats`: sums of sessions, messages, tokens, cost and bytes, over all time or a period."""

from __future__ import annotations

import argparse
from dataclasses import replace

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.insights.facts import read_facts, read_tools
from hermes_browse.store.insights.periods import UNITS, first_day
from hermes_browse.store.insights.sums import Group, Report, make_report, read_statistics
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.wording import _, pgettext

from ..formats import dollars, long_number, size
from .command_context import CommandContext, Subcommand
from .output import note, print_json, print_sums
from .parser import add_all_hosts

_BY = ("model", "source", "day", "week", "month", "hour", "project", "conversation", "tool")
_WITH_BYTES = ("model", "source", "day", "tool")
"""Groupings that also sum bytes, over all time (`read_statistics`)."""


class StatsCommand(Subcommand):
    """Print sums over the whole store, archived and automation included."""

    reads_old_transcripts = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        by_help = _(
            "default source; hour is that of the week, 0-14 Monday from 14:00; project is repository or directory"
        )
        parser.add_argument("--by", choices=_BY, default="source", help=by_help)
        period_help = _(
            "what began, was said or called since then (default all, with bytes by model, source, day and tool)"
        )
        parser.add_argument(
            "--period", choices=["7d", "30d", "90d", "1y", "all"], default="all", help=period_help
        )
        add_all_hosts(parser)

    def run(self, context: CommandContext) -> int:
        by, period = context.arguments.by, context.arguments.period
        if period != "all" or by not in _WITH_BYTES:
            return _print_period(context, by, period)
        with context.store.reader() as reader:
            catalog = read_catalog(reader, context.now)
            report = read_statistics(reader, catalog, by)
        file_bytes = context.store.sizes()[0]
        if context.json:
            total = _total_json(report)
            # Scripts may compare the last digits, where a sum of group sums differs from the sum
            # over all sessions.
            total["cost_usd"] = sum(
                (each.cost_usd or 0.0 for each in catalog.sessions.values()), 0.0
            )
            total["file_bytes"] = file_bytes
            print_json(
                {
                    "total": total,
                    "grouped_by": by,
                    "by": [_sums_json(each, by) for each in report.rows],
                }
            )
            return 0
        calls = [_("calls")] if by == "tool" else []
        tokens = [pgettext("column", "in"), pgettext("column", "out"), _("cache")]
        headers = [_("sessions"), _("msgs"), *calls, *tokens, _("cost"), _("size")]
        total_row = replace(
            report.total, key=pgettext("sum", "all"), calls=sum(each.calls for each in report.rows)
        )
        print_sums(by, headers, [_whole_row(each, by) for each in (*report.rows, total_row)])
        size_note = _("The file has {size}; sizes above are without the search index.")
        note(size_note.format(size=size(file_bytes)))
        return 0


def _without_key(sums: Json) -> Json:
    return {name: value for name, value in sums.items() if name != "key"}


def _sums_json(group: Group, by: str) -> Json:
    """Build the JSON of sums: the same keys for each grouping and period, and three more by
    tool."""
    tokens = group.tokens
    document: Json = {
        "key": group.key,
        "conversations": len(group.conversations),
        "sessions": group.sessions,
        "archived_sessions": group.archived,
        "messages": group.messages,
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
        "reasoning_tokens": tokens.reasoning,
        "cost_usd": group.cost_usd,
        "cost_estimated_usd": group.estimated_usd,
        "cost_actual_usd": group.actual_usd,
        "cost_unknown_sessions": group.unknown,
        "cost_included_sessions": group.included,
        "bytes": group.bytes,
    }
    if by == "tool":
        document |= {"calls": group.calls, "answers": group.messages, "failed": group.failed}
    return document


def _total_json(report: Report) -> Json:
    """Build the JSON of the sums of a whole store; the calls of tools are those of the rows."""
    total = replace(
        report.total,
        calls=sum(each.calls for each in report.rows),
        failed=sum(each.failed for each in report.rows),
    )
    document = _without_key(_sums_json(total, report.by))
    if report.by == "tool":
        document["answers"] = sum(each.messages for each in report.rows)
    return document


def _period_json(group: Group, by: str) -> Json:
    return {**_sums_json(group, by), "bytes": None}


def _first_cells(group: Group) -> list[str]:
    """Return the first cells of a row, common to all groupings."""
    return [group.key, f"{len(group.conversations):,}", f"{group.sessions:,}"]


def _token_cells(group: Group) -> list[str]:
    tokens = group.tokens
    return [
        *map(long_number, (tokens.input, tokens.output, tokens.cache_read + tokens.cache_write))
    ]


def _whole_row(group: Group, by: str) -> list[str]:
    calls = [f"{group.calls:,}"] if by == "tool" else []
    last_cells = [dollars(group.cost_usd), size(group.bytes)]
    return [*_first_cells(group), f"{group.messages:,}", *calls, *_token_cells(group), *last_cells]


def _period_row(group: Group, by: str) -> list[str]:
    if by == "tool":
        rate = "" if group.failure_rate is None else f"{group.failure_rate:.1%}"
        return [
            *_first_cells(group),
            f"{group.calls:,}",
            f"{group.messages:,}",
            f"{group.failed:,}",
            rate,
        ]
    estimated, unknown = "~" if group.estimated_usd else "", "?" if group.unknown else ""
    last_cells = [
        long_number(group.tokens.reasoning),
        f"{estimated}{dollars(group.cost_usd)}{unknown}",
    ]
    return [*_first_cells(group), f"{group.messages:,}", *_token_cells(group), *last_cells]


def _read_report(context: CommandContext, by: str, period: str) -> Report:
    """Read a report of a period; rows that are not units of time are sorted by size, descending."""
    with context.store.reader() as reader:
        catalog = read_catalog(reader, context.now)
        read = read_tools if by == "tool" else read_facts
        report = make_report(read(reader, catalog), by, period, context.now)
    if by in (*UNITS, "hour"):
        return report
    ordered = sorted(
        report.rows, key=lambda each: (-each.calls, -each.tokens.total, -each.messages, each.key)
    )
    return report._replace(rows=tuple(ordered))


def _print_period(context: CommandContext, by: str, period: str) -> int:
    """Print sums of a period, with estimated and actual cost apart, and failures of tools; without
    bytes."""
    report = _read_report(context, by, period)
    if context.json:
        since = first_day(period, context.now)
        print_json(
            {
                "total": _without_key(_period_json(report.total, by)),
                "grouped_by": by,
                "period": period,
                "since": since.isoformat() if since is not None else None,
                "by": [_period_json(each, by) for each in report.rows],
            }
        )
        return 0
    if by == "tool":
        headers = [_("sessions"), _("calls"), _("answers"), _("failed"), pgettext("column", "rate")]
    else:
        tokens = [
            pgettext("column", "in"),
            pgettext("column", "out"),
            _("cache"),
            pgettext("column", "reasoning"),
        ]
        headers = [_("sessions"), _("msgs"), *tokens, _("cost")]
    total_row = replace(report.total, key=pgettext("sum", "all"))
    print_sums(by, headers, [_period_row(each, by) for each in (*report.rows, total_row)])
    if report.total.cost_usd or report.total.unknown:
        cost_note = _(
            "Cost: {actual} actual, {estimated} estimated (~), of {count:,} sessions unknown (?)."
        )
        actual, estimated = (
            dollars(each) or "$0" for each in (report.total.actual_usd, report.total.estimated_usd)
        )
        note(cost_note.format(actual=actual, estimated=estimated, count=report.total.unknown))
    return 0
