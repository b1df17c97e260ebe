"""Completion of a search query: names of filters, and their values in this store."""

from __future__ import annotations

import re
from typing import NamedTuple

from hermes_browse.store.search import FILTERS, Vocabulary
from hermes_browse.store.search.query import quoted

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

    def apply(self, text: str, choice: int = 0) -> str:
        """Return the query with a choice applied."""
        return text[: self.start] + self.choices[choice]


def complete(text: str, known: Vocabulary, now: float) -> Offer | None:
    """Complete the word at the end of a query; None if there is no completion.

    Args:
        text: The query up to the cursor.
        known: The values of the store.
        now: Unix seconds, for dates.
    """
    match = _LAST.search(text)
    if match is None or text.count('"') % 2:
        return None
    key, typed = (match[1] or "").lower(), match[3]
    start = match.start(3) if match[2] else match.end() - len(typed.lstrip("-"))
    if match[2]:
        values = [quoted(value) for each in FILTERS if each.key == key for value in each.values(known, now)]
        choices = [f"{each} " for each in values if each.casefold().startswith(typed.casefold())]
        if choices and choices[0].casefold() == f"{typed.casefold()} ":
            return None
        return Offer(start, key, tuple(choices)) if choices else None
    word = typed.lstrip("-").casefold()
    if len(word) < _LEAST_NAME:
        return None
    names = [each.key + each.sign for each in FILTERS]
    matching = tuple(name for name in names if name.startswith(word) and name != word)
    return Offer(start, "", matching) if matching else None
