"""Lines and paragraphs: they take the room that their text needs."""

from dataclasses import replace

import pytest
from browsing import on_demo
from resting import drain
from textual.app import App
from textual.content import Content

from hermes_browse.tui.app import BrowseApp
from hermes_browse.tui.browser.list.rows import TAG_COLOURS
from hermes_browse.tui.browser.transcript import markdown_layout, tool_text
from hermes_browse.tui.screens.cleanup import time_axis
from hermes_browse.tui.screens.insights import chart
from hermes_browse.tui.widgets.lines import TextBox, TextLine, WrappedText
from hermes_browse.tui.widgets.themes import DARK


class LineApp(App[None]):
    """A screen with one text of automatic height."""

    CSS = "#text { height: auto; text-wrap: wrap; text-overflow: fold; }"

    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def compose(self):
        yield self.kind(id="text")


class BoxApp(App[None]):
    """A box with a bar before it while it has the keys."""

    CSS = "TextBox { border: none; padding: 0 1; } TextBox:focus { border-left: thick red; }"
    AUTO_FOCUS = None

    def compose(self):
        yield TextBox("qz")


async def test_the_terminals_cursor_moves_with_the_text_when_a_bar_is_put_before_it():
    """The box gets its bar after the keys, and perhaps after the letters typed in one go with it."""
    app = BoxApp()
    async with app.run_test() as pilot:
        box = app.query_one(TextBox)
        box.focus()
        await drain(pilot)
        assert box.content_region.x == 2
        assert app.cursor_position == (4, 0)


@pytest.mark.parametrize("kind", [WrappedText, TextLine])
async def test_a_text_that_changes_during_a_layout_gets_its_room(kind):
    """A worker may answer while the first layout is still asked for: Textual 8 kept the size of the
    older text."""
    app = LineApp(kind)
    async with app.run_test(size=(40, 10)) as pilot:
        text = app.query_one(kind)
        text.update(Content("short"), layout=True)
        app.screen._refresh_layout()  # as a resize does it, which waits for nobody
        text.update(Content("word " * 20), layout=True)
        await drain(pilot)
        assert text.size.height == 3


def test_looks_that_are_put_together_or_stand_in_tables_have_a_style():
    """All others are drawn by the tests of what they are in."""
    looks = {
        *(f"sgr-{name}" for name in tool_text._NAMES),
        *tool_text._MARKS,
        *tool_text._LOG_LOOKS,
        *markdown_layout._MARKS.values(),
        *markdown_layout._CODE_LOOKS.values(),
        *(f"tag-{number}" for number in range(TAG_COLOURS)),
        *(*chart.OWN, chart.OTHERS, chart.PICKED),
        *time_axis._KINDS,
    }
    assert {f"look--{name}" for name in looks} <= BrowseApp.COMPONENT_CLASSES


@pytest.mark.slow
async def test_another_theme_changes_the_looks(tmp_path):
    """The widgets keep them, and the application has them."""
    async with on_demo(tmp_path) as browser:
        browser.screen.query_one("#keys").display = False  # a text, with styles of its own
        await browser.press("slash", *"cookie")
        browser.app.register_theme(replace(DARK, name="green", accent="#00ff00", warning="#00ff00"))
        browser.app.theme = "green"
        await browser.settle()
        picture = browser.app.export_screenshot()
    assert "#00ff00" in picture
    assert str(DARK.accent) not in picture
