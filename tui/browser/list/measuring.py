"""Measure sizes and message counts of conversations in the background, in batches, for sorting the
list by them.

This scans all messages: seconds to minutes in a large store. Meanwhile the list keeps its order and
shows the amounts known so far; it is sorted once, at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.edit.delete_plan import affected_by_delete
from hermes_browse.store.progress import batches
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Session, Sort, View
from hermes_browse.store.sessions.relations import newest_activity
from hermes_browse.store.wording import N_, _

from ..panes import Panes
from .list_model import MeasuredState, RowDetails

_PIECE = 20_000
"""Messages per batch: about 30 ms, after which the screen can show how far it is."""
_STATEMENT = 4_000
"""Messages counted per statement: while one runs, a store in DELETE mode cannot be written to."""


class _Unmeasured(NamedTuple):
    """A conversation to measure."""

    root_id: str
    sessions: Sequence[Session]
    """To add up."""
    state: MeasuredState


async def measure(main: Panes, sort: Sort) -> bool:
    """Measure what an order lacks, and show the amounts as they come.

    Args:
        sort: `SIZE` or `MESSAGES`.

    Returns:
        Whether amounts have changed since the list was last sorted by them.
    """
    catalog, view, details = main.catalog, main.view, main.details
    if not catalog.exact:
        return False
    queue = await main.read(lambda store: _queue(catalog, details, sort, view))
    text = N_("measuring {share:.0%}") if sort is Sort.SIZE else N_("counting {share:.0%}")
    done = 0
    for batch in batches(queue, lambda each: each.state[0], _PIECE):
        await main.read(partial(_measure, details, sort, batch))
        done += len(batch)
        if done < len(queue):
            main.progress = _(text, share=done / len(queue))
        main.rows.refresh_rows()
    amounts = details.amounts[sort]
    if amounts == main.settled.get(sort):
        return False
    main.settled[sort] = dict(amounts)
    return True


def _queue(catalog: Catalog, details: RowDetails, sort: Sort, view: View) -> list[_Unmeasured]:
    """Return the conversations not measured in their current state, newest first."""
    queue = []
    for root in catalog.order(view):
        sessions: Sequence[Session] = catalog.conversation(root).segments
        if sort is Sort.SIZE:
            sessions = affected_by_delete(catalog, root).sessions
        messages = sum(each.message_count for each in sessions)
        state = messages, newest_activity(sessions), len(sessions)
        if details.measured[sort].get(root) != state:
            queue.append(_Unmeasured(root, sessions, state))
    return queue


def _measure(
    details: RowDetails, sort: Sort, batch: Sequence[_Unmeasured], store: OpenStore
) -> None:
    sessions = {session.id: session for each in batch for session in each.sessions}
    amounts: dict[str, int] = {}
    if sort is Sort.SIZE:
        measured = store.sizes_of(list(sessions.values()))
        details.sizes.update(measured)
        amounts = {session_id: size.total for session_id, size in measured.items()}
    else:
        for ids in batches(list(sessions), lambda id: sessions[id].message_count, _STATEMENT):
            amounts |= store.count_rows(ids)
    for each in batch:
        amount = sum(amounts.get(session.id, 0) for session in each.sessions)
        details.amounts[sort][each.root_id] = amount
        details.measured[sort][each.root_id] = each.state
