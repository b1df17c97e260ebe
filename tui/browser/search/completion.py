"""Completion of filters and of their values in a store, for the search box and for the line of a
clean-up."""

from __future__ import annotations

import re
from typing import NamedTuple

from hermes_browse.store.search.filters import Filter, kinds_for
from hermes_browse.store.search.query import Vocabulary, query_word, values_of

_LEAST_NAME = 3
"""Minimum letters before names of filters are offered: fewer are mostly words."""
_LAST = re.compile(r"(?:^|(?<=\s))-?(?:([A-Za-z]+)(:))?([^\s\"]*)$")


class Offer(NamedTuple):
    """Completions of the end of a query."""

    start: int
    """Index where the replaced text begins."""
    key: str
    """The filter whose values these are; empty for names of filters."""
    choices: tuple[str, ...]
    """Full texts, the likeliest first; never empty."""


def complete(
    text: str, known: Vocabulary, now: float, *, for_cleanup: bool = False
) -> Offer | None:
    """Complete the word at the end of a query with values of the store; None if there is no
    completion.

    `now` is in Unix seconds, for dates. A clean-up is offered what it takes.
    """
    kinds = kinds_for(for_cleanup=for_cleanup)
    match = _LAST.search(text)
    if match is None or text.count('"') % 2:
        return None
    key, typed = (match[1] or "").lower(), match[3]
    start = match.start(3) if match[2] else match.end() - len(typed.lstrip("-"))
    if match[2]:
        values = [
            query_word(value)
            for each in kinds
            if each.key == key
            for value in values_of(each, known, now)
            if not (for_cleanup and each.reads_messages(Filter(key, ":", value), now))
        ]
        choices = [f"{each} " for each in values if each.casefold().startswith(typed.casefold())]
        if choices and choices[0].casefold() == f"{typed.casefold()} ":
            return None
        return Offer(start, key, tuple(choices)) if choices else None
    word = typed.lstrip("-").casefold()
    if len(word) < _LEAST_NAME:
        return None
    names = [each.key + each.sign for each in kinds]
    matching = tuple(name for name in names if name.startswith(word) and name != word)
    return Offer(start, "", matching) if matching else None
