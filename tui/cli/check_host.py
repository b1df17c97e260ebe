"""What is wrong with a host, found out by asking it, and the line that mends it; one that installs
this program there goes from where it was installed here."""

from __future__ import annotations

import json
import re
import shlex
import time
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.health import StoreProblem
from hermes_browse.store.hosts.host import PROGRAM, Host, HostError, login_command
from hermes_browse.store.hosts.ssh import run_once
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

_WORD = re.compile(r"[\w.~/+-]+")
"""A program that needs no quotes in any shell."""
_METHODS = re.compile(r"Permission denied \(([a-z,-]+)\)")
"""What a server takes, in the words of OpenSSH."""
_FIND = "command -v {word} || \"$SHELL\" -lc 'command -v {word}' || true"
"""Looks for a program in the PATH of a login shell: that of sh, then the user's own."""

_PARTS = ("pyproject.toml", "README.md", "LICENSE", "tui", "store", "styles")
"""What of a checkout is needed to build it."""
_INSTALL = (
    "sh -lc 'command -v uv || test -x ~/.local/bin/uv ||"
    " curl -LsSf https://astral.sh/uv/install.sh | sh;"
    " uv tool install --force {what} || ~/.local/bin/uv tool install --force {what}'"
)
"""Installs something with uv, which brings a Python, and is fetched where it is missing; without
root (https://docs.astral.sh/uv/getting-started/installation/)."""


def problem_of(host: Host, error: BrowseError) -> StoreProblem:
    """Return what is wrong with a host that gave an error."""
    if not isinstance(error, HostError):
        return StoreProblem("error", "host-store", error.sentence, error.remedy)
    if error.code == "host-program":
        return _about_program(host, error)
    remedy, taken = error.mend, _METHODS.search(error.said)
    if error.code == "host-refused":  # its hermes-browse has said so
        return StoreProblem("error", "host-store", error.sentence, remedy)
    if error.code == "host-login" and taken is not None and "publickey" not in taken[1]:
        remedy = _(
            "It takes no keys, only: {methods}. Allow keys there (PubkeyAuthentication in its sshd_config).",
            methods=taken[1].replace(",", ", "),
        )
    return StoreProblem(
        "error",
        error.code,
        error.sentence,
        remedy or _("To see what is wrong, type: `{command}`", command=login_command(host)),
    )


def resume_problem(host: Host, store: OpenStore, session_id: str) -> StoreProblem | None:
    """Return why a resume on a host would fail, None if it would not: it is a command of its own
    there, and needs `hermes`."""
    text = _("{name}: it is listed, searched and opened, but resuming fails there.")
    try:
        plan = store.resume_plan(session_id, time.time())
        run_once(host, host.command_line(["--version"]))
    except BrowseError as error:
        mend = error.mend if isinstance(error, HostError) else error.remedy
        remedy = f"{error.sentence} {mend}".rstrip()
    else:
        if all(warning.code != "no-hermes" for warning in plan.warnings):
            return None
        text = _(
            "{name}: it is listed, searched and opened, but not resumed: it does not find `hermes` there."
        )
        remedy = _("Link it into ~/.local/bin of that user, or install Hermes Agent there.")
    return StoreProblem("error", "host-resume", text.format(name=host.name), remedy)


# The program


def _about_program(host: Host, error: HostError) -> StoreProblem:
    """Find the program there, in the PATH of a login shell if that of a plain command lacks it."""
    as_told = StoreProblem("error", error.code, error.sentence, error.mend)
    word, space, more = host.command.partition(" ")
    if not _WORD.fullmatch(word):
        return as_told
    plain = _find(host, f"command -v {word} || {{ test -e {word} && echo {word}; }} || true")
    program = plain or _find(host, _FIND.format(word=word), login=True)
    if not program:
        return as_told._replace(
            remedy=_installing(
                host, _("Its login shell does not find it either. Install it there: `{command}`")
            )
        )
    if plain and more:  # a wrapper, such as `docker exec`, which is there
        return as_told
    if plain:
        return StoreProblem(
            "error",
            error.code,
            _(
                "{name}: {program} is there and cannot be run ({said}).",
                name=host.name,
                program=one_line(program, 200),
                said=one_line(error.said, 200) or "?",
            ),
            _installing(host, _("Its Python may be gone. Install it there again: `{command}`")),
        )
    command = f"{shlex.quote(program)}{space}{more}".replace("\\", "\\\\").replace('"', '\\"')
    return as_told._replace(
        remedy=_(
            'Its login shell finds it. Write below this host in the configuration: command = "{command}"',
            command=one_line(command, 400),
        )
    )


def _find(host: Host, line: str, *, login: bool = False) -> str:
    """Return the last path that a line for `sh` prints there; empty if there is none."""
    try:
        reply = run_once(host, f"sh -{'l' if login else ''}c {shlex.quote(line)}")
    except HostError:
        return ""
    paths = [path for path in map(str.strip, reply.stdout.splitlines()) if path.startswith("/")]
    return paths[-1] if paths else ""


def _installing(host: Host, remedy: str) -> str:
    line = install_line(host)
    if line is not None:
        return remedy.format(command=line)
    return _("Copy a wheel or a checkout of {program} there, and install it.", program=PROGRAM)


# Installing


def install_line(host: Host) -> str | None:
    """Return the line for the shell here; None if the wheel or checkout this was installed from is
    not there.

    Installers write down where they took a package from, unless it was an index (PEP 610).
    """
    try:
        origin = json.loads(distribution(PROGRAM).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]
        return _line(host, f"{vcs['vcs']}+{origin['url']}@{vcs['commit_id']}")
    address = urlsplit(origin.get("url", ""))
    if address.scheme != "file":
        return _line(host, origin.get("url") or PROGRAM)
    path = Path(unquote(address.path))
    if path.is_file():
        there = f"~/{path.name}"
        line = _line(host, there, f"cat >{there} && ")
        return f"{line} <{shlex.quote(str(path))}"
    if not path.is_dir():
        return None
    packed = shlex.join(["tar", "-C", str(path), "--exclude", "__pycache__", "-cf", "-", *_PARTS])
    folder = f"~/{PROGRAM}-source"
    unpack = f"mkdir -p {folder} && tar -C {folder} -xf - && "
    return f"{packed} | {_line(host, folder, unpack)}"


def _line(host: Host, package: str, receive: str = "") -> str:
    """Return a line that installs a package there, after what receives it."""
    # In double quotes, which every shell keeps as they are: there is no `$` or such a quote in it.
    return f'{login_command(host)} "{receive}{_INSTALL.format(what=package)}"'
