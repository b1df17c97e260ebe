"""An open connection to a host: one ssh process, and `hermes-browse serve --stdio` at its other end.

Each question and each answer is a line of JSON; `serving.py` is the other side. The ssh process is also the master of
the multiplexed connection that commands use (`ControlMaster` of ssh_config(5)), and it ends with this process, however
that ends: the host's program ends with its input.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from pathlib import Path
from typing import IO, NamedTuple

from ..errors import QueryInterruptedError
from ..temporary import TemporaryFolder
from ..wording import _
from .faults import HostError, explain, fault
from .host import Host, ssh_command

Json = dict[str, object]

CONNECT_SECONDS = 20.0
"""How long a host may take until its program says hello."""
ANSWER_SECONDS = 90.0
"""How long an answer may take; more than the limit of a statement there."""
RETRY_SECONDS = 5.0
"""After a failure, questions fail at once for this long; then the next one connects again."""
ANSWER_BYTES = 64_000_000
"""A longer answer is refused."""
NOISE_BYTES = 1_000_000
"""Bytes that a login shell may print before the program says hello."""
_CHUNK = 65_536
_SOCKET_PATH = 90
"""Longest path of a control socket; the limit of the systems is 104 or 108, and ssh adds a suffix."""


class Reply(NamedTuple):
    """What a command printed on a host."""

    code: int
    """Its exit code."""
    out: str
    err: str


class Hello(NamedTuple):
    """What the program on a host says first."""

    version: str
    path: str
    """The store there."""
    profile: str
    """Its profile in Hermes; empty for none."""


class Link:
    """A connection to a host, opened by the first question and again after it was lost; any thread asks.

    Args:
        host: The host.
        folder: A private folder for the control socket; None for no multiplexing.
    """

    def __init__(self, host: Host, folder: Path | None = None) -> None:
        self.host = host
        socket = folder / host.name if folder is not None and sys.platform != "win32" else None
        self.control = socket if socket is not None and len(os.fsencode(socket)) < _SOCKET_PATH else None
        """The control socket that commands use while the connection is open."""
        self.hello: Hello | None = None
        """What the host said first, on the newest connection."""
        self.fingerprint: tuple[int, ...] = ()
        """Of the store there, as of its last change."""
        self.error: HostError | None = None
        """Why the last attempt failed; None while connected."""
        self._process: subprocess.Popen[bytes] | None = None
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._asked: dict[int, Future[Json]] = {}
        self._greeted: Future[Hello] = Future()
        self._number = 0
        self._failed_at = float("-inf")
        self._closed = False

    @property
    def is_open(self) -> bool:
        """Whether the host has said hello on a connection that has not ended."""
        return self._process is not None and self._greeted.done() and self.error is None

    def open(self) -> Hello:
        """Connect, unless connected; return what the host said.

        Raises:
            HostError: It cannot be reached, or has no program of this kind.
        """
        with self._lock:
            if self._process is None:
                if self._closed or time.monotonic() - self._failed_at < RETRY_SECONDS:
                    raise self.error or fault(self.host, "host-lost")
                self._start()
            greeted = self._greeted
        try:
            return greeted.result(CONNECT_SECONDS)
        except NotInTime:
            error = fault(self.host, "host-silent", seconds=CONNECT_SECONDS)
            self._end(error)
            raise error from None

    def _start(self) -> None:
        line = self.host.command_line(["serve", "--stdio"])
        command = ssh_command(self.host, line, control=self.control)
        if self.control is not None:
            command[1:1] = ["-o", "ControlMaster=yes"]
        try:
            # A session of its own: the terminal's signals, and the terminal itself, are not for it.
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._failed_at = time.monotonic()
            self.error = fault(self.host, "host-ssh", said=getattr(error, "strerror", None) or str(error))
            raise self.error from error
        self._process, self._greeted, self._asked, self.error = process, Future(), {}, None
        threading.Thread(target=self._listen, args=(process,), name=f"host {self.host.name}", daemon=True).start()

    def ask(self, question: Json, *, seconds: float = ANSWER_SECONDS) -> Json:
        """Ask, and wait for the answer.

        Raises:
            HostError: The host cannot be reached, or the connection was lost.
        """
        return self.answer_of(self.send(question), seconds)

    def send(self, question: Json) -> int:
        """Send a question; return its number, for `answer_of` and `cancel`."""
        self.open()
        with self._lock:
            process = self._process
            if process is None:
                raise self.error or fault(self.host, "host-lost")
            self._number += 1
            number = self._number
            self._asked[number] = Future()
        self._write(process, question | {"id": number})
        return number

    def _write(self, process: subprocess.Popen[bytes], message: Json) -> None:
        assert process.stdin is not None
        try:
            with self._writing:
                process.stdin.write(json.dumps(message).encode() + b"\n")
        except (OSError, ValueError):
            return  # it has ended: the thread that listens says so to all who wait

    def answer_of(self, number: int, seconds: float = ANSWER_SECONDS) -> Json:
        """Wait for the answer to a question.

        Raises:
            HostError: It does not come.
            QueryInterruptedError: `cancel` was called.
        """
        future = self._asked.get(number)
        if future is None:
            raise self.error or fault(self.host, "host-lost")
        try:
            return future.result(seconds)
        except NotInTime:
            error = fault(self.host, "host-silent", seconds=seconds)
            self._end(error)
            raise error from None
        finally:
            self._asked.pop(number, None)

    def cancel(self, number: int) -> None:
        """Cancel a question from any thread: whoever waits for its answer gets a QueryInterruptedError at once."""
        future, process = self._asked.get(number), self._process
        if future is None or process is None:
            return
        with contextlib.suppress(Exception):  # answered meanwhile: InvalidStateError, which has no public base
            future.set_exception(QueryInterruptedError(_("The query was interrupted.")))
        self._write(process, {"cancel": number})

    def run(self, arguments: Sequence[str], *, seconds: float = ANSWER_SECONDS) -> Reply:
        """Run a command of hermes-browse there.

        Args:
            arguments: Of the command line, without the options that name a store.
            seconds: How long it may take.

        Raises:
            HostError: The host cannot be reached, or the connection was lost; the command may have run.
        """
        answer = self.ask({"argv": list(arguments)}, seconds=seconds)
        code, out, err = answer.get("code"), answer.get("out"), answer.get("err")
        if not isinstance(code, int) or not isinstance(out, str) or not isinstance(err, str):
            raise fault(self.host, "host-noise", said=str(answer))
        return Reply(code, out, err)

    def round_trip(self) -> float:
        """Measure the seconds from a question to its answer on the open connection.

        Raises:
            HostError: As `ask`.
        """
        self.ask({"sql": "SELECT 1"})  # opens the store
        begun = time.perf_counter()
        self.ask({"sql": "SELECT 1"})
        return time.perf_counter() - begun

    def close(self) -> None:
        """End the connection; the program on the host ends with its input."""
        self._closed = True
        self._end(fault(self.host, "host-lost"))

    def _end(self, error: HostError) -> None:
        """End the process; everyone who waits gets the error."""
        with self._lock:
            process, self._process = self._process, None
            self._failed_at, self.error = time.monotonic(), error
            waiting: list[Future[Hello] | Future[Json]] = [self._greeted, *self._asked.values()]
        for future in waiting:
            with contextlib.suppress(Exception):  # it has its answer
                future.set_exception(error)
        if process is None:
            return
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(0.2 if self._closed else 0.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    # The thread that listens

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None and process.stderr is not None
        said = bytearray()
        error: HostError | None = None
        try:
            self._read(process.stdout, process.stderr, said)
        except HostError as noise:
            error = noise
        except (OSError, ValueError):
            error = fault(self.host, "host-lost")
        if error is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(2.0)
            text = said.decode("utf-8", "replace")
            code = process.returncode if process.returncode is not None else 0
            error = explain(self.host, code, text)
            if error is None and self.hello is None and code == 2:  # a usage error: it knows no `serve`
                error = fault(self.host, "host-version", version="")
            error = error or fault(self.host, "host-lost")
        if self._process is process:
            self._end(error)
        for stream in (process.stdout, process.stderr):
            stream.close()

    def _read(self, out: IO[bytes], err: IO[bytes], said: bytearray) -> None:
        """Read both streams to their ends; keep the newest part of the second in `said`."""
        line, noise = bytearray(), 0
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            selector.register(err, selectors.EVENT_READ)
            while selector.get_map():
                for key, _events in selector.select():
                    stream = key.fileobj
                    assert not isinstance(stream, int)
                    chunk = os.read(stream.fileno(), _CHUNK)
                    if not chunk:
                        selector.unregister(stream)
                    elif stream is err:
                        said += chunk
                        del said[:-4096]
                    else:
                        noise += 0 if self._greeted.done() else len(chunk)
                        *whole, rest = (chunk).split(b"\n")
                        for part in whole:
                            line += part
                            self._heard(bytes(line))
                            line.clear()
                        line += rest
                        if len(line) > ANSWER_BYTES or noise > NOISE_BYTES:
                            raise fault(self.host, "host-noise", said=_("more than was asked for"))

    def _heard(self, line: bytes) -> None:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            if self._greeted.done():
                raise fault(self.host, "host-noise", said=line[:80].decode("utf-8", "replace"))
            return  # what a login shell prints
        if isinstance(mark := answer.get("fingerprint"), list) and all(isinstance(each, int) for each in mark):
            self.fingerprint = tuple(mark)
        if isinstance(hello := answer.get("hello"), dict) and not self._greeted.done():
            self.hello = Hello(*(str(hello.get(name) or "") for name in Hello._fields))
            self._greeted.set_result(self.hello)
        number = answer.get("id")
        future = self._asked.get(number) if isinstance(number, int) else None
        if future is not None:
            with contextlib.suppress(Exception):  # cancelled meanwhile
                future.set_result(answer)


class Links:
    """The connections of this process, one for each host, each opened by its first question."""

    def __init__(self) -> None:
        self._links: dict[str, Link] = {}
        self._folder: TemporaryFolder | None = None
        self._lock = threading.Lock()

    def of(self, host: Host) -> Link:
        """Return the connection to a host; nothing is sent yet."""
        with self._lock:
            if self._folder is None:
                self._folder = TemporaryFolder("hosts")
            if host.name not in self._links:
                self._links[host.name] = Link(host, self._folder.path)
            return self._links[host.name]

    def close(self) -> None:
        """End all connections."""
        with self._lock:
            links, self._links = list(self._links.values()), {}
            folder, self._folder = self._folder, None
        for link in links:
            link.close()
        if folder is not None:
            folder.remove()
