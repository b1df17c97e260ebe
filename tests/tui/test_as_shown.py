"""What the screens say holds at the moment it is read: keys, names, counts, titles, sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from browsing import NOW, Browser, browsing, demo_app, loose, open_app
from builders import make_store
from effort import slow_but
from textual.geometry import Offset
from textual.widgets import Input

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.models import Status, View
from hermes_browse.tui.cleanup.plan_rows import SparedRow
from hermes_browse.tui.cleanup.retention import FateRow
from hermes_browse.tui.edit.renaming import RenameScreen
from hermes_browse.tui.list.conversation_list import ConversationList
from hermes_browse.tui.list.rows import ConversationRow, HitRow
from hermes_browse.tui.screens.help import HelpScreen
from hermes_browse.tui.screens.main import MainScreen


def _rows(browser: Browser, widget: str) -> list[object]:
    source = browser.app.screen.query_one(widget, ConversationList).source
    return [source.row(index) for index in range(len(source))]


# Names


async def test_retention_names_the_untitled_as_the_list_does(
    fixture_store: Callable[[str], Path], tmp_path: Path
) -> None:
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
            for row in _rows(browser, "#list")
            if isinstance(row, ConversationRow)
        }
        await browser.press("W")
        fates = [row.conversation for row in _rows(browser, "#fates") if isinstance(row, FateRow)]
        untitled = [each for each in fates if not each.title and listed.get(each.root_id)]
        assert untitled and all(each.preview for each in untitled[:20])
        assert untitled[0].preview[:20] in browser.text("#fates")


async def test_a_spared_row_is_named_as_in_the_list(fixture_store: Callable[[str], Path]) -> None:
    """P reads how a spared conversation without a title begins, also where the list has not shown it."""
    path = fixture_store("state-v31")
    async with browsing(open_app(loose(path), 1_900_000_000.0), (120, 14)) as browser:
        browser.screen.controllers.cleaning.last_rules = "older:0d"
        browser.screen.context.details._cached.clear()
        await browser.press("P")
        plan = browser.app.screen.query_one("#plan", ConversationList)
        spared = [
            index
            for index, row in enumerate(_rows(browser, "#plan"))
            if isinstance(row, SparedRow)
            and not row.spared.conversation.title
            and row.spared.conversation.status is not Status.EMPTY
        ]
        assert spared
        plan.cursor = spared[-1]
        await browser.settle()
        row = plan.source.row(spared[-1])
        assert isinstance(row, SparedRow) and row.spared.conversation.preview


# Keys


async def test_the_line_of_keys_says_what_enter_does_here(tmp_path: Path) -> None:
    """In the list it resumes; in the transcript it unfolds, and R resumes."""
    async with browsing(demo_app(tmp_path), (200, 60)) as browser:
        assert "Enter resume" in browser.text("#keys")
        await browser.press("tab")
        keys = browser.text("#keys")
        assert "Enter resume" not in keys and keys.count("Enter more, less") == 1 and "R resume" in keys
        await browser.press("tab")
        assert browser.screen.lineage.has_focus and "Enter resume" in browser.text("#keys")


async def test_help_goes_where_lists_go(tmp_path: Path) -> None:
    """End, Home, g, G, Ctrl+D and Ctrl+U move in it."""
    async with browsing(demo_app(tmp_path), (80, 24)) as browser:
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
    ("key", "enter"), [("W", "Read this"), ("P", "Read this"), ("X", "Open"), ("I", "Show the"), ("H", None)]
)
async def test_help_says_what_enter_does_on_a_screen(key: str, enter: str | None, tmp_path: Path) -> None:
    """Nowhere over the main screen Enter resumes, and help does not say so."""
    async with browsing(demo_app(tmp_path), (120, 36)) as browser:
        await browser.press(key, "question_mark")
        assert isinstance(browser.app.screen, HelpScreen)
        told = browser.card()
        assert "Resume" not in told
        assert " ".join(f"Enter Ctrl+J {enter}".split()) in " ".join(told.split()) if enter else "Ctrl+J" not in told


@pytest.mark.slow
async def test_a_click_on_a_view_shows_it(tmp_path: Path) -> None:
    """Tabs are for the mouse as well, in each form that fits."""
    for size in ((120, 36), (60, 24)):
        folder = tmp_path / str(size[0])
        folder.mkdir()
        async with browsing(demo_app(folder), size) as browser:
            line = browser.text("#views")
            await browser.pilot.click("#views", offset=Offset(line.index(" 2 ") + 1, 0))
            await browser.settle()
            assert browser.screen.controllers.view is View.AUTOMATION
            await browser.pilot.click("#views", offset=Offset(browser.text("#views").index("1"), 0))
            await browser.settle()
            assert browser.screen.controllers.view is View.CHATS


# Titles and counts


async def test_the_header_is_as_wide_as_the_terminal(tmp_path: Path) -> None:
    """A resize moves the counts at once."""
    async with browsing(demo_app(tmp_path), (120, 36)) as browser:
        await browser.pilot.resize_terminal(90, 36)
        await browser.settle()
        assert browser.text("#header").rstrip().endswith(browser.text("#header").split()[-1])
        narrow = browser.text("#header")
        await browser.press("2", "1")
        assert browser.text("#header") == narrow


async def test_a_title_that_is_taken_leaves_the_card_open(tmp_path: Path) -> None:
    """The reason stands whole in the card, and what was typed can be changed; then the header has the new title."""
    async with browsing(demo_app(tmp_path), (120, 36)) as browser:
        taken = next(
            row.conversation.title
            for row in _rows(browser, "#list")[1:]
            if isinstance(row, ConversationRow) and row.conversation.title and "#" not in row.conversation.title
        )
        await browser.press("T")
        box = browser.app.screen.query_one(Input)
        box.value = taken
        await browser.press("enter")
        assert isinstance(browser.app.screen, RenameScreen) and box.value == taken
        assert "Nothing was changed" in browser.text("#verdict")
        box.value = "Quite another name"
        await browser.press("enter")
        assert isinstance(browser.app.screen, MainScreen)
        assert "Quite another name" in browser.text("#title")
        assert "Quite another name" in browser.text("#list")


@pytest.mark.slow
async def test_everything_marked_is_accounted_for(tmp_path: Path) -> None:
    """Of all that is marked, what goes, what is spared and what goes along with its parent come to the whole."""
    async with browsing(demo_app(tmp_path), (200, 60)) as browser:
        await browser.press("4", "asterisk")
        marked = len(browser.screen.controllers.changing.marks)
        await browser.press("P")
        view, planned = browser.app.screen.plan.view, browser.app.screen.plan.planned  # type: ignore[attr-defined]  # of PruneScreen
        along = {each.id for one in planned.plan.would for each in one.subagents}
        count = sum(each.id in along for each in browser.screen.controllers.changing.marks.conversations)
        assert count and view.goes + len(planned.plan.spared) + count == marked
        assert f"{count} marked subagents go along with their parents" in browser.text("#stays")
        await browser.press("escape", "D")
        assert f"{count} marked subagents go along with their parents" in browser.card()


# Sentences


async def test_the_status_line_knows_who_writes(tmp_path: Path) -> None:
    """Where a row is live it says so from the first frame; our own change makes nobody a writer."""
    async with browsing(demo_app(tmp_path)) as browser:
        rows = [row for row in _rows(browser, "#list") if isinstance(row, ConversationRow)]
        assert any(row.conversation.status is Status.LIVE for row in rows)
        assert "Hermes is writing" in browser.text("#status")
        store = browser.screen.context.location.path
    async with browsing(open_app(loose(store), NOW + 86_400)) as browser:
        assert "no one is writing" in browser.text("#status")
        await browser.press("a")
        await browser.press("u")
        browser.screen.controllers.listing.changed()
        await browser.press("f5")
        assert "no one is writing" in browser.text("#status")


async def test_a_sentence_of_the_page_goes_with_the_page(tmp_path: Path) -> None:
    """The way back from the recap is told while there is one."""
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("p")
        assert "p back to the transcript" in browser.text("#status")
        await browser.press("p")
        assert "p back to the transcript" not in browser.text("#status")
        await browser.press("p", "down")
        assert "p back to the transcript" not in browser.text("#status")
        await browser.press("f5")
        assert "reading the store again" not in browser.text("#status")
        await browser.press("V")
        assert "a range begins here" in browser.text("#status")
        await browser.press("down", "V")
        assert "a range begins here" not in browser.text("#status")


@pytest.mark.slow
async def test_leaving_a_search_stays_with_what_was_found(tmp_path: Path) -> None:
    """Esc from a hit is the conversation of the hit, or where the search began; typing and erasing changes nothing."""
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("down", "down")
        before = browser.row
        assert before is not None
        await browser.press("slash")
        await browser.type("cookie")
        await browser.press("enter", *"nnnnnn")
        hit = browser.row
        assert isinstance(hit, HitRow) and hit.conversation is not None
        root = hit.conversation.root_id
        listed = any(
            each == root for each in browser.screen.context.catalog.order(browser.screen.controllers.listing.view)
        )
        await browser.press("escape", "escape")
        await browser.press(*["escape"] * (1 if browser.screen.controllers.searching.is_active else 0))
        assert not browser.screen.controllers.searching.is_active
        assert browser.row is not None and browser.row.key == (f"c{root}" if listed else before.key)
        at = browser.row.key
        await browser.press("slash")
        await browser.type("auth")
        await browser.press(*["backspace"] * 4)
        assert browser.row is not None and browser.row.key == at


# Small terminals


async def test_the_export_card_fits_a_low_terminal(tmp_path: Path) -> None:
    """What is said of secrets, and the keys, are on screen."""
    for number, size in enumerate([(60, 15), (40, 12)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with browsing(demo_app(folder), size) as browser:
            await browser.press("e")
            for widget in ("#formats", "#path", "#everything", "#secrets", "#answer"):
                region = browser.app.screen.query_one(widget).region
                assert region.height and region.bottom <= size[1], widget
            keys = " ".join(browser.text("#answer").split())
            assert "Enter save" in keys and "Esc back" in keys and "secrets" in browser.text("#secrets")


async def test_hardly_a_terminal_has_the_list_and_says_so(tmp_path: Path) -> None:
    """20×5: rows, and a line that says it is too small; more room brings everything back."""
    async with browsing(demo_app(tmp_path), (20, 5)) as browser:
        assert "too small" in browser.text("#header") and browser.screen.rows.size.height >= 3
        await browser.press("down", "tab", "down")
        await browser.pilot.resize_terminal(120, 36)
        await browser.settle()
        assert "too small" not in browser.text("#header") and browser.screen.transcript.size.height > 5


async def test_no_colours_in_a_theme_of_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own colours stay as they are: as greys they would be black on black."""
    monkeypatch.setenv("NO_COLOR", "1")
    async with browsing(demo_app(tmp_path)) as browser:
        for theme, is_grey in (("ansi-dark", False), ("hermes-dark", True)):
            browser.app.theme = theme
            await browser.settle()
            header = browser.app.screen.query_one("#header")
            styles = [part.style for part in header.render_lines(header.size.region)[0] if part.text.strip()]
            colours = [style.color for style in styles if style is not None and style.color is not None]
            assert styles and is_grey is any(not colour.is_default for colour in colours), theme


