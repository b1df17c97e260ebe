"""`profiles`: the store of the root, and those of its profiles."""

from __future__ import annotations

from hermes_browse.store.amounts import size
from hermes_browse.store.api import open_store
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import StoreError
from hermes_browse.store.hermes.homes import Location, active_profile

from .command import StoreCommand
from .output import TableColumn, print_table
from .stores import profiles_of


class ProfilesCommand(StoreCommand):
    """List the store of the root and those of its profiles."""

    needs_files = True

    def run(self) -> None:
        locations, root = profiles_of(self.store.location), self.store.location.root
        active = (root and active_profile(root)) or "default"
        profiles = [_profile_json(location, active) for location in locations]
        self.give(
            {"root": str(root), "active": active, "profiles": profiles},
            print_table,
            _COLUMNS,
            profiles,
        )


def _profile_json(location: Location, active: str) -> Json:
    """Build an entry of the document."""
    store, sessions, error = open_store(location), None, None
    try:
        with store:
            sessions = store.summary().sessions
    except StoreError as problem:
        error = problem.sentence
    return {
        "name": location.profile,
        "path": str(location.path),
        "active": location.profile == active,
        "sessions": sessions,
        "bytes": store.source.sizes()[0],
        "error": error,
    }


_COLUMNS = [
    TableColumn("profile", lambda row: f"{'*' if row['active'] else ' '} {row['name']}"),
    TableColumn("sessions", "sessions", right=True),
    TableColumn("size", "bytes", right=True, form=size),
    TableColumn("store", lambda row: row["error"] or row["path"], is_flexible=True),
]
