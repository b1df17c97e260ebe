"""The ssh process that runs a line on a host."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import threading

from .faults import cannot_start
from .host import Host, ssh_command

_CHUNK = 65_536
_SAID = 100_000
"""Bytes of its standard error that are kept, the last ones."""
_END_SECONDS = 5.0
"""How long it may take to end after its output has."""


class SshProcess:
    """An ssh process. One thread reads; any thread writes and ends it.

    Args:
        line: For the shell of the host, such as from `Host.command_line`.
        takes_input: Whether it is written to. It is in a session of its own then: the signals of
            the terminal, and the terminal itself, are not for it.

    Raises:
        HostError: It could not be started.
    """

    def __init__(self, host: Host, line: str, *, takes_input: bool = False) -> None:
        self._said = bytearray()
        self._writing = threading.Lock()
        try:
            self._process = subprocess.Popen(
                ssh_command(host, line, level="INFO" if takes_input else "ERROR"),
                stdin=subprocess.PIPE if takes_input else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=takes_input,
            )
        except (OSError, ValueError) as error:
            raise cannot_start(host, error) from error
        assert self._process.stdout is not None and self._process.stderr is not None
        self._output, self._errors = self._process.stdout, self._process.stderr
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        self._selector.register(self._errors, selectors.EVENT_READ)

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def said(self) -> str:
        """What it has printed on standard error."""
        return self._said.decode("utf-8", "replace")

    def read(self, seconds: float | None = None) -> bytes | None:
        """Wait for something on either stream, and return what came on standard output; None when
        both have ended.

        Raises:
            TimeoutError: Nothing came in so many seconds.
        """
        streams = self._selector.get_map()
        if not streams:
            return None
        has_output = self._output in streams
        ready = self._selector.select(seconds if has_output else _END_SECONDS)
        if not ready and not has_output:
            return None  # another process, such as a proxy, holds its standard error open
        if not ready:
            raise TimeoutError
        stream = ready[0][0].fileobj
        chunk = os.read(ready[0][0].fd, _CHUNK)
        if not chunk:
            self._selector.unregister(stream)
        if stream is self._output:
            return chunk
        self._said += chunk
        del self._said[:-_SAID]
        return b""

    def write(self, line: bytes) -> None:
        """Write to its standard input; nothing if it has ended, which `read` tells."""
        assert self._process.stdin is not None
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(line)

    def wait(self) -> int | None:
        """Return the exit code when its output has ended; None if it does not end soon."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(_END_SECONDS)
        return None

    def terminate(self) -> None:
        """Ask it to end, and end its input, for an `ssh` that is a script."""
        self._process.terminate()
        # A thread that is writing fails when the process has ended.
        if self._process.stdin is not None and self._writing.acquire(timeout=0.2):
            self._process.stdin.close()
            self._writing.release()

    def close(self) -> None:
        """End it, if it has not ended."""
        self.terminate()
        if self.wait() is None:
            self._process.kill()
            self._process.wait()
        self._selector.close()
        self._output.close()
        self._errors.close()
