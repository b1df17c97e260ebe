"""`stats`: sums of sessions, messages, tokens, cost and bytes, over all time or a period."""

from __future__ import annotations

import argparse
import time
from types import SimpleNamespace
from typing import Any

from hermes_browse.store.api import OpenStore
from hermes_browse.store.insights.periods import PERIODS, UNITS, first_day
from hermes_browse.store.insights.sums import WITH_BYTES, Group, Report
from hermes_browse.store.wording import _, pgettext

from ..text.formats import dollars, long_number, size
from .command_context import ManyStoresCommand
from .output import TableColumn, note, print_json, print_table
from .parser import add_places
from .stores import Answers

_Sums = dict[str, Any]
"""Sums as in the document."""
_BY = ("model", "source", *UNITS, "hour", "project", "conversation", "tool")


class StatsCommand(ManyStoresCommand[tuple[Report, int]]):
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
        parser.add_argument("--period", choices=PERIODS, default="all", help=period_help)
        add_places(parser)

    def ask(self, store: OpenStore, now: float, arguments: SimpleNamespace) -> tuple[Report, int]:
        """Return the sums, and the bytes of the file."""
        return store.report(arguments.by, arguments.period, now), store.store.sizes()[0]

    def report(self, answers: Answers[tuple[Report, int]], arguments: SimpleNamespace) -> int:
        by, period = arguments.by, arguments.period
        is_whole = period == "all" and by in WITH_BYTES
        total: _Sums = {}
        rows: dict[str, _Sums] = {}
        for _place, (report, file_bytes) in answers.answers:
            total = _added(total, _total_json(report, file_bytes, is_whole=is_whole))
            for group in report.rows:
                row = _sums_json(group, by, is_whole=is_whole)
                rows[group.key] = _added(rows.get(group.key, {}), row)
        ordered = list(rows.values())
        if answers.only is None:
            ordered.sort(key=_key_of if by in (*UNITS, "hour") else _order)
        if arguments.json:
            document: _Sums = {"total": total, "grouped_by": by, "by": ordered, **answers.facts}
            if not is_whole:
                since = first_day(period, time.time())
                document |= {"period": period, "since": since.isoformat() if since else None}
            print_json(document)
            return answers.code
        columns = _columns(by) if is_whole else _columns_of_period(by)
        print_table(columns, [*ordered, total | {"key": pgettext("sum", "all")}])
        sentence = _about(total, is_whole=is_whole) if answers.only is not None else answers.summary
        if sentence:
            note(sentence)
        return answers.code


def _sums_json(group: Group, by: str, *, is_whole: bool) -> _Sums:
    """Build the JSON of sums: the same keys for each grouping and period, and three more by
    tool."""
    tokens = group.tokens
    document: _Sums = {
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
        "bytes": group.bytes if is_whole else None,
    }
    if by == "tool":
        document |= {"calls": group.calls, "answers": group.messages, "failed": group.failed}
    return document


def _total_json(report: Report, file_bytes: int, *, is_whole: bool) -> _Sums:
    """Build the JSON of all sums; over the whole store the calls of tools are those of the rows,
    and its messages all there are."""
    document = _sums_json(report.total, report.by, is_whole=is_whole)
    del document["key"]
    if is_whole:
        document["file_bytes"] = file_bytes
    if is_whole and report.by == "tool":
        rows = [_sums_json(group, report.by, is_whole=True) for group in report.rows]
        document |= {
            name: sum(row[name] for row in rows) for name in ("calls", "answers", "failed")
        }
    return document


def _added(sums: _Sums, row: _Sums) -> _Sums:
    """Add the numbers of a row to sums; unknown ones stay null, texts are those of the first."""
    return row | {
        name: value + row[name] if isinstance(value, int | float) else value
        for name, value in sums.items()
    }


def _key_of(row: _Sums) -> str:
    return str(row["key"])


