"""`serve --stdio`: what the browser of another machine runs here, over ssh."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hosts.calls import Called
from hermes_browse.store.hosts.codec import PROTOCOL
from hermes_browse.store.hosts.link import SERVE, Reply
from hermes_browse.store.hosts.serving import Server, limit_memory, take_standard_streams
from hermes_browse.store.wording import ENGLISH, _, speak

from ..config.folders import chosen_language
from ..version import version
from .calls import CARRIED_OUT_BY
from .command_context import CommandContext, Subcommand
from .entry import USAGE, ended
from .output import complain
from .registry import load

_FLAG = "--allow-changes"
_NEVER: Json = {"all_profiles": False, "all_hosts": False, "old": False, "yes": False}
"""Arguments of commands that no caller chooses, unless a call has one of that name."""
_PRINTED = 64_000_000
"""Bytes that a call may print."""


class _Printed(io.BytesIO):
    """What a call prints, up to a limit."""

    def write(self, data: io.BytesIO | bytes) -> int:  # type: ignore[override]  # bytes are all that is written
        if self.tell() + len(data) > _PRINTED:  # type: ignore[arg-type]
            raise RefusedError(
                _("This answer is too large to be sent."), remedy=_("Ask for less, with --limit.")
            )
        return super().write(data)  # type: ignore[arg-type]


class ServeCommand(Subcommand):
    """Answer questions from standard input until it ends."""

    takes_host = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--stdio",
            action="store_true",
            required=True,
            help=_("on standard input and output, the only way"),
        )
        changes_help = _(
            "also archive, pin, rename, delete, restore and clean up; without it nothing is changed"
        )
        parser.add_argument(_FLAG, action="store_true", dest="may_change", help=changes_help)

    def start(self, arguments: SimpleNamespace) -> int:
        """Serve, unless a key that may only do this was used for something else."""
        wanted = os.environ.get("SSH_ORIGINAL_COMMAND", "").removesuffix(_FLAG).rstrip()
        if wanted and not wanted.endswith(" ".join(SERVE)):
            raise RefusedError(_only_serves())
        return super().start(arguments)

    def run(self, context: CommandContext) -> int:
        location = context.location
        hello: Json = {
            "version": version(),
            "path": str(location.path),
            "profile": location.profile or "",
            "protocol": PROTOCOL,
        }
        limit_memory()
        questions, answers = take_standard_streams()
        run = partial(carry_out_call, location)
        Server(
            context.store, location, run, answers, may_change=context.arguments.may_change
        ).serve(questions, hello)
        return 0


def _only_serves() -> str:
    """Return the sentence for a command that sshd has replaced by this one (`command=` in
    authorized_keys)."""
    return _(
        "This key may only serve the browser of another machine; no other command is run with it."
    )


def carry_out_call(location: Location, call: Called, stop: Callable[[], bool]) -> Reply:
    """Carry out a call on the store at a location; `stop` is polled by changes that take long."""
    command_name, fixed = CARRIED_OUT_BY[call.name]
    command = load(command_name)
    arguments = SimpleNamespace(**{**_NEVER, **call.values, **fixed, "command": command_name})
    speak(ENGLISH if arguments.json else chosen_language())

    def work() -> int:
        if message := command.contradiction(arguments):
            complain(message)
            return USAGE
        try:
            return command.run(CommandContext(arguments, location, stop))
        except MemoryError:
            raise RefusedError(_("This takes more memory than a question may have.")) from None

    printed = _Printed(), _Printed()
    out, err = (
        io.TextIOWrapper(each, encoding="utf-8", errors="replace", write_through=True)
        for each in printed
    )
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = ended(work)
    return Reply(code, *(each.getvalue().decode("utf-8", "replace") for each in printed))
