"""`hermes browse`: what Hermes loads when this plug-in is enabled.

Hermes (0.19) looks for distributions with an entry point in the group `hermes_agent.plugins`, loads the module of
those that are named in `plugins.enabled` of its configuration, and calls `register`. It does so in every one of its
processes, gateways included, so nothing that takes time is imported here before the command runs.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Protocol

from . import main

HELP = "Browse, search, resume and clean up conversations (hermes-browse)"  # not shown by us: Hermes speaks English
_STORES = ("--home", "--db", "--demo")


class PluginContext(Protocol):
    """What Hermes gives a plug-in, as far as it is used here (`hermes_cli.plugins.PluginContext`, 0.19)."""

    def register_cli_command(
        self,
        name: str,
        help: str,
        setup_fn: Callable[[argparse.ArgumentParser], None],
        handler_fn: Callable[[argparse.Namespace], None] | None = None,
        description: str = "",
    ) -> None:
        """Make a command of `hermes`."""


def register(ctx: PluginContext) -> None:
    """Add `hermes browse`; Hermes calls this when it loads the plug-in.

    Args:
        ctx: Hermes' side of it.
    """
    ctx.register_cli_command("browse", HELP, _take_everything, _browse, HELP)


def _take_everything(parser: argparse.ArgumentParser) -> None:
    """Take every word behind `hermes browse` as it stands, `--help` too.

    argparse knows options by their first character; without such a character every word is an argument.
    """
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    parser.prefix_chars = ""


def arguments_for(words: Sequence[str], home: str | None) -> list[str]:
    """Our arguments for what follows `hermes browse`.

    By the time the command runs, Hermes has settled which profile is meant (`-p NAME` anywhere, a sticky profile,
    HERMES_HOME) and put its folder into HERMES_HOME. We pass it on as --home: we would read the sticky profile
    again, and it would win over `hermes -p default browse`.

    Args:
        words: What was typed.
        home: HERMES_HOME as Hermes has set it; None or empty where it is the default root.
    """
    until = list(words).index("--") if "--" in words else len(words)
    is_told = any(word.partition("=")[0] in _STORES for word in words[:until])
    return [*words] if is_told or not home else ["--home", home, *words]


def _browse(arguments: argparse.Namespace) -> None:
    # A handler's result is dropped (0.19), so the exit code has to be raised.
    sys.exit(main(arguments_for(arguments.arguments, os.environ.get("HERMES_HOME", "").strip())))
