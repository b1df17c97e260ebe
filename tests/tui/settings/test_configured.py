"""The browser under a configuration: keys, theme, columns, and what it remembers."""

import pytest
from browsing import NOW, browsing, demo_app
from builders import demo_store
from configured_app import configured
from effort import slow_but
from platforms import python
from rich.cells import cell_len

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.delete import delete
from hermes_browse.store.hermes.homes import trash_folder
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.first_page import read_first_page
from hermes_browse.store.sessions.models import Sort, View
from hermes_browse.store.trash.shelf import list_bundles
from hermes_browse.tui.browser.list.columns import COLUMNS, ListLayout
from hermes_browse.tui.browser.list.rows import ConversationRow
from hermes_browse.tui.settings.start import (
    LastState,
    memory_path,
    read_memory,
    read_start,
    write_memory,
)
from hermes_browse.tui.text import formats


@pytest.mark.slow
async def test_a_trouble_is_said_on_the_screen(tmp_path):
    """The first with its line, and how many more; everything else holds."""
    app = configured(tmp_path, 'mouse = false\nmuose = true\ntheme = "hermes-drak"\n')
    async with browsing(app) as browser:
        status = browser.status
        assert "config.toml, line 2" in status and "“muose”" in status and "1 more" in status
        assert app.theme == "hermes-dark" and not app.startup.options.mouse


@pytest.mark.slow
@pytest.mark.parametrize("width", slow_but([20, 80], [20, 45, 80, 200]))
@pytest.mark.parametrize("sort", [Sort.ACTIVITY, Sort.COST])
def test_rows_are_as_wide_as_they_should_be(tmp_path, width, sort):
    """With every column; half of the row is the title's where columns were chosen."""
    path = tmp_path / "state.db"
    demo_store(path, now=NOW)
    with Store(path).reader() as reader:
        conversations = read_first_page(reader, NOW).select()
    for columns in ((), tuple(COLUMNS), ("directory", "branch"), ("started",)):
        layout = ListLayout(columns, sort)
        for conversation in conversations:
            spans = ConversationRow(conversation).spans(width, NOW, layout)
            assert cell_len("".join(text for text, _ in spans)) == width
            if columns and columns[0] != "directory":
                assert cell_len(spans[-1][0]) - 2 <= max(width // 2, formats.AGE_WIDTH)


@pytest.mark.slow
@pytest.mark.parametrize("age, left", [("1d", 0), ("3d", 1), ("forever", 1)])
async def test_the_trash_is_kept_as_long_as_is_set(tmp_path, age, left):
    """A bundle two days old goes at the start, where that is said; nothing goes that nobody told it
    to."""
    app = configured(tmp_path)
    store, folder = app.store, trash_folder(app.location)
    with store.reader() as reader:
        tip = read_catalog(reader, NOW).order()[-1]  # it was there two days ago
    delete(store, [tip], folder, now=NOW - 2 * 86_400)
    assert len(list_bundles(folder)) == 1
    app = configured(tmp_path, f'trash = "{age}"\n')
    async with browsing(app) as browser:
        await browser.settle()
        assert len(list_bundles(folder)) == left
        if not left:
            assert (
                "1 deletion as old as the configuration says was deleted for good" in browser.status
            )
        else:
            assert "dropped" not in browser.status


@pytest.mark.slow
async def test_it_goes_on_as_it_was_left(tmp_path):
    """View, order and a theme chosen by hand come back; what is set comes first."""
    app = configured(tmp_path)
    assert app.startup.can_be_painted_ahead
    async with browsing(app) as browser:
        await browser.press("4")
        await browser.sort("started")
        await browser.press("S")
        app.theme = "nord"
    left = app.new_memory()
    assert left == LastState(View.ALL, Sort.STARTED, True, "nord")
    write_memory(memory_path(), left)
    assert read_memory(memory_path()) == left
    again = configured(tmp_path)
    async with browsing(again) as browser:
        main = browser.screen
        assert (main.view, main.sort, main.reverse, again.theme) == left[:4]
    set_now = configured(tmp_path, 'theme = "hermes-dark"\n')
    async with browsing(set_now):
        assert set_now.theme == "hermes-dark"
    assert set_now.new_memory().theme == "nord", "what is set is not what was chosen"


@pytest.mark.slow
async def test_the_sample_store_is_no_place_to_come_back_to(tmp_path):
    """Of a look at it the theme alone is remembered."""
    write_memory(memory_path(), LastState(View.ARCHIVED, Sort.COST, True, None))
    app = demo_app(tmp_path)
    app.startup = read_start()
    async with browsing(app) as browser:
        await browser.press("2")
        app.theme = "nord"
    assert app.new_memory() == LastState(View.ARCHIVED, Sort.COST, True, "nord")


def test_without_a_configuration_nothing_of_it_is_loaded(tmp_path):
    """The first rows wait for two looks at files, no more."""

    program = (
        "import sys; from hermes_browse.tui.settings.start import read_start; read_start(); "
        "print(*({'tomllib', 'platformdirs', 'textual', 'ast'} & set(sys.modules)))"
    )
    ended = python(program)
    assert ended.split() == []
