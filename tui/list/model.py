"""Build the rows of the list from a catalog: order, cron runs folded into jobs, details as they become known."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import overload

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.preview import with_names
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.first_page import read_first_page
from hermes_browse.store.sessions.jobs import job_of, name_in_title
from hermes_browse.store.sessions.models import Conversation, Sort, View
from hermes_browse.store.sessions.session import Session
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, pgettext

from .rows import ConversationRow, JobRow, ListRow, NoteRow

_EMPTY = {
    View.CHATS: N_("No chats here: press 4 for everything"),
    View.AUTOMATION: N_("No cron jobs, webhooks or orphaned subagents"),
    View.ARCHIVED: N_("Nothing is archived"),
    View.ALL: N_("No sessions yet: start a chat in Hermes"),
}
_VIEWS = {
    View.CHATS: N_("Chats"),
    View.AUTOMATION: N_("Automation"),
    View.ARCHIVED: N_("Archived"),
    View.ALL: N_("All"),
}
_HIDDEN = {
    View.CHATS: N_("{count:,} chats"),
    View.AUTOMATION: N_("{count:,} automation"),
    View.ARCHIVED: N_("{count:,} archived"),
}
_ORDERS: dict[Sort, Callable[[], str]] = {
    Sort.ACTIVITY: lambda: pgettext("order", "activity"),
    Sort.STARTED: lambda: pgettext("order", "started"),
    Sort.MESSAGES: lambda: pgettext("order", "messages"),
    Sort.TOKENS: lambda: pgettext("order", "tokens"),
    Sort.COST: lambda: pgettext("order", "cost"),
    Sort.SIZE: lambda: pgettext("order", "size"),
    Sort.TITLE: lambda: pgettext("order", "title"),
}


def view_name(view: View) -> str:
    """Return the name of a view, translated."""
    return _(_VIEWS[view])


def order_name(sort: Sort) -> str:
    """Return the name of an order, translated."""
    return _ORDERS[sort]()


class Details:
    """Cache of what the rows of `sessions` lack: previews, counts, bytes, and the names of cron jobs."""

    def __init__(self) -> None:
        self._cached: dict[str, tuple[tuple[float | None, int], str, int | None]] = {}
        self.amounts: dict[Sort, dict[str, int]] = {Sort.MESSAGES: {}, Sort.SIZE: {}}
        """Sort keys by root id, filled as they are measured: chat messages shown by default, and bytes that deleting
        the conversation with its subagents would free."""
        self.jobs: Mapping[str, str] = {}
        """Names of cron jobs by id, as stored in Hermes' own file."""

    @staticmethod
    def _mark(conversation: Conversation) -> tuple[float | None, int]:
        return conversation.last_active, sum(segment.message_count for segment in conversation.segments)

    def add(self, conversations: Iterable[Conversation]) -> None:
        """Cache previews and counts of conversations."""
        for conversation in conversations:
            mark = self._mark(conversation)
            self._cached[conversation.root_id] = (mark, conversation.preview, conversation.rows)

    def complete(self, conversation: Conversation) -> tuple[Conversation, bool]:
        """Return the conversation with all cached details, and whether preview and count are up to date."""
        root = conversation.root_id
        details, size = self._cached.get(root), self.amounts[Sort.SIZE].get(root)
        if size is not None:
            conversation = conversation._replace(size=size)
        counted = self.amounts[Sort.MESSAGES].get(root)
        if details is None:
            return (conversation._replace(rows=counted) if counted is not None else conversation), False
        mark, preview, rows = details
        is_fresh = rows is not None and mark == self._mark(conversation)
        if not is_fresh and counted is not None:
            rows = counted
        return conversation._replace(preview=preview, rows=rows), is_fresh

    def job_title(self, run: Conversation) -> str:
        """Return the title of a job: its name, else its task, else its id; printable.

        Args:
            run: Any run of the job.
        """
        job = job_of(run.root) or ""
        return one_line(
            self.jobs.get(job) or name_in_title(run.title) or self.complete(run)[0].preview or f"cron {job}", 200
        )


def job_name(root: Session) -> str | None:
    """Return the key of the job that a conversation is a run of, given its root; None if it is no cron run."""
    job = job_of(root)
    return f"cron {job}" if job is not None else None


class _Runs(Sequence[Conversation]):
    """The runs of a job, each built on access."""

    def __init__(self, catalog: Catalog, details: Details, roots: Sequence[str], places: Sequence[int]) -> None:
        self._catalog, self._details, self._roots, self._places = catalog, details, roots, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> Conversation: ...
    @overload
    def __getitem__(self, at: slice) -> _Runs: ...
    def __getitem__(self, at: int | slice) -> Conversation | _Runs:
        if isinstance(at, slice):
            return _Runs(self._catalog, self._details, self._roots, self._places[at])
        return self._details.complete(self._catalog.conversation(self._roots[self._places[at]]))[0]


