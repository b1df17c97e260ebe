"""What is around a store: who holds it, room on the disk, the terminal, the configuration."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from hermes_browse.store.health import Problem
from hermes_browse.store.holders import Holder

from .clipboard_tools import route
from .config.keymap import troubles_of
from .config.reading import Configuration
from .windows import terminal_of

_LITTLE = 200_000_000
"""Bytes; a disk with less is as good as full."""


def terminal(stream: TextIO | None = None) -> dict[str, object]:
    """What the terminal is and can.

    Args:
        stream: What is written to; standard output by default, which a screen has taken for itself.
    """
    stream = stream or sys.stdout
    size = shutil.get_terminal_size()
    env = os.environ
    return {
        "columns": size.columns,
        "rows": size.lines,
        "interactive": stream.isatty(),
        "term": env.get("TERM"),
        "program": env.get("TERM_PROGRAM"),
        "colors": "none" if "NO_COLOR" in env else env.get("COLORTERM") or "unknown",
        "encoding": stream.encoding,
        "multiplexer": "tmux" if "TMUX" in env else "zellij" if "ZELLIJ" in env else None,
        "windows": terminal_of(env),
        "clipboard": route(env),
        "ssh": "SSH_CONNECTION" in env,
    }


def disk_free(path: Path) -> int | None:
    """Bytes free where the store is; None when the system does not tell."""
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return None


def problems_around(
    holders: Sequence[Holder], free: int | None, size: int, told: Mapping[str, object], configuration: Configuration
) -> list[Problem]:
    """What is wrong, or worth knowing, around a store.

    Args:
        holders: Who has it open.
        free: Bytes free on its disk.
        size: Its bytes.
        told: From `terminal`.
        configuration: What the user has set.
    """
    found = [*_held(holders), *_room(free, size)]
    for trouble in troubles_of(configuration):
        sentence = trouble._replace(remedy="").sentence(str(configuration.path))
        found.append(Problem("warning", "config", sentence, trouble.remedy or "`hermes-browse config show` says more."))
    if configuration.options.resume == "window" and told["windows"] is None and told["interactive"]:
        text = 'resume = "window" has no terminal here that opens windows.'
        found.append(Problem("warning", "no-windows", text, "Start the browser in tmux, Zellij, WezTerm or kitty."))
    return found + (_terminal(told) if told["interactive"] else [])


def _held(holders: Sequence[Holder]) -> list[Problem]:
    found = []
    if gone := [f"{each.name} ({each.pid})" for each in holders if each.is_gone]:
        text = f"{', '.join(gone)} writes to a store that has been removed or replaced: what it writes is lost."
        found.append(Problem("error", "held-gone", text, "Restart it."))
    if here := [f"{each.name} ({each.pid})" for each in holders if not each.is_gone]:
        text = f"{', '.join(here)} has the store open."
        remedy = "Browsing is safe beside it; end it before Hermes' own prune, optimize or repair, which refuse."
        found.append(Problem("info", "held", text, remedy))
    return found


def _room(free: int | None, size: int) -> list[Problem]:
    if free is None:
        return []
    if free < _LITTLE:
        text = f"The disk of the store has {free / 1e6:,.0f} MB left: Hermes cannot write to a full one."
        return [Problem("warning", "disk-low", text, "Make room, or prune: `hermes-browse prune --dry-run`.")]
    if free < 2 * size:  # https://sqlite.org/lang_vacuum.html
        text = f"The disk has {free / 1e6:,.0f} MB left, and VACUUM may need twice the size of the store."
        return [Problem("info", "disk-vacuum", text, "Make room before `hermes sessions optimize`.")]
    return []


def _terminal(told: Mapping[str, object]) -> list[Problem]:
    found = []
    if str(told["encoding"] or "").lower().replace("-", "") != "utf8":
        text = f"The terminal's encoding is {told['encoding']}: other letters become question marks."
        found.append(Problem("warning", "encoding", text, "Set LANG to a locale with UTF-8, such as C.UTF-8."))
    if told["term"] in (None, "", "dumb"):
        text = "The terminal does not say what it is (TERM), so it has no screen for the browser."
        found.append(Problem("warning", "terminal-dumb", text, "Set TERM, for example to xterm-256color."))
    elif told["colors"] not in ("none", "truecolor", "24bit"):
        text = "The terminal does not say that it has true colours, so the first rows are not painted ahead."
        found.append(Problem("info", "no-truecolor", text, "Set COLORTERM=truecolor where it has them."))
    columns, rows = int(str(told["columns"])), int(str(told["rows"]))
    if columns < 80 or rows < 24:
        text = f"The terminal has {columns} × {rows} cells; the browser wants 80 × 24."
        found.append(Problem("info", "terminal-small", text, "Make it larger, or its letters smaller."))
    return found
