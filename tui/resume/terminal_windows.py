"""Open Hermes in a new window of the terminal: tmux, Zellij, WezTerm, kitty, Windows Terminal.

Each is controlled through its own program with separate arguments, so that no shell parses a title or an id. If a
window already has the conversation, and the terminal can find it, that is activated instead.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hermes_browse.store.hermes.resume_command import ResumePlan
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from .. import formats

_PATIENCE = 5.0
"""Maximum seconds for a terminal to answer."""
_TERMINALS = {
    "TMUX": "tmux", "ZELLIJ": "zellij", "WEZTERM_PANE": "wezterm", "KITTY_WINDOW_ID": "kitty", "WT_SESSION": "wt",
}  # fmt: skip
"""Terminals by the variable that each sets, the innermost first."""
_MARK = "@hermes_session"
"""The option of a tmux window with the key of its conversation."""
_PLAIN = re.compile(r"[\w.:=\\/ -]*", re.ASCII)
"""Arguments that neither Windows Terminal nor cmd.exe interprets."""


class WindowOutcome(NamedTuple):
    """Success or failure."""

    done: bool
    text: str
    """A sentence for the status line."""


class _Answer(NamedTuple):
    """Exit code and output of a program."""

    code: int
    out: str
    err: str


def _ask(argv: Sequence[str]) -> _Answer:
    """Run a program of the terminal; a missing or hanging one counts as failed, with the code -1."""
    try:
        ended = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return _Answer(-1, "", _("it does not answer"))
    except OSError as error:
        return _Answer(-1, "", error.strerror or _("it cannot be started"))
    return _Answer(ended.returncode, ended.stdout.strip(), one_line(ended.stderr.strip(), 200))


def terminal_of(environment: Mapping[str, str]) -> str | None:
    """Return the innermost known terminal that the browser runs in, else None."""
    return next((name for variable, name in _TERMINALS.items() if environment.get(variable)), None)


def _key(plan: ResumePlan) -> str:
    """Return a key that is the same for all segments of a conversation, in hexadecimal, which is safe everywhere."""
    words = "\0".join([*plan.env.values(), *plan.argv[1:3], plan.conversation.root_id])
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _command(plan: ResumePlan) -> list[str]:
    """Return the command's arguments, with `env`, as a window has the terminal's environment, not ours."""
    settings = [f"{name}={value}" for name, value in plan.env.items()]
    return ["env", *settings, plan.executable or plan.argv[0], *plan.argv[1:]]


def _title(plan: ResumePlan) -> str:
    """Return a name for the window, without `#`, after which tmux would run commands."""
    return formats.clip(one_line(formats.name(plan.conversation), 60).replace("#", " ").lstrip("-"), 24) or "hermes"


def _opened(name: str, answer: _Answer, done: str) -> WindowOutcome:
    if answer.code == 0:
        return WindowOutcome(True, done)
    reason = answer.err or _("it ended with {code}").format(code=answer.code)
    return WindowOutcome(False, _("{program} opened no window: {reason}").format(program=name, reason=reason))


class Windows:
    """Windows of the terminal around the browser, and their conversations."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._wezterm: dict[str, str] = {}

    def go_to(self, plan: ResumePlan) -> WindowOutcome | None:
        """Activate the window that has the conversation; None if there is none, or none can be found."""
        name, key = terminal_of(self._environment), _key(plan)
        if name == "tmux":
            here = self._environment.get("TMUX_PANE", "")
            target = ["-t", here] if here else []
            listed = _ask(["tmux", "list-windows", *target, "-F", f"#{{window_id}} #{{{_MARK}}}"])
            for line in listed.out.splitlines():
                window, _space, held = line.partition(" ")
                if held == key and _ask(["tmux", "select-window", "-t", window]).code == 0:
                    return WindowOutcome(True, _("this conversation was open in a window of tmux: it is in front now"))
        elif name == "wezterm" and key in self._wezterm:
            if _ask(["wezterm", "cli", "activate-pane", "--pane-id", self._wezterm[key]]).code == 0:
                return WindowOutcome(True, _("this conversation was open in a tab of WezTerm: it is in front now"))
            del self._wezterm[key]
        elif name == "kitty" and self._environment.get("KITTY_LISTEN_ON"):
            match = f"var:hermes_session={key}"
            if _ask(["kitty", "@", "focus-window", "--match", match]).code == 0:
                return WindowOutcome(True, _("this conversation was open in a window of kitty: it is in front now"))
        return None

    def open(self, plan: ResumePlan) -> WindowOutcome:
        """Open Hermes on a conversation, by a plan with an executable, in a new window; the browser keeps running."""
        name = terminal_of(self._environment)
        if name == "tmux":
            return self._tmux(plan)
        if name == "zellij":
            words = ["zellij", "run", "--close-on-exit", "--name", _title(plan), "--cwd", os.getcwd(), "--"]
            return _opened("Zellij", _ask([*words, *_command(plan)]), _("Hermes is in a new pane of Zellij"))
        if name == "wezterm":
            answer = _ask(["wezterm", "cli", "spawn", "--cwd", os.getcwd(), "--", *_command(plan)])
            if answer.code == 0:
                self._wezterm[_key(plan)] = answer.out
            return _opened("WezTerm", answer, _("Hermes is in a new tab of WezTerm"))
        if name == "kitty":
            return self._kitty(plan)
        if name == "wt":
            return self._windows_terminal(plan)
        return WindowOutcome(False, _("no window here: it takes tmux, Zellij, WezTerm or kitty · Y copies"))

    def _tmux(self, plan: ResumePlan) -> WindowOutcome:
        # tmux expands formats in a directory, and an argument that ends in a semicolon ends its command.
        folder = os.getcwd().replace("#", "##")
        words = ["new-window", "-P", "-F", "#{window_id}", "-n", _title(plan), "-c", folder, *_command(plan)]
        made = _ask(["tmux", *(f"{word[:-1]}\\;" if word.endswith(";") else word for word in words)])
        if made.code == 0 and _ask(["tmux", "set-option", "-w", "-t", made.out, _MARK, _key(plan)]).code != 0:
            return WindowOutcome(False, _("Hermes ended at once in its new window of tmux"))
        return _opened("tmux", made, _("Hermes is in a new window of tmux"))

    def _kitty(self, plan: ResumePlan) -> WindowOutcome:
        if not self._environment.get("KITTY_LISTEN_ON"):
            # Without a socket kitty would answer through the terminal, into the keyboard input.
            return WindowOutcome(False, _("kitty wants allow_remote_control and listen_on in its kitty.conf"))
        words = ["kitty", "@", "launch", "--type=tab", "--tab-title", _title(plan), "--cwd", os.getcwd()]
        answer = _ask([*words, "--var", f"hermes_session={_key(plan)}", *_command(plan)])
        return _opened("kitty", answer, _("Hermes is in a new tab of kitty"))

    def _windows_terminal(self, plan: ResumePlan) -> WindowOutcome:
        tab = ["-w", "0", "new-tab"]
        if sys.platform == "win32":
            settings = [f"set {name}={value}&&" for name, value in plan.env.items()]
            command = [plan.executable or plan.argv[0], *plan.argv[1:]]
            words, run = [*plan.env.values(), *command], ["cmd", "/c", *settings, *command]
        else:
            run = ["wsl.exe", "-d", self._environment.get("WSL_DISTRO_NAME", ""), "--cd", os.getcwd(), "-e"]
            run += _command(plan)
            words = run
        if not all(_PLAIN.fullmatch(word) for word in words):
            return WindowOutcome(False, _("Windows Terminal would misread this command · Y copies it"))
        answer = _ask([shutil.which("wt.exe") or "wt.exe", *tab, *run])
        return _opened("Windows Terminal", answer, _("Hermes is in a new tab of Windows Terminal"))
