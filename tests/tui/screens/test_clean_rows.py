"""Rows of the screens for cleaning up take exactly the cells they are given, whatever they are
about."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pruning import NOW, chosen, family, opened
from rich.cells import cell_len

from hermes_browse.store.amounts import DAY
from hermes_browse.store.cleanup.plan import make_plan
from hermes_browse.store.cleanup.sizes import Sizes, read_space_map
from hermes_browse.store.sessions.catalog import SpareReason
from hermes_browse.store.trash.shelf import Bundle
from hermes_browse.tui.browser.list.list_model import NamedRows, RowDetails
from hermes_browse.tui.screens.bundles import BundleRow
from hermes_browse.tui.screens.cleanup.plan_rows import (
    PlanOrder,
    PlanRow,
    SparedRow,
    freed_by,
    sums_of,
)
from hermes_browse.tui.screens.cleanup.plan_rows import rows_of as plan_rows
from hermes_browse.tui.screens.cleanup.prune_screen import what_goes
from hermes_browse.tui.screens.cleanup.retention_screen import ForecastRow
from hermes_browse.tui.text.styled import bar, line_text
from hermes_browse.tui.widgets.list_rows import HeadRow, NoteRow

TITLES = st.text(st.characters(codec="utf-8"), max_size=40)


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    """A plan of a small store, with its map, and the bytes that go by tip."""
    path = family(tmp_path_factory.mktemp("rows") / "state.db")
    with opened(path) as (reader, catalog):
        found = make_plan(reader, catalog, chosen("older:30d"), NOW)
        space = read_space_map(reader, catalog)
        return found, space, freed_by(found, catalog)


@pytest.mark.parametrize(
    "goes, whole, told", [(620, 1000, "62% of the store"), (4, 1000, ""), (7, 5, ""), (1, 0, "")]
)
def test_a_share_that_says_nothing_is_left_out(goes, whole, told):
    """Less than half a per cent; or of a store from which it was deleted by now."""
    totals = SimpleNamespace(conversations=2, sizes=SimpleNamespace(total=goes))
    view, space = (
        SimpleNamespace(totals=totals, sentence="3 messages"),
        SimpleNamespace(total=whole),
    )
    parts = ["✓ 2 conversations", told, "3 messages"]
    assert str(what_goes(view, space, 80, is_old=False)) == " " + " · ".join(filter(None, parts))


@settings(max_examples=examples(150))
@given(title=TITLES, width=st.integers(20, 160))
def test_widths(plan, title, width):
    """Any title, any width."""
    found = plan[0]
    each = found.selected[0]
    conversation = each.conversation._replace(title=title)
    sums = sums_of([each])
    bundle = Bundle(
        "20260101-000000-00000000", Path("/x"), NOW, ("a",), ("a", "b"), 7, 1234, title, "/store"
    )
    rows = [
        PlanRow(conversation, [each], sums, 1),
        PlanRow(conversation, [each] * 2, sums._replace(is_measured=False), 1, "job"),
        SparedRow(conversation, SpareReason("open", title)),
        BundleRow(bundle, True),
        BundleRow(bundle._replace(damage=title or "torn"), False),
        ForecastRow(conversation, 3.5, title),
    ]
    for row in rows:
        spans = row.spans(width, NOW)
        assert sum(cell_len(text) for text, _ in spans) == width, row
        assert all(text.isprintable() for text, _ in spans if text.isascii())


def rows_of(found, **given):
    """The rows of a plan, as a source and as a list."""
    usual = {"left_out": (), "empty": "nothing", "opened": (), "order": PlanOrder.IDLE}
    source = plan_rows(found, RowDetails(), **usual | given)
    return source, list(map(source.row, range(len(source))))


def test_a_plan_as_rows(plan):
    """What goes, a sentence, what is spared; each found again by its key."""
    found = plan[0]
    source, rows = rows_of(found, left_out={found.selected[1].conversation.root_id})
    runs = [each for each in found.selected if each.conversation.source == "cron"]
    alone = len(found.selected) - len(runs)
    kinds = Counter(map(type, rows))
    assert kinds == {PlanRow: alone + 2, HeadRow: 1, SparedRow: len(found.spared)}
    assert [source.index_of(row.key) for row in rows] == list(range(len(rows)))
    assert rows[0].goes and not rows[1].goes
    _source, opened = rows_of(found, opened={"jjob1", "jjob2"})
    assert len(opened) == len(rows) + len(runs)
    for selected, spared, count in (((), (), 1), ((), found.spared, 2 + len(found.spared))):
        _source, rows = rows_of(found._replace(selected=selected, spared=spared))
        assert rows[0] == NoteRow("nothing") and len(rows) == count


def test_a_name_that_is_not_read_yet_is_not_said_to_be_missing(plan):
    """It may have a text: only when all was read it has none."""
    (boss,) = (each for each in plan[0].selected if each.conversation.id == "boss")
    details = RowDetails()
    row = PlanRow(boss.conversation, [boss], sums_of([boss]), 1)
    rows = NamedRows([row], details)
    assert " ✓ …" in line_text(rows.row(0).spans(80, NOW))
    details.add([boss.conversation._replace(preview="", shown_count=3)])
    assert " ✓ no text" in line_text(rows.row(0).spans(80, NOW))


def test_a_job_stands_where_its_sums_belong(plan):
    """Three runs of 200 bytes come before one conversation of 500; by time, the job is as old as
    its oldest run."""
    samples = {each.conversation.id[:9]: each for each in plan[0].selected}

    def made(sample, number, size, age):
        last = NOW - age * DAY
        tip = sample.conversation.tip._replace(id=f"{sample.conversation.id[:-1]}{number}")
        conversation = sample.conversation._replace(segments=(tip,), last_active=last)
        sizes = Sizes(rows=size, shown=size, content=size)
        return sample._replace(conversation=conversation, own=sizes, sizes=sizes)

    first, *runs = (
        made(samples["cron_job1"], number, size, age)
        for number, (size, age) in enumerate(((200, 300), (300, 90), (200, 40)))
    )
    found = plan[0]._replace(selected=(first, made(samples["old"], 9, 500, 100), *runs), spared=())
    for order in (PlanOrder.SIZE, PlanOrder.MESSAGES, PlanOrder.IDLE):
        _source, (row, _alone) = rows_of(found, order=order)
        assert row.is_job and row.sums[:2] == (700, 700), order
        text = "".join(text for text, _look in row.spans(100, NOW))
        assert "10mo" in text, "as long idle as its oldest run"


def test_the_map_adds_up(plan):
    """What goes of the conversations is what the plan takes."""
    found, space, freed = plan
    sizes = dict(space.conversations)
    assert sum(freed.values()) == found.totals().sizes.total > 0
    assert all(freed[tip] <= sizes[tip] for tip in freed)


def test_bars():
    """Eighths of a cell, never more than there is room for."""
    assert bar(0.0, 4) == "    " and bar(1.0, 4) == "████" and bar(7.0, 4) == "████"
    assert bar(0.5, 4) == "██  " and bar(1 / 32, 4) == "▏   "
