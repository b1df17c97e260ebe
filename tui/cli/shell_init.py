"""`shell-init`: what a shell's rc file takes over with one line.

`hermes sessions browse` opens this browser, Ctrl+G puts the command that resumes a conversation
into the command line, and Tab completes the words of `hermes-browse`.
"""

from __future__ import annotations

import argparse
from types import SimpleNamespace

from argcomplete.shell_integration import shellcode

from .command_context import Subcommand

_BASH = r"""
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
"""
_ZSH = r"""
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
"""
_FISH = r"""
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
"""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


class ShellInitCommand(Subcommand):
    """Print the lines for a shell."""

    takes_common_options = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("shell", choices=tuple(_SCRIPTS))

    def start(self, arguments: SimpleNamespace) -> int:
        """Print them; needs no store."""
        print(_SCRIPTS[arguments.shell].strip())
        print(shellcode(["hermes-browse"], shell=arguments.shell))
        return 0
