"""The tables of commands and what is made from them: nothing is called that is not there, and
nothing is left over."""

import importlib
import inspect
import re
from collections import Counter

import pytest
from browsing import browsing, on_demo
from configured_app import configured
from paths import ROOT
from rich.cells import cell_len
from textual.actions import parse
from textual.widgets import Input, OptionList, Static

from hermes_browse.tui.app import BrowseApp
from hermes_browse.tui.browser.list.conversation_list import ConversationList
from hermes_browse.tui.browser.search.box import FindBox, GoToBox, QueryBox, SearchBox
from hermes_browse.tui.browser.transcript.view import TranscriptView
from hermes_browse.tui.screens.cleanup.plan_screen import SWITCHES
from hermes_browse.tui.screens.cleanup.tile_map import TileMap
from hermes_browse.tui.screens.help import HelpCard
from hermes_browse.tui.screens.insights.screen import GROUPINGS
from hermes_browse.tui.screens.palette import entries
from hermes_browse.tui.screens.sub_screen import SubScreen
from hermes_browse.tui.settings.keymap import known_commands
from hermes_browse.tui.settings.keys.main_commands import (
    APP,
    FIND_BOX,
    GO_TO_BOX,
    LINES,
    LIST,
    MAIN,
    QUERY_BOX,
    SEARCH_BOX,
    TRANSCRIPT,
)
from hermes_browse.tui.settings.keys.screen_commands import CARDS, MAP, SCREENS
from hermes_browse.tui.widgets.bindings import key_names
from hermes_browse.tui.widgets.card import Card
from hermes_browse.tui.widgets.lines import LinesView

KEYS = ROOT / "docs" / "keys.md"
_MODULES = {
    "choices": "screens.palette",
    "compactions": "screens.compactions",
    "archiving": "screens.cleanup.plan_screen",
    "deleting": "browser.edit.deleting",
    "dropping": "screens.bundles",
    "preflight": "browser.preflight",
    "progress": "browser.edit.long_writes",
    "renaming": "browser.edit.naming",
    "searches": "browser.search.history",
    "since": "screens.since",
    "tagging": "browser.edit.naming",
    "insights": "screens.insights.screen",
    "profiles": "browser.switching",
    "prune": "screens.cleanup.prune_screen",
    "raw": "browser.transcript.cards",
    "details": "browser.transcript.cards",
    "references": "browser.transcript.references",
    "reclaim": "screens.cleanup.reclaim",
    "retention": "screens.cleanup.retention_screen",
}
"""Modules of screens and cards that are not in `tui/screens`, or are called otherwise than their
commands."""


def _class_of(scope):
    """The screen or card that has the commands of a scope."""
    module = importlib.import_module(f"hermes_browse.tui.{_MODULES.get(scope, f'screens.{scope}')}")
    table = {**SCREENS, **CARDS}[scope]
    found = [
        each
        for each in vars(module).values()
        if isinstance(each, type) and vars(each).get("KEYS") is table
    ]
    assert len(found) == 1, scope
    return found[0]


OF_WIDGETS = [
    (BrowseApp, APP),
    (ConversationList, LIST),
    (TranscriptView, TRANSCRIPT),
    (LinesView, LINES),
    (TileMap, MAP),
    (SearchBox, SEARCH_BOX),
    (QueryBox, QUERY_BOX),
    (FindBox, FIND_BOX),
    (GoToBox, GO_TO_BOX),
]


def _is_there(kind, command):
    """Whether a class has the action a command names."""
    name = re.split(r"[(.]", command.action, maxsplit=1)[0]
    return command.is_method or hasattr(kind, f"action_{name}")


async def test_every_command_names_a_method(browser):
    assert all(each.is_method and each.call for each in MAIN)
    for each in (*MAIN, *TRANSCRIPT, *SEARCH_BOX, *FIND_BOX, *GO_TO_BOX):
        part, name, given = parse(each.call) if each.is_method else ("", "focus_on", ("rows",))
        owner = getattr(browser.screen, part) if part else browser.screen
        inspect.signature(getattr(owner, name)).bind(*given)


@pytest.mark.parametrize("kind, table", OF_WIDGETS)
def test_widgets_have_the_actions_of_their_commands(kind, table):
    assert [each for each in table if not _is_there(kind, each)] == []


@pytest.mark.parametrize("scope", [*SCREENS, *CARDS])
def test_screens_have_the_actions_of_their_commands(scope):
    """And every command of a scope is called after it, so that nobody has to know more than the
    name."""
    kind, table = _class_of(scope), {**SCREENS, **CARDS}[scope]
    assert [each for each in table if not _is_there(kind, each)] == []
    assert [each.id for each in table if each.id and not each.id.startswith(f"{scope}-")] == []


