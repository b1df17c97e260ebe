"""The connections of this process to hosts: one for each, opened when something is asked, and again
after it was lost.

A connection is an ssh process with `hermes-browse serve --stdio` at its other end. Each question
and each answer is a line of JSON; `serving.py` is the other side. A line that nobody has asked for
is dropped unread; one that was asked for is read by who asked. The ssh process ends with this
process, however that ends: the host's program ends with its input.
"""

from __future__ import annotations

import itertools
import queue
import re
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from ..connection.connect import Fingerprint
from ..connection.reader import Stopped
from ..errors import BrowseError, QueryInterruptedError
from ..progress import never
from ..wording import _
from .codec import REPORTS, Hello, Unasked, decode
from .host import Host, HostError, explain
from .ssh import ANSWER_BYTES, CONNECT_SECONDS, NOISE_BYTES, SshProcess, in_thread

SERVE = ("serve", "--stdio")
"""What runs at the other end; a key may be restricted to it."""
CHANGE_SECONDS = 660.0
"""How long a change may take without a report; more than its limit there."""
RETRY_SECONDS = 5.0
"""After a failure, questions fail at once for this long; then the next one connects again."""
POLL_SECONDS = 15.0
"""Between two attempts to reach a host that is away and still on screen."""
_POLL = 0.1
"""Seconds between two looks whether a call is to be stopped."""
_WAITING = 20
"""Lines about the progress of one question that may wait to be read."""
PROGRESS_BYTES = 1_000_000
"""A longer line about progress is not kept."""
_ANSWER = re.compile(rb'\{"id": ?(\d{1,15}), ?"(\w{1,20})": ?')
"""How a line begins that belongs to a question."""
_SHORT = 10_000
"""Bytes of a line that no question has asked for."""


class AnswerLine(NamedTuple):
    """A line that belongs to a question."""

    kind: str
    """Its second key: `answer` or `error`, or one of `REPORTS`: then another line follows."""
    value: bytes
    """The value of that key, as JSON."""


class AskedQuestion:
    """A question that was sent, and the lines that come back about it: its progress, then its
    answer."""

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection, self._number = connection, number
        self._lines: queue.SimpleQueue[AnswerLine | BrowseError] = queue.SimpleQueue()

    def heard(self, line: AnswerLine) -> None:
        """Take a line about it; nothing after its answer, and of its progress what there is room
        for."""
        if line.kind not in REPORTS:
            self._connection.asked.pop(self._number, None)
        elif len(line.value) > PROGRESS_BYTES or self._lines.qsize() >= _WAITING:
            return
        self._lines.put(line)

    def fail(self, error: BrowseError) -> None:
        """Give up: whoever waits for the answer gets the error at once."""
        self._lines.put(error)

    def cancel(self) -> None:
        """Cancel it, from any thread."""
        self.fail(QueryInterruptedError(_("The query was interrupted.")))
        self._connection.tell(b"cancel", self._number)

    def lines(
        self, seconds: float, stopped: Stopped = never, *, changes: bool = False
    ) -> Iterator[AnswerLine]:
        """Yield the lines about it; the last one is its answer.

        Args:
            seconds: How long it may take; a change that reports has its time again.
            stopped: Polled; True asks for an answer with what is done so far.
            changes: Whether it changes the store.

        Raises:
            HostError: The answer does not come.
            QueryInterruptedError: `cancel` was called.
        """
        until, is_asked = time.monotonic() + seconds, False
        try:
            while time.monotonic() <= until:
                if not is_asked and stopped():
                    is_asked = True
                    self._connection.tell(b"stop", self._number)
                try:
                    line = self._lines.get(timeout=_POLL)
                except queue.Empty:
                    continue
                if isinstance(line, BrowseError):
                    raise line.with_traceback(None)
                yield line
                if line.kind not in REPORTS:
                    return
                if changes:
                    until = time.monotonic() + seconds
            raise self._connection.silent(seconds)
        finally:
            self._connection.asked.pop(self._number, None)


