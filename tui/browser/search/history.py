"""The history of queries and the kept ones, in a private file that never has results.

Each line is a JSON string: a query that was searched for; with `*` before it one that was kept;
with `-` before either one that is so no longer. Lines are only added, so that two browsers do not
take from each other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from hermes_browse.store.files import read_regular, user_folder, write_private
from hermes_browse.store.wording import _

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
    """Past and kept searches, and a position among the past ones.

    Args:
        path: The file; None keeps them in memory only.
        say: Called with a message if the file cannot be read or written, also on another thread.
    """

    def __init__(self, path: Path | None, say: Callable[[str], object]) -> None:
        self._path, self._say = path, say
        self._lines: list[str] = []
        self._walk: list[str] = []
        """The text of the box, and the queries before it."""
        self._place = 0
        """In those."""

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
        self.stop()
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

    @property
    def is_walked(self) -> bool:
        """Whether the box has an earlier search."""
        return self._place > 0

    def stop(self) -> None:
        self._place = 0

    def step(self, by: int, text: str) -> str | None:
        """Step to the next older search (1) or back (-1), finally to the text of the box, which the
        first step saves; None at either end."""
        if not self.is_walked:
            self._walk = [text, *(query for query in self.past if query != text)]
        if not 0 <= self._place + by < len(self._walk):
            return None
        self._place += by
        return self._walk[self._place]
