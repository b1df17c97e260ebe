"""Which rows may be hits, apart from the words: the filters of a query, a view, sources, roles."""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from typing import NamedTuple

from ..connection.reader import Reader
from ..sessions.catalog import Catalog, read_catalog
from ..sessions.models import View
from ..text import as_text
from .conversation_table import EVERYTHING, Condition, Known, all_of, any_of, table_of, without
from .filters import BY_KEY
from .query import Query


class Conditions(NamedTuple):
    """The filters of a query as two conditions."""

    rows: Condition = EVERYTHING
    """On `messages m`."""
    conversations: Condition = EVERYTHING
    """On `conversations c`."""
    costly: Condition = EVERYTHING
    """On their messages and bytes, which must be counted and measured first."""

    @property
    def needs_catalog(self) -> bool:
        """Whether conversations are tested, so that all of them must have been read."""
        return self.conversations != EVERYTHING or self.costly != EVERYTHING


def compile_filters(query: Query, now: float | None = None) -> Conditions:
    """Return the conditions for the filters of a query; `now` is in Unix seconds, for dates.

    Filters of one key are alternatives (`source:cli source:tui`), and so are states of one kind
    (`is:live is:open`). Filters of different keys and negated filters (`-source:cron -source:tool`)
    must all hold.
    """
    moment = time.time() if now is None else now
    groups: dict[object, list[Condition]] = {}
    for each in query.filters:
        kind = BY_KEY[each.key]
        if kind.is_cleanup_only:
            continue
        condition = kind.condition(each, moment)
        # Alternatives share a group; a limit or an exclusion is a group of its own.
        is_alternative = not each.negated and each.op in (":", "=") and not kind.is_limit
        group: object = (each.key, kind.facet(each.value)) if is_alternative else each
        place = _place(condition)
        groups.setdefault((place, group), []).append(
            without(condition) if each.negated else condition
        )
    found: dict[str, list[Condition]] = {"rows": [], "conversations": [], "costly": []}
    for alternatives in groups.values():
        found[_place(alternatives[0])].append(any_of(alternatives))
    return Conditions(**{place: all_of(several) for place, several in found.items()})


def _place(condition: Condition) -> str:
    if "c." not in condition.sql:
        return "rows"
    return (
        "costly" if "c.messages" in condition.sql or "c.size" in condition.sql else "conversations"
    )


class Scope(NamedTuple):
    """Which rows may be hits, apart from the words."""

    rows: Condition = EVERYTHING
    """A condition on `messages m`."""
    sessions: frozenset[str] | None = None
    """Ids of the sessions they are in; None for all."""

    def condition(self) -> Condition:
        """Return it as one condition on `messages m`."""
        if self.sessions is None:
            return self.rows
        ids = json.dumps(sorted(self.sessions))
        inside = Condition("m.session_id IN (SELECT value FROM json_each(?))", (ids,))
        return all_of([self.rows, inside])


def make_scope(
    reader: Reader,
    conditions: Conditions,
    catalog: Catalog | None,
    view: View = View.ALL,
    *,
    sources: Collection[str] = (),
    roles: Collection[str] = (),
) -> Scope:
    """Return the scope of some conditions, in a view, in conversations whose roots have a source,
    and for roles.

    The catalog is of the whole store; it may be None if conditions, view and sources need none.
    """
    rows = conditions.rows
    if roles:
        marks = ", ".join("?" * len(roles))
        names = tuple(as_text(each) for each in roles)  # a lone surrogate cannot be bound
        role = Condition(f"COALESCE(CAST(m.role AS TEXT), 'unknown') IN ({marks})", names)
        rows = all_of([rows, role])
    if catalog is None or (not conditions.needs_catalog and view is View.ALL and not sources):
        return Scope(rows)
    forest = catalog.forest
    chosen = [forest.chain_of(root) for root in roots_in(reader, conditions, catalog, view)]
    sessions = frozenset(
        segment.id
        for conversation in chosen
        if not sources or conversation.source in sources
        for segment in conversation.segments
    )
    return Scope(rows, sessions)


def roots_in(
    reader: Reader,
    conditions: Conditions,
    catalog: Catalog,
    view: View = View.ALL,
    known: Known | None = None,
) -> list[str]:
    """Return the root ids of the conversations of a view that pass the filters of a query.

    `known` is a cache of sizes by session id, and is added to where a filter is on bytes.
    """
    shown = EVERYTHING if view is View.ALL else Condition("c.view = ?", (view.value,))
    condition = all_of([conditions.conversations, shown])
    return table_of(catalog).roots(condition, reader, costly=conditions.costly, known=known)


def read_scope(reader: Reader, query: Query, now: float | None = None) -> Scope:
    """Return the scope of a query's filters in the whole store; reads all sessions where a filter
    tests those."""
    moment = time.time() if now is None else now
    conditions = compile_filters(query, moment)
    catalog = read_catalog(reader, moment) if conditions.needs_catalog else None
    return make_scope(reader, conditions, catalog)
