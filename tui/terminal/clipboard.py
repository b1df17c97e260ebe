"""Copy text to the clipboard by the first way that works, and say which one it was.

The order: the desktop's own tool, whose exit code tells whether it worked; tmux, which keeps a
buffer and offers it to the terminal; the terminal by OSC 52, which never answers, so success is not
claimed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hermes_browse.store.text import VISIBLE_CONTROLS
from hermes_browse.store.wording import _

_PATIENCE = 2.0
"""Maximum seconds for a tool."""
_OSC_LIMIT = 74_994
"""Bytes that xterm accepts by OSC 52: 100,000 of base64 less the escape sequence. Other terminals
differ."""
_WSL = Path("/proc/sys/fs/binfmt_misc/WSLInterop")
_CONTROLS = {**VISIBLE_CONTROLS, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}


class Tool(NamedTuple):
    """A program that reads text from its standard input."""

    argv: tuple[str, ...]
    where: str
    """Message on success."""


def _desktop_tools() -> Iterator[tuple[str, ...]]:
    """Yield the commands of the desktop's own tools, best first."""
    env = os.environ
    own = {"darwin": ("pbcopy",), "win32": ("clip",)}
    if sys.platform in own:
        yield own[sys.platform]
        return
    if env.get("WAYLAND_DISPLAY"):
        yield ("wl-copy",)
    if env.get("DISPLAY"):
        yield "xclip", "-selection", "clipboard"
        yield "xsel", "--clipboard", "--input"
    if "TERMUX_VERSION" in env:
        yield ("termux-clipboard-set",)
    if "WSL_DISTRO_NAME" in env or _WSL.exists():
        yield ("clip.exe",)


def tools() -> list[Tool]:
    """Return the programs to try, installed or not, best first.

    Over SSH only tmux, which passes text on to the terminal: the desktop's tools would copy on the
    remote machine.
    """
    is_remote = "SSH_CONNECTION" in os.environ or "SSH_TTY" in os.environ
    commands = () if is_remote else _desktop_tools()
    candidates = [Tool(argv, _("copied with {tool}", tool=argv[0])) for argv in commands]
    if os.environ.get("TMUX"):
        # -w (tmux 3.2) passes the buffer on to the terminal where `set-clipboard` allows it.
        where = _("copied to tmux, which passes it on to the terminal")
        candidates.append(Tool(("tmux", "load-buffer", "-w", "-"), where))
        candidates.append(Tool(("tmux", "load-buffer", "-"), _("copied to tmux's buffer alone")))
    return candidates


def harmless(text: str) -> str:
    """Replace control characters by their pictures, so that pasting the text has no side
    effects."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def route() -> str:
    """Return the first installed program, else `OSC 52`."""
    installed = (tool.argv[0] for tool in tools() if shutil.which(tool.argv[0]))
    return next(installed, "OSC 52")


def run_tool(text: str, candidates: Sequence[Tool]) -> str | None:
    """Pass text to the first tool that accepts it; return the message of that tool, None if all
    failed."""
    for tool in candidates:
        # Windows' own tool takes UTF-16.
        encoding = "utf-16" if tool.argv[0] in ("clip", "clip.exe") else "utf-8"
        try:
            # No pipes for the output: xclip and wl-copy stay in the background and would keep them
            # open.
            ended = subprocess.run(
                tool.argv,
                input=text.encode(encoding, "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_PATIENCE,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue  # it is not installed, or fails: try the next
        if ended.returncode == 0:
            return tool.where
    return None


async def copy(text: str, to_terminal: Callable[[str], None]) -> str:
    """Copy text to the clipboard without blocking the screen.

    Args:
        to_terminal: Sends it by OSC 52 (`App.copy_to_clipboard`).

    Returns:
        The message: "copied with wl-copy".
    """
    import asyncio  # start time: `doctor` on the command line needs no loop

    safe = harmless(text)
    where = await asyncio.to_thread(run_tool, safe, tools())
    if where is not None:
        return where
    to_terminal(safe)
    if len(safe.encode("utf-8", "replace")) > _OSC_LIMIT:
        return _("sent to the terminal's clipboard (OSC 52; more than some terminals take)")
    return _("sent to the terminal's clipboard (OSC 52; it does not say whether it took it)")
