"""`stats`: sums of sessions, messages, tokens, cost and bytes, over all time or a period."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any

from hermes_browse.store.amounts import size
from hermes_browse.store.api import OpenStore
from hermes_browse.store.insights.sums import PERIODS, UNITS, WITH_BYTES, Group, Report, first_day
from hermes_browse.store.wording import PN_, _, pgettext

from ..text.formats import dollars, long_number
from .output import Number, TableColumn, print_table
from .parser import ALL_HOSTS, Argument
from .several_stores import Answers, ManyStoresCommand

_Sums = dict[str, Any]
"""Sums as in the document."""
_FIELDS = {
    "sessions": "sessions",
    "archived_sessions": "archived",
    "messages": "messages",
    "input_tokens": "tokens.input",
    "output_tokens": "tokens.output",
    "cache_read_tokens": "tokens.cache_read",
    "cache_write_tokens": "tokens.cache_write",
    "reasoning_tokens": "tokens.reasoning",
    "cost_usd": "cost_usd",
    "cost_estimated_usd": "estimated_usd",
    "cost_actual_usd": "actual_usd",
    "cost_unknown_sessions": "unknown",
    "cost_included_sessions": "included",
}
_FIELDS_OF_TOOLS = {"calls": "calls", "answers": "messages", "failed": "failed"}
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
        return store.report(self.given.by, self.given.period, now), store.store.sizes()[0]

    def report(self, answers: Answers[tuple[Report, int]]) -> None:
        by, period = self.given.by, self.given.period
        is_whole = period == "all" and by in WITH_BYTES
        reports = [report for report, _file_bytes in answers.every]
        groups: defaultdict[str, list[Group]] = defaultdict(list)
        every = list(chain.from_iterable(report.rows for report in reports))
        for group in every:
            groups[group.key].append(group)
        total = _sums_json([report.total for report in reports], every, by, is_whole=is_whole)
        if is_whole:
            total["file_bytes"] = sum(size for _report, size in answers.every)
        ordered = [
            {"key": key} | _sums_json(same, same, by, is_whole=is_whole)
            for key, same in groups.items()
        ]
        if answers.only is None:
            ordered.sort(key=itemgetter("key") if by in (*UNITS, "hour") else _order)
        document: _Sums = {"total": total, "grouped_by": by, "by": ordered, **answers.facts}
        if not is_whole:
            since = first_day(period, time.time())
            document |= {"period": period, "since": since.isoformat() if since else None}
        rows = [*ordered, total | {"key": pgettext("sum", "all")}]
        self.give(document, print_table, _columns(by, is_whole=is_whole), rows)
        sentences = [answers.summary] if answers.only is None else _about(total)
        self.remark(*filter(None, sentences))


def _sums_json(
    groups: Sequence[Group], of_tools: Sequence[Group], by: str, *, is_whole: bool
) -> _Sums:
    """Build the JSON of sums: the same keys for each grouping and period, and three more by tool,
    of the groups `of_tools`."""
    document: _Sums = {"conversations": sum(len(group.conversations) for group in groups)}
    document |= _added(groups, _FIELDS)
    document["bytes"] = sum(group.bytes for group in groups) if is_whole else None
    return document | _added(of_tools, _FIELDS_OF_TOOLS) if by == "tool" else document


def _added(groups: Sequence[Group], fields: Mapping[str, str]) -> _Sums:
    return {name: sum(map(attrgetter(path), groups)) for name, path in fields.items()}


def _order(row: _Sums) -> tuple[float, float, float, str]:
    return -row.get("calls", 0), -row["messages"], -(row["bytes"] or 0), row["key"]


def _marked_cost(row: _Sums) -> str:
    estimated = "~" if row["cost_estimated_usd"] else ""
    return f"{estimated}{dollars(row['cost_usd'])}{'?' if row['cost_unknown_sessions'] else ''}"


_COUNTS = (
    Number("convs", "conversations", dropped=1),
    Number("sessions", "sessions", dropped=2),
)
_OF_TOOLS = (
    Number("calls", "calls"),
    Number("answers", "answers"),
    Number("failed", "failed"),
    TableColumn(
        "rate",
        lambda row: row["failed"] / row["answers"] if row["answers"] else None,
        True,
        context="column",
        form="{:.1%}".format,
    ),
)
_OF_MESSAGES = (
    Number("msgs", "messages"),
    TableColumn("in", "input_tokens", right=True, context="column", form=long_number),
    TableColumn("out", "output_tokens", right=True, context="column", form=long_number),
    TableColumn(
        "cache",
        lambda row: row["cache_read_tokens"] + row["cache_write_tokens"],
        True,
        form=long_number,
    ),
    TableColumn(
        "reasoning", "reasoning_tokens", right=True, dropped=3, context="column", form=long_number
    ),
    TableColumn("cost", _marked_cost, right=True),
)
_SIZE = TableColumn("size", "bytes", right=True, form=size)


def _columns(by: str, *, is_whole: bool) -> list[TableColumn]:
    return [
        TableColumn(pgettext("grouping", by), "key", is_flexible=True),
        *_COUNTS,
        *(_OF_TOOLS if by == "tool" else _OF_MESSAGES),
        *([_SIZE] if is_whole else []),
    ]


def _about(total: _Sums) -> Iterator[str]:
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
            "The file has {size}; sizes above are without the search index.",
            size=size(total["file_bytes"]),
        )
