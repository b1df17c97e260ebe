"""The base class of commands that read several stores as one: all profiles, all hosts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from hermes_browse.store import later
from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import DEFAULT_PROFILE, Location, locate, short_reason
from hermes_browse.store.wording import _

from ..text.formats import joined
from .command import Subcommand
from .output import TableColumn, note, value_at, with_advice
from .stores import (
    SOME_SILENT,
    UNUSED,
    answered,
    configured_hosts,
    facts_of,
    now_in,
    opened_links,
    opened_location,
    opened_store,
    profiles_of,
    store_of,
)

T = TypeVar("T")


class Answers(NamedTuple, Generic[T]):
    """What the stores that a command line names have answered."""

    placed: Sequence[tuple[Json, T]]
    """Pairs of place and answer. A place is what rows say of the store; empty where only one store of
    this machine was asked."""
    facts: Json
    """What the document says of all places."""
    summary: str
    """The same for people."""
    is_complete: bool
    """Whether all of them answered."""
    single: T | None
    """The answer of the only store that was asked; None if several were."""

    @property
    def values(self) -> list[T]:
        """The answers without their places."""
        return [answer for _place, answer in self.placed]


class _Tried(NamedTuple, Generic[T]):
    """What came of asking a store."""

    location: Location
    answer: T | None = None
    error: BrowseError | None = None
    """Why there is no answer."""


class ManyStoresCommand(Subcommand, Generic[T]):
    """Base class of commands that read one store, or all profiles and hosts as one."""

    @abstractmethod
    def ask(self, store: OpenStore, now: float) -> T:
        """Read what one store has, at a time in Unix seconds."""

    @abstractmethod
    def report(self, answers: Answers[T]) -> None:
        """Print what all of them have."""

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
        with opened_links() as links, ExitStack() as opened:
            if self.given.all_profiles:
                locations = profiles_of(locate(home=self.given.home))
            else:
                locations = [opened.enter_context(opened_location(self.given))]
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
        has_host = self.given.all_hosts or location.host is not None
        host = {"host": value_at(location, "host.name")} if has_host else {}
        profile = {"profile": location.profile or DEFAULT_PROFILE}
        return host | profile if self.given.all_profiles else host


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
    if answers.single is not None:
        return []
    first = next((place for place, _answer in answers.placed), ())
    return [_PLACE_COLUMNS[name] for name in first]


_PLACE_COLUMNS: dict[str, TableColumn] = {
    "host": TableColumn("host", lambda row: value_at(row, "place.host") or _("(here)")),
    "profile": TableColumn("profile", "place.profile"),
}
