"""Command lines that run once on a host, each over a connection of its own; several hosts are asked
at once."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import NamedTuple, TypeVar

import msgspec

from ..connection.stored_values import Json
from ..errors import BrowseError, NotFoundError, RefusedError, StoreError
from ..text import one_line
from ..wording import _
from .faults import SSH_FAILED, explain, fault, is_no_program, raised
from .host import Host
from .link import ANSWER_BYTES, ANSWER_SECONDS, CONNECT_SECONDS, NOISE_BYTES
from .ssh import SshProcess

_T = TypeVar("_T")
_MARK = "hermes-browse-answers-below"
"""Printed before a command: everything ahead of it is what the shell of the host says by itself."""
_MARKED = re.compile(_MARK.encode() + rb"[^\n]*\n")
SILENT_SECONDS = 660.0
"""How long a command that may take any time may print nothing; the losses of a million messages
take a minute."""
_ERRORS: dict[int, type[BrowseError]] = {3: StoreError, 4: NotFoundError, 5: RefusedError}
"""By exit code."""


class Reply(NamedTuple):
    """What a command printed on a host."""

    code: int
    """Its exit code; that of ssh if this failed, -1 if it did not end."""
    out: str
    err: str
    has_begun: bool = True
    """False if it did not run; then `out` is what was printed instead."""


def run(
    host: Host, line: str, *, seconds: float | None = ANSWER_SECONDS, most: int = ANSWER_BYTES
) -> Reply:
    """Run a line in the shell of a host and return what came of it.

    Args:
        host: Where.
        line: Such as from `Host.command_line`.
        seconds: How long it may take; None for as long as it prints something now and then.
        most: More bytes are refused.

    Raises:
        HostError: There is no ssh, or it is silent, or says too much.
    """
    process = SshProcess(host, f"echo {_MARK}; {line}")
    try:
        out, has_begun = _output(process, host, seconds, most)
        code = process.wait()
    finally:
        process.close()
    text = out.decode("utf-8", "replace")
    return Reply(-1 if code is None else code, text, process.said, has_begun)


def _output(
    process: SshProcess, host: Host, seconds: float | None, most: int
) -> tuple[bytes, bool]:
    """Return what was printed behind the mark; without a mark all of it, and False."""
    out, has_begun = bytearray(), False
    begun = heard = time.monotonic()
    while True:
        limit, since = seconds if has_begun else CONNECT_SECONDS, begun
        if limit is None:
            limit, since = SILENT_SECONDS, heard
        try:
            chunk = process.read(max(0.0, since + limit - time.monotonic()))
        except TimeoutError:
            raise fault(host, "host-silent", seconds=limit) from None
        if chunk is None:
            return bytes(out), has_begun
        heard = time.monotonic()
        out += chunk
        if not has_begun and (mark := _MARKED.search(out)) is not None:
            has_begun = True
            del out[: mark.end()]
        if len(out) > (most if has_begun else NOISE_BYTES):
            raise fault(host, "host-noise", said=_("more than was asked for"))


def run_once(
    host: Host, line: str, *, seconds: float | None = ANSWER_SECONDS, most: int = ANSWER_BYTES
) -> Reply:
    """Run a line as `run` does; return what it printed.

    Raises:
        HostError: ssh failed, the host has no such program, or the output is not what was asked
            for.
    """
    reply = run(host, line, seconds=seconds, most=most)
    noise = "" if reply.has_begun else reply.out
    if reply.code == SSH_FAILED and not reply.has_begun and not reply.err:
        raise fault(host, "host-closed")
    has_failed = reply.code == SSH_FAILED or is_no_program(host, reply.code, reply.err)
    if has_failed or (reply.code and not reply.has_begun):
        raise explain(host, reply.code, reply.err, has_greeted=False, noise=noise)
    if not reply.has_begun:
        kind = "host-serves" if '{"hello"' in noise else "host-noise"
        raise fault(host, kind, said=reply.err or noise)
    return reply


def read_document(host: Host, text: str) -> Json:
    """Return the JSON object that a command printed, HostError if it is none."""
    try:
        return msgspec.json.decode(text, type=dict)
    except (msgspec.DecodeError, RecursionError):
        raise fault(host, "host-noise", said=text[:80]) from None


def refusal(host: Host, reply: Reply) -> BrowseError:
    """Return the error for a command that failed on a host: its last sentence, its kind and its
    exit code."""
    lines = [line for line in reply.err.splitlines() if line.strip()]
    sentence = one_line(lines[-1].removeprefix("hermes-browse: "), 600) if lines else ""
    if not sentence:
        sentence = _("its hermes-browse ended with exit code {code}.", code=reply.code)
    return raised(host, _ERRORS.get(reply.code, BrowseError), sentence, reply.code)


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
