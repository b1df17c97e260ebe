"""Build the rows of the list from a catalog: order, cron runs folded into jobs."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.catalog import Catalog, sort_key
from hermes_browse.store.sessions.jobs import job_of, name_in_title
from hermes_browse.store.sessions.models import Conversation, Sort, View, known_sum
from hermes_browse.store.sessions.session import Session
from hermes_browse.store.wording import N_, _

from ...widgets.list_rows import ListRow, NoteRow
from .conversation_rows import ConversationRow, JobRow
from .row_details import RowDetails

_EMPTY = {
    View.CHATS: N_("No chats here: press 4 for everything"),
    View.AUTOMATION: N_("No cron jobs, webhooks or orphaned subagents"),
    View.ARCHIVED: N_("Nothing is archived"),
    View.ALL: N_("No sessions yet: start a chat in Hermes"),
}


def job_key_of(root: Session) -> str | None:
    """Return the key of the job that a conversation is a run of, given its root; None if it is no
    cron run."""
    job = job_of(root)
    return job_key(job) if job is not None else None


def job_key(job: str) -> str:
    """Return the key of a job, given its id."""
    return f"cron {job}"


class Order(NamedTuple):
    """The order of a list."""

    sort: Sort = Sort.ACTIVITY
    reverse: bool = False
    amounts: Mapping[str, int] = MappingProxyType({})
    """Measured sort keys by root id, as of `catalog.sort_key`."""


def _total(runs: Sequence[Conversation], newest: Conversation, title: str | None) -> Conversation:
    """Return the newest run of a job with the sums of all sessions of all runs in place of its
    own."""
    segments = [segment for run in runs for segment in run.segments]
    summed = newest.tip._replace(
        title=title,
        started_at=newest.root.started_at,
        message_count=sum(each.message_count for each in segments),
        cost_usd=known_sum(each.cost_usd for each in segments),
        input_tokens=sum(each.input_tokens for each in segments),
        output_tokens=sum(each.output_tokens for each in segments),
        cache_read_tokens=sum(each.cache_read_tokens for each in segments),
        cache_write_tokens=sum(each.cache_write_tokens for each in segments),
        reasoning_tokens=sum(each.reasoning_tokens for each in segments),
    )
    cost = known_sum(run.tree_cost_usd for run in runs)
    return newest._replace(segments=(summed,), title=title, tree_cost_usd=cost)


def _added(runs: Sequence[Conversation], amounts: Mapping[str, int]) -> int | None:
    """Add up measured amounts, given by root id; None unless all are known."""
    known = [amount for run in runs if (amount := amounts.get(run.root_id)) is not None]
    return sum(known) if len(known) == len(runs) else None


class CatalogRows:
    """The conversations of a view as rows, built on access; a cron job is one row until it is
    expanded.

    Args:
        roots: Root ids in order.
        details: Previews and counts read so far.
        opened: Names of expanded jobs.
        empty: Text shown if there are none.
        has_runs: False if none of `roots` is a cron run, to skip the search for them.
        order: The order of `roots`; None for the newest activity first.
    """

    def __init__(
        self,
        catalog: Catalog,
        roots: Sequence[str],
        details: RowDetails,
        opened: Collection[str],
        empty: str,
        *,
        has_runs: bool = True,
        order: Order | None = None,
    ) -> None:
        self._catalog, self._details, self._roots = catalog, details, roots
        self._others: list[JobRow | NoteRow] = [] if roots else [NoteRow(empty)]
        self._layout = array("i", range(len(roots)) if roots else [-1])
        """Per row an index into `_roots`, or -1 - i for `_others[i]`."""
        if has_runs:
            self._fold(opened, order)

    def _jobs(self) -> dict[str, list[int]]:
        """Return the places of the runs of each job among the roots."""
        jobs: dict[str, list[int]] = {}
        for place, root in enumerate(self._roots):
            # The prefix test is cheap and rules most out.
            job = job_of(self._catalog.sessions[root]) if root.startswith("cron_") else None
            if job is not None:
                jobs.setdefault(job, []).append(place)
        return jobs

    def _fold(self, opened: Collection[str], order: Order | None) -> None:
        """Put each job into one row, where its sums belong in the order."""
        jobs = self._jobs()
        if not jobs:
            return
        folded = {place for places in jobs.values() for place in places}
        others = [place for place in self._layout if place not in folded]
        keys = []
        if order is not None:
            rank = sort_key(order.sort, order.amounts)
            keys = sorted(rank(self._catalog.conversation(self._roots[each])) for each in others)
        rows = []
        for job, places in jobs.items():
            runs = [self._catalog.conversation(self._roots[place]) for place in places]
            newest = max(runs, key=sort_key(Sort.ACTIVITY, {}))
            title = self._details.jobs.get(job) or name_in_title(newest.title) or None
            name = job_key(job)
            row = JobRow(name, runs, _total(runs, newest, title), name in opened)
            at = bisect_left(others, places[0])
            if order is not None:
                amount = _added(runs, order.amounts)
                amounts = {} if amount is None else {row.total.root_id: amount}
                key = sort_key(order.sort, amounts)(row.total)
                is_rising = order.reverse is not (order.sort is Sort.TITLE)
                at = bisect_left(keys, key) if is_rising else len(keys) - bisect_right(keys, key)
            rows.append((at, places[0], row, places))
        self._layout, first = array("i"), 0
        for at, _first, row, places in sorted(rows, key=lambda each: each[:2]):
            self._layout.extend(others[first:at])
            first = at
            self._others.append(row)
            self._layout.append(-len(self._others))
            if row.expanded:
                self._layout.extend(places)
        self._layout.extend(others[first:])

    def __len__(self) -> int:
        return len(self._layout)

    def row(self, index: int) -> ListRow:
        """The row at an index."""
        place = self._layout[index]
        if place < 0:
            other = self._others[-1 - place]
            return self._with_sums(other) if isinstance(other, JobRow) else other
        conversation, complete = self._details.complete(
            self._catalog.conversation(self._roots[place])
        )
        return ConversationRow(conversation, complete=complete)

    def _with_sums(self, row: JobRow) -> JobRow:
        """Fill in the title of a job, and the sums of what has been measured of all its runs."""
        amounts, unread = self._details.amounts, self._details.attention.unread
        total = row.total._replace(
            rows=_added(row.runs, amounts[Sort.MESSAGES]),
            size=_added(row.runs, amounts[Sort.SIZE]),
            new_messages=sum(
                unread[run.root_id].amount for run in row.runs if run.root_id in unread
            ),
        )
        return row._replace(title=self._details.job_title(row.runs[0]), total=total)

    def lacking(self, first: int, last: int) -> list[Conversation]:
        lacking = []
        for row in map(self.row, range(first, min(last + 1, len(self)))):
            if isinstance(row, ConversationRow) and not row.complete:
                lacking.append(row.conversation)
            elif isinstance(row, JobRow) and self._details.complete(row.runs[0])[0].rows is None:
                lacking.append(row.runs[0])
        return lacking

    def index_of(self, key: str) -> int | None:
        """Return the index of the row with a key."""
        try:
            if key.startswith("c"):
                return self._layout.index(self._roots.index(key[1:]))
            return self._layout.index(-1 - [row.key for row in self._others].index(key))
        except ValueError:
            return None


def make_rows(
    catalog: Catalog, details: RowDetails, view: View, order: Order, opened: Collection[str] = ()
) -> CatalogRows:
    """Build the rows of a view; takes most of a second for 100,000 conversations, so not on the
    screen's thread.

    The arguments are those of `CatalogRows`.
    """
    roots = catalog.order(view, sort=order.sort, reverse=order.reverse, amounts=order.amounts)
    nothing = _(_EMPTY[View.ALL if catalog.exact and not catalog.counts()[View.ALL] else view])
    is_newest_first = order.sort is Sort.ACTIVITY and not order.reverse
    # No chat is a cron run, and looking for runs among 100,000 chats takes a frame.
    has_runs = view is not View.CHATS
    given = None if is_newest_first else order
    return CatalogRows(catalog, roots, details, opened, nothing, has_runs=has_runs, order=given)


def read_first(
    store: Store, now: float, lines: int, view: View = View.CHATS
) -> tuple[Catalog, list[Conversation]]:
    """Read what the first frame shows.

    Args:
        now: Unix seconds.
        lines: Number of rows.

    Returns:
        The first page as an inexact catalog, and the conversations of its rows with their names.
    """
    with open_store(store) as opened:
        first = opened.first_page(now, view=view, limit=lines)
        shown = [first.conversation(root) for root in first.order(view)[:lines]]
        return first, opened.with_names(shown)
