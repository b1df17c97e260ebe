"""Jobs in the list: one row for all runs, with a name and with sums."""

import pytest
from browsing import NOW, browsing, open_app
from builders import make_store
from test_list_order import click

from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.models import Sort
from hermes_browse.tui.browser.list.rows import JobRow


@pytest.mark.slow
async def test_a_job_shows_the_sums_that_it_is_sorted_by(tmp_path):
    """Three runs of 2 dollars come before one conversation of 5, and show 6; the same for all that
    can be summed."""
    runs = {f"cron_aa11_2026052{day}_070000": (2.0, 20) for day in (1, 2, 3)}
    amounts = {**runs, "webhook_large": (5.0, 50), "webhook_small": (1.0, 10)}
    sessions = [
        {
            "id": each,
            "source": each.partition("_")[0],
            "started_at": NOW - 9000,
            "ended_at": NOW - 8000,
            "title": each,
        }
        | {"actual_cost_usd": cost, "input_tokens": count, "message_count": count + 1}
        for each, (cost, count) in amounts.items()
    ]
    messages = [
        {"session_id": each, "content": "word " * count, "timestamp": NOW - 8500 + at}
        for each, (_cost, count) in amounts.items()
        for at in range(count)
    ]
    path = make_store(tmp_path / "state.db", "22", sessions, messages)
    async with browsing(
        open_app(Location(path, root=tmp_path, profile="default"), NOW), (160, 40)
    ) as browser:
        await browser.press("2")
        assert "~63" in browser.text("#list"), "by Hermes' counters, which are not exact"
        told = {"msgs": ("60", "50", "10"), "cost": ("$6.00", "$5.00", "$1.00")}
        await click(browser, "cost")
        for name in ("cost", "msgs"):
            await click(browser, name)
            lines = browser.text("#list").splitlines()[:3]
            assert [line.split()[-1] for line in lines] == list(told[name])[
                :: -1 if name == "cost" else 1
            ]
        await browser.search("is:automation")
        assert "~" not in browser.text("#list") and browser.text("#list").splitlines()[0].endswith(
            "60"
        )
        await browser.press("escape", "escape")
        for sort in Sort:
            browser.screen.listing.sort_by(sort)
            await browser.settle()
            rows = [browser.screen.rows.source.row(index) for index in range(3)]
            assert {row.key for row in rows} == {"cwebhook_large", "cwebhook_small", "jaa11"}
            totals = [row.total if isinstance(row, JobRow) else row.conversation for row in rows]
            if sort is Sort.TOKENS:
                assert [each.tokens.total for each in totals] == [60, 50, 10]
            if sort is Sort.SIZE:
                sizes = [each.size for each in totals if each.size is not None]
                assert len(sizes) == 3 and sizes == sorted(sizes, reverse=True)
