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
from hermes_browse.store.wording import _

from .config.keymap import troubles_of
from .config.reading import Configuration
from .shared.clipboard import route
from .terminal_windows import terminal_of

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
        found.append(
            Problem("warning", "config", sentence, trouble.remedy or _("`hermes-browse config show` says more."))
        )
    if configuration.options.resume == "window" and told["windows"] is None and told["interactive"]:
        text = _('resume = "window" has no terminal here that opens windows.')
        found.append(Problem("warning", "no-windows", text, _("Start the browser in tmux, Zellij, WezTerm or kitty.")))
    return found + (_terminal(told) if told["interactive"] else [])


def _held(holders: Sequence[Holder]) -> list[Problem]:
    found = []
    if gone := [f"{each.name} ({each.pid})" for each in holders if each.is_gone]:
        text = _("{names} writes to a store that has been removed or replaced: what it writes is lost.")
        found.append(Problem("error", "held-gone", text.format(names=", ".join(gone)), _("Restart it.")))
    if here := [f"{each.name} ({each.pid})" for each in holders if not each.is_gone]:
        text = _("{names} has the store open.").format(names=", ".join(here))
        remedy = _("Browsing is safe beside it; end it before Hermes' own prune, optimize or repair, which refuse.")
        found.append(Problem("info", "held", text, remedy))
    return found


def _room(free: int | None, size: int) -> list[Problem]:
    if free is None:
        return []
    if free < _LITTLE:
        text = _("The disk of the store has {free:,.0f} MB left: Hermes cannot write to a full one.")
        remedy = _("Make room, or prune: `hermes-browse prune --dry-run`.")
        return [Problem("warning", "disk-low", text.format(free=free / 1e6), remedy)]
    if free < 2 * size:  # https://sqlite.org/lang_vacuum.html
        text = _("The disk has {free:,.0f} MB left, and VACUUM may need twice the size of the store.")
        remedy = _("Make room before `hermes sessions optimize`.")
        return [Problem("info", "disk-vacuum", text.format(free=free / 1e6), remedy)]
    return []


def _terminal(told: Mapping[str, object]) -> list[Problem]:
    found = []
    if str(told["encoding"] or "").lower().replace("-", "") != "utf8":
        text = _("The terminal's encoding is {encoding}: other letters become question marks.")
        remedy = _("Set LANG to a locale with UTF-8, such as C.UTF-8.")
        found.append(Problem("warning", "encoding", text.format(encoding=told["encoding"]), remedy))
    if told["term"] in (None, "", "dumb"):
        text = _("The terminal does not say what it is (TERM), so it has no screen for the browser.")
        found.append(Problem("warning", "terminal-dumb", text, _("Set TERM, for example to xterm-256color.")))
    elif told["colors"] not in ("none", "truecolor", "24bit"):
        text = _("The terminal does not say that it has true colours, so the first rows are not painted ahead.")
        found.append(Problem("info", "no-truecolor", text, _("Set COLORTERM=truecolor where it has them.")))
    columns, rows = int(str(told["columns"])), int(str(told["rows"]))
    if columns < 80 or rows < 24:
        text = _("The terminal has {columns} × {rows} cells; the browser wants 80 × 24.")
        text = text.format(columns=columns, rows=rows)
        found.append(Problem("info", "terminal-small", text, _("Make it larger, or its letters smaller.")))
    return found
