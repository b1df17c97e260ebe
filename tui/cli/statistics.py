"""`stats`: sums of sessions, messages, tokens, cost and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_browse.store.wording import _, pgettext

from .columns import money, note, print_table, short_number
from .insights import BYTES, costs_json, read_report, show_insights
from .jsonform import Json
from .naming import grouping_name
from .run import Context, print_json

if TYPE_CHECKING:
    from hermes_browse.store.statistics import Tally


def _json(tally: Tally) -> Json:
    found: Json = tally._asdict()
    if tally.calls is None:
        del found["calls"]
    return found


def _row(tally: Tally) -> list[str]:
    return [
        tally.key,
        f"{tally.conversations:,}",
        f"{tally.sessions:,}",
        f"{tally.messages:,}",
        *([] if tally.calls is None else [f"{tally.calls:,}"]),
        short_number(tally.input_tokens),
        short_number(tally.output_tokens),
        short_number(tally.cache_read_tokens + tally.cache_write_tokens),
        money(tally.cost_usd),
        f"{short_number(tally.bytes)}B",
    ]


def show_statistics(context: Context) -> int:
    """`stats`: the sums of the whole store, archived and automation included."""
    from hermes_browse.store.sessions.catalog import read_catalog
    from hermes_browse.store.statistics import read_statistics

    by, period = context.arguments.by, context.arguments.period
    if period != "all" or by not in BYTES:
        return show_insights(context, by, period)
    with context.store.reader() as reader:
        found = read_statistics(reader, read_catalog(reader, context.now), by)
    if context.json:
        total = _json(found.total)
        del total["key"]
        total |= costs_json(read_report(context, "source", period).total)
        total["file_bytes"] = context.store.sizes()[0]
        print_json({"total": total, "grouped_by": found.by, "by": [_json(each) for each in found.rows]})
        return 0
    calls = [_("calls")] if found.by == "tool" else []
    counted = [grouping_name(found.by), _("convs"), _("sessions"), _("msgs"), *calls]
    headers = [*counted, pgettext("column", "in"), pgettext("column", "out"), _("cache"), _("cost"), _("size")]
    rows = [_row(each) for each in found.rows]
    everything = pgettext("sum", "all")
    whole = found.total._replace(key=everything, calls=sum(each.calls or 0 for each in found.rows) if calls else None)
    print_table(headers, [*rows, _row(whole)], right=range(1, len(headers)), flexible=0, optional=(1, 2))
    told = _("The file has {size}B; sizes above are without the search index.")
    note(told.format(size=short_number(context.store.sizes()[0])))
    return 0
