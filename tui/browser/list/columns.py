"""What stands at the head of the list and beside its rows: the names and counts of views, those of
orders, and the columns: their definitions, and which of them fit into a width."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len

from hermes_browse.store.places import place_of
from hermes_browse.store.sessions.catalog import Catalog, is_descending
from hermes_browse.store.sessions.models import Conversation, Sort, Status, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, PN_, _, language, pgettext

from ...text import formats
from ...widgets.list_rows import Column

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
_ORDERS = PN_(
    "order",
    {
        Sort.ACTIVITY: "activity",
        Sort.STARTED: "started",
        Sort.MESSAGES: "messages",
        Sort.TOKENS: "tokens",
        Sort.COST: "cost",
        Sort.SIZE: "size",
        Sort.TITLE: "title",
    },
)


def view_name(view: View) -> str:
    return _(_VIEWS[view])


_LABELS = ((3, 3, False), (3, 3, True), (3, 2, True), (2, 2, True), (3, 1, True))
"""From long to short: words of the current view's label and of others (number, name, count), and
whether counts are short."""


def view_labels(
    catalog: Catalog, view: View | None, suffix: str, width: int, old: int = 0
) -> list[tuple[str, bool]]:
    """Return the labels of the views with their counts, each with whether that view is the current
    one.

    If the line of labels, which ends with `suffix`, does not fit, counts become short (`21k`), then
    only the current view has a count, then no view has one, then the others are only numbers.

    Args:
        catalog: The conversations to count.
        view: The current view; None for that of old transcripts.
        suffix: Never cut.
        width: Cells.
        old: Number of old transcripts beside the store; 0 hides their view.
    """
    counts = catalog.counts()
    views = [
        (view_name(each), counts[each] if catalog.exact else None, each is view) for each in View
    ]
    if old:
        views.append((pgettext("view", "Old"), old, view is None))
    for own, others, is_short in _LABELS:
        labels: list[tuple[str, bool]] = []
        for number, (name, count, is_current) in enumerate(views, 1):
            amount = "…" if count is None else formats.number(count) if is_short else f"{count:,}"
            labels.append(
                (" ".join([str(number), name, amount][: own if is_current else others]), is_current)
            )
        cells = sum(cell_len(label) + 3 for label, _is_current in labels)
        if 3 + cell_len(suffix) + cells <= width:
            break
    return labels


def order_name(sort: Sort) -> str:
    return pgettext("order", _ORDERS[sort])


def shown_line(catalog: Catalog, view: View) -> str:
    """Return the counts of shown and hidden ones: `214 of 21,703 shown · 20,912 automation · 577
    archived`."""
    counts = catalog.counts()
    if not catalog.exact:
        return _("{count:,} newest shown · counting…", count=counts[view])
    shown = _("{count:,} of {every:,} shown", count=counts[view], every=counts[View.ALL])
    if view is View.ALL:
        return shown
    hidden = [each for each in _HIDDEN if each is not view and counts[each]]
    others = counts[View.ALL] - sum(counts[each] for each in _HIDDEN)
    return formats.joined(
        shown,
        *(_(_HIDDEN[each], count=counts[each]) for each in hidden),
        _("{count:,} other", count=others) if others else "",
    )


def order_arrow(sort: Sort, *, reverse: bool) -> str:
    """Return `↓` if the largest or newest is first, `↑` if the smallest, the oldest or A is."""
    return "↓" if is_descending(sort, reverse=reverse) else "↑"


_NEVER = 1 << 30
_DEFAULT = ("age", "source", "messages", "own", "cost", "model")
"""Columns shown by default, each in rows that are wide enough for it."""


def messages_text(conversation: Conversation) -> str:
    """Format the number of messages; until they are counted it is that of Hermes' own counters, as
    `~12`, or `…` where these are 0."""
    number = formats.number(conversation.message_count)
    if conversation.shown_count is not None or conversation.status is Status.EMPTY:
        return number
    return f"~{number}" if conversation.message_count else "…"


COLUMNS: dict[str, Column[Conversation]] = {
    "age": Column(
        N_("when"), 0, lambda each, now: formats.age(each.last_active, now), order=Sort.ACTIVITY
    ),
    "source": Column(
        N_("source"), 7, lambda each, now: formats.source(each.source), least=44, lead=1
    ),
    "messages": Column(
        N_("msgs"), 5, lambda each, now: messages_text(each), least=50, order=Sort.MESSAGES
    ),
    "own": Column(N_("own cost"), 10, lambda each, now: formats.money(each.cost_usd), least=100),
    "cost": Column(
        N_("cost"),
        8,
        lambda each, now: formats.money(each.tree_cost_usd),
        least=70,
        order=Sort.COST,
    ),
    "model": Column(
        N_("model"),
        20,
        lambda each, now: one_line((each.model or "").rpartition("/")[2]),
        least=110,
        lead=2,
    ),
    "tokens": Column(
        N_("tokens"),
        7,
        lambda each, now: formats.number(each.tokens.total) if each.tokens.total else "",
        _NEVER,
        order=Sort.TOKENS,
    ),
    "size": Column(
        N_("size"),
        8,
        lambda each, now: "…" if each.size is None else formats.size(each.size),
        _NEVER,
        order=Sort.SIZE,
    ),
    "started": Column(
        N_("started"),
        0,
        lambda each, now: formats.age(each.root.started_at, now),
        _NEVER,
        order=Sort.STARTED,
    ),
    "branch": Column(
        N_("branch"), 18, lambda each, now: one_line(each.git_branch or ""), _NEVER, lead=2
    ),
    "directory": Column(
        N_("directory"),
        22,
        lambda each, now: one_line((each.cwd or "").rstrip("/").rpartition("/")[2]),
        _NEVER,
        lead=2,
    ),
}
"""Columns by their names in the configuration."""
_EVERY = {
    **COLUMNS,
    "place": Column(N_("where"), 12, lambda each, now: one_line(place_of(each.root_id)), lead=2),
}
"""With the one of a list of several stores."""
_OF_SORT = {column.order: name for name, column in COLUMNS.items() if column.order is not None}
"""The column that shows each sort key; titles are at the left of every row."""


class ListLayout(NamedTuple):
    """The columns of a list and its order, whose key every row shows."""

    chosen: tuple[str, ...] = ()
    """Keys of `COLUMNS`; none for the default columns that fit."""
    sort: Sort = Sort.ACTIVITY
    reverse: bool = False
    has_places: bool = False
    """Whether the conversations are of several stores."""

    @lru_cache  # noqa: B019 -- layouts are values, of which there are few
    def _fitting(self, width: int, language: str) -> list[tuple[str, int]]:
        """Return the name and the cells of each column that fits into a row of `width` cells. The
        column of the sort key is always among them, as the last unless it is there anyway."""
        by, names = _OF_SORT.get(self.sort, ""), list(self.chosen)
        if not names:
            extra = COLUMNS[by].width if by and by not in _DEFAULT else 0
            extra += _EVERY["place"].width if self.has_places else 0
            moved = {"age": (), "started": (by, "age")}.get(by, (by,))  # one date in a row
            names = [
                name
                for name in _DEFAULT
                if width - extra >= COLUMNS[name].least and name not in moved
            ]
        if by not in ("", "age", *names):
            names.append(by)
        if self.has_places:
            names.insert(0, "place")
        columns = []
        for name in names:
            gap = 1 if name != names[0] else 0
            cells = _EVERY[name].width or formats.AGE_WIDTH + gap
            if name == by:  # room for the arrow
                cells = max(cells, cell_len(_(_EVERY[name].head)) + 1 + gap)
            columns.append((name, cells))
        removable = [column for column in columns if column[0] != by]
        # Chosen columns get half a row at most, and the title the other half.
        most = width // 2 if self.chosen else width - 5
        while removable and sum(cells for _name, cells in columns) > most:
            columns.remove(removable.pop())
        return columns

    def head(
        self, width: int, extra: str = "", *, position: str = "", is_sorted: bool = True
    ) -> list[tuple[str, str, Sort | None]]:
        """Format the header, in exactly `width` cells.

        Args:
            extra: Heading of what stands before the columns; empty for none.
            position: Of the cursor: `12/82`.
            is_sorted: Whether the rows are in this order, so that one column has an arrow.

        Returns:
            Parts, each with its text, its look, and the order that a click selects.
        """
        columns = []
        room = width - 5
        for name, cells in self._fitting(width, language()):
            column = _EVERY[name]
            order = column.order if isinstance(column.order, Sort) else None
            text, look = self._named(column.head, order, is_sorted=is_sorted)
            columns.append((column.fitted(text, cells), look, order))
            room -= cells
        title, look = self._named(N_("title"), Sort.TITLE, is_sorted=is_sorted)
        title = f"{title}  {position}"
        extra = extra if cell_len(extra) + cell_len(title) < room else ""
        return [
            ("   ", "dim", None),
            (formats.fit(title, room - cell_len(extra)), look, Sort.TITLE),
            (f"{extra} ", "dim", None),
            *columns,
            (" ", "dim", None),
        ]

    def _named(self, name: str, sort: Sort | None, *, is_sorted: bool) -> tuple[str, str]:
        """Return the header of a column, with an arrow if the list is sorted by it, and its look."""
        if sort is not self.sort or not is_sorted:
            return _(name), "dim"
        return _(name) + order_arrow(sort, reverse=self.reverse), "plain"

    def text(self, conversation: Conversation, width: int, now: float) -> str:
        """Format the columns of a row of `width` cells, as of `now` (Unix seconds)."""
        fitting = [(_EVERY[name], cells) for name, cells in self._fitting(width, language())]
        return "".join(each.fitted(each.text(conversation, now), cells) for each, cells in fitting)
