"""Carrying out a plan from the command line: progress on a terminal, and what was done when it is broken off."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TypeVar

from hermes_browse.store.wording import _

from .columns import note

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.bulk import Outcome, Step, Unit
    from hermes_browse.store.cleanup.plan import Plan
    from hermes_browse.store.connect import Store
    from hermes_browse.store.trash.progress import Stage, Tell

Result = TypeVar("Result")

_SAY_EVERY = 2.0


def carry_out(store: Store, plan: Plan, unit: Unit[Result]) -> Outcome[Result]:
    """Do it, and say how it goes.

    Args:
        store: The store of the plan.
        plan: What is to be done.
        unit: Does it for a few.

    Raises:
        BrowseError: From a unit; how far it came has been said.
        KeyboardInterrupt: Likewise.
    """
    from hermes_browse.store.cleanup import bulk

    last = said = time.monotonic()
    done = 0

    def tell(step: Step) -> None:
        nonlocal last, said, done
        done, last = step.done, time.monotonic()
        if last - said > _SAY_EVERY and sys.stderr.isatty():
            said = last
            note(step.words)

    try:
        outcome = bulk.carry_out(store, plan, unit, tell=tell)
    except KeyboardInterrupt:
        _say_stopped(done, len(plan.would))
        raise
    if outcome.error is not None:
        _say_stopped(done, len(plan.would), outcome.doubtful)
        raise outcome.error
    return outcome


def telling() -> Tell:
    """What says on a terminal how far a large conversation is, every other second."""
    said = time.monotonic()

    def tell(stage: Stage) -> None:
        nonlocal said
        if time.monotonic() - said > _SAY_EVERY and sys.stderr.isatty():
            said = time.monotonic()
            note(stage.words)

    return tell


def _say_stopped(done: int, total: int, doubtful: int = 0) -> None:
    if doubtful:
        stopped = _(
            "Stopped after {done:,} of {total:,} conversations. What follows is about {doubtful:,} more; the others "
            "are as they were."
        )
    else:
        stopped = _("Stopped after {done:,} of {total:,} conversations; the others are as they were.")
    note(stopped.format(done=done, total=total, doubtful=doubtful))
