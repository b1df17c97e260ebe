"""The keys written on cards are those in force: by default what they always were, and the user's
own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from browsing import NOW, Browser
from platforms import python

from hermes_browse.store.cleanup.sizes import FileSpace
from hermes_browse.store.compression.model_context import Memory
from hermes_browse.store.hermes.resume_command import ResumePlan
from hermes_browse.store.messages.details import read_details
from hermes_browse.store.trash.shelf import Bundle
from hermes_browse.tui.browser.edit.deleting import DeleteCard
from hermes_browse.tui.browser.edit.long_writes import ProgressCard
from hermes_browse.tui.browser.edit.naming import RenameCard
from hermes_browse.tui.browser.preflight import PreflightCard
from hermes_browse.tui.browser.switching import ProfilesCard
from hermes_browse.tui.browser.transcript.references import Reference, ReferenceKind, ReferencesCard
from hermes_browse.tui.screens.bundles import DropCard
from hermes_browse.tui.screens.cleanup.reclaim import Reclaim, ReclaimCard
from hermes_browse.tui.screens.exporting import ExportCard
from hermes_browse.tui.screens.help import HelpCard
from hermes_browse.tui.settings.keys.main_commands import MAIN
from hermes_browse.tui.settings.keys.screen_commands import CARDS
from hermes_browse.tui.widgets.card import Card


def _preflight(browser):
    conversation = browser.screen.catalog.select()[0]
    plan = ResumePlan(
        ("hermes",), {}, conversation, conversation.id, "the tip", executable="/bin/hermes"
    )
    with browser.app.store.reader() as reader:
        details = read_details(reader, conversation)
    return PreflightCard(plan, [], details, Memory(frozenset(), (), 0, False))


def _reclaim(executable):
    return ReclaimCard(Reclaim(("hermes",), "/home", executable, FileSpace(9, 1, 0), 99))


def _drop(browser):
    bundle = Bundle("b", Path("b"), NOW, ("a",), ("a",), 1, 1, "title", "state.db")
    return DropCard([bundle])


def _references(browser):
    link = Reference(ReferenceKind.LINK, "/x")
    return ReferencesCard(browser.screen, browser.screen.copying.pictures, "title", [link])


class _Case(NamedTuple):
    """A card, and what stands at its bottom."""

    make: Callable[[Browser], Card[Any]]
    line: str


CASES = {
    "help": _Case(lambda it: HelpCard(it.screen, MAIN), "/ filter · Esc back"),
    "references": _Case(_references, "Enter open · c copy · Esc back"),
    "profiles": _Case(
        lambda it: ProfilesCard(it.screen.location, NOW, has_hosts=False),
        "Enter open · a all profiles as one list · Esc back",
    ),
    "export": _Case(
        lambda it: ExportCard(it.screen, it.screen.catalog.select()[:1]),
        "Enter save · ↓ ↑ format · Ctrl+R secrets · Ctrl+L everything · Esc back",
    ),
    "reclaim": _Case(
        lambda _: _reclaim("/bin/hermes"), "y run it here · c copy the command · Esc back"
    ),
    "reclaim without": _Case(lambda _: _reclaim(None), "c copy the command · Esc back"),
    "preflight": _Case(_preflight, "y resume · c copy the command · Esc back"),
    "rename": _Case(
        lambda it: RenameCard(it.screen.catalog.select()[0]),
        "Enter rename · Esc back",
    ),
    "progress": _Case(
        lambda _: ProgressCard("title"), "Esc stops; what is done stays done, and can be undone"
    ),
    "drop": _Case(_drop, "1 and Enter delete for good · Esc back"),
}


def line(browser):
    """What stands at the bottom of the card on top."""
    return str(browser.app.screen.query_one("#answer").render())


@pytest.mark.slow
async def test_every_card_tells_its_keys(browser):
    """As they are where nothing is set."""
    told = {}
    for name, case in CASES.items():
        browser.app.push_screen(case.make(browser))
        await browser.settle()
        told[name] = line(browser)
        browser.app.pop_screen()
    assert told == {name: case.line for name, case in CASES.items()}
    await browser.press("ctrl+r")
    assert line(browser) == "Enter take · Ctrl+S keep ★ · F2 rename tag · Del forget · Esc back"
    await browser.press("escape", "down", "D")
    assert isinstance(browser.app.screen, DeleteCard) and line(browser) == "y delete · Esc back"
    await browser.press("escape", "down", "space", "space", "D")
    assert line(browser) == "2 and Enter delete · Esc back"
    await browser.press("7", "enter")
    assert line(browser) == "that is not 2 · nothing is deleted · Esc back"
    await browser.press("backspace", "2")
    assert line(browser) == "2 and Enter delete · Esc back"


@pytest.mark.slow
async def test_the_command_that_shrinks_the_file_is_copied_as_all_else(browser, monkeypatch):
    """By the best route there is, which the answer names."""
    copied = []
    monkeypatch.setattr(
        "hermes_browse.tui.terminal.programs.run_tool",
        lambda text, tools: copied.append(text) or "copied with wl-copy",
    )
    browser.app.push_screen(_reclaim(None))
    await browser.settle()
    await browser.press("c")
    await browser.settle()
    assert copied == ["HERMES_HOME=/home hermes"]
    assert line(browser) == "copied with wl-copy · Esc back" and browser.app.clipboard == ""


@pytest.mark.slow
def test_no_card_is_loaded_while_the_browser_starts():
    """Not for a key of one either: each takes its name with it when it comes."""
    text = '[keys]\ndetails-copy = "x"\n'
    program = (
        "import sys; from pathlib import Path; import hermes_browse.tui.app; "
        "from hermes_browse.tui.settings.keymap import keymap_and_trouble; "
        "from hermes_browse.tui.settings.read_config import parse_config; "
        f"keymap, trouble = keymap_and_trouble(parse_config({text!r}, Path('config.toml')), ()); "
        "assert keymap and not trouble, trouble; "
        "print(*(each for each in sys.modules if each.startswith('hermes_browse.tui.')))"
    )
    ended = python(program)
    loaded = {each.rpartition(".")[2] for each in ended.split()}
    assert "main" in loaded and not loaded & {"switching", "card", *CARDS}


@pytest.mark.slow
@pytest.mark.parametrize("keys, where", [("s", "#choices"), ("I7", "#groups")])
async def test_clicks_that_come_together_leave_one_screen(browser, keys, where):
    """A double click on an option left the card and then what stands below it, which ended the
    browser; so did three clicks on a row."""
    await browser.press(*keys)
    rows = browser.app.screen.query_one(where)
    rows.action_select()
    rows.action_select()
    await browser.settle()
    assert browser.app.screen is browser.screen