class CatalogRows:
    """The conversations of a view as rows, built on access; a cron job is one row until it is expanded.

    Args:
        catalog: The conversations.
        roots: Root ids in order.
        details: Details of conversations.
        opened: Names of expanded jobs.
        empty: Text shown if there are none.
        has_runs: False if none of `roots` is a cron run, to skip the search for them.
    """

    def __init__(
        self,
        catalog: Catalog,
        roots: Sequence[str],
        details: Details,
        opened: Collection[str],
        empty: str,
        *,
        has_runs: bool = True,
    ) -> None:
        self._catalog, self._details, self._roots = catalog, details, roots
        self._others: list[JobRow | NoteRow] = [] if roots else [NoteRow(empty)]
        self._layout: array[int] | None = None if roots else array("i", [-1])
        """Per row an index into `_roots`, or -1 - i for `_others[i]`; None if row i is `_roots[i]`."""
        jobs: dict[str, array[int]] = {}
        sessions = catalog.forest.sessions
        # The prefix test is cheap and rules most out.
        for place in [place for place, root in enumerate(roots) if root.startswith("cron_")] if has_runs else ():
            job = job_of(sessions[roots[place]])
            if job is not None:
                jobs.setdefault(job, array("i")).append(place)
        if jobs:
            self._fold(jobs, opened)

    def _fold(self, jobs: dict[str, array[int]], opened: Collection[str]) -> None:
        layout, first = array("i"), 0
        of_run = {places[0]: job for job, places in jobs.items()}
        for place in sorted(place for places in jobs.values() for place in places):
            layout.extend(range(first, place))
            first = place + 1
            job = of_run.get(place)
            if job is None:
                continue
            name = f"cron {job}"
            runs = _Runs(self._catalog, self._details, self._roots, jobs[job])
            self._others.append(JobRow(name, runs, name in opened))
            layout.append(-len(self._others))
            if name in opened:
                layout.extend(jobs[job])
        layout.extend(range(first, len(self._roots)))
        self._layout = layout

    def __len__(self) -> int:
        return len(self._roots) if self._layout is None else len(self._layout)

    def row(self, index: int) -> ListRow:
        """The row at an index."""
        place = index if self._layout is None else self._layout[index]
        if self._layout is not None and place < 0:
            other = self._others[-1 - place]
            return other._replace(title=self._details.job_title(other.runs[0])) if isinstance(other, JobRow) else other
        conversation, complete = self._details.complete(self._catalog.conversation(self._roots[place]))
        return ConversationRow(conversation, complete=complete)

    def index_of(self, key: str) -> int | None:
        """Return the index of the row with a key."""
        try:
            if key.startswith("c"):
                place = self._roots.index(key[1:])
                return place if self._layout is None else self._layout.index(place)
            other = next(at for at, row in enumerate(self._others, 1) if row.key == key)
            return self._layout.index(-other) if self._layout is not None else None
        except (ValueError, StopIteration):
            return None


def make_rows(
    catalog: Catalog,
    details: Details,
    view: View,
    sort: Sort,
    *,
    reverse: bool,
    opened: Collection[str],
    amounts: Mapping[str, int] | None = None,
) -> CatalogRows:
    """Build the rows of a view; takes most of a second for 100,000 conversations, so not on the screen's thread.

    Args:
        catalog: The conversations.
        details: Details of conversations.
        view: Conversations to include.
        sort: Their order.
        reverse: Reverse it.
        opened: Names of expanded jobs.
        amounts: Measured sort keys by root id, as of `catalog.sort_key`.
    """
    order = catalog.order(view, sort=sort, reverse=reverse, amounts=amounts)
    nothing = View.ALL if catalog.exact and not catalog.forest.counts()[View.ALL] else view
    # No chat is a cron run, and looking for runs among 100,000 chats takes a frame.
    return CatalogRows(catalog, order, details, opened, _(_EMPTY[nothing]), has_runs=view is not View.CHATS)


def incomplete(source: object, first: int, last: int) -> list[Conversation]:
    """Return the conversations of rows `first` to `last` whose preview and count are missing or stale."""
    if not isinstance(source, CatalogRows):
        return []
    rows = [source.row(index) for index in range(first, min(last + 1, len(source)))]
    lacking = [row.conversation for row in rows if isinstance(row, ConversationRow) and not row.complete]
    return lacking + [run for row in rows if isinstance(row, JobRow) and (run := row.runs[0]).rows is None]


def shown_line(catalog: Catalog, view: View) -> str:
    """Return the counts of shown and hidden ones: `214 of 21,703 shown · 20,912 automation · 577 archived`."""
    counts = catalog.forest.counts()
    if not catalog.exact:
        return _("{count:,} newest shown · counting…").format(count=counts[view])
    parts = [_("{count:,} of {every:,} shown").format(count=counts[view], every=counts[View.ALL])]
    if view is not View.ALL:
        hidden = [each for each in _HIDDEN if each is not view and counts[each]]
        parts += [_(_HIDDEN[each]).format(count=counts[each]) for each in hidden]
        others = counts[View.ALL] - sum(counts[each] for each in _HIDDEN)
        if others:
            parts.append(_("{count:,} other").format(count=others))
    return " · ".join(parts)


def read_first(store: Store, now: float, lines: int, view: View = View.CHATS) -> tuple[Catalog, list[Conversation]]:
    """Read what the first frame shows.

    Args:
        store: The store.
        now: Unix seconds.
        lines: Number of rows.
        view: The view they are in.

    Returns:
        The first page as an inexact catalog, and the conversations of its rows with their names.
    """
    with store.reader() as reader:
        first = read_first_page(reader, now, view=view, limit=lines)
        return first, with_names(reader, [first.conversation(root) for root in first.order(view)[:lines]])
