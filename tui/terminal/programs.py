"""Run other programs: the system's opener of addresses and files, a pager, an editor, and those that
take a text to the clipboard.

A text is copied by the first way that works, and which one that was is said: the desktop's own tool,
whose exit code tells whether it worked; tmux, which keeps a buffer and offers it to the terminal; the
terminal by OSC 52, which never answers, so success is not claimed.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hermes_browse.store.files import TemporaryFolder
from hermes_browse.store.text import VISIBLE_CONTROLS, printable
from hermes_browse.store.wording import _

_OPENER_SECONDS = 1.5
"""How long to wait for the opener to report a failure."""
_OPENERS = {"darwin": ("open",), "win32": ("explorer",)}
_PAGERS = ("less", "more")
_EDITORS = ("nano", "vi", "notepad")
_PATIENCE = 2.0
"""Maximum seconds for a tool of the clipboard."""
_OSC_LIMIT = 74_994
"""Bytes that xterm accepts by OSC 52: 100,000 of base64 less the escape sequence. Other terminals
differ."""
_CONTROLS = {**VISIBLE_CONTROLS, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}


def open_outside(target: str) -> tuple[bool, str]:
    """Open a checked address, or a file, by the system, in a program that outlives this one.

    The opener gets no input and no output, as some write to the terminal.

    Returns:
        Whether it was taken, and a sentence about that.
    """
    names = _OPENERS.get(sys.platform, ("xdg-open", "wslview"))
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        return False, _("no program here that opens it ({names})", names=", ".join(names))
    name, silent = Path(program).stem, subprocess.DEVNULL
    try:
        started = subprocess.Popen(
            [program, target], stdin=silent, stdout=silent, stderr=silent, start_new_session=True
        )
        code = started.wait(_OPENER_SECONDS)
    except subprocess.TimeoutExpired:
        code = 0  # some openers run as long as the program that they start
    except OSError as error:
        return False, _not_started(name, error)
    if code and sys.platform != "win32":  # the explorer of Windows always ends with 1
        return False, _("{program} did not take it", program=name)
    return True, _("handed to {program}", program=name)


def _command(
    environment: Mapping[str, str], variables: Sequence[str], defaults: Sequence[str]
) -> list[str] | None:
    for variable in variables:
        if setting := environment.get(variable, "").strip():
            try:
                return shlex.split(setting, posix=sys.platform != "win32")
            except ValueError:  # a quote that is not closed; starting it says what is wrong
                return [setting]
    return next(([name] for name in defaults if shutil.which(name)), None)


def pager(environment: Mapping[str, str]) -> list[str] | None:
    """Return the pager's command without the file, by `PAGER` or what is installed; None if there
    is none."""
    return _command(environment, ["PAGER"], _PAGERS)


def editor(environment: Mapping[str, str]) -> list[str] | None:
    """Return the editor's command without the file, by `VISUAL`, else `EDITOR`, or what is
    installed; None for none."""
    return _command(environment, ["VISUAL", "EDITOR"], _EDITORS)


@contextmanager
def private_file(text: str, suffix: str) -> Iterator[Path]:
    """Write a file that only its owner can read (0600, in a folder of 0700), removed when the block
    ends.

    Args:
        text: Its contents, made printable, as a pager passes controls on to the terminal.
        suffix: Of its name, for the editor's file type.
    """
    with TemporaryFolder("text") as folder:
        path = folder / f"text{suffix}"
        with os.fdopen(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(printable(text))
        yield path


def show(command: Sequence[str], text: str, suffix: str = ".txt") -> str:
    """Run a pager or an editor on a text and wait for it; the terminal must be lent
    (`Application.lend_terminal`).

    Args:
        command: Without the file, which gets the suffix.

    Returns:
        The error as a printable sentence; empty on success.
    """
    name = printable(command[0])
    with private_file(text, suffix) as path:
        try:
            ended = subprocess.run([*command, str(path)])
        except OSError as error:
            return _not_started(name, error)
    if not ended.returncode:
        return ""
    return _("{program} ended with {code}", program=name, code=ended.returncode)


def _not_started(program: str, error: OSError) -> str:
    reason = error.strerror or type(error).__name__
    return _("{program} could not be started: {reason}", program=program, reason=reason)


class Tool(NamedTuple):
    """A program that reads text from its standard input."""

    argv: tuple[str, ...]
    where: str
    """Message on success."""

    @property
    def encoding(self) -> str:
        """What it reads: Windows' own tool takes UTF-16."""
        return "utf-16" if self.argv[0] in ("clip", "clip.exe") else "utf-8"


