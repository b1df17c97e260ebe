"""Modules that are imported by the first call of a function in them: the first rows on screen need
few of them, and importing all takes longer than reading those rows.

`later.transcript.read_outline` stands for the function; `call.py` has an example.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .changes import blame as blame
    from .changes import changes as changes
    from .changes import run as run
    from .cleanup import bulk as bulk
    from .cleanup import plan as plan
    from .cleanup import retention as retention
    from .cleanup import sizes as sizes
    from .compression import compactions as compactions
    from .compression import losses as losses
    from .compression import model_context as model_context
    from .edit import delete as delete
    from .edit import delete_plan as delete_plan
    from .edit import flags as flags
    from .edit import restore as restore
    from .export import files as files
    from .export import jsonl as jsonl
    from .export import redact as redact
    from .export import source as source
    from .hermes import health as health
    from .hermes import resume_command as resume_command
    from .hosts import connection as connection
    from .hosts import remote as remote
    from .hosts import ssh as ssh
    from .insights import facts as facts
    from .insights import sums as sums
    from .messages import decode as decode
    from .messages import details as details
    from .messages import transcript as transcript
    from .notes import notes_file as notes_file
    from .notes import tagging as tagging
    from .places import old_transcripts as old_transcripts
    from .search import coverage as coverage
    from .search import found as found
    from .search import query as query
    from .search import scope as scope
    from .search import suggestions as suggestions
    from .sessions import catalog as catalog
    from .sessions import first_page as first_page
    from .sessions import lineage as lineage
    from .sessions import list_page as list_page
    from .sessions import session_rows as session_rows
    from .since import cron_runs as cron_runs
    from .since import since as since
    from .trash import session_files as session_files
    from .trash import shelf as shelf

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
