"""The Hermes plug-in that adds `hermes browse`.

Hermes (0.19) looks for entry points in the group `hermes_agent.plugins`, imports those listed in
`plugins.enabled` of its configuration, and calls `register`. It does so in each of its processes,
gateways included, so expensive imports wait until the command runs.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Protocol

from . import main

HELP = "Browse, search, resume and clean up conversations (hermes-browse)"  # Hermes speaks English
_STORES = ("--home", "--db", "--demo", "--host")


class PluginContext(Protocol):
    """The part of Hermes' plug-in interface used here (`hermes_cli.plugins.PluginContext`,
    0.19)."""

    def register_cli_command(
        self,
        name: str,
        help: str,
        setup_fn: Callable[[argparse.ArgumentParser], None],
        handler_fn: Callable[[argparse.Namespace], None] | None = None,
        description: str = "",
    ) -> None:
        """Add a command to `hermes`."""


def register(ctx: PluginContext) -> None:
    """Add `hermes browse`; Hermes calls this when it loads the plug-in."""
    ctx.register_cli_command("browse", HELP, _take_everything, _browse, HELP)


def _take_everything(parser: argparse.ArgumentParser) -> None:
    """Accept all words after `hermes browse` as arguments, `--help` included.

    argparse recognizes options by prefix characters; without any, every word is an argument.
    """
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    parser.prefix_chars = ""


def arguments_for(words: Sequence[str], home: str | None) -> list[str]:
    """Return our arguments for the words after `hermes browse`.

    When the command runs, Hermes has resolved the profile (`-p NAME` anywhere, a sticky profile,
    HERMES_HOME) and set HERMES_HOME to its folder. We pass that on as --home; otherwise we would
    read the sticky profile again, and it would override `hermes -p default browse`.

    Args:
        words: As typed.
        home: HERMES_HOME as set by Hermes; None or empty for the default root.
    """
    end = list(words).index("--") if "--" in words else len(words)
    names_store = any(word.partition("=")[0] in _STORES for word in words[:end])
    return [*words] if names_store or not home else ["--home", home, *words]


def _browse(arguments: argparse.Namespace) -> None:
    # Hermes 0.19 ignores the result of a handler, so raise the exit code.
    sys.exit(main(arguments_for(arguments.arguments, os.environ.get("HERMES_HOME", "").strip())))
