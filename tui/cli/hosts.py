"""`hosts`: the configured hosts, asked all at once; `hosts check NAME`: what is missing there, and
what mends it."""

from __future__ import annotations

import argparse
import re
import time
from types import SimpleNamespace
from typing import NamedTuple

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hosts.faults import HostError, fault, login_command
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.link import Link, Links, Reply
from hermes_browse.store.hosts.remote import RemoteStore, locate_there
from hermes_browse.store.hosts.running import asked_at_once, read_document, refusal, run_once
from hermes_browse.store.temporary import removed_on_signals
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..config.folders import config_path
from ..config.read_config import read_config
from ..formats import timestamp
from .all_hosts import SOME_SILENT
from .check_host import HostProblem, problem_of, resume_problem
from .command_context import Subcommand
from .on_host import how_to_add, named_host
from .output import note, print_json, print_table, print_text
from .parser import text_arg

_SILENT = (
    "host-unknown",
    "host-down",
    "host-key",
    "host-login",
    "host-silent",
    "host-lost",
    "host-ssh",
)
"""Codes of hosts on which nothing could be run."""


class HostState(NamedTuple):
    """What is known of a host after it was asked."""

    host: Host
    error: BrowseError | None = None
    version: str | None = None
    round_trip: float | None = None
    """Seconds from a question to its answer on the open connection."""
    sessions: int | None = None
    last_active: float | None = None
    newest: str | None = None
    """Id of its most recently used conversation."""
    rights: tuple[str, ...] = ()
    """What the key may do there: `read`, and `change` where changes are allowed; empty if it is
    unknown."""

    @property
    def is_reachable(self) -> bool:
        """Whether ssh could run something there."""
        return not (isinstance(self.error, HostError) and self.error.code in _SILENT)

    def facts(self) -> list[str]:
        """Return version, sessions, last activity and round trip for people; each is empty if it is
        unknown."""
        return [
            self.version or "",
            "" if self.sessions is None else f"{self.sessions:,}",
            timestamp(self.last_active),
            "" if self.round_trip is None else f"{self.round_trip * 1000:.0f} ms",
        ]

    def json(self) -> Json:
        """Return its entry in the document."""
        return {
            "name": self.host.name,
            "ssh": self.host.ssh,
            "reachable": self.is_reachable,
            "error": self.error.sentence if self.error is not None else None,
            "version": self.version,
            "round_trip_ms": round(self.round_trip * 1000, 3)
            if self.round_trip is not None
            else None,
            "sessions": self.sessions,
            "last_active": self.last_active,
            "rights": list(self.rights),
        }


