"""Run the browser: paint the first rows before Textual is imported, which takes ten times as long as
reading and painting them.

Textual's first frame has the same rows in the same places and colours, so the handover cannot be
seen. This is done on terminals with true colours only. The terminal leaves canonical mode and
echoes nothing from the first byte on; keys pressed meanwhile move the cursor or are kept for
Textual, and letters of a query are shown; every exit restores the terminal.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from shutil import get_terminal_size
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location, notes_file
from hermes_browse.store.sessions.models import Sort, View
from hermes_browse.store.text import one_line, printable

from .browser.list.columns import ListLayout, order_name, shown_line, view_labels
from .browser.list.list_model import FirstPage, Order, make_rows, read_first
from .browser.list.rows import family_heading, spans_of
from .settings.start import Start, has_head, memory_path, read_start, write_memory
from .terminal.handover import EarlyKeys, Handover
from .text.formats import clip, fitting
from .text.glyphs import is_unicode
from .widgets.list_rows import NoteRow

if TYPE_CHECKING:
    from hermes_browse.store.hermes.resume_command import ResumePlan
    from hermes_browse.store.hosts.connection import Links


Colour = tuple[int, int, int]


_ABOVE = 3
"""Lines above the list and its header row."""
DIM = 0.66
"""The share of the foreground in the colour of dim text."""

_LOOKS = {
    "plain": ("foreground", False, ""),
    "title": ("foreground", False, ""),
    "dim": ("foreground", True, ""),
    "note": ("foreground", True, "3;"),
    "accent": ("accent", False, ""),
    "live": ("success", False, "1;"),
    "hit": ("accent", False, "1;4;"),
    "tag-0": ("accent", False, ""),
    "tag-1": ("success", False, ""),
    "tag-2": ("foreground", False, ""),
}
"""By look: field of the palette, whether it is dim, SGR attributes, each with its semicolon."""


class Palette(NamedTuple):
    """The colours of a theme as Textual computes them; a test compares the two."""

    background: Colour
    foreground: Colour
    panel: Colour
    accent: Colour
    success: Colour
    cursor: Colour

    def text(
        self, text: str, look: str = "plain", *, on: str = "background", attributes: str = ""
    ) -> str:
        """Return a text as escape sequences.

        Args:
            look: A key of `_LOOKS`.
            on: The field of the background.
            attributes: Of SGR, beside those of the look.
        """
        name, is_dim, own = _LOOKS[look]
        front = getattr(self, name)
        back = getattr(self, on)
        if is_dim:
            front = [int(b + (f - b) * DIM) for f, b in zip(front, back, strict=True)]
        colours = ";".join(map(str, (38, 2, *front, 48, 2, *back)))
        return f"\x1b[0;{attributes}{own}{colours}m{printable(text)}"


PALETTES = {
    "hermes-dark": Palette(
        (22, 23, 26), (213, 211, 205), (36, 38, 43), (215, 166, 87), (143, 181, 115), (80, 65, 44)
    ),
    "hermes-light": Palette(
        (250, 249, 246), (38, 40, 44), (234, 232, 226), (137, 90, 0), (60, 107, 33), (216, 201, 172)
    ),
}
"""Themes that can be painted ahead."""


def is_possible() -> bool:
    """Whether this terminal has true colours and UTF-8, and no variable changes Textual's look or
    driver."""
    env = os.environ
    return (
        sys.platform != "win32"
        and env.get("COLORTERM", "").lower() in ("truecolor", "24bit")
        and is_unicode(getattr(sys.__stderr__, "encoding", None))
        and env.keys().isdisjoint(("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_DRIVER"))
        and env.get("TERM", "dumb") != "dumb"
        and all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    )


def _view_line(first: FirstPage, palette: Palette, width: int) -> str:
    suffix = f"↓ {order_name(Sort.ACTIVITY)}"
    line = palette.text(" ")
    for label, is_current in view_labels(first.catalog, View.CHATS, suffix, width):
        look, attributes = ("plain", "1;7;") if is_current else ("dim", "")
        line += palette.text(f" {label} ", look, attributes=attributes) + palette.text(" ")
    return line + palette.text(f"  {suffix}", "dim")


class _PaintedRows:
    """The rows of the list that fit on the screen; `size` has the columns and lines of the
    terminal."""

    def __init__(self, first: FirstPage, size: tuple[int, int], now: float, start: Start) -> None:
        self.first = first
        self.size = size
        self.palette = PALETTES[start.theme]
        self._now = now
        self._columns = ListLayout(start.options.columns)
        self._rows = make_rows(first.catalog, first.details, View.CHATS, Order())
        self._width, height = start.pane_sizes.of(size[0], size[1] - 5)
        self._has_head = has_head(*size)
        self._above = _ABOVE + self._has_head
        self.shown = max(min(height - self._has_head, len(self._rows)), 0)
        """The number of rows that fit."""
        self.movable = 0 if isinstance(self._rows.row(0), NoteRow) else self.shown
        """The number of rows that can have the cursor: 0 if the only row is a note."""

    def head(self) -> list[str]:
        """The names of the columns as escape sequences; none where there is no room for them."""
        if not self._has_head:
            return []
        extra = family_heading(map(self._rows.row, range(self.shown)))
        names = self._columns.head(self._width - 1, extra)
        return ["".join(self.palette.text(text, look) for text, look, _sort in names)]

    def line(self, index: int, *, is_current: bool) -> str:
        spans = spans_of(self._rows.row(index), self._width - 1, self._now, self._columns)
        look = {"on": "cursor", "attributes": "1;"} if is_current else {}
        if is_current:
            spans[0] = ("▌" + spans[0][0][1:], spans[0][1])
        return "".join(self.palette.text(*span, **look) for span in spans)

    def move(self, before: int, after: int) -> None:
        """Move the cursor from one row to another on the terminal."""
        lines = (
            f"\x1b[{self._above + index + 1};1H{self.line(index, is_current=index == after)}"
            for index in (before, after)
        )
        os.write(sys.stderr.fileno(), f"{''.join(lines)}\x1b[0m".encode())

    def show_query(self, query: str) -> None:
        """Show what is typed in the search box, as if that had the focus."""
        box = self.palette.text(" ", "accent", on="panel", attributes="7;")
        box += self.palette.text(clip(f" {query}", self.size[0] - 1), on="panel")
        os.write(sys.stderr.fileno(), f"\x1b[2;1H{box}\x1b[0m".encode())

    def is_current(self) -> bool:
        """Return whether the terminal still has the size for which they were painted."""
        return get_terminal_size() == self.size


def _title_line(first: FirstPage, location: Location, palette: Palette, width: int) -> str:
    left = " hermes-browse  "
    name = one_line(location.name, 30)
    room = width - cell_len(left + name) - 1
    summary = fitting(shown_line(first.catalog, View.CHATS), room - 2)
    summary = clip(" " * max(room - cell_len(summary), 2) + summary, room + 1)
    title = palette.text(left, attributes="1;") + palette.text(name, "accent")
    return title + palette.text(summary, "dim")


def _frame(rows: _PaintedRows, location: Location) -> str:
    """Return the first screen as escape sequences."""
    width, height = rows.size
    text = rows.palette.text
    lines = [
        _title_line(rows.first, location, rows.palette, width),
        text(" " * width, on="panel"),
        _view_line(rows.first, rows.palette, width),
        *rows.head(),
        *(rows.line(index, is_current=index == 0) for index in range(rows.shown)),
    ]
    placed = "".join(f"\x1b[{number};1H{line}" for number, line in enumerate(lines, 1))
    note = clip(f" {one_line(location.note, 400)}", width)
    status = f"\x1b[{height - 1};1H{text(note, 'dim')}"
    keys = f"\x1b[{height};1H{text(' ' * width, on='panel')}"
    return f"\x1b[?1049h\x1b[?25l{text('')}\x1b[2J{placed}{status}{keys}\x1b[0m"


def painter(
    first: FirstPage, location: Location, now: float, start: Start
) -> Callable[[], EarlyKeys | None] | None:
    """Return a function that paints the first rows and returns the handler of early keys (None if
    the user configured keys). Return None if nothing can be painted ahead.

    Args:
        now: Unix seconds.
    """

    def paint() -> EarlyKeys | None:
        rows = _PaintedRows(first, get_terminal_size(), now, start)
        os.write(sys.stderr.fileno(), _frame(rows, location).encode())
        if start.options.keys:
            return None
        return EarlyKeys(sys.stdin.fileno(), rows)

    is_usual = start.can_be_painted_ahead and start.theme in PALETTES
    return paint if is_usual and is_possible() else None


def run_browser(
    location: Location,
    *,
    is_printed: bool = False,
    store: Store | None = None,
    links: Links | None = None,
) -> tuple[int, ResumePlan | None]:
    """Run the browser on a store until it ends.

    Args:
        is_printed: The chosen command will be printed, not run, so it may be one that cannot run
            here.
        store: The store at the location, if it is on a host.
        links: The connections to hosts, if one is open already.

    Returns:
        The exit code, and the plan of what to resume.

    Raises:
        StoreError: The store cannot be read at all; raised before anything is painted.
    """
    # The longest the screen waits for a thread that computes. Python's default of 5 ms is a third
    # of a frame, several times in each.
    sys.setswitchinterval(0.001)
    gc.disable()  # nothing is garbage yet, and searching for it takes a tenth of the start
    store = store or Store(location.path, notes=notes_file(location))
    now = time.time()
    start = read_start()
    first = read_first(store, now, get_terminal_size().lines)
    with Handover().taken(painter(first, location, now, start)) as handover:
        os.environ.setdefault("TEXTUAL_FPS", "240")  # results from threads wait for the next frame
        from .app import BrowseApp  # imported after the first rows are painted

        app = BrowseApp(location, store, first, handover=handover, startup=start)
        app.is_choice_printed = is_printed
        if links is not None:
            app.links = links
        handover.is_done = True
        try:
            plan = app.run(mouse=start.options.mouse)
        finally:
            app.stop_input()
    memory = app.new_memory()
    if memory != start.memory or start.is_first:
        write_memory(memory_path(), memory)
    return app.return_code or 0, plan
