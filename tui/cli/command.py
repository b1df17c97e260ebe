"""The base classes of commands: of no store, of one, and of several as one (all profiles, all hosts);
what they print, and what they ask the user."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import starmap
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from hermes_browse.store import later
from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import BrowseError, RefusedError, no_session
from hermes_browse.store.hermes.homes import DEFAULT_PROFILE, Location, locate, short_reason
from hermes_browse.store.wording import _

from ..text.formats import joined
from .output import TableColumn, note, print_json, value_at, with_advice
from .parser import Argument, OneOf, Parser, add_all
from .stores import (
    SOME_SILENT,
    UNUSED,
    answered,
    as_typed,
    configured_hosts,
    facts_of,
    now_in,
    opened_links,
    opened_location,
    opened_store,
    profiles_of,
    store_of,
    with_host,
)

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.bulk import Step
    from hermes_browse.store.hosts.host import Host
    from hermes_browse.store.progress import Stage
    from hermes_browse.store.sessions.models import Conversation

T = TypeVar("T")
_PROGRESS_EVERY = 2.0
"""Seconds between two progress notes of a long write."""


class Subcommand:
    """Base class of commands; `registry.COMMANDS` lists them with their help."""

    takes_common_options = True
    """Whether it takes `--json` and the options that name a store."""
    takes_host = True
    """Whether it can read the store of a host (`--host`)."""
    needs_files = False
    """Whether it then runs as a command line on the host, because it needs files there."""
    arguments: Iterable[Argument | OneOf] = ()
    """What it takes itself, in the order of the help."""
    given: SimpleNamespace
    """The values of all arguments."""
    host: Host | None = None
    """That of its store; None for this machine."""

    def add_arguments(self, parser: Parser) -> None:
        """Add its own arguments; for those in groups."""
        add_all(parser, self.arguments)

    def contradiction(self) -> str:
        """Return a sentence if valid arguments contradict each other, else an empty text."""
        return ""

    def runs_there(self) -> bool:
        """Whether it runs as a command line on the host that the arguments name."""
        return self.needs_files or self.given.old or self.given.all_profiles

    def start(self) -> int:
        """Run, and return the exit code."""
        raise NotImplementedError

    def print_json(
        self, document: Mapping[str, object], name: str = "", items: Iterable[object] | None = None
    ) -> None:
        """Print a document as `output.print_json` does; of a host's store it says so, in its
        conversations as well."""
        print_json(with_host(document, self.host), name, items)

    def give(
        self, document: Mapping[str, object], tell: Callable[..., object], *what: object
    ) -> None:
        """Print a document, or for people what `tell` makes of something."""
        if self.given.json:
            self.print_json(document)
        else:
            tell(*what)

    def remark(self, *texts: str) -> None:
        """Note what a document says by itself."""
        if not self.given.json:
            note(*texts)


class StoreCommand(Subcommand):
    """Base class of commands that work on the one store that the arguments name."""

    store: OpenStore
    now: float
    """Unix seconds."""

    def run(self) -> int | None:
        """Execute the command and print the result; return an exit code, if it is not 0."""
        raise NotImplementedError

    def start(self) -> int:
        with opened_store(self.given) as self.store:
            self.host = self.store.location.host
            self.now = now_in(self.given, self.store.location)
            return self.run() or 0

    @property
    def can_ask(self) -> bool:
        """Whether the user can be asked for confirmation."""
        return on_a_terminal() and not self.given.json

    def give(
        self, document: Mapping[str, object], tell: Callable[..., object], *what: object
    ) -> None:
        """Nothing is open while somebody reads."""
        self.store.close()
        super().give(document, tell, *what)

    def note_with_advice(self, sentences: Iterable[str]) -> None:
        """Note sentences, with their `advice`."""
        note(*map(self.advice, sentences))

    def advice(self, text: str) -> str:
        """Return a sentence with the commands in it as they are typed for this store."""
        return as_typed(text, self.given)

    def find(self, words: Sequence[str]) -> list[Conversation]:
        """Find the conversations a user names. Commands call it before they change anything.

        Args:
            words: Session ids, prefixes of them, or titles.

        Returns:
            For each word the conversation of the matching session.

        Raises:
            NotFoundError: A word matches no session, or several.
        """
        ids = [self.store.resolve(word) for word in words]
        catalog = self.store.neighbourhood(ids, self.now)
        for session_id in ids:
            if session_id not in catalog.sessions:  # deleted since
                raise no_session(session_id)
        return list(map(catalog.conversation, ids))

    def conversation(self) -> Conversation:
        """Return the conversation that the argument `id` names, as `find` does."""
        (conversation,) = self.find([self.given.id])
        return conversation

    def confirm(self, count: int, what: str, *, by_number: bool = False) -> None:
        """Ask for the number of items when there are several, or `by_number`, else for a `y`.

        Args:
            what: The action, as part of a sentence.

        Raises:
            RefusedError: The answer was different, or the user cannot be asked.
        """
        if not self.can_ask:
            raise RefusedError(
                _("Not without --yes: this would {what}. Nothing was changed.", what=what)
            )
        wanted = str(count) if count > 1 or by_number else "y"
        question = _(
            "This will {what}. Type {wanted} to go on, anything else to leave: ",
            what=what,
            wanted=wanted,
        )
        print(question, end="", file=sys.stderr)
        sys.stderr.flush()
        if sys.stdin.readline().strip().replace(",", "").lower() != wanted:
            raise RefusedError(_("Nothing was changed."))


def on_a_terminal() -> bool:
    """Return whether standard input and standard error are terminals."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


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


# Several stores


