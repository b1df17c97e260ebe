"""`serve --stdio`: what the browser of another machine runs here, over ssh."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Sequence

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hosts.link import Reply
from hermes_browse.store.hosts.serving import Server, redirect_standard_output
from hermes_browse.store.wording import _

from ..version import version
from .command_context import CommandContext, Subcommand
from .entry import run


class ServeCommand(Subcommand):
    """Answer questions from standard input until it ends."""

    takes_host = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--stdio", action="store_true", required=True, help=_("on standard input and output, the only way")
        )

    def run(self, context: CommandContext) -> int:
        location = context.location
        hello: Json = {"version": version(), "path": str(location.path), "profile": location.profile or ""}
        answers = redirect_standard_output()
        Server(context.store, lambda arguments: _reply(location, arguments), answers).serve(sys.stdin.buffer, hello)
        return 0


def _reply(location: Location, arguments: Sequence[str]) -> Reply:
    """Run a command line on the same store, and return what it printed."""
    store = ["--db", str(location.path)]
    if location.root is not None:
        store = ["--home", str(location.root), "--profile", location.profile or ""]
    printed = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(each, encoding="utf-8", write_through=True) for each in printed)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*store, *arguments])
    return Reply(code, *(each.getvalue().decode("utf-8", "replace") for each in printed))
