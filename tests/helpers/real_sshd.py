"""The real `sshd` on the loopback, with one store, and a key for each right; see docs/hosts.md for
their lines."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import pytest
from paths import fixture

from hermes_browse.store.hosts.host import Host

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
PROGRAM = Path(sys.executable).parent / "hermes-browse"
_FORCED: Mapping[str, str] = {
    "read": 'restrict,command="{serve} serve --stdio" ',
    "change": 'restrict,command="{serve} serve --stdio --allow-changes" ',
    "sudo": 'restrict,command="env -u SSH_ORIGINAL_COMMAND {serve} serve --stdio" ',
    "any": "",
}
"""By key: what stands ahead of it in `authorized_keys`. `sudo` takes the environment away, as that
does."""


RESTRICTED = ("read", "change")
"""The keys that may only serve."""
NEEDS = [
    pytest.mark.skipif(SSHD is None, reason="needs sshd, Debian's openssh-server"),
    pytest.mark.skipif(shutil.which("ssh") is None, reason="needs the ssh client of OpenSSH"),
]
SECRET = "the content of a file beside the store"


class RealServer:
    """An `sshd` for the user of the tests; a context manager.

    Args:
        folder: For its files and keys; `home` in it is the home directory of the program there.
        home: `HERMES_HOME` there.
    """

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home
        self.elsewhere = home.parent / "elsewhere"
        there = (f"HOME={folder / 'home'}", f"HERMES_HOME={home}", "LC_ALL=C.UTF-8")
        self.program = shlex.join(["env", *there, str(PROGRAM)])
        """What runs there."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])

    def __enter__(self) -> Self:
        (self.folder / "home").mkdir(parents=True)
        lines = []
        for name in ("server", *_FORCED):
            key = shlex.quote(str(self.folder / name))
            make = f"ssh-keygen -q -t ed25519 -N '' -C {name} -f {key}"
            subprocess.run(make, shell=True, check=True, stdin=subprocess.DEVNULL)
            if name != "server":
                lines.append(_FORCED[name].format(serve=self.program) + self._public(name))
        (self.folder / "authorized_keys").write_text("".join(lines))
        (self.folder / "known").write_text(f"[127.0.0.1]:{self.port} {self._public('server')}")
        settings = {
            "ListenAddress": "127.0.0.1",
            "Port": self.port,
            "HostKey": self.folder / "server",
            "AuthorizedKeysFile": self.folder / "authorized_keys",
            "StrictModes": "no",
            "UsePAM": "no",
            "PermitRootLogin": "yes",
            "PidFile": "none",
            "Subsystem": "sftp internal-sftp",
        }
        (self.folder / "sshd_config").write_text(
            "".join(f"{name} {value}\n" for name, value in settings.items())
        )
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # where it separates privileges
        self._log = (self.folder / "log").open("wb")
        command = [str(SSHD), "-D", "-e", "-f", str(self.folder / "sshd_config")]
        self._process = subprocess.Popen(command, stderr=self._log, stdin=subprocess.DEVNULL)
        self._wait()
        return self

    def __exit__(self, *ended: object) -> None:
        self._process.terminate()
        self._process.wait()
        self._log.close()

    def _public(self, name: str) -> str:
        return (self.folder / f"{name}.pub").read_text()

    def _wait(self) -> None:
        while True:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", self.port), 5),
            ):
                return
            assert self._process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.01)

    def options(self, key: str) -> list[str]:
        """Return what stands after `ssh` to log in with a key."""
        settings = {
            "IdentityFile": self.folder / key,
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "UserKnownHostsFile": self.folder / "known",
            "GlobalKnownHostsFile": os.devnull,
            "StrictHostKeyChecking": "yes",
            "BatchMode": "yes",
        }
        words = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        return ["-F", "none", "-p", str(self.port), *words, f"{getpass.getuser()}@127.0.0.1"]

    def host(self, key: str) -> Host:
        """Return the host that a key opens, as the configuration has it."""
        return Host("vps", shlex.join(self.options(key)), command=self.program)

    def ssh(
        self, key: str, *words: str, before: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Log in with a key and run a command line, without input."""
        command = ["ssh", *before, *self.options(key), *words]
        empty = subprocess.DEVNULL
        return subprocess.run(
            command, stdin=empty, capture_output=True, text=True, timeout=120, check=False
        )

    @contextlib.contextmanager
    def asking(self, key: str) -> Iterator[Asking]:
        """Log in with a key, and speak to what answers there."""
        command = ["ssh", *self.options(key)]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            one = Asking(process)
            yield one
            one.end()

    def files(self) -> dict[str, bytes]:
        """Return all files of the machine but the log of `sshd`, and what SQLite makes to read a
        store."""
        tops = (self.folder, self.home, self.elsewhere)
        found = [path for top in tops for path in sorted(top.rglob("*")) if path.is_file()]
        left_out = ("log", "state.db-wal", "state.db-shm")
        return {str(path): path.read_bytes() for path in found if path.name not in left_out}


@contextlib.contextmanager
def machine(folder: Path) -> Iterator[RealServer]:
    """Run a server with the store of a Hermes 0.19, other stores, and a secret."""
    for name in ("hermes", "hermes/profiles/other", "elsewhere"):
        (folder / name).mkdir(parents=True)
    shutil.copy(fixture(22), folder / "hermes/state.db")
    for name in ("hermes/profiles/other", "elsewhere"):
        shutil.copy(fixture(31), folder / name / "state.db")
    (folder / "elsewhere" / "secret").write_text(SECRET)
    with RealServer(folder / "machine", folder / "hermes") as server:
        yield server


class Asking:
    """Speaks to `serve` over ssh; everything that was heard is kept."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._number = 0
        self.heard = bytearray()
        """All output."""
        self.hello = self._until("hello")["hello"]

    def _until(self, key: str, value: object = None) -> Any:
        assert self._process.stdout is not None
        while True:
            line = self._process.stdout.readline()
            assert line, "it has ended"
            self.heard += line
            answer = json.loads(line)
            if key in answer and value in (None, answer[key]):
                return answer

    def ask(self, **question: object) -> Any:
        """Ask, and return the answer."""
        assert self._process.stdin is not None
        self._number += 1
        self._process.stdin.write(json.dumps({**question, "id": self._number}).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._until("id", self._number)
        while answer.keys() & {"tell", "portion"}:
            answer = self._until("id", self._number)
        return answer

    def call(self, name: str, values: object) -> Any:
        """Ask for a call."""
        return self.ask(ask=name, **{"with": values})

    def end(self) -> None:
        """End the input; the program there must end well."""
        assert self._process.stdin is not None and self._process.stderr is not None
        self._process.stdin.close()
        assert self._process.wait(120) == 0, self._process.stderr.read()
