"""Screens, cards and rare functions by name, imported on first use: the first frame does without
them, and the screens import the main one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

IMPORTS = {
    "changes": "tui.screens.changes.ChangesScreen",
    "compactions": "tui.screens.compactions.CompactionsScreen",
    "copying": "tui.browser.transcript.copying.Copying",
    "details": "tui.browser.transcript.cards.show_details",
    "doctor": "tui.screens.doctor.DoctorScreen",
    "edits": "tui.browser.edit.edits.Edits",
    "export": "tui.screens.exporting.ExportCard",
    "finding": "tui.browser.transcript.finding.Finding",
    "help": "tui.screens.help.HelpCard",
    "insights": "tui.screens.insights.screen.InsightsScreen",
    "keymap": "tui.settings.keymap.keymap_and_trouble",
    "measuring": "tui.browser.list.measuring.Measuring",
    "old": "tui.browser.places.old_screen.OldScreen",
    "old-transcripts": "tui.browser.places.old_screen.read_old_transcripts",
    "palette": "tui.screens.palette.open_palette",
    "places": "tui.browser.places.places_screen.PlacesScreen",
    "prune": "tui.screens.cleanup.prune_screen.PruneScreen",
    "query-line": "tui.browser.search.query_line.QueryLine",
    "run": "tui.screens.run.RunScreen",
    "resuming": "tui.browser.resume.resuming.Resuming",
    "retention": "tui.screens.cleanup.retention_screen.RetentionScreen",
    "search": "tui.browser.search.search.LiveSearch",
    "searches": "tui.browser.search.searches.SearchesCard",
    "seen-here": "tui.screens.inspection.toggle_seen_here",
    "since": "tui.screens.since.SinceScreen",
    "sort": "tui.screens.palette.choose_sort",
    "switching": "tui.browser.places.switching.Switching",
    "trash": "tui.screens.trash.TrashScreen",
}
"""Module in `hermes_browse`, and its class or function."""


def load(name: str) -> Any:
    """Import a class or function; for a screen, `name` is the id of the command that opens it."""
    module, _, attribute = IMPORTS[name].rpartition(".")
    return getattr(import_module(f"hermes_browse.{module}"), attribute)
