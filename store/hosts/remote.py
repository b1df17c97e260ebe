"""A store on a host: a `Store` whose calls are carried out there."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..cleanup.bulk import CleanedUp
from ..connection.connect import Fingerprint, RemoteCalls, Store
from ..connection.reader import Reader
from ..edit.delete import Deleted
from ..edit.delete_plan import Expected
from ..edit.flags import Change
from ..errors import BrowseError, WriteInDoubtError
from ..hermes.homes import DEFAULT_PROFILE, Location
from ..hermes.resume_command import Caution, ResumePlan
from ..insights.facts import Facts
from ..progress import never, quiet
from ..text import one_line
from ..wording import _
from . import codec
from .connection import CHANGE_SECONDS, AskedQuestion, Link
from .host import Host, HostError, ssh_command
from .ssh import ANSWER_SECONDS

_LIST_BYTES = 32_000_000
"""Of all portions of a list of sessions; some 150,000 sessions."""
_SOON = 1.0
"""Seconds after which whoever waits for a change is told so."""


class HostConnection(RemoteCalls):
    """A connection to a store on a host, which is closed there when nothing is asked any more.

    Args:
        on_wait: Called when a change takes long, on another thread.
    """

    def __init__(self, link: Link, on_wait: Callable[[], object] = lambda: None) -> None:
        self.link, self.on_wait = link, on_wait
        self._running: AskedQuestion | None = None
        self._list_bytes = 0
        """Of the portions of the list that is being read."""

    def call(self, name: str, values: codec.Arguments) -> object:
        """Return the answer of a call.

        Raises:
            HostError: The host did not answer, or not with what was asked.
            BrowseError: What happened there.
        """
        hello = self.link.open()
        if hello.protocol != codec.PROTOCOL:
            kind = "host-newer" if hello.protocol > codec.PROTOCOL else "host-version"
            raise HostError(self.link.host, kind, said=hello.version)
        if codec.signature(name).is_write:
            return self._change(name, values)
        answer = self.ask(name, values)
        if isinstance(answer, Facts):
            answer.catalog = values["catalog"]  # as it does not travel
        return answer

    def ask(self, name: str, values: codec.Arguments) -> Any:
        """Return the answer of a call, given its arguments by name."""
        types = codec.signature(name)
        question = self._running = self.link.send(name, codec.sent(name, values))
        seconds = CHANGE_SECONDS if types.is_write else ANSWER_SECONDS
        stopped = values.get("stopped", never)
        for line in question.lines(seconds, stopped, changes=types.is_write):
            if line.kind in types.reports:
                report = values.get(line.kind, quiet)
                report(self._decoded(line.value, types.reports[line.kind]))
            elif line.kind == "answer":
                if name == "sessions_after":
                    self._count(len(line.value), is_first=values["after"] is None)
                return self._decoded(line.value, types.answer)
            elif line.kind == "error":
                error = self._decoded(line.value, BrowseError)
                self._running = None
                raise codec.error_there(self.link.host, error)
            else:
                break
        raise self._noise(line.value)

    def _count(self, size: int, *, is_first: bool) -> None:
        """Count the bytes of a portion; HostError if a list has too many, as it may never end."""
        self._list_bytes = size if is_first else self._list_bytes + size
        if self._list_bytes > _LIST_BYTES:
            raise HostError(self.link.host, "host-noise", said=_("more than was asked for"))

    def _decoded(self, value: bytes, kind: object) -> Any:
        try:
            return codec.decode(value, kind)
        except ValueError as error:
            raise self._noise(value) from error

    def _change(self, name: str, values: codec.Arguments) -> object:
        """Return the answer of a change, which says where it was done.

        If the connection is lost before the answer of a delete or a clean-up, the trash there is
        looked at before anything is said: whoever takes it back needs the name of the deletion.
        Nothing is sent twice.

        Raises:
            WriteInDoubtError: Nobody knows whether it was done.
        """
        self._running = None
        waiting = threading.Timer(_SOON, self.on_wait)
        waiting.daemon = True
        waiting.start()
        try:
            answer = self.ask(name, values)
            if isinstance(answer, CleanedUp) and answer.error is not None:
                answer = answer._replace(error=codec.error_there(self.link.host, answer.error))
        except HostError as lost:
            if self._running is None:  # nothing was sent, or it was answered and did nothing
                raise
            answer = self._done_before(lost, name, values)
        finally:
            waiting.cancel()
        if isinstance(answer, Change) and answer.rows and name != "undo":
            where = _("{done} on {name}", done=answer.sentence, name=self.link.host.name)
            return answer._replace(sentence=where)
        return answer

    def _done_before(self, lost: HostError, call: str, values: codec.Arguments) -> object:
        """Return what a delete or a clean-up had done before the connection was lost.

        Raises:
            WriteInDoubtError: The machine does not show that it did; or it was another call.
        """
        with suppress(BrowseError):  # it is still away
            self.link.open(at_once=True)  # for the list to be read again
            done = self._in_trash(values) if call in ("delete", "clean_up") else None
            if done is not None:
                return done.deleted if call == "delete" else done
        raise doubtful(self.link.host) from lost

    def _in_trash(self, values: codec.Arguments) -> CleanedUp | None:
        """Return which conversations are gone from the store there, with the newest deletion that
        has them; None if there is none."""
        expected: Sequence[Expected] = values.get("expected") or [
            Expected("", tuple(values["session_ids"]), frozenset(), 0)
        ]
        ids = [session for each in expected for session in each.sessions]
        there = self.ask("neighbourhood", {"session_ids": ids, "now": 0.0}).sessions
        gone = [each for each in expected if there.keys().isdisjoint(each.sessions)]
        left = len(expected) - len(gone)
        for bundle in self.ask("deletions", {}):
            if gone and set(gone[0].sessions) <= set(bundle.sessions):
                return CleanedUp(
                    Deleted(bundle, (), (), ()),
                    tuple(each.id for each in gone),
                    doubtful=left,
                    error=doubtful(self.link.host) if left else None,
                )
        return None

    def _noise(self, said: bytes) -> BrowseError:
        return HostError(self.link.host, "host-noise", said=said[:80].decode("utf-8", "replace"))

    def interrupt(self) -> None:
        """Interrupt the running call, from any thread."""
        if self._running is not None:
            self._running.cancel()


def doubtful(host: Host) -> WriteInDoubtError:
    """Return the error for a change on a host of which nobody knows whether it was done."""
    return WriteInDoubtError(
        _(
            "{name}: the connection was lost while it changed the store, so nobody knows whether it was done.",
            name=host.name,
        ),
        remedy=_("Look at the list once {name} is back: nothing is sent again.", name=host.name),
    )


class RemoteStore(Store):
    """The store of a host, through its open connection.

    Args:
        path: A name for the screen, such as `vps:/home/me/.hermes/state.db`; no file of this
            machine.
    """

    def __init__(self, link: Link, path: Path) -> None:
        super().__init__(path)
        self.link = link

    def remote_calls(self) -> HostConnection:
        """Return a connection to the store there."""
        return HostConnection(self.link, lambda: self.on_wait())

    def fingerprint(self) -> Fingerprint:
        """Return what changes when the store there does; nothing while it is away."""
        return self.link.fingerprint()

    def open(self) -> Reader:
        """Refused: no statement is sent to another machine."""
        raise HostError(
            self.link.host, "host-refused", said=_("no statement is sent to another machine")
        )


def locate_there(link: Link) -> Location:
    """Return the location of the store on a host, as it says itself. HostError if it cannot be
    reached."""
    host, hello = link.host, link.open()
    path, profile = one_line(hello.path, 400), one_line(hello.profile, 400)
    label = host.name if profile in ("", DEFAULT_PROFILE) else f"{host.name} · {profile}"
    return Location(Path(f"{host.name}:{path}"), profile=profile or None, label=label, host=host)


def over_ssh(host: Host, plan: ResumePlan) -> ResumePlan:
    """Return the plan of another machine as one for this: `ssh` runs it there."""
    # Its "here" is that machine.
    warnings = [Caution(each.code, f"{host.name}: {each.text}") for each in plan.warnings]
    executable = shutil.which("ssh")
    if executable is None:
        warnings.append(
            Caution(
                "no-ssh",
                _("There is no `ssh` on PATH: copy the command and run it where there is."),
            )
        )
    # What is risky has been confirmed on the card by then.
    line = host.command_line(["resume", "--yes", "--", plan.target])
    return replace(
        plan,
        argv=tuple(ssh_command(host, line, terminal=True)),
        env={},
        warnings=tuple(warnings),
        executable=executable,
        host=host.name,
    )
