"""The base class of commands, and their context: arguments, store, time, and questions to the
user."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import (
    NotFoundError,
    RefusedError,
    StoreEmptyError,
    StoreMissingError,
)
from hermes_browse.store.hermes.homes import DEFAULT_PROFILE, Location, locate
from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.sessions.resolve import resolve_session
from hermes_browse.store.trash.progress import never
from hermes_browse.store.wording import _

from ..store_paths import sessions_folder
from .output import note

if TYPE_CHECKING:
    import argparse

    from hermes_browse.store.cleanup.bulk import Step
    from hermes_browse.store.cleanup.retention import RetentionRules
    from hermes_browse.store.connection.reader import Reader
    from hermes_browse.store.sessions.models import Conversation
    from hermes_browse.store.trash.progress import Stage

_PROGRESS_EVERY = 2.0
"""Seconds between two progress notes of a long write."""


class CommandContext:
    """The arguments of a command, the store they name, and the time."""

    def __init__(
        self, arguments: SimpleNamespace, location: Location, stop: Callable[[], bool] = never
    ) -> None:
        self.arguments = arguments
        self.stop = stop
        """Polled by changes that take long."""
        self.location = location
        self.store = Store(location.path)
        self.now = _demo_time(arguments) if location.demo else time.time()

    @property
    def json(self) -> bool:
        """Whether to print one JSON document."""
        return bool(self.arguments.json)

    @property
    def can_ask(self) -> bool:
        """Whether the user can be asked for confirmation."""
        return on_a_terminal() and not self.json

    def retention_rules(self, reader: Reader) -> RetentionRules:
        """Read what Hermes will delete by itself (`cleanup.retention`)."""
        from hermes_browse.store.cleanup.retention import retention_rules_at  # start: reports only

        return retention_rules_at(reader, self.location, self.now)

    def find(self, reader: Reader, words: Sequence[str]) -> list[tuple[str, Conversation]]:
        """Find the conversations a user names. Commands call it before they change anything.

        Args:
            words: Session ids, prefixes of them, or titles.

        Returns:
            For each word the id of the matching session, and its conversation.

        Raises:
            NotFoundError: A word matches no session, or several.
        """
        ids = [resolve_session(reader, word) for word in words]
        catalog = read_neighbourhood(reader, ids, self.now)
        pairs: list[tuple[str, Conversation]] = []
        for session_id in ids:
            conversation = catalog.of_session(session_id)
            if conversation is None:
                raise NotFoundError(
                    _("There is no session {id} in this store.").format(id=session_id)
                )
            pairs.append((session_id, conversation))
        return pairs

    def confirm(self, count: int, what: str) -> None:
        """Ask for a `y`, or for the number of items when there are several.

        Args:
            what: The action, as part of a sentence.

        Raises:
            RefusedError: The answer was different, or the user cannot be asked.
        """
        if not self.can_ask:
            raise RefusedError(
                _("Not without --yes: this would {what}. Nothing was changed.").format(what=what)
            )
        wanted = str(count) if count > 1 else "y"
        question = _("This will {what}. Type {wanted} to go on, anything else to leave: ")
        ask(question.format(what=what, wanted=wanted), wanted)


class Subcommand:
    """Base class of commands; `registry.COMMANDS` lists them with their help."""

    takes_common_options = True
    """Whether it takes `--json` and the options that name a store."""
    takes_host = True
    """Whether it can run on a host (`--host`)."""
    reads_old_transcripts = False
    """Whether it accepts `--old`."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of this command."""

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return a sentence if valid arguments contradict each other, else an empty text."""
        return ""

    def start(self, arguments: SimpleNamespace) -> int:
        """Open the store, run and return the exit code. Commands that do not read exactly one store
        override this."""
        with opened_location(arguments) as location:
            return self.run(CommandContext(arguments, location))

    def run(self, context: CommandContext) -> int:
        """Execute the command, print the result and return the exit code."""
        raise NotImplementedError


def on_a_terminal() -> bool:
    """Return whether standard input and standard error are terminals."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def ask(question: str, expected: str) -> None:
    """Ask for confirmation.

    Args:
        question: Printed without a newline; the answer is typed behind it.
        expected: The answer that confirms; case and commas are ignored.

    Raises:
        RefusedError: The answer was different.
    """
    print(question, end="", file=sys.stderr)
    sys.stderr.flush()
    if sys.stdin.readline().strip().replace(",", "").lower() != expected:
        raise RefusedError(_("Nothing was changed."))


