"""An open connection to a host: one ssh process, and `hermes-browse serve --stdio` at its other
end.

Each question and each answer is a line of JSON; `serving.py` is the other side. A line that nobody
has asked for is dropped unread; one that was asked for is read by who asked. The ssh process is
also the master of the multiplexed connection that commands use (`ControlMaster` of ssh_config(5)),
and it ends with this process, however that ends: the host's program ends with its input.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from pathlib import Path
from typing import IO, NamedTuple

from ..connection.stored_values import Json
from ..errors import BrowseError, QueryInterruptedError
from ..temporary import TemporaryFolder
from ..text import one_line
from ..wording import _
from .faults import HostError, cannot_start, explain, fault
from .host import Host, ssh_command

CONNECT_SECONDS = 20.0
"""How long a host may take until its program says hello."""
SERVE = ("serve", "--stdio")
"""What runs at the other end; a key may be restricted to it."""
ANSWER_SECONDS = 90.0
"""How long an answer may take; more than the limit of a question there."""
CHANGE_SECONDS = 660.0
"""How long a change may take; more than its limit there."""
RETRY_SECONDS = 5.0
"""After a failure, questions fail at once for this long; then the next one connects again."""
POLL_SECONDS = 15.0
"""Between two attempts to reach a host that is away and still on screen."""
ANSWER_BYTES = 64_000_000
"""A longer answer is refused."""
NOISE_BYTES = 100_000
"""Bytes that a login shell may print before the program says hello."""
_POLL = 0.1
"""Seconds between two looks whether a call is to be stopped."""
_END_SECONDS = 2.0
"""How long ssh may take to end."""
_CHUNK = 65_536
_ANSWER = re.compile(rb'\{"id": ?(\d{1,15}), ?"(\w{1,20})": ?')
"""How a line begins that belongs to a question."""
_SHORT = 10_000
"""Bytes of a line that no question has asked for."""
_WAITING = 100
"""Lines about the progress of one question that may wait to be read."""
_SOCKET_PATH = 86
"""Longest path of a control socket: macOS allows 103 bytes, and ssh binds it under a name that is
17 longer."""


class Reply(NamedTuple):
    """What a call, or a command, printed on a host."""

    code: int
    """Its exit code."""
    out: str
    err: str


class AnswerLine(NamedTuple):
    """A line that belongs to a question."""

    kind: str
    """Its second key: `answer`, `error`, `tell`, `portion`, or `code` of a command."""
    text: bytes
    """The whole line."""
    start: int
    """Where the value of that key begins."""

    @property
    def value(self) -> bytes:
        """The value of the second key, if it has no third."""
        return self.text[self.start : -1]


class Hello(NamedTuple):
    """What the program on a host says first."""

    version: str
    path: str
    """The store there."""
    profile: str
    """Its profile in Hermes; empty for none."""
    protocol: int = 0
    """See `codec.PROTOCOL`."""
    rights: tuple[str, ...] = ()
    """What may be asked for: `read`, and `change` where the machine allows changes."""


class Link:
    """A connection to a host, opened by the first question and again after it was lost; any thread
    asks.

    Args:
        socket: Path for the control socket, in a private folder; None for no multiplexing.
    """

    def __init__(self, host: Host, socket: Path | None = None) -> None:
        self.host = host
        usable = (
            socket is not None
            and sys.platform != "win32"
            and len(os.fsencode(socket)) <= _SOCKET_PATH
        )
        self.control = socket if usable else None
        """The control socket that commands use while the connection is open."""
        self.hello: Hello | None = None
        """What the host said first, on the newest connection."""
        self.fingerprint: tuple[int, ...] = ()
        """Of the store there, as of its last change."""
        self.error: HostError | None = None
        """Why the last attempt failed; None while connected."""
        self.away_since: float | None = None
        """Unix seconds of the first failure since it last answered; None while it is not known to
        be away."""
        self._process: subprocess.Popen[bytes] | None = None
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._asked: dict[int, queue.SimpleQueue[AnswerLine | BrowseError]] = {}
        self._greeted: Future[Hello] = Future()
        self._number = 0
        self._failed_at = float("-inf")
        self._closed = False
        self._noise = ""
        """The last line that the newest connection printed instead of a hello."""

    def open(self) -> Hello:
        """Connect, unless connected; return what the host said. HostError if it cannot, or has no
        such program."""
        with self._lock:
            if self._process is None:
                if self._closed or time.monotonic() - self._failed_at < RETRY_SECONDS:
                    raise self._why()
                self._start()
            greeted, process = self._greeted, self._process
        try:
            return self._checked(greeted.result(CONNECT_SECONDS))
        except NotInTime:
            error = fault(self.host, "host-silent", seconds=CONNECT_SECONDS)
            self._end(process, error)
            raise error from None

    def _checked(self, hello: Hello) -> Hello:
        """Return a hello. HostError if it is about another profile than was asked for: the key may
        decide that."""
        if self.host.profile and hello.profile != self.host.profile:
            sentence = _("this key may serve only the profile “{own}”, not “{wanted}”.")
            said = sentence.format(own=hello.profile, wanted=self.host.profile)
            raise fault(self.host, "host-refused", said=said)
        return hello

    def _why(self) -> HostError:
        # One error is raised many times, and would keep the frames of each.
        return (self.error or fault(self.host, "host-lost")).with_traceback(None)

    def reconnect(self) -> Hello:
        """Connect as `open`, even shortly after a failure."""
        self._failed_at = float("-inf")
        return self.open()

    def try_again(self) -> None:
        """Connect in the background if the last attempt is a while ago; for a caller that polls."""
        if (
            self._process is None
            and not self._closed
            and time.monotonic() - self._failed_at > POLL_SECONDS
        ):
            self._failed_at = time.monotonic()
            threading.Thread(
                target=self._connect_quietly, name=f"host {self.host.name}", daemon=True
            ).start()

    def _connect_quietly(self) -> None:
        with contextlib.suppress(HostError):  # `error` has it
            self.reconnect()

    def _start(self) -> None:
        line = self.host.command_line([*SERVE, "--allow-changes"])
        command = ssh_command(self.host, line, control=self.control)
        # No process that the user's configuration asks for stays behind when this one ends.
        master = "no" if self.control is None else "yes"
        command[1:1] = ["-o", f"ControlMaster={master}", "-o", "ControlPersist=no"]
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
            problem = cannot_start(self.host, error)
            self._failed(problem)
            raise problem from error
        self._process, self._greeted, self._asked, self.error = process, Future(), {}, None
        self._noise = ""
        name, own = f"host {self.host.name}", (process, self._greeted)
        threading.Thread(target=self._listen, args=own, name=name, daemon=True).start()

    def send(self, question: Json, arguments: bytes = b"{}") -> int:
        """Send a question with its arguments as JSON; return its number, for `lines` and
        `cancel`."""
        self.open()
        with self._lock:
            process = self._process
            if process is None:
                raise self._why()
            self._number += 1
            number = self._number
            self._asked[number] = queue.SimpleQueue()
        head = json.dumps({"id": number, **question}).encode()[:-1]
        self._write(process, b'%b, "with": %b}\n' % (head, arguments))
        return number

    def tell(self, message: Json) -> None:
        """Send a message that has no answer, if connected."""
        if (process := self._process) is not None:
            self._write(process, json.dumps(message).encode() + b"\n")

    def _write(self, process: subprocess.Popen[bytes], line: bytes) -> None:
        assert process.stdin is not None
        try:
            with self._writing:
                process.stdin.write(line)
        except (OSError, ValueError):
            return  # it has ended: the thread that listens says so to all who wait

    def lines(
        self,
        number: int,
        seconds: float = ANSWER_SECONDS,
        poll: Callable[[], object] = lambda: None,
    ) -> Iterator[AnswerLine]:
        """Yield the lines about a question; the last one is its answer. `poll` is called several
        times a second.

        Raises:
            HostError: The answer does not come.
            QueryInterruptedError: `cancel` was called.
        """
        waiting, process = self._asked.get(number), self._process
        if waiting is None:
            raise self._why()
        until = time.monotonic() + seconds
        try:
            while True:
                if time.monotonic() > until:
                    error = fault(self.host, "host-silent", seconds=seconds)
                    self._end(process, error)
                    raise error
                try:
                    line = waiting.get(timeout=_POLL)
                except queue.Empty:
                    poll()
                    continue
                if isinstance(line, BrowseError):
                    raise line.with_traceback(None)
                yield line
                if line.kind not in ("tell", "portion"):
                    return
        finally:
            self._asked.pop(number, None)

    def cancel(self, number: int) -> None:
        """Cancel a question from any thread: whoever waits for its answer gets a
        QueryInterruptedError at once."""
        waiting = self._asked.get(number)
        if waiting is None:
            return
        waiting.put(QueryInterruptedError(_("The query was interrupted.")))
        self.tell({"cancel": number})

    def call(
        self,
        name: str,
        values: Mapping[str, object] | None = None,
        *,
        seconds: float = ANSWER_SECONDS,
        sent: Callable[[int], object] | None = None,
    ) -> Reply:
        """Ask for something that `calls.py` lists.

        Args:
            name: Of the call.
            values: Its arguments; the others have their defaults.
            sent: Called with the number of the question, for `cancel`.

        Raises:
            HostError: The host cannot be reached, or the connection was lost; it may have been
                done.
            QueryInterruptedError: `cancel` was called.
        """
        number = self.send({"call": name}, json.dumps(dict(values or {})).encode())
        if sent is not None:
            sent(number)
        line = next(self.lines(number, seconds))
        answer = _object(line.text)
        if isinstance(said := answer.get("refused"), str):
            raise fault(self.host, "host-refused", said=said)
        code, out, err = answer.get("code"), answer.get("out"), answer.get("err")
        if not isinstance(code, int) or not isinstance(out, str) or not isinstance(err, str):
            raise fault(self.host, "host-noise", said=str(answer)[:80])
        return Reply(code, out, err)

    def close(self) -> None:
        """End the connection, without waiting for it; the program on the host ends with its
        input."""
        self._closed = True
        self._end(self._process, fault(self.host, "host-lost"))

    def _failed(self, error: HostError) -> None:
        self._failed_at, self.error = time.monotonic(), error
        self.away_since = self.away_since or time.time()

    def _end(self, process: subprocess.Popen[bytes] | None, error: HostError) -> None:
        """End a process, unless that was done already; everyone who waits for it gets the error."""
        with self._lock:
            if self._process is not process:
                return
            # ssh ends before any thread gets the error, because one of them may end the program,
            # and ssh would stay behind. The thread that listens then cleans up.
            if process is not None:
                process.terminate()
            self._process = None
            self._failed(error)
            greeted, waiting = self._greeted, list(self._asked.values())
        if process is not None:
            self._close_input(process)  # for an `ssh` that is a script
        with contextlib.suppress(Exception):  # it has its answer
            greeted.set_exception(error)
        for each in waiting:
            each.put(error)

    def _close_input(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        if self._writing.acquire(
            timeout=0.2
        ):  # else a thread is writing, which fails when the process has ended
            process.stdin.close()
            self._writing.release()

    # The threads that listen; the next connection may have begun before they end

    def _listen(self, process: subprocess.Popen[bytes], greeted: Future[Hello]) -> None:
        assert process.stdout is not None and process.stderr is not None
        said = bytearray()
        saying = threading.Thread(target=_keep_end, args=(process.stderr, said), daemon=True)
        saying.start()
        try:
            self._read(process.stdout, greeted)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END_SECONDS)
                saying.join(_END_SECONDS)
            told = said.decode("utf-8", "replace")
            error = explain(self.host, process.poll(), told, greeted.done(), self._noise)
        except HostError as noise:
            error = noise
        self._end(process, error)
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        self._close_input(process)

    def _read(self, out: IO[bytes], greeted: Future[Hello]) -> None:
        line, noise = bytearray(), 0
        while chunk := out.read(_CHUNK):
            noise += 0 if greeted.done() else len(chunk)
            *whole, rest = chunk.split(b"\n")
            for part in whole:
                line += part
                self._heard(bytes(line), greeted)
                line.clear()
            line += rest
            if len(line) > ANSWER_BYTES or noise > NOISE_BYTES:
                raise fault(self.host, "host-noise", said=_("more than was asked for"))

    def _heard(self, line: bytes, greeted: Future[Hello]) -> None:
        if (begin := _ANSWER.match(line)) is not None:
            waiting, kind = self._asked.get(int(begin[1])), begin[2].decode()
            is_progress = kind in ("tell", "portion")
            if waiting is not None and not (is_progress and waiting.qsize() > _WAITING):
                waiting.put(AnswerLine(kind, line, begin.end()))
            return
        said = _object(line) if len(line) < _SHORT else {}
        if not said:
            if greeted.done():
                raise fault(self.host, "host-noise", said=line[:80].decode("utf-8", "replace"))
            self._noise = line[:400].decode("utf-8", "replace").strip() or self._noise
            return  # what a login shell prints
        mark = said.get("fingerprint")
        if (
            isinstance(mark, list)
            and len(mark) == 8
            and all(isinstance(each, int) for each in mark)
        ):
            self.fingerprint = tuple(mark)
        if isinstance(hello := said.get("hello"), dict):
            self.away_since = None
            self.hello = _hello(hello)
            with contextlib.suppress(Exception):  # too late
                greeted.set_result(self.hello)


def _object(line: bytes) -> Json:
    """Return the JSON object on a line; an empty one if there is none."""
    try:
        said = json.loads(line) if line.startswith(b"{") else None
    except (ValueError, RecursionError):
        said = None
    return said if isinstance(said, dict) else {}


def _hello(said: Json) -> Hello:
    version, path, profile = (
        one_line(str(said.get(name) or ""), 400) for name in ("version", "path", "profile")
    )
    rights = said.get("rights")
    words = (
        tuple(one_line(str(each), 40) for each in rights[:8]) if isinstance(rights, list) else ()
    )
    protocol = said.get("protocol")
    return Hello(version, path, profile, protocol if isinstance(protocol, int) else 0, words)


def _keep_end(stream: IO[bytes], said: bytearray) -> None:
    with stream:
        while chunk := stream.read(_CHUNK):
            said += chunk
            del said[:-4096]


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
                # Not by its name: in the temporary folder of macOS a path has room for few more
                # letters.
                self._links[host.name] = Link(host, self._folder.path / str(len(self._links)))
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
