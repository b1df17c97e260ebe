"""Build the rows of the list from a catalog: order, what the rows of `sessions` lack, cron runs
folded into jobs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.catalog import Catalog, is_descending, sort_key
from hermes_browse.store.sessions.models import Conversation, Sort, View, known_sum
from hermes_browse.store.sessions.relations import job_of, name_in_title
from hermes_browse.store.since import Attention
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...widgets.list_rows import FixedRows, ListRow, NoteRow
from .rows import ConversationRow, JobRow, conversation_of

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.sizes import Sizes

_EMPTY = {
    View.CHATS: N_("No chats here: press 4 for everything"),
    View.AUTOMATION: N_("No cron jobs, webhooks or orphaned subagents"),
    View.ARCHIVED: N_("Nothing is archived"),
    View.ALL: N_("No sessions yet: start a chat in Hermes"),
}
_SUMMED = (
    *("message_count", "input_tokens", "output_tokens", "cache_read_tokens"),
    *("cache_write_tokens", "reasoning_tokens"),
)
"""Counters of a session that are added up for a job."""


class Order(NamedTuple):
    """The order of a list."""

    sort: Sort = Sort.ACTIVITY
    reverse: bool = False
    amounts: Mapping[str, int] = MappingProxyType({})
    """Measured sort keys by root id, as of `catalog.sort_key`."""

    def roots(self, catalog: Catalog, view: View) -> list[str]:
        """Return the root ids of a view in this order."""
        return catalog.order(view, sort=self.sort, reverse=self.reverse, amounts=self.amounts)


MeasuredState = tuple[int, float | None, int]
"""Of a conversation: its messages, its newest activity (Unix seconds), its sessions. It is measured
anew when one of them has changed."""


class RowDetails:
    """What the rows of `sessions` lack, as far as it has been read: previews, counts, bytes, and
    the names of cron jobs."""

    def __init__(self) -> None:
        self._cached: dict[str, Conversation] = {}
        """Conversations with their previews and counts, by root id."""
        self.amounts: dict[Sort, dict[str, int]] = {Sort.MESSAGES: {}, Sort.SIZE: {}}
        """Sort keys by root id, filled as they are measured: chat messages shown by default, and
        bytes that deleting the conversation with its subagents would free."""
        self.measured: dict[Sort, dict[str, MeasuredState]] = {Sort.MESSAGES: {}, Sort.SIZE: {}}
        """In which state each conversation was measured last, by root id."""
        self.sizes: dict[str, Sizes] = {}
        """Bytes of the sessions measured so far. Jobs that plan or measure add to it."""
        self.jobs: Mapping[str, str] = {}
        """Names of cron jobs by id, as stored in Hermes' own file."""
        self.attention = Attention()
        """What is new, and what waits for the user."""
        self.notes: dict[str, str] = {}
        """Notes of the screen, by the id of a conversation, in place of its own."""

    @staticmethod
    def _state(conversation: Conversation) -> tuple[float | None, int]:
        count = sum(segment.message_count for segment in conversation.segments)
        return conversation.last_active, count

    def add(self, conversations: Iterable[Conversation]) -> None:
        """Keep previews and counts of conversations."""
        self._cached |= {each.root_id: each for each in conversations}

    def is_fresh(self, conversation: Conversation) -> bool:
        """Return whether its preview and count have been read as they are now."""
        read = self._cached.get(conversation.root_id)
        if read is None or read.shown_count is None:
            return False
        return self._state(read) == self._state(conversation)

    def complete(self, conversation: Conversation) -> Conversation:
        """Return the conversation with all that was read, what is new in it and whether it
        waits."""
        root = conversation.root_id
        read = self._cached.get(root, conversation)
        shown_count = read.shown_count
        if not self.is_fresh(conversation):
            shown_count = self.amounts[Sort.MESSAGES].get(root, shown_count)
        if (new := self.attention.unread.get(root)) is not None:
            first = new.first_message_id
            conversation = conversation._replace(new_messages=new.amount, first_new=first)
        return conversation._replace(
            preview=read.preview,
            shown_count=shown_count,
            size=self.amounts[Sort.SIZE].get(root, conversation.size),
            waits=conversation.waits or root in self.attention.waiting,
            note=self.notes.get(conversation.id, conversation.note),
        )

    def lacking(self, rows: Iterable[ListRow]) -> list[Conversation]:
        """Return the conversations of rows whose previews and counts have not been read as they are
        now; each once, as there may be many hits of one."""
        every = {each.root_id: each for row in rows if (each := conversation_of(row)) is not None}
        return [each for each in every.values() if not self.is_fresh(each)]

    def nameless(self, conversations: Iterable[Conversation]) -> list[Conversation]:
        """Return those that have no title, and whose preview has not been read.

        That of a conversation without messages stays empty.
        """
        unread = [each for each in conversations if not (each.title or self.is_fresh(each))]
        return [each for each in map(self.complete, unread) if not each.preview]

    def job_title(self, run: Conversation) -> str:
        """Return the title of a job, given any run of it: its name, else its task, else its id;
        printable."""
        job = job_of(run.root) or ""
        name = self.jobs.get(job) or name_in_title(run.title)
        return one_line(name or self.complete(run).preview or f"cron {job}", 200)


class NamedRows(FixedRows):
    """Rows, with what has been read of their conversations by now; what is out of date is read when
    it is shown."""

    def __init__(self, rows: Sequence[ListRow], details: RowDetails) -> None:
        super().__init__(rows)
        self._details = details

    def row(self, index: int) -> ListRow:
        row: Any = super().row(index)
        if getattr(row, "conversation", None) is not None:
            row = row._replace(conversation=self._details.complete(row.conversation))
        named: ListRow = row
        return named