@pytest.mark.parametrize("key", slow_but("P", ["P", "X", "W", "I", "H"]))
async def test_hardly_a_terminal_says_so_on_each_screen(key: str, tmp_path: Path) -> None:
    """And more room brings back what was there, with the keys where they were."""
    async with browsing(demo_app(tmp_path), (100, 30)) as browser:
        await browser.press(key)
        screen, focused = browser.app.screen, browser.app.focused
        await browser.pilot.resize_terminal(20, 5)
        await browser.wait_until(lambda: screen.size.width == 20)
        assert "too small" in "".join(strip.text for strip in screen.render_lines(screen.size.region))
        assert not any(each.region for each in screen.children)
        await browser.pilot.resize_terminal(100, 30)
        await browser.wait_until(lambda: screen.size.width == 100 and screen.query_one("#keys").region.height == 1)
        assert browser.app.focused is focused and focused is not None


# Sixteen colours


@pytest.mark.slow
async def test_nothing_is_drawn_in_the_colour_it_stands_on(tmp_path: Path) -> None:
    """In the themes of the terminal's own colours the accent is the row's background too; marks and bars stay seen."""
    async with browsing(demo_app(tmp_path)) as browser:
        for theme in ("ansi-dark", "ansi-light"):
            browser.app.theme = theme
            await browser.press("I")
            groups = browser.app.screen.query_one("#groups", ConversationList)
            segments = [each for each in groups.render_line(groups.cursor) if each.text.strip() and each.style]
            assert any("█" in each.text for each in segments)
            same = [e.text for e in segments if e.style and e.style.color == e.style.bgcolor and e.style.color]
            assert not [text for text in same if text.strip() and not segments[0].style.bgcolor.is_default], theme
            await browser.press("escape")


