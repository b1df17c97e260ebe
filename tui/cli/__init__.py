"""The command line: the features of the browser for scripts and agents, without importing
Textual; and the plug-in of Hermes that adds `hermes browse`.

Hermes (0.19) looks for entry points in the group `hermes_agent.plugins`, imports those listed in
`plugins.enabled` of its configuration, and calls `register`. It does so in each of its processes,
gateways included, so expensive imports wait until the command runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .. import version

if TYPE_CHECKING:
    import argparse

HELP = "Browse, search, resume and clean up conversations (hermes-browse)"  # Hermes speaks English
_STORES = ("--home", "--db", "--demo", "--host")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `hermes-browse`.

    Args:
        argv: Arguments without the program's name; those of the process by default.

    Returns:
        The exit code: 0 done, 1 unexpected, 2 usage, 3 no store, 4 not found, 5 refused, 6 some
            host or profile did not answer, 130 interrupted.
    """
    arguments = [*(sys.argv[1:] if argv is None else argv)]
    try:
        if arguments == ["--version"] and sys.stdout is not None:
            with suppress(OSError):  # run() below reports it
                print(f"hermes-browse {version()}", flush=True)
                return 0
        if "_ARGCOMPLETE" in os.environ:
            from .completions import complete  # start time: only at a Tab

            complete()
        from .entry import run  # start time: `--version` imports next to nothing

        return run(arguments)
    except KeyboardInterrupt:  # during imports
        return 130


def register(ctx: Any) -> None:
    """Add `hermes browse`; Hermes calls this when it loads the plug-in.

    Args:
        ctx: `hermes_cli.plugins.PluginContext` (0.19).
    """
    ctx.register_cli_command("browse", HELP, _take_everything, _browse, HELP)


def _take_everything(parser: argparse.ArgumentParser) -> None:
    """Accept all words after `hermes browse` as arguments, `--help` included.

    argparse recognizes options by prefix characters; without any, every word is an argument.
    """
    parser.add_argument("arguments", nargs="...")  # argparse.REMAINDER
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
    # Here `list` is the module of that command, as soon as it is imported.
    end = [*words].index("--") if "--" in words else len(words)
    names_store = any(word.partition("=")[0] in _STORES for word in words[:end])
    return [*words] if names_store or not home else ["--home", home, *words]


def _browse(arguments: argparse.Namespace) -> None:
    # Hermes 0.19 ignores the result of a handler, so raise the exit code.
    sys.exit(main(arguments_for(arguments.arguments, os.environ.get("HERMES_HOME", "").strip())))
