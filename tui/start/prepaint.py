"""The first rows before Textual is loaded: importing it takes ten times as long as reading and painting them.

The frame is the one Textual paints next: same rows, same places, same colours, so that taking over
changes nothing that is seen. It is painted on terminals with true colours only; elsewhere the start
is as long as it is. The terminal is out of canonical mode and silent before the first byte, keys
typed meanwhile move the cursor or are kept, and every way out puts it back as it was.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Sort, View
from hermes_browse.store.text import one_line, printable

from ..formats import clip, fit
from ..list.columns import format_head
from ..list.model import Details, make_rows, order_name, shown_line, view_name
from ..list.row_format import format_row
from ..list.rows import NoteRow
from ..pane_sizes import PaneSizes, has_head

if TYPE_CHECKING:
    from .early_keys import EarlyKeys

Colour = tuple[int, int, int]


class Palette(NamedTuple):
    """The colours of a theme, as Textual resolves them; a test holds them against it."""

    background: Colour
    foreground: Colour
    panel: Colour
    accent: Colour
    success: Colour
    cursor: Colour


PALETTES = {
    "hermes-dark": Palette((22, 23, 26), (213, 211, 205), (36, 38, 43), (215, 166, 87), (143, 181, 115), (80, 65, 44)),
    "hermes-light": Palette(
        (250, 249, 246), (38, 40, 44), (234, 232, 226), (137, 90, 0), (60, 107, 33), (216, 201, 172)
    ),
}
"""Colours of the themes that can be painted ahead."""
_ABOVE = 3
"""Lines above the list and the names of its columns."""
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
}
"""For each look: colour of the palette, whether it is dim, SGR attributes."""


def _mix(colour: Colour, background: Colour, share: float) -> Colour:
    red, green, blue = (int(b + (c - b) * share) for c, b in zip(colour, background, strict=True))
    return red, green, blue


def _sgr(text: str, colour: Colour, background: Colour, attributes: str = "") -> str:
    front, back = ";".join(map(str, colour)), ";".join(map(str, background))
    return f"\x1b[0;{attributes + ';' if attributes else ''}38;2;{front};48;2;{back}m{printable(text)}"


def is_possible() -> bool:
    """Whether this terminal has true colours and no setting asks for another look."""
    env = os.environ
    if sys.platform == "win32" or env.get("COLORTERM", "").lower() not in ("truecolor", "24bit"):
        return False
    if any(name in env for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_DRIVER")):
        return False
    return env.get("TERM", "dumb") != "dumb" and sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def terminal_size() -> tuple[int, int]:
    """Columns and lines by the rules of `shutil.get_terminal_size`, which Textual asks: importing it takes as long
    as painting.
    """
    said = [os.environ.get(name, "") for name in ("COLUMNS", "LINES")]
    columns, lines = (int(text) if text.isdecimal() else 0 for text in said)
    if not columns or not lines:
        try:
            found = os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ is not None else 1)
        except (OSError, ValueError):  # no terminal, or its stream is closed
            found = os.terminal_size((80, 24))
        columns, lines = columns or found.columns or 80, lines or found.lines or 24
    return columns, lines


def _views(catalog: Catalog, palette: Palette) -> str:
    background, foreground = palette.background, palette.foreground
    counts = catalog.forest.counts()
    line = _sgr(" ", foreground, background)
    for number, view in enumerate(View, 1):
        count = f"{counts[view]:,}" if catalog.exact else "…"
        label = f" {number} {view_name(view)} {count} "
        muted = _mix(foreground, background, DIM)
        is_current = view is View.CHATS
        line += _sgr(label, foreground if is_current else muted, background, "1;7" if is_current else "")
        line += _sgr(" ", foreground, background)
    return line + _sgr(f"  ↓ {order_name(Sort.ACTIVITY)}", _mix(foreground, background, DIM), background)


class _Rows:
    """The rows of the list that fit on the screen.

    Args:
        catalog: The first page.
        shown: Its first conversations, with previews.
        size: Columns and lines of the terminal.
        now: Unix seconds.
        palette: Colours of the theme.
        pane_sizes: How much of the panes is the list's.
    """

    def __init__(
        self,
        catalog: Catalog,
        shown: Sequence[Conversation],
        size: tuple[int, int],
        now: float,
        palette: Palette,
        pane_sizes: PaneSizes,
    ) -> None:
        details = Details()
        details.add(shown)
        self.size, self.palette, self._now = size, palette, now
        self._rows = make_rows(catalog, details, View.CHATS, Sort.ACTIVITY, reverse=False, opened=())
        self._width, height = pane_sizes.of(size[0], size[1] - 5)
        head = 1 if has_head(*size) else 0
        self.above = _ABOVE + head
        """Lines above the first row."""
        self.shown = min(height - head, len(self._rows))
        """How many rows there are."""

    @property
    def movable(self) -> int:
        """How many rows the cursor may be on: none where the only row is a note."""
        return 0 if isinstance(self._rows.row(0), NoteRow) else self.shown

    def head(self) -> list[str]:
        """The names of the columns as escape sequences; none where there is no room for them."""
        if self.above == _ABOVE:
            return []
        plain, foreground = self.palette.background, self.palette.foreground
        muted = _mix(foreground, plain, DIM)
        names = format_head(self._width - 1)
        return ["".join(_sgr(text, muted if look == "dim" else foreground, plain) for text, look, _sort in names)]

    def line(self, index: int, *, is_current: bool) -> str:
        """A row as escape sequences.

        Args:
            index: Which, from 0.
            is_current: The cursor is on it.
        """
        plain = self.palette.background
        background = self.palette.cursor if is_current else plain
        spans = format_row(self._rows.row(index), self._width - 1, self._now)
        if is_current:
            spans[0] = ("▌" + spans[0][0][1:], spans[0][1])
        line = ""
        for text, look in spans:
            name, is_dim, attributes = _LOOKS[look]
            colour: Colour = getattr(self.palette, name)
            if is_current:
                attributes = "1" if attributes in ("", "1") else f"1;{attributes}"
            line += _sgr(text, _mix(colour, background, DIM) if is_dim else colour, background, attributes)
        return line

    def moved(self, before: int, after: int) -> str:
        """Escape sequences that move the cursor from one row to another."""
        return "".join(
            f"\x1b[{self.above + index + 1};1H{self.line(index, is_current=index == after)}"
            for index in (before, after)
        )


def frame(catalog: Catalog, rows: _Rows, location: Location) -> str:
    """The first screen as escape sequences.

    Args:
        catalog: The first page.
        rows: Those that are shown.
        location: Of the store.
    """
    (width, height), palette = rows.size, rows.palette
    plain, foreground, panel = palette.background, palette.foreground, palette.panel
    muted = _mix(foreground, plain, DIM)
    told = shown_line(catalog, View.CHATS)
    name = one_line(location.name, 30)
    title = f" hermes-browse  {name}"
    space = " " * max(width - cell_len(title) - cell_len(told) - 1, 2)
    lines = [
        _sgr(" hermes-browse  ", foreground, plain, "1")
        + _sgr(name, palette.accent, plain)
        + _sgr(space, foreground, plain)
        + _sgr(clip(told, max(width - cell_len(title) - len(space), 0)), muted, plain),
        _sgr(fit("", width), foreground, panel),
        _views(catalog, palette),
        *rows.head(),
    ]
    lines += (rows.line(index, is_current=index == 0) for index in range(rows.shown))
    blank = _sgr("", foreground, plain) + "\x1b[2J"
    placed = "".join(f"\x1b[{number};1H{line}" for number, line in enumerate(lines, 1))
    note = clip(f" {one_line(location.note, 400)}", width)
    status = f"\x1b[{height - 1};1H{_sgr(note, muted, plain)}"
    keys = f"\x1b[{height};1H{_sgr(' ' * width, foreground, panel)}"
    return f"\x1b[?1049h\x1b[?25l{blank}{placed}{status}{keys}\x1b[0m"


class Taken:
    """The state of the terminal between the first rows and Textual."""

    def __init__(self) -> None:
        self.is_taken = False
        """Whether the alternate screen is up."""
        self.is_handed_over = False
        """Whether Textual leaves it: leaving it twice would move the cursor over what was printed since."""
        self.put_back: Callable[[], None] = lambda: None
        """Puts the terminal's settings back as they were found; Textual knows only those of the silent terminal."""
        self.told = 0
        """The signal that told us to end, 0 for none: raised where Python ignores exceptions, the ending would be
        lost, and Textual has an ending of its own.
        """
        self.is_held = False
        """Whether an ending waits: a thread that is being started, or a terminal that is being put back, must not be
        left half way.
        """
        self.keys: EarlyKeys | None = None
        """Answers the first keys, until Textual reads them."""

    def leave(self, number: int, stack: FrameType | None) -> None:
        """End at once after a signal, or leave the ending to Textual once it has the screen."""
        self.told = number
        if not self.is_handed_over and not self.is_held:
            raise SystemExit(128 + number)


