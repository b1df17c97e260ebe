"""Measures what a list is sorted by and sessions do not say, piece by piece behind everything else.

To know the bytes or messages of all conversations takes a look at all messages: seconds to minutes in a large store.
The list keeps its order meanwhile, shows what is known so far, and is sorted once at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_browse.store.cleanup.protection import Families
from hermes_browse.store.cleanup.sizes import Sizes, batches, measure
from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.messages.transcript import count_rows
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Sort, View, newest_activity
from hermes_browse.store.sessions.session import Session
from hermes_browse.store.wording import _

if TYPE_CHECKING:
    from ..context import Context

_PIECE = 20_000
"""Messages of a piece: some thirty milliseconds, for which a plan can wait."""
_STATEMENT = 4_000
"""Messages that a statement counts: while it runs, a store in DELETE mode cannot be written to."""
_MOST = 400
"""Conversations of a piece."""
_State = tuple[int, float, int]


class _Pass:
    """One pass through a view; all of it runs on the worker's thread, and only `done` and `count` are read elsewhere.

    Args:
        sort: What is measured: bytes, or messages.
        catalog: Of the whole store.
        view: Whose conversations.
        amounts: What is known, by root; added to.
        states: What each conversation was like when it was measured; added to.
        sizes: Bytes by session, for what else asks for them; added to.
    """

    def __init__(
        self,
        sort: Sort,
        catalog: Catalog,
        view: View,
        amounts: dict[str, int],
        states: dict[str, _State],
        sizes: dict[str, Sizes],
    ) -> None:
        self.sort, self.catalog, self.view = sort, catalog, view
        self._amounts, self._states, self._sizes = amounts, states, sizes
        self._waiting: list[tuple[str, tuple[Session, ...], _State]] | None = None
        self.done, self.count = 0, 0
        """Conversations that are measured by this pass, of how many; both 0 before it has looked."""

    def step(self, reader: Reader) -> None:
        """Measure a piece, at least one conversation if any is left."""
        if self._waiting is None:
            self._waiting = self._look()
            self.count = len(self._waiting)
        piece: list[tuple[str, tuple[Session, ...], _State]] = []
        rows = 0
        while self.done + len(piece) < self.count and rows < _PIECE and len(piece) < _MOST:
            piece.append(self._waiting[self.done + len(piece)])
            rows += piece[-1][2][0]
        sessions = [session for _root, some, _state in piece for session in some]
        found = self._measured(reader, sessions)
        for root, some, state in piece:
            self._amounts[root] = sum(found.get(session.id, 0) for session in some)
            self._states[root] = state
        self.done += len(piece)

    def _look(self) -> list[tuple[str, tuple[Session, ...], _State]]:
        """The conversations that are not measured as they are now, newest first, with the sessions that count."""
        forest = self.catalog.forest
        families = Families(forest) if self.sort is Sort.SIZE else None
        found = []
        for root in self.catalog.order(self.view):
            chain = forest.chain_of(root)
            sessions = families.sessions(chain) if families is not None else chain.segments
            state = sum(each.message_count for each in sessions), newest_activity(sessions), len(sessions)
            if self._states.get(root) != state:
                found.append((root, sessions, state))
        return found

    def _measured(self, reader: Reader, sessions: Sequence[Session]) -> Mapping[str, int]:
        if self.sort is Sort.MESSAGES:
            rows = {session.id: session.message_count for session in sessions}
            counts: dict[str, int] = {}
            for ids in batches(list(rows), rows.__getitem__, _STATEMENT):
                counts |= count_rows(reader, ids)
            return counts
        found = measure(reader, sessions, known={})
        self._sizes.update(found)
        return {each: sizes.total for each, sizes in found.items()}


class Measuring:
    """Keeps amounts of conversations up to date for as long as a list wants them.

    Args:
        context: The store, and where the amounts go.
        more: Called when more of them are known; with True when all are, so that the list can be sorted.
    """

    def __init__(self, context: Context, more: Callable[[bool], None]) -> None:
        self._context, self._more = context, more
        self._states: dict[Sort, dict[str, _State]] = {Sort.MESSAGES: {}, Sort.SIZE: {}}
        self._settled: dict[Sort, dict[str, int]] = {}
        self._pass: _Pass | None = None

    def settled(self, sort: Sort) -> Mapping[str, int]:
        """What to sort by: the amounts as they were when all of them were known, so that no row moves before."""
        return self._settled.get(sort, {})

    def begin(self, sort: Sort, view: View, *, sizes: bool) -> None:
        """Measure what is missing; what is under way for something else ends.

        Args:
            sort: What the list is sorted by.
            view: The view it shows.
            sizes: Its rows show bytes whatever it is sorted by.
        """
        wanted = Sort.SIZE if sizes and sort is not Sort.MESSAGES else sort
        context = self._context
        if wanted not in self._states or not context.catalog.exact:
            self._pass = None
            context.plan_worker.cancel("amounts")
            return
        amounts = context.details.amounts[wanted]
        self._pass = _Pass(wanted, context.catalog, view, amounts, self._states[wanted], context.sizes)
        self._go_on(self._pass)

    def words(self) -> str:
        """How far it is, while it takes long enough to be told; else empty."""
        current = self._pass
        if current is None or not current.done:
            return ""
        told = _("measuring {share:.0%}") if current.sort is Sort.SIZE else _("counting {share:.0%}")
        return told.format(share=current.done / current.count)

    def _go_on(self, current: _Pass) -> None:
        def done(nothing: None) -> None:
            if current is not self._pass:
                return
            if current.done < current.count:
                self._more(False)
                self._go_on(current)
                return
            self._pass = None
            amounts = self._context.details.amounts[current.sort]
            if current.count or len(amounts) != len(self.settled(current.sort)):
                self._settled[current.sort] = dict(amounts)
                self._more(True)

        self._context.plan_worker.submit("amounts", current.step, done, self._context.failed)
