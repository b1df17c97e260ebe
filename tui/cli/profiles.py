"""`profiles`: list the stores of a Hermes root."""

from __future__ import annotations

from typing import NamedTuple

from hermes_browse.store.amounts import size
from hermes_browse.store.api import open_store
from hermes_browse.store.errors import RefusedError, StoreError
from hermes_browse.store.hermes.homes import Location, active_profile
from hermes_browse.store.wording import _

from .command_context import CommandContext, Subcommand
from .output import TableColumn, print_json, print_table


class _Profile(NamedTuple):
    """An entry of the document."""

    name: str | None
    path: str
    active: bool
    sessions: int | None
    bytes: int
    error: str | None


class ProfilesCommand(Subcommand):
    """List the store of the root and those of its profiles."""

    needs_files = True

    def run(self, context: CommandContext) -> int:
        root = context.location.root
        if root is None:
            raise RefusedError(
                _(
                    "{path} belongs to no Hermes root, so it has no profiles.",
                    path=context.location.path,
                ),
                remedy=_("Name a root with --home."),
            )
        active = active_profile(root) or "default"
        profiles = [_read_profile(location, active) for location in context.location.profiles()]
        if context.json:
            rows = [profile._asdict() for profile in profiles]
            print_json({"root": str(root), "active": active, "profiles": rows})
        else:
            print_table(_COLUMNS, profiles)
        return 0


def _read_profile(location: Location, active: str) -> _Profile:
    sessions: int | None = None
    error: str | None = None
    store = open_store(location)
    try:
        with store:
            sessions = store.summary().sessions
    except StoreError as problem:
        error = problem.sentence
    is_active, file_bytes = location.profile == active, store.store.sizes()[0]
    return _Profile(location.profile, str(location.path), is_active, sessions, file_bytes, error)


_COLUMNS: list[TableColumn[_Profile]] = [
    TableColumn("profile", lambda row: f"{'*' if row.active else ' '} {row.name}"),
    TableColumn("sessions", "sessions", True),
    TableColumn("size", "bytes", True, form=size),
    TableColumn("store", lambda row: row.error or row.path, is_flexible=True),
]
