"""What is wrong with a host, found out by asking it and the `ssh` here, and the line that mends
it; one that installs this program there goes from where it was installed here."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hosts.host import PROGRAM, Host, HostError, login_command
from hermes_browse.store.hosts.ssh import run_once
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

_WORD = re.compile(r"[\w.~/+-]+")
"""A program that needs no quotes in any shell."""
_METHODS = re.compile(r"Permission denied \(([a-z,-]+)\)")
"""What a server takes, in the words of OpenSSH."""
_SECONDS = 10
_FIND = "command -v {word} || \"$SHELL\" -lc 'command -v {word}' || true"
"""Looks for a program in the PATH of a login shell: that of sh, then the user's own."""

_PARTS = ("pyproject.toml", "README.md", "LICENSE", "tui", "store", "styles")
"""What of a checkout is needed to build it."""
_FOLDER = "~/.local/lib/hermes-browse"
_UV = "curl -LsSf https://astral.sh/uv/install.sh | sh && ~/.local/bin/uv"
"""Installs uv without root, which brings a Python
(https://docs.astral.sh/uv/getting-started/installation/)."""
_LOOK = (
    "for tool in uv pipx; do"
    ' for each in "$(command -v $tool)" ~/.local/bin/$tool ~/.cargo/bin/$tool; do'
    ' test -x "$each" && echo "$tool $each"; done; done;'
    " for each in python3 python3.14 python3.13 python3.12 python3.11; do"
    ' $each -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))" 2>/dev/null'
    ' && echo "python $each"; done; true'
)
"""Says which tools a machine has; on one line, for tcsh. Debian's Python has `ensurepip` in a
package of its own."""


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
    if error.code == "host-program":
        return _about_program(host, error)
    remedy = error.mend
    if error.code == "host-login":
        remedy = _about_login(host, error.said) or remedy
    elif error.code == "host-refused":  # its hermes-browse has said so
        return HostProblem("host-store", error.sentence, remedy)
    look = _("To see what is wrong, type: `{command}`", command=login_command(host))
    return HostProblem(error.code, error.sentence, remedy or look)


def resume_problem(host: Host, store: OpenStore, session_id: str) -> HostProblem | None:
    """Return why a resume on a host would fail, None if it would not: it is a command of its own
    there, and needs `hermes`."""
    text = _("{name}: it is listed, searched and opened, but resuming fails there.")
    remedy = ""
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
    return HostProblem("host-resume", text.format(name=host.name), remedy)


# The program


def _about_program(host: Host, error: HostError) -> HostProblem:
    """Find the program there, in the PATH of a login shell if that of a plain command lacks it."""
    as_told = HostProblem(error.code, error.sentence, error.mend)
    try:
        word, *more = shlex.split(host.command)
    except ValueError:
        return as_told
    if not _WORD.fullmatch(word):
        return as_told
    plain = _find(host, f"command -v {word} || {{ test -e {word} && echo {word}; }} || true")
    program = plain or _find(host, _FIND.format(word=word), login=True)
    if not program:
        remedy = _("Its login shell does not find it either. Install it there: `{command}`")
        return as_told._replace(remedy=_installing(host, remedy))
    if (broken := _broken(host, error, program)) is not None:
        return broken
    if plain:  # it is what the plain shell would have run
        return as_told
    command = shlex.join([program, *more]).replace("\\", "\\\\").replace('"', '\\"')
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
    paths = [path for path in map(str.strip, reply.out.splitlines()) if path.startswith("/")]
    return paths[-1] if paths else ""


def _broken(host: Host, error: HostError, program: str) -> HostProblem | None:
    """Try a program there; return what is wrong if it does not say its version."""
    try:
        reply = run_once(host, f"{shlex.quote(program)} --version")
        if reply.code == 0:
            return None
        said = reply.err.strip()
    except HostError as failed:
        said = failed.said
    why = one_line(said.splitlines()[-1], 200) if said else "?"
    text = _(
        "{name}: {program} is there and cannot be run ({said}).",
        name=host.name,
        program=one_line(program, 200),
        said=why,
    )
    remedy = _("Its Python may be gone. Install it there again: `{command}`")
    return HostProblem(error.code, text, _installing(host, remedy))


def _installing(host: Host, remedy: str) -> str:
    line = install_line(host)
    if line is not None:
        return remedy.format(command=line)
    return _("Copy a wheel or a checkout of {program} there, and install it.", program=PROGRAM)


# The login; nothing is asked of the user


