"""The store that a command line names, of this machine or a host."""

from __future__ import annotations

import shlex
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

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
    StoreMissingError,
    with_options,
)
from hermes_browse.store.files import TemporaryFolder, removed_on_signals
from hermes_browse.store.hermes.homes import (
    DEFAULT_PROFILE,
    Location,
    locate,
    sessions_folder,
)
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..settings.read_config import config_path, read_config
from .output import note, remedy_of

if TYPE_CHECKING:
    from hermes_browse.store.hosts.connection import Links
    from hermes_browse.store.hosts.host import Host

SOME_SILENT = 6
"""The exit code when some host or profile did not answer."""
INTERRUPTED = 130
UNUSED = (StoreMissingError, StoreEmptyError)
"""Errors of a store that Hermes has not used yet."""


def configured_hosts() -> tuple[Sequence[Host], bool]:
    """Return the hosts of the configuration, and whether these are all; note why a host may be
    missing, or how to add one."""
    configuration = read_config(config_path())
    hosts, troubles = configuration.options.hosts, configuration.host_troubles
    note(*(trouble.sentence(str(configuration.path)) for trouble in troubles))
    if not (hosts or troubles):
        note(
            _(
                'No hosts are configured. Add one to {path}, in three lines: [[hosts]], name = "vps", ssh = "me@vps".',
                path=config_path(),
            )
        )
    return hosts, not troubles


def named_host(name: str, profile: str | None = None) -> Host:
    """Return a host of the configuration by its name; NotFoundError if there is none.

    Args:
        profile: Of that machine; by default the configured one.
    """
    configured, _are_all = configured_hosts()
    hosts = {host.name: host for host in configured}
    if host := hosts.get(name):
        return host if profile is None else host._replace(profile=profile)
    raise NotFoundError(
        _("There is no host “{name}”.", name=one_line(name, 80)),
        remedy=_("Known hosts: {names}.", names=", ".join(hosts)) if hosts else "",
    )


# One store


def as_typed(sentence: str, arguments: SimpleNamespace) -> str:
    """Return a sentence with the commands in it as they are typed for the store that the arguments
    name."""
    options = [
        f"--{name} {shlex.quote(str(value))}"
        for name in ("host", "home", "profile", "db")
        if (value := getattr(arguments, name)) is not None
    ]
    options += [f"--{name}" for name in ("demo", "old") if getattr(arguments, name)]
    return with_options(sentence, " ".join(options)) if options else sentence


@contextmanager
def opened_links() -> Iterator[Links]:
    """Yield connections to hosts, and end them with the block, whatever ends it."""
    with removed_on_signals(), closing(later.connection.Links()) as links:
        yield links


def store_of(host: Host, links: Links) -> OpenStore:
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
    with _with_commands(arguments), opened_links() as links, store_of(host, links) as store:
        yield store, links


@contextmanager
def _with_commands(arguments: SimpleNamespace) -> Iterator[None]:
    """Name the commands that help against an error within the block as they are typed here."""
    try:
        yield
    except BrowseError as error:
        error.remedy, error.advice = as_typed(remedy_of(error), arguments), Advice.NONE
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
    with (
        _with_commands(arguments),
        opened_location(arguments) as location,
        open_store(location) as store,
    ):
        yield store


def opened_location(arguments: SimpleNamespace) -> AbstractContextManager[Location]:
    """As `opened_store`, of this machine alone."""
    if arguments.demo:
        reason = _("this is a sample store; without --demo your own opens")
        return _opened_sample(arguments, reason)
    location = locate(home=arguments.home, profile=arguments.profile, database=arguments.db)
    if arguments.old:
        return _opened_transcripts(location, arguments)
    try:
        if arguments.or_demo:
            Store(location.path).check()
    except UNUSED:
        reason = _("no Hermes store at {path} yet: this is a sample", path=location.path)
        return _opened_sample(arguments, reason)
    return nullcontext(location)


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
    with suppress(*UNUSED), open_store(beside) as store:
        known = store.known_sessions()
    load = partial(later.old_transcripts.OldTranscripts, folder, known, only=only)
    with removed_on_signals(), closing(load()) as transcripts:
        while transcripts.fill():
            pass
        if not only or transcripts.notes:
            note(transcripts.describe())
        yield Location(transcripts.path, old_files=folder)


def profiles_of(location: Location) -> list[Location]:
    """Return the profiles of the root of a location; RefusedError if it has none."""
    if location.root is None:
        raise RefusedError(
            _("{path} belongs to no Hermes root, so it has no profiles.", path=location.path),
            remedy=_("Name a root with --home."),
        )
    return location.profiles()


# What a document says of the host


def answered(host: Host | None, error: BrowseError | None = None) -> Json:
    """Return what a document says of a host, None for this machine, and whether it has answered."""
    return {
        "name": host and host.name,
        "answered": error is None,
        "error": error and error.sentence,
    }


def facts_of(host: Host | None) -> Json:
    """Return what a document says of the host that its one store is on; nothing for this
    machine."""
    return {} if host is None else {"hosts": [answered(host)]}


def with_host(document: Mapping[str, object], host: Host | None) -> Json:
    """Return a document that says of which host it is, in each conversation as well; as it is for
    this machine."""
    if host is None:
        return {**document}
    for key in ("conversation", "would"):
        rows = document.get(key)
        for row in rows if isinstance(rows, list) else [rows]:
            if isinstance(row, dict):
                row["host"] = host.name
    return {**document, **facts_of(host)}
