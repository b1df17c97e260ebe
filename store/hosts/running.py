"""Command lines that run once on a host, each over a connection of its own; several hosts are asked
at once."""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, NoReturn, TypeVar

from ..connection.stored_values import Json
from ..errors import BrowseError, NotFoundError, RefusedError, StoreError
from ..text import one_line
from ..wording import _
from .faults import SSH_FAILED, advised, explain, fault, is_no_program
from .host import Host
from .link import ANSWER_BYTES, ANSWER_SECONDS, CONNECT_SECONDS, NOISE_BYTES
from .ssh import SshProcess

_T = TypeVar("_T")
_MARK = b"hermes-browse-answers-below"
"""Printed before a command: everything ahead of it is what the shell of the host says by itself."""
SILENT_SECONDS = 660.0
"""How long a command that may take any time may print nothing; the losses of a million messages
take a minute."""
_ERRORS: dict[int, type[BrowseError]] = {3: StoreError, 4: NotFoundError, 5: RefusedError}
"""By exit code."""
_processes: set[SshProcess] = set()


class Reply(NamedTuple):
    """What a command printed on a host."""

    code: int
    """Its exit code."""
    out: str
    err: str


@dataclass(eq=False)
class Running:
    """A line that the shell of a host runs; iterate once to get what it prints on standard output.

    Without a limit of time it is given up after `SILENT_SECONDS` in which it prints nothing.
    """

    host: Host
    line: str
    """For the shell of the host, such as from `Host.command_line`."""
    seconds: float | None = None
    """How long it may take; None for as long as it takes."""
    most: int | None = None
    """More bytes are refused; None for any number."""
    said: str = ""
    """What it has printed on standard error, or the end of that."""
    code: int = -1
    """Its exit code, at the end."""
    _has_begun: bool = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield the output as it comes, and end the process when the caller leaves.

        Raises:
            HostError: ssh failed, the host has no such program, or the output is not what was asked
                for.
        """
        process = SshProcess(self.host, f"echo {_MARK.decode()}; {self.line}")
        _processes.add(process)
        try:
            noise = yield from self._output(process)
            code = process.wait()
            self.code = -1 if code is None else code
        finally:
            self.said = process.said
            process.close()
            _processes.discard(process)
        is_missing = is_no_program(self.host, self.code, self.said)
        if self.code == SSH_FAILED and not self._has_begun and not self.said:
            raise fault(self.host, "host-closed")
        if self.code == SSH_FAILED or is_missing or (self.code and not self._has_begun):
            raise explain(self.host, self.code, self.said, has_greeted=False, noise=noise)
        if not self._has_begun:
            code_of_fault = "host-serves" if '{"hello"' in noise else "host-noise"
            raise fault(self.host, code_of_fault, said=self.said or noise)

    def _output(self, process: SshProcess) -> Generator[bytes, None, str]:
        """Yield what follows the mark; return what was printed if there was none."""
        head, size = b"", 0
        for chunk in self._chunks(process):
            if not self._has_begun:
                head += chunk
                _noise, mark, rest = head.partition(_MARK)
                _line, end, chunk = rest.partition(b"\n")
                self._has_begun = bool(mark and end)
                if not self._has_begun and len(head) > NOISE_BYTES:
                    self._refuse()
            if self._has_begun and chunk:
                size += len(chunk)
                if self.most is not None and size > self.most:
                    self._refuse()
                yield chunk
        return head.decode("utf-8", "replace")

    def _chunks(self, process: SshProcess) -> Iterator[bytes]:
        """Yield all output, within the limits of time."""
        begun = heard = time.monotonic()
        while True:
            seconds, since = self.seconds if self._has_begun else CONNECT_SECONDS, begun
            if seconds is None:
                seconds, since = SILENT_SECONDS, heard
            try:
                chunk = process.read(max(0.0, since + seconds - time.monotonic()))
            except TimeoutError:
                raise fault(self.host, "host-silent", seconds=seconds) from None
            if chunk is None:
                return
            yield chunk
            heard = time.monotonic()  # a pager may have kept us waiting

    def _refuse(self) -> NoReturn:
        raise fault(self.host, "host-noise", said=_("more than was asked for"))


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


def read_document(host: Host, text: str) -> Json:
    """Return the JSON object that a command printed, HostError if it is none."""
    try:
        document = json.loads(text, parse_constant=_number, parse_float=_number, parse_int=_number)
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
        sentence = _("its hermes-browse ended with exit code {code}.", code=reply.code)
    sentence, remedy = advised(host, sentence)
    error = _ERRORS.get(reply.code, BrowseError)(f"{host.name}: {sentence}", remedy=remedy)
    error.exit_code = reply.code
    return error


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
            process.terminate()
