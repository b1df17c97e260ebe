"""Import screens, cards and some other classes by name on first use, to keep the start fast."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES = {
    "bundle": ".trash.inside.BundleScreen",
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
    "tree": ".compression.rows.read_tree",
    "tree-rows": ".compression.rows.tree_rows",
}
"""Module, relative to this folder or with a dot to `tui`, and class, or the function that opens a card."""


def load(name: str) -> Any:
    """Import a class or function; for a screen, `name` is the id of the command that opens it."""
    module, _, attribute = _PLACES[name].rpartition(".")
    return getattr(import_module(f".{module}", __package__), attribute)
