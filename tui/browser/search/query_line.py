"""What is typed in the search box: parsed, marked, completed from this store, and remembered. The
line of a clean-up is completed alike.

Queries are remembered in a private file that never has results. Each line is a JSON string: a query
that was searched for; with `*` before it one that was kept; with `-` before either one that is so
no longer. Lines are only added, so that two browsers do not take from each other.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hermes_browse.store.files import read_regular, user_folder, write_private
from hermes_browse.store.search.filters import Filter, kinds_for
from hermes_browse.store.search.query import (
    Query,
    Vocabulary,
    parse,
    query_word,
    refusal_of,
    unknown_filters,
    values_of,
)
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.wording import _

from ..panes import Panes
from .box import Offer

_LEAST_NAME = 3
"""Minimum letters before names of filters are offered: fewer are mostly words."""
_LAST = re.compile(r"(?:^|(?<=\s))-?(?:([A-Za-z]+)(:))?([^\s\"]*)$")


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
    every: list[str] = []
    if match[2]:
        every = [
            f"{query_word(value)} "
            for each in kinds
            if each.key == key
            for value in values_of(each, known, now)
            if not (for_cleanup and each.reads_messages(Filter(key, ":", value), now))
        ]
    else:
        typed = typed.lstrip("-")
        if len(typed) >= _LEAST_NAME:
            every = [each.key + each.sign for each in kinds]
    word = typed.casefold()
    choices = tuple(each for each in every if each.casefold().startswith(word))
    if not choices or choices[0].casefold().removesuffix(" ") == word:
        return None
    return Offer(match.end() - len(typed), key, choices)


_MOST = 200
"""Queries of a kind."""
_MOST_LINES = 2_000
"""A longer file is written anew when it is read."""
_MAX_BYTES = 10_000_000
"""A larger file was not written by us."""
_LONGEST = 500
"""Maximum code points of a remembered query; longer ones were pasted."""
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)


def history_path() -> Path:
    """The file of past and kept searches."""
    return user_folder("state") / "searches.jsonl"


def _queries(lines: Iterable[str], sign: str) -> tuple[str, ...]:
    """Return the past queries, or the kept ones with the sign `*`, newest first; skip lines that
    are no JSON string."""
    queries: dict[str, None] = {}
    for line in lines:
        text = line.removeprefix("-").removeprefix("*")
        try:
            query = json.loads(text)
        except ValueError:
            continue
        if isinstance(query, str) and query.strip() and line in (sign + text, f"-{sign}{text}"):
            queries.pop(query, None)
            if not line.startswith("-"):
                queries[query] = None
    return tuple(reversed(queries))[:_MOST]


class QueryHistory:
    """Past and kept searches.

    Args:
        path: The file; None keeps them in memory only.
        say: Called with a message if the file cannot be read or written, also on another thread.
    """

    def __init__(self, path: Path | None, say: Callable[[str], object]) -> None:
        self._path, self._say = path, say
        self._lines: list[str] = []

    def load(self) -> None:
        """Read the file, on any thread; searches made meanwhile stay the newest."""
        if self._path is None:
            return
        try:
            lines = read_regular(self._path, _MAX_BYTES).decode("utf-8", "replace").splitlines()
            if len(lines) > _MOST_LINES:
                lines = [
                    sign + json.dumps(query)
                    for sign in ("*", "")
                    for query in reversed(_queries(lines, sign))
                ]
                write_private(self._path, "".join(f"{line}\n" for line in lines))
        except FileNotFoundError:
            return
        except OSError as error:
            self._say(_("earlier searches cannot be read ({reason})", reason=error.strerror))
            return
        self._lines[:0] = lines

    @property
    def kept(self) -> tuple[str, ...]:
        """Kept searches, newest first."""
        return _queries(self._lines, "*")

    @property
    def past(self) -> tuple[str, ...]:
        """Earlier searches, newest first."""
        return _queries(self._lines, "")

    def add(self, text: str) -> None:
        """Remember a search as the newest."""
        text = text.strip()
        if text and len(text) <= _LONGEST and self.past[:1] != (text,):
            self._append(json.dumps(text))

    def keep(self, text: str) -> bool:
        """Keep a search, or stop keeping it; return whether it is kept now."""
        text = text.strip()[:_LONGEST]
        is_new = text not in self.kept
        self._append(f"{'' if is_new else '-'}*{json.dumps(text)}")
        return is_new

    def forget(self, text: str) -> None:
        self._append(f"-{json.dumps(text)}", f"-*{json.dumps(text)}")

    def _append(self, *lines: str) -> None:
        self._lines += lines
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(self._path, _APPEND, 0o600), "a", encoding="utf-8") as file:
                file.write("".join(f"{line}\n" for line in lines))
        except OSError as error:
            self._say(_("this search cannot be remembered ({reason})", reason=error.strerror))


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
        """In those; more than 0 while the box has an earlier search."""
        self._remark: str | None = None
        """Of a query that was not typed, while it is put into the box."""
        self._vocabulary = Vocabulary()
        self._vocabulary_of: Catalog | None = None

    def edited(self, text: str) -> Typed:
        """Mark and complete the changed text of the box; called within the keystroke."""
        if self._remark is None:
            self._place = 0
        query = parse(text)
        # An incomplete filter that is still being typed is no problem yet.
        is_typed = self._offer(text) or text.endswith((":", "<", ">", "="))
        end = len(text) if is_typed else -1
        problems = [
            problem for problem in (*query.problems, *unknown_filters(query)) if problem.end != end
        ]
        self._main.box.mark(query.filters, problems)
        messages = [*(problem.text for problem in problems), self._remark or ""]
        return Typed(query, [*filter(None, messages)], refusal_of(problems))

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
