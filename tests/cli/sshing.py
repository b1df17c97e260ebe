"""An SSH server of the tests, in a process of its own: each user name is a machine with a home and a store."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent
SYSTEM = "/usr/bin:/bin"


class Machines:
    """Machines that a real ssh client reaches.

    Args:
        folder: For keys and homes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._settings: dict[str, dict[str, str]] = {}
        self._seen = 0

    def add(self, name: str, *, path: str = f"{BIN}:{SYSTEM}", head: str = "") -> Path:
        """Add a machine; return its home, where Hermes' root is `.hermes`.

        Args:
            name: The user name.
            path: Its PATH.
            head: What its shell runs ahead of every command.
        """
        self._settings[name] = {"path": path, "head": head}
        home = self.folder / name
        (home / ".hermes").mkdir(parents=True)
        return home

    def ssh(self, name: str) -> str:
        """What a configuration says after `ssh =`."""
        return f"-F {self.folder}/config {name}"

    def news(self) -> list[str]:
        """What has happened since the last call: `began NAME` and `ended NAME`, in order."""
        lines = (self.folder / "log").read_text().splitlines()
        new, self._seen = lines[self._seen :], len(lines)
        return new

    @contextmanager
    def serving(self) -> Iterator[Machines]:
        """Serve for the block."""
        (self.folder / "machines.json").write_text(json.dumps(self._settings))
        (self.folder / "log").touch()
        command = [sys.executable, __file__, str(self.folder)]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            try:
                port = int(server.stdout.readline())
                self._write_config(port)
                yield self
            finally:
                server.kill()

    def _write_config(self, port: int) -> None:
        """Write a configuration of ssh: the machines, and some whose login fails."""
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            closed = unused.getsockname()[1]
        here = f" HostName 127.0.0.1\n Port {port}\n"
        folder = self.folder
        (folder / "config").write_text(
            "".join(f"Host {name}\n User {name}\n" for name in self._settings)
            + f"Host changed\n{here} UserKnownHostsFile {folder}/changed\n"
            f"Host stranger\n{here} UserKnownHostsFile {folder}/nothing\n"
            f"Host locked\n{here} IdentityFile {folder}/known\n"
            f"Host down\n HostName 127.0.0.1\n Port {closed}\n"
            "Host unknown\n HostName no-such-machine.invalid\n"
            f"Host * !locked\n IdentityFile {folder}/id\n"
            f"Host *\n{here} UserKnownHostsFile {folder}/known\n IdentitiesOnly yes\n"
        )


async def _serve(folder: Path) -> None:
    import asyncssh

    settings = json.loads((folder / "machines.json").read_text())

    def log(text: str) -> None:
        with (folder / "log").open("a") as file:
            file.write(f"{text}\n")

    async def copy(source: Any, target: Any) -> None:
        try:
            while chunk := await source.read(65_536):
                target.write(chunk)
                await target.drain()
            if isinstance(target, asyncio.StreamWriter):
                target.close()
        except (OSError, asyncssh.Error):
            return

    async def handle(process: asyncssh.SSHServerProcess[bytes]) -> None:
        name = process.get_extra_info("username")
        home, machine, pipe = str(folder / name), settings[name], asyncio.subprocess.PIPE
        log(f"began {name}")
        shell = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", f"{machine['head']}\n{process.command or ''}"),
            env={"HOME": home, "PATH": machine["path"], "SHELL": "/bin/sh", "LANG": "C.UTF-8", "TZ": "UTC"},
            cwd=home,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
        )
        gone = asyncio.create_task(process.wait_closed())
        gone.add_done_callback(lambda _task: os.killpg(shell.pid, signal.SIGKILL) if shell.returncode is None else None)
        listening = asyncio.create_task(copy(process.stdin, shell.stdin))
        await asyncio.gather(copy(shell.stdout, process.stdout), copy(shell.stderr, process.stderr))
        code = await shell.wait()
        log(f"ended {name}")
        process.exit(code % 256)
        listening.cancel()

    host, user, other = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(3))
    user.write_private_key(str(folder / "id"))
    (folder / "id").chmod(0o600)
    user.write_public_key(str(folder / "authorized"))
    server = await asyncssh.create_server(
        asyncssh.SSHServer,
        "127.0.0.1",
        0,
        server_host_keys=[host],
        authorized_client_keys=str(folder / "authorized"),
        process_factory=handle,
        encoding=None,
    )
    port = server.get_port()
    for name, key in (("known", host), ("changed", other)):
        (folder / name).write_text(f"[127.0.0.1]:{port} {key.export_public_key().decode()}")
    print(port, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
