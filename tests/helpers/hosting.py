"""Machines that the real ssh client reaches, for the command line, and a configuration that names
them."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import asyncssh
import pytest
from commandline import copy_store
from server import ThrowAwayServer
from user_config import write_config

from hermes_browse.store.demo import build_home
from hermes_browse.store.hosts.codec import PROTOCOL

BIN = Path(sys.executable).parent
PROGRAMS = {
    "vps": None,
    "nas": None,
    "empty": None,
    "locked": None,
    "login": "",
    "bare": "",
    "old": f'case "$*" in *serve*) echo "invalid choice" >&2; exit 2;; esac\nexec {BIN}/hermes-browse "$@"',
    "liar": f"printf 'bad\\033[31m\\n' >&2\nexec {sys.executable} ~/liar.py \"$@\"",
    "slow": "exec sleep 600",
    "broken": "#!/no/such/python",
    "closed": "",
}
"""The hermes-browse of each machine: None for this one, empty for none on the PATH."""


_LIAR = f"""
import json, pathlib, sys
answer = (pathlib.Path.home() / "answer").read_text()
if "serve" not in sys.argv:
    sys.exit(print(answer, end=""))
hello = dict(version="9", path="/x", profile="", protocol={PROTOCOL}, rights=["read"])
print(json.dumps(dict(hello=hello)), flush=True)
for line in sys.stdin:
    print('{{"id": %d, "answer": %s}}' % (json.loads(line)["id"], answer), flush=True)
"""
"""Greets, and answers the same to every call and command line."""

Machines = dict[str, ThrowAwayServer]


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Machines with stores, and others where something is missing, by name."""
    folder = tmp_path_factory.mktemp("machines")
    made: Machines = {}
    with ExitStack() as stack:
        for name, program in PROGRAMS.items():
            (folder / name / "hermes").mkdir(parents=True)
            made[name] = stack.enter_context(
                ThrowAwayServer(folder / name, folder / name / "hermes", name)
            )
            made[name].environment["SHELL"] = "/bin/sh"
            if program is not None:
                text = program if program.startswith("#!") else f"#!/bin/sh\n{program}"
                (folder / name / "hermes-browse").write_text(f"{text}\n")
                (folder / name / "hermes-browse").chmod(0o755 if program else 0o644)
                made[name].environment["PATH"] = f"{folder / name}:/usr/bin:/bin"
        build_home(made["vps"].home, now=time.time() - 86_400)
        copy_store("state-v31", made["nas"].home)
        copy_store("state-v22", made["old"].home)
        made["nas"].noise = [b"Welcome to nas\n"]
        (made["liar"].folder / "home" / "liar.py").write_text(_LIAR)
        (made["login"].folder / "home" / ".profile").write_text(f"PATH={BIN}:$PATH\n")
        yield made


def ssh(machines: Machines, name: str) -> str:
    """What reaches a machine, or fails to."""
    if name in machines:
        return machines[name].host.ssh
    vps = machines["vps"]
    if name == "changed":
        key = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
        (vps.folder / name).write_text(f"[127.0.0.1]:{vps.port} {key}")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        closed = unused.getsockname()[1]
    options = {"down": f"-p {closed}", "unknown": "-o HostName=no-such-machine.invalid"}
    return f"{options.get(name, f'-o UserKnownHostsFile={vps.folder / name}')} {vps.host.ssh}"


def asked(machines: Machines) -> int:
    """How many commands have been run."""
    return sum(len(each.commands) for each in machines.values())


def configure(machines: Machines, *names: str, more: str = "") -> None:
    """Write a configuration of hosts."""
    blocks = [
        f'[[hosts]]\nname = "{name}"\nssh = "{ssh(machines, name)}"\n{more}' for name in names
    ]
    write_config("".join(blocks))


def lies(machines: Machines, text: str) -> None:
    """What the machine `liar` answers to every call."""
    (machines["liar"].folder / "home" / "answer").write_bytes(text.encode())
