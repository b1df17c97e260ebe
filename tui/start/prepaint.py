"""Paint the first rows before Textual is imported, which takes ten times as long as reading and
painting them.

Textual's first frame has the same rows in the same places and colours, so the handover cannot be
seen. This is done on terminals with true colours only. The terminal leaves canonical mode and
echoes nothing from the first byte on; keys pressed meanwhile move the cursor or are kept for
Textual; every exit restores the terminal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Sort, View
from hermes_browse.store.text import one_line, printable

from ..browser.list.columns import ListLayout
from ..browser.list.conversation_rows import ConversationRow, JobRow, family_heading
from ..browser.list.list_model import Order, make_rows
from ..browser.list.row_details import RowDetails
from ..browser.list.views import order_name, shown_line, view_labels
from ..settings.pane_sizes import has_head
from ..terminal.handover import ENDING, Handover
from ..text.formats import clip, fit
from ..text.glyphs import is_unicode
from ..widgets.list_rows import NoteRow

if sys.platform != "win32":
    import termios

if TYPE_CHECKING:
    from ..settings.start import Start
    from ..terminal.early_keys import EarlyKeys

Colour = tuple[int, int, int]


class Palette(NamedTuple):
    """The colours of a theme as Textual computes them; a test compares the two."""

    background: Colour
    foreground: Colour
    panel: Colour
    accent: Colour
    success: Colour
    cursor: Colour


PALETTES = {
    "hermes-dark": Palette(
        (22, 23, 26), (213, 211, 205), (36, 38, 43), (215, 166, 87), (143, 181, 115), (80, 65, 44)
    ),
    "hermes-light": Palette(
        (250, 249, 246), (38, 40, 44), (234, 232, 226), (137, 90, 0), (60, 107, 33), (216, 201, 172)
    ),
}
"""Themes that can be painted ahead."""
_ABOVE = 3
"""Lines above the list and its header row."""
DIM = 0.66
"""The share of the foreground in the colour of dim text."""

_LOOKS: dict[str, tuple[str, bool, str]] = {
    "title": ("foreground", False, ""),
    "plain": ("foreground", False, ""),
    "dim": ("foreground", True, ""),
    "note": ("foreground", True, "3"),
    "accent": ("accent", False, ""),
    "live": ("success", False, "1"),
    "hit": ("accent", False, "1;4"),
    "tag-0": ("accent", False, ""),
    "tag-1": ("success", False, ""),
    "tag-2": ("foreground", False, ""),
}
"""By look: field of the palette, whether it is dim, SGR attributes."""


def _dimmed(colour: Colour, background: Colour) -> Colour:
    red, green, blue = (int(b + (c - b) * DIM) for c, b in zip(colour, background, strict=True))
    return red, green, blue


def _sgr(text: str, colour: Colour, background: Colour, attributes: str = "") -> str:
    front, back = ";".join(map(str, colour)), ";".join(map(str, background))
    return (
        f"\x1b[0;{attributes + ';' if attributes else ''}38;2;{front};48;2;{back}m{printable(text)}"
    )


def is_possible() -> bool:
    """Whether this terminal has true colours and UTF-8, and no variable changes Textual's look or
    driver."""
    env = os.environ
    if sys.platform == "win32" or env.get("COLORTERM", "").lower() not in ("truecolor", "24bit"):
        return False
    if not is_unicode(getattr(sys.__stderr__, "encoding", None)):
        return False
    if any(name in env for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_DRIVER")):
        return False
    return (
        env.get("TERM", "dumb") != "dumb"
        and sys.stdin.isatty()
        and sys.stdout.isatty()
        and sys.stderr.isatty()
    )


def terminal_size() -> tuple[int, int]:
    """Return columns and lines like `shutil.get_terminal_size`, which Textual uses.

    Importing `shutil` takes as long as painting.
    """
    values = [os.environ.get(name, "") for name in ("COLUMNS", "LINES")]
    columns, lines = (int(text) if text.isdecimal() else 0 for text in values)
    if not columns or not lines:
        try:
            size = os.get_terminal_size(
                sys.__stdout__.fileno() if sys.__stdout__ is not None else 1
            )
        except (OSError, ValueError):  # no terminal, or its stream is closed
            size = os.terminal_size((80, 24))
        columns, lines = columns or size.columns or 80, lines or size.lines or 24
    return columns, lines


def _view_line(catalog: Catalog, palette: Palette, width: int) -> str:
    background, foreground = palette.background, palette.foreground
    muted = _dimmed(foreground, background)
    suffix = f"↓ {order_name(Sort.ACTIVITY)}"
    line = _sgr(" ", foreground, background)
    for label, is_current in view_labels(catalog, View.CHATS, suffix, width):
        line += _sgr(
            f" {label} ",
            foreground if is_current else muted,
            background,
            "1;7" if is_current else "",
        )
        line += _sgr(" ", foreground, background)
    return line + _sgr(f"  {suffix}", muted, background)


class _PaintedRows:
    """The rows of the list that fit on the screen; `size` has the columns and lines of the
    terminal."""

    def __init__(
        self,
        catalog: Catalog,
        shown: Sequence[Conversation],
        size: tuple[int, int],
        now: float,
        start: Start,
    ) -> None:
        details = RowDetails()
        details.add(shown)
        self.size, self.palette, self._now = size, PALETTES[start.theme], now
        self._columns = ListLayout(start.options.columns)
        self._rows = make_rows(catalog, details, View.CHATS, Order())
        self._width, height = start.pane_sizes.of(size[0], size[1] - 5)
        head = 1 if has_head(*size) else 0
        self.above = _ABOVE + head
        """Lines above the first row."""
        self.shown = max(min(height - head, len(self._rows)), 0)
        """The number of rows that fit."""

    @property
    def movable(self) -> int:
        """The number of rows that can have the cursor: 0 if the only row is a note."""
        return 0 if isinstance(self._rows.row(0), NoteRow) else self.shown

    def head(self) -> list[str]:
        """The names of the columns as escape sequences; none where there is no room for them."""
        if self.above == _ABOVE:
            return []
        plain, foreground = self.palette.background, self.palette.foreground
        muted = _dimmed(foreground, plain)
        extra = family_heading(map(self._rows.row, range(self.shown)))
        names = self._columns.head(self._width - 1, extra)
        return [
            "".join(
                _sgr(text, muted if look == "dim" else foreground, plain)
                for text, look, _sort in names
            )
        ]

    def line(self, index: int, *, is_current: bool) -> str:
        """Return a row as escape sequences."""
        plain = self.palette.background
        background = self.palette.cursor if is_current else plain
        row, width = self._rows.row(index), self._width - 1
        spans = (
            row.spans(width, self._now, self._columns)
            if isinstance(row, ConversationRow | JobRow)
            else row.spans(width, self._now)
        )
        if is_current:
            spans[0] = ("▌" + spans[0][0][1:], spans[0][1])
        line = ""
        for text, look in spans:
            name, is_dim, attributes = _LOOKS[look]
            colour: Colour = getattr(self.palette, name)
            if is_current:
                attributes = "1" if attributes in ("", "1") else f"1;{attributes}"
            line += _sgr(
                text, _dimmed(colour, background) if is_dim else colour, background, attributes
            )
        return line

    def moved(self, before: int, after: int) -> str:
        """Return escape sequences that move the cursor from one row to another."""
        return "".join(
            f"\x1b[{self.above + index + 1};1H{self.line(index, is_current=index == after)}"
            for index in (before, after)
        )


def _frame(catalog: Catalog, rows: _PaintedRows, location: Location) -> str:
    """Return the first screen as escape sequences."""
    (width, height), palette = rows.size, rows.palette
    plain, foreground, panel = palette.background, palette.foreground, palette.panel
    muted = _dimmed(foreground, plain)
    summary = shown_line(catalog, View.CHATS)
    name = one_line(location.name, 30)
    title = f" hermes-browse  {name}"
    space = " " * max(width - cell_len(title) - cell_len(summary) - 1, 2)
    lines = [
        _sgr(" hermes-browse  ", foreground, plain, "1")
        + _sgr(name, palette.accent, plain)
        + _sgr(space, foreground, plain)
        + _sgr(clip(summary, max(width - cell_len(title) - len(space), 0)), muted, plain),
        _sgr(fit("", width), foreground, panel),
        _view_line(catalog, palette, width),
        *rows.head(),
    ]
    lines += (rows.line(index, is_current=index == 0) for index in range(rows.shown))
    blank = _sgr("", foreground, plain) + "\x1b[2J"
    placed = "".join(f"\x1b[{number};1H{line}" for number, line in enumerate(lines, 1))
    note = clip(f" {one_line(location.note, 400)}", width)
    status = f"\x1b[{height - 1};1H{_sgr(note, muted, plain)}"
    keys = f"\x1b[{height};1H{_sgr(' ' * width, foreground, panel)}"
    return f"\x1b[?1049h\x1b[?25l{blank}{placed}{status}{keys}\x1b[0m"


def _early_keys(descriptor: int, rows: _PaintedRows) -> EarlyKeys:
    from ..terminal.early_keys import EarlyKeys  # imported after the first rows are painted

    def paint(before: int, after: int) -> None:
        os.write(sys.stderr.fileno(), f"{rows.moved(before, after)}\x1b[0m".encode())

    return EarlyKeys(descriptor, rows.movable, paint, lambda: terminal_size() == rows.size)


@contextlib.contextmanager
def painted(
    catalog: Catalog, shown: Sequence[Conversation], location: Location, now: float, start: Start
) -> Iterator[Handover]:
    """Paint the first rows if possible, and restore the terminal at the end of the block, however
    it ends.

    Nothing is painted if the first view, order or theme are not the usual ones. Keys are handled
    only if none is configured.

    Args:
        catalog: The first page.
        shown: Its first conversations, with previews.
        now: Unix seconds.

    Yields:
        The state of the terminal.
    """
    handover = Handover()
    is_usual = start.can_be_painted_ahead and start.theme in PALETTES
    if not is_usual or not is_possible():
        yield handover
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    silent = termios.tcgetattr(descriptor)
    silent[0] &= ~termios.ICRNL  # Enter must arrive as CR
    silent[3] &= ~(termios.ICANON | termios.ECHO)
    handlers = {number: signal.signal(number, handover.on_signal) for number in ENDING}
    keys: EarlyKeys | None = None
    try:
        termios.tcsetattr(
            descriptor, termios.TCSANOW, silent
        )  # TCSANOW keeps typed keys in the buffer
        rows = _PaintedRows(catalog, shown, terminal_size(), now, start)
        os.write(sys.stderr.fileno(), _frame(catalog, rows, location).encode())
        handover.is_painted = True
        if start.are_keys_usual:
            handover.is_critical = True
            new = _early_keys(descriptor, rows)
            new.start()
            keys = handover.keys = new
            handover.is_critical = False
            if handover.signal:
                raise SystemExit(128 + handover.signal)
        handover.restore_settings = lambda: termios.tcsetattr(descriptor, termios.TCSANOW, before)
        yield handover
    finally:
        handover.is_critical = True
        if keys is not None:
            keys.stop()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        with contextlib.suppress(OSError, termios.error):  # the terminal may be gone
            if not handover.is_done:
                os.write(sys.stderr.fileno(), b"\x1b[?1049l\x1b[?25h")
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
