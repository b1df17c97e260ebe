"""The screens of a clean-up: rules, their plan, and what is done with it."""

import asyncio

import pytest
from browsing import go_to, list_of, on_demo, on_store, rows_of
from pruning import NOW
from textual.widgets import Input
from trashing import as_before, column_of, session_ids

from hermes_browse.store import progress
from hermes_browse.tui.browser.edit.deleting import DeleteCard
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.screens.cleanup import plan_screen
from hermes_browse.tui.screens.cleanup.by_hermes import RetentionScreen
from hermes_browse.tui.screens.cleanup.plan_rows import PlanRow, SparedRow
from hermes_browse.tui.screens.cleanup.plan_screen import ArchiveCard
from hermes_browse.tui.screens.cleanup.prune_screen import PruneScreen
from hermes_browse.tui.screens.help import HelpCard
from hermes_browse.tui.screens.insights.screen import InsightsScreen
from hermes_browse.tui.screens.trash import TrashScreen


def planned(browser):
    """Tips that would go; and those that are spared, with the code of the reason."""
    rows = rows_of(browser)
    taken = [row for row in rows if isinstance(row, PlanRow) and row.goes]
    assert all(row.goes == len(row.runs) for row in taken)
    goes = {each.conversation.id for row in taken for each in row.runs}
    return goes, {row.conversation.id: row.why.code for row in rows if isinstance(row, SparedRow)}


async def set_rules(browser, text):
    """Put a line of rules into the box."""
    browser.app.screen.query_one("#rules", Input).value = text
    await browser.settle()


async def test_rules_plan_and_totals(path):
    """What goes and what is spared, with reasons; switches change the line; a rule that cannot be
    read stops all."""
    with as_before(path):
        async with on_store(path, NOW) as browser:
            await browser.press("P")
            assert isinstance(browser.app.screen, PruneScreen)
            goes, spared = planned(browser)
            assert goes == {
                "old",
                "boss",
                "cron_job1_20260101_030000",
                "cron_job1_20260102_030000",
                "cron_job2_20260102_040000",
            }
            assert spared == {"pinned": "pinned", "open": "open", "hidden": "hidden"}
            totals = browser.text("#totals")
            assert (
                "5 conversations" in totals
                and "7 sessions" in totals
                and "1 hidden" in browser.text("#stays")
            )
            assert "2 related conversations lose their parent" in browser.text(
                "#stays"
            ) and "state.db" in browser.text("#file")
            await browser.press("4")
            assert browser.app.screen.query_one("#rules", Input).value == "older:30d is:automation"
            assert planned(browser)[0] == {each for each in goes if each.startswith("cron")}
            await browser.press("4", "6")
            assert "open" in planned(browser)[0], "stale open ones are a class of their own"
            await set_rules(browser, "older:30d sized:3")
            assert planned(browser) == (set(), {}) and "“sized:3” is no filter" in browser.text(
                "#plan"
            )
            await browser.press("D")
            assert (
                isinstance(browser.app.screen, PruneScreen)
                and "nothing to clean up" in browser.status
            )
            await set_rules(browser, "")
            assert "No filters yet" in browser.text("#plan") and "Space" not in browser.status
            await browser.press("7")
            assert "include: only adds" in browser.text("#plan"), "which is no filter by itself"
            await browser.press("escape")
            assert isinstance(browser.app.screen, MainScreen)


@pytest.mark.slow
async def test_a_plan_in_which_all_is_kept_says_so(path):
    """It matches all the same. While rules are typed no row is described: its keys are letters."""
    async with on_store(path, NOW, (80, 24)) as browser:
        await browser.press("P")
        assert "Enter" in browser.status
        await browser.press("slash")
        await set_rules(browser, "older:30d id:pinned")
        assert "all that match are kept" in browser.text("#plan")
        assert "Enter" not in browser.status
        await browser.press("enter", "end")
        assert "pinned" in browser.status


