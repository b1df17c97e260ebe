"""`hosts`: the configured hosts, asked all at once; `hosts check NAME`: what is missing there, and what mends it."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
from types import SimpleNamespace
from typing import NamedTuple

from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hosts.faults import HostError, fault, login_command
from hermes_browse.store.hosts.host import PROGRAM, Host
from hermes_browse.store.hosts.link import Link, Links, Reply
from hermes_browse.store.hosts.running import Running, asked_at_once, read_document, refusal, run_once
from hermes_browse.store.temporary import removed_on_signals
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..config.folders import config_path
from ..config.read_config import read_config
from ..formats import timestamp
from .all_hosts import SOME_SILENT
from .command_context import Subcommand
from .on_host import how_to_add, named_host
from .output import note, print_json, print_table, print_text
from .parser import text_arg

_SILENT = ("host-unknown", "host-down", "host-key", "host-login", "host-silent", "host-lost", "host-ssh")
"""Codes of hosts on which nothing could be run."""
_FIND = "command -v {word} || \"$SHELL\" -lc 'command -v {word}' || true"
"""Looks for a program in the PATH of a login shell: that of sh, then the user's own."""


class HostState(NamedTuple):
    """What is known of a host after it was asked."""

    host: Host
    error: BrowseError | None = None
    version: str | None = None
    round_trip: float | None = None
    """Seconds from a question to its answer on the open connection."""
    sessions: int | None = None
    last_active: float | None = None

    @property
    def is_reachable(self) -> bool:
        """Whether ssh could run something there."""
        return not (isinstance(self.error, HostError) and self.error.code in _SILENT)

    def facts(self) -> list[str]:
        """Return version, sessions, last activity and round trip for people; each is empty if it is unknown."""
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
            "round_trip_ms": round(self.round_trip * 1000, 3) if self.round_trip is not None else None,
            "sessions": self.sessions,
            "last_active": self.last_active,
        }


class HostsCommand(Subcommand):
    """List the hosts, or check one."""

    takes_host = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        what_help = _("say what is missing on a host, and what mends it")
        parser.add_argument("what", nargs="?", choices=["check"], help=what_help)
        parser.add_argument("name", metavar="NAME", nargs="?", type=text_arg, help=_("its name in the configuration"))
        parser.add_argument("--names", action="store_true", help=_("print the names only, and ask nobody"))

    def contradiction(self, arguments: SimpleNamespace) -> str:
        """Return the error for a check of nothing."""
        return _("check needs the name of a host") if arguments.what is not None and arguments.name is None else ""

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
        seen = seen._replace(version=one_line(link.open().version, 40))
        seen = seen._replace(round_trip=link.round_trip())
        return _with_newest(seen, link.call("list", {"view": "all", "limit": 1}))
    except HostError as error:
        if error.code != "host-version":
            return seen._replace(error=error)
    try:
        said = run_once(host, host.command_line(["--version"])).out
        found = re.search(r"\d\S*", said)
        version = found[0] if found is not None else ""
        return seen._replace(version=version or None, error=fault(host, "host-version", version=version))
    except BrowseError as error:
        return seen._replace(error=error)


def _with_newest(seen: HostState, reply: Reply) -> HostState:
    if reply.code:
        return seen._replace(error=refusal(seen.host, reply))
    document = read_document(seen.host, reply.out)
    store, newest = document.get("store"), document.get("conversations")
    sessions = store.get("sessions") if isinstance(store, dict) else None
    last = newest[0].get("last_active") if isinstance(newest, list) and newest and isinstance(newest[0], dict) else None
    return seen._replace(
        sessions=sessions if isinstance(sessions, int) else None,
        last_active=last if isinstance(last, int | float) else None,
    )


def _print_hosts(hosts: list[HostState], *, is_table: bool) -> None:
    if not hosts:
        note(how_to_add())
    rows = [
        [each.host.name, each.host.ssh, _("yes") if each.is_reachable else _("no"), *each.facts()] for each in hosts
    ]
    headers = [_("host"), _("ssh"), _("reachable"), _("version"), _("sessions"), _("last active"), _("round trip")]
    if is_table:
        print_table(headers, rows, right=(4, 6), flexible=1, optional=(6, 5))
    for each in hosts:
        if each.error is not None:
            note(str(each.error))


