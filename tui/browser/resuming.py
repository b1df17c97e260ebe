"""Resumes conversations in Hermes: plan, confirmation if it is risky, and hand-over, in this terminal
or in a new window."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from textual.app import SuspendNotSupported
from textual.screen import Screen

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.resume_command import ResumePlan, on_surface, run_quietly
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ..terminal.programs import how_it_ended
from ..text import formats
from ..work.application import ENDS_WELL
from .panes import Panes
from .preflight import PreflightCard

_PATIENCE = 5.0
"""Maximum seconds for a terminal to answer; one that opens a window and is still there by then has
opened it."""
_LONGEST = 10_000
"""Characters of what a program says."""
_KEY = "HERMES_BROWSE_WINDOW"
"""The variable with the key of a window's conversation; tmux shows it in the command that a pane
was started with."""


def _start(argv: Sequence[str], *, may_stay: bool) -> str:
    """Start a program that opens a window; return why there is none, empty if it was opened.

    A program that may stay, as a terminal that is the window itself, is left running.
    """
    nothing = subprocess.DEVNULL
    # A pipe would be open as long as whatever runs in the window.
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        try:
            started = subprocess.Popen(
                argv, stdin=nothing, stdout=nothing, stderr=errors, start_new_session=True
            )
            code = started.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            return "" if may_stay else _("it does not answer")
        except OSError as error:
            return error.strerror or _("it cannot be started")
        errors.seek(0)
        said = one_line(errors.read(_LONGEST).strip(), 200)
    return (said or _("it {ended}", ended=how_it_ended(code))) if code else ""


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
    words, folder = shlex.split(template), os.getcwd()
    is_tmux = words[0] == "tmux"
    if is_tmux:
        folder = folder.replace("#", "##")  # it expands formats in a directory
    filled: list[str] = []
    for word in words:
        if word == "{command}":
            filled += _command(plan)
        else:
            filled.append(word.replace("{title}", _title(plan)).replace("{folder}", folder))
    # An argument that ends in a semicolon ends a command of tmux.
    return [re.sub(r";\Z", r"\;", word) for word in filled] if is_tmux else filled


def _tmux_window(plan: ResumePlan) -> str | None:
    """Return the id of the window of this tmux session that has the conversation."""
    command = ["tmux", "list-panes", "-s", "-F", "#{window_id} #{pane_start_command}"]
    listed = run_quietly(command, _PATIENCE)
    panes = listed.stdout.splitlines() if listed is not None else []
    key = f"{_KEY}={_key(plan)}"
    return next((pane.split()[0] for pane in panes if key in pane), None)


def go_to(plan: ResumePlan) -> bool:
    """Activate the window of tmux that has the conversation; return False if there is none."""
    window = _tmux_window(plan) if os.environ.get("TMUX") else None
    if window is None:
        return False
    selected = run_quietly(["tmux", "select-window", "-t", window], _PATIENCE)
    return selected is not None and selected.returncode == 0


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
    if reason := _start(words, may_stay=program != "tmux"):
        name = one_line(program, 60)
        raise BrowseError(_("{program} opened no window: {reason}", program=name, reason=reason))
    if program == "tmux" and _tmux_window(plan) is None:
        raise BrowseError(_("Hermes ended at once in its new window of tmux"))


class Resuming:
    """Resumes conversations."""

    def __init__(self, main: Panes) -> None:
        self._main = main

    def resume(self, way: str = "", conversation: Conversation | None = None) -> None:
        """Resume the current conversation, or another one, as it is configured; with the way
        `window`, go to the window that has it, or open one."""
        main = self._main
        conversation = conversation or main.current
        if conversation is None:
            main.say(_("no conversation here"))
            return
        if not (way or main.app.is_choice_printed):
            way = main.options.resume
        main.start("resume", self._resume, conversation.id, main.app.screen, way == "window")

    async def _resume(self, session_id: str, over: Screen[Any], is_window: bool) -> None:
        """Resume after a question if it is risky, over the screen on which the key was pressed."""
        main = self._main
        plan, card = await main.read(lambda store: self._prepare(store, session_id))
        if is_window and await main.call(lambda: go_to(plan)):
            main.say(_("this conversation was open in a window of tmux: it is in front now"))
            return

        if card is not None and not await main.ask(card, over):
            return
        if is_window:
            main.say(_("opening a window …"))
            await main.call(lambda: open_window(plan, main.options.window))
            main.say(_("Hermes is in a new window"))
        elif main.app.is_choice_printed or main.options.resume == "exit":
            main.app.exit(plan)
        else:
            self._run_and_return(plan)

    def _read_plan(self, store: OpenStore, session_id: str) -> ResumePlan:
        """Plan a resume, on the machine of the store; not on the screen's thread."""
        plan = store.resume_plan(session_id, self._main.clock())
        return on_surface(plan, self._main.options.surface)

    def _prepare(
        self, store: OpenStore, session_id: str
    ) -> tuple[ResumePlan, PreflightCard | None]:
        """Plan a resume, and if that is risky, also make the card that asks; on a reading
        thread."""
        plan = self._read_plan(store, session_id)
        plan = replace(plan, conversation=store.with_details([plan.conversation])[0])
        if self._main.app.is_choice_printed:
            plan = plan.to_print()
        if not plan.warnings:
            return plan, None
        segments = plan.conversation.segments
        _sent, memory = store.seen_at(segments, None)
        details = store.details(plan.conversation)
        return plan, PreflightCard(plan, store.recap(segments), details, memory)

    async def copy_command(self) -> None:
        main, location, current = self._main, self._main.location, self._main.current
        if current is None:
            return
        if location.host is None and not main.store.is_several:
            # A command of the sample store would open an empty chat.
            location.refuse_without_home()
        plan = await main.read(lambda store: self._read_plan(store, current.id))
        main.copy(plan.shell())

    def _run_and_return(self, plan: ResumePlan) -> None:
        """Run Hermes, then read what it has written."""
        main = self._main
        assert plan.executable is not None
        command = [plan.executable, *plan.argv[1:]]
        try:
            ended = main.app.run_hermes(command, plan.environment())
        except SuspendNotSupported:
            main.app.exit(plan)
        except BrowseError as error:
            main.failed(error)
        else:
            failure = _("back from Hermes, which {ended}", ended=how_it_ended(ended))
            main.say(_("back from Hermes") if ended in ENDS_WELL else failure)
            # The user has just seen it in Hermes.
            main.start("mark-read", main.mark_read, plan.conversation.session_ids, None)
            main.reread(())
