"""The line of views tells what matters most in the cells there are."""

import re
from pathlib import Path

import pytest
from builders import make_store

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.store.since import Attention
from hermes_browse.tui.browser import header
from hermes_browse.tui.browser.list.columns import shown_line
from hermes_browse.tui.browser.list.list_model import FirstPage, RowDetails
from hermes_browse.tui.start import PALETTES, _title_line, _view_line
from hermes_browse.tui.widgets.bindings import key_names

MARKS = "✓ 1,204 marked · 72k msgs"


@pytest.fixture
def catalog(tmp_path):
    """1,204 chats."""
    sessions = [{"id": f"s{number}"} for number in range(1204)]
    with Store(make_store(tmp_path / "state.db", "22", sessions, [])).reader() as reader:
        return read_catalog(reader, 1e9)


def _line(catalog, width, marks, old=0):
    return str(header.views(catalog, View.ALL, marks, old, width))


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("old", [0, 1_234])
def test_what_is_marked_is_never_cut(catalog, width, old):
    line = _line(catalog, width, MARKS, old)
    assert line.endswith(MARKS) and len(line) <= width
    assert "4 All 1.2k" in line or "4 All 1,204" in line


def test_counts_are_exact_where_there_is_room(catalog):
    assert "4 All 1,204" in _line(catalog, 120, MARKS)
    assert "1   2   3   4 All 1.2k" in _line(catalog, 60, MARKS)


def test_views_keep_their_names_in_a_small_terminal(catalog):
    """The count of the current view took the room of three names, which nobody can guess."""
    line = str(header.views(catalog, View.CHATS, "↓ activity", 0, 60))
    assert "1 Chats   2 Automation   3 Archived   4 All" in line and len(line) <= 60


@pytest.mark.parametrize("width", [40, 60, 80])
def test_views_are_painted_ahead_as_they_are_shown(catalog, width):
    """A narrow terminal showed counts first that the line had no room for."""
    first = Catalog(catalog.sessions.values(), catalog.now, exact=False)
    painted = _view_line(FirstPage(first, RowDetails()), PALETTES["hermes-dark"], width)
    shown = header.views(first, View.CHATS, "↓ activity", 0, width)
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == str(shown)


def test_function_keys_are_printed_as_on_a_keyboard():
    assert key_names("T,f2") == "T F2" and key_names("f5") == "F5"
    assert (
        key_names("ctrl+r,f12,space,enter,escape,shift+tab,q,G")
        == "Ctrl+R F12 Space Enter Esc Shift+Tab q G"
    )
    assert key_names("alt+x,alt+less_than_sign,ctrl+backslash,plus") == "Alt+x Alt+< Ctrl+\\ +"


@pytest.mark.parametrize("width", [40, 52, 60, 120])
def test_the_title_is_painted_ahead_as_it_is_shown(catalog, width):
    """A narrow terminal showed the last fact cut in mid-word until Textual left it out."""
    first = Catalog(catalog.sessions.values(), catalog.now, exact=False)
    location = Location(Path("state.db"), label="a name of the store")
    page = FirstPage(first, RowDetails())
    painted = _title_line(page, location, PALETTES["hermes-dark"], width)
    shown = header.title(location, Attention(), shown_line(first, View.CHATS), width)
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == str(shown.truncate(width, ellipsis=True))
