"""What a command works with: its arguments, the store they name, the time, and the person at the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import NotFoundError, RefusedError, StoreEmptyError, StoreMissingError
from hermes_browse.store.hermes.homes import DEFAULT_PROFILE, Location, locate
from hermes_browse.store.wording import _

from ..store_paths import read_radar_at, sessions_folder
from .output import note

if TYPE_CHECKING:
    import argparse

    from hermes_browse.store.cleanup.bulk import Step
    from hermes_browse.store.cleanup.retention import Radar
    from hermes_browse.store.connection.connect import Reader
    from hermes_browse.store.sessions.models import Conversation
    from hermes_browse.store.trash.progress import Stage

_PROGRESS_EVERY = 2.0
"""Seconds between two sentences about how far a long write is."""


class Context:
    """What a command runs with."""

    def __init__(self, arguments: SimpleNamespace, location: Location) -> None:
        self.arguments = arguments
        self.location = location
        self.store = Store(location.path)
        self.now = _demo_time(arguments) if location.demo else time.time()

    @property
    def json(self) -> bool:
        """Whether one JSON document is wanted."""
        return bool(self.arguments.json)

    @property
    def can_ask(self) -> bool:
        """Whether somebody can be asked a question before something is deleted."""
        return on_a_terminal() and not self.json

    def radar(self, reader: Reader) -> Radar:
        """What Hermes will delete by itself (`cleanup.retention`)."""
        return read_radar_at(self.location, reader, self.now)

    def find(self, reader: Reader, words: Sequence[str]) -> list[tuple[str, Conversation]]:
        """The conversations that a user names; all are found before a command does anything.

        Args:
            reader: An open reader of the store.
            words: Session ids, prefixes of them, or titles.

        Returns:
            For each word the id of the session it means, and the conversation of that session.

        Raises:
            NotFoundError: One of them means nothing, or several sessions.
        """
        from hermes_browse.store.sessions.first_page import read_neighbourhood  # start time: not needed for the browser
        from hermes_browse.store.sessions.resolve import resolve_session

        ids = [resolve_session(reader, word) for word in words]
        catalog = read_neighbourhood(reader, ids, self.now)
        found: list[tuple[str, Conversation]] = []
        for session_id in ids:
            conversation = catalog.of_session(session_id)
            if conversation is None:
                raise NotFoundError(_("There is no session {id} in this store.").format(id=session_id))
            found.append((session_id, conversation))
        return found

    def confirm(self, count: int, what: str) -> None:
        """Go on only after a yes; where several things go, after their number was typed.

        Args:
            count: How many things.
            what: What would be done to them, as part of a sentence.

        Raises:
            RefusedError: The answer was another one, or nobody can be asked.
        """
        if not self.can_ask:
            raise RefusedError(_("Not without --yes: this would {what}. Nothing was changed.").format(what=what))
        wanted = str(count) if count > 1 else "y"
        question = _("This will {what}. Type {wanted} to go on, anything else to leave: ")
        ask(question.format(what=what, wanted=wanted), wanted)


class Command:
    """One command: its arguments and what it does. `registry.COMMANDS` lists them all, each with its help."""

    takes_common_options = True
    """`--json`, and the options that name a store."""
    reads_old_transcripts = False
    """Whether it goes with `--old`."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add its own arguments."""

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """What is wrong with arguments that are right one by one, in a sentence; empty for nothing."""
        return ""

    def start(self, arguments: SimpleNamespace) -> int:
        """Open the store and run. A command that does not read exactly one store replaces this.

        Returns:
            The exit code.
        """
        with opened_location(arguments) as location:
            return self.run(Context(arguments, location))

    def run(self, context: Context) -> int:
        """Do it, and print what came of it.

        Returns:
            The exit code.
        """
        raise NotImplementedError


def on_a_terminal() -> bool:
    """Whether there is somebody to ask."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def ask(question: str, wanted: str) -> None:
    """Go on only after the right answer.

    Args:
        question: Ends where the answer is typed.
        wanted: The answer; case, and commas in numbers, do not matter.

    Raises:
        RefusedError: The answer was another one.
    """
    print(question, end="", file=sys.stderr)
    sys.stderr.flush()
    if sys.stdin.readline().strip().replace(",", "").lower() != wanted:
        raise RefusedError(_("Nothing was changed."))


def telling() -> Callable[[Stage | Step], None]:
    """A function that notes, on a terminal and every other second, how far a long write is."""
    said = time.monotonic()

    def tell(progress: Stage | Step) -> None:
        nonlocal said
        if time.monotonic() - said > _PROGRESS_EVERY and sys.stderr.isatty():
            said = time.monotonic()
            note(progress.words)

    return tell


def _demo_time(arguments: SimpleNamespace) -> float:
    """When the sample store is made for: now in the browser, the beginning of the hour in a command.

    The ids of the sample follow this time, and an id that one command prints must be valid in the next one.
    """
    now = time.time()
    return now - now % 3600 if arguments.command is not None else now


def _wanted_location(arguments: SimpleNamespace) -> Location | str:
    """The store the arguments name, or the reason why the sample store is opened."""
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
    """The store the arguments name; a store made for this run lies in a temporary folder as long as the block.

    Raises:
        BrowseError: There is no such store, or old transcripts cannot be read.
    """
    wanted = _wanted_location(arguments)
    if isinstance(wanted, Location) and not arguments.old:
        yield wanted
        return
    from hermes_browse.store.temporary import TemporaryFolder, removed_when_told_to_end  # start time: rarely needed

    with removed_when_told_to_end():
        if isinstance(wanted, Location):
            named = getattr(arguments, "id", None) or getattr(arguments, "ids", None) or []
            with _opened_transcripts(wanted, [named] if isinstance(named, str) else named) as location:
                yield location
            return
        from hermes_browse.store.demo import build_home  # start time: rarely needed

        with TemporaryFolder("demo") as folder:
            path = build_home(folder, now=_demo_time(arguments))
            yield Location(path, folder, DEFAULT_PROFILE, demo=True, note=wanted)


@contextmanager
def _opened_transcripts(beside: Location, only: Collection[str]) -> Iterator[Location]:
    """`--old`: the old transcripts of a home as a store, removed at the end of the block; notes what is in it.

    Args:
        beside: The store of that home.
        only: Beginnings of ids; the other files need not be read. Empty for all.

    Raises:
        RefusedError: The store does not belong to a home, so no transcripts lie beside it.
        BrowseError: The files cannot be listed.
        StoreError: The store cannot be read, so nobody knows which files have no session in it.
    """
    from hermes_browse.store.legacy.finding import known_sessions  # start time: rarely needed
    from hermes_browse.store.legacy.shelf import Shelf

    folder = sessions_folder(beside)
    if folder is None:
        raise RefusedError(
            _("{path} is not the store of a Hermes home: no old transcripts belong to it.").format(path=beside.path),
            remedy=_("Name a root with --home."),
        )
    known: Collection[str] = ()
    try:
        with Store(beside.path).reader() as reader:
            known = known_sessions(reader)
    except (StoreMissingError, StoreEmptyError):  # a home whose sessions were never in a store
        pass
    with Shelf(folder, known, only=only) as shelf:
        shelf.fill_all()
        if not only or shelf.notes or shelf.left_out:
            note(shelf.describe())
        yield Location(shelf.path, old_files=folder)
