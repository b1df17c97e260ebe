"""The columns at the right of list rows: their definitions, which of them fit into a width, and the
header."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from hermes_browse.store.sessions.models import Conversation, Sort, Status
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from .. import formats

_NEVER = 1 << 30
_DEFAULT = ("age", "source", "messages", "cost", "model")
"""Columns shown by default, each in rows that are wide enough for it."""


class Column(NamedTuple):
    """A column at the right of a row."""

    name: str
    """Header, to be translated through `_`."""
    width: int
    """Cells, with the space before it; 0 for that of an age."""
    lead: int
    """Cells before left-aligned text; 0 for right-aligned text."""
    from_width: int
    """Minimum cells of a row that shows it by default."""
    text: Callable[[Conversation, float], str]
    """Returns its text, printable, for a conversation and the current time (Unix seconds)."""
    sort: Sort | None = None
    """The order by this column."""

    def fitted(self, text: str, cells: int) -> str:
        """Align a text in the column."""
        return " " * self.lead + formats.fit(text, cells - self.lead, right=not self.lead)


def _folder(conversation: Conversation) -> str:
    return (conversation.cwd or "").rstrip("/").rpartition("/")[2]


def _tokens(conversation: Conversation) -> str:
    return formats.number(conversation.tokens.total) if conversation.tokens.total else ""


def _messages(conversation: Conversation) -> str:
    """Format the number of messages; `~` before that of Hermes' own counters, until they are
    counted."""
    about = "~" if conversation.rows is None and conversation.message_count else ""
    return f"{about}{formats.number(conversation.message_count)}"


def _size(conversation: Conversation) -> str:
    return formats.size(conversation.size) if conversation.size is not None else "…"


COLUMNS: dict[str, Column] = {
    "age": Column(
        N_("when"), 0, 0, 0, lambda each, now: formats.age(each.last_active, now), Sort.ACTIVITY
    ),
    "source": Column(N_("source"), 7, 1, 44, lambda each, now: formats.source(each.source)),
    "messages": Column(N_("msgs"), 5, 0, 50, lambda each, now: _messages(each), Sort.MESSAGES),
    "cost": Column(
        N_("cost"), 8, 0, 70, lambda each, now: formats.money(each.tree_cost_usd), Sort.COST
    ),
    "model": Column(
        N_("model"), 20, 2, 110, lambda each, now: one_line((each.model or "").rpartition("/")[2])
    ),
    "tokens": Column(N_("tokens"), 7, 0, _NEVER, lambda each, now: _tokens(each), Sort.TOKENS),
    "size": Column(N_("size"), 8, 0, _NEVER, lambda each, now: _size(each), Sort.SIZE),
    "started": Column(
        N_("started"),
        0,
        0,
        _NEVER,
        lambda each, now: formats.age(each.root.started_at, now),
        Sort.STARTED,
    ),
    "branch": Column(
        N_("branch"), 18, 2, _NEVER, lambda each, now: one_line(each.git_branch or "")
    ),
    "directory": Column(N_("directory"), 22, 2, _NEVER, lambda each, now: one_line(_folder(each))),
}
"""Columns by their names in the configuration."""
_OF_SORT = {column.sort: name for name, column in COLUMNS.items() if column.sort is not None}
"""The column that shows each sort key; titles are at the left of every row."""
_chosen: tuple[str, ...] = ()
_sorted, _is_reversed = Sort.ACTIVITY, False


def set_sort(sort: Sort, *, reverse: bool = False) -> None:
    """Set the order, whose key every row shows: in the last column, unless it has a place
    already."""
    global _sorted, _is_reversed
    _sorted, _is_reversed = sort, reverse


def set_columns(names: Sequence[str]) -> None:
    """Set the columns of all rows by keys of `COLUMNS`; none for the default columns that fit."""
    global _chosen
    _chosen = tuple(names)


def shows_sizes() -> bool:
    """Return whether sizes are shown in any order."""
    return "size" in _chosen


def order_arrow(sort: Sort, *, reverse: bool) -> str:
    """Return `↓` if the largest or newest is first, `↑` if the smallest, the oldest or A is."""
    return "↑" if reverse is not (sort is Sort.TITLE) else "↓"


def _layout(width: int) -> list[tuple[str, int]]:
    """Return name and cells of each column that fits into a row of `width` cells; always with the
    sort key."""
    by = _OF_SORT.get(_sorted, "")
    if _chosen:
        names = [*_chosen, *([by] if by not in (*_chosen, "", "age") else [])]
    else:
        extra = COLUMNS[by].width if by and by not in _DEFAULT else 0
        names = [name for name in _DEFAULT if width - extra >= COLUMNS[name].from_width]
        if by not in ("", "age"):
            names = [*(name for name in names if name != by), by]
    columns: list[tuple[str, int]] = []
    for name in names:
        cells = COLUMNS[name].width or formats.AGE_WIDTH + (1 if name != names[0] else 0)
        if name == by:  # room for the arrow
            cells = max(cells, cell_len(_(COLUMNS[name].name)) + (2 if name != names[0] else 1))
        columns.append((name, cells))
    removable = [column for column in columns if column[0] != by]
    most = (
        width // 2 if _chosen else width - 5
    )  # of chosen columns half a row, so that the title gets the other
    while removable and sum(cells for _name, cells in columns) > most:
        columns.remove(removable.pop())
    return columns


def format_head(
    width: int, extra: str = "", *, is_sorted: bool = True
) -> list[tuple[str, str, Sort | None]]:
    """Format the header, in exactly `width` cells.

    Args:
        extra: Heading of the badges before the columns; empty for the default.
        is_sorted: Whether the rows are in the list's order, so that one column has an arrow.

    Returns:
        Parts, each with its text, its look, and the order that a click selects.
    """
    columns: list[tuple[str, str, Sort | None]] = []
    for name, cells in _layout(width):
        column = COLUMNS[name]
        text, look = _named(column.name, column.sort, is_sorted=is_sorted)
        columns.append((column.fitted(text, cells), look, column.sort))
    room = width - 3 - sum(cells for _name, cells in _layout(width)) - 2
    extra = extra or _("family")
    title, look = _named(N_("title"), Sort.TITLE, is_sorted=is_sorted)
    extra = extra if cell_len(extra) + cell_len(title) < room else ""
    left = formats.fit(title, room - cell_len(extra))
    return [
        ("   ", "dim", None),
        (left, look, Sort.TITLE),
        (f"{extra} ", "dim", None),
        *columns,
        (" ", "dim", None),
    ]


def _named(name: str, sort: Sort | None, *, is_sorted: bool) -> tuple[str, str]:
    """Return the header of a column, with an arrow if the list is sorted by it, and its look."""
    if sort is None or sort is not _sorted or not is_sorted:
        return _(name), "dim"
    return _(name) + order_arrow(sort, reverse=_is_reversed), "plain"


def columns_of(
    conversation: Conversation, width: int, now: float, *, complete: bool
) -> tuple[str, int]:
    """Format the columns of a row of `width` cells; return the text and its cells.

    Args:
        now: Unix seconds.
        complete: Whether the count of its messages has been read.
    """
    text, taken = "", 0
    for name, cells in _layout(width):
        column = COLUMNS[name]
        is_known = (
            name != "messages"
            or complete
            or conversation.message_count
            or conversation.status is Status.EMPTY
        )
        value = column.text(conversation, now) if is_known else "…"
        text += column.fitted(value, cells)
        taken += cells
    return text, taken
