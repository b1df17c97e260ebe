"""What is loaded when it is first needed, screens and cards above all: the browser starts without it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES = {
    "compactions": ".compression.screen.CompactionsScreen",
    "details": ".transcript.cards.show_details",
    "doctor": ".doctor.screen.DoctorScreen",
    "everywhere": ".profiles.everywhere.EverywhereScreen",
    "export": ".export.exporting.ask_and_export",
    "help": "help.HelpScreen",
    "here": ".compression.here.toggle_here",
    "measuring": ".list.measuring.Measuring",
    "insights": ".insights.screen.InsightsScreen",
    "old": ".legacy.old_screen.OldScreen",
    "prune": ".cleanup.prune.PruneScreen",
    "retention": ".cleanup.retention.RetentionScreen",
    "trash": ".trash.screen.TrashScreen",
}
"""Module, from this folder, and class, or the function that reads what a card shows before it opens it."""


def load(name: str) -> Any:
    """A class, or the function that opens a card.

    Args:
        name: One of the table; for a screen that a command opens, the id of that command.
    """
    module, _, attribute = _PLACES[name].rpartition(".")
    return getattr(import_module(f".{module}", __package__), attribute)
