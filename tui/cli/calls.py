"""What another machine may ask of `serve`, and the command that carries each out; see
`store.hosts.calls` for their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.hosts.calls import CALLS

CARRIED_OUT_BY: Mapping[str, tuple[str, Json]] = {
    **{name: (name, {}) for name in ("list", "search", "stats", "lineage")},
    **{name: (name, {}) for name in ("archive", "unarchive", "pin", "unpin", "rename", "delete")},
    "cautions": ("resume", {"print_only": True}),
    "plan": ("prune", {"dry_run": True}),
    "trash": ("trash", {"action": "list"}),
    "restore": ("trash", {"action": "restore"}),
    "clean_up": ("prune", {"dry_run": False}),
}
"""By call: the command, and those of its arguments that no caller chooses."""
_ASKED = ("delete", "trash", "restore")


def call_of(arguments: SimpleNamespace) -> tuple[str, Json] | None:
    """Return the call that does what a command line says, and its arguments; None if none does."""
    for name in _ASKED:
        command, fixed = CARRIED_OUT_BY[name]
        given = vars(arguments)
        is_asked = given["command"] == command and fixed.items() <= given.items()
        parameters = CALLS[name].__struct_fields__
        if is_asked and (name != "restore" or not arguments.yes):
            return name, {parameter: given[parameter] for parameter in parameters}
    return None
