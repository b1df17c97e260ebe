"""The options of `prune` as a query: each stands for one filter of its line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import SimpleNamespace

from hermes_browse.store.search.query import query_word

_VALUES = {
    "older_than": "older:",
    "source": "source:",
    "title": "title:",
    "model": "model:",
    "min_messages": "msgs>=",
    "max_messages": "msgs<=",
    "min_size": "size>=",
    "max_size": "size<=",
    "max_cost": "cost<=",
}
"""By argument: what stands before its value."""
_FLAGS = {
    "empty": "is:empty",
    "automation": "is:automation",
    "include_archived": "include:archived",
}
OPTIONS = (*_VALUES, *_FLAGS, "cwd", "stale_open")
"""The arguments that are spellings of filters."""


def line_of(arguments: SimpleNamespace) -> str:
    """Return the query of a clean-up: what was typed as one, and a filter for each option."""
    return " ".join([*arguments.query, *_filters(arguments)])


def _filters(arguments: SimpleNamespace) -> Iterator[str]:
    values_by_name = {name: getattr(arguments, name, None) for name in OPTIONS}
    given = {name: value for name, value in values_by_name.items() if _is_given(value)}
    for name, before in _VALUES.items():
        values = given.get(name, [])
        for value in values if isinstance(values, list) else [values]:
            yield before + query_word(f"{value:.9f}" if isinstance(value, float) else str(value))
    if "cwd" in given:
        yield "cwd:" + query_word(_folder(arguments, str(given["cwd"])))
    for name, written in _FLAGS.items():
        if name in given:
            yield written
    if "stale_open" in given:
        yield _stale(arguments, given)


def _is_given(value: object) -> bool:
    """Whether an option was used; 0 is a value."""
    return value is not None and value is not False and value != []


def _folder(arguments: SimpleNamespace, path: str) -> str:
    """Return the filter's value for a folder and those below it; `~` is expanded on the machine of
    the store."""
    if not path.startswith("~"):
        home_there = "~" if getattr(arguments, "host", None) else os.getcwd()
        path = os.path.normpath(os.path.join(home_there, path))
    return path.rstrip("/") + "/"


def _stale(arguments: SimpleNamespace, given: dict[str, object]) -> str:
    """Return the filter for `--stale-open`: alone it means stale ones only, and an age given beside
    it is their age."""
    others = given.keys() - {"stale_open", "include_archived"} or arguments.query
    if not others:
        return "is:stale"
    return "include:open" if "older_than" in given else "include:stale"
