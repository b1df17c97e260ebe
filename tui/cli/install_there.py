"""The line that installs this program on a host: from where it was installed here, with what is
there."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from hermes_browse.store.hosts.faults import HostError, login_command
from hermes_browse.store.hosts.host import PROGRAM, Host
from hermes_browse.store.hosts.running import run_once

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


def install_line(host: Host) -> str | None:
    """Return the line for the shell here; None if the wheel or checkout this was installed from is
    not there."""
    source = _source()
    if source is None:
        return None
    before, feed, what, after = source
    there = feed + _with_tool(_tools(host))(what)
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


def _with_tool(tools: dict[str, str]) -> Callable[[str], str]:
    """Return what makes the command that installs something with the best of some tools."""
    if "uv" in tools or "pipx" in tools:
        words = f"{tools['uv']} tool" if "uv" in tools else tools["pipx"]
        return lambda what: f"{words} install --force {what}"
    if "python" in tools:
        made = f"{tools['python']} -m venv {_FOLDER}"
        link = f"mkdir -p ~/.local/bin && ln -sf {_FOLDER}/bin/{PROGRAM} ~/.local/bin/{PROGRAM}"
        return lambda what: f"{made} && {_FOLDER}/bin/pip install {what} && {link}"
    return lambda what: f"{_UV} tool install --force {what}"
