"""The stores that a command line names: one, of this machine or a host, or several at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from hermes_browse.store import later
from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import (
    Advice,
    BrowseError,
    NotFoundError,
    RefusedError,
    StoreEmptyError,
    StoreError,
    StoreMissingError,
)
from hermes_browse.store.files import TemporaryFolder, removed_on_signals
from hermes_browse.store.hermes.homes import (
    DEFAULT_PROFILE,
    Location,
    locate,
    sessions_folder,
    short_reason,
)
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..settings.folders import config_path
from .output import TableColumn, fields, note, remedy_of, with_advice

if TYPE_CHECKING:
    from hermes_browse.store.hosts.host import Host
    from hermes_browse.store.hosts.link import Links

SOME_SILENT = 6
"""The exit code when some host did not answer."""
T = TypeVar("T")
Ask = Callable[[OpenStore, float], T]
"""Asks a store, at a time in Unix seconds."""


def configured_hosts() -> tuple[Host, ...]:
    """Return the hosts of the configuration."""
    from ..settings.read_config import read_config  # start time: rarely needed

    return read_config(config_path()).options.hosts


def how_to_add() -> str:
    """Return a sentence that says how to add a host to the configuration."""
    return _(
        'No hosts are configured. Add one to {path}, in three lines: [[hosts]], name = "vps", ssh = "me@vps".',
        path=config_path(),
    )


def named_host(name: str, profile: str | None = None) -> Host:
    """Return a host of the configuration by its name; NotFoundError if there is none.

    Args:
        profile: Of that machine; by default the configured one.
    """
    hosts = {host.name: host for host in configured_hosts()}
    if host := hosts.get(name):
        return host if profile is None else host._replace(profile=profile)
    known = _("Known hosts: {names}.", names=", ".join(hosts)) if hosts else how_to_add()
    sentence = _("There is no host “{name}”.", name=one_line(name, 80))
    raise NotFoundError(sentence, remedy=known)


# One store


@contextmanager
def opened_links() -> Iterator[Links]:
    """Yield connections to hosts, and end them with the block, whatever ends it."""
    links = later.link.Links()
    with removed_on_signals():
        try:
            yield links
        finally:
            links.close()


def _store_of(host: Host, links: Links) -> OpenStore:
    """Connect to a host; HostError if it cannot be reached."""
    return open_store(later.remote.locate_there(links.of(host)), links)


@contextmanager
def opened_there(arguments: SimpleNamespace) -> Iterator[tuple[OpenStore, Links]]:
    """Open the store of the host that the arguments name, and yield the connections as well.

    Raises:
        NotFoundError: There is no such host.
        HostError: It cannot be reached.
    """
    host = named_host(arguments.host, arguments.profile)
    with opened_links() as links, _store_of(host, links) as store:
        try:
            yield store, links
        except BrowseError as error:  # the commands in its remedy are typed here
            error.remedy, error.advice = host.advice(remedy_of(error)), Advice.NONE
            raise


@contextmanager
def opened_store(arguments: SimpleNamespace) -> Iterator[OpenStore]:
    """Open the store that the arguments name; sample and old transcripts live in a temporary folder
    for the block.

    Raises:
        BrowseError: There is no such store, or the old transcripts cannot be read.
    """
    if arguments.host is not None:
        with opened_there(arguments) as (store, _links):
            yield store
        return
    with opened_location(arguments) as location, open_store(location) as store:
        yield store


@contextmanager
def opened_location(arguments: SimpleNamespace) -> Iterator[Location]:
    """As `opened_store`, of this machine alone."""
    if arguments.demo:
        sample = _opened_sample(
            arguments, _("this is a sample store; without --demo your own opens")
        )
        with sample as location:
            yield location
        return
    location = locate(home=arguments.home, profile=arguments.profile, database=arguments.db)
    opened: AbstractContextManager[Location] = nullcontext(location)
    if arguments.old:
        opened = _opened_transcripts(location, arguments)
    elif arguments.or_demo:
        try:
            Store(location.path).check()
        except (StoreMissingError, StoreEmptyError):
            reason = _("no Hermes store at {path} yet: this is a sample", path=location.path)
            opened = _opened_sample(arguments, reason)
    with opened as location:
        yield location


def now_in(arguments: SimpleNamespace, location: Location | None = None) -> float:
    """Return the time in Unix seconds; for a command on the sample store the start of the hour.

    The ids of the sample depend on it, and an id printed by one command must be valid in the next.
    """
    now = time.time()
    is_sample = location is None or location.demo
    return now - now % 3600 if is_sample and arguments.command is not None else now


@contextmanager
def _opened_sample(arguments: SimpleNamespace, reason: str) -> Iterator[Location]:
    from hermes_browse.store.demo import build_home  # start time: rarely needed

    with removed_on_signals(), TemporaryFolder("demo") as folder:
        path = build_home(folder, now=now_in(arguments))
        yield Location(path, folder, DEFAULT_PROFILE, demo=True, note=reason)


@contextmanager
def _opened_transcripts(beside: Location, arguments: SimpleNamespace) -> Iterator[Location]:
    """Load the old transcripts of a home (`--old`) into a temporary store for the block, those that
    are named or all; note what it holds.

    Raises:
        RefusedError: The store does not belong to a home.
        BrowseError: The files cannot be listed.
        StoreError: The store cannot be read, so files without a session in it are unknown.
    """
    only = [arguments.id] if getattr(arguments, "id", "") else getattr(arguments, "ids", [])
    folder = sessions_folder(beside)
    if folder is None:
        raise RefusedError(
            _(
                "{path} is not the store of a Hermes home: no old transcripts belong to it.",
                path=beside.path,
            ),
            remedy=_("Name a root with --home."),
        )
    known: Collection[str] = ()
    with suppress(StoreMissingError, StoreEmptyError), open_store(beside) as store:
        known = store.known_sessions()
    load = partial(later.old_transcripts.OldTranscripts, folder, known, only=only)
    with removed_on_signals(), load() as transcripts:
        transcripts.fill_all()
        if not only or transcripts.notes:
            note(transcripts.describe())
        yield Location(transcripts.path, old_files=folder)


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
    code: int
    """The exit code."""
    only: T | None
    """The answer of the only store that was asked; None if several were."""


class _Tried(NamedTuple, Generic[T]):
    """What came of asking a store."""

    location: Location
    answer: T | None = None
    error: BrowseError | None = None
    """Why there is no answer."""


def _answered(location: Location, error: BrowseError | None = None) -> Json:
    """Return what a document says of a host."""
    sentence = error.sentence if error is not None else None
    name = location.host and location.host.name
    return {"name": name, "answered": error is None, "error": sentence}


def ask_stores(arguments: SimpleNamespace, ask: Ask[T]) -> Answers[T]:
    """Ask the store that the arguments name, or all profiles and hosts at once; note which do not
    answer.

    Raises:
        BrowseError: A single store cannot be read, or none of several.
    """
    if not arguments.all_hosts:
        if arguments.all_profiles:
            return _merged(arguments, list(_ask_here(arguments, ask)))
        with opened_store(arguments) as store:
            answer = ask(store, now_in(arguments, store.location))
            return _merged(arguments, [_Tried(store.location, answer)])
    hosts = configured_hosts()
    with opened_links() as links:
        there = [
            later.ssh.in_thread(partial(_ask_there, host, links, ask), f"ask {host.name}")
            for host in hosts
        ]
        here = list(_ask_here(arguments, ask, is_needed=not hosts))
        if not hosts:
            note(how_to_add())
        return _merged(arguments, [*here, *(each.result() for each in there)])


def facts_of(location: Location) -> Json:
    """Return what a document says of the host that its one store is on; nothing for this
    machine."""
    return {} if location.host is None else {"hosts": [_answered(location)]}


def with_host(document: Mapping[str, object], location: Location) -> Json:
    """Return a document that says of which host it is, in each conversation and hit as well; as it
    is for this machine."""
    if location.host is None:
        return {**document}
    for key in ("conversation", "conversations", "hits", "would"):
        rows = document.get(key)
        for row in rows if isinstance(rows, list) else [rows]:
            if isinstance(row, dict):
                row["host"] = location.host.name
    return {**document, **facts_of(location)}


def _ask_there(host: Host, links: Links, ask: Ask[T]) -> _Tried[T]:
    location = Location(Path(host.name), host=host)
    try:
        with _store_of(host, links) as store:
            return _Tried(store.location, ask(store, time.time()))
    except BrowseError as error:
        return _Tried(location, error=error)


def _ask_here(
    arguments: SimpleNamespace, ask: Ask[T], *, is_needed: bool = True
) -> Iterator[_Tried[T]]:
    """Ask the store of this machine, or those of all profiles; what is not in use yet is left out.

    Raises:
        BrowseError: None of them answers, and one is needed.
    """
    has_answered = False
    missing: BrowseError | None = None
    with _opened_here(arguments) as locations:
        for location in locations:
            try:
                with open_store(location) as store:
                    answer = ask(store, now_in(arguments, location))
            except (StoreMissingError, StoreEmptyError) as error:
                missing = error
            except StoreError as error:
                missing = error
                yield _Tried(location, error=error)
            else:
                has_answered = True
                yield _Tried(location, answer)
        if is_needed and not has_answered:
            if arguments.all_profiles:
                missing = StoreMissingError(
                    _(
                        "No profile of {root} has a store that can be read.",
                        root=locate(home=arguments.home).root,
                    )
                )
            assert missing is not None
            raise missing


@contextmanager
def _opened_here(arguments: SimpleNamespace) -> Iterator[Sequence[Location]]:
    if not arguments.all_profiles:
        with opened_location(arguments) as location:
            yield [location]
        return
    here = locate(home=arguments.home)
    if here.root is None:
        raise RefusedError(
            _("{path} belongs to no Hermes root, so it has no profiles.", path=here.path)
        )
    yield here.profiles()


def _merged(arguments: SimpleNamespace, tried: Sequence[_Tried[T]]) -> Answers[T]:
    """Return the answers of the stores that were asked, and note which are missing."""
    answers = [
        (_place(arguments, each.location), each.answer) for each in tried if each.answer is not None
    ]
    silent = [(each.location, each.error) for each in tried if each.error is not None]
    for location, error in silent:
        sentence = with_advice(error)
        if location.profile is not None and location.host is None:
            reason = short_reason(error, location)
            sentence = _("{name} cannot be read: {error}", name=location.profile, error=reason)
        note(sentence)
    is_several = arguments.all_profiles or arguments.all_hosts
    facts = {} if is_several else facts_of(tried[0].location)
    summary: list[str] = []
    if arguments.all_profiles:
        profiles = [place["profile"] for place, _answer in answers if place.get("host") is None]
        broken = [
            fields(location, "profile")
            | {"path": str(location.path), "error": short_reason(error, location)}
            for location, error in silent
            if location.host is None
        ]
        facts |= {"profiles": profiles, "broken": broken}
        summary.append(_("{profiles:,} profiles", profiles=len(profiles)))
    if arguments.all_hosts:
        hosts = [each.error for each in tried if each.location.host is not None]
        facts["hosts"] = [
            _answered(each.location, each.error)
            for each in tried
            if each.location.host is not None or each.error is not None
        ]
        if hosts:
            count = len(hosts)
            words = _(
                "{answered} of {count} hosts answered", answered=hosts.count(None), count=count
            )
            summary.append(words)
    return Answers(
        answers,
        facts,
        " · ".join(summary),
        is_complete=not silent,
        code=SOME_SILENT if silent and arguments.all_hosts else 0,
        only=None if is_several else tried[0].answer,
    )


def _place(arguments: SimpleNamespace, location: Location) -> Json:
    """Return what each row says of its store."""
    place: Json = {}
    if arguments.all_hosts or location.host is not None:
        place["host"] = location.host.name if location.host is not None else None
    if arguments.all_profiles:
        place["profile"] = location.profile or DEFAULT_PROFILE
    return place


def place_columns(answers: Answers[T]) -> list[TableColumn]:
    """Return the columns that say where a row is from, of rows that begin with their place."""
    names = {name for place, _answer in answers.answers for name in place}
    return [
        column for name, column in _PLACE_COLUMNS.items() if answers.only is None and name in names
    ]


_PLACE_COLUMNS: dict[str, TableColumn] = {
    "host": TableColumn("host", lambda row: row.place["host"] or _("(here)")),
    "profile": TableColumn("profile", lambda row: row.place["profile"]),
}
