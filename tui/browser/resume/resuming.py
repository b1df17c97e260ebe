"""Resumes conversations in Hermes: plan, confirmation if it is risky, hand-over."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace

from textual.app import SuspendNotSupported

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.resume_command import ResumePlan, on_surface
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from ..panes import Panes
from .preflight import PreflightCard
from .terminal_windows import go_to, open_window


class Resuming:
    """Resumes the current conversation."""

    def __init__(self, main: Panes) -> None:
        self._main = main

    def resume(self) -> None:
        main = self._main
        if main.options.resume == "window" and not main.host.is_choice_printed:
            self.resume_in_window()
        elif main.current is not None:
            main.start("resume", self._resume, main.current)
        else:
            main.say(_("no conversation here"))

    def resume_in_window(self) -> None:
        """Go to the window that has the conversation, or open one."""
        if self._main.current is not None:
            self._main.start("resume", self._resume_in_window, self._main.current)
        else:
            self._main.say(_("no conversation here"))

    def copy_command(self) -> None:
        if self._main.current is not None:
            self._main.start("command", self._copy_command, self._main.current.id)

    async def _resume(self, conversation: Conversation) -> None:
        main = self._main
        plan, card = await main.read(lambda store: self._prepare(store, conversation.id))
        ends = main.host.is_choice_printed or main.options.resume == "exit"
        self._ask(plan, card, main.host.finish if ends else self._run_and_return)

    def _read_plan(self, store: OpenStore, session_id: str) -> ResumePlan:
        """Plan a resume, on the machine of the store; not on the screen's thread."""
        plan = store.resume_plan(session_id, self._main.clock())
        surfaces = self._main.options.surface
        return on_surface(plan, surfaces) if surfaces and not plan.host else plan

    def _prepare(
        self, store: OpenStore, session_id: str
    ) -> tuple[ResumePlan, PreflightCard | None]:
        """Plan a resume, and if that is risky, also make the card that asks; on a reading
        thread."""
        plan = self._read_plan(store, session_id)
        plan = replace(plan, conversation=store.with_details([plan.conversation])[0])
        if self._main.host.is_choice_printed:
            plan = plan.to_print()
        if not plan.is_risky:
            return plan, None
        segments = plan.conversation.segments
        _sent, memory = store.seen_at(segments, None)
        details = store.details(plan.conversation)
        return plan, PreflightCard(plan, store.recap(segments), details, memory)

    def _ask(
        self, plan: ResumePlan, card: PreflightCard | None, go: Callable[[ResumePlan], object]
    ) -> None:
        if card is None:
            go(plan)
            return

        def decided(is_confirmed: bool | None) -> None:
            if is_confirmed:
                go(plan)

        self._main.app.push_screen(card, decided)

    async def _copy_command(self, session_id: str) -> None:
        main, location = self._main, self._main.location
        if location.host is None and not main.store.is_several:
            # A command of the sample store would open an empty chat.
            location.refuse_without_home("resume")
        plan = await main.read(lambda store: self._read_plan(store, session_id))
        main.copy(plan.shell())

    # In a window

    async def _resume_in_window(self, conversation: Conversation) -> None:
        main = self._main
        plan, card = await main.read(lambda store: self._prepare(store, conversation.id))
        if await main.call(lambda: go_to(plan)):
            main.say(_("this conversation was open in a window of tmux: it is in front now"))
        else:
            self._ask(plan, card, lambda plan: main.start("resume", self._open_window, plan))

    async def _open_window(self, plan: ResumePlan) -> None:
        main = self._main
        await main.call(lambda: open_window(plan, main.options.window))
        main.say(_("Hermes is in a new window"))

    # In this terminal, and back

    def _run_and_return(self, plan: ResumePlan) -> None:
        """Run Hermes with no handle on the store, as one would stop its own prune; then read what
        it has written."""
        main = self._main
        assert plan.executable is not None
        if main.writes.is_busy:
            main.say(_("something is still being written here: try again when it is done"))
            return
        try:
            with main.reads.released(), main.host.lend_terminal():
                ended = subprocess.run(
                    [plan.executable, *plan.argv[1:]], env=plan.environment(), check=False
                ).returncode
        except SuspendNotSupported:  # there is no terminal to take back
            main.host.finish(plan)
            return
        except OSError as error:
            words = _(
                "{program} could not be started: {reason}.",
                program=plan.executable,
                reason=error.strerror,
            )
            main.failed(BrowseError(words))
        else:
            failure = _("back from Hermes, which ended with {code}", code=ended)
            main.say(_("back from Hermes") if ended == 0 else failure)
            main.start("mark-read", self._mark_read, plan.conversation)
        main.touched = ()

    async def _mark_read(self, conversation: Conversation) -> None:
        """Mark as read what the user has just seen in Hermes."""
        await self._main.mark_read([segment.id for segment in conversation.segments], None)