def test_every_screen_and_card_has_a_table():
    """One that is new has to have its keys among the others."""
    known = {_class_of(scope) for scope in (*SCREENS, *CARDS)}
    below = [*Card.__subclasses__(), *SubScreen.__subclasses__()]
    while below:
        each = below.pop()
        below += each.__subclasses__()
        if each.__module__.startswith("hermes_browse.") and (
            {"BINDINGS", "KEYS"} & vars(each).keys()
        ):
            assert each in known, each


def test_no_two_commands_are_called_alike():
    counts = Counter((each.scope, each.id) for each in known_commands() if each.id)
    assert [each for each, count in counts.items() if count > 1] == []
    of_scope = Counter(each.id for each in known_commands() if each.id)
    assert [each for each, count in of_scope.items() if count > 1] == []


def test_numbers_switch_what_is_shown():
    """The keys 1, 2, … have a rule or a grouping each."""
    for table, call, switched in (
        (SCREENS["prune"], "switch", SWITCHES),
        (SCREENS["insights"], "choose", GROUPINGS),
    ):
        numbered = {each.keys: each.call for each in table if each.call.startswith(f"{call}(")}
        assert numbered == {str(index + 1): f"{call}({index})" for index in range(len(switched))}


def test_the_documents_name_all_keys_that_there_are():
    """Each key in their table does something in the list, the transcript or everywhere; each
    command has one there."""
    table = KEYS.read_text(encoding="utf-8").split("| key | does |")[1].split("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")]
    named = {
        key
        for cell in cells
        for key in re.findall(r"`([^`]+)`|([^\s,`]+)", cell)
        for key in key
        if key
    }
    commands = (*MAIN, *LIST, *TRANSCRIPT, *APP)
    known = {key_names(key) for each in commands for key in each.key_names}
    assert len(named) > 70 and named - known == {"---"}
    assert [
        each.title for each in commands if not named & set(map(key_names, each.key_names))
    ] == []


# The palette


@pytest.mark.slow
async def test_the_palette_offers_every_command(browser):
    """Everything that has a key can be found by name; what does the same is there once."""
    titles = [each.title for each in entries(browser.app, browser.screen, {})]
    offered = {each.action: each for each in reversed(MAIN)} | {
        each.action: each for each in TRANSCRIPT if each.is_method
    }
    assert [each.title for each in offered.values() if each.title.capitalize() not in titles] == []
    assert "Theme" in titles


@pytest.mark.slow
async def test_the_palette_shows_keys_and_begins_with_what_works_here(tmp_path):
    """With the keys in the transcript its own commands come first; on another screen, those of that
    screen."""
    async with browsing(configured(tmp_path, '[keys]\nsort = "f7"\n'), (100, 40)) as browser:
        await browser.press("ctrl+p")
        assert _palette(browser)[0].strip() == "Find", "a heading"
        rows = {
            row.split("  ")[1].strip(): row.split() for row in _palette(browser) if row[0] == " "
        }
        assert "/" in rows["Search"] and "F7" in rows["Sort"] and "Ctrl+R" in rows["Searches"]
        await browser.press("escape", "tab", "ctrl+p")
        assert _palette(browser)[0].strip() == "Here"
        assert _palette(browser)[1].split()[:4] == ["Find", "here", "\\", "Ctrl+S"]
        await browser.press(*"copy", "space", *"id")
        assert _palette(browser)[0].split()[:3] == ["Copy", "id", "y"]
        await browser.press("escape", "escape", "P", "ctrl+p")
        assert _palette(browser)[1].split()[:2] == ["Filters", "/"]
        assert not any(row.split()[:1] == ["Search"] for row in _palette(browser))


@pytest.mark.slow
async def test_a_theme_is_shown_under_the_cursor(browser):
    """Esc brings the former one back, Enter keeps the new one."""
    before = browser.app.theme
    await browser.press("colon", *"theme", "enter", *"nord")
    assert browser.app.theme == "nord"
    await browser.press("escape")
    assert browser.app.theme == before
    await browser.press("colon", *"theme", "enter", *"nord", "enter")
    assert browser.app.theme == "nord"


@pytest.mark.slow
async def test_the_palette_quits_from_every_screen(browser):
    await browser.press("X", "ctrl+p", *"quit", "enter")
    assert browser.app._exit


@pytest.mark.slow
async def test_the_palette_does_what_the_pane_with_the_keys_does(browser):
    """A command of the transcript's own is done by the transcript."""
    await browser.press("tab")
    shown = browser.screen.transcript.page.look.tools
    await browser.press("ctrl+p", "t", "o", "o", "l", "s", "enter")
    await browser.settle()
    assert (
        browser.app.screen is browser.screen and browser.screen.transcript.page.look.tools != shown
    )


