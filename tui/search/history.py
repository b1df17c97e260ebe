"""The history of queries and the kept ones, in a private file that never has results.

One JSON string per line, oldest first; kept ones are prefixed with `*`. Read and written on
separate threads.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

from hermes_browse.store.files import read_regular
from hermes_browse.store.wording import _

from ..config.folders import write_private

_MOST = 200
_MAX_BYTES = 10_000_000
"""A larger file was not written by us."""
_LONGEST = 500
"""Maximum code points of a remembered query; longer ones were pasted."""


def _parse(lines: str) -> tuple[list[str], list[str]]:
    """Parse the file into past and kept queries, oldest first; skip lines that are no JSON
    string."""
    past: list[str] = []
    kept: list[str] = []
    for line in lines.splitlines():
        try:
            value = json.loads(line.removeprefix("*"))
        except ValueError:
            continue
        if isinstance(value, str) and value.strip():
            (kept if line.startswith("*") else past).append(value)
    return past, kept


class QueryHistory:
    """Past and kept searches, and a position among the past ones.

    Args:
        path: The file; None keeps them in memory only.
        said: Called, on another thread, with a message if the file cannot be read or written.
    """

    def __init__(self, path: Path | None, said: Callable[[str], object]) -> None:
        self._path, self._said = path, said
        self._lock, self._file_lock = threading.Lock(), threading.Lock()
        self._past: list[str] = []
        self._kept: list[str] = []
        self._place: int | None = None
        self._draft = ""
        self._forgotten: set[str] = set()

    def load(self) -> None:
        """Read the file; searches made meanwhile stay the newest."""
        if self._path is None:
            return
        try:
            past, kept = _parse(read_regular(self._path, _MAX_BYTES).decode("utf-8", "replace"))
        except FileNotFoundError:
            return
        except OSError as error:
            self._said(
                _("earlier searches cannot be read ({reason})").format(reason=error.strerror)
            )
            return
        with self._lock:
            self._past = [each for each in past if each not in self._past] + self._past
            self._kept = [each for each in kept if each not in self._kept] + self._kept

    @property
    def kept(self) -> tuple[str, ...]:
        """Kept searches, newest first."""
        with self._lock:
            return tuple(reversed(self._kept))

    @property
    def past(self) -> tuple[str, ...]:
        """Earlier searches, newest first."""
        with self._lock:
            return tuple(reversed(self._past))

    def add(self, text: str) -> None:
        """Remember a search as the newest."""
        text = text.strip()
        self._place = None
        if not text or len(text) > _LONGEST:
            return
        with self._lock:
            if self._past and self._past[-1] == text:
                return
            self._forgotten.discard(text)
            self._past = [*(each for each in self._past if each != text), text][-_MOST:]
        self._save()

    def keep(self, text: str) -> bool:
        """Keep a search, or stop keeping it; return whether it is kept now."""
        text = text.strip()[:_LONGEST]
        with self._lock:
            is_new = text not in self._kept
            (self._forgotten.discard if is_new else self._forgotten.add)(f"*{text}")
            self._kept = [
                *(each for each in self._kept if each != text),
                *([text] if is_new else []),
            ][-_MOST:]
        self._save()
        return is_new

    def forget(self, text: str) -> None:
        """Remove a search from past and kept ones."""
        with self._lock:
            self._forgotten |= {text, f"*{text}"}
            self._past = [each for each in self._past if each != text]
            self._kept = [each for each in self._kept if each != text]
        self._save()

    @property
    def is_walked(self) -> bool:
        """Whether the box has an earlier search."""
        return self._place is not None

    def stop(self) -> None:
        """Reset the position to the newest after the text was edited."""
        self._place = None

    def older(self, text: str) -> str | None:
        """Step to the previous search; None at the oldest.

        The first step saves the text of the box, for `newer` to return last.
        """
        with self._lock:
            past = self._past
            place = self._place if self._place is not None else len(past)
            if self._place is None:
                self._draft = text
            place = min(place, len(past)) - 1
            while place >= 0 and past[place] == text:
                place -= 1
            if place < 0:
                return None
            self._place = place
            return past[place]

    def newer(self) -> str | None:
        """Step to the next search, finally to the saved text; None if `older` was not called
        before."""
        with self._lock:
            if self._place is None:
                return None
            self._place += 1
            if self._place < len(self._past):
                return self._past[self._place]
            self._place = None
            return self._draft

    def _save(self) -> None:
        if self._path is not None:
            threading.Thread(
                target=self._write, name="history"
            ).start()  # no daemon: the program waits for it

    def _merge(self) -> list[str]:
        """Return the lines to write, merged with what another browser has written meanwhile."""
        assert self._path is not None
        try:
            past, kept = _parse(read_regular(self._path, _MAX_BYTES).decode("utf-8", "replace"))
        except FileNotFoundError:
            past, kept = [], []
        with self._lock:
            gone = self._forgotten
            past = [
                each for each in past if each not in self._past and each not in gone
            ] + self._past
            kept = [
                each for each in kept if each not in self._kept and f"*{each}" not in gone
            ] + self._kept
        return [f"*{json.dumps(each)}" for each in kept[-_MOST:]] + [
            json.dumps(each) for each in past[-_MOST:]
        ]

    def _write(self) -> None:
        path = self._path
        assert path is not None
        with self._file_lock:
            try:
                write_private(path, "\n".join(self._merge()) + "\n")
            except OSError as error:
                self._said(
                    _("this search cannot be remembered ({reason})").format(reason=error.strerror)
                )
