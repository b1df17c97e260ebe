"""Which rows may be hits, apart from the words: what the caller admits and what the query's filters ask for."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from ..connect import Reader
from ..sessions.catalog import allowed_sessions, read_catalog
from ..sessions.models import View
from .conditions import MessageCondition, make_conditions
from .query import Query

SessionFilter = Callable[[str], bool] | Collection[str]
"""Whether a session is admitted: a test, or the ids of those that are."""


@dataclass(frozen=True)
class Scope:
    """Which rows may be hits, apart from the words."""

    sessions: Callable[[str], bool] | None = None
    """Whether a session is in the view, source and filters asked for; None admits all."""
    roles: frozenset[str] = frozenset()
    """Only these roles; empty admits all."""
    message: MessageCondition | None = None
    """Filters of the query that look at the row itself."""

    @property
    def is_open(self) -> bool:
        """Nothing is left out."""
        return self.sessions is None and not self.roles and self.message is None


EVERYTHING = Scope()


def _both(one: Callable[[str], bool] | None, other: Callable[[str], bool] | None) -> Callable[[str], bool] | None:
    if one is None or other is None:
        return one or other
    return lambda session_id: one(session_id) and other(session_id)


def make_scope(
    reader: Reader,
    query: Query,
    scope: Scope | None,
    sessions: SessionFilter | None,
    roles: Collection[str],
    now: float | None = None,
) -> Scope:
    """Everything that narrows a search, as one scope.

    A caller that gives a scope has seen to the filters of the query (it may have a catalog at hand
    already); where there is none they are applied here, over the whole store.

    Args:
        reader: An open reader.
        query: Parsed.
        scope: The caller's, or None.
        sessions: More to admit sessions by.
        roles: Only these roles; empty admits all.
        now: Unix seconds, for dates and for what is live.
    """
    found = scope
    if found is None:
        conditions = make_conditions(query, now)
        found = Scope(message=conditions.message)
        if conditions.conversation is not None:
            catalog = read_catalog(reader, time.time() if now is None else now)
            ids = allowed_sessions(catalog, View.ALL, (), conditions.conversation)
            found = replace(found, sessions=ids.__contains__)
    test = sessions if sessions is None or callable(sessions) else frozenset(sessions).__contains__
    wanted = frozenset(roles)
    if wanted:
        wanted = wanted & found.roles if found.roles else wanted
        if not wanted:
            return Scope(sessions=lambda session_id: False)
    return replace(found, sessions=_both(found.sessions, test), roles=wanted or found.roles)
