"""The screens of a clean-up: rules, their plan, and what is done with it."""

import asyncio

import pytest
from browsing import go_to, list_of, loose, on_demo, open_app, rows_of
from pruning import NOW
from textual.widgets import Input

from hermes_browse.store import progress
from hermes_browse.tui.browser.edit.deleting import DeleteCard
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.screens.cleanup import plan_screen
from hermes_browse.tui.screens.cleanup.plan_rows import PlanRow, SparedRow
from hermes_browse.tui.screens.cleanup.prune_screen import PruneScreen
from hermes_browse.tui.screens.cleanup.retention_screen import RetentionScreen
from hermes_browse.tui.screens.insights.screen import InsightsScreen
from hermes_browse.tui.screens.trash import TrashScreen
from hermes_browse.tui.widgets.list_rows import NoteRow


@pytest.fixture
def app(path):
    return open_app(loose(path), NOW)


def planned(browser):
    """Tips that would go; and those that are spared, with the code of the reason."""
    rows = rows_of(browser)
    taken = [row for row in rows if isinstance(row, PlanRow) and row.goes]
    assert all(row.goes == len(row.runs) for row in taken)
    goes = {each.conversation.id for row in taken for each in row.runs}
    return goes, {row.conversation.id: row.why.code for row in rows if isinstance(row, SparedRow)}


@pytest.mark.slow
async def test_what_is_left_out_and_taken_by_hand_stays_while_a_conversation_is_read(browser):
    await browser.press("P")
    plan = list_of(browser)
    await go_to(browser, "old", "p")
    await browser.press("space")
    await go_to(browser, "open", "s")
    await browser.press("space")
    chosen = planned(browser)[0]
    assert "old" not in chosen and "open" in chosen
    screen, at = browser.app.screen, plan.cursor
    await browser.press("enter")
    assert isinstance(browser.app.screen, MainScreen)
    await browser.press("escape")
    assert browser.app.screen is screen and plan.cursor == at, (
        "Esc goes back to where Enter was pressed"
    )
    assert planned(browser)[0] == chosen
    await browser.press("enter", "P")
    assert browser.app.screen is not screen and not screen.is_attached
    assert planned(browser)[0] == chosen
    await browser.press("4", "4")
    assert "old" not in planned(browser)[0] and "open" in planned(browser)[0], (
        "other rules make another plan, with what was left out and taken by hand"
    )


@pytest.mark.slow
async def test_a_plan_is_announced_and_acted_on_when_it_is_there(browser, answers):
    """The footer offers to delete only what is known."""
    answers.hold()
    await browser.pilot.press("P")
    await browser.wait_until(lambda: isinstance(browser.app.screen, PruneScreen))
    await browser.wait_until(lambda: answers.count)
    (row,) = rows_of(browser)
    assert isinstance(row, NoteRow) and row.text == "making the plan …"
    assert "delete all" not in browser.text("#keys")
    answers.release()
    await browser.settle()
    assert planned(browser)[0] and "delete all" in browser.text("#keys")


@pytest.mark.slow
async def test_the_clean_up_can_be_left_while_it_measures(browser, monkeypatch):
    """Its lines are removed before the coroutine that tells in one of them how far it is."""
    monkeypatch.setattr(plan_screen, "_UPDATE", 0.0002)
    await browser.press("P")
    screen = browser.app.screen
    screen.start("progress", screen._show_measuring)
    screen.dismiss(None)
    await browser.settle()
    assert isinstance(browser.app.screen, MainScreen)


@pytest.mark.slow
async def test_a_screen_that_is_kept_for_the_way_back_reads_nothing(browser, monkeypatch):
    """Until it is shown again, also after rows that came late have moved its cursor."""
    await browser.press("P")
    screen = browser.app.screen
    await browser.press("enter")
    screen.rows.cursor += 1
    await browser.settle()
    asked = []
    monkeypatch.setattr(screen, "catalog_changed", lambda: asked.append(browser.app.screen))
    browser.screen.mutate_reactive(MainScreen.catalog)
    assert isinstance(browser.app.screen, MainScreen) and not asked
    await browser.press("escape")
    assert asked == [screen]


@pytest.mark.slow
async def test_the_question_is_on_a_small_screen(tmp_path):
    """With the box for the number and the keys, however many conversations the card names."""
    async with on_demo(tmp_path, (80, 24)) as browser:
        await browser.press("P", "D")
        card = browser.app.screen
        shown = card.query_one("#card").region.intersection(card.region)
        assert isinstance(card, DeleteCard) and "and Enter delete" in str(
            card.query_one("#answer").render()
        )
        for each in (card.query_one(Input), card.query_one("#answer")):
            assert shown.contains_region(each.region) and each.region.height


@pytest.mark.slow
async def test_a_short_clean_up_tells_how_far_it_is(browser, monkeypatch):
    """From the key that confirms it to the end, where there is no card; the screen takes keys
    meanwhile."""
    monkeypatch.setattr(progress, "MOST_AT_ONCE", 1)
    await browser.press("P", "D", "5")
    told = []
    context, shown = browser.screen, browser.screen.watch_progress
    monkeypatch.setattr(context, "watch_progress", lambda: (told.append(context.progress), shown()))
    await browser.send("enter", "m")
    await browser.settle()
    assert told[0] == "Moving 5 conversations to the trash …", "before the first of them is done"
    # What takes long is told more than once.
    counts = dict.fromkeys(each.split(" · ")[1] for each in told[1:-1])
    assert list(counts) == [f"{done} of 5" for done in range(6)]
    assert told[-1] == "" and "u undoes" in context.status.text
    assert "conversations by" in browser.text("#axis"), "the m was not lost"
    await browser.press("u")
    assert context.status.text.startswith("restored 5 conversations: ")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [PruneScreen, RetentionScreen, InsightsScreen, TrashScreen])
async def test_a_list_read_while_a_screen_opens(browser, kind):
    """A screen hears that the list was read between any two steps of its being put together, panes
    last."""
    screen = kind(browser.screen)
    browser.app.push_screen(screen)
    for _ in range(300):
        browser.screen.mutate_reactive(MainScreen.catalog)
        await asyncio.sleep(0)
    await browser.settle()
    assert browser.app.screen is screen and screen.is_whole
    with browser.app.batch_update():  # a frame drawn now would find parts without styles
        await screen.query("*").remove()  # as it is for a moment when it is left
    assert not screen.is_whole
    screen.say("too late")
