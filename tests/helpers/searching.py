"""A search in one call, as tests ask it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.messages.chat_message import Hit
from hermes_browse.store.search.engine import COUNT_CAP, Answer, Search, Total
from hermes_browse.store.search.query import Query, parse


def _prepared(
    reader: Reader, query: Query | str, now: float | None, options: Mapping[str, object]
) -> Search:
    query = parse(query, now=now) if isinstance(query, str) else query
    moment = time.time() if now is None else now
    return Search(reader, query, moment, **options)  # type: ignore[arg-type]  # test options


def search(
    reader: Reader,
    query: Query | str,
    *,
    limit: int = 50,
    before: Hit | None = None,
    now: float | None = None,
    portion: Callable[[Answer], None] = lambda answer: None,
    **options: object,
) -> Answer:
    """The next hits of a query behind one; `options` are those of `Search`."""
    return _prepared(reader, query, now, options).page(limit, after=before, portion=portion)


def count(
    reader: Reader,
    query: Query | str,
    *,
    cap: int = COUNT_CAP,
    now: float | None = None,
    **options: object,
) -> Total:
    """The number of hits; `options` are those of `Search`."""
    return _prepared(reader, query, now, options).count(cap)
