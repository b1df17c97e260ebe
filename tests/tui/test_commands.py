"""The tables of commands and what is made from them: nothing is called that is not there, and nothing is left over."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from browsing import browsing, demo_app
from textual.dom import DOMNode

from hermes_browse.tui.app import BrowseApp
from hermes_browse.tui.cleanup.prune import SWITCHES
from hermes_browse.tui.cleanup.widgets import TreeMap
from hermes_browse.tui.commands import Command
from hermes_browse.tui.commands.panes import APP, ASK, LINES, LIST, MAIN, MAP, SEARCH_BOX, TRANSCRIPT
from hermes_browse.tui.commands.screens import CARDS, SCREENS
from hermes_browse.tui.config.keymap import known_commands
from hermes_browse.tui.insights.panes import TABS
from hermes_browse.tui.list.conversation_list import ConversationList
from hermes_browse.tui.screens.card import Card
from hermes_browse.tui.screens.sub_screen import SubScreen
from hermes_browse.tui.search.box import SearchBox
from hermes_browse.tui.shared.key_names import key_names
from hermes_browse.tui.shared.lines import LinesView
from hermes_browse.tui.transcript.ask_line import AskInput
from hermes_browse.tui.transcript.view import TranscriptView

KEYS = Path(__file__).resolve().parents[2] / "docs" / "keys.md"
_MODULES = {
    "compactions": "compression.screen",
    "deleting": "edit.deleting",
    "doctor": "doctor.screen",
    "dropping": "trash.bundles",
    "everywhere": "profiles.everywhere",
    "exporting": "export.exporting",
    "preflight": "resume.preflight",
    "progress": "edit.progress",
    "renaming": "edit.renaming",
    "searches": "search.searches",
    "insights": "insights.screen",
    "profiles": "profiles.card",
    "prune": "cleanup.prune",
    "raw": "transcript.cards",
    "details": "transcript.cards",
    "references": "transcript.references",
    "reclaim": "cleanup.reclaim",
    "retention": "cleanup.retention",
    "trash": "trash.screen",
}
"""Modules of screens and cards that are not in `tui/screens`, or are called otherwise than their commands."""


def _class_of(place: str) -> type[DOMNode]:
    """The screen or card that has the commands of a place."""
    module = importlib.import_module(f"hermes_browse.tui.{_MODULES.get(place, f'screens.{place}')}")
    table = {**SCREENS, **CARDS}[place]
    found = [each for each in vars(module).values() if isinstance(each, type) and vars(each).get("KEYS") is table]
    assert len(found) == 1, place
    return found[0]


OF_WIDGETS: list[tuple[type[DOMNode], tuple[Command, ...]]] = [
    (BrowseApp, APP),
    (ConversationList, LIST),
    (TranscriptView, TRANSCRIPT),
    (LinesView, LINES),
    (TreeMap, MAP),
    (SearchBox, SEARCH_BOX),
    (AskInput, ASK),
]


def _is_there(kind: type[DOMNode], command: Command) -> bool:
    """Whether a class has the action a command names."""
    name = re.split(r"[(.]", command.action, maxsplit=1)[0]
    return command.action.startswith("screen.do(") or hasattr(kind, f"action_{name}")


def _asked_for(command: Command) -> str | None:
    """What a command has the main screen do."""
    found = re.fullmatch(r"(?:screen\.)?do\('([\w-]+)'\)", command.action)
    return found[1] if found is not None else None


async def test_every_command_is_called_and_every_callee_has_one(tmp_path: Path) -> None:
    async with browsing(demo_app(tmp_path)) as browser:
        asked_for = {_asked_for(each) for each in (*MAIN, *TRANSCRIPT)} - {None}
        assert asked_for == set(browser.screen.callees)
        assert None not in {_asked_for(each) for each in MAIN}


@pytest.mark.parametrize(("kind", "table"), OF_WIDGETS)
def test_widgets_have_the_actions_of_their_commands(kind: type[DOMNode], table: tuple[Command, ...]) -> None:
    assert [each for each in table if not _is_there(kind, each)] == []


@pytest.mark.parametrize("place", [*SCREENS, *CARDS])
def test_screens_have_the_actions_of_their_commands(place: str) -> None:
    """And every command of a place is called after it, so that nobody has to know more than the name."""
    kind, table = _class_of(place), {**SCREENS, **CARDS}[place]
    assert [each for each in table if not _is_there(kind, each)] == []
    assert [each.id for each in table if each.id and not each.id.startswith(f"{place}-")] == []


def test_every_screen_and_card_has_a_table() -> None:
    """One that is new has to have its keys among the others."""
    known = {_class_of(place) for place in (*SCREENS, *CARDS)}
    below: list[type[Any]] = [*Card.__subclasses__(), *SubScreen.__subclasses__()]
    while below:
        each = below.pop()
        below += each.__subclasses__()
        if each.__module__.startswith("hermes_browse.") and ({"BINDINGS", "KEYS"} & vars(each).keys()):
            assert each in known, each


def test_no_two_commands_are_called_alike() -> None:
    counts = Counter((each.place, each.id) for each in known_commands() if each.id)
    assert [each for each, count in counts.items() if count > 1] == []
    of_place = Counter(each.id for each in known_commands() if each.id)
    assert [each for each, count in of_place.items() if count > 1] == []


def test_numbers_switch_what_is_shown() -> None:
    """The names of the switches are those of their commands."""
    for table, call, names in (
        (SCREENS["prune"], "switch", [name for name, _ in SWITCHES]),
        (SCREENS["insights"], "choose", [name for name, _ in TABS]),
    ):
        numbered = [each for each in table if each.call.startswith(f"{call}(")]
        assert [each.title for each in numbered] == names
        assert [each.keys for each in numbered] == [str(number) for number in range(1, len(names) + 1)]
        assert [each.call for each in numbered] == [f"{call}({number})" for number in range(len(names))]


def test_the_documents_name_keys_that_there_are() -> None:
    """Each key in its table does something in the list, in the transcript, or everywhere."""
    table = KEYS.read_text(encoding="utf-8").split("| key | does |")[1].split("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")]
    named = {key for cell in cells for key in re.findall(r"`([^`]+)`", cell)}
    known = {key_names(key) for each in (*MAIN, *LIST, *TRANSCRIPT, *APP) for key in each.key_names}
    assert len(named) > 30 and {key[:1].upper() + key[1:] if len(key) > 1 else key for key in named} <= known
