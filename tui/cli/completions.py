"""`completions`: scripts for bash, zsh and fish, by argcomplete.

The script asks this program at each Tab, which parses what stands there with its own parser.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from types import SimpleNamespace

import argcomplete
from argcomplete.completers import DirectoriesCompleter, FilesCompleter, SuppressCompleter
from argcomplete.shell_integration import shellcode

from hermes_browse.store.wording import ENGLISH, speak

from ..config.folders import config_path
from ..config.read_config import read_config
from .command_context import Subcommand
from .registry import COMMANDS, make_parser


class CompletionsCommand(Subcommand):
    """Print the script for a shell."""

    takes_common_options = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("shell", choices=("bash", "zsh", "fish"))

    def start(self, arguments: SimpleNamespace) -> int:
        """Print the script; needs no store."""
        print(shellcode(["hermes-browse"], shell=arguments.shell))
        return 0


def _host_names(
    action: argparse.Action, parsed_args: argparse.Namespace, **_asked: object
) -> list[str]:
    """Return the names of the configured hosts; as an argument one stands behind `check`."""
    if not action.option_strings and parsed_args.what is None:
        return []
    return [each.name for each in read_config(config_path()).options.hosts]


_KINDS = {
    "DIR": DirectoriesCompleter(),
    "FILE": FilesCompleter(),
    "PATH": FilesCompleter(),
    "HOST": _host_names,
}
"""What completes a value, by metavar."""


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield every argument of a parser and of the commands below it."""
    for action in parser._actions:  # argparse has no public accessor
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _actions(child)


def complete() -> None:
    """Answer the script of a shell, which has set the variables of argcomplete, and end the
    program."""
    speak(ENGLISH)
    words = os.environ["COMP_LINE"].split()
    parser = make_parser({word for word in words if word in COMMANDS})
    for action in _actions(parser):
        if (kind := _KINDS.get(str(action.metavar))) is not None:
            action.completer = kind  # type: ignore[attr-defined]  # where argcomplete looks for it
    argcomplete.autocomplete(parser, default_completer=SuppressCompleter())
