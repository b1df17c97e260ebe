"""A machine with a store of its own, as the configuration names it, and the command lines that
reach it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from ..wording import _

PROGRAM = "hermes-browse"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")

_NAMED_COMMAND = re.compile(
    f"`{PROGRAM} (?=(?:archive|delete|doctor|list|pin|prune|resume|search|show|trash|unarchive|unpin)\\b)"
)
"""The beginning of a command for a store, as sentences name it."""


class Host(NamedTuple):
    """A machine that `ssh` reaches and that has hermes-browse."""

    name: str
    """Its name on the screen and for `--host`; letters, digits, `.`, `_` and `-`."""
    ssh: str
    """What a person types after `ssh`: options and a destination."""
    command: str = PROGRAM
    """The program there, as its shell reads it, such as `uvx hermes-browse`."""
    home: str = ""
    """The Hermes root there; empty for that machine's default."""
    profile: str = ""
    """The profile there; empty for the one that Hermes uses."""

    def command_line(self, arguments: Sequence[str]) -> str:
        """Return the line for the shell of the host: the program, its store, and arguments, each
        quoted.

        The store's options come first, because arguments may hold `--`.
        """
        store = [
            *(("--home", self.home) if self.home else ()),
            *(("--profile", self.profile) if self.profile else ()),
        ]
        return " ".join([self.command, *map(shlex.quote, [*store, *arguments])])

    def advice(self, sentence: str) -> str:
        """Return a sentence of the program there, with the commands that it names as they are typed
        here."""
        return _NAMED_COMMAND.sub(f"`{PROGRAM} --host {self.name} ", sentence)

    def problem(self) -> tuple[str, str]:
        """Return the name of the value that is wrong, and what is wrong in a sentence; both empty
        if nothing is."""
        if not _NAME.fullmatch(self.name):
            return "name", _("its `name` is letters, digits, “.”, “_” and “-”, such as vps.")
        try:
            words = self.ssh_words()
        except ValueError:
            return "ssh", _("a quote in its `ssh` is not closed.")
        if not words:
            return "ssh", _("it needs `ssh`: what you would type after ssh.")
        return ("", "") if self.command.strip() else ("command", _("its `command` is empty."))

    def ssh_words(self) -> list[str]:
        """Return what stands after `ssh`, as words. `ValueError` if a quote is not closed."""
        return shlex.split(self.ssh)


_OPTIONS = (
    *("ClearAllForwardings=yes", "RemoteCommand=none", "ControlMaster=no"),
    *("BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=10", "ServerAliveCountMax=3"),
)
"""Nothing of this machine is lent to the host while the connection is open, nothing is asked over
the screen, and no process that the user's configuration asks for stays behind."""


def ssh_command(
    host: Host, line: str, *, terminal: bool = False, level: str = "ERROR"
) -> list[str]:
    """Return the arguments of a process that runs a line on a host.

    Args:
        line: For the shell of the host, from `command_line`.
        terminal: Give the line a terminal there, and let ssh ask for passwords here; for a person
            only.
        level: The LogLevel of ssh. Below INFO it may end without a word: it says at that level that
            a connection was reset before the login (OpenSSH 9.2).
    """
    if terminal:
        return ["ssh", "-t", *host.ssh_words(), line]
    options = [word for option in (*_OPTIONS, f"LogLevel={level}") for word in ("-o", option)]
    return ["ssh", "-T", "-a", "-x", *options, *host.ssh_words(), line]
