"""Command lines that run once on a host, each over a connection of its own; several hosts are asked
at once."""

from __future__ import annotations

import contextlib
import json
import math
import os
import selectors
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import NoReturn, TypeVar

from ..connection.stored_values import Json
from ..errors import BrowseError, NotFoundError, RefusedError, StoreBusyError, StoreError
from ..text import one_line
from ..wording import N_, _
from .faults import SSH_FAILED, advised, cannot_start, explain, fault, is_no_program
from .host import Host, ssh_command
from .link import ANSWER_BYTES, ANSWER_SECONDS, CONNECT_SECONDS, NOISE_BYTES, Reply

_T = TypeVar("_T")
_MARK = b"hermes-browse-answers-below"
"""Printed before a command: everything ahead of it is what the shell of the host says by itself."""
_CHUNK = 65_536
SILENT_SECONDS = 660.0
"""How long a command that may take any time may print nothing; the losses of a million messages
take a minute."""
_ERRORS: Mapping[int, type[BrowseError]] = {
    3: StoreError,
    NotFoundError.exit_code: NotFoundError,
    5: RefusedError,
}
_BUSY = (
    N_("{path} is locked by another process."),
    N_("{path} is busy: another process is using it."),
)
"""The sentences of a `StoreBusyError`, by which it is told from other errors of a store: all end
with 3."""
_processes: set[subprocess.Popen[bytes]] = set()


class Running:
    """A line that the shell of a host runs; iterate once to get what it prints on standard output.

    Args:
        line: For the shell of the host, such as from `Host.command_line`.
        seconds: How long it may take; None for as long as it takes.
        most: More bytes are refused; None for any number.

    Without a limit of time it is given up after `SILENT_SECONDS` in which it prints nothing.
    """

    def __init__(
        self, host: Host, line: str, *, seconds: float | None = None, most: int | None = None
    ) -> None:
        self._host, self._line, self._seconds, self._most = host, line, seconds, most
        self._said = bytearray()
        self._noise = ""
        self.code = -1
        """Its exit code, at the end."""

    @property
    def said(self) -> str:
        """What it has printed on standard error, or the end of that."""
        return self._said.decode("utf-8", "replace")

    def __iter__(self) -> Iterator[bytes]:
        """Yield the output as it comes, and end the process when the caller leaves.

        Raises:
            HostError: ssh failed, the host has no such program, or the output is not what was asked
                for.
        """
        command = ssh_command(self._host, f"echo {_MARK.decode()}; {self._line}")
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, bufsize=0
            )
        except (OSError, ValueError) as error:
            raise cannot_start(self._host, error) from error
        _processes.add(process)
        try:
            has_begun = yield from self._read(process)
            self.code = process.wait()
        finally:
            process.kill()
            process.wait()
            _processes.discard(process)
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        has_ended_early = not has_begun and self.code != 0
        is_missing = is_no_program(self._host, self.code, self.said)
        if self.code == SSH_FAILED or is_missing or has_ended_early:
            raise explain(self._host, self.code, self.said, has_greeted=False, noise=self._noise)
        if not has_begun:
            is_serving = '{"hello"' in self._noise
            code = "host-serves" if is_serving else "host-noise"
            raise fault(self._host, code, said=self.said or self._noise)

    def _read(self, process: subprocess.Popen[bytes]) -> Generator[bytes, None, bool]:
        """Yield what follows the mark, until both streams end; return whether the mark was
        there."""
        assert process.stdout is not None and process.stderr is not None
        begun = heard = time.monotonic()
        head, size = bytearray(), 0
        has_begun = False
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            selector.register(process.stderr, selectors.EVENT_READ)
            while selector.get_map():
                seconds, since = self._seconds if has_begun else CONNECT_SECONDS, begun
                if seconds is None:
                    seconds, since = SILENT_SECONDS, heard
                left = since + seconds - time.monotonic()
                if left <= 0:
                    raise fault(self._host, "host-silent", seconds=seconds)
                for key, _events in selector.select(left):
                    chunk = os.read(key.fd, _CHUNK)
                    heard = time.monotonic()
                    if not chunk:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is process.stderr:
                        self._said += chunk
                        del self._said[:-NOISE_BYTES]
                        continue
                    elif not has_begun:
                        head += chunk
                        _noise, mark, chunk = bytes(head).partition(_MARK)
                        end = chunk.find(b"\n") + 1
                        has_begun, chunk = bool(mark and end), chunk[end:]
                        if not has_begun and len(head) > NOISE_BYTES:
                            self._refuse()
                    if has_begun and chunk:
                        size += len(chunk)
                        if self._most is not None and size > self._most:
                            self._refuse()
                        yield chunk
                        heard = time.monotonic()  # a pager may have kept us waiting
        self._noise = bytes(head).decode("utf-8", "replace")
        return has_begun

    def _refuse(self) -> NoReturn:
        raise fault(self._host, "host-noise", said=_("more than was asked for"))


