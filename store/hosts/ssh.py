"""The ssh process that runs a line on a host, and lines that run once, each in a process of its
own."""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import msgspec

from ..connection.stored_values import Json
from ..wording import _
from .host import SSH_FAILED, Host, HostError, explain, is_no_program, ssh_command

_T = TypeVar("_T")
CONNECT_SECONDS = 20.0
"""How long a host may take until its program says hello, or a line begins."""
ANSWER_SECONDS = 90.0
"""How long an answer may take, and how long a line may print nothing; more than the limit of a
question there."""
ANSWER_BYTES = 16_000_000
"""A longer answer is refused: of a text with one emoji Python keeps four bytes for each letter."""
NOISE_BYTES = 100_000
"""Bytes that a login shell may print before the program says hello."""
_CHUNK = 65_536
_SAID = 100_000
"""Bytes of its standard error that are kept, the last ones."""
_END_SECONDS = 5.0
"""How long it may take to end after its output has."""
_MARK = "hermes-browse-answers-below"
"""Printed before a line: everything ahead of it is what the shell of the host says by itself."""
_MARKED = re.compile(_MARK.encode() + rb"[^\n]*\n")


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
        self._said = b""
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
            is_missing = isinstance(error, FileNotFoundError)
            said = _("it is not installed here") if is_missing else str(error)
            raise HostError(host, "host-ssh", said=said) from error
        assert self._process.stdout is not None and self._process.stderr is not None
        self._output, self._errors = self._process.stdout, self._process.stderr
        self._streams = [self._output, self._errors]
        """Those that have not ended."""

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
        if not self._streams:
            return None
        has_output = self._output in self._streams
        limit = seconds if has_output else _END_SECONDS
        ready = select.select(self._streams, [], [], limit)[0]
        if not ready and has_output:
            raise TimeoutError
        if not ready:
            return None  # another process, such as a proxy, holds its standard error open
        stream = ready[0]
        chunk = os.read(stream.fileno(), _CHUNK)
        if not chunk:
            self._streams.remove(stream)
        if stream is self._output:
            return chunk
        self._said = (self._said + chunk)[-_SAID:]
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
        with self._output, self._errors:
            self.terminate()
            if self.wait() is None:
                self._process.kill()
                self._process.wait()


def run_once(
    host: Host, line: str, seconds: float = ANSWER_SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run a line in the shell of a host and return what it printed; the code is -1 if it did not end.

    Args:
        host: Where.
        line: Such as from `Host.command_line`.
        seconds: How long it may print nothing.

    Raises:
        HostError: ssh failed, or is silent; the host has no such program, or says too much.
    """
    process = SshProcess(host, f"echo {_MARK}; {line}")
    out, has_begun, limit = bytearray(), False, CONNECT_SECONDS
    until = time.monotonic() + limit
    try:
        while (chunk := process.read(max(0.0, until - time.monotonic()))) is not None:
            out += chunk
            if not has_begun and (mark := _MARKED.search(out)) is not None:
                has_begun, limit = True, seconds
                del out[: mark.end()]
            if has_begun and chunk:  # what is printed before, or as an error, gives no more time
                until = time.monotonic() + limit
            if has_begun and len(out) > ANSWER_BYTES:
                raise HostError(
                    host, "host-refused", said=_("This answer is too large to be sent.")
                )
            if not has_begun and len(out) > NOISE_BYTES:
                raise HostError(host, "host-noise", said=_("more than was asked for"))
        code = process.wait()
    except TimeoutError:
        raise HostError(host, "host-silent", seconds=limit) from None
    finally:
        process.close()
    text, said = out.decode("utf-8", "replace"), process.said
    if not has_begun and code == 0:
        kind = "host-serves" if '{"hello"' in text else "host-noise"
        raise HostError(host, kind, said=said or text)
    if not has_begun or code == SSH_FAILED or is_no_program(host, code, said):
        is_lost = has_begun and code == SSH_FAILED
        raise explain(host, code, said, has_greeted=is_lost, noise=text)
    return subprocess.CompletedProcess(line, -1 if code is None else code, text, said)


def read_document(host: Host, text: str) -> Json:
    """Return the JSON object that a command printed, HostError if it is none."""
    try:
        return msgspec.json.decode(text, type=dict)
    except (msgspec.DecodeError, RecursionError):
        raise HostError(host, "host-noise", said=text[:80]) from None


def in_thread(work: Callable[[], _T], name: str) -> Future[_T]:
    """Run a function that may wait for a host, on a thread of its own; the end of the program does
    not wait for it."""
    answer: Future[_T] = Future()
    answer.set_running_or_notify_cancel()  # from now on nobody can cancel it

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:  # goes to who wants the answer
            answer.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return answer
