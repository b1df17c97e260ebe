"""Searches that are kept, and those made earlier: the file that has them, and the card that lists
them with the tags.

The file is private, and never has results. Each line is a query as a JSON string; with `*` before it
the query was kept, with `-` before that it was removed again. Lines are only added, so that two
browsers do not take from each other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from textual.content import Content
from textual.widgets import Input
from textual.widgets.option_list import Option

from hermes_browse.store.files import read_regular, user_folder, write_private
from hermes_browse.store.notes.tagging import tags_of
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...settings.keys.screen_commands import SEARCHES
from ...widgets.card import NarrowCard

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


class TagChoice(NamedTuple):
    """What to do with a tag that was chosen on the card."""

    name: str
    is_removed: bool
    """Else it gets another name."""


class SearchesCard(NarrowCard[TagChoice]):
    """Returns the search chosen, or a tag to rename or remove, or None.

    Args:
        history: Kept and earlier searches.
        catalog: Each of its tags is a search for the conversations that have it.
    """

    ENTER = N_("Enter take")
    KEYS = SEARCHES
    PROMPT = N_("searches: type to narrow")

    def __init__(self, history: QueryHistory, catalog: Catalog) -> None:
        super().__init__()
        self._history = history
        self._tags = {f"tag:{each.name}": each for each in tags_of(catalog.conversations())}

    def fill(self, typed: str, at: int = 0) -> None:
        kept, past = self._history.kept, self._history.past
        every = list(dict.fromkeys([*kept, *self._tags, *past]))
        words = typed.casefold().split()
        shown = [each for each in every if all(word in each.casefold() for word in words)]
        rows = [Option(self._line(each, is_kept=each in kept), id=each) for each in shown]
        if not rows:
            none = _("no searches yet: Enter in the search box remembers one")
            rows = [Option(Content(_("no search matches") if every else none), disabled=True)]
        self.show(rows, min(at, len(shown) - 1) if shown else None)

    def _line(self, search: str, *, is_kept: bool) -> Content:
        text = one_line(search, 300)
        if is_kept:
            return Content(f"★ {text}")
        if search not in self._tags:
            return Content(f"  {text}")
        return Content.assemble(f"# {text}", (f"  {self._tags[search].conversations:,}", "dim"))

    def _change(self, change: Callable[[str], object]) -> None:
        if self.current is not None:
            at = self.options.highlighted or 0
            change(self.current)
            self.fill(self.query_one(Input).value, at)

    def action_keep(self) -> None:
        self._change(self._history.keep)

    def action_forget(self) -> None:
        """Remove the search from the history, or the tag from all conversations."""
        if self.current in self._tags:
            self.dismiss(TagChoice(self._tags[self.current].name, is_removed=True))
        else:
            self._change(self._history.forget)

    def action_rename(self) -> None:
        if self.current in self._tags:
            self.dismiss(TagChoice(self._tags[self.current].name, is_removed=False))