class Answers(NamedTuple, Generic[T]):
    """What the stores that a command line names have answered."""

    answers: Sequence[tuple[Json, T]]
    """Each with its place: what its rows say of the store, nothing if only one of this machine was
    asked."""
    facts: Json
    """What the document says of all places."""
    summary: str
    """The same for people."""
    is_complete: bool
    """Whether all of them answered."""
    only: T | None
    """The answer of the only store that was asked; None if several were."""

    @property
    def every(self) -> list[T]:
        """The answers without their places."""
        return [answer for _place, answer in self.answers]


class _Tried(NamedTuple, Generic[T]):
    """What came of asking a store."""

    location: Location
    answer: T | None = None
    error: BrowseError | None = None
    """Why there is no answer."""


class ManyStoresCommand(Subcommand, Generic[T]):
    """Base class of commands that read one store, or all profiles and hosts as one."""

    def ask(self, store: OpenStore, now: float) -> T:
        """Read what one store has, at a time in Unix seconds."""
        raise NotImplementedError

    def report(self, answers: Answers[T]) -> None:
        """Print what all of them have."""
        raise NotImplementedError

    def start(self) -> int:
        answers = self._answers()
        self.report(answers)
        return 0 if answers.is_complete else SOME_SILENT

    def _answers(self) -> Answers[T]:
        """Ask the store that the arguments name, or all profiles and hosts at once; note which do
        not answer. What is not in use yet is left out.

        Raises:
            BrowseError: A single store cannot be read, or none of several.
        """
        if not (self.given.all_hosts or self.given.all_profiles):
            with opened_store(self.given) as store:
                at = store.location
                answer = self.ask(store, now_in(self.given, at))
            return Answers([(self._place(at), answer)], facts_of(at.host), "", True, answer)
        hosts, are_all = configured_hosts() if self.given.all_hosts else ((), True)
        with opened_links() as links, self._opened_here() as locations:
            there = []
            for host in hosts:
                location = Location(Path(host.name), host=host)
                asked = partial(self._asked, location, partial(store_of, host, links))
                there.append(later.ssh.in_thread(asked, f"ask {host.name}"))
            here = [self._asked(each, partial(open_store, each)) for each in locations]
            errors = [each.error for each in here if each.error is not None]
            if len(errors) == len(here) and not hosts:
                errors.sort(key=lambda error: isinstance(error, UNUSED))  # one in use says more
                raise errors[0]
            return self._merged(here, [each.result() for each in there], are_all=are_all)

    def _asked(self, location: Location, opened: Callable[[], OpenStore]) -> _Tried[T]:
        """Open a store and ask it; one on a host knows its location only then."""
        try:
            with opened() as store:
                return _Tried(store.location, self.ask(store, now_in(self.given, location)))
        except BrowseError as error:
            return _Tried(location, error=error)

    @contextmanager
    def _opened_here(self) -> Iterator[Sequence[Location]]:
        if self.given.all_profiles:
            yield profiles_of(locate(home=self.given.home))
            return
        with opened_location(self.given) as location:
            yield [location]

    def _merged(
        self, here: Sequence[_Tried[T]], there: Sequence[_Tried[T]], *, are_all: bool
    ) -> Answers[T]:
        """Return the answers of several stores, and note which are missing."""
        used = [each for each in here if not isinstance(each.error, UNUSED)]
        asked = [*used, *there]
        answers = [(self._place(at), answer) for at, answer, _error in asked if answer is not None]
        silent = [(at, error) for at, _answer, error in asked if error is not None]
        note(*starmap(_sentence, silent))
        facts: Json = {}
        counts: list[str] = []
        if self.given.all_profiles:
            names = [each.location.profile for each in used if each.error is None]
            facts["profiles"] = names
            facts["broken"] = [
                {"profile": at.profile, "path": str(at.path), "error": short_reason(error, at)}
                for at, error in silent
                if at.host is None
            ]
            counts.append(_("{profiles:,} profiles", profiles=len(names)))
        if self.given.all_hosts:
            # This machine is named if it did not answer; of its profiles, `broken` says which did
            # not.
            silent_here = [each for each in used if each.error is not None]
            named = [*there] if self.given.all_profiles else [*silent_here, *there]
            facts["hosts"] = [answered(each.location.host, each.error) for each in named]
        if there:
            count = sum(each.error is None for each in there)
            counts.append(
                _("{answered} of {count} hosts answered", answered=count, count=len(there))
            )
        return Answers(answers, facts, joined(*counts), are_all and not silent, None)

    def _place(self, location: Location) -> Json:
        """Return what each row says of its store."""
        place: Json = {}
        if self.given.all_hosts or location.host is not None:
            place["host"] = value_at(location, "host.name")
        if self.given.all_profiles:
            place["profile"] = location.profile or DEFAULT_PROFILE
        return place


def _sentence(location: Location, error: BrowseError) -> str:
    """Return why a store does not answer, for people."""
    if location.profile is None or location.host is not None:
        return with_advice(error)
    return _(
        "{name} cannot be read: {error}",
        name=location.profile,
        error=short_reason(error, location),
    )


def place_columns(answers: Answers[T]) -> list[TableColumn]:
    """Return the columns that say where a row is from, of rows that begin with their place."""
    if answers.only is not None:
        return []
    first = next((place for place, _answer in answers.answers), ())
    return [_PLACE_COLUMNS[name] for name in first]


_PLACE_COLUMNS: dict[str, TableColumn] = {
    "host": TableColumn("host", lambda row: value_at(row, "place.host") or _("(here)")),
    "profile": TableColumn("profile", "place.profile"),
}