async def test_who_asks_is_not_shown_like_an_error(tmp_path: Path) -> None:
    """Errors alone are red, in ansi-light too."""
    async with browsing(demo_app(tmp_path)) as browser:
        browser.app.theme = "ansi-light"
        await browser.settle()
        user, error = (browser.screen.transcript._look_style(name).color for name in ("user", "error"))
        assert user is not None and error is not None
        assert user.name not in (error.name, "bright_red") and user.number not in (1, 9)


# Sentences that are longer than the line

LONG = "saved /home/noor/" + "a-long-folder/" * 8 + "file.md · 3 secrets taken out · 2 rewound messages left out"


def _told(browser: Browser) -> str:
    """What the status line says, its lines put together."""
    return "".join(browser.text("#status").split())


@pytest.mark.parametrize("key", slow_but(["", "X"], ["", "P", "X", "W", "H", "I"]))
async def test_a_long_sentence_is_shown_whole(key: str, tmp_path: Path) -> None:
    """It takes lines of the panes above it, and gives them back to the next one."""
    async with browsing(demo_app(tmp_path), (80, 24)) as browser:
        await browser.press(*([key] if key else []))
        status = browser.app.screen.query_one("#status")
        browser.screen.context.say("short")
        await browser.settle()
        assert status.size.height == 1
        browser.screen.context.say(LONG)
        await browser.settle()
        assert status.region.height in (3, 4) and status.region.bottom == 23
        assert "".join(LONG.split()) in _told(browser)
        browser.screen.context.say("short")
        await browser.settle()
        assert status.region.height == 1 and _told(browser).startswith("short")


