"""Errors of hosts, each with a sentence and a remedy, derived from the output of ssh and of the host's shell."""

from __future__ import annotations

import re
import shlex

from ..errors import StoreError
from ..text import one_line
from ..wording import N_, _
from .host import Host

SSH_FAILED = 255
"""The exit code of ssh when it failed itself; any other is that of the command on the host (ssh(1), OpenSSH 9)."""
NOT_FOUND = (126, 127)
"""Exit codes of a POSIX shell for a program that cannot be run, or is not there."""
_USAGE = 2
"""Exit code of a hermes-browse that does not know the command."""


class HostError(StoreError):
    """A host did not answer, or not with what was asked; `code` says which way.

    Args:
        code: `host-unknown`, `host-down`, `host-key`, `host-login`, `host-silent`, `host-lost`,
            `host-noise`, `host-program`, `host-version`, `host-ssh`, `host-serves`, `host-rights`
            or `host-refused`.
    """

    def __init__(self, host: Host, code: str, sentence: str, *, remedy: str = "") -> None:
        super().__init__(sentence, remedy=remedy)
        self.host, self.code = host, code


_SAID = (
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", "host-key"),
    ("Host key verification failed", "host-new"),
    ("Could not resolve hostname", "host-unknown"),
    ("Permission denied", "host-login"),
    ("Too many authentication failures", "host-login"),
    ("Connection refused", "host-down"),
    ("Connection timed out", "host-down"),
    ("Operation timed out", "host-down"),
    ("No route to host", "host-down"),
    ("Network is unreachable", "host-down"),
    ("Connection closed", "host-lost"),
    ("Connection reset", "host-lost"),
    ("Broken pipe", "host-lost"),
    ("not responding", "host-lost"),
)
"""Texts of OpenSSH (not translated) and what they mean; the first that occurs decides."""
_SENTENCES = {
    "host-key": N_("{name}: its key is not the one that is known, so nothing was sent."),
    "host-new": N_("{name}: its key is not known here yet, so nothing was sent."),
    "host-unknown": N_("{name}: there is no machine of this name ({said})."),
    "host-login": N_("{name}: it wants a password or another key."),
    "host-down": N_("{name}: it cannot be reached ({said})."),
    "host-lost": N_("{name}: the connection was lost."),
    "host-ssh": N_("{name}: ssh failed ({said})."),
    "host-silent": N_("{name}: it has not answered for {seconds:.0f} seconds."),
    "host-noise": N_("{name}: what came back is not an answer of hermes-browse ({said})."),
    "host-refused": N_("{name}: {said}"),
    "host-rights": N_("{name}: this key only reads; `serve --stdio --allow-changes` in its line there allows changes."),
    "host-serves": N_("{name}: this key may only serve the browser, and this command needs one of its own there."),
    "host-program": N_("{name}: its shell does not find “{command}”."),
    "host-old": N_("{name}: its hermes-browse is too old for this ({said})."),
    "host-version": N_("{name}: its hermes-browse {version} is too old for this."),
}
_CODES = {"host-new": "host-key", "host-old": "host-version"}
"""Codes of faults that have two sentences."""
_REMEDIES = {
    "host-key": N_("If the machine was set up anew, remove its old key: `{ssh}` says how."),
    "host-new": N_("Connect once in another terminal and compare the key: `{ssh}`."),
    "host-unknown": N_("Correct `ssh` of this host in the configuration, or its alias in ~/.ssh/config."),
    "host-login": N_("Log in once in another terminal, with ssh-agent or a key: `{ssh}`."),
    "host-program": N_("Install it there, or name its full path as `command` of this host in the configuration."),
    "host-ssh": N_("Try it in another terminal: `{ssh}`."),
    "host-old": N_("Install the newest there."),
    "host-version": N_("Install the newest there."),
}


def fault(host: Host, code: str, *, said: str = "", seconds: float = 0.0, version: str = "") -> HostError:
    """Return the error of a code, with its sentence and remedy.

    Args:
        code: As of `HostError`, or a key of `_CODES`.
        said: What ssh or the host said; made printable here.
        seconds: How long was waited.
        version: Of hermes-browse there.
    """
    fields = {
        "name": host.name,
        "said": one_line(said, 400) or "?",
        "seconds": seconds,
        "command": one_line(host.command, 80),
        "version": one_line(version, 20),
        "ssh": one_line(f"ssh {host.ssh}", 120),
    }
    remedy = _(_REMEDIES[code]).format(**fields) if code in _REMEDIES else ""
    return HostError(host, _CODES.get(code, code), _(_SENTENCES[code]).format(**fields), remedy=remedy)


def cannot_start(host: Host, error: OSError | ValueError) -> HostError:
    """Return why there is no ssh process."""
    missing = isinstance(error, FileNotFoundError)
    said = _("it is not installed here") if missing else getattr(error, "strerror", None) or str(error)
    return fault(host, "host-ssh", said=said)


def explain(host: Host, exit_code: int | None, said: str, has_greeted: bool) -> HostError:
    """Return why a connection ended.

    Args:
        exit_code: Of the ssh process; None if it has not ended.
        said: Its standard error.
        has_greeted: Whether the program there had said hello.
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()] or [""]
    last = re.sub(r"^ssh: (connect to host \S+ port \d+: )?", "", lines[-1])
    if exit_code == SSH_FAILED:
        default = "host-ssh" if last and not has_greeted else "host-lost"
        return fault(host, next((code for text, code in _SAID if text in said), default), said=last)
    if exit_code in NOT_FOUND and not has_greeted:
        return fault(host, "host-program")
    if exit_code == _USAGE and not has_greeted:
        return fault(host, "host-old", said=last)
    if exit_code and last:
        return fault(host, "host-refused", said=last.removeprefix("hermes-browse: "))
    return fault(host, "host-lost")


def login_command(host: Host) -> str:
    """Return the command that logs in on a host, for a person to type."""
    return shlex.join(["ssh", *host.ssh_words()])
