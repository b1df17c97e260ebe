"""Why a host does not let us in: what its sshd takes, and which keys there are here; nothing is
asked of the user."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from hermes_browse.store.hosts.faults import HostError
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.running import Running
from hermes_browse.store.wording import _

_METHODS = re.compile(r"Permission denied \(([a-z,-]+)\)")
"""What a server takes, in the words of OpenSSH."""
_SECONDS = 10


def about_login(host: Host) -> str:
    """Return what makes the login succeed without a question; empty if nothing can be told."""
    found = _METHODS.search(_said(host))
    methods = found[1].split(",") if found is not None else []
    settings = _settings(host)
    copy = shlex.join(["ssh-copy-id", *host.ssh_words()])
    if methods and "publickey" not in methods:
        sentence = _(
            "It takes no keys, only: {methods}. Allow keys there (PubkeyAuthentication in its sshd_config)."
        )
        return sentence.format(methods=", ".join(methods))
    keys = [Path(os.path.expanduser(each)) for each in settings.get("identityfile", [])]
    keys = [each for each in keys if each.is_file()]
    locked = next((each for each in keys if _is_locked(each)), None)
    if locked is not None:
        add = shlex.join(["ssh-add", str(locked)])
        if "SSH_AUTH_SOCK" not in os.environ:
            add = f'eval "$(ssh-agent)" && {add}'
        return _("Your key has a passphrase, and no ssh-agent has it. Type: `{command}`").format(
            command=add
        )
    takes_passwords = bool({"password", "keyboard-interactive"} & set(methods))
    if not keys and "SSH_AUTH_SOCK" not in os.environ:
        command = f"ssh-keygen -t ed25519 && {copy}"
        return _("You have no key. Make one and copy it there: `{command}`").format(command=command)
    if takes_passwords:
        return _("It does not know your key. Copy it there: `{command}`").format(command=copy)
    return _(
        "It does not know your key. Add your public key to ~/.ssh/authorized_keys of that user."
    )


def about_key(host: Host) -> str:
    """Return what to type if the key of a host has changed: what forgets the old one; empty if it
    is a new host."""
    if "HAS CHANGED" not in _said(host):
        return ""
    settings = _settings(host)
    alias, port = settings.get("hostkeyalias"), settings.get("port", ["22"])[0]
    name = (alias or settings.get("hostname", [""]))[0]
    entry = name if port == "22" or alias else f"[{name}]:{port}"
    file = settings.get("userknownhostsfile", [""])[0].split(" ")[0]
    command = shlex.join(["ssh-keygen", *(["-f", file] if file else []), "-R", entry])
    remedy = _("If the machine was set up anew, forget its old key, then log in once: `{command}`")
    return remedy.format(command=command)


def _said(host: Host) -> str:
    """Return what ssh says about a login."""
    probe = Running(host, "true")
    try:
        for _chunk in probe:
            pass
    except HostError:
        pass  # what it said is wanted
    return probe.said


def _settings(host: Host) -> dict[str, list[str]]:
    """Return what `ssh -G` says about a host: the values of each option, in order."""
    found: dict[str, list[str]] = {}
    for line in _output(["ssh", "-G", *host.ssh_words()]).splitlines():
        option, _space, value = line.partition(" ")
        found.setdefault(option, []).append(value)
    return found


def _output(command: Sequence[str]) -> str:
    done = _run(command)
    return done.stdout if done is not None else ""


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def _is_locked(key: Path) -> bool:
    """Tell whether a private key has a passphrase that no agent knows."""
    opened = _run(["ssh-keygen", "-y", "-P", "", "-f", str(key)])
    if opened is None or opened.returncode == 0 or "incorrect passphrase" not in opened.stderr:
        return False
    known = _run(["ssh-add", "-T", f"{key}.pub"])
    return known is None or known.returncode != 0
