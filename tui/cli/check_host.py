"""What is wrong with a host, found out by asking it and the `ssh` here, and the line that mends
it."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hosts.faults import HostError, login_command
from hermes_browse.store.hosts.host import PROGRAM, Host
from hermes_browse.store.hosts.link import ANSWER_SECONDS
from hermes_browse.store.hosts.running import Running, run_once
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from .check_login import about_key, about_login
from .install_there import install_line
from .on_host import ask_document

_WORD = re.compile(r"[\w.~/+-]+")
"""A program that needs no quotes in any shell."""
_FIND = "command -v {word} || \"$SHELL\" -lc 'command -v {word}' || true"
"""Looks for a program in the PATH of a login shell: that of sh, then the user's own."""


class HostProblem(NamedTuple):
    """What is wrong with a host."""

    code: str
    """As of `HostError`, or `host-store`, `host-resume`."""
    text: str
    remedy: str
    """What mends it; empty if there is nothing more to say."""


def problem_of(host: Host, error: BrowseError) -> HostProblem:
    """Return what is wrong with a host that gave an error."""
    if not isinstance(error, HostError):
        return HostProblem("host-store", error.sentence, error.remedy)
    if error.code == "host-refused":  # its hermes-browse has said so
        return HostProblem("host-store", error.sentence, error.mend)
    if error.code == "host-program":
        return _about_program(host, error)
    if error.code == "host-login":
        return HostProblem(error.code, error.sentence, about_login(host) or error.mend)
    if error.code == "host-key":
        return HostProblem(error.code, error.sentence, about_key(host) or error.mend)
    look = _("To see what is wrong, type: `{command}`").format(command=login_command(host))
    return HostProblem(error.code, error.sentence, error.mend or look)


def resume_problem(host: Host, session_id: str) -> HostProblem | None:
    """Plan a resume on a host, with its own command; return why it would fail, None if it would
    not."""
    try:
        document = ask_document(host, ["resume", "--print", "--", session_id])
    except BrowseError as error:
        sentence = _("{name}: it is listed, searched and opened, but resuming fails there.").format(
            name=host.name
        )
        return HostProblem(
            "host-resume",
            sentence,
            f"{error.sentence} {getattr(error, 'mend', error.remedy)}".rstrip(),
        )
    warnings = document.get("warnings")
    codes = (
        [each.get("code") for each in warnings if isinstance(each, dict)]
        if isinstance(warnings, list)
        else []
    )
    if "no-hermes" not in codes:
        return None
    sentence = _(
        "{name}: it is listed, searched and opened, but not resumed: it does not find `hermes` there."
    )
    remedy = _("Link it into ~/.local/bin of that user, or install Hermes Agent there.")
    return HostProblem("host-resume", sentence.format(name=host.name), remedy)


# The program


def _about_program(host: Host, error: HostError) -> HostProblem:
    """Find the program there, in the PATH of a plain command and in that of a login shell, and try
    what was found."""
    try:
        word, *more = shlex.split(host.command)
    except ValueError:
        return HostProblem(error.code, error.sentence, error.mend)
    if not _WORD.fullmatch(word):
        return HostProblem(error.code, error.sentence, error.mend)
    found = _find(host, f"command -v {word} || true") or _find(
        host, f"test -e {word} && echo {word} || true"
    )
    if found:  # it is what the plain shell would have run
        why = _why_not(host, found)
        return (
            HostProblem(error.code, error.sentence, error.mend)
            if why is None
            else _broken(host, error, found, why)
        )
    found = _find(host, _FIND.format(word=word), login=True)
    if not found:
        remedy = _("Its login shell does not find it either. Install it there: `{command}`")
        return HostProblem(error.code, error.sentence, _installing(host, remedy))
    if (why := _why_not(host, found)) is not None:
        return _broken(host, error, found, why)
    command = shlex.join([found, *more]).replace("\\", "\\\\").replace('"', '\\"')
    remedy = _(
        'Its login shell finds it. Write below this host in the configuration: command = "{command}"'
    )
    return HostProblem(error.code, error.sentence, remedy.format(command=one_line(command, 400)))


def _find(host: Host, line: str, *, login: bool = False) -> str:
    """Return the last path that a line for `sh` prints there; empty if there is none."""
    try:
        reply = run_once(host, f"sh -{'l' if login else ''}c {shlex.quote(line)}")
    except HostError:
        return ""
    found = [each.strip() for each in reply.out.splitlines() if each.strip().startswith("/")]
    return found[-1] if found else ""


def _why_not(host: Host, program: str) -> str | None:
    """Try a program there; return what is said instead of its version, None if nothing is wrong."""
    trial = Running(host, f"{shlex.quote(program)} --version", seconds=ANSWER_SECONDS)
    try:
        for _chunk in trial:
            pass
    except HostError:
        pass  # what the shell says is wanted
    lines = trial.said.strip().splitlines()
    return None if trial.code == 0 else one_line(lines[-1], 200) if lines else "?"


def _broken(host: Host, error: HostError, program: str, why: str) -> HostProblem:
    sentence = _("{name}: {program} is there and cannot be run ({said}).")
    text = sentence.format(name=host.name, program=one_line(program, 200), said=why)
    remedy = _("Its Python may be gone. Install it there again: `{command}`")
    return HostProblem(error.code, text, _installing(host, remedy))


def _installing(host: Host, remedy: str) -> str:
    line = install_line(host)
    if line is None:
        return _("Copy a wheel or a checkout of {program} there, and install it.").format(
            program=PROGRAM
        )
    return remedy.format(command=line)
