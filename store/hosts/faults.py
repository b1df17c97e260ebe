"""What can be wrong with a host, told from what ssh and the host's shell said, each with a sentence and a remedy."""

from __future__ import annotations

import re
import shlex

from ..errors import StoreError
from ..text import one_line
from ..wording import N_, _
from .host import Host

SSH_FAILED = 255
"""The exit code of ssh when it failed itself; any other is that of the command on the host (ssh(1), OpenSSH 9)."""
_NOT_FOUND = (126, 127)
"""Exit codes of a POSIX shell for a program that cannot be run, or is not there."""


class HostError(StoreError):
    """A host did not answer, or not with what was asked; `code` says which way.

    Args:
        host: The host.
        code: `host-unknown`, `host-down`, `host-key`, `host-login`, `host-silent`, `host-lost`, `host-noise`,
            `host-program`, `host-version`, `host-ssh` or `host-refused`.
        sentence: What happened.
        remedy: What to do about it.
    """

    def __init__(self, host: Host, code: str, sentence: str, *, remedy: str = "") -> None:
        super().__init__(sentence, remedy=remedy)
        self.host, self.code = host, code

    def __reduce__(self) -> tuple[object, ...]:
        return HostError, (self.host, self.code, self.sentence)


_SAID = (
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", "host-key"),
    ("Host key verification failed", "host-key"),
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
    "host-unknown": N_("{name}: there is no machine of this name ({said})."),
    "host-login": N_("{name}: it wants a password or another key."),
    "host-down": N_("{name}: it cannot be reached ({said})."),
    "host-lost": N_("{name}: the connection was lost."),
    "host-ssh": N_("{name}: ssh failed ({said})."),
    "host-silent": N_("{name}: it has not answered for {seconds:.0f} seconds."),
    "host-noise": N_("{name}: what came back is not an answer of hermes-browse ({said})."),
    "host-refused": N_("{name}: {said}"),
    "host-program": N_("{name}: its shell does not find “{command}”."),
    "host-version": N_("{name}: its hermes-browse {version} is too old for this; lists and searches work."),
}
_REMEDIES = {
    "host-key": N_("If the machine was set up anew, remove its old key: `{ssh}` says how."),
    "host-unknown": N_("Correct `ssh` of this host in the configuration, or its alias in ~/.ssh/config."),
    "host-login": N_("Log in once in another terminal, with ssh-agent or a key: `{ssh}`."),
    "host-program": N_("Install it there, or name its full path as `command` of this host in the configuration."),
    "host-version": N_("Install the newest there."),
}


def fault(host: Host, code: str, *, said: str = "", seconds: float = 0.0, version: str = "") -> HostError:
    """Return the error of a code, with its sentence and remedy.

    Args:
        host: The host.
        code: As of `HostError`.
        said: What ssh or the host said; made printable here.
        seconds: How long was waited.
        version: The version of hermes-browse there.
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
    return HostError(host, code, _(_SENTENCES[code]).format(**fields), remedy=remedy)


def explain(host: Host, exit_code: int, said: str) -> HostError | None:
    """Return why ssh or the host's shell failed; None if the program there ran, whatever its exit code.

    Args:
        host: The host.
        exit_code: Of the ssh process.
        said: Its standard error.
    """
    if exit_code in _NOT_FOUND:
        return fault(host, "host-program")
    if exit_code != SSH_FAILED:
        return None
    code = next((code for text, code in _SAID if text in said), "host-ssh")
    return fault(host, code, said=_last_line(said))


def _last_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return re.sub(r"^ssh: (connect to host \S+ port \d+: )?", "", lines[-1]) if lines else ""


def login_command(host: Host) -> str:
    """Return the command that logs in on a host, for a person to type."""
    return shlex.join(["ssh", *host.ssh_words()])
