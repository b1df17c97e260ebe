"""Lines and paragraphs: they take the room that their text needs."""

import pytest
from resting import drain
from textual.app import App
from textual.content import Content

from hermes_browse.tui.widgets.lines import TextLine, WrappedText


class LineApp(App[None]):
    """A screen with one text of automatic height."""

    CSS = "#text { height: auto; text-wrap: wrap; text-overflow: fold; }"

    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def compose(self):
        yield self.kind(id="text")


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
