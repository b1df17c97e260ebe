"""From a conversation to Hermes: the plan, the card where something speaks against it, the hand-over."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from hermes_browse.store.connect import Reader, Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.homes import Location
from hermes_browse.store.preview import with_details
from hermes_browse.store.wording import _

if TYPE_CHECKING:
    from hermes_browse.store.details import Details
    from hermes_browse.store.recap import RecapLine
    from hermes_browse.store.resume import ResumePlan

    from ..windows import Outcome, Windows
    from .main import MainScreen

    Planned = tuple[ResumePlan, list[RecapLine], Details | None]


def _on_surface(plan: ResumePlan, surfaces: Mapping[str, str]) -> ResumePlan:
    """The plan on the surface that is set for its source."""
    if not surfaces:
        return plan
    from hermes_browse.store.resume import on_surface

    return on_surface(plan, surfaces)


def _planned(
    reader: Reader, location: Location, session_id: str, now: float, surfaces: Mapping[str, str], *, is_printed: bool
) -> Planned:
    """The plan of a resume, with the recap and what else the card will show, where there will be one."""
    from hermes_browse.store.details import read_details
    from hermes_browse.store.recap import read_recap
    from hermes_browse.store.resume import plan_resume

    plan = _on_surface(plan_resume(reader, location, session_id, now), surfaces)
    plan = replace(plan, conversation=with_details(reader, [plan.conversation])[0])
    if is_printed:
        plan = plan.to_print()
    if not plan.is_risky:
        return plan, [], None
    return plan, read_recap(reader, plan.conversation.segments), read_details(reader, plan.conversation)


class Resuming:
    """Plans a resume off the screen's thread and asks where it is risky."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
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
        screen, now = self._screen, self._screen.clock()
        is_printed = screen.browse_app().is_choice_printed
        surfaces = screen.browse_app().start.options.surface

        def work() -> Planned:
            with Store(location.path).reader() as reader:
                return _planned(reader, location, session_id, now, surfaces, is_printed=is_printed)

        async def run() -> None:
            try:
                planned = await asyncio.to_thread(work)
            except BrowseError as error:
                self._refused(error)
            else:
                self._begin(planned)

        screen.run_worker(run(), group="resume")

    def _begin(self, planned: Planned) -> None:
        app = self._screen.browse_app()
        mode = app.start.options.resume
        if app.is_choice_printed or mode == "exec":
            self._ask(planned, app.exit)
        elif mode == "return":
            self._ask(planned, self._run_and_return)
        else:
            self._in_thread(lambda: self._held(planned))

    def start_in_window(self, session_id: str) -> None:
        """Go to the window that holds the conversation, or open one, at once or after the card."""
        self._plan(session_id, lambda planned: self._in_thread(lambda: self._held(planned)))

    def _plan(self, session_id: str, done: Callable[[Planned], None]) -> None:
        location, now = self._screen.location, self._screen.clock()
        is_printed = self._screen.browse_app().is_choice_printed
        surfaces = self._screen.browse_app().start.options.surface

        def work(reader: Reader) -> Planned:
            return _planned(reader, location, session_id, now, surfaces, is_printed=is_printed)

        self._screen.page_worker.submit("plan", work, done, self._refused)

    def _ask(self, planned: Planned, go: Callable[[ResumePlan], object]) -> None:
        plan, recap, details = planned
        if not plan.is_risky:
            go(plan)
            return
        from .preflight import PreflightScreen

        def decided(is_wanted: bool | None) -> None:
            if is_wanted:
                go(plan)

        self._screen.app.push_screen(PreflightScreen(plan, recap, details), decided)

    def _refused(self, error: BrowseError) -> None:
        self._screen.failed(error)

    # In a window

    def _held(self, planned: Planned) -> Callable[[], None]:
        """Look for the window that holds a conversation; not on the screen's thread."""
        plan = planned[0]
        if self._windows is None:
            from ..windows import Windows

            self._windows = Windows()
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

        self._screen.run_worker(run(), group="windows")

    def _told(self, outcome: Outcome) -> None:
        if outcome.done:
            self._screen.say(outcome.text)
        else:
            self._screen.failed(BrowseError(outcome.text))

    # In this terminal, and back

    def _run_and_return(self, plan: ResumePlan) -> None:
        assert plan.executable is not None
        try:
            with self._screen.browse_app().lent():
                ended = subprocess.run(
                    [plan.executable, *plan.argv[1:]], env=plan.environment(), check=False
                ).returncode
        except SuspendNotSupported:
            self._screen.failed(BrowseError(_("This terminal cannot be lent to Hermes and taken back.")))
            return
        except OSError as error:
            wrong = _("{program} could not be started: {reason}.")
            self._screen.failed(BrowseError(wrong.format(program=plan.executable, reason=error.strerror)))
            return
        self._screen.listing.read()
        self._screen.reading.changed()
        told = _("back from Hermes, which ended with {code}").format(code=ended)
        self._screen.say(_("back from Hermes") if ended == 0 else told)

    def copy_command(self, session_id: str) -> None:
        """Put the command on the clipboard."""
        location, now = self._screen.location, self._screen.clock()
        surfaces = self._screen.browse_app().start.options.surface

        def done(plan: ResumePlan) -> None:
            self._screen.taking.copy(plan.shell(), plan.shell())

        def work(reader: Reader) -> ResumePlan:
            from hermes_browse.store.resume import plan_resume

            return _on_surface(plan_resume(reader, location, session_id, now), surfaces)

        self._screen.page_worker.submit("command", work, done, self._refused)
