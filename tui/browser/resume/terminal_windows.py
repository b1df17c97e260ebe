"""Open Hermes in a new window, by the command of the option `window`; tmux is asked for a window
that has it already.

The command gets separate arguments, so that no shell parses a title or an id.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
from collections.abc import Sequence

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.resume_command import ResumePlan
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ...text import formats

_PATIENCE = 5.0
"""Maximum seconds for a terminal to answer."""
_KEY = "HERMES_BROWSE_WINDOW"
"""The variable with the key of a window's conversation; tmux shows it in the command that a pane
was started with."""


def _ask(argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a program of the terminal; a missing or hanging one counts as failed."""
    try:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        reason = _("it does not answer")
    except OSError as error:
        reason = error.strerror or _("it cannot be started")
    return subprocess.CompletedProcess(argv, -1, "", reason)


def _key(plan: ResumePlan) -> str:
    """Return a key that is the same for all segments of a conversation, in hexadecimal, which is
    safe everywhere."""
    words = "\0".join([*plan.env.values(), *plan.argv[1:3], plan.conversation.root_id])
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _command(plan: ResumePlan) -> list[str]:
    """Return the command's arguments, with `env`, as a window has the terminal's environment, not
    ours."""
    settings = [f"{name}={value}" for name, value in plan.env.items()]
    program = plan.executable or plan.argv[0]
    return ["env", f"{_KEY}={_key(plan)}", *settings, program, *plan.argv[1:]]


def _title(plan: ResumePlan) -> str:
    """Return a name for the window, without `#`, after which tmux would run commands."""
    name = one_line(formats.name(plan.conversation), 60).replace("#", " ").lstrip("-")
    return formats.clip(name, 24) or "hermes"


def _filled(template: str, plan: ResumePlan) -> list[str]:
    """Return the words of the command that opens a window."""
    words = shlex.split(template)
    is_tmux = words[0] == "tmux"
    # tmux expands formats in a directory.
    folder = os.getcwd().replace("#", "##") if is_tmux else os.getcwd()
    filled: list[str] = []
    for word in words:
        if word == "{command}":
            filled += _command(plan)
        else:
            filled.append(word.replace("{title}", _title(plan)).replace("{folder}", folder))
    if not is_tmux:
        return filled
    # An argument that ends in a semicolon ends a command of tmux.
    return [f"{word[:-1]}\\;" if word.endswith(";") else word for word in filled]


def _tmux_window(plan: ResumePlan) -> str | None:
    """Return the id of the window of this tmux session that has the conversation."""
    pane = os.environ.get("TMUX_PANE", "")
    target = ["-t", pane] if pane else []
    listed = _ask(["tmux", "list-panes", "-s", *target, "-F", "#{window_id} #{pane_start_command}"])
    key = f"{_KEY}={_key(plan)}"
    return next(
        (line.partition(" ")[0] for line in listed.stdout.splitlines() if key in line), None
    )


def go_to(plan: ResumePlan) -> bool:
    """Activate the window of tmux that has the conversation; return False if there is none."""
    window = _tmux_window(plan) if os.environ.get("TMUX") else None
    return window is not None and _ask(["tmux", "select-window", "-t", window]).returncode == 0


def open_window(plan: ResumePlan, template: str) -> None:
    """Open Hermes on a conversation, by a plan with an executable, in a new window; the browser
    keeps running.

    Args:
        template: The option `window`.

    Raises:
        BrowseError: No window was opened, or Hermes has ended at once in it.
    """
    words = _filled(template, plan)
    program = words[0]
    if program == "tmux" and not os.environ.get("TMUX"):
        raise BrowseError(_("no window here: it takes tmux, or the option “window” · Y copies"))
    answer = _ask(words)
    if code := answer.returncode:
        failed = _("{program} opened no window: {reason}")
        reason = one_line(answer.stderr.strip(), 200) or _("it ended with {code}", code=code)
        raise BrowseError(failed.format(program=one_line(program, 60), reason=reason))
    if program == "tmux" and _tmux_window(plan) is None:
        raise BrowseError(_("Hermes ended at once in its new window of tmux"))
