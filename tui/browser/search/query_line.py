"""What is typed in the search box: parsed, marked, completed from this store, and remembered. The
line of a clean-up is completed alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from hermes_browse.store.search.filters import Filter, kinds_for
from hermes_browse.store.search.query import (
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
from .history import QueryHistory, history_path

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
        self.offered: Offer | None = None
        """Completions of the end of the query."""
        self._recalling = False
        self._remark = ""
        self._vocabulary: Vocabulary | None = None
        self._vocabulary_of: Catalog | None = None

    def edited(self, text: str) -> Typed:
        """Mark and complete the changed text of the box; called within the keystroke."""
        if not self._recalling:
            self.history.stop()
        query = parse(text)
        self._offer(text)
        # An incomplete filter that is still being typed is no problem yet.
        is_typed = self.offered is not None or text.endswith((":", "<", ">", "="))
        end = len(text) if is_typed else -1
        problems = [
            problem for problem in (*query.problems, *unknown_filters(query)) if problem.end != end
        ]
        marks = [("filter", each.start, each.end) for each in query.filters]
        marks += [("problem", problem.start, problem.end) for problem in problems]
        self._main.box.marks = marks
        messages = [problem.text for problem in problems]
        refusal = next((problem.text for problem in problems if problem.is_value), "")
        return Typed(query, [*messages, self._remark] if self._remark else messages, refusal)

    def recall(self, key: str) -> bool:
        """Put the previous or next search of the history into the box.

        Args:
            key: `up` in an empty box or with the cursor on the first row; then `down`. Others do
                nothing.

        Returns:
            Whether the key was handled.
        """
        main, box, history = self._main, self._main.box, self.history
        if key == "up" and (not box.value or history.is_walked or main.rows.cursor == 0):
            text = history.older(box.value)
            if text is None:
                main.say(_("no earlier search"))
                return True
        elif key == "down" and history.is_walked:
            text = history.newer()
        else:
            return False
        if text is not None:
            self.put(text)
        return True

    def put(self, text: str, remark: str = "") -> None:
        """Search for a text that was not typed; `remark` is shown with the results."""
        self._recalling, self._remark = True, remark
        try:
            self._main.box.value = text
        finally:
            self._recalling, self._remark = False, ""
        self._main.box.cursor_position = len(text)

    def remember(self) -> None:
        self.history.add(self._main.box.value)

    def keep(self) -> None:
        text = self._main.box.value.strip()
        if text:
            kept = self.history.keep(text)
            self._main.say(
                _("search kept: Ctrl+R lists it") if kept else _("search no longer kept")
            )

    def _offer(self, text: str) -> None:
        """Offer completions of the end of the query: the first behind the cursor, all above the
        list."""
        main, vocabulary = self._main, self._vocabulary or Vocabulary()
        self.offered = offered = complete(text, vocabulary, main.clock()) if text else None
        main.box.offer(text[: offered.start] + offered.choices[0] if offered is not None else "")
        main.offered = offered.choices if offered is not None and offered.key else ()
        if ":" in text and self._vocabulary_of is not main.catalog:
            self._vocabulary_of = main.catalog
            main.start("vocabulary", self._read_vocabulary, main.catalog, text)

    async def _read_vocabulary(self, catalog: Catalog, text: str) -> None:
        self._vocabulary = await self._main.read(lambda store: store.vocabulary(catalog))
        if self._main.box.value == text:
            self._offer(text)
