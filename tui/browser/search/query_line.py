"""What is typed in the search box: parsed, marked, completed from this store, and remembered. The
line of a clean-up is completed alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from hermes_browse.store.search.filters import Filter, kinds_for
from hermes_browse.store.search.query import (
    USUAL,
    Query,
    Vocabulary,
    parse,
    query_word,
    unknown_filters,
    values_of,
)
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.wording import _

from ..panes import Panes
from .box import Offer
from .history import QueryHistory, history_path

_LEAST_NAME = 3
"""Minimum letters before names of filters are offered: fewer are mostly words."""
_LAST = re.compile(r"(?:^|(?<=\s))-?(?:([A-Za-z]+):)?([^\s\"]*)$")


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
    key, typed = (match[1] or "").lower(), match[2]
    if key:
        every = [
            f"{query_word(value)} "
            for each in kinds
            if each.key == key
            for value in values_of(each, known, now)
            if not (for_cleanup and each.reads_messages(Filter(key, ":", value), now))
        ]
    else:
        typed = typed.lstrip("-")
        every = [each.key + each.sign for each in kinds] if len(typed) >= _LEAST_NAME else []
    word = typed.casefold()
    choices = tuple(each for each in every if each.casefold().startswith(word))
    if not choices or choices[0].casefold().removesuffix(" ") == word:
        return None
    return Offer(match.end() - len(typed), key, choices)


class Typed(NamedTuple):
    """A query and what is wrong with it."""

    query: Query
    problems: Sequence[str] = ()
    """Messages about parts that could not be understood."""
    refusal: str = ""
    """Why it must not be run: without the filter that has a wrong value it would find too much."""

    @property
    def words(self) -> str:
        return " · ".join(self.problems)


class QueryLine:
    """Parses the query at each keystroke."""

    def __init__(self, main: Panes) -> None:
        self._main = main
        path = None if main.location.demo else history_path()  # searches of the demo are not saved
        self.history = QueryHistory(path, partial(main.call_later, main.say))
        self._walk: list[str] = []
        """What was typed, and the searches before it."""
        self._place = 0
        """Which of these the box has; 0 while it has what was typed."""
        self._remark: str | None = None
        """Of a query that was not typed, while it is put into the box."""
        self._vocabulary = USUAL
        self._vocabulary_of: Catalog | None = None

    def edited(self, text: str) -> Typed:
        """Mark and complete the changed text of the box; called within the keystroke."""
        if self._remark is None:
            self._place = 0
        query = parse(text)
        found = (*query.problems, *unknown_filters(query))
        problems = self._main.box.mark(query.filters, found, is_typed=self._offer(text))
        messages = [*(problem.text for problem in problems), self._remark or ""]
        refusal = query._replace(problems=tuple(problems)).refusal
        return Typed(query, [*filter(None, messages)], refusal)

    def recall(self, by: int) -> bool:
        """Put the previous search of the history into the box (-1), from an empty box or the first
        row on, or the next one (1); return False where the history is not walked."""
        main, typed = self._main, self._main.box.value
        if self._place == 0:
            if by > 0 or (typed and main.rows.cursor > 0):
                return False
            self._walk = [typed, *(query for query in self.history.past if query != typed)]
        place = self._place - by
        if not 0 <= place < len(self._walk):
            main.say(_("no earlier search"))
            return True
        self._place = place
        self.put(self._walk[place])
        return True

    def put(self, text: str, remark: str = "") -> None:
        """Search for a text that was not typed; `remark` is shown with the results."""
        self._remark = remark
        try:
            self._main.box.value = text
        finally:
            self._remark = None
        self._main.box.cursor_position = len(text)

    def remember(self) -> None:
        self._place = 0
        self.history.add(self._main.box.value)

    def keep(self) -> None:
        text = self._main.box.value.strip()
        if text and self.history.keep(text):
            self._main.say(_("search kept: Ctrl+R lists it"))
        elif text:
            self._main.say(_("search no longer kept"))

    def _offer(self, text: str) -> bool:
        """Offer completions of the end of the query: the first behind the cursor, all above the
        list; return whether there are any."""
        main = self._main
        offered = complete(text, self._vocabulary, main.clock())
        main.box.offer(offered)
        main.offered = offered.choices if offered is not None and offered.key else ()
        if ":" in text and self._vocabulary_of is not main.catalog:
            self._vocabulary_of = main.catalog
            main.start("vocabulary", self._read_vocabulary, main.catalog, text)
        return offered is not None

    async def _read_vocabulary(self, catalog: Catalog, text: str) -> None:
        self._vocabulary = await self._main.read(lambda store: store.vocabulary(catalog))
        if self._main.box.value == text:
            self._offer(text)
