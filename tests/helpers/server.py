"""Throw-away SSH servers on the loopback, for the real `ssh` client, with faults to switch on.

All servers of a process share one thread and one loop (asyncssh). Each listens through a small
proxy, which counts connections, cuts them, and can stand still. What a client asks for is run as
sshd does: by `sh -c`, in a session of its own, with this environment's programs first on the path.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import functools
import logging
import os
import shlex
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import asyncssh

from hermes_browse.store.hosts.host import Host

_T = TypeVar("_T")
_CHUNK = 65_536


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    logging.getLogger("asyncssh").setLevel(logging.CRITICAL)
    threading.Thread(target=loop.run_forever, name="ssh servers", daemon=True).start()
    return loop


def _wait(work: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run_coroutine_threadsafe(work, _loop()).result(20)


@functools.cache
def _key(name: str) -> asyncssh.SSHKey:
    """A key of this run: `host` or `user`."""
    return asyncssh.generate_private_key("ssh-ed25519", name)


class _Proxy:
    """What stands between the clients and a server."""

    def __init__(self) -> None:
        self.connections = 0
        """TCP connections since the beginning."""
        self.frozen = False
        """Whether nothing gets through, in either direction; new connections are accepted."""
        self._open: set[asyncio.WriteTransport] = set()

    async def listen(self, port: int, inside: int) -> asyncio.Server:
        """Pass on what comes to a port, a free one for 0, to another one."""

        async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            with contextlib.suppress(OSError), contextlib.ExitStack() as ends:  # it may be cut
                ends.callback(writer.transport.abort)
                answers, inner = await asyncio.open_connection("127.0.0.1", inside)
                ends.callback(inner.transport.abort)
                self._open |= {writer.transport, inner.transport}
                await asyncio.gather(self._carry(reader, inner), self._carry(answers, writer))

        return await asyncio.start_server(pass_on, "127.0.0.1", port)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(_CHUNK):
            while self.frozen and not writer.transport.is_closing():
                await asyncio.sleep(0.02)
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()

    async def cut(self) -> None:
        """Cut all connections."""
        for each in self._open:
            each.abort()
        await asyncio.sleep(0)


class ThrowAwayServer:
    """A machine that `ssh` reaches; a context manager. Its attributes may be changed while it runs.

    Args:
        folder: For its files: the client's configuration and key, and the home directory there.
        home: `HERMES_HOME` there.
        name: The host's name in the client's configuration.
    """

    def __init__(self, folder: Path, home: Path, name: str = "vps") -> None:
        self.folder, self.home = folder, home
        self.port = 0
        self.proxy = _Proxy()
        self.commands: list[str] = []
        """The command lines that were run."""
        self.processes: list[int] = []
        """The processes that were started, each the leader of its group."""
        self.refuses = False
        """Whether the user's key is not accepted."""
        self.takes_keys, self.takes_passwords = True, False
        """Ways to log in that are offered; no password is right."""
        self.noise: Sequence[bytes] = ()
        """What is printed before the output of a program."""
        self.cut_at = b""
        """The connection is cut in the middle of the first piece of output that holds this."""
        self.environment: dict[str, str] = {}
        """Variables of programs, beside those of this process."""
        self.host = Host(name, f"-F {shlex.quote(str(folder / 'config'))} {name}")
        """How to reach it."""
        self._listeners: list[asyncssh.SSHAcceptor | asyncio.Server] = []

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *ended: object) -> None:
        self.stop()

    def start(self) -> Self:
        """Listen: the first time on a free port, then on the same again."""
        is_new = not self.port
        _wait(self._start())
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "home").mkdir(exist_ok=True)
        key = self.folder / "id"
        if is_new:
            key.touch(0o600)
            key.write_bytes(_key("user").export_private_key())
            public = _key("host").export_public_key().decode().strip()
            (self.folder / "known").write_text(f"[127.0.0.1]:{self.port} {public}\n")
            options = {
                "HostName": "127.0.0.1",
                "Port": self.port,
                "User": "me",
                "IdentityFile": key,
                "IdentitiesOnly": "yes",
                "IdentityAgent": "none",
                "UserKnownHostsFile": self.folder / "known",
                "GlobalKnownHostsFile": os.devnull,
                "StrictHostKeyChecking": "yes",
            }
            lines = [f'  {option} "{value}"\n' for option, value in options.items()]
            (self.folder / "config").write_text("".join([f"Host {self.host.name}\n", *lines]))
        return self

    def stop(self) -> None:
        """End as a machine that loses its power: connections are cut, programs are killed."""
        _wait(self._stop())

    def cut(self) -> None:
        """Cut all connections; programs see the end of their input, and new connections are
        accepted."""
        _wait(self.proxy.cut())

    def alive(self) -> list[int]:
        """Return the processes whose groups have not ended."""
        # A dead one stays in its group where the first process of the system does not wait for
        # orphans.
        table = subprocess.run(
            ["ps", "-Ao", "pgid=,stat="], capture_output=True, text=True, check=True
        ).stdout
        groups = {
            int(group) for group, state in map(str.split, table.splitlines()) if state[0] != "Z"
        }
        return [pid for pid in self.processes if pid in groups]

    async def _start(self) -> None:
        inside = await asyncssh.listen(
            "127.0.0.1",
            0,
            server_factory=lambda: _Login(self),
            server_host_keys=[_key("host")],
            process_factory=self._run,
            encoding=None,
            line_editor=False,
        )
        outside = await self.proxy.listen(self.port, inside.get_port())
        self._listeners = [inside, outside]
        self.port = outside.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        for listener in self._listeners:
            listener.close()
        await self.proxy.cut()
        for pid in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        self._listeners = []

    # What is run

    async def _run(self, client: asyncssh.SSHServerProcess[bytes]) -> None:
        """Run a command line as sshd does; exit codes and the death by a signal are passed on."""
        self.commands.append(client.command or "")
        with contextlib.suppress(OSError, asyncssh.Error):  # the connection was lost
            code = await (
                self._run_on_terminal(client) if client.term_type else self._run_on_pipes(client)
            )
            if code < 0:
                client.exit_with_signal(signal.Signals(-code).name.removeprefix("SIG"))
            else:
                client.exit(code)

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        programs = os.pathsep.join(
            [str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]
        )
        there = {"HERMES_HOME": str(self.home), "HOME": str(self.folder / "home"), "PATH": programs}
        return kept | there | self.environment

    async def _run_on_pipes(self, client: asyncssh.SSHServerProcess[bytes]) -> int:
        pipe = asyncio.subprocess.PIPE
        program = await asyncio.create_subprocess_exec(
            *("sh", "-c", client.command or ""),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=self._environment(),
            cwd=self.folder / "home",
            start_new_session=True,
        )
        self.processes.append(program.pid)
        assert (
            program.stdin is not None and program.stdout is not None and program.stderr is not None
        )
        feeding = asyncio.create_task(self._feed(client, program.stdin))
        try:
            for chunk in self.noise:
                client.stdout.write(chunk)
                await client.stdout.drain()
            await asyncio.gather(
                self._print(program.stdout, client.stdout, client),
                self._print(program.stderr, client.stderr, client),
            )
            return await program.wait()
        except (OSError, asyncssh.Error):
            # As the pipes of sshd break when it ends; the class has no public method that closes
            # one for reading.
            for number in (0, 1, 2):
                end = program._transport.get_pipe_transport(number)  # type: ignore[attr-defined]
                if end is not None:
                    end.close()
            raise
        finally:
            feeding.cancel()

    async def _feed(
        self, client: asyncssh.SSHServerProcess[bytes], stdin: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(OSError, asyncssh.Error):
            while chunk := await client.stdin.read(_CHUNK):
                stdin.write(chunk)
                await stdin.drain()
        with contextlib.suppress(OSError):
            stdin.close()

    async def _print(
        self,
        source: asyncio.StreamReader,
        target: asyncssh.SSHWriter[bytes],
        client: asyncssh.SSHServerProcess[bytes],
    ) -> None:
        while chunk := await source.read(_CHUNK):
            if self.cut_at and self.cut_at in chunk:
                target.write(chunk[: chunk.index(self.cut_at) + len(self.cut_at) // 2])
                self.cut_at = b""
                await asyncio.sleep(0.05)
                await self.proxy.cut()
            target.write(chunk)
            await target.drain()

    async def _run_on_terminal(self, client: asyncssh.SSHServerProcess[bytes]) -> int:
        master, slave = os.openpty()
        _resize(master, client.term_size)
        program = await asyncio.create_subprocess_exec(
            *("sh", "-c", client.command or 'exec "${SHELL:-sh}"'),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=self._environment()
            | {"TERM": client.term_type or "dumb", "SSH_TTY": os.ttyname(slave)},
            cwd=self.folder / "home",
            preexec_fn=functools.partial(os.login_tty, slave),
        )
        os.close(slave)
        self.processes.append(program.pid)
        loop = asyncio.get_running_loop()
        output = asyncio.StreamReader()
        screen, _protocol = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(output), os.fdopen(os.dup(master), "rb", 0)
        )

        async def type_keys() -> None:
            while True:
                try:
                    chunk = await client.stdin.read(_CHUNK)
                except asyncssh.TerminalSizeChanged as changed:
                    _resize(master, changed.term_size)
                    continue
                except (asyncssh.BreakReceived, asyncssh.SignalReceived):
                    continue
                if not chunk:
                    return
                os.write(master, chunk)

        typing = asyncio.create_task(type_keys())
        try:
            with contextlib.suppress(
                OSError
            ):  # Linux says EIO when the last program closes the terminal
                while chunk := await output.read(_CHUNK):
                    client.stdout.write(chunk)
                    await client.stdout.drain()
            return await program.wait()
        finally:
            typing.cancel()
            screen.close()
            os.close(master)


class _Login(asyncssh.SSHServer):
    def __init__(self, server: ThrowAwayServer) -> None:
        self._server = server

    def public_key_auth_supported(self) -> bool:
        return self._server.takes_keys

    def password_auth_supported(self) -> bool:
        return self._server.takes_passwords

    def validate_password(self, username: str, password: str) -> bool:
        return False

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return not self._server.refuses and key.public_data == _key("user").public_data


def _resize(terminal: int, size: tuple[int, int, int, int]) -> None:
    columns, lines, width, height = size
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, width, height))
