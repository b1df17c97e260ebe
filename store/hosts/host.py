"""A machine with a store of its own, as the configuration names it: the command lines that reach it,
and what can go wrong with it, each with a sentence and a remedy, derived from the output of ssh and
of the host's shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import StoreError, with_options
from ..text import one_line
from ..wording import N_, _

PROGRAM = "hermes-browse"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


class Host(NamedTuple):
    """A machine that `ssh` reaches and that has hermes-browse."""

    name: str
    """Its name on the screen and for `--host`; letters, digits, `.`, `_` and `-`."""
    ssh: str
    """What a person types after `ssh`: options and a destination."""
    command: str = PROGRAM
    """The program there, as its shell reads it, such as `/opt/bin/hermes-browse`."""
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
        return with_options(sentence, f"--host {self.name}")

    def problem(self) -> tuple[str, str]:
        """Return the name of the value that is wrong, and what is wrong in a sentence; both empty
        if nothing is."""
        named = _("its `name` is letters, digits, “.”, “_” and “-”, such as vps.")
        try:
            needed = (
                ("name", named, _NAME.fullmatch(self.name)),
                ("ssh", _("it needs `ssh`: what you would type after ssh."), self.ssh_words()),
                ("command", _("its `command` is empty."), self.command.strip()),
            )
        except ValueError:
            return "ssh", _("a quote in its `ssh` is not closed.")
        return next(((key, said) for key, said, is_there in needed if not is_there), ("", ""))

    def ssh_words(self) -> list[str]:
        """Return what stands after `ssh`, as words. `ValueError` if a quote is not closed."""
        return shlex.split(self.ssh)


_OPTIONS = (
    "ClearAllForwardings=yes", "RemoteCommand=none", "ControlMaster=no", "BatchMode=yes",
    "ConnectTimeout=10", "ServerAliveInterval=10", "ServerAliveCountMax=3",
)  # fmt: skip
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


def login_command(host: Host) -> str:
    """Return the command that logs in on a host, for a person to type."""
    return shlex.join(["ssh", *host.ssh_words()])


# What can go wrong

SSH_FAILED = 255
"""The exit code of ssh when it failed itself; any other is that of the command on the host (ssh(1),
OpenSSH 9)."""
_NOT_FOUND = (126, 127)
"""Exit codes of a POSIX shell for a program that cannot be run, or is not there."""
_CANNOT_RUN = re.compile(
    "bad interpreter|required file not found|cannot execute|[Pp]ermission denied|[Ee]xec format"
)
"""What shells say about a program that is there: its interpreter is missing, say, as after an
upgrade of Python."""
_USAGE = 2
"""Exit code of a hermes-browse that does not know the command."""


class _Fault(NamedTuple):
    """What is said of a fault."""

    sentence: str
    remedy: str = ""
    code: str = ""
    """Its code, if several faults have the same."""
    says: tuple[str, ...] = ()
    """Texts of OpenSSH before the login, not translated, that mean it."""


_FAULTS = {
    "host-key": _Fault(
        N_("{name}: its key is not the one that is known, so nothing was sent."),
        N_("If the machine was set up anew, remove its old key: `{ssh}` says how."),
        says=("REMOTE HOST IDENTIFICATION HAS CHANGED",),
    ),
    "host-new": _Fault(
        N_("{name}: its key is not known here yet, so nothing was sent."),
        N_("Connect once in another terminal and compare the key: `{ssh}`."),
        code="host-key",
        says=("Host key verification failed",),
    ),
    "host-unknown": _Fault(
        N_("{name}: there is no machine of this name ({said})."),
        N_("Correct `ssh` of this host in the configuration, or its alias in ~/.ssh/config."),
        says=("Could not resolve hostname",),
    ),
    "host-login": _Fault(
        N_("{name}: it wants a password or another key."),
        N_("If your key has a passphrase, type `ssh-add`; if it asks for a password, `{copy}`."),
        says=("Permission denied", "Too many authentication failures"),
    ),
    "host-down": _Fault(
        N_("{name}: it cannot be reached ({said})."),
        says=(
            "Connection refused",
            "Connection timed out",
            "Operation timed out",
            "No route to host",
            "Network is unreachable",
        ),
    ),
    "host-closed": _Fault(
        N_("{name}: it closed the connection before the login ({said})."),
        N_("Its sshd refuses this machine, or has too many logins at once; its log says which."),
        code="host-down",
        says=("Connection closed", "Connection reset", "Broken pipe", "not responding"),
    ),
    "host-lost": _Fault(N_("{name}: the connection was lost.")),
    "host-ssh": _Fault(
        N_("{name}: ssh failed ({said})."), N_("Try it in another terminal: `{ssh}`.")
    ),
    "host-silent": _Fault(N_("{name}: it has not answered for {seconds:.0f} seconds.")),
    "host-noise": _Fault(N_("{name}: what came back is not an answer of hermes-browse ({said}).")),
    "host-refused": _Fault(N_("{name}: {said}")),
    "host-serves": _Fault(
        N_(
            "{name}: this key may only serve the browser, and this command needs one of its own there."
        )
    ),
    "host-program": _Fault(
        N_("{name}: its shell does not find “{command}”."),
        N_(
            "Install it there, or name its full path as `command` of this host in the configuration."
        ),
    ),
    "host-broken": _Fault(
        N_("{name}: “{command}” is there and cannot be run ({said})."),
        N_("Install it there again: its Python may be gone."),
        code="host-program",
    ),
    "host-version": _Fault(
        N_("{name}: its hermes-browse is too old for this ({said})."),
        N_("Install the newest there."),
    ),
    "host-newer": _Fault(
        N_("{name}: its hermes-browse is newer than this one ({said})."),
        N_("Install the newest here."),
        code="host-version",
    ),
}
"""By kind; of those that ssh tells, the first whose text occurs decides."""


class HostError(StoreError):
    """A host did not answer, or not with what was asked.

    Args:
        kind: A key of `_FAULTS`.
        said: What ssh or the host said; made printable here.
        remedy: In place of its own.
        more: Further fields of its sentence.
    """

    def __init__(
        self, host: Host, kind: str, *, said: str = "", remedy: str = "", **more: object
    ) -> None:
        fields = {
            "name": host.name,
            "said": one_line(said, 400) or "?",
            "command": one_line(host.command, 80),
            "ssh": one_line(f"ssh {host.ssh}", 120),
            "copy": one_line(f"ssh-copy-id {host.ssh}", 120),
        }
        found = _FAULTS[kind]
        self.mend = remedy or _(found.remedy, **fields)
        """The remedy alone, without the command that says more; may be empty."""
        says_more = _("`hermes-browse hosts check {name}` says more.", name=host.name)
        remedy = f"{self.mend} {says_more}".lstrip()
        super().__init__(_(found.sentence, **fields, **more), remedy=remedy)
        self.code = found.code or kind
        """`host-unknown`, `host-down`, `host-key`, `host-login`, `host-silent`, `host-lost`,
        `host-noise`, `host-program`, `host-version`, `host-ssh`, `host-serves` or
        `host-refused`."""
        self.said = said
        """What ssh or the host said, as it was said."""


def explain(
    host: Host, exit_code: int | None, said: str, has_greeted: bool, noise: str = ""
) -> HostError:
    """Return why a connection ended.

    Args:
        exit_code: Of the ssh process; None if it has not ended.
        said: Its standard error.
        has_greeted: Whether the program there had said hello.
        noise: What it printed instead of a hello; empty once it has said it.
    """
    last = re.sub(r"^ssh: (connect to host \S+ port \d+: )?", "", _last_line(said))
    kind = "host-lost"
    if exit_code in (SSH_FAILED, None):
        if last and not has_greeted:  # what a login shell prints as an error says nothing of it
            meant = (kind for kind, each in _FAULTS.items() for text in each.says if text in said)
            kind = next(meant, "host-ssh")
    elif not has_greeted and is_no_program(host, exit_code, said):
        is_broken = exit_code == _NOT_FOUND[0] or _CANNOT_RUN.search(said)
        kind = "host-broken" if is_broken else "host-program"
    elif not has_greeted and exit_code == _USAGE:
        kind = "host-version"
    elif exit_code:
        # On standard output it is such as of an account that nobody may use: nologin(8).
        last = (last or _last_line(noise)).removeprefix("hermes-browse: ")
        kind = "host-refused" if last else "host-lost"
    return HostError(host, kind, said=host.advice(last))


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2].strip()


def is_no_program(host: Host, exit_code: int | None, said: str) -> bool:
    """Tell whether a shell has ended because it has no such program, or cannot run it."""
    # tcsh ends with 1 then; all others with a code of their own.
    tcsh_says = f"{host.command.split()[0]}: Command not found."
    return exit_code in _NOT_FOUND or (exit_code == 1 and _last_line(said) == tcsh_says)
