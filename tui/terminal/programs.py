"""Run other programs: the desktop's clipboard, the system's opener of addresses and files, a pager,
an editor.

Text is copied by the first way that works, and it is said which one that was: the desktop's own
tool, whose exit code tells whether it worked; tmux, which keeps a buffer and offers it to the
terminal; the terminal by OSC 52, which never answers, so success is not claimed.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hermes_browse.store.files import TemporaryFolder, write_private
from hermes_browse.store.text import VISIBLE_CONTROLS, printable
from hermes_browse.store.wording import _

_PATIENCE = 2.0
"""Maximum seconds for a tool."""
_OSC_LIMIT = 74_994
"""Bytes that xterm accepts by OSC 52: 100,000 of base64 less the escape sequence. Other terminals
differ."""
_WSL = Path("/proc/sys/fs/binfmt_misc/WSLInterop")
_CONTROLS = {**VISIBLE_CONTROLS, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}
_OPENER_SECONDS = 1.5
"""How long to wait for the opener to report a failure."""
_OPENERS = {"darwin": ("open",), "win32": ("explorer",)}


def _desktop_tools() -> list[tuple[str, ...]]:
    """Return the commands of the desktop's own tools, best first."""
    own = {"darwin": ("pbcopy",), "win32": ("clip",)}
    if sys.platform in own:
        return [own[sys.platform]]
    env = os.environ
    tools: dict[tuple[str, ...], object] = {
        ("wl-copy",): env.get("WAYLAND_DISPLAY"),
        ("xclip", "-selection", "clipboard"): env.get("DISPLAY"),
        ("xsel", "--clipboard", "--input"): env.get("DISPLAY"),
        ("termux-clipboard-set",): "TERMUX_VERSION" in env,
        ("clip.exe",): "WSL_DISTRO_NAME" in env or _WSL.exists(),
    }
    return [command for command, is_there in tools.items() if is_there]


def tools() -> dict[tuple[str, ...], str]:
    """Return the programs to try that read a text from their input, installed or not, best first:
    their commands, and the message on success.

    Over SSH only tmux, which passes text on to the terminal: the desktop's tools would copy on the
    remote machine.
    """
    is_remote = "SSH_CONNECTION" in os.environ or "SSH_TTY" in os.environ
    commands = [] if is_remote else _desktop_tools()
    found = {argv: _("copied with {tool}", tool=argv[0]) for argv in commands}
    if os.environ.get("TMUX"):
        # -w (tmux 3.2) passes the buffer on to the terminal where `set-clipboard` allows it.
        passed_on = _("copied to tmux, which passes it on to the terminal")
        found["tmux", "load-buffer", "-w", "-"] = passed_on
        found["tmux", "load-buffer", "-"] = _("copied to tmux's buffer alone")
    return found


def harmless(text: str) -> str:
    """Replace control characters by their pictures, so that pasting the text has no side
    effects."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def route() -> str:
    """Return the first installed program, else `OSC 52`."""
    return next((name for name, *_options in tools() if shutil.which(name)), "OSC 52")


def run_tool(text: str, candidates: Mapping[tuple[str, ...], str]) -> str | None:
    """Pass text to the first tool that accepts it; return the message of that tool, None if all
    failed."""
    for argv, message in candidates.items():
        # Windows' own tool takes UTF-16.
        encoding = "utf-16" if argv[0] in ("clip", "clip.exe") else "utf-8"
        try:
            # No pipes for the output: xclip and wl-copy stay in the background and would keep them
            # open.
            ended = subprocess.run(
                argv,
                input=text.encode(encoding, "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_PATIENCE,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue  # it is not installed, or fails: try the next
        if ended.returncode == 0:
            return message
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
    where = await asyncio.to_thread(run_tool, safe, tools())
    if where is not None:
        return where
    to_terminal(safe)
    if len(safe.encode("utf-8", "replace")) > _OSC_LIMIT:
        return _("sent to the terminal's clipboard (OSC 52; more than some terminals take)")
    return _("sent to the terminal's clipboard (OSC 52; it does not say whether it took it)")


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
    name = Path(program).stem
    silent = subprocess.DEVNULL
    try:
        started = subprocess.Popen(
            [program, target], stdin=silent, stdout=silent, stderr=silent, start_new_session=True
        )
        code = started.wait(_OPENER_SECONDS)
    except subprocess.TimeoutExpired:
        code = 0  # some openers run as long as the program that they start
    except OSError as error:
        return False, not_started(name, error)
    if code and sys.platform != "win32":  # the explorer of Windows always ends with 1
        return False, _("{program} did not take it", program=name)
    return True, _("handed to {program}", program=name)


def chosen(variables: Sequence[str], defaults: Sequence[str]) -> list[str] | None:
    """Return the command of a program, as of a pager, by the first variable that is set, else the
    first of the defaults that is installed; None if there is none."""
    for variable in variables:
        if setting := os.environ.get(variable, "").strip():
            try:
                return shlex.split(setting, posix=sys.platform != "win32")
            except ValueError:  # a quote that is not closed; starting it says what is wrong
                return [setting]
    return next(([name] for name in defaults if shutil.which(name)), None)


def show(command: Sequence[str], text: str, suffix: str = ".txt") -> str:
    """Run a pager or an editor on a text and wait for it; the terminal must be lent
    (`Application.lend_terminal`).

    Only its owner can read the file (0600, in a folder of 0700), which is removed then.

    Args:
        command: Without the file, which gets the suffix.
        text: Made printable, as a pager passes controls on to the terminal.

    Returns:
        The error as a printable sentence; empty on success.
    """
    name = printable(command[0])
    with TemporaryFolder("text") as folder:
        path = folder / f"text{suffix}"
        write_private(path, printable(text))
        try:
            ended = subprocess.run([*command, str(path)])
        except OSError as error:
            return not_started(name, error)
    if not ended.returncode:
        return ""
    return f"{name} {how_it_ended(ended.returncode)}"


def how_it_ended(code: int) -> str:
    """Return how a program ended that reports no success, to stand behind its name."""
    if code >= 0:
        return _("ended with {code}", code=code)
    names = {each.value: each.name for each in signal.Signals}
    return _("was stopped by {signal}", signal=names.get(-code, -code))


def wait_for_enter() -> None:
    """Leave on the lent terminal what a program has said, until Enter is pressed."""
    print("\n" + _("Enter goes back to the browser."), end="", flush=True)
    try:
        input()
    except (EOFError, KeyboardInterrupt):
        print()


def not_started(program: str, error: OSError) -> str:
    """Return why a program could not be started."""
    reason = error.strerror or type(error).__name__
    return _("{program} could not be started: {reason}", program=program, reason=reason)
