"""Screens, cards and rare functions by name, imported on first use: the first frame does without
them, and the screens import the main one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

PLACES = {
    "changes": "tui.changes.screen.ChangesScreen",
    "compactions": "tui.compression.screen.CompactionsScreen",
    "copying": "tui.transcript.copying.Copying",
    "count-lost": "tui.lineage.reading.count_lost",
    "details": "tui.transcript.cards.show_details",
    "doctor": "tui.doctor.screen.DoctorScreen",
    "expire": "store.trash.shelf.expire",
    "export": "tui.export.exporting.ask_and_export",
    "family": "tui.lineage.reading.read_family",
    "finding": "tui.transcript.finding.Finding",
    "help": "tui.screens.help.HelpCard",
    "hosts-card": "tui.profiles.hosts_card.HostsCard",
    "insights": "tui.insights.screen.InsightsScreen",
    "keymap": "tui.config.keymap.keymap_and_trouble",
    "measuring": "tui.list.measuring.Measuring",
    "old": "tui.legacy.old_screen.OldScreen",
    "old-transcripts": "tui.legacy.old_screen.read_old_transcripts",
    "palette": "tui.screens.palette.open_palette",
    "parse-age": "store.ages.parse_age",
    "merged-places": "tui.profiles.places_screen.read_places",
    "places": "tui.profiles.places_screen.PlacesScreen",
    "prune": "tui.cleanup.prune_screen.PruneScreen",
    "run": "tui.run.screen.RunScreen",
    "resuming": "tui.resume.resuming.Resuming",
    "retention": "tui.cleanup.retention_screen.RetentionScreen",
    "seen-here": "tui.compression.seen_here.toggle_seen_here",
    "sort": "tui.screens.palette.choose_sort",
    "switching": "tui.profiles.switching.Switching",
    "trash": "tui.trash.screen.TrashScreen",
}
"""Module in `hermes_browse`, and its class or function."""


def load(name: str) -> Any:
    """Import a class or function; for a screen, `name` is the id of the command that opens it."""
    module, _, attribute = PLACES[name].rpartition(".")
    return getattr(import_module(f"hermes_browse.{module}"), attribute)