def run_once(
    host: Host, line: str, *, seconds: float | None = ANSWER_SECONDS, most: int = ANSWER_BYTES
) -> Reply:
    """Run a line in the shell of a host and return what it printed; arguments and errors as of
    `Running`."""
    running = Running(host, line, seconds=seconds, most=most)
    out = b"".join(running)
    return Reply(running.code, out.decode("utf-8", "replace"), running.said)


def _number(text: str) -> float:
    """Return a number that any program can use: infinities, NaN and integers beyond 64 bits are
    none."""
    value = int(text) if text.lstrip("-").isdecimal() and len(text) < 21 else float(text)
    if not math.isfinite(value) or abs(value) >= 2**64:
        raise ValueError(text)
    return value


def read_document(host: Host, text: str, number: Callable[[str], object] | None = _number) -> Json:
    """Return the JSON object that a command printed, HostError if it is none; `number` converts its
    numbers."""
    try:
        document = json.loads(text, parse_constant=number, parse_float=number, parse_int=number)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise fault(host, "host-noise", said=text[:80])
    return document


def refusal(host: Host, reply: Reply) -> BrowseError:
    """Return the error for a command that failed on a host: its last sentence, its kind and its
    exit code."""
    lines = [line for line in reply.err.splitlines() if line.strip()]
    sentence = one_line(lines[-1].removeprefix("hermes-browse: "), 600) if lines else ""
    if not sentence:
        sentence = _("its hermes-browse ended with exit code {code}.").format(code=reply.code)
    kind = _ERRORS.get(reply.code, BrowseError)
    if kind is StoreError and any(
        each.removeprefix("{path}").rstrip(".") in sentence for each in _BUSY
    ):
        kind = StoreBusyError
    sentence, remedy = advised(host, sentence)
    error = kind(f"{host.name}: {sentence}", remedy=remedy)
    error.exit_code = reply.code
    return error


def document_of(host: Host, reply: Reply) -> Json:
    """Return the JSON object that a command printed, with any numbers.

    Raises:
        BrowseError: The command failed, with its own sentence.
        HostError: What it printed is no object.
    """
    if reply.code:
        raise refusal(host, reply)
    return read_document(host, reply.out, None)


def in_thread(work: Callable[[], _T], name: str) -> Future[_T]:
    """Run a function that may wait for a host, on a thread of its own; the end of the program does
    not wait for it."""
    answer: Future[_T] = Future()

    def run() -> None:
        if not answer.set_running_or_notify_cancel():
            return
        try:
            answer.set_result(work())
        except BaseException as error:  # goes to who wants the answer
            answer.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return answer


@contextlib.contextmanager
def asked_at_once(hosts: Sequence[Host], ask: Callable[[Host], _T]) -> Iterator[list[Future[_T]]]:
    """Ask several hosts the same, each in a thread of its own; end with the block what still
    runs."""
    try:
        yield [in_thread(partial(ask, host), f"asking {host.name}") for host in hosts]
    finally:
        for process in list(_processes):
            with contextlib.suppress(OSError):
                process.kill()
