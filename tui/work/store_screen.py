"""Base class of screens that read a store: coroutines in groups, the newest of each wins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import ParamSpec, TypeVar

from textual.screen import Screen, ScreenResultType
from textual.worker import Worker

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import BrowseError, QueryInterruptedError

from ..terminal.logfile import log_expected, unexpected
from .jobs import Reads, Writes

Result = TypeVar("Result")
Given = ParamSpec("Given")
Work = Callable[Given, Coroutine[object, object, object]]


class StoreScreen(Screen[ScreenResultType]):
    """A screen that reads and writes a store in coroutines.

    These are started by `start`, never awaited in the handler of a message, and cancelled when the
    screen is closed.
    """

    reads: Reads
    writes: Writes
    failed: Callable[[BrowseError], None]
    """Shows an error in the status line."""

    def start(
        self, group: str, work: Work[Given], *given: Given.args, **named: Given.kwargs
    ) -> Worker[None]:
        """Run a coroutine instead of the one that was started for this group before; an error is
        shown in the status line."""
        return self.run_worker(
            partial(self._reporting, work, *given, **named), group=group, exclusive=True
        )

    def start_later(self, group: str, seconds: float, call: Callable[[], object]) -> Worker[None]:
        """Call something after so many seconds, unless the group is started anew before."""
        return self.start(group, self._call_later, seconds, call)

    async def _call_later(self, seconds: float, call: Callable[[], object]) -> None:
        await asyncio.sleep(seconds)
        call()

    def start_write(
        self, work: Work[Given], *given: Given.args, **named: Given.kwargs
    ) -> Worker[None]:
        """Run a coroutine that writes; another one does not replace it."""
        return self.run_worker(partial(self._reporting, work, *given, **named), group="write")

    def cancel(self, group: str) -> None:
        """Cancel the coroutine of a group, and interrupt what it reads."""
        self.workers.cancel_group(self, group)

    async def _reporting(
        self, work: Work[Given], *given: Given.args, **named: Given.kwargs
    ) -> None:
        try:
            await work(*given, **named)
        except BrowseError as error:
            self.failed(error)

    async def read(self, job: Callable[[OpenStore], Result], *, glance: float = 0.0) -> Result:
        """Run a job with the store on a thread and return its result; `glance` as of `Reads.run`.

        Raises:
            BrowseError: It failed; the exception is logged.
        """
        return await self._result(self.reads.run(job, glance=glance))

    async def call(self, work: Callable[[], Result]) -> Result:
        """Run other work that takes long on a thread; raises as `read` does."""
        return await self._result(self.reads.call(work))

    async def write(self, work: Callable[[], Result]) -> Result:
        """Run a job that writes, after those before it; raises as `read` does."""
        return await self._result(self.writes.run(work))

    async def _result(self, job: Coroutine[object, object, Result]) -> Result:
        try:
            result = await job
        except QueryInterruptedError as error:  # the browser ends
            raise asyncio.CancelledError from error
        except BrowseError:
            log_expected()
            raise
        except Exception as error:  # thread boundary: reported on the screen and logged
            raise unexpected(error) from error
        finally:
            # Textual removes the widgets of a screen before it cancels what the screen has started.
            if self._pruning:
                raise asyncio.CancelledError
        return result
