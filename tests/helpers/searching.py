"""A search in one call, as tests ask it."""

from __future__ import annotations

import time
from collections.abc import Callable

from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.messages.chat_message import Hit
from hermes_browse.store.search.engine import COUNT_CAP, Answer, Search, Total
from hermes_browse.store.search.query import Query
from hermes_browse.store.search.scope import Scope, make_scope


def read_scope(reader: Reader, query: Query, now: float | None = None) -> Scope:
    """The scope of a query's filters in the whole store."""
    moment = time.time() if now is None else now
    return make_scope(reader, query, moment)


def search(
    reader: Reader,
    query: Query,
    *,
    limit: int = 50,
    before: Hit | None = None,
    scope: Scope | None = None,
    now: float | None = None,
    portion: Callable[[Answer], None] = lambda answer: None,
    **options: object,
) -> Answer:
    """The next hits of a query behind one; `options` are those of `Search`."""
    within = read_scope(reader, query, now) if scope is None else scope
    return Search(reader, query, within, **options).page(limit, after=before, portion=portion)  # type: ignore[arg-type]  # test options


def count(
    reader: Reader,
    query: Query,
    *,
    cap: int = COUNT_CAP,
    scope: Scope | None = None,
    now: float | None = None,
    **options: object,
) -> Total:
    """The number of hits; `options` are those of `Search`."""
    within = read_scope(reader, query, now) if scope is None else scope
    return Search(reader, query, within, **options).count(cap)  # type: ignore[arg-type]  # test options
