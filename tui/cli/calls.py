"""Calls of `serve`, and the command that carries each out; see `store.hosts.calls` for their
arguments."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.hosts.calls import CALLS

from .prune_line import OPTIONS, line_of

CARRIED_OUT_BY: Mapping[str, tuple[str, Json]] = {
    "list": ("list", {}),
    "search": ("search", {}),
    "stats": ("stats", {}),
    "lineage": ("lineage", {}),
    "cautions": ("resume", {"print_only": True}),
    "plan": ("prune", {"dry_run": True}),
    "trash": ("trash", {"action": "list"}),
    "archive": ("archive", {}),
    "unarchive": ("unarchive", {}),
    "pin": ("pin", {}),
    "unpin": ("unpin", {}),
    "rename": ("rename", {}),
    "delete": ("delete", {}),
    "restore": ("trash", {"action": "restore"}),
    "clean_up": ("prune", {"dry_run": False}),
}
"""By call: the command, and those of its arguments that no caller chooses."""
_ELSEWHERE = {
    "command",
    "json",
    "host",
    "home",
    "profile",
    "db",
    "demo",
    "or_demo",
    "debug",
    "version",
}
_ELSEWHERE |= {"plain", "print_command", "all_hosts"}
"""Arguments that say which store is meant, and how to print."""


def call_of(arguments: SimpleNamespace) -> tuple[str, Json] | None:
    """Return the call that does what a parsed command line says, and its arguments; None if there
    is none."""
    name = _name_of(arguments)
    if name is None:
        return None
    if arguments.command == "prune":
        arguments = _as_query(arguments)
    parameters = CALLS[name].__struct_fields__
    fixed = CARRIED_OUT_BY[name][1]
    others = vars(arguments).keys() - set(parameters) - fixed.keys() - _ELSEWHERE
    if any(getattr(arguments, each) for each in others):
        return None
    return name, {each: getattr(arguments, each) for each in parameters if hasattr(arguments, each)}


def _as_query(arguments: SimpleNamespace) -> SimpleNamespace:
    """Return the arguments of `prune` with its options as parts of its query."""
    others = {name: value for name, value in vars(arguments).items() if name not in OPTIONS}
    line = line_of(arguments)
    return SimpleNamespace(**others | {"query": [line] if line else []})


def _name_of(arguments: SimpleNamespace) -> str | None:
    if arguments.command == "prune":
        changes = (arguments.archive or arguments.delete) and not arguments.dry_run
        return "clean_up" if changes else "plan"
    for name, (command, fixed) in CARRIED_OUT_BY.items():
        if command == arguments.command and all(
            getattr(arguments, key) == value for key, value in fixed.items()
        ):
            return name
    return None