@pytest.mark.slow
async def test_sums_leave_out_what_does_not_fit(tmp_path):
    """Whole facts, not half of one, and a sign that there are more. Messages are counted with the
    hidden ones among them."""
    async with on_demo(tmp_path, (80, 24)) as browser:
        await browser.press("P")
        lines = browser.text("#totals"), browser.text("#stays"), browser.text("#map-title")
        assert not any("…" in line.removesuffix(" · …") for line in lines)
        assert lines[0].endswith(" · …")
        assert "8 free 50%" in browser.text("#switches"), "every key of a rule is named"
        assert "387 messages (5 hidden)" in lines[0], "as the trash counts them"
        assert "D deletes every ✓" in browser.status
        assert "1 related conversation loses its parent" in lines[1]


@pytest.mark.slow
async def test_by_hand(path):
    """One is left out, an open one taken all the same; a pinned one never is."""
    async with on_store(path, NOW) as browser:
        await browser.press("P")
        await go_to(browser, "old", "p")
        await browser.press("space")
        assert "old" not in planned(browser)[0] and "4 conversations" in browser.text("#totals")
        await go_to(browser, "open", "s")
        assert "Space takes it" in browser.status
        await browser.press("space")
        assert "open" in planned(browser)[0] and "old" not in planned(browser)[0]
        await go_to(browser, "pinned", "s")
        await browser.press("space")
        assert "stays whatever is marked" in browser.status and "pinned" not in planned(browser)[0]
        await browser.press("D")
        assert isinstance(browser.app.screen, DeleteCard)
        await browser.press("y", "5", "enter")
        left = session_ids(path)
        assert {"old", "pinned", "hidden"} <= left and not left & {
            "open",
            "boss",
            "helper",
            "helper2",
        }
        await browser.press("u")
        assert {"open", "boss", "helper", "helper2"} <= session_ids(path)


@pytest.mark.slow
async def test_what_is_left_out_and_taken_by_hand_stays_while_a_conversation_is_read(
    path,
):
    async with on_store(path, NOW) as browser:
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
async def test_the_clean_up_can_be_left_while_it_measures(path, monkeypatch):
    """Its lines are removed before the coroutine that tells in one of them how far it is."""
    monkeypatch.setattr(plan_screen, "_UPDATE", 0.0002)
    async with on_store(path, NOW) as browser:
        await browser.press("P")
        screen = browser.app.screen
        screen.start("progress", screen._show_measuring)
        screen.dismiss(None)
        await browser.settle()
        assert isinstance(browser.app.screen, MainScreen)


@pytest.mark.slow
async def test_a_screen_that_is_kept_for_the_way_back_reads_nothing(path, monkeypatch):
    """Until it is shown again, also after rows that came late have moved its cursor."""
    async with on_store(path, NOW) as browser:
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


async def test_a_plan_is_archived_after_a_question(path):
    """As it is deleted: the heading says that nothing changes until one confirms."""
    async with on_store(path, NOW) as browser:
        await browser.press("P", "a")
        assert isinstance(browser.app.screen, ArchiveCard)
        assert "Archive 5 conversations?" in browser.card() and "y archive" in browser.card()
        before = column_of(path, "archived")
        await browser.press("escape")
        assert "nothing was archived" in browser.status
        assert column_of(path, "archived") == before
        await browser.press("a", "y")
        assert isinstance(browser.app.screen, PruneScreen)
        assert "5 conversations archived" in browser.status and "u undoes" in browser.status
        assert column_of(path, "archived")["old"]
        await browser.press("u")
        assert column_of(path, "archived") == before


