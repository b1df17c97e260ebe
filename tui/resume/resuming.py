"""From a conversation to Hermes: the plan, the card where something speaks against it, the hand-over."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace

from textual.app import SuspendNotSupported

from hermes_browse.store.compression.context import Memory, read_memory
from hermes_browse.store.connection.connect import Reader, Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hermes.resume import ResumePlan, on_surface, plan_resume
from hermes_browse.store.messages.details import Details, read_details
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.messages.recap import RecapLine, read_recap
from hermes_browse.store.wording import _

from ..context import Context
from ..screens.panes import Panes
from .preflight import PreflightScreen
from .terminal_windows import Outcome, Windows

_Planned = tuple[ResumePlan, list[RecapLine], Details | None, Memory | None]


def _on_surface(plan: ResumePlan, surfaces: Mapping[str, str]) -> ResumePlan:
    """The plan on the surface that is set for its source."""
    return on_surface(plan, surfaces) if surfaces else plan


def _planned(
    reader: Reader, location: Location, session_id: str, now: float, surfaces: Mapping[str, str], *, is_printed: bool
) -> _Planned:
    """The plan of a resume, with the recap and what else the card will show, where there will be one."""
    plan = _on_surface(plan_resume(reader, location, session_id, now), surfaces)
    plan = replace(plan, conversation=with_details(reader, [plan.conversation])[0])
    if is_printed:
        plan = plan.to_print()
    if not plan.is_risky:
        return plan, [], None, None
    segments = plan.conversation.segments
    details = read_details(reader, plan.conversation)
    return plan, read_recap(reader, segments), details, read_memory(reader, segments)


class Resuming:
    """Plans a resume off the screen's thread and asks where it is risky.

    Args:
        context: The store.
        panes: What the card stands over.
        came_back: Called when Hermes was run in this terminal and has ended.
    """

    def __init__(self, context: Context, panes: Panes, came_back: Callable[[], None]) -> None:
        self._context, self._panes, self._came_back = context, panes, came_back
        self._windows: Windows | None = None

    def start(self, session_id: str) -> None:
        """Resume the conversation of a session as the user has set it; at once, or after the card."""
        self._plan(session_id, self._begin)

    def start_there(self, location: Location, session_id: str) -> None:
        """Resume a conversation of another profile, in that profile.

        Args:
            location: The profile's store.
            session_id: A session of it.
        """
        context, now = self._context, self._context.clock()
        is_printed, surfaces = context.host.is_choice_printed, context.options.surface

        def work() -> _Planned:
            with Store(location.path).reader() as reader:
                return _planned(reader, location, session_id, now, surfaces, is_printed=is_printed)

        async def run() -> None:
            try:
                planned = await asyncio.to_thread(work)
            except BrowseError as error:
                context.failed(error)
            else:
                self._begin(planned)

        self._panes.run_worker(run(), group="resume")

    def _begin(self, planned: _Planned) -> None:
        host, mode = self._context.host, self._context.options.resume
        if host.is_choice_printed or mode == "exec":
            self._ask(planned, host.finish)
        elif mode == "return":
            self._ask(planned, self._run_and_return)
        else:
            self._in_thread(lambda: self._held(planned))

    def start_in_window(self, session_id: str) -> None:
        """Go to the window that holds the conversation, or open one, at once or after the card."""
        self._plan(session_id, lambda planned: self._in_thread(lambda: self._held(planned)))

    def _plan(self, session_id: str, done: Callable[[_Planned], None]) -> None:
        location, now = self._context.location, self._context.clock()
        is_printed, surfaces = self._context.host.is_choice_printed, self._context.options.surface

        def work(reader: Reader) -> _Planned:
            return _planned(reader, location, session_id, now, surfaces, is_printed=is_printed)

        self._context.page_worker.submit("plan", work, done, self._context.failed)

    def _ask(self, planned: _Planned, go: Callable[[ResumePlan], object]) -> None:
        plan, recap, details, memory = planned
        if not plan.is_risky:
            go(plan)
            return

        def decided(is_wanted: bool | None) -> None:
            if is_wanted:
                go(plan)

        self._panes.app.push_screen(PreflightScreen(plan, recap, details, memory), decided)

    # In a window

    def _held(self, planned: _Planned) -> Callable[[], None]:
        """Look for the window that holds a conversation; not on the screen's thread."""
        plan = planned[0]
        self._windows = self._windows or Windows()
        windows = self._windows
        outcome = windows.go_to(plan)
        if outcome is not None:
            return lambda: self._told(outcome)

        def opened() -> Callable[[], None]:
            outcome = windows.open(plan)
            return lambda: self._told(outcome)

        return lambda: self._ask(planned, lambda plan: self._in_thread(opened))

    def _in_thread(self, work: Callable[[], Callable[[], None]]) -> None:
        """Ask another program without making the screen wait; what comes of it is done on the screen's thread."""

        async def run() -> None:
            (await asyncio.to_thread(work))()

        self._panes.run_worker(run(), group="windows")

    def _told(self, outcome: Outcome) -> None:
        if outcome.done:
            self._context.say(outcome.text)
        else:
            self._context.failed(BrowseError(outcome.text))

    # In this terminal, and back

    def _run_and_return(self, plan: ResumePlan) -> None:
        assert plan.executable is not None
        try:
            with self._context.host.lent():
                ended = subprocess.run(
                    [plan.executable, *plan.argv[1:]], env=plan.environment(), check=False
                ).returncode
        except SuspendNotSupported:
            self._context.failed(BrowseError(_("This terminal cannot be lent to Hermes and taken back.")))
            return
        except OSError as error:
            wrong = _("{program} could not be started: {reason}.")
            self._context.failed(BrowseError(wrong.format(program=plan.executable, reason=error.strerror)))
            return
        self._came_back()
        told = _("back from Hermes, which ended with {code}").format(code=ended)
        self._context.say(_("back from Hermes") if ended == 0 else told)

    def plan_command(self, session_id: str, done: Callable[[str], None]) -> None:
        """Give the command that resumes the conversation of a session, for a shell."""
        location, now = self._context.location, self._context.clock()
        surfaces = self._context.options.surface

        def work(reader: Reader) -> ResumePlan:
            location.refuse_without_home("resume")  # a command of the sample store would open an empty chat
            return _on_surface(plan_resume(reader, location, session_id, now), surfaces)

        self._context.page_worker.submit("command", work, lambda plan: done(plan.shell()), self._context.failed)