class Connection:
    """One ssh process, until it is lost; any thread asks.

    Raises:
        HostError: The process could not be started.
    """

    def __init__(self, link: Link) -> None:
        self._link, self._host = link, link.host
        self.error: HostError | None = None
        """Why it is lost."""
        self.lost_at = 0.0
        """By the monotonic clock."""
        self._hello = Hello()
        self._is_told = threading.Event()
        """Set when the host has said hello, or it is known that it will not."""
        self.asked: dict[int, AskedQuestion] = {}
        """By number, until answered."""
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        """To be sent by a thread of its own: a host that reads nothing keeps nobody waiting. None is
        the end."""
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._noise = ""
        """The last line that was printed instead of a hello."""
        line = self._host.command_line([*SERVE, "--allow-changes"])
        self.ssh = SshProcess(self._host, line, takes_input=True)
        for work in (self._listen, self._send):
            in_thread(work, f"host {self._host.name}")

    def hello(self) -> Hello:
        """Return what the host said first. HostError if it cannot be reached, or was lost."""
        if not self._is_told.wait(CONNECT_SECONDS):
            raise self.silent(CONNECT_SECONDS)
        self._check()
        return self._hello

    def _check(self) -> None:
        """Raise why it is lost, many times: the error keeps no frames of any of them."""
        if self.error is not None:
            raise self.error.with_traceback(None)

    def ask(self, call: str, arguments: bytes) -> AskedQuestion:
        """Send a call with its arguments as JSON."""
        number = next(self._numbers)
        asked = AskedQuestion(self, number)
        with self._lock:
            self._check()
            self.asked[number] = asked
        self._lines.put(
            b'{"id": %d, "ask": "%b", "with": %b}\n' % (number, call.encode(), arguments)
        )
        return asked

    def tell(self, what: bytes, number: int) -> None:
        """Send what is to become of a question; that has no answer."""
        self._lines.put(b'{"%b": %d}\n' % (what, number))

    def silent(self, seconds: float) -> HostError:
        """End it, as it has not answered for so long."""
        return self.end(HostError(self._host, "host-silent", seconds=seconds))

    def end(self, error: HostError) -> HostError:
        """End it, unless it has ended already; everyone who waits gets the error."""
        with self._lock:
            if self.error is not None:
                return self.error
            # ssh ends before any thread gets the error, because one of them may end the program,
            # and ssh would stay behind. The thread that listens then cleans up.
            self.ssh.terminate()
            self._link.away_since = self._link.away_since or time.time()
            self.error, self.lost_at = error, time.monotonic()
            waiting = list(self.asked.values())
        self._lines.put(None)
        self._is_told.set()
        for question in waiting:
            question.fail(error)
        return error

    # The threads that send and listen

    def _send(self) -> None:
        for line in iter(self._lines.get, None):
            self.ssh.write(line)

    def _listen(self) -> None:
        try:
            self._read()
        except HostError as error:
            self.end(error)
        self.ssh.close()

    def _read(self) -> NoReturn:
        """Hear lines until the process ends; raise why it did."""
        line, noise = bytearray(), 0
        while (chunk := self.ssh.read()) is not None:
            noise += 0 if self._is_told.is_set() else len(chunk)
            *whole, rest = chunk.split(b"\n")
            for part in whole:
                line += part
                self._heard(bytes(line))
                line.clear()
            line += rest
            if len(line) > ANSWER_BYTES or noise > NOISE_BYTES:
                raise HostError(self._host, "host-noise", said=_("more than was asked for"))
        code, has_greeted = self.ssh.wait(), self._is_told.is_set()
        raise explain(self._host, code, self.ssh.said, has_greeted, self._noise)

    def _heard(self, line: bytes) -> None:
        if (begin := _ANSWER.match(line)) is not None:
            question = self.asked.get(int(begin[1]))
            if question is not None:
                question.heard(AnswerLine(begin[2].decode(), line[begin.end() : -1]))
            return
        try:
            hint = decode(line[:_SHORT], Unasked)
        except ValueError:
            text = line[:400].decode("utf-8", "replace")
            if self._is_told.is_set():
                raise HostError(self._host, "host-noise", said=text[:80]) from None
            self._noise = text.strip() or self._noise
            return  # what a login shell prints
        self._link.said = hint.fingerprint or self._link.said
        if hint.hello is not None and not self._is_told.is_set():
            self._link.away_since, self._hello, self._noise = None, hint.hello, ""
            self._is_told.set()


class Link:
    """The connection to a host, opened by the first question and again after it was lost; any
    thread asks."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.away_since: float | None = None
        """Unix seconds of the first failure since it last answered; None while it is not known to
        be away."""
        self.said: Fingerprint = ()
        """The fingerprint of the store there, as of its last change."""
        self.connection: Connection | None = None
        """The newest one."""
        self._lock = threading.Lock()
        self._is_closed = False

    @property
    def error(self) -> HostError | None:
        """Why the last attempt failed; None while connected."""
        return self.connection.error if self.connection is not None else None

    def open(self, *, at_once: bool = False) -> Hello:
        """Connect, unless connected; and, unless `at_once`, not within `RETRY_SECONDS` after a
        failure. Return what the host said.

        Raises:
            HostError: It cannot be reached, has no such program, or is about another profile than
                was asked for: the key may decide that.
        """
        with self._lock:
            known = self.connection
            if known is None or (
                known.error and (at_once or time.monotonic() - known.lost_at >= RETRY_SECONDS)
            ):
                if self._is_closed:
                    raise HostError(self.host, "host-lost")
                known = self.connection = Connection(self)
        hello, wanted = known.hello(), self.host.profile
        if wanted in ("", hello.profile):
            return hello
        said = _(
            "this key may serve only the profile “{own}”, not “{wanted}”.",
            own=hello.profile,
            wanted=wanted,
        )
        raise HostError(self.host, "host-refused", said=said)

    def fingerprint(self) -> Fingerprint:
        """Return what the host said last: it says so when the store changes. Nothing while it is
        away; then it is tried again in the background, if the last attempt is a while ago."""
        lost = self.connection
        if lost is None or lost.error is None:
            return self.said
        if time.monotonic() - lost.lost_at > POLL_SECONDS:
            # Nobody waits for it: `error` has what came of it.
            in_thread(self.open, f"host {self.host.name}")
        return ()

    def send(self, call: str, arguments: bytes = b"{}") -> AskedQuestion:
        """Send a call with its arguments as JSON; errors as of `open`."""
        self.open()
        assert self.connection is not None
        return self.connection.ask(call, arguments)

    def close(self) -> None:
        """End the connection, without waiting for it; the program on the host ends with its
        input."""
        with self._lock:
            self._is_closed = True
        if self.connection is not None:
            self.connection.end(HostError(self.host, "host-lost"))


class Links:
    """The connections of this process, one for each host, each opened by its first question."""

    def __init__(self) -> None:
        self._links: dict[str, Link] = {}

    def of(self, host: Host) -> Link:
        """Return the connection to a host; nothing is sent yet."""
        return self._links.setdefault(host.name, Link(host))

    def close(self) -> None:
        """End all connections."""
        for link in list(self._links.values()):
            link.close()
