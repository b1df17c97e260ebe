"""No key does two things: within a screen or pane never, in a pane over its screen only where that
is meant."""

import importlib
import pkgutil
from collections import Counter

import pytest
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode

import hermes_browse.tui as tui
from hermes_browse.tui.browser.list.conversation_list import ConversationList
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.browser.other_stores import PlacesScreen
from hermes_browse.tui.browser.transcript.view import TranscriptView
from hermes_browse.tui.screens.cleanup.prune_screen import PruneScreen
from hermes_browse.tui.screens.cleanup.retention_screen import RetentionScreen
from hermes_browse.tui.screens.insights.screen import InsightsScreen
from hermes_browse.tui.screens.trash import TrashScreen

for _module in pkgutil.walk_packages(tui.__path__, f"{tui.__name__}."):
    if not _module.name.endswith("__main__"):
        importlib.import_module(_module.name)


def _below(kind):
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


OURS = sorted(
    {each for each in _below(DOMNode) if each.__module__.startswith(tui.__name__)},
    key=lambda each: each.__qualname__,
)


def _keys(bindings):
    """Each key with its action."""
    for each in bindings:
        binding = each if isinstance(each, Binding) else Binding(*each)
        yield from ((key.strip(), binding.action) for key in binding.key.split(","))


def _all_keys(kind):
    """What keys do in a class of ours, with what it inherits from others of ours."""
    found = {}
    for each in reversed(kind.__mro__):
        if each.__module__.startswith(tui.__name__):
            found |= dict(_keys(each.__dict__.get("BINDINGS", [])))
    return found


def test_there_is_something_to_look_at():
    assert {MainScreen, TranscriptView, PruneScreen} <= set(OURS) and any(
        issubclass(each, App) for each in OURS
    )


@pytest.mark.parametrize("kind", OURS, ids=lambda each: each.__qualname__)
def test_a_key_is_bound_once(kind):
    counts = Counter(key for key, _ in _keys(kind.__dict__.get("BINDINGS", [])))
    assert [key for key, count in counts.items() if count > 1] == []


@pytest.mark.parametrize(
    "screen, pane, meant",
    [
        # Reading has its own page, find and steps; t and r do there what they do from the list.
        (MainScreen, TranscriptView, {"space", "n", "N", "ctrl+s", "t", "r", "escape"}),
        (MainScreen, ConversationList, set()),
        (PlacesScreen, ConversationList, set()),
        (InsightsScreen, ConversationList, set()),
        (PruneScreen, ConversationList, set()),
        (RetentionScreen, ConversationList, set()),
        (TrashScreen, ConversationList, set()),
    ],
)
def test_a_pane_hides_no_key_of_its_screen(screen, pane, meant):
    outside, inside = _all_keys(screen), _all_keys(pane)
    assert {key for key in outside.keys() & inside.keys() if outside[key] != inside[key]} == meant
