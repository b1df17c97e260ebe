"""`hosts`: the configured hosts, asked all at once; `hosts check NAME`: what is missing there, and
what mends it; and command lines that run on a host (`--host NAME`)."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.health import StoreProblem
from hermes_browse.store.hosts.connection import Links
from hermes_browse.store.hosts.host import Host, HostError, login_command
from hermes_browse.store.hosts.remote import doubtful
from hermes_browse.store.hosts.ssh import in_thread, read_document, run_once
from hermes_browse.store.sessions.models import View
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import _

from ..text.formats import timestamp
from .check_host import problem_of, resume_problem
from .command import Subcommand
from .output import (
    Number,
    TableColumn,
    fields_of_each,
    labelled,
    note,
    print_json,
    print_table,
    print_text,
)
from .parser import Argument, Valued, for_host
from .stores import (
    INTERRUPTED,
    SOME_SILENT,
    configured_hosts,
    named_host,
    opened_links,
    store_of,
    with_host,
)

_RUN_SECONDS = 660.0
"""How long a command line may print nothing: it may read a whole store."""
_EXIT_CODES = (*range(SOME_SILENT + 1), INTERRUPTED)
"""Of a hermes-browse that was not killed."""
_SILENT = (
    *("host-unknown", "host-down", "host-key", "host-login", "host-silent", "host-lost"),
    "host-ssh",
)
"""Codes of hosts on which nothing could be run."""


class _HostState(NamedTuple):
    """What came of asking a host."""

    host: Host
    known: dict[str, Any]
    """Its entry in the document."""
    error: BrowseError | None
    problem: StoreProblem | None
    """What is wrong, if that was looked for."""


_FACTS = [
    TableColumn("version", "version"),
    Number("sessions", "sessions"),
    TableColumn("last active", "last_active", dropped=2, form=timestamp),
    TableColumn("round trip", "round_trip_ms", right=True, dropped=1, form="{:.0f} ms".format),
]
"""What is known of a host that was reached."""
_COLUMNS = [
    TableColumn("host", "name"),
    TableColumn("ssh", "ssh", is_flexible=True),
    TableColumn("reachable", lambda known: _("yes") if known["reachable"] else _("no")),
    *_FACTS,
]


class HostsCommand(Subcommand):
    """List the hosts, or check one."""

    takes_host = False

    arguments = (
        Argument(
            "what",
            "say what is missing on a host, and what mends it",
            nargs="?",
            choices=["check"],
        ),
        Valued("name", "its name in the configuration", "HOST", nargs="?"),
    )

    def contradictions(self) -> Mapping[str, object]:
        """Nothing can be checked without a name."""
        is_nameless = self.given.what is not None and self.given.name is None
        return {_("check needs the name of a host"): is_nameless}

    def start(self) -> int:
        if self.given.what is not None:
            (asked,) = _ask([named_host(self.given.name)], is_check=True)
            problems = [asked.problem] if asked.problem is not None else []
            document = asked.known | {
                "problems": fields_of_each(problems, "severity code text remedy")
            }
            self.give(document, _print_state, asked)
            return 3 if problems else 0
        hosts, are_all = configured_hosts()
        every = _ask(hosts)
        known = [asked.known for asked in every]
        self.give({"hosts": known}, print_table, _COLUMNS, known)
        note(*(str(asked.error) for asked in every if asked.error is not None))
        are_reached = all(each["sessions"] is not None for each in known)
        return 0 if are_reached and are_all else SOME_SILENT


def _ask(hosts: Sequence[Host], *, is_check: bool = False) -> list[_HostState]:
    with opened_links() as links:
        running = [
            in_thread(partial(_state, host, links, is_check=is_check), f"ask {host.name}")
            for host in hosts
        ]
        return [each.result() for each in running]


def _state(host: Host, links: Links, *, is_check: bool) -> _HostState:
    """Ask a host for its state; for a check, look for what is wrong with it, and where nothing
    else is, plan a resume."""
    known: dict[str, Any] = {
        "name": host.name,
        "ssh": host.ssh,
        "reachable": True,
        "error": None,
        "version": None,
        "round_trip_ms": None,
        "sessions": None,
        "last_active": None,
        "rights": (),  # unknown
    }
    problem = None
    try:
        hello = links.of(host).open()
        known |= {"version": one_line(hello.version, 40), "rights": hello.rights}
        with store_of(host, links) as store:
            known["sessions"] = store.summary().sessions  # opens the store there
            begun = time.perf_counter()
            store.state()
            known["round_trip_ms"] = round((time.perf_counter() - begun) * 1000, 3)
            page = store.first_page(time.time(), view=View.ALL)
            for newest in page.select(View.ALL)[:1]:
                known["last_active"] = newest.last_active
                problem = resume_problem(host, store, newest.id) if is_check else None
    except BrowseError as error:
        is_silent = isinstance(error, HostError) and error.code in _SILENT
        known |= {"error": error.sentence, "reachable": not is_silent}
        return _HostState(host, known, error, problem_of(host, error) if is_check else None)
    return _HostState(host, known, None, problem)


def _print_state(asked: _HostState) -> None:
    """Print the state of one host, and what mends what is wrong."""
    known, problem = asked.known, asked.problem
    may = (
        _("read and change") if "change" in known["rights"] else _("read; it changes nothing there")
    )
    facts = {
        _("host"): f"{asked.host.name} ({login_command(asked.host)})",
        **{column.title: column.cell(known) for column in _FACTS},
        _("rights"): may if known["rights"] else "",
    }
    print_text(*labelled(facts))
    if problem is not None:
        note(*filter(None, (problem.text, problem.remedy)))
    elif known["sessions"]:
        print_text(_("Nothing is missing: it is listed, searched, opened and resumed from here."))
    else:
        print_text(
            _(
                "Nothing is missing: it is listed, searched and opened from here. It has nothing to resume yet."
            )
        )


def run_there(arguments: SimpleNamespace, argv: Sequence[str]) -> int:
    """Run the command line, parsed and as given, on the host that it names, because it needs files
    there; print what it prints, and return its exit code.

    Raises:
        NotFoundError: There is no such host.
        HostError: It did not answer.
        WriteInDoubtError: It did not say whether it has done what was to be done in the trash.
    """
    host = named_host(arguments.host, arguments.profile)
    words = for_host(argv)
    try:
        reply = run_once(host, host.command_line(words), _RUN_SECONDS)
        if reply.returncode not in _EXIT_CODES:  # it, or ssh, was killed
            raise HostError(host, "host-lost")
    except HostError as lost:
        if arguments.command == "trash" and lost.code in ("host-lost", "host-silent"):
            raise doubtful(host) from lost
        raise
    if not arguments.json:
        sys.stdout.write(printable(reply.stdout))
        sys.stdout.flush()
    for line in reply.stderr.split("\n"):
        if line.strip():
            note(host.advice(line.rstrip("\r")))
    if arguments.json and (reply.returncode == 0 or reply.stdout.strip()):
        print_json(with_host(read_document(host, reply.stdout), host))
    return reply.returncode
