"""Carrying out a plan: a few conversations at a time, with pauses for other writers, and an end between any two."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.errors import BrowseError, RefusedError

from .columns import note
from .jsonform import Json

if TYPE_CHECKING:
    from hermes_browse.store.catalog import Catalog
    from hermes_browse.store.connect import Store
    from hermes_browse.store.prune.plan import Plan, Planned, Spared

    from .run import Context

Unit = Callable[[Sequence["Planned"]], "Json | None"]
"""Archives or deletes some conversations, all of them or none; gives the bundle in the trash, None where there is none.

Raises:
    RefusedError: One of them will not be touched after all; the others may be.
    BrowseError: Nothing was changed, and nothing more will be.
"""

_MOST_AT_ONCE = 25
_MOST_ROWS = 200
"""Messages of a unit: their delete holds the store's one write lock, and a gateway waits for it."""

_LONGEST_PAUSE = 0.1
_SAY_EVERY = 2.0


class Outcome(NamedTuple):
    """What was done of a plan."""

    plan: Plan
    """What was done, and what was spared before and meanwhile."""
    bundles: tuple[Json, ...]
    refused: int
    """How many were spared meanwhile."""

    def sentence(self, verb: str) -> str:
        """What was done, in a sentence.

        Args:
            verb: In the past tense.
        """
        spared = f"; {self.refused:,} changed meanwhile and were spared" if self.refused else ""
        return f"{len(self.plan.would):,} conversations {verb}{spared}."


def carry_out(store: Store, plan: Plan, unit: Unit, *, pause: Callable[[float], None] = time.sleep) -> Outcome:
    """Do it. What is broken off leaves each conversation either done or as it was.

    After each unit the store is left alone for as long as it took, so that a gateway writes beside us.

    Args:
        store: The store of the plan.
        plan: What is to be done.
        unit: Does it for a few.
        pause: Waits so many seconds.

    Raises:
        BrowseError: From a unit; how far it came has been said.
        KeyboardInterrupt: Likewise.
    """
    from hermes_browse.store.prune.plan import Spared
    from hermes_browse.store.prune.spare import Why

    done: list[Planned] = []
    late: list[Spared] = []
    bundles: list[Json] = []
    began = said = time.monotonic()
    waiting = _units(plan.would)
    try:
        while waiting:
            some = waiting.pop(0)
            start = time.monotonic()
            try:
                bundle = _one_unit(store, some, unit)
            except RefusedError as refused:
                if len(some) > 1:  # it may be about one of them alone
                    waiting[:0] = [[each] for each in some]
                else:
                    late.append(Spared(some[0].conversation, Why("changed", refused.sentence)))
                continue
            done += some
            if bundle is not None:
                bundles.append(bundle)
            now = time.monotonic()
            pause(min(_LONGEST_PAUSE, now - start))
            if now - said > _SAY_EVERY and sys.stderr.isatty():
                said = now
                note(_progress(len(done) + len(late), len(plan.would), now - began))
    except (BrowseError, KeyboardInterrupt):
        note(f"Stopped after {len(done):,} of {len(plan.would):,} conversations; the others are as they were.")
        raise
    return Outcome(plan._replace(would=tuple(done), spared=(*plan.spared, *late)), tuple(bundles), len(late))


def _units(would: Sequence[Planned]) -> list[list[Planned]]:
    """The plan in units: few messages each, but never less than a conversation."""
    found: list[list[Planned]] = []
    rows = _MOST_ROWS
    for each in would:
        size = each.own.rows + each.along.rows
        if not found or rows + size > _MOST_ROWS or len(found[-1]) >= _MOST_AT_ONCE:
            found.append([])
            rows = 0
        found[-1].append(each)
        rows += size
    return found


def _one_unit(store: Store, some: Sequence[Planned], unit: Unit) -> Json | None:
    from hermes_browse.store.prune.plan import changed_since

    with store.reader() as reader:
        reasons = [reason for each in some if (reason := changed_since(reader, each)) is not None]
    if reasons:
        raise RefusedError(reasons[0])
    return unit(some)


def _progress(count: int, total: int, seconds: float) -> str:
    rate = count / seconds
    left = round((total - count) / rate)
    return f"{count:,} of {total:,} · {rate:,.0f} a second · {left // 60}:{left % 60:02} left"


def archive_unit(context: Context, plan: Plan) -> Unit:
    """What archives conversations of a store.

    Args:
        context: Of the command.
        plan: What it spares stays as it is, though a lineage would take it along.
    """
    from hermes_browse.store.write.flags import archive

    spared = [segment.id for each in plan.spared for segment in each.conversation.segments]

    def unit(some: Sequence[Planned]) -> None:
        archive(context.store, [each.conversation.id for each in some], spared=spared)

    return unit


def delete_unit(context: Context, catalog: Catalog) -> Unit:
    """What moves conversations of a store to the trash, in one bundle and one transaction.

    Args:
        context: Of the command.
        catalog: The plan was made from; what has changed since is refused.
    """
    from hermes_browse.store.write.delete import delete

    from .trashing import bundle_json, sessions_folder, trash_folder

    location = context.location

    def unit(some: Sequence[Planned]) -> Json | None:
        done = delete(
            context.store,
            [each.conversation.id for each in some],
            trash_folder(location),
            catalog=catalog,
            sessions_folder=sessions_folder(location),
        )
        for each in done.notes:
            note(each)
        return bundle_json(done.bundle)

    return unit