class HostsCommand(Subcommand):
    """List the hosts, or check one."""

    takes_host = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        what_help = _("say what is missing on a host, and what mends it")
        parser.add_argument("what", nargs="?", choices=["check"], help=what_help)
        parser.add_argument(
            "name",
            metavar="HOST",
            nargs="?",
            type=text_arg,
            help=_("its name in the configuration"),
        )
        parser.add_argument(
            "--names", action="store_true", help=_("print the names only, and ask nobody")
        )

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return the error for a check of nothing."""
        return (
            _("check needs the name of a host")
            if arguments.what is not None and arguments.name is None
            else ""
        )

    def start(self, arguments: SimpleNamespace) -> int:
        """Ask the hosts; needs no store."""
        configuration = read_config(config_path())
        hosts = configuration.options.hosts
        if arguments.names:
            for host in hosts:
                print_text(host.name)
            return 0
        for trouble in configuration.troubles:  # a host may be missing for it
            note(trouble.sentence(str(configuration.path)))
        if arguments.what is not None:
            (seen,) = _look_at([named_host(arguments.name)])
            return _report(seen, as_json=arguments.json)
        seen_hosts = _look_at(hosts)
        if arguments.json:
            print_json({"hosts": [each.json() for each in seen_hosts]})
        _print_hosts(seen_hosts, is_table=not arguments.json)
        return SOME_SILENT if any(each.sessions is None for each in seen_hosts) else 0


def _look_at(hosts: tuple[Host, ...] | list[Host]) -> list[HostState]:
    links = Links()
    with removed_on_signals():
        try:
            with asked_at_once(hosts, lambda host: _look(links.of(host))) as asked:
                return [each.result() for each in asked]
        finally:
            links.close()


def _look(link: Link) -> HostState:
    host, seen = link.host, HostState(link.host)
    try:
        hello = link.open()
        seen = seen._replace(version=one_line(hello.version, 40), rights=hello.rights)
        seen = seen._replace(round_trip=_round_trip(link))
        return _with_newest(seen, link.call("list", {"view": "all", "limit": 1}))
    except HostError as error:
        if error.code != "host-version":
            return seen._replace(error=error)
    try:
        said = run_once(host, host.command_line(["--version"])).out
        found = re.search(r"\d\S*", said)
        version = found[0] if found is not None else ""
        return seen._replace(
            version=version or None, error=fault(host, "host-version", version=version)
        )
    except BrowseError as error:
        return seen._replace(error=error)


def _round_trip(link: Link) -> float:
    """Measure the seconds from a question to its answer on the open connection."""
    with open_store(RemoteStore(link, locate_there(link).path)) as store:
        store.state()  # opens the store
        begun = time.perf_counter()
        store.state()
        return time.perf_counter() - begun


def _with_newest(seen: HostState, reply: Reply) -> HostState:
    if reply.code:
        return seen._replace(error=refusal(seen.host, reply))
    document = read_document(seen.host, reply.out)
    store, newest = document.get("store"), document.get("conversations")
    sessions = store.get("sessions") if isinstance(store, dict) else None
    first = newest[0] if isinstance(newest, list) and newest and isinstance(newest[0], dict) else {}
    last, session = first.get("last_active"), first.get("id")
    return seen._replace(
        sessions=sessions if isinstance(sessions, int) else None,
        last_active=last if isinstance(last, int | float) else None,
        newest=session if isinstance(session, str) else None,
    )


def _print_hosts(hosts: list[HostState], *, is_table: bool) -> None:
    if not hosts:
        note(how_to_add())
    rows = [
        [each.host.name, each.host.ssh, _("yes") if each.is_reachable else _("no"), *each.facts()]
        for each in hosts
    ]
    headers = [
        _("host"),
        _("ssh"),
        _("reachable"),
        _("version"),
        _("sessions"),
        _("last active"),
        _("round trip"),
    ]
    if is_table:
        print_table(headers, rows, right=(4, 6), flexible=1, optional=(6, 5))
    for each in hosts:
        if each.error is not None:
            note(str(each.error))


def _report(seen: HostState, *, as_json: bool) -> int:
    """Print what was seen of one host, and what mends what is wrong; return 0 if nothing is, else
    3."""
    problem = _problem(seen)
    if as_json:
        problems = [{"severity": "error", **problem._asdict()}] if problem is not None else []
        print_json(seen.json() | {"problems": problems})
        return 0 if problem is None else 3
    facts = [f"{seen.host.name} ({login_command(seen.host)})", *seen.facts(), _rights(seen)]
    line = _("{label}: {text}")
    labels = (
        _("host"),
        _("version"),
        _("sessions"),
        _("last active"),
        _("round trip"),
        _("rights"),
    )
    for label, fact in zip(labels, facts, strict=True):
        if fact:
            print_text(line.format(label=label, text=fact))
    if problem is None and seen.newest is None:
        print_text(
            _(
                "Nothing is missing: it is listed, searched and opened from here. It has nothing to resume yet."
            )
        )
    elif problem is None:
        print_text(_("Nothing is missing: it is listed, searched, opened and resumed from here."))
    else:
        note(problem.text)
        if problem.remedy:
            note(problem.remedy)
    return 0 if problem is None else 3


def _rights(seen: HostState) -> str:
    """Return what the key may do there, for people; empty if it is unknown."""
    if not seen.rights:
        return ""
    return _("read and change") if "change" in seen.rights else _("read; it changes nothing there")


def _problem(seen: HostState) -> HostProblem | None:
    """Return what is wrong with a host; where nothing else is, a resume is planned there."""
    if seen.error is not None:
        return problem_of(seen.host, seen.error)
    return resume_problem(seen.host, seen.newest) if seen.newest is not None else None
