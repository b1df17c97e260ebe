"""From a conversation to Hermes: the plan, the card where something speaks against it, the hand-over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_browse.store.connect import Reader
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.preview import with_details

if TYPE_CHECKING:
    from hermes_browse.store.recap import RecapLine
    from hermes_browse.store.resume import ResumePlan

    from .main import MainScreen


class Resuming:
    """Plans a resume off the screen's thread and asks where it is risky."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen

    def start(self, session_id: str) -> None:
        """Resume the conversation of a session; at once, or after the card."""
        location, now = self._screen.location, self._screen.clock()

        def work(reader: Reader) -> tuple[ResumePlan, list[RecapLine]]:
            from hermes_browse.store.recap import read_recap
            from hermes_browse.store.resume import plan_resume

            plan = plan_resume(reader, location, session_id, now)
            if not plan.is_risky:
                return plan, []
            named = replace(plan, conversation=with_details(reader, [plan.conversation])[0])
            return named, read_recap(reader, plan.conversation.segments)

        self._screen.page_worker.submit("plan", work, self._planned, self._refused)

    def _planned(self, result: tuple[ResumePlan, list[RecapLine]]) -> None:
        plan, recap = result
        if self._screen.browse_app().is_choice_printed:
            plan = plan.to_print()
        if not plan.is_risky:
            self._screen.browse_app().exit(plan)
            return
        from .preflight import PreflightScreen

        def decided(go: bool | None) -> None:
            if go:
                self._screen.browse_app().exit(plan)

        self._screen.app.push_screen(PreflightScreen(plan, recap), decided)

    def _refused(self, error: BrowseError) -> None:
        self._screen.failed(error)

    def copy_command(self, session_id: str) -> None:
        """Put the command on the clipboard."""
        location, now = self._screen.location, self._screen.clock()

        def done(plan: ResumePlan) -> None:
            self._screen.taking.copy(plan.shell(), plan.shell())

        def work(reader: Reader) -> ResumePlan:
            from hermes_browse.store.resume import plan_resume

            return plan_resume(reader, location, session_id, now)

        self._screen.page_worker.submit("command", work, done, self._refused)
