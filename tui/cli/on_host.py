"""`--host NAME`: the store of that host.

What `serve` answers is asked for over its connection. Other commands (whole conversations, exports,
`doctor`, several profiles, old transcripts) run there as command lines, and what they print is
printed here.
"""

from __future__ import annotations

import codecs
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from types import SimpleNamespace

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import NotFoundError, RefusedError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hosts.calls import CHANGES
from hermes_browse.store.hosts.faults import fault
from hermes_browse.store.hosts.host import Host, ssh_command
from hermes_browse.store.hosts.link import (
    ANSWER_BYTES,
    ANSWER_SECONDS,
    CHANGE_SECONDS,
    Link,
    Links,
    Reply,
)
from hermes_browse.store.hosts.remote import locate_there, store_at
from hermes_browse.store.hosts.running import Running, read_document, refusal, run_once
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import _

from ..config.folders import config_path
from ..config.read_config import read_config
from .calls import call_of
from .command_context import on_a_terminal
from .output import note, print_json, print_text
from .parser import with_options, without
from .resume import become

_LONG = 1_000_000
"""Characters of a line that are printed before its end has come."""
_MOST = 16 * ANSWER_BYTES
"""Bytes of the one document that was asked for."""


def configured_hosts() -> tuple[Host, ...]:
    """Return the hosts of the configuration."""
    return read_config(config_path()).options.hosts


def how_to_add() -> str:
    """Return a sentence that says how to add a host to the configuration."""
    sentence = _(
        'No hosts are configured. Add one to {path}, in three lines: [[hosts]], name = "vps", ssh = "me@vps".'
    )
    return sentence.format(path=config_path())


def named_host(name: str) -> Host:
    """Return a host of the configuration by its name; NotFoundError if there is none."""
    hosts = configured_hosts()
    found = next((host for host in hosts if host.name == name), None)
    if found is None:
        known = (
            _("Known hosts: {names}.").format(names=", ".join(host.name for host in hosts))
            if hosts
            else how_to_add()
        )
        raise NotFoundError(
            _("There is no host “{name}”.").format(name=one_line(name, 80)), remedy=known
        )
    return found


def ask_document(host: Host, words: Sequence[str]) -> Json:
    """Return the JSON document of a command line on a host.

    Raises:
        HostError: The host did not answer, or not with a document.
        BrowseError: The command failed there.
    """
    return _document(host, run_once(host, host.command_line(with_options(words, "--json"))))


def call_document(link: Link, name: str, values: Json) -> Json:
    """Return the JSON document of a call; errors as of `ask_document`."""
    return _document(link.host, link.call(name, values | {"json": True}))


def _call_once(host: Host, name: str, values: Json) -> Reply:
    """Connect to a host for one call. HostError if it does not answer."""
    with closing(Link(host)) as link:
        return link.call(
            name, values, seconds=CHANGE_SECONDS if name in CHANGES else ANSWER_SECONDS
        )


def _document(host: Host, reply: Reply) -> Json:
    if reply.code:
        raise refusal(host, reply)
    return read_document(host, reply.out)


def name_host(document: Json, name: str | None) -> None:
    """Add the host to each conversation and hit of a document; None is this machine."""
    for key in ("conversation", "conversations", "hits", "would"):
        found = document.get(key)
        for each in found if isinstance(found, list) else [found]:
            if isinstance(each, dict):
                each["host"] = name


def run_on_host(arguments: SimpleNamespace, argv: Sequence[str]) -> int:
    """Run the command line, parsed and as given, on the host that it names; return the exit code
    there.

    Raises:
        NotFoundError: There is no such host.
        HostError: It did not answer.
    """
    host = named_host(arguments.host)
    if arguments.profile is not None:
        host = host._replace(profile=arguments.profile)
    words = without(argv, {"--host", "--profile"}, {"--debug"})
    if arguments.command == "resume":
        return _resume(host, words, arguments)
    if (call := call_of(arguments)) is not None:
        reply = _call_once(host, *call)
        if call[0] in CHANGES and not arguments.json:
            reply = reply._replace(out=host.advice(reply.out))
        return _print_reply(host, reply, as_json=arguments.json)
    if arguments.json:
        reply = run_once(host, host.command_line(words), seconds=None, most=_MOST)
        return _print_reply(host, reply, as_json=True)
    running = Running(host, host.command_line(words))
    if arguments.command == "export" and not sys.stdout.isatty():
        sys.stdout.flush()
        for chunk in running:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
    else:
        for text in _whole_lines(texts_of(running)):
            sys.stdout.write(printable(text))
            sys.stdout.flush()
    repeat_notes(host, running.said)
    return running.code


@contextmanager
def opened_there(name: str) -> Iterator[tuple[Location, Store, Links]]:
    """Open the store of a host for the block: its location, the store, and the connections.

    Raises:
        NotFoundError: There is no such host.
        HostError: It cannot be reached.
    """
    links = Links()
    try:
        location = locate_there(links.of(named_host(name)))
        yield location, store_at(location, links), links
    finally:
        links.close()


def answered(host: Host) -> Json:
    """Return what a document says of the host that it is from."""
    return {"hosts": [{"name": host.name, "answered": True, "error": None}]}


def texts_of(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield chunks of UTF-8 as text."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for chunk in chunks:
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _whole_lines(texts: Iterable[str]) -> Iterator[str]:
    """Yield the same texts, cut between lines: what is hostile may depend on its neighbours."""
    rest = ""
    for text in texts:
        rest += text
        end = rest.rfind("\n") + 1 or (len(rest) if len(rest) > _LONG else 0)
        yield rest[:end]
        rest = rest[end:]
    yield rest


def repeat_notes(host: Host, said: str) -> None:
    """Print what a host printed on standard error."""
    for line in said.split("\n"):
        if line.strip():
            note(host.advice(line.rstrip("\r")))


def _print_reply(host: Host, reply: Reply, *, as_json: bool) -> int:
    if not as_json:
        sys.stdout.write(printable(reply.out))
        sys.stdout.flush()
    repeat_notes(host, reply.err)
    if as_json and (reply.code == 0 or reply.out.strip()):
        document = read_document(host, reply.out)
        name_host(document, host.name)
        print_json(document | answered(host))
    return reply.code


def _resume(host: Host, words: Sequence[str], arguments: SimpleNamespace) -> int:
    """Become ssh with the same command line on a terminal, or print that command."""
    line = host.command_line(without(words, (), {"--print", "--json"}))
    command = ssh_command(host, line, terminal=True)
    if arguments.print_only:
        asked = {name: getattr(arguments, name) for name in ("id", "last", "source")}
        with closing(Link(host)) as link:
            document = call_document(link, "cautions", asked)
        warnings = document.get("warnings")
        for warning in warnings if isinstance(warnings, list) and not arguments.json else []:
            note(f"{host.name}: {warning.get('text') if isinstance(warning, dict) else warning}")
        if arguments.json:
            print_json(document | {"argv": command, "env": {}} | answered(host))
        else:
            print_text(shlex.join(command))
        return 0
    if not on_a_terminal():
        sentence = _("Resuming on {name} needs a terminal. Nothing was run.").format(name=host.name)
        raise RefusedError(sentence, remedy=_("`--print` prints the command."))
    try:
        return become(command[0], command, os.environ)
    except OSError as error:
        raise fault(host, "host-ssh", said=error.strerror or str(error)) from error
