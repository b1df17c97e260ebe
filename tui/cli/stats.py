"""`stats`: sums of sessions, messages, tokens, cost and bytes, over all time or a period."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from hermes_browse.store.amounts import size
from hermes_browse.store.api import OpenStore
from hermes_browse.store.insights.sums import PERIODS, UNITS, WITH_BYTES, Group, Report, first_day
from hermes_browse.store.wording import PN_, _, pgettext

from ..text.formats import dollars, number
from .output import Number, TableColumn, fields, print_table
from .parser import ALL_HOSTS, Argument
from .several import Answers, ManyStoresCommand

_Row = dict[str, Any]
"""Sums as in the document."""
_BY = PN_(
    "grouping",
    ("model", "source", "day", "week", "month", "hour", "project", "conversation", "tool"),
)


class StatsCommand(ManyStoresCommand[tuple[Report, int]]):
    """Print sums over the whole store, archived and automation included."""

    arguments = (
        Argument(
            "--by",
            "default source; hour is that of the week, 0-14 Monday from 14:00; project is repository or directory",
            choices=_BY,
            default="source",
        ),
        Argument(
            "--period",
            "what began, was said or called since then (default all, with bytes by model, source, day and tool)",
            choices=PERIODS,
            default="all",
        ),
        ALL_HOSTS,
    )

    def ask(self, store: OpenStore, now: float) -> tuple[Report, int]:
        """Return the sums, and the bytes of the file."""
        return store.report(self.given.by, self.given.period, now), store.source.sizes()[0]

    def report(self, answers: Answers[tuple[Report, int]]) -> None:
        by, period = self.given.by, self.given.period
        is_whole = period == "all" and by in WITH_BYTES
        groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
        total: Counter[str] = Counter()
        for report, _file_bytes in answers.values:
            total.update(_sums(report.total))
            for group in report.rows:
                groups[group.key].update(_sums(group, by))
        if by == "tool":  # no row of the total is a call or an answer
            for name in ("calls", "answers", "failed"):
                total[name] = sum(each[name] for each in groups.values())
        no_bytes = {} if is_whole else {"bytes": None}
        rows: list[_Row] = [{"key": key, **sums, **no_bytes} for key, sums in groups.items()]
        every: _Row = {**total, **no_bytes}
        if is_whole:
            every["file_bytes"] = sum(file_bytes for _report, file_bytes in answers.values)
        if answers.single is None:
            rows.sort(key=itemgetter("key") if by in (*UNITS, "hour") else _order)
        document: _Row = {"total": every, "grouped_by": by, "by": rows, **answers.facts}
        if not is_whole:
            since = first_day(period, time.time())
            document |= {"period": period, "since": since.isoformat() if since else None}
        table = [*rows, {"key": pgettext("sum", "all"), **every}]
        self.give(document, print_table, _columns(by, is_whole=is_whole), table)
        self.remark(*([answers.summary] if answers.single is None else _about(every)))


def _sums(group: Group, by: str = "") -> _Row:
    """Return the same sums for each grouping and period, and three more by tool."""
    sums = {"conversations": len(group.conversations)} | fields(
        group,
        "sessions archived_sessions=archived messages "
        "input_tokens=tokens.input output_tokens=tokens.output cache_read_tokens=tokens.cache_read "
        "cache_write_tokens=tokens.cache_write reasoning_tokens=tokens.reasoning "
        "cost_usd cost_estimated_usd=estimated_usd cost_actual_usd=actual_usd "
        "cost_unknown_sessions=unknown cost_included_sessions=included bytes",
    )
    return sums | fields(group, "calls answers=messages failed") if by == "tool" else sums


def _order(row: _Row) -> tuple[float, float, float, str]:
    return -row.get("calls", 0), -row["messages"], -(row["bytes"] or 0), row["key"]


def _marked_cost(row: _Row) -> str:
    estimated = "~" if row["cost_estimated_usd"] else ""
    return f"{estimated}{dollars(row['cost_usd'])}{'?' if row['cost_unknown_sessions'] else ''}"


_TOOL_COLUMNS = (
    Number("calls", "calls"),
    Number("answers", "answers", dropped=4),
    Number("failed", "failed", dropped=5),
    TableColumn(
        "rate",
        lambda row: row["failed"] / row["answers"] if row["answers"] else None,
        True,
        dropped=3,
        context="column",
        form="{:.1%}".format,
    ),
)
_MESSAGE_COLUMNS = (
    Number("msgs", "messages", dropped=7),
    TableColumn("in", "input_tokens", right=True, dropped=5, context="column", form=number),
    TableColumn("out", "output_tokens", right=True, dropped=6, context="column", form=number),
    TableColumn(
        "cache",
        lambda row: row["cache_read_tokens"] + row["cache_write_tokens"],
        True,
        dropped=4,
        form=number,
    ),
    TableColumn(
        "reasoning", "reasoning_tokens", right=True, dropped=3, context="column", form=number
    ),
    TableColumn("cost", _marked_cost, right=True),
)


def _columns(by: str, *, is_whole: bool) -> list[TableColumn]:
    return [
        TableColumn(pgettext("grouping", by), "key", is_flexible=True),
        Number("convs", "conversations", dropped=1),
        Number("sessions", "sessions", dropped=2),
        *(_TOOL_COLUMNS if by == "tool" else _MESSAGE_COLUMNS),
        *([TableColumn("size", "bytes", right=True, dropped=8, form=size)] if is_whole else []),
    ]


def _about(total: _Row) -> Iterator[str]:
    """Yield sentences about the sums of one store."""
    unknown = total["cost_unknown_sessions"]
    if total["cost_usd"] or unknown:
        yield _(
            "Cost: {actual} actual, {estimated} estimated (~), of {count:,} sessions unknown (?).",
            actual=dollars(total["cost_actual_usd"]) or "$0",
            estimated=dollars(total["cost_estimated_usd"]) or "$0",
            count=unknown,
        )
    if "file_bytes" in total:
        yield _(
            "The file is {size} large; sizes above are without the search index.",
            size=size(total["file_bytes"]),
        )
