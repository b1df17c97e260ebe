"""The names and counts of views and orders, as the lines at the top show them."""

from __future__ import annotations

from rich.cells import cell_len

from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Sort, View
from hermes_browse.store.wording import N_, PN_, _, pgettext

from ...text import formats

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


def view_labels(
    catalog: Catalog, view: View | None, suffix: str, width: int, old: int = 0
) -> list[tuple[str, bool]]:
    """Return the labels of the views with their counts, each with whether that view is the current
    one.

    If the line of labels, which ends with `suffix`, does not fit, counts become short (`21k`), then
    only the current view has a count, then the others are only numbers.

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
    labels: list[tuple[str, bool]] = []
    for level, words in enumerate((3, 3, 2, 1)):
        labels = []
        for number, (name, count, is_current) in enumerate(views, 1):
            amount = "…" if count is None else formats.number(count) if level else f"{count:,}"
            labels.append(
                (" ".join([str(number), name, amount][: 3 if is_current else words]), is_current)
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
    parts = [_("{count:,} of {every:,} shown", count=counts[view], every=counts[View.ALL])]
    if view is not View.ALL:
        hidden = [each for each in _HIDDEN if each is not view and counts[each]]
        parts += [_(_HIDDEN[each], count=counts[each]) for each in hidden]
        others = counts[View.ALL] - sum(counts[each] for each in _HIDDEN)
        if others:
            parts.append(_("{count:,} other", count=others))
    return " · ".join(parts)
