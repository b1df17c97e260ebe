"""Calls of `serve`, and the command that carries each out; see `store.hosts.calls` for their arguments."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from types import SimpleNamespace

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hosts.calls import CALLS
from hermes_browse.store.hosts.link import Reply
from hermes_browse.store.wording import ENGLISH, _, speak

from ..config.folders import chosen_language
from .command_context import CommandContext
from .entry import USAGE, ended
from .output import complain
from .registry import load

_COMMANDS: Mapping[str, tuple[str, Json]] = {
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
_NEVER: Json = {"all_profiles": False, "all_hosts": False, "old": False, "yes": False}
"""Arguments of commands that no caller chooses, unless a call has one of that name."""
_ELSEWHERE = {"command", "json", "host", "home", "profile", "db", "demo", "or_demo", "debug", "version"}
_ELSEWHERE |= {"plain", "print_command", "all_hosts"}
"""Arguments that say which store is meant, and how to print."""
_PRINTED = 64_000_000
"""Bytes that a call may print."""


class _Printed(io.BytesIO):
    """What a call prints, up to a limit."""

    def write(self, data: io.BytesIO | bytes) -> int:  # type: ignore[override]  # bytes are all that is written
        if self.tell() + len(data) > _PRINTED:  # type: ignore[arg-type]
            raise RefusedError(_("This answer is too large to be sent."), remedy=_("Ask for less, with --limit."))
        return super().write(data)  # type: ignore[arg-type]


def call_of(arguments: SimpleNamespace) -> tuple[str, Json] | None:
    """Return the call that does what a parsed command line says, and its arguments; None if there is none."""
    name = _name_of(arguments)
    if name is None:
        return None
    parameters = CALLS[name].parameters
    fixed = _COMMANDS[name][1]
    others = vars(arguments).keys() - parameters.keys() - fixed.keys() - _ELSEWHERE
    if any(getattr(arguments, each) for each in others):
        return None
    return name, {each: getattr(arguments, each) for each in parameters if hasattr(arguments, each)}


def _name_of(arguments: SimpleNamespace) -> str | None:
    if arguments.command == "prune":
        changes = (arguments.archive or arguments.delete) and not arguments.dry_run
        return "clean_up" if changes else "plan"
    for name, (command, fixed) in _COMMANDS.items():
        if command == arguments.command and all(getattr(arguments, key) == value for key, value in fixed.items()):
            return name
    return None


def carry_out_call(location: Location, name: str, values: Json, stop: Callable[[], bool]) -> Reply:
    """Carry out a call on one store.

    Args:
        location: The store.
        name: Of the call.
        values: All of its arguments, checked.
        stop: Polled by changes that take long.
    """
    command_name, fixed = _COMMANDS[name]
    command = load(command_name)
    arguments = SimpleNamespace(**{**_NEVER, **values, **fixed, "command": command_name})
    speak(ENGLISH if arguments.json else chosen_language())

    def work() -> int:
        if message := command.contradiction(arguments):
            complain(message)
            return USAGE
        return command.run(CommandContext(arguments, location, stop))

    printed = _Printed(), _Printed()
    out, err = (io.TextIOWrapper(each, encoding="utf-8", errors="replace", write_through=True) for each in printed)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = ended(work)
    return Reply(code, *(each.getvalue().decode("utf-8", "replace") for each in printed))