def _order(row: _Sums) -> tuple[float, float, float, str]:
    return -row.get("calls", 0), -row["messages"], -(row["bytes"] or 0), row["key"]


def _heads() -> dict[str, str]:
    """Return the heads of the columns by what they show; those of numbers."""
    return {
        "conversations": _("convs"),
        "sessions": _("sessions"),
        "messages": _("msgs"),
        "calls": _("calls"),
        "answers": _("answers"),
        "failed": _("failed"),
        "input_tokens": pgettext("column", "in"),
        "output_tokens": pgettext("column", "out"),
        "reasoning_tokens": pgettext("column", "reasoning"),
    }


def _grouping(by: str) -> TableColumn[_Sums]:
    names = {
        "model": pgettext("grouping", "model"),
        "source": pgettext("grouping", "source"),
        "day": pgettext("grouping", "day"),
        "week": pgettext("grouping", "week"),
        "month": pgettext("grouping", "month"),
        "hour": pgettext("grouping", "hour"),
        "project": pgettext("grouping", "project"),
        "conversation": pgettext("grouping", "conversation"),
        "tool": pgettext("grouping", "tool"),
    }
    return TableColumn(names[by], _key_of, is_flexible=True)


def _number(name: str) -> TableColumn[_Sums]:
    """Return a column of numbers; tokens are abbreviated."""
    form = long_number if name.endswith("_tokens") else "{:,}".format
    dropped = {"conversations": 1, "sessions": 2}.get(name, 0)
    return TableColumn(_heads()[name], lambda row: form(row[name]), True, dropped)


def _cache() -> TableColumn[_Sums]:
    return TableColumn(
        _("cache"),
        lambda row: long_number(row["cache_read_tokens"] + row["cache_write_tokens"]),
        right=True,
    )


def _columns(by: str) -> list[TableColumn[_Sums]]:
    calls = ["calls"] if by == "tool" else []
    names = ["conversations", "sessions", "messages", *calls, "input_tokens", "output_tokens"]
    return [
        _grouping(by),
        *map(_number, names),
        _cache(),
        TableColumn(_("cost"), lambda row: dollars(row["cost_usd"]), True),
        TableColumn(_("size"), lambda row: size(row["bytes"]), True),
    ]


def _columns_of_period(by: str) -> list[TableColumn[_Sums]]:
    """Return the columns with estimated and actual cost apart, and failures of tools; without
    bytes."""
    if by == "tool":
        names = ["conversations", "sessions", "calls", "answers", "failed"]
        rate = TableColumn(pgettext("column", "rate"), _failure_rate, True)
        return [_grouping(by), *map(_number, names), rate]
    names = ["conversations", "sessions", "messages", "input_tokens", "output_tokens"]
    cost = TableColumn(_("cost"), _marked_cost, True)
    return [_grouping(by), *map(_number, names), _cache(), _number("reasoning_tokens"), cost]


def _failure_rate(row: _Sums) -> str:
    return f"{row['failed'] / row['answers']:.1%}" if row["answers"] else ""


def _marked_cost(row: _Sums) -> str:
    estimated = "~" if row["cost_estimated_usd"] else ""
    return f"{estimated}{dollars(row['cost_usd'])}{'?' if row['cost_unknown_sessions'] else ''}"


def _about(total: _Sums, *, is_whole: bool) -> str:
    """Return a sentence about the sums; empty if there is nothing to say."""
    if is_whole:
        sentence = _("The file has {size}; sizes above are without the search index.")
        return sentence.format(size=size(total["file_bytes"]))
    unknown = total["cost_unknown_sessions"]
    if not (total["cost_usd"] or unknown):
        return ""
    sentence = _(
        "Cost: {actual} actual, {estimated} estimated (~), of {count:,} sessions unknown (?)."
    )
    actual, estimated = (
        dollars(total[name]) or "$0" for name in ("cost_actual_usd", "cost_estimated_usd")
    )
    return sentence.format(actual=actual, estimated=estimated, count=unknown)