def _total(runs: Sequence[Conversation], newest: Conversation, title: str | None) -> Conversation:
    """Return the newest run of a job with the sums of all sessions of all runs in place of its
    own."""
    segments = [segment for run in runs for segment in run.segments]
    sums: dict[str, Any] = {name: sum(getattr(each, name) for each in segments) for name in _SUMMED}
    sums["cost_usd"] = known_sum(each.cost_usd for each in segments)
    summed = newest.tip._replace(title=title, started_at=newest.root.started_at, **sums)
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
        details: What has been read so far.
        opened: Ids of expanded jobs.
        empty: Text shown if there are none.
        order: The order of `roots`.
        notes: Rows above all others.
    """

    def __init__(
        self,
        catalog: Catalog,
        roots: Sequence[str],
        details: RowDetails,
        opened: Collection[str],
        empty: str,
        order: Order,
        notes: Iterable[ListRow] = (),
    ) -> None:
        self._catalog, self._details, self._order = catalog, details, order
        self.count = len(roots)
        """The number of conversations, those of folded jobs included."""
        self._rows = [*notes, *(self._folded(roots, opened) or [NoteRow(empty)])]
        self._others = {row.key: row for row in self._rows if not isinstance(row, str)}
        """Rows that are no single conversation, by their keys."""

    def _folded(self, roots: Sequence[str], opened: Collection[str]) -> list[str | ListRow]:
        """Return a root for each conversation, and in place of the runs of each job one row, where
        its sums belong in the order."""
        jobs: dict[str, list[str]] = {}
        others: list[str] = []
        for root in roots:
            # The prefix test is cheap and rules most out.
            job = job_of(self._catalog.sessions[root]) if root.startswith("cron_") else None
            (others if job is None else jobs.setdefault(job, [])).append(root)
        placed = []
        for job, runs in jobs.items():
            row = self._job_row(job, runs, opened)
            placed.append((self._place_among(others, row), row, runs))
        rows: list[str | ListRow] = []
        first = 0
        for place, row, runs in sorted(placed, key=itemgetter(0)):
            rows += others[first:place]
            first = place
            rows.append(row)
            if row.expanded:
                rows += runs
        return rows + others[first:]

    def _job_row(self, job: str, roots: Sequence[str], opened: Collection[str]) -> JobRow:
        runs = [self._catalog.conversation(root) for root in roots]
        newest = max(runs, key=sort_key(Sort.ACTIVITY, {}))
        title = self._details.jobs.get(job) or name_in_title(newest.title) or None
        return JobRow(job, runs, _total(runs, newest, title), job in opened)

    def _place_among(self, others: Sequence[str], row: JobRow) -> int:
        """Return the index at which a job belongs among other conversations."""
        sort, reverse, amounts = self._order
        amount = _added(row.runs, amounts)
        own = {} if amount is None else {row.total.root_id: amount}
        key, rank = sort_key(sort, own)(row.total), sort_key(sort, amounts)

        def key_of(root: str) -> float | str:
            return rank(self._catalog.conversation(root))

        if not is_descending(sort, reverse=reverse):
            return bisect_left(others, key, key=key_of)
        return len(others) - bisect_right(others[::-1], key, key=key_of)

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> ListRow:
        row = self._rows[index]
        if isinstance(row, str):
            return ConversationRow(self._details.complete(self._catalog.conversation(row)))
        return self._with_sums(row) if isinstance(row, JobRow) else row

    def _with_sums(self, row: JobRow) -> JobRow:
        """Fill in the title of a job, and the sums of what has been measured of all its runs."""
        amounts, unread = self._details.amounts, self._details.attention.unread
        new = (unread[run.root_id].amount for run in row.runs if run.root_id in unread)
        total = row.total._replace(
            shown_count=_added(row.runs, amounts[Sort.MESSAGES]),
            size=_added(row.runs, amounts[Sort.SIZE]),
            new_messages=sum(new),
        )
        return row._replace(title=self._details.job_title(row.runs[0]), total=total)

    def among(self, roots: Container[str | None]) -> list[str]:
        """Return which of some conversations have a row, by their roots, in order."""
        return [row for row in self._rows if isinstance(row, str) and row in roots]

    def index_of(self, key: str) -> int | None:
        try:
            return self._rows.index(key[1:] if key.startswith("c") else self._others[key])
        except (KeyError, ValueError):
            return None


def make_rows(
    catalog: Catalog,
    details: RowDetails,
    view: View,
    order: Order,
    opened: Collection[str] = (),
    notes: Iterable[ListRow] = (),
) -> CatalogRows:
    """Build the rows of a view in an order; takes most of a second for 100,000 conversations, so not
    on the screen's thread.

    The other arguments are those of `CatalogRows`.
    """
    roots = order.roots(catalog, view)
    if catalog.exact and not catalog.counts()[View.ALL]:
        view = View.ALL
    return CatalogRows(catalog, roots, details, opened, _(_EMPTY[view]), order, notes)


class FirstPage(NamedTuple):
    """What the first frame of a store shows."""

    catalog: Catalog
    """Inexact."""
    details: RowDetails
    """The names of its rows; the main screen goes on with the same object."""


def read_first(store: Store, now: float, lines: int, view: View = View.CHATS) -> FirstPage:
    """Read what the first frame shows.

    Args:
        now: Unix seconds.
        lines: Number of rows.
    """
    details = RowDetails()
    with open_store(store) as opened:
        first = opened.first_page(now, view=view, limit=lines)
        shown = [first.conversation(root) for root in first.order(view)[:lines]]
        details.add(opened.with_names(shown))
    return FirstPage(first, details)
