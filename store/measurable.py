"""Sizes, sums and health of a store, pages of its list, and plans of clean-ups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from . import later
from .call import Leased, call, read
from .connection.reader import Stopped
from .sessions.models import Conversation, Hidden, Session, Sort, View
from .trash.progress import never

if TYPE_CHECKING:
    from .cleanup.plan import Plan
    from .cleanup.retention import RetentionRules
    from .cleanup.selection import Selection
    from .cleanup.sizes import FileSpace, Sizes, SpaceMap
    from .hermes.health import StoreSummary
    from .insights.facts import Facts
    from .sessions.catalog import Catalog

_PIECE = 20_000
"""Messages that are measured at once."""


class ListPage(NamedTuple):
    """Some conversations of a view, and how many there are."""

    conversations: list[Conversation]
    total: int
    """In all views."""
    hidden: Hidden


class Measurable(Leased):
    """What is measured and added up in an `OpenStore`; times are Unix seconds."""

    @call
    def list_page(
        self,
        now: float,
        view: View,
        *,
        sort: Sort = Sort.ACTIVITY,
        reverse: bool = False,
        sources: Sequence[str] = (),
        offset: int = 0,
        limit: int = 50,
    ) -> ListPage:
        """Read the conversations from an offset on, at most so many (0 for all), with details.

        Sorted by size they have their bytes. Sorted by messages the order is that of the counts
        that are shown, since the counters of sessions may be stale.
        """
        catalog = later.catalog.read_catalog(self.reader, now)
        amounts: dict[str, int] = {}
        if sort in (Sort.SIZE, Sort.MESSAGES):
            is_size = sort is Sort.SIZE
            read_amounts = later.sizes.content_bytes if is_size else later.transcript.count_rows
            counts = read_amounts(self.reader, list(catalog.sessions))
            for each in catalog.select(view):
                amounts[each.root_id] = sum(counts.get(part.id, 0) for part in each.segments)
        roots = catalog.order(view, sort=sort, reverse=reverse, sources=sources, amounts=amounts)
        shown = map(catalog.conversation, roots[offset : offset + limit if limit else None])
        page = later.preview.with_details(self.reader, list(shown))
        if sort is Sort.SIZE:
            page = [each._replace(size=amounts[each.root_id]) for each in page]
        total = catalog.counts()[View.ALL]
        return ListPage(page, total, catalog.hidden(view, len(page)))

    def measure(
        self, sessions: Sequence[Session], known: MutableMapping[str, Sizes] | None = None
    ) -> Mapping[str, Sizes]:
        """Measure the bytes of sessions, as far as they are not `known`; those are added there."""
        sizes = known if known is not None else {}
        missing = [session for session in sessions if session.id not in sizes]
        if missing:
            sizes.update(self.sizes_of(missing))
        return sizes

    @call
    def sizes_of(self, sessions: Sequence[Session], most: int | None = None) -> dict[str, Sizes]:
        """Measure the bytes of sessions; with `most`, stop after so many messages."""
        return dict(later.sizes.measure(self.reader, sessions, most=most))

    @call
    def plan(
        self,
        selection: Selection,
        catalog: Catalog,
        now: float,
        known: MutableMapping[str, Sizes] | None = None,
        *,
        measure_sizes: bool = True,
    ) -> Plan:
        """Plan a clean-up; see `make_plan`."""
        return later.plan.make_plan(
            self.reader, catalog, selection, now, known=known, measure_sizes=measure_sizes
        )

    def measure_more(self, plan: Plan, known: MutableMapping[str, Sizes]) -> Plan:
        """Measure a piece of a plan, at least one session, longest idle first."""
        missing = [session for session in plan.unmeasured() if session.id not in known]
        if missing:
            known.update(self.sizes_of(missing, _PIECE))
        return plan.measured(known)

    @call
    def file_space(self) -> FileSpace:
        """Read used and free space of the file."""
        return later.sizes.read_file_space(self.reader, self.store.sizes()[1])

    @call
    def space_map(
        self, catalog: Catalog, known: MutableMapping[str, Sizes] | None = None
    ) -> SpaceMap:
        """Measure the whole store by source, job and conversation."""
        return later.sizes.read_space_map(
            self.reader, catalog, wal_bytes=self.store.sizes()[1], known=known
        )

    @call
    def retention(self, now: float) -> RetentionRules:
        """Read what Hermes will delete by itself."""
        return later.retention.retention_rules_at(self.reader, self.location, now)

    search_health = read(later.health.search_health)

    def facts(
        self,
        catalog: Catalog,
        *,
        of_tools: bool = False,
        sizes: bool = False,
        stopped: Stopped = never,
        tell: Callable[[float], None] = lambda share: None,
    ) -> Facts:
        """Read the data for sums: of sessions and messages, or of calls and answers of tools."""
        facts = self.read_facts(catalog, of_tools=of_tools, sizes=sizes, stopped=stopped, tell=tell)
        facts.catalog = catalog
        return facts

    @call
    def read_facts(
        self,
        catalog: Catalog,
        *,
        of_tools: bool,
        sizes: bool,
        stopped: Stopped,
        tell: Callable[[float], None],
    ) -> Facts:
        """Read the facts of another machine's catalog; see `facts`."""
        if of_tools:
            return later.facts.read_tools(self.reader, catalog, stopped=stopped, tell=tell)
        return later.facts.read_facts(self.reader, catalog, sizes=sizes, stopped=stopped, tell=tell)

    report = read(later.sums.read_report)

    @call
    def summary(self) -> StoreSummary:
        """Return the facts and numbers of the store."""
        return later.health.summarize(self.reader, self.store, self.location)
