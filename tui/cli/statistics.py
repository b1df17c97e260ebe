"""`stats`: sums of sessions, messages, tokens, cost and bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_browse.store.wording import _, pgettext

from .columns import money, note, print_table, short_number
from .insights import BYTES, costs_json, show_insights, sums_json
from .jsonform import Json
from .naming import grouping_name
from .run import Context, print_json

if TYPE_CHECKING:
    from hermes_browse.store.insights.sums import Group


def _json(group: Group, by: str = "") -> Json:
    calls: Json = {"calls": group.calls} if by == "tool" else {}
    return {**sums_json(group), **calls, "archived_sessions": group.archived}


def _row(group: Group, by: str) -> list[str]:
    tokens = group.tokens
    return [
        group.key,
        f"{len(group.conversations):,}",
        f"{group.sessions:,}",
        f"{group.messages:,}",
        *([f"{group.calls:,}"] if by == "tool" else []),
        short_number(tokens.input),
        short_number(tokens.output),
        short_number(tokens.cache_read + tokens.cache_write),
        money(group.cost_usd),
        f"{short_number(group.bytes)}B",
    ]


def show_statistics(context: Context) -> int:
    """`stats`: the sums of the whole store, archived and automation included."""
    from hermes_browse.store.catalog import read_catalog
    from hermes_browse.store.insights.sums import read_statistics

    by, period = context.arguments.by, context.arguments.period
    if period != "all" or by not in BYTES:
        return show_insights(context, by, period)
    with context.store.reader() as reader:
        catalog = read_catalog(reader, context.now)
        found = read_statistics(reader, catalog, by)
    if context.json:
        total = _json(found.total)
        del total["key"]
        total |= costs_json(found.total)
        # One by one, as ever: scripts may compare the last digits, in which sums of sums differ.
        total["cost_usd"] = sum((each.cost_usd or 0.0 for each in catalog.forest.sessions.values()), 0.0)
        total["file_bytes"] = context.store.sizes()[0]
        print_json({"total": total, "grouped_by": found.by, "by": [_json(each, by) for each in found.rows]})
        return 0
    calls = [_("calls")] if found.by == "tool" else []
    counted = [grouping_name(found.by), _("convs"), _("sessions"), _("msgs"), *calls]
    headers = [*counted, pgettext("column", "in"), pgettext("column", "out"), _("cache"), _("cost"), _("size")]
    whole = replace(found.total, key=pgettext("sum", "all"), calls=sum(each.calls for each in found.rows))
    rows = [_row(each, by) for each in [*found.rows, whole]]
    print_table(headers, rows, right=range(1, len(headers)), flexible=0, optional=(1, 2))
    told = _("The file has {size}B; sizes above are without the search index.")
    note(told.format(size=short_number(context.store.sizes()[0])))
    return 0
