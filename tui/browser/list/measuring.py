"""Measure sizes and message counts of conversations in the background, in batches, for sorting the
list by them.

This scans all messages: seconds to minutes in a large store. Meanwhile the list keeps its order and
shows the amounts known so far; it is sorted once, at the end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.sizes import batches
from hermes_browse.store.edit.delete_plan import affected_by_delete
from hermes_browse.store.sessions.models import Sort, View, newest_activity
from hermes_browse.store.sessions.session import Session
from hermes_browse.store.wording import _

if TYPE_CHECKING:
    from ..context import Context

_PIECE = 20_000
"""Messages per batch: about 30 ms, after which the screen can show how far it is."""
_STATEMENT = 4_000
"""Messages counted per statement: while one runs, a store in DELETE mode cannot be written to."""
_MOST = 400
"""Maximum conversations per batch."""
_State = tuple[int, float, int]
"""Messages, newest activity (Unix seconds) and number of sessions: measured anew when they
change."""
_Unmeasured = tuple[str, Sequence[Session], _State]
"""Root id of a conversation, its sessions to add up, and their state."""


class _Pass:
    """One pass over a view, in jobs; the screen's thread reads only `done` and `count`.

    Args:
        context: The catalog of the whole store, and the amounts and sizes, which are updated.
        sort: `SIZE` or `MESSAGES`.
        view: Conversations to measure.
        states: State of each conversation when it was measured, by root id; updated.
    """

    def __init__(self, context: Context, sort: Sort, view: View, states: dict[str, _State]) -> None:
        self.sort, self._view, self._states = sort, view, states
        self._catalog, self._details, self._sizes = context.catalog, context.details, context.sizes
        self._queue: list[_Unmeasured] | None = None
        self.done, self.count = 0, 0
        """Conversations measured by this pass, and their total; both 0 before the first step."""

    def step(self, store: OpenStore) -> None:
        """Measure a batch: at least one conversation if any is left."""
        if self._queue is None:
            self._queue = self._unmeasured()
            self.count = len(self._queue)
        batch: list[_Unmeasured] = []
        rows = 0
        while self.done + len(batch) < self.count and rows < _PIECE and len(batch) < _MOST:
            batch.append(self._queue[self.done + len(batch)])
            rows += batch[-1][2][0]
        sessions = [session for _root, members, _state in batch for session in members]
        by_session = self._measured(store, sessions)
        for root, members, state in batch:
            amount = sum(by_session.get(session.id, 0) for session in members)
            self._details.set_amount(self.sort, root, amount)
            self._states[root] = state
        self.done += len(batch)

    def words(self) -> str:
        """Return the progress in words."""
        text = _("measuring {share:.0%}") if self.sort is Sort.SIZE else _("counting {share:.0%}")
        return text.format(share=self.done / self.count)

    def _unmeasured(self) -> list[_Unmeasured]:
        """Return the conversations not measured in their current state, newest first."""
        catalog = self._catalog
        unmeasured = []
        for root in self._catalog.order(self._view):
            chain = catalog.conversation(root)
            sessions: Sequence[Session] = chain.segments
            if self.sort is Sort.SIZE:
                sessions = [
                    catalog.sessions[each] for each in affected_by_delete(catalog, root).sessions
                ]
            state = (
                sum(each.message_count for each in sessions),
                newest_activity(sessions),
                len(sessions),
            )
            if self._states.get(root) != state:
                unmeasured.append((root, sessions, state))
        return unmeasured

    def _measured(self, store: OpenStore, sessions: Sequence[Session]) -> Mapping[str, int]:
        if self.sort is Sort.MESSAGES:
            rows = {session.id: session.message_count for session in sessions}
            counts: dict[str, int] = {}
            for ids in batches(list(rows), rows.__getitem__, _STATEMENT):
                counts |= store.count_rows(ids)
            return counts
        sizes = store.measure(sessions, known={})
        self._sizes.update(sizes)
        return {session_id: size.total for session_id, size in sizes.items()}


class Measuring:
    """Keeps sizes and counts of conversations up to date while the list shows or sorts by them."""

    def __init__(self, main: Context) -> None:
        self._main = main
        self._states: dict[Sort, dict[str, _State]] = {Sort.MESSAGES: {}, Sort.SIZE: {}}

    async def measure(self, sort: Sort, view: View, *, sizes: bool) -> AsyncIterator[bool]:
        """Measure what the order of the list lacks, or its rows if they show sizes.

        Yields:
            After each batch False, and at the end True, when the list can be sorted.
        """
        main, measured = self._main, Sort.SIZE if sizes and sort is not Sort.MESSAGES else sort
        if measured not in self._states or not main.catalog.exact:
            return
        current = _Pass(main, measured, view, self._states[measured])
        await main.read(current.step)
        while current.done < current.count:
            main.progress = current.words()
            yield False
            await main.read(current.step)
        amounts = main.details.amounts[measured]
        if current.count or len(amounts) != len(main.settled.get(measured, ())):
            main.settled[measured] = dict(amounts)
            main.progress = ""
            yield True
