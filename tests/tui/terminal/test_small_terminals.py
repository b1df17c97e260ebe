"""Terminals with few cells or few colours: everything fits or says so, and a long sentence is shown
whole."""

import pytest
from browsing import on_demo
from effort import slow_but

from hermes_browse.store.errors import BrowseError
from hermes_browse.tui.browser.list.conversation_list import ConversationList


@pytest.mark.slow
async def test_the_export_card_fits_a_low_terminal(tmp_path):
    """What is said of secrets, and the keys, are on screen."""
    for number, size in enumerate([(60, 15), (40, 12)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with on_demo(folder, size) as browser:
            await browser.press("e")
            for widget in ("#formats", "#path", "#everything", "#secrets", "#answer"):
                region = browser.app.screen.query_one(widget).region
                assert region.height and region.bottom <= size[1], widget
            keys = " ".join(browser.text("#answer").split())
            assert (
                "Enter save" in keys
                and "Esc back" in keys
                and "secrets" in browser.text("#secrets")
            )


@pytest.mark.slow
@pytest.mark.parametrize("key", slow_but(["", "P"], ["", "P", "X", "W", "I", "H"]))
async def test_hardly_a_terminal(key, tmp_path):
    """In 20×5 and 5×2 it goes on, and more room brings back what was there, with the keys where
    they were."""
    async with on_demo(tmp_path, (20, 5)) as browser:
        await browser.press("down", "tab", "down", *([key] if key else []))
        screen, focused = browser.app.screen, browser.app.focused
        await browser.pilot.resize_terminal(5, 2)
        await browser.press("down", "up")
        await browser.pilot.resize_terminal(100, 30)
        await browser.wait_until(
            lambda: screen.size.width == 100 and screen.query_one("#keys").region.height == 1
        )
        assert browser.app.screen is screen
        assert browser.app.focused is focused and focused is not None


@pytest.mark.slow
async def test_the_title_of_the_clean_up_fits_60_columns(tmp_path):
    async with on_demo(tmp_path, (60, 24)) as browser:
        await browser.press("P")
        assert "until you confirm" in browser.text("#header")


@pytest.mark.slow
async def test_no_colours_in_a_theme_of_the_terminal(tmp_path, monkeypatch):
    """Its own colours stay as they are: as greys they would be black on black."""
    monkeypatch.setenv("NO_COLOR", "1")
    async with on_demo(tmp_path) as browser:
        for theme, is_grey in (("ansi-dark", False), ("hermes-dark", True)):
            browser.app.theme = theme
            await browser.settle()
            header = browser.app.screen.query_one("#header")
            styles = [
                part.style
                for part in header.render_lines(header.size.region)[0]
                if part.text.strip()
            ]
            colours = [
                style.color for style in styles if style is not None and style.color is not None
            ]
            assert styles and is_grey is any(not colour.is_default for colour in colours), theme


@pytest.mark.slow
async def test_nothing_is_drawn_in_the_colour_it_stands_on(browser):
    """In the themes of the terminal's own colours the accent is the row's background too; marks and
    bars stay seen."""
    for theme in ("ansi-dark", "ansi-light"):
        browser.app.theme = theme
        await browser.press("I")
        groups = browser.app.screen.query_one("#groups", ConversationList)
        segments = [
            each for each in groups.render_line(groups.cursor) if each.text.strip() and each.style
        ]
        assert any("█" in each.text for each in segments)
        same = [
            e.text
            for e in segments
            if e.style and e.style.color == e.style.bgcolor and e.style.color
        ]
        assert not [
            text for text in same if text.strip() and not segments[0].style.bgcolor.is_default
        ], theme
        await browser.press("escape")


@pytest.mark.slow
async def test_who_asks_is_not_shown_like_an_error(browser):
    """Errors alone are red, in ansi-light too."""
    browser.app.theme = "ansi-light"
    await browser.settle()
    user, error = (browser.screen.transcript._look_style(name).color for name in ("user", "error"))
    assert user.name not in (error.name, "bright_red") and user.number not in (1, 9)


LONG = (
    "saved /home/noor/"
    + "a-long-folder/" * 8
    + "file.md · 3 secrets taken out · 2 rewound messages left out"
)


def _told(browser):
    """What the status line says, its lines put together."""
    return "".join(browser.status.split())


@pytest.mark.slow
@pytest.mark.parametrize("key", slow_but(["", "X"], ["", "P", "X", "W", "H", "I"]))
async def test_a_long_sentence_is_shown_whole(key, tmp_path):
    """It takes lines of the panes above it, and gives them back to the next one."""
    async with on_demo(tmp_path, (80, 24)) as browser:
        await browser.press(*([key] if key else []))
        status = browser.app.screen.query_one("#status")
        browser.screen.say("short")
        await browser.settle()
        assert status.size.height == 1
        browser.screen.say(LONG)
        await browser.settle()
        assert status.region.height in (3, 4) and status.region.bottom == 23
        assert "".join(LONG.split()) in _told(browser)
        browser.screen.say("short")
        await browser.settle()
        assert status.region.height == 1 and _told(browser).startswith("short")


@pytest.mark.slow
async def test_a_long_sentence_moves_the_list_no_further_than_it_must(tmp_path):
    """Rows stay on their lines; the row under the cursor is never behind the sentence."""
    async with on_demo(tmp_path, (120, 30)) as browser:
        rows = browser.screen.rows
        top = browser.text("#list").splitlines()[0]
        browser.screen.say(LONG * 2)
        await browser.settle()
        assert browser.text("#list").splitlines()[0] == top and rows.scroll_offset.y == 0
        browser.screen.say("")
        await browser.settle()
        await browser.press(*["down"] * (rows.size.height - 1))
        assert rows.scroll_offset.y == 0 and rows.cursor == rows.size.height - 1
        browser.screen.failed(BrowseError(LONG * 2))
        await browser.settle()
        assert 0 < rows.scroll_offset.y == rows.cursor - rows.size.height + 1
        assert browser.screen.transcript.page.at_end
