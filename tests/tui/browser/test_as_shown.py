"""What the screens say holds at the moment it is read: keys, names, counts, titles, sentences."""

import pytest
from browsing import NOW, browsing, on_demo, on_store, open_app, rows_of
from builders import big_store, make_store
from textual.geometry import Offset

from hermes_browse.store.hermes.homes import Location, locate_file
from hermes_browse.store.sessions.models import Status, View
from hermes_browse.tui.browser.list.conversation_list import ConversationList
from hermes_browse.tui.browser.list.list_model import RowDetails
from hermes_browse.tui.browser.list.rows import ConversationRow, HitRow
from hermes_browse.tui.screens.cleanup.plan_rows import ForecastRow, SparedRow
from hermes_browse.tui.screens.help import HelpCard
from hermes_browse.tui.settings.start import LastState, Start

# Names


async def test_retention_names_the_untitled_as_the_list_does(fixture_store, tmp_path):
    """W calls a conversation without a title by how it begins."""
    folder = tmp_path / "home"
    folder.mkdir()
    fixture_store("state-v31").rename(folder / "state.db")
    (folder / "config.yaml").write_text("sessions:\n  retention_days: 10\n", encoding="utf-8")
    location = Location(folder / "state.db", root=folder, profile="default")
    now = 1_900_000_000.0  # years after the store was written, so that all of it is old
    async with browsing(open_app(location, now), (120, 60)) as browser:
        await browser.press("4")
        listed = {
            row.conversation.root_id: row.conversation.preview
            for row in rows_of(browser)
            if isinstance(row, ConversationRow)
        }
        await browser.press("W")
        forecasts = [row.conversation for row in rows_of(browser) if isinstance(row, ForecastRow)]
        untitled = [each for each in forecasts if not each.title and listed.get(each.root_id)]
        assert untitled and all(each.preview for each in untitled[:20])
        assert untitled[0].preview[:20] in browser.text("#forecasts")


async def test_a_spared_row_is_named_as_in_the_list(fixture_store):
    """P reads how a spared conversation without a title begins, also where the list has not shown
    it."""
    path = fixture_store("state-v31")
    async with on_store(path, 1_900_000_000.0, (120, 14)) as browser:
        browser.screen.edits.choices.rules = "older:0d"
        browser.screen.details = RowDetails()
        await browser.press("P")
        plan = browser.app.screen.query_one("#plan", ConversationList)
        spared = [
            index
            for index, row in enumerate(rows_of(browser))
            if isinstance(row, SparedRow)
            and not row.conversation.title
            and row.conversation.status is not Status.EMPTY
        ]
        assert spared
        plan.cursor = spared[-1]
        await browser.settle()
        row = plan.source.row(spared[-1])
        assert isinstance(row, SparedRow) and row.conversation.preview


# Keys


async def test_help_goes_where_lists_go(tmp_path):
    """End, Home, g, G, Ctrl+D and Ctrl+U move in it."""
    async with on_demo(tmp_path, (80, 24)) as browser:
        await browser.press("question_mark")
        page = browser.app.screen.query_one("#help")
        for keys, where in (
            (("end",), "end"),
            (("home",), "start"),
            (("G",), "end"),
            (("g",), "start"),
            (("ctrl+d",), "between"),
            (("ctrl+u",), "start"),
        ):
            await browser.press(*keys)
            y, last = page.scroll_y, page.max_scroll_y
            assert {"end": y == last, "start": y == 0, "between": 0 < y < last}[where], keys


@pytest.mark.parametrize(
    "key, enter",
    [
        ("W", "Read this"),
        pytest.param("P", "Read this", marks=pytest.mark.slow),
        pytest.param("X", "Open", marks=pytest.mark.slow),
        pytest.param("I", "Show the", marks=pytest.mark.slow),
        ("H", None),
    ],
)
async def test_help_says_what_enter_does_on_a_screen(key, enter, tmp_path):
    """Nowhere over the main screen Enter resumes, and help does not say so."""
    async with on_demo(tmp_path, (120, 36)) as browser:
        await browser.press(key, "question_mark")
        assert isinstance(browser.app.screen, HelpCard)
        told = browser.card()
        assert "Resume" not in told
        assert (
            " ".join(f"Enter Ctrl+J {enter}".split()) in " ".join(told.split())
            if enter
            else "Ctrl+J" not in told
        )


@pytest.mark.slow
async def test_a_click_on_a_view_shows_it(tmp_path):
    """Tabs are for the mouse as well, in each form that fits."""
    for size in ((120, 36), (60, 24)):
        folder = tmp_path / str(size[0])
        folder.mkdir()
        async with on_demo(folder, size) as browser:
            line = browser.text("#views")
            await browser.pilot.click("#views", offset=Offset(line.index(" 2 ") + 1, 0))
            await browser.settle()
            assert browser.screen.current_view is View.AUTOMATION
            await browser.pilot.click("#views", offset=Offset(browser.text("#views").index("1"), 0))
            await browser.settle()
            assert browser.screen.current_view is View.CHATS


# Titles and counts