def _report(seen: HostState, *, as_json: bool) -> int:
    """Print what was seen of one host, and what mends what is wrong; return 0 if nothing is, else 3."""
    code, text, remedy = _problem(seen) if seen.error is not None else ("", "", "")
    if as_json:
        problems = [{"severity": "error", "code": code, "text": text, "remedy": remedy}] if code else []
        print_json(seen.json() | {"problems": problems})
        return 3 if code else 0
    facts = [f"{seen.host.name} ({login_command(seen.host)})", *seen.facts()]
    line, labels = _("{label}: {text}"), (_("host"), _("version"), _("sessions"), _("last active"), _("round trip"))
    for label, fact in zip(labels, facts, strict=True):
        if fact:
            print_text(line.format(label=label, text=fact))
    if not code:
        print_text(_("Nothing is missing: it is listed, searched and opened from here."))
        return 0
    note(text)
    if remedy:
        note(remedy)
    return 3


def _problem(seen: HostState) -> tuple[str, str, str]:
    """Return the code of what is wrong with a host, a sentence, and what mends it."""
    host, error = seen.host, seen.error
    assert error is not None
    if not isinstance(error, HostError):  # its hermes-browse has said so
        remedy = _('If Hermes keeps its store elsewhere there, name the root as `home` of this host: home = "/path".')
        return "host-store", error.sentence, remedy
    if error.code == "host-program":
        return error.code, error.sentence, _found_by_login(host) or error.remedy
    if error.code == "host-key":
        return (error.code, *_about_key(host, error))
    look = _("To see what is wrong, type: `{command}`").format(command=login_command(host))
    return error.code, error.sentence, error.remedy or look


def _found_by_login(host: Host) -> str:
    """Return the line for the configuration, if a login shell of the host finds the program; else nothing."""
    try:
        word, *more = shlex.split(host.command)
    except ValueError:
        return ""
    if not re.fullmatch(r"[\w.~/+-]+", word):
        return ""
    try:
        reply = run_once(host, f"sh -lc {shlex.quote(_FIND.format(word=word))}")
    except HostError:
        return ""
    found = [line.strip() for line in reply.out.splitlines() if line.strip().startswith("/")]
    if not found:
        install = shlex.join([*shlex.split(login_command(host)), f"uv tool install {PROGRAM}"])
        return _("Its login shell does not find it either. Install it there: `{command}`").format(command=install)
    command = shlex.join([found[-1], *more]).replace("\\", "\\\\").replace('"', '\\"')
    sentence = _('Its login shell finds it. Write below this host in the configuration: command = "{command}"')
    return sentence.format(command=one_line(command, 400))


def _about_key(host: Host, error: HostError) -> tuple[str, str]:
    """Return a sentence about the key of a host, and what to type; if it has changed, what forgets the old one."""
    probe = Running(host, "true")
    try:
        for _chunk in probe:
            pass
    except HostError:
        pass
    if "HAS CHANGED" not in probe.said:
        return error.sentence, error.remedy
    try:
        shown = subprocess.run(
            ["ssh", "-G", *host.ssh_words()], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return error.sentence, error.remedy
    settings = dict(line.split(" ", 1) for line in shown.stdout.splitlines() if " " in line)
    name, port = settings.get("hostkeyalias", settings.get("hostname", "")), settings.get("port", "22")
    entry = name if port == "22" or "hostkeyalias" in settings else f"[{name}]:{port}"
    file = settings.get("userknownhostsfile", "").split(" ")[0]
    command = shlex.join(["ssh-keygen", *(["-f", file] if file else []), "-R", entry])
    remedy = _("If the machine was set up anew, forget its old key, then log in once: `{command}`")
    return error.sentence, remedy.format(command=command)