def _palette(browser):
    """What the palette lists."""
    options = browser.app.screen.query_one(OptionList)
    return [str(options.get_option_at_index(index).prompt) for index in range(options.option_count)]


# The help


def _told(browser):
    """What the help lists, with single spaces."""
    return " ".join(str(browser.app.screen.query_one("#told", Static).render()).split())


async def _help(browser, *keys):
    await browser.press(*keys, "question_mark")
    assert isinstance(browser.app.screen, HelpCard)
    return _told(browser)


def test_every_command_of_the_main_screen_has_a_task():
    """The help groups by it."""
    assert [
        each.id or each.action
        for each in (*MAIN, *LIST, *TRANSCRIPT, *LINES, *MAP, *APP)
        if not each.task
    ] == []


@pytest.mark.slow
async def test_help_has_every_key_of_the_pane_with_the_keys(tmp_path):
    """And no other: from the list none of the transcript, and the other way round."""
    async with on_demo(tmp_path, (80, 24)) as browser:
        told = await _help(browser)
        assert [each.help for each in MAIN if each.help not in told] == []
        assert (
            "Copy its code block" not in told
            and "Enter Ctrl+J Read it" in told
            and "Tab Ctrl+W → To the next pane" in told
        )
        assert "● live" in told and "words that begin so" in told
        await browser.press("escape")
        told = await _help(browser, "tab")
        own = {
            each.action: each
            for each in TRANSCRIPT
            if each.tooltip and "While finding" not in each.help
        }
        assert [each.help for each in own.values() if each.help not in told] == []
        assert "Enter Ctrl+J Unfold" in told and "Read it, at the hit" not in told
        assert "Mark this conversation" not in told, "Space is a page of the transcript here"


@pytest.mark.slow
async def test_help_on_other_screens_has_their_keys_and_signs(tmp_path):
    """A report has no rows, so no Enter; a map has keys while it has the focus."""
    async with on_demo(tmp_path, (120, 36)) as browser:
        told = await _help(browser, "H")
        assert (
            "Check everything again" in told
            and "Enter" not in told
            and "✗ error" in told
            and "⑂" not in told
        )
        await browser.press("escape", "escape")
        assert "the cutoff" in await _help(browser, "P")
        await browser.press("escape", "tab")
        assert "The map" in await _help(browser)


@pytest.mark.slow
async def test_help_is_narrowed_by_what_is_typed(tmp_path):
    """A word, a heading, a key, a sign; what works in another pane is found too; Esc clears, then
    closes."""
    async with on_demo(tmp_path, (100, 30)) as browser:
        every = await _help(browser)
        await browser.type("archive")
        assert "Archive, or unarchive" in _told(browser) and "To the next pane" not in _told(
            browser
        )
        await browser.press("escape")
        assert isinstance(browser.app.screen, HelpCard) and _told(browser) == every
        await browser.press("slash", "j", "s", "o", "n")
        assert "Save as Markdown" in _told(browser), "behind / every letter is typed"
        assert "In the transcript (Tab) & This message as it is stored" in _told(browser)
        await browser.press("enter", "j")
        assert browser.app.screen.query_one("#filter", Input).value == "json", "j moves again"
        await browser.press("escape", "D")
        assert _told(browser) == "To begin with D Move to the trash, after a question"
        browser.app.screen.query_one("#filter", Input).value = "●"
        await browser.settle()
        assert _told(browser).startswith("Signs in the list ● live")
        await browser.press("escape")
        await browser.search("tidy")
        assert "Rename this conversation" in _told(browser), "a heading has all of its rows"
        await browser.type(" zzz")
        assert "Nothing here is called “tidy zzz”" in _told(browser)
        await browser.press("escape", "escape")
        assert browser.app.screen is browser.screen


@pytest.mark.slow
@pytest.mark.parametrize("width, columns", [(80, 1), (120, 2), (200, 3)])
async def test_help_has_as_many_columns_as_fit(width, columns, tmp_path):
    """None is wider than the card, and no line is cut."""
    async with on_demo(tmp_path, (width, 36)) as browser:
        await _help(browser)
        lines = str(browser.app.screen.query_one("#told", Static).render()).split("\n")
        room = browser.app.screen.query_one("#help").scrollable_content_region.width
        assert max(map(cell_len, lines)) <= room
        assert lines[0].startswith("To begin with")
        assert len([each for each in re.split(r"\s{3,}", lines[0].strip()) if each]) == columns
