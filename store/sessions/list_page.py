"""Conversations with what a list prints of them, and a page of the whole list in any order, as a
script asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..cleanup.sizes import content_bytes
from ..connection.reader import Reader
from ..messages.decode import read_previews
from ..messages.transcript import count_rows
from .catalog import read_catalog
from .models import Conversation, Sort, View
from .relations import ids_of


class ListPage(NamedTuple):
    """Some conversations of a view, and how many there are in all."""

    conversations: list[Conversation]
    counts: dict[View, int]
    """Of each view."""


def read_list_page(
    reader: Reader,
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

    Sorted by size they have their bytes. Sorted by messages the order is that of the counts that
    are shown, since the counters of sessions may be stale.
    """
    catalog = read_catalog(reader, now)
    amounts: dict[str, int] = {}
    if sort in (Sort.SIZE, Sort.MESSAGES):
        read_amounts = content_bytes if sort is Sort.SIZE else count_rows
        counts = read_amounts(reader, list(catalog.sessions))
        amounts = {each.root_id: sum_of(counts, each) for each in catalog.select(view)}
    roots = catalog.order(view, sort=sort, reverse=reverse, sources=sources, amounts=amounts)
    shown = roots[offset : offset + limit if limit else None]
    page = with_details(reader, list(map(catalog.conversation, shown)))
    if sort is Sort.SIZE:
        page = [each._replace(size=amounts[each.root_id]) for each in page]
    return ListPage(page, catalog.counts())


def sum_of(counts: Mapping[str, int], conversation: Conversation) -> int:
    """Add up the counts, given by session id, of a conversation."""
    return sum(counts.get(id, 0) for id in conversation.session_ids)


def with_details(reader: Reader, conversations: Sequence[Conversation]) -> list[Conversation]:
    """Add preview and row count to the conversations of a page."""
    counts = count_rows(reader, ids_of(conversations))
    previews = read_previews(reader, {each.root_id: each.segments for each in conversations})
    return [
        each._replace(
            preview=previews[each.root_id],
            shown_count=sum_of(counts, each),
        )
        for each in conversations
    ]
