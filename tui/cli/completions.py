"""`completions` and `shell-init`: what bash, zsh and fish take over.

The scripts are those of argcomplete, which ask this program at each Tab: it parses what stands
there with its own parser. With `shell-init`, `hermes sessions browse` also opens this browser, and
Ctrl+G puts the command that resumes a conversation into the command line.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

import argcomplete
from argcomplete.completers import DirectoriesCompleter, FilesCompleter, SuppressCompleter
from argcomplete.shell_integration import shellcode

from hermes_browse.store.wording import ENGLISH, speak

from ..settings.read_config import config_path, read_config
from .command import Subcommand
from .output import print_text
from .parser import Argument
from .registry import COMMANDS, make_parser

_SCRIPTS = {
    "bash": r"""
function hermes {
  if [ "$*" = "sessions browse" ]; then
    command hermes-browse
  else
    command hermes "$@"
  fi
}
function _hermes_browse_key {
  local line
  line=$(command hermes-browse --print-command) || return
  if [ -n "$line" ]; then
    READLINE_LINE=$line
    READLINE_POINT=${#line}
  fi
}
bind -x '"\C-g": _hermes_browse_key' 2>/dev/null
""",
    "zsh": r"""
function hermes {
  if [[ "$*" == "sessions browse" ]]; then
    command hermes-browse
  else
    command hermes "$@"
  fi
}
function _hermes_browse_key {
  local line
  line=$(command hermes-browse --print-command </dev/tty)
  if [[ -n $line ]]; then
    BUFFER=$line
    CURSOR=${#line}
  fi
  zle reset-prompt
}
zle -N _hermes_browse_key
bindkey '^g' _hermes_browse_key
""",
    "fish": r"""
function hermes
    if test "$argv" = "sessions browse"
        command hermes-browse
    else
        command hermes $argv
    end
end
function _hermes_browse_key
    set -l line (command hermes-browse --print-command)
    if test -n "$line"
        commandline -r -- $line
    end
    commandline -f repaint
end
bind \cg _hermes_browse_key
""",
}
"""What `shell-init` prints, by shell."""


class CompletionsCommand(Subcommand):
    """Print the script for a shell, after the lines for its rc file (`shell-init`); needs no
    store."""

    takes_common_options = takes_host = False
    arguments = (Argument("shell", choices=tuple(_SCRIPTS)),)

    def start(self) -> int:
        if self.given.command == "shell-init":
            print_text(_SCRIPTS[self.given.shell].strip())
        print_text(shellcode(["hermes-browse"], shell=self.given.shell))
        return 0


def _host_names(
    action: argparse.Action, parsed_args: argparse.Namespace, **_asked: object
) -> list[str]:
    """Return the names of the configured hosts; as an argument one stands behind `check`."""
    if not action.option_strings and parsed_args.what is None:
        return []
    return [host.name for host in read_config(config_path()).options.hosts]


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
