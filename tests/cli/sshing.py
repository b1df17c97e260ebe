"""An SSH server of the tests: each user name is a machine with a home and a store of its own."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncssh

BIN = Path(sys.executable).parent
SYSTEM = "/usr/bin:/bin"


class Machines:
    """Machines that a real ssh client reaches; `ssh` gives what a configuration says after `ssh = `.

    Args:
        folder: For keys and homes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands: list[tuple[str, str]] = []
        """User and line of each command that was run."""
        self._paths: dict[str, str] = {}
        self._heads: dict[str, str] = {}

    def add(self, name: str, *, path: str = f"{BIN}:{SYSTEM}", head: str = "") -> Path:
        """Add a machine; return its home, where Hermes' root is `.hermes`.

        Args:
            name: The user name.
            path: Its PATH.
            head: What its shell runs ahead of every command.
        """
        self._paths[name], self._heads[name] = path, head
        home = self.folder / name
        (home / ".hermes").mkdir(parents=True)
        return home

    def ssh(self, name: str) -> str:
        """What reaches a machine."""
        return f"-F {self.folder}/config {name}"

    async def _handle(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        name, line = process.get_extra_info("username"), process.command or ""
        self.commands.append((name, line))
        home = str(self.folder / name)
        env = {"HOME": home, "PATH": self._paths[name], "SHELL": "/bin/sh", "LANG": "C.UTF-8", "TZ": "UTC"}
        pipe = asyncio.subprocess.PIPE
        shell = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", f"{self._heads[name]}\n{line}"), env=env, cwd=home, stdin=pipe, stdout=pipe, stderr=pipe
        )
        assert shell.stdin is not None and shell.stdout is not None and shell.stderr is not None
        listening = asyncio.create_task(_copy(process.stdin, shell.stdin))
        gone = asyncio.create_task(process.wait_closed())
        gone.add_done_callback(lambda _task: shell.kill() if shell.returncode is None else None)
        await asyncio.gather(_copy(shell.stdout, process.stdout), _copy(shell.stderr, process.stderr))
        process.exit(await shell.wait() % 256)
        listening.cancel()

    async def start(self) -> asyncssh.SSHAcceptor:
        """Listen, and write what the client needs."""
        key, user = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
        user.write_private_key(str(self.folder / "id"))
        os.chmod(self.folder / "id", 0o600)
        user.write_public_key(str(self.folder / "authorized"))
        server = await asyncssh.create_server(
            asyncssh.SSHServer,
            "127.0.0.1",
            0,
            server_host_keys=[key],
            authorized_client_keys=str(self.folder / "authorized"),
            process_factory=self._handle,
            encoding=None,
        )
        port = server.get_port()
        (self.folder / "known").write_text(f"[127.0.0.1]:{port} {key.export_public_key().decode()}")
        other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
        (self.folder / "changed").write_text(f"[127.0.0.1]:{port} {other}")
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            closed = unused.getsockname()[1]
        here = f" HostName 127.0.0.1\n Port {port}\n"
        (self.folder / "config").write_text(
            "".join(f"Host {name}\n User {name}\n" for name in self._paths)
            + f"Host changed\n{here} UserKnownHostsFile {self.folder}/changed\n"
            f"Host stranger\n{here} UserKnownHostsFile {self.folder}/nothing\n"
            f"Host locked\n{here} IdentityFile {self.folder}/known\n"
            f"Host down\n HostName 127.0.0.1\n Port {closed}\n"
            "Host unknown\n HostName no-such-machine.invalid\n"
            f"Host * !locked\n IdentityFile {self.folder}/id\nHost *\n{here} UserKnownHostsFile {self.folder}/known\n"
            " IdentitiesOnly yes\n"
        )
        return server


async def _copy(source: Any, target: Any) -> None:
    """Copy a stream to its end; either side may be gone."""
    try:
        while chunk := await source.read(65_536):
            target.write(chunk)
            await target.drain()
        if isinstance(target, asyncio.StreamWriter):
            target.close()
    except (OSError, asyncssh.Error):
        return


@contextmanager
def serving(machines: Machines) -> Iterator[Machines]:
    """Serve in a thread for the block."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(machines.start())
    thread = threading.Thread(target=loop.run_forever, name="ssh server", daemon=True)
    thread.start()
    try:
        yield machines
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
