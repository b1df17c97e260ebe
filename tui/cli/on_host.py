"""Command lines that run on a host (`--host NAME`), because they need files there; what they print
is printed here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.running import ANSWER_BYTES, read_document, refusal, run_once
from hermes_browse.store.text import printable

from .output import note, print_json
from .parser import with_options, without
from .stores import named_host, with_host

_MOST = 16 * ANSWER_BYTES
"""Bytes of the one document that was asked for."""


def ask_document(host: Host, words: Sequence[str]) -> Json:
    """Return the JSON document of a command line on a host.

    Raises:
        HostError: The host did not answer, or not with a document.
        BrowseError: The command failed there.
    """
    reply = run_once(host, host.command_line(with_options(words, "--json")))
    if reply.code:
        raise refusal(host, reply)
    return read_document(host, reply.out)


def run_there(arguments: SimpleNamespace, argv: Sequence[str]) -> int:
    """Run the command line, parsed and as given, on the host that it names; return the exit code
    there.

    Raises:
        NotFoundError: There is no such host.
        HostError: It did not answer.
    """
    host = named_host(arguments.host, arguments.profile)
    words = without(argv, {"--host", "--profile"}, {"--debug"})
    reply = run_once(host, host.command_line(words), seconds=None, most=_MOST)
    if not arguments.json:
        sys.stdout.write(printable(reply.out))
        sys.stdout.flush()
    for line in reply.err.split("\n"):
        if line.strip():
            note(host.advice(line.rstrip("\r")))
    if arguments.json and (reply.code == 0 or reply.out.strip()):
        location = Location(Path(host.name), host=host)
        print_json(with_host(read_document(host, reply.out), location))
    return reply.code
