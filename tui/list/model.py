"""The rows of the list from a catalog: order, cron runs folded into jobs, details as they are read and measured."""

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
    View.CHATS: N_("No chats in this store · 2 automation · 3 archived · 4 everything"),
    View.AUTOMATION: N_("No automation here: no cron jobs, webhooks or orphaned subagents"),
    View.ARCHIVED: N_("Nothing is archived"),
    View.ALL: N_("This store has no sessions yet: start a chat in Hermes"),
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
    """The name of a view in the line of views."""
    return _(_VIEWS[view])


def order_name(sort: Sort) -> str:
    """The name of an order in the line of views."""
    return _ORDERS[sort]()


class Details:
    """What is known of conversations beyond their sessions: previews, counts and bytes, and the names of cron jobs."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[float | None, int], str, int | None]] = {}
        self.amounts: dict[Sort, dict[str, int]] = {Sort.MESSAGES: {}, Sort.SIZE: {}}
        """What lists are sorted by and sessions do not say, by the root of a conversation: the chat messages that are
        shown by default, and the bytes that deleting it with its subagents would free. Grows as it is measured."""
        self.jobs: Mapping[str, str] = {}
        """Names of cron jobs by their ids, from Hermes' own file; as stored."""

    @staticmethod
    def _mark(conversation: Conversation) -> tuple[float | None, int]:
        return conversation.last_active, sum(segment.message_count for segment in conversation.segments)

    def add(self, conversations: Iterable[Conversation]) -> None:
        """Keep what was read."""
        for each in conversations:
            self._known[each.root_id] = (self._mark(each), each.preview, each.rows)

    def complete(self, conversation: Conversation) -> tuple[Conversation, bool]:
        """The conversation with all that is known of it, and whether preview and count are up to date."""
        root = conversation.root_id
        known, size = self._known.get(root), self.amounts[Sort.SIZE].get(root)
        if size is not None:
            conversation = conversation._replace(size=size)
        counted = self.amounts[Sort.MESSAGES].get(root)
        if known is None:
            return (conversation._replace(rows=counted) if counted is not None else conversation), False
        mark, preview, rows = known
        is_fresh = rows is not None and mark == self._mark(conversation)
        if not is_fresh and counted is not None:
            rows = counted
        return conversation._replace(preview=preview, rows=rows), is_fresh

    def job_title(self, run: Conversation) -> str:
        """What the job of a run is called: by its name, else by its task, else by its id; printable.

        Args:
            run: Any run of the job.
        """
        job = job_of(run.root) or ""
        return one_line(
            self.jobs.get(job) or name_in_title(run.title) or self.complete(run)[0].preview or f"cron {job}", 200
        )


def job_name(root: Session) -> str | None:
    """What identifies the job whose run a conversation is, by its root; None when it is no cron run."""
    job = job_of(root)
    return f"cron {job}" if job is not None else None


class _Runs(Sequence[Conversation]):
    """The runs of a job; each is made when it is asked for."""

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
    """The conversations of a view as rows, made when asked for; runs of a cron job are one row until it is opened."""

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
        """By row: its place in the order; -1 and below for the others, the first of these first. None: all in order."""
        jobs: dict[str, array[int]] = {}
        sessions = catalog.forest.sessions
        # Of most their ids tell at once that they are no runs.
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
        """Where the row with a key is."""
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
    """The rows of a view; takes most of a second for 100,000 conversations, so not on the screen's thread.

    Args:
        catalog: What there is.
        details: What is known beyond it.
        view: Which conversations.
        sort: Their order.
        reverse: Turned round.
        opened: Names of the jobs whose runs are shown.
        amounts: What they are sorted by, as of `catalog.sort_key`.
    """
    order = catalog.order(view, sort=sort, reverse=reverse, amounts=amounts)
    # A run of a job is never a chat, and looking for runs among 100,000 chats takes a frame.
    return CatalogRows(catalog, order, details, opened, _(_EMPTY[view]), has_runs=view is not View.CHATS)


def incomplete(source: object, first: int, last: int) -> list[Conversation]:
    """The conversations on screen whose preview and count have not been read."""
    if not isinstance(source, CatalogRows):
        return []
    rows = [source.row(index) for index in range(first, min(last + 1, len(source)))]
    found = [row.conversation for row in rows if isinstance(row, ConversationRow) and not row.complete]
    return found + [run for row in rows if isinstance(row, JobRow) and (run := row.runs[0]).rows is None]


def shown_line(catalog: Catalog, view: View) -> str:
    """`214 of 21,703 shown · 20,912 automation · 577 archived`: what is hidden is counted."""
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
    """What the first frame of a store shows.

    Args:
        store: Which.
        now: Unix seconds.
        lines: Rows there is room for.
        view: The view they are in.

    Returns:
        The first page, and the conversations of its rows with their names.
    """
    with store.reader() as reader:
        first = read_first_page(reader, now, view=view, limit=lines)
        return first, with_names(reader, [first.conversation(root) for root in first.order(view)[:lines]])
