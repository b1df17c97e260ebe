"""Modules that are imported by the first call of a function in them: the first rows on screen need
few of them, and importing all takes longer than reading those rows.

`later.transcript.read_outline` stands for the function; `call.py` has an example.
"""

# The names are for those who import this module.
# mypy: implicit-reexport
# ruff: noqa: F401

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .changes import blame, changes, run
    from .cleanup import bulk, plan, retention, sizes
    from .compression import compactions, losses, model_context
    from .edit import delete, delete_plan, flags, restore
    from .export import files, jsonl, redact, source
    from .hermes import health, resume_command
    from .hosts import connection, remote, ssh
    from .insights import facts, sums
    from .messages import decode, details, transcript
    from .notes import notes_file, tagging
    from .places import old_transcripts
    from .search import coverage, found, query, scope, suggestions
    from .sessions import catalog, first_page, lineage, list_page, session_rows
    from .since import cron_runs, since
    from .trash import session_files, shelf

_MODULES = (
    "changes.blame", "changes.changes", "changes.run",
    "cleanup.bulk", "cleanup.plan", "cleanup.retention", "cleanup.sizes",
    "compression.compactions", "compression.losses", "compression.model_context",
    "edit.delete", "edit.delete_plan", "edit.flags", "edit.restore",
    "export.files", "export.jsonl", "export.redact", "export.source",
    "hermes.health", "hermes.resume_command",
    "hosts.connection", "hosts.remote", "hosts.ssh",
    "insights.facts", "insights.sums",
    "messages.decode", "messages.details", "messages.transcript",
    "notes.notes_file", "notes.tagging",
    "places.old_transcripts",
    "search.coverage", "search.found", "search.query", "search.scope", "search.suggestions",
    "sessions.catalog", "sessions.first_page", "sessions.lineage", "sessions.list_page",
    "sessions.session_rows",
    "since.cron_runs", "since.since",
    "trash.session_files", "trash.shelf",
)  # fmt: skip
"""The same, with their folders."""


class Later:
    """Such a module, or a function of it."""

    def __init__(self, module: str, name: str = "") -> None:
        self._module, self._name = module, name

    def __getattr__(self, name: str) -> Later:
        return Later(self._module, name)

    @property
    def __wrapped__(self) -> Any:
        """The function itself, for `inspect`."""
        module = import_module(f".{self._module}", __package__)
        return getattr(module, self._name)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self.__wrapped__(*args, **kwargs)


def __getattr__(name: str) -> Later:
    for module in _MODULES:
        if module.endswith(f".{name}"):
            return Later(module)
    raise AttributeError(name)