@pytest.mark.slow
async def test_a_long_sentence_moves_the_list_no_further_than_it_must(tmp_path: Path) -> None:
    """Rows stay on their lines; the row under the cursor is never behind the sentence."""
    async with browsing(demo_app(tmp_path), (120, 30)) as browser:
        rows = browser.screen.rows
        top = browser.text("#list").splitlines()[0]
        browser.screen.context.say(LONG * 2)
        await browser.settle()
        assert browser.text("#list").splitlines()[0] == top and rows.scroll_offset.y == 0
        browser.screen.context.say("")
        await browser.settle()
        await browser.press(*["down"] * (rows.size.height - 1))
        assert rows.scroll_offset.y == 0 and rows.cursor == rows.size.height - 1
        browser.screen.context.failed(BrowseError(LONG * 2))
        await browser.settle()
        assert 0 < rows.scroll_offset.y == rows.cursor - rows.size.height + 1
        assert browser.screen.transcript.at_end


async def test_what_a_card_answers_is_shown_whole(tmp_path: Path) -> None:
    """On a narrow terminal the keys and the answer take more lines."""
    async with browsing(demo_app(tmp_path), (40, 20)) as browser:
        await browser.press("e")
        answer = browser.app.screen.query_one("#answer")
        assert answer.region.height > 1 and answer.region.bottom <= 20
        assert "Esc back" in " ".join(browser.text("#answer").split())


# Nothing there


async def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    """A sentence, whole, without numbers that read as counts; and one about what Hermes deletes, not two."""
    home = tmp_path / "home"
    home.mkdir()
    make_store(home / "state.db", "22", [], [])
    (home / "config.yaml").write_text("sessions:\n  auto_prune: true\n  retention_days: 90\n", encoding="utf-8")
    async with browsing(open_app(Location(home / "state.db", root=home, profile="default")), (80, 24)) as browser:
        assert browser.text("#list").strip() == "No sessions yet: start a chat in Hermes"
        await browser.press("W")
        assert "90 days" in browser.text("#rule")
        assert browser.text("#fates").strip() == "No conversation of this store would go."


async def test_a_view_without_rows_says_where_the_others_are(tmp_path: Path) -> None:
    """In the cells there are beside the transcript."""
    path = make_store(tmp_path / "state.db", "22", [{"id": "cron_a_20260101_000000", "source": "cron"}], [])
    async with browsing(open_app(loose(path)), (120, 30)) as browser:
        assert browser.text("#list").strip() == "No chats here: press 4 for everything"
        await browser.press("3")
        assert browser.text("#list").strip() == "Nothing is archived"