def _about_login(host: Host, said: str) -> str:
    """Return what makes the login succeed without a question, by what its sshd has said that it
    takes, and which keys there are here."""
    found = _METHODS.search(said)
    methods = found[1].split(",") if found is not None else []
    copy = shlex.join(["ssh-copy-id", *host.ssh_words()])
    if methods and "publickey" not in methods:
        return _(
            "It takes no keys, only: {methods}. Allow keys there (PubkeyAuthentication in its sshd_config).",
            methods=", ".join(methods),
        )
    _code, settings = _run(["ssh", "-G", *host.ssh_words()])
    paths = map(os.path.expanduser, re.findall(r"(?m)^identityfile (.+)", settings))
    keys = list(filter(os.path.isfile, paths))
    has_agent = "SSH_AUTH_SOCK" in os.environ
    for key in filter(_is_locked, keys):
        command = ("" if has_agent else 'eval "$(ssh-agent)" && ') + shlex.join(["ssh-add", key])
        return _(
            "Your key has a passphrase, and no ssh-agent has it. Type: `{command}`", command=command
        )
    if not keys and not has_agent:
        command = f"ssh-keygen -t ed25519 && {copy}"
        return _("You have no key. Make one and copy it there: `{command}`", command=command)
    if {"password", "keyboard-interactive"} & set(methods):
        return _("It does not know your key. Copy it there: `{command}`", command=copy)
    return _(
        "It does not know your key. Add your public key to ~/.ssh/authorized_keys of that user."
    )


def _is_locked(key: str) -> bool:
    """Tell whether a private key has a passphrase that no agent knows."""
    code, text = _run(["ssh-keygen", "-y", "-P", "", "-f", key])
    is_protected = code != 0 and "incorrect passphrase" in text
    return is_protected and _run(["ssh-add", "-T", f"{key}.pub"])[0] != 0


def _run(command: Sequence[str]) -> tuple[int, str]:
    """Run a program here; return its exit code and all that it printed."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return -1, str(error)
    return done.returncode, done.stdout


# Installing


def install_line(host: Host) -> str | None:
    """Return the line for the shell here; None if the wheel or checkout this was installed from is
    not there."""
    source = _source()
    if source is None:
        return None
    before, feed, what, after = source
    there = feed + _installed(what, _tools(host))
    # In double quotes, which every shell keeps as they are: there is no `$` or quote in it.
    return f'{before}{login_command(host)} "{there}"{after}'


def _source() -> tuple[str, str, str, str] | None:
    """Return what stands before ssh here, what receives it there, what is installed there, and what
    stands after.

    Installers write down where they took a package from, unless it was an index (PEP 610).
    """
    try:
        origin = json.loads(distribution(PROGRAM).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    address = urlsplit(origin.get("url", ""))
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]
        return "", "", f"{vcs['vcs']}+{origin['url']}@{vcs['commit_id']}", ""
    if address.scheme != "file":
        return "", "", origin.get("url") or PROGRAM, ""
    path = Path(unquote(address.path))
    if path.is_file():
        return "", f"cat >~/{path.name} && ", f"~/{path.name}", f" <{shlex.quote(str(path))}"
    if not all((path / each).exists() for each in _PARTS):
        return None
    packed = shlex.join(["tar", "-C", str(path), "--exclude", "__pycache__", "-cf", "-", *_PARTS])
    folder = f"~/{PROGRAM}-source"
    return f"{packed} | ", f"mkdir -p {folder} && tar -C {folder} -xf - && ", folder, ""


def _tools(host: Host) -> dict[str, str]:
    """Return the tools of a host that can install a Python program, by name, with what starts
    them."""
    try:
        reply = run_once(host, f"sh -lc {shlex.quote(_LOOK)}")
    except HostError:
        return {}
    found: dict[str, str] = {}
    for line in reply.out.splitlines():
        name, _space, program = line.partition(" ")
        if name in ("uv", "pipx", "python") and program and not set(program) & set("\"'`$\\ "):
            found.setdefault(name, program)
    return found


def _installed(what: str, tools: dict[str, str]) -> str:
    """Return the command that installs something with the best of some tools."""
    if "uv" in tools:
        return f"{tools['uv']} tool install --force {what}"
    if "pipx" in tools:
        return f"{tools['pipx']} install --force {what}"
    if "python" not in tools:
        return f"{_UV} tool install --force {what}"
    made = f"{tools['python']} -m venv {_FOLDER} && {_FOLDER}/bin/pip install {what}"
    link = f"mkdir -p ~/.local/bin && ln -sf {_FOLDER}/bin/{PROGRAM} ~/.local/bin/{PROGRAM}"
    return f"{made} && {link}"
