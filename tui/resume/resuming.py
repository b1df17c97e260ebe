"""The controller that resumes conversations in Hermes: plan, confirmation if it is risky,
hand-over."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace

from textual.app import SuspendNotSupported

from hermes_browse.store.api import OpenStore
from hermes_browse.store.compression.model_context import Memory
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.resume_command import ResumePlan, on_surface
from hermes_browse.store.messages.details import Details
from hermes_browse.store.messages.recap import RecapLine
from hermes_browse.store.wording import _

from ..context import Context
from ..screens.panes import Panes
from .preflight import PreflightCard
from .terminal_windows import WindowOutcome, go_to, open_window

_Planned = tuple[ResumePlan, list[RecapLine], Details | None, Memory | None]


class Resuming:
    """Plans a resume off the screen's thread, and asks for confirmation if it is risky.

    Args:
        came_back: Called after Hermes ran in this terminal.
    """

    def __init__(self, context: Context, panes: Panes, came_back: Callable[[], None]) -> None:
        self._context, self._panes, self._came_back = context, panes, came_back

    def start(self, session_id: str) -> None:
        """Resume the conversation of a session in the configured mode."""
        self._panes.start("resume", self._plan, session_id, self._begin)

    def _begin(self, planned: _Planned) -> None:
        host, mode = self._context.host, self._context.options.resume
        if host.is_choice_printed or mode == "exec":
            self._ask(planned, host.finish)
        elif mode == "return":
            self._ask(planned, self._run_and_return)
        else:
            self._in_thread(lambda: self._find_window(planned))

    def start_in_window(self, session_id: str) -> None:
        """Go to the window that has the conversation, or open one."""
        self._panes.start(
            "resume",
            self._plan,
            session_id,
            lambda planned: self._in_thread(lambda: self._find_window(planned)),
        )

    async def _plan(self, session_id: str, done: Callable[[_Planned], None]) -> None:
        done(await self._panes.read(lambda store: self._read_planned(store, session_id)))

    def _read_plan(self, store: OpenStore, session_id: str) -> ResumePlan:
        """Plan a resume, on the machine of the store; not on the screen's thread."""
        plan = store.resume_plan(session_id, self._context.clock())
        surfaces = self._context.options.surface
        return on_surface(plan, surfaces) if surfaces and not plan.host else plan

    def _read_planned(self, store: OpenStore, session_id: str) -> _Planned:
        """Plan a resume, and if that is risky, also read the recap and the details for the card."""
        plan = self._read_plan(store, session_id)
        plan = replace(plan, conversation=store.with_details([plan.conversation])[0])
        if self._context.host.is_choice_printed:
            plan = plan.to_print()
        if not plan.is_risky:
            return plan, [], None, None
        segments = plan.conversation.segments
        details = store.details(plan.conversation)
        return plan, store.recap(segments), details, store.memory(segments)

    def _ask(self, planned: _Planned, go: Callable[[ResumePlan], object]) -> None:
        plan, recap, details, memory = planned
        if not plan.is_risky:
            go(plan)
            return

        def decided(is_confirmed: bool | None) -> None:
            if is_confirmed:
                go(plan)

        self._panes.app.push_screen(PreflightCard(plan, recap, details, memory), decided)

    # In a window

    def _find_window(self, planned: _Planned) -> Callable[[], None]:
        """Go to the window that has the conversation; else return a call that opens one. Not on the
        screen's thread."""
        plan = planned[0]
        outcome = go_to(plan)
        if outcome is not None:
            return lambda: self._report(outcome)

        def opened() -> Callable[[], None]:
            outcome = open_window(plan, self._context.options.window)
            return lambda: self._report(outcome)

        return lambda: self._ask(planned, lambda plan: self._in_thread(opened))

    def _in_thread(self, work: Callable[[], Callable[[], None]]) -> None:
        """Run `work` on a thread, then the function it returns on the screen's thread."""

        async def run() -> None:
            (await self._panes.call(work))()

        self._panes.start("windows", run)

    def _report(self, outcome: WindowOutcome) -> None:
        if outcome.done:
            self._context.say(outcome.text)
        else:
            self._context.failed(BrowseError(outcome.text))

    # In this terminal, and back

    def _run_and_return(self, plan: ResumePlan) -> None:
        assert plan.executable is not None
        try:
            with self._context.host.lend_terminal():
                ended = subprocess.run(
                    [plan.executable, *plan.argv[1:]], env=plan.environment(), check=False
                ).returncode
        except SuspendNotSupported:
            self._context.failed(
                BrowseError(_("This terminal cannot be lent to Hermes and taken back."))
            )
            return
        except OSError as error:
            text = _("{program} could not be started: {reason}.")
            self._context.failed(
                BrowseError(text.format(program=plan.executable, reason=error.strerror))
            )
            return
        self._came_back()
        failure = _("back from Hermes, which ended with {code}").format(code=ended)
        self._context.say(_("back from Hermes") if ended == 0 else failure)

    def plan_command(self, session_id: str, done: Callable[[str], None]) -> None:
        """Call `done` with the shell command that resumes the conversation of a session."""
        self._panes.start("command", self._plan_command, session_id, done)

    async def _plan_command(self, session_id: str, done: Callable[[str], None]) -> None:
        location = self._context.location
        if location.host is None and not self._context.store.is_several:
            # A command of the sample store would open an empty chat.
            location.refuse_without_home("resume")
        plan = await self._panes.read(lambda store: self._read_plan(store, session_id))
        done(plan.shell())