def telling() -> Callable[[Stage | Step], None]:
    """Return a callback that notes the progress of a long write: on a terminal, every two
    seconds."""
    last = time.monotonic()

    def tell(progress: Stage | Step) -> None:
        nonlocal last
        if time.monotonic() - last > _PROGRESS_EVERY and sys.stderr.isatty():
            last = time.monotonic()
            note(progress.words)

    return tell


def _demo_time(arguments: SimpleNamespace) -> float:
    """Return the time of the sample store: now in the browser, the start of the hour in a command.

    The ids of the sample depend on it, and an id printed by one command must be valid in the next.
    """
    now = time.time()
    return now - now % 3600 if arguments.command is not None else now


def _location_or_reason(arguments: SimpleNamespace) -> Location | str:
    """Return the store the arguments name, or the reason why the sample store is opened instead."""
    if arguments.demo:
        return _("this is a sample store; without --demo your own opens")
    location = locate(home=arguments.home, profile=arguments.profile, database=arguments.db)
    if arguments.or_demo:
        try:
            Store(location.path).check()
        except (StoreMissingError, StoreEmptyError):
            return _("no Hermes store at {path} yet: this is a sample").format(path=location.path)
    return location


@contextmanager
def opened_location(arguments: SimpleNamespace) -> Iterator[Location]:
    """Open the store the arguments name; sample and old transcripts live in a temporary folder for
    the block.

    Raises:
        BrowseError: There is no such store, or the old transcripts cannot be read.
    """
    target = _location_or_reason(arguments)
    if isinstance(target, Location) and not arguments.old:
        yield target
        return
    from hermes_browse.store.temporary import (
        TemporaryFolder,
        removed_on_signals,
    )  # start time: rarely needed

    with removed_on_signals():
        if isinstance(target, Location):
            ids = getattr(arguments, "id", None) or getattr(arguments, "ids", None) or []
            with _opened_transcripts(target, [ids] if isinstance(ids, str) else ids) as location:
                yield location
            return
        from hermes_browse.store.demo import build_home  # start time: rarely needed

        with TemporaryFolder("demo") as folder:
            path = build_home(folder, now=_demo_time(arguments))
            yield Location(path, folder, DEFAULT_PROFILE, demo=True, note=target)


@contextmanager
def _opened_transcripts(beside: Location, only: Collection[str]) -> Iterator[Location]:
    """Load the old transcripts of a home (`--old`) into a temporary store for the block; note what
    it holds.

    Args:
        only: Prefixes of ids; other files may be skipped. Empty for all.

    Raises:
        RefusedError: The store does not belong to a home.
        BrowseError: The files cannot be listed.
        StoreError: The store cannot be read, so files without a session in it are unknown.
    """
    from hermes_browse.store.legacy.old_transcripts import (
        OldTranscripts,
    )  # start time: rarely needed
    from hermes_browse.store.legacy.transcript_files import (
        known_sessions,
    )  # start time: rarely needed

    folder = sessions_folder(beside)
    if folder is None:
        raise RefusedError(
            _("{path} is not the store of a Hermes home: no old transcripts belong to it.").format(
                path=beside.path
            ),
            remedy=_("Name a root with --home."),
        )
    known: Collection[str] = ()
    try:
        with Store(beside.path).reader() as reader:
            known = known_sessions(reader)
    except (StoreMissingError, StoreEmptyError):  # no store, or an empty one
        pass
    with OldTranscripts(folder, known, only=only) as transcripts:
        transcripts.fill_all()
        if not only or transcripts.notes:
            note(transcripts.describe())
        yield Location(transcripts.path, old_files=folder)