def _early_keys(descriptor: int, rows: _Rows) -> EarlyKeys:
    from .early_keys import EarlyKeys  # the first rows are there by now

    def paint(before: int, after: int) -> None:
        os.write(sys.stderr.fileno(), f"{rows.moved(before, after)}\x1b[0m".encode())

    return EarlyKeys(descriptor, rows.movable, paint, lambda: terminal_size() == rows.size)


@contextlib.contextmanager
def painted(
    catalog: Catalog,
    shown: Sequence[Conversation],
    location: Location,
    now: float,
    *,
    theme: str = "hermes-dark",
    is_wanted: bool = True,
    pane_sizes: PaneSizes | None = None,
    are_keys_usual: bool = True,
) -> Iterator[Taken]:
    """Paint where it is possible, and put the terminal back at the end of the block, however it ends.

    Args:
        catalog: The first page.
        shown: Its first conversations, with previews.
        location: Of the store.
        now: Unix seconds.
        theme: Of the first frame; some are not painted ahead.
        is_wanted: False where the first frame is to be another one: another view or order.
        pane_sizes: How the panes share the screen.
        are_keys_usual: False where keys are not those the list has by itself: then none is answered ahead.

    Yields:
        Who has the screen.
    """
    taken = Taken()
    if not is_wanted or theme not in PALETTES or not is_possible():
        yield taken
        return
    import termios

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    silent = termios.tcgetattr(descriptor)
    silent[0] &= ~termios.ICRNL  # Enter is to arrive as Enter
    silent[3] &= ~(termios.ICANON | termios.ECHO)
    handlers = {number: signal.signal(number, taken.leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        termios.tcsetattr(descriptor, termios.TCSANOW, silent)  # NOW: what has been typed stays in the buffer
        rows = _Rows(catalog, shown, terminal_size(), now, PALETTES[theme], pane_sizes or PaneSizes())
        os.write(sys.stderr.fileno(), frame(catalog, rows, location).encode())
        taken.is_taken = True
        if are_keys_usual:
            keys = _early_keys(descriptor, rows)
            taken.is_held = True
            keys.start()
            taken.keys, taken.is_held = keys, False
            if taken.told:
                raise SystemExit(128 + taken.told)
        taken.put_back = lambda: termios.tcsetattr(descriptor, termios.TCSANOW, before)
        yield taken
    finally:
        taken.is_held = True
        if taken.keys is not None:
            taken.keys.stop()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        with contextlib.suppress(OSError, termios.error):  # a terminal that is gone needs nothing put back
            if not taken.is_handed_over:
                os.write(sys.stderr.fileno(), b"\x1b[?1049l\x1b[?25h")
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