def _is_wsl(environment: Mapping[str, str]) -> bool:
    return "WSL_DISTRO_NAME" in environment or Path("/proc/sys/fs/binfmt_misc/WSLInterop").exists()


def _desktop_tools(environment: Mapping[str, str], platform: str) -> Iterator[tuple[str, ...]]:
    """Yield the commands of the desktop's own tools, best first."""
    if platform == "darwin":
        yield ("pbcopy",)
        return
    if platform == "win32":
        yield ("clip",)
        return
    if environment.get("WAYLAND_DISPLAY"):
        yield ("wl-copy",)
    if environment.get("DISPLAY"):
        yield "xclip", "-selection", "clipboard"
        yield "xsel", "--clipboard", "--input"
    if "TERMUX_VERSION" in environment:
        yield ("termux-clipboard-set",)
    if platform == "linux" and _is_wsl(environment):
        yield ("clip.exe",)


def clipboard_tools(environment: Mapping[str, str], platform: str | None = None) -> list[Tool]:
    """Return the programs to try, installed or not, best first.

    Over SSH only tmux, which passes text on to the terminal: the desktop's tools would copy on the
    remote machine. The platform is this one by default.
    """
    is_remote = "SSH_CONNECTION" in environment or "SSH_TTY" in environment
    commands = () if is_remote else _desktop_tools(environment, platform or sys.platform)
    candidates = [Tool(argv, _("copied with {tool}", tool=argv[0])) for argv in commands]
    if environment.get("TMUX"):
        # -w (tmux 3.2) passes the buffer on to the terminal where `set-clipboard` allows it.
        where = _("copied to tmux, which passes it on to the terminal")
        candidates.append(Tool(("tmux", "load-buffer", "-w", "-"), where))
        candidates.append(Tool(("tmux", "load-buffer", "-"), _("copied to tmux's buffer alone")))
    return candidates


def harmless(text: str) -> str:
    """Replace control characters by their pictures, so that pasting the text has no side
    effects."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def clipboard_route(environment: Mapping[str, str]) -> str:
    """Return the first installed program, else `OSC 52`."""
    installed = (
        tool.argv[0] for tool in clipboard_tools(environment) if shutil.which(tool.argv[0])
    )
    return next(installed, "OSC 52")


def run_tool(text: str, candidates: Sequence[Tool]) -> str | None:
    """Pass text to the first tool that accepts it; return the message of that tool, None if all
    failed."""
    for tool in candidates:
        program = shutil.which(tool.argv[0])
        if program is None:
            continue
        try:
            # No pipes for the output: xclip and wl-copy stay in the background and would keep them
            # open.
            ended = subprocess.run(
                [program, *tool.argv[1:]],
                input=text.encode(tool.encoding, "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_PATIENCE,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue  # try the next; the message names the one that worked
        if ended.returncode == 0:
            return tool.where
    return None


async def copy_text(text: str, to_terminal: Callable[[str], None]) -> str:
    """Copy text to the clipboard without blocking the screen.

    Args:
        to_terminal: Sends it by OSC 52 (`App.copy_to_clipboard`).

    Returns:
        The message: "copied with wl-copy".
    """
    import asyncio  # start time: `doctor` on the command line needs no loop

    safe = harmless(text)
    where = await asyncio.to_thread(run_tool, safe, clipboard_tools(os.environ))
    if where is not None:
        return where
    to_terminal(safe)
    size = len(safe.encode("utf-8", "replace"))
    if size > _OSC_LIMIT:
        return _("sent to the terminal's clipboard (OSC 52; more than some terminals take)")
    return _("sent to the terminal's clipboard (OSC 52; it does not say whether it took it)")