@pytest.mark.slow
async def test_a_short_clean_up_tells_how_far_it_is(path, monkeypatch):
    """From the key that confirms it to the end, where there is no card; the screen takes keys
    meanwhile."""
    monkeypatch.setattr(progress, "MOST_AT_ONCE", 1)
    async with on_store(path, NOW) as browser:
        await browser.press("P", "D", "5")
        told = []
        context, shown = browser.screen, browser.screen.watch_progress
        monkeypatch.setattr(
            context, "watch_progress", lambda: (told.append(context.progress), shown())
        )
        await browser.send("enter", "m")
        await browser.settle()
        assert told[0] == "Moving 5 conversations to the trash …", (
            "before the first of them is done"
        )
        # What takes long is told more than once.
        counts = dict.fromkeys(each.split(" · ")[1] for each in told[1:-1])
        assert list(counts) == [f"{done} of 5" for done in range(6)]
        assert told[-1] == "" and "u undoes" in context.status.text
        assert "conversations by" in browser.text("#axis"), "the m was not lost"
        await browser.press("u")
        assert context.status.text.startswith("restored 5 conversations: ")


@pytest.mark.slow
async def test_a_message_stays_until_the_cursor_is_moved(path):
    """The rows that an undo brings back are not described over what it says."""
    async with on_store(path, NOW) as browser:
        await browser.press("P", "4", "D", "3", "enter")
        assert not planned(browser)[0]
        await browser.press("u")
        assert planned(browser)[0] and "restored 3 conversations: 3 sessions, " in browser.status
        await browser.press("down")
        assert "Enter shows the runs of this job" in browser.status


@pytest.mark.slow
async def test_what_is_new_after_a_delete_is_not_taken(tmp_path):
    """It was to stay. The cursor is on the first row, and there again when all is back."""
    async with on_demo(tmp_path) as browser:
        await browser.press("P", "D", *"52", "enter")
        assert "52 conversations moved" in browser.status
        (orphan,) = (row for row in rows_of(browser) if isinstance(row, PlanRow))
        assert list_of(browser).current == orphan and not orphan.goes
        await browser.press("down")
        assert isinstance(list_of(browser).current, SparedRow), "heads are passed over"
        await browser.press("up", "u")
        assert list_of(browser).cursor == 0
        assert "52 conversations" in browser.text("#totals")


@pytest.mark.slow
async def test_a_job_is_one_line(path):
    """With the number of its runs; Enter shows them, space leaves all of them, or one."""
    async with on_store(path, NOW) as browser:
        await browser.press("P")
        plan = list_of(browser)
        index = plan.source.index_of("jjob1")
        assert index is not None and "▸ hello there · 2 runs" in browser.text("#plan")
        plan.cursor = index
        count = len(plan.source)
        await browser.press("enter")
        assert len(plan.source) == count + 2 and plan.cursor == index
        await browser.press("down", "space")
        assert "1 of 2 runs" in browser.text("#plan") and "4 conversations" in browser.text(
            "#totals"
        )
        plan.cursor = index
        await browser.press("space")
        assert "5 conversations" in browser.text("#totals"), "some of it stayed: all of it goes"
        plan.cursor = index
        await browser.press("space")
        assert "3 conversations" in browser.text("#totals")
        await browser.press("D", "3", "enter")
        assert "cron_job1_20260101_030000" in session_ids(
            path
        ) and "cron_job2_20260102_040000" not in session_ids(path)


@pytest.mark.slow
async def test_marks_come_along_and_enter_reads(path):
    """What was marked in the list is the plan."""
    async with on_store(path, NOW, (96, 40)) as browser:
        await go_to(browser, "new")
        await browser.press("space", "P")
        assert planned(browser)[0] == {"new"}
        assert "1 marked in the list · filters add more" in browser.text("#rules")
        await browser.press("tab", "question_mark")
        assert isinstance(browser.app.screen, HelpCard) and "older:30d" in browser.card()
        await browser.press("escape", "tab", "enter")
        assert isinstance(browser.app.screen, MainScreen) and browser.screen.transcript.has_focus
        shown = browser.screen.current
        assert shown.id == "new"


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
