"""Text to the clipboard by the best way there is, and a sentence that says which way it went.

Three kinds of ways, tried in this order: the desktop's own tool (its exit code is an answer), tmux (it keeps a buffer
and offers it to the terminal), and the terminal itself by OSC 52, which never answers: so nothing is claimed of it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hermes_browse.store.wording import _

_PATIENCE = 2.0
"""Seconds a tool may take."""
_OSC_LIMIT = 74_994
"""Bytes xterm takes by OSC 52: 100,000 of base64, less what stands around it. Others take more, some less."""
_PICTURES = {code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)}
_CONTROLS = {**_PICTURES, 0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}


class Tool(NamedTuple):
    """A program that takes text on its standard input."""

    argv: tuple[str, ...]
    where: str
    """What is said when it took the text."""
    encoding: str = "utf-8"


def _is_wsl(environment: Mapping[str, str]) -> bool:
    return "WSL_DISTRO_NAME" in environment or Path("/proc/sys/fs/binfmt_misc/WSLInterop").exists()


def tools(environment: Mapping[str, str], platform: str | None = None) -> list[Tool]:
    """The programs to try, best first; those that are not installed included.

    Over SSH the desktop of the other machine is not the one the reader sits at, so its tools are left out: only
    tmux, which passes on to the terminal, remains.

    Args:
        environment: As `os.environ`.
        platform: As `sys.platform`, which it is by default.
    """
    platform = platform or sys.platform
    found: list[Tool] = []
    remote = "SSH_CONNECTION" in environment or "SSH_TTY" in environment
    if not remote:
        if platform == "darwin":
            found.append(Tool(("pbcopy",), _("copied with {tool}").format(tool="pbcopy")))
        elif platform == "win32":
            found.append(Tool(("clip",), _("copied with {tool}").format(tool="clip"), "utf-16"))
        else:
            if environment.get("WAYLAND_DISPLAY"):
                found.append(Tool(("wl-copy",), _("copied with {tool}").format(tool="wl-copy")))
            if environment.get("DISPLAY"):
                found.append(Tool(("xclip", "-selection", "clipboard"), _("copied with {tool}").format(tool="xclip")))
                found.append(Tool(("xsel", "--clipboard", "--input"), _("copied with {tool}").format(tool="xsel")))
            if "TERMUX_VERSION" in environment:
                found.append(
                    Tool(("termux-clipboard-set",), _("copied with {tool}").format(tool="termux-clipboard-set"))
                )
            if platform == "linux" and _is_wsl(environment):
                found.append(Tool(("clip.exe",), _("copied with {tool}").format(tool="clip.exe"), "utf-16"))
    if environment.get("TMUX"):
        # -w (tmux 3.2) passes the buffer on to the terminal where `set-clipboard` allows it.
        found.append(
            Tool(("tmux", "load-buffer", "-w", "-"), _("copied to tmux's buffer, which it offers to the terminal"))
        )
        found.append(Tool(("tmux", "load-buffer", "-"), _("copied to tmux's buffer alone")))
    return found


def harmless(text: str) -> str:
    """Text that does nothing where it is pasted: controls become pictures, letters of every script stay."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def route(environment: Mapping[str, str]) -> str:
    """The program that would be tried first of those that are installed, else `OSC 52`.

    Args:
        environment: As `os.environ`.
    """
    found = (tool.argv[0] for tool in tools(environment) if shutil.which(tool.argv[0]))
    return next(found, "OSC 52")


def run_tool(text: str, candidates: Sequence[Tool]) -> str | None:
    """Give text to the first tool that takes it.

    Args:
        text: What to copy.
        candidates: From `tools`.

    Returns:
        What that tool fills; None when none took it.
    """
    for tool in candidates:
        program = shutil.which(tool.argv[0])
        if program is None:
            continue
        try:
            # No pipes for what it says: xclip and wl-copy stay behind to serve the text and would keep them open.
            ended = subprocess.run(
                [program, *tool.argv[1:]],
                input=text.encode(tool.encoding, "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_PATIENCE,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue  # the next way; the sentence at the end says which one it was
        if ended.returncode == 0:
            return tool.where
    return None


async def copy(text: str, to_terminal: Callable[[str], None]) -> str:
    """Put text on the clipboard; other keys are answered meanwhile.

    Args:
        text: What to copy.
        to_terminal: Sends it by OSC 52 (`App.copy_to_clipboard`).

    Returns:
        Which way it went, to follow what was copied: "copied with wl-copy".
    """
    import asyncio  # `doctor` on the command line needs no loop

    safe = harmless(text)
    where = await asyncio.to_thread(run_tool, safe, tools(os.environ))
    if where is not None:
        return where
    to_terminal(safe)
    size = len(safe.encode("utf-8", "replace"))
    if size > _OSC_LIMIT:
        return _("sent to the terminal's clipboard (OSC 52; more than some terminals take)")
    return _("sent to the terminal's clipboard (OSC 52; it does not say whether it took it)")