@pytest.mark.slow
async def test_everything_marked_is_accounted_for(tmp_path):
    """Of all that is marked, what goes, what is spared and what goes along with its parent come to
    the whole."""
    async with on_demo(tmp_path, (200, 60)) as browser:
        await browser.press("4", "asterisk")
        marked = len(browser.screen.marks)
        await browser.press("P")
        view, planned = browser.app.screen.view, browser.app.screen.planned
        along = {each.id for one in planned.plan.selected for each in one.subagents}
        count = sum(each.id in along for each in browser.screen.marks.values())
        assert count and view.totals.conversations + len(planned.plan.spared) + count == marked
        assert f"{count} marked subagents go along with their parents" in browser.text("#stays")
        await browser.press("escape", "D")
        assert f"{count} marked subagents go along with their parents" in browser.card()


# Sentences


@pytest.mark.slow
async def test_the_status_line_knows_who_writes(tmp_path):
    """Where a row is live it says so from the first frame; our own change makes nobody a writer."""
    async with on_demo(tmp_path) as browser:
        rows = [row for row in rows_of(browser) if isinstance(row, ConversationRow)]
        assert any(row.conversation.status is Status.LIVE for row in rows)
        assert "Hermes is writing" in browser.status
        store = browser.screen.location.path
    async with on_store(store, NOW + 86_400) as browser:
        assert "no one is writing" in browser.status
        await browser.press("a", "u")
        browser.screen.listing.read(whole=False)
        await browser.press("f5")
        assert "no one is writing" in browser.status


@pytest.mark.slow
async def test_silence_ends_what_was_live(tmp_path, monkeypatch):
    """Without any change of the store."""
    monkeypatch.setattr("hermes_browse.tui.browser.list.listing.SILENT_SECONDS", 0.0)
    async with on_demo(tmp_path) as browser:
        assert "Hermes is writing" in browser.status
        browser.screen.clock = lambda: NOW + 86_400
        await browser.wait_until(lambda: "no one is writing" in browser.status)
        rows = [row for row in rows_of(browser) if isinstance(row, ConversationRow)]
        assert not any(row.conversation.status is Status.LIVE for row in rows)


@pytest.mark.slow
async def test_a_sentence_of_the_page_goes_with_the_page(browser):
    """The way back from the recap is told while there is one."""
    await browser.press("p")
    assert "p back to the transcript" in browser.status
    await browser.press("p")
    assert "p back to the transcript" not in browser.status
    await browser.press("p", "down")
    assert "p back to the transcript" not in browser.status
    await browser.press("f5")
    assert "reading the store again" not in browser.status
    await browser.press("V")
    assert "a range begins here" in browser.status
    await browser.press("down", "V")
    assert "a range begins here" not in browser.status


@pytest.mark.slow
async def test_leaving_a_search_stays_with_what_was_found(browser):
    """Esc from a hit is the conversation of the hit, or where the search began; typing and erasing
    changes nothing."""
    await browser.press("down", "down")
    before = browser.row
    assert before is not None
    await browser.search("cookie")
    await browser.press("enter", *"nnnnnn")
    hit = browser.row
    assert isinstance(hit, HitRow) and hit.conversation is not None
    root = hit.conversation.root_id
    listed = any(each == root for each in browser.screen.catalog.order(browser.screen.view))
    await browser.press("escape", "escape", *["escape"] * (1 if browser.screen.searched else 0))
    assert browser.screen.searched is None
    assert browser.row.key == (f"c{root}" if listed else before.key)
    at = browser.row.key
    await browser.search("auth")
    await browser.press(*["backspace"] * 4)
    assert browser.row.key == at


# Nothing there


async def test_an_empty_store_says_what_to_do(tmp_path):
    """A sentence, whole, without numbers that read as counts; and one about what Hermes deletes,
    not two."""
    home = tmp_path / "home"
    home.mkdir()
    make_store(home / "state.db", "22", [], [])
    (home / "config.yaml").write_text(
        "sessions:\n  auto_prune: true\n  retention_days: 90\n", encoding="utf-8"
    )
    async with browsing(
        open_app(Location(home / "state.db", root=home, profile="default")), (80, 24)
    ) as browser:
        assert browser.text("#list").strip() == "No sessions yet: start a chat in Hermes"
        await browser.press("W")
        assert "90 days" in browser.text("#rule")
        assert browser.text("#forecasts").strip() == "No conversation of this store would go."


async def test_a_view_without_rows_says_where_the_others_are(tmp_path):
    """In the cells there are beside the transcript."""
    path = make_store(
        tmp_path / "state.db", "22", [{"id": "cron_a_20260101_000000", "source": "cron"}], []
    )
    async with on_store(path, size=(120, 30)) as browser:
        assert browser.text("#list").strip() == "No chats here: press 4 for everything"
        await browser.press("3")
        assert browser.text("#list").strip() == "Nothing is archived"


async def test_a_store_that_cannot_be_read_any_more_is_not_said_to_be_read(tmp_path):
    """In another view than the first rows are of, its rows wait for the whole list."""
    path = big_store(tmp_path / "state.db", 300, 300)
    app = open_app(locate_file(path))
    app.startup = Start(memory=LastState(view=View.ALL))
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 8000)
    async with browsing(app) as browser:
        assert "reading the store" not in browser.text("#list")
        said = " ".join(browser.text("#list").split())
        assert said.startswith("state.db is not a session store")
