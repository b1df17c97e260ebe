"""Measure sizes and message counts of conversations in the background, in batches, for sorting the
list by them.

This scans all messages: seconds to minutes in a large store. Meanwhile the list keeps its order and
shows the amounts known so far; it is sorted once, at the end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.sizes import batches
from hermes_browse.store.edit.delete_plan import affected_by_delete
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Session, Sort, View
from hermes_browse.store.sessions.relations import newest_activity
from hermes_browse.store.wording import _

if TYPE_CHECKING:
    from ..context import Context

_PIECE = 20_000
"""Messages per batch: about 30 ms, after which the screen can show how far it is."""
_STATEMENT = 4_000
"""Messages counted per statement: while one runs, a store in DELETE mode cannot be written to."""


class _State(NamedTuple):
    """Of a conversation: it is measured anew when this changes."""

    messages: int
    newest: float
    """Unix seconds."""
    sessions: int


class _Unmeasured(NamedTuple):
    """A conversation to measure."""

    root_id: str
    sessions: Sequence[Session]
    """To add up."""
    state: _State


class Measuring:
    """Keeps sizes and counts of conversations up to date while the list shows or sorts by them."""

    def __init__(self, main: Context) -> None:
        self._main = main
        self._states: dict[Sort, dict[str, _State]] = {Sort.MESSAGES: {}, Sort.SIZE: {}}
        """In which state each conversation was measured last, by root id."""

    async def measure(self, sort: Sort, view: View) -> AsyncIterator[bool]:
        """Measure what an order lacks, `SIZE` or `MESSAGES`.

        Yields:
            After each batch False, and at the end True, when the list can be sorted.
        """
        main, catalog = self._main, self._main.catalog
        if not catalog.exact:
            return
        queue = await main.read(lambda store: self._queue(catalog, sort, view))
        text = _("measuring {share:.0%}") if sort is Sort.SIZE else _("counting {share:.0%}")
        done = 0
        for batch in batches(queue, lambda each: each.state.messages, _PIECE):
            await main.read(partial(self._measure, sort, batch))
            done += len(batch)
            if done < len(queue):
                main.progress = text.format(share=done / len(queue))
                yield False
        amounts = main.details.amounts[sort]
        if queue or len(amounts) != len(main.settled.get(sort, ())):
            main.settled[sort] = dict(amounts)
            main.progress = ""
            yield True

    def _queue(self, catalog: Catalog, sort: Sort, view: View) -> list[_Unmeasured]:
        """Return the conversations not measured in their current state, newest first."""
        queue = []
        for root in catalog.order(view):
            sessions: Sequence[Session] = catalog.conversation(root).segments
            if sort is Sort.SIZE:
                ids = affected_by_delete(catalog, root).sessions
                sessions = [catalog.sessions[each] for each in ids]
            messages = sum(each.message_count for each in sessions)
            state = _State(messages, newest_activity(sessions), len(sessions))
            if self._states[sort].get(root) != state:
                queue.append(_Unmeasured(root, sessions, state))
        return queue

    def _measure(self, sort: Sort, batch: Sequence[_Unmeasured], store: OpenStore) -> None:
        sessions = {session.id: session for each in batch for session in each.sessions}
        amounts: dict[str, int] = {}
        if sort is Sort.SIZE:
            measured = store.measure(list(sessions.values()))
            self._main.details.sizes.update(measured)
            amounts = {session_id: size.total for session_id, size in measured.items()}
        else:
            for ids in batches(list(sessions), lambda id: sessions[id].message_count, _STATEMENT):
                amounts |= store.count_rows(ids)
        for root_id, members, state in batch:
            amount = sum(amounts.get(session.id, 0) for session in members)
            self._main.details.amounts[sort][root_id] = amount
            self._states[sort][root_id] = state
